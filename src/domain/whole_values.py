"""Whole values of a request: its label, its numbers, its customer or vendor, and its error.

In a search text, a line with such a value begins with the mark of its kind. A mark is a control character, which
neither XML nor a label can contain. So a phrase is found in the line as in any other one, and only a marked line has a
value.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence


class MatchedAs(StrEnum):
    """What a whole value is of its request."""

    LABEL = "label"
    NUMBER = "number"
    NAME = "name"
    ERROR = "error"


_MARKS = {kind: chr(number) for number, kind in enumerate(MatchedAs, 1)}
_ALL_MARKS = tuple(_MARKS.values())

HAS_MARKS = chr(len(MatchedAs) + 1)
"""Is in each search text, because one of a release without marks looks like one that has no values."""


def marked(kind: MatchedAs, value: str) -> str:
    """Return the line of a search text for a value. Like all lines, it has one space for each run of white space."""
    line = " ".join(value.split())
    return f"{_MARKS[kind]}{line}" if line else ""


def is_marked(line: str) -> bool:
    """Return whether a line of a search text is a whole value."""
    return line.startswith(_ALL_MARKS)


def has_marks(text: str) -> bool:
    """Return whether the whole values in a search text are marked. Those of an earlier release are not."""
    return not text or HAS_MARKS in text


def values_in(texts: Iterable[str]) -> Collection[str]:
    """Return the distinct whole values in folded search texts."""
    return {line[1:] for text in texts for line in text.split("\n") if is_marked(line)}


def kinds_of(value: str, text: str) -> Sequence[MatchedAs]:
    """Return what a folded value is in a folded search text: nothing if it is not one of its whole values."""
    if value not in text:
        return ()
    lines = f"\n{text}\n"
    return [kind for kind, mark in _MARKS.items() if f"\n{mark}{value}\n" in lines]
