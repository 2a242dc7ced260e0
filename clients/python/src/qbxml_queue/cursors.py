"""Cursors: how far a program has processed the events."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol


class Cursor(Protocol):
    """Where a program keeps the place up to which it has processed events, such as a row of its database."""

    def load(self) -> str | None:
        """Return the cursor that was stored last, or None."""

    def store(self, cursor: str) -> None:
        """Store a cursor."""


class FileCursor:
    """A cursor in a file, which is replaced as a whole."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)

    def load(self) -> str | None:
        """Return the cursor in the file, or None."""
        try:
            return self._path.read_text(encoding="ascii").strip() or None
        except FileNotFoundError:
            return None

    def store(self, cursor: str) -> None:
        """Replace the file."""
        draft = self._path.with_name(f"{self._path.name}.new")
        with draft.open("w", encoding="ascii") as file:
            file.write(cursor)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self._path)
