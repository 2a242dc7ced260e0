"""Ranges: parts of the records of an object that are read with one iterator, and can be divided.

An iterator ends with its session, so a range that was interrupted is divided, and only a part of it is repeated. Ranges
of names and of times share their bounds, so nothing is between two of them, whatever the order of QuickBooks is.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from domain.records.subscription import BooksRange
from domain.timestamps import books_time

if TYPE_CHECKING:
    from domain.subscriptions.answers import BooksChange

_CHARACTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DIGITS = 6
"""How many characters of a name a bound has at most."""

_FIRST_DATE, _LAST_DATE = date(1990, 1, 1), date(2090, 12, 31)
"""Between these dates, a range of dates is divided. Transactions outside of them are in the first and last range."""


def is_first_bound(change: BooksChange, part: BooksRange) -> bool:
    """Whether a record is at the first bound of a range of names or times, so that the range before has it too."""
    if part.first is None:
        return False
    name = change.content.get("record", {}).get("Name", "")
    return name.upper() == part.first or (change.at is not None and change.at == books_time(part.first))


def halves_of_names(whole: BooksRange) -> tuple[BooksRange, BooksRange] | None:
    """Return the two parts of a range of names, or None if it cannot be divided."""
    first = 0 if whole.first is None else _number(whole.first)
    last = len(_CHARACTERS) ** _DIGITS if whole.last is None else _number(whole.last)
    middle = _text((first + last) // 2)
    if middle in {"", whole.first, whole.last}:
        return None
    return BooksRange(whole.first, middle), BooksRange(middle, whole.last)


def _number(name: str) -> int:
    number = 0
    for character in name[:_DIGITS].ljust(_DIGITS, _CHARACTERS[0]):
        number = number * len(_CHARACTERS) + max(_CHARACTERS.find(character), 0)
    return number


def _text(number: int) -> str:
    text = ""
    for _ in range(_DIGITS):
        number, digit = divmod(number, len(_CHARACTERS))
        text = _CHARACTERS[digit] + text
    return text.rstrip(_CHARACTERS[0])


def halves_of_dates(whole: BooksRange) -> tuple[BooksRange, BooksRange] | None:
    """Return the two parts of a range of dates, or None if it is one day."""
    first = date.fromisoformat(whole.first) if whole.first else _FIRST_DATE
    last = date.fromisoformat(whole.last) if whole.last else _LAST_DATE
    if first >= last:
        return None
    middle = first + (last - first) // 2
    return BooksRange(whole.first, middle.isoformat()), BooksRange((middle + timedelta(days=1)).isoformat(), whole.last)


def halves_of_times(whole: BooksRange, now: datetime) -> tuple[BooksRange, BooksRange] | None:
    """Return the two parts of a range of times, or None if it is shorter than two seconds.

    The newest part stays open, because a record that changes meanwhile moves there. `now` is a time of ours. It only
    tells where an open range is divided.
    """
    first = books_time(whole.first) or datetime(1990, 1, 1, tzinfo=UTC)
    last = books_time(whole.last) or max(now, first) + timedelta(days=1)
    if last - first < timedelta(seconds=2):
        return None
    middle = (first + (last - first) / 2).replace(microsecond=0).isoformat()
    return BooksRange(whole.first, middle), BooksRange(middle, whole.last)
