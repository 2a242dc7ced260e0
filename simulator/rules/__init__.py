"""The rules of each kind of record: one class for each kind that has rules of its own.

`table` lists the class of each kind. `simulator.books.store.Rules` says when a method of a class is called.
"""
