"""Unknown names, each with the nearest known one."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from domain.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence


MAX_COMPARED_LENGTH = 50


def unknown_name(name: str, known: Sequence[str], kind: str) -> Problem:
    """Return the problem of an unknown field or parameter (`kind`)."""
    # A much longer name does not resemble any known name, and the comparison would take long.
    nearest = get_close_matches(name, known, n=1) if len(name) <= MAX_COMPARED_LENGTH else []
    suggestion = f"Did you mean {nearest[0]}?" if nearest else None
    return Problem(name, f"is not a {kind} of this endpoint", suggestion=suggestion)
