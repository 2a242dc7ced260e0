"""The books of a company file: list objects and transactions, their names and links, and the ledger."""

from __future__ import annotations

from simulator.books.kinds import GROUPS, KINDS, Kind
from simulator.books.records import Draft, Fields, Record
from simulator.books.store import Books

__all__ = ["GROUPS", "KINDS", "Books", "Draft", "Fields", "Kind", "Record"]
