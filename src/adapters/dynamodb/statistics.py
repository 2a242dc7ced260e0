"""The statistics in the rows of `Counts` (`domain.storage.statistics`), packed so that a row stays below 1 KB.

DynamoDB: a number has up to 38 digits, two of which take a byte, and each attribute has a name. Therefore an attribute
holds the numbers of several slots, each with seven digits of its own: 30000002 is 2 in the first slot and 3 in the
second. DynamoDB adds such numbers like others, and so does a reader that merges rows.
"""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import TYPE_CHECKING

from domain.storage.statistics import SLOTS, Series, Slot

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from adapters.dynamodb.keys import Item

DIGITS = 7
"""A slot of a row counts up to 9,999,999: 115 a second for a whole day."""

SLOTS_PER_NUMBER = 5

_SLOTS = [Slot(series, position) for series, number in SLOTS.items() for position in range(number)]
_WRITES = "n"
"""The attribute of the writes has a name of one letter. With two, the largest row would take a second write unit."""

_PLACES = {
    slot: (f"{index // SLOTS_PER_NUMBER:02}", 10 ** (DIGITS * (index % SLOTS_PER_NUMBER)))
    for index, slot in enumerate(_SLOTS)
} | {Slot(Series.WRITE, 0): (_WRITES, 1)}
"""The attribute of each slot, and the value of a 1 there."""

STATISTIC_ATTRIBUTES = tuple(sorted({name for name, _ in _PLACES.values()}))
"""Every attribute of statistics that a row may have."""


def statistic_additions(changes: Mapping[Slot, int]) -> Mapping[str, int]:
    """Return what to add to each attribute."""
    additions: Counter[str] = Counter()
    for slot, number in changes.items():
        name, one = _PLACES[slot]
        additions[name] += number * one
    return additions


def summed_statistics(rows: Iterable[Item]) -> dict[str, int]:
    """Return the sum of each attribute of statistics in the rows of a day."""
    sums: Counter[str] = Counter()
    for row in rows:
        # DynamoDB may return a large number with an exponent.
        sums.update({name: int(Decimal(row[name]["N"])) for name in STATISTIC_ATTRIBUTES if name in row})
    return sums


def statistics_of(row: Item) -> Mapping[Slot, int]:
    """Return the statistics in a row. Slots that are 0 are left out."""
    stored = summed_statistics([row])
    numbers = {slot: stored[name] // one % 10**DIGITS for slot, (name, one) in _PLACES.items() if name in stored}
    return {slot: number for slot, number in numbers.items() if number}
