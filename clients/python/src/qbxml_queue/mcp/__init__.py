"""A server of the Model Context Protocol: an assistant reads the books, and proposes writes that a person approves.

Install it with `pip install 'qbxml-queue[mcp]'`. An assistant starts it with the command `qbxml-queue-mcp`.
"""
