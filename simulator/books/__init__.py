"""The books of a company file: list objects and transactions, their names and links, and the ledger."""

from __future__ import annotations

from simulator.books import rules
from simulator.books.kinds import GROUPS, KINDS, Kind
from simulator.books.records import Draft, Fields, Record
from simulator.books.rules import (  # noqa: F401 - importing a module registers its rules
    banking,
    charges,
    common,
    inventory,
    items,
    journal,
    lists,
    payments,
    purchases,
    rates,
    sales,
)
from simulator.books.store import Books

__all__ = ["GROUPS", "KINDS", "Books", "Draft", "Fields", "Kind", "Record", "rules"]
