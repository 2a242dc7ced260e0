"""A person at the company file: random edits from a seed, as somebody makes them in QuickBooks between two sessions."""

from __future__ import annotations

from simulator.person.edits import EDITS
from simulator.person.person import Edit, Person

__all__ = ["EDITS", "Edit", "Person"]
