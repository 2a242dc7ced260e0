"""Adds records to new books as requests do: the rules of each kind complete and post them.

The rules do not check them, which is a sixth of the time: a test makes the same company with the checks.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from functools import cache
from typing import TYPE_CHECKING

from simulator.basics.clock import MachineClock
from simulator.books import KINDS, Books, Draft, Fields, Record
from simulator.rules.entry import enter_unchecked
from simulator.rules.table import rules_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

FOUNDED = datetime(2024, 1, 2, 9, tzinfo=UTC)
"""The company file was created then. The date is fixed, so a seed gives the same company every day."""

SECOND = 1_000_000
MINUTE = 60 * SECOND
OPENING_TIME = time(8)


@cache
def _sharing_names(kind: str) -> tuple[str, ...]:
    """Return the kinds that share names with a kind: all items, all customers and vendors."""
    return tuple(name for name, other in KINDS.items() if other.namespace == KINDS[kind].namespace)


def _microseconds(moment: datetime) -> int:
    return int(moment.timestamp()) * SECOND


class Maker:
    """Writes books with a clock that moves from the founding of the company towards today.

    `now` is in microseconds since 1970. The books get the clock of the machine when they are finished.
    """

    def __init__(self, clock: MachineClock, enter: Callable[[Books, Draft], Record] = enter_unchecked) -> None:
        self._enter = enter
        self._references: dict[tuple[str, str], Fields] = {}
        self._machine = clock
        self.now = _microseconds(FOUNDED)
        now = MachineClock(self._seconds, clock.zone, clock.standard_offset_in_summer)
        self.books = Books(now, rules_of)

    def _seconds(self) -> float:
        return self.now // SECOND

    def finish(self) -> Books:
        """Return the books with the clock of the machine. All their builds have their components."""
        self.books.clock = self._machine
        self.books.ledger.moved_components()
        return self.books

    def open_day(self, day: date) -> None:
        """Set the clock to the morning of a day."""
        self.now = _microseconds(datetime.combine(day, OPENING_TIME, self._machine.zone))

    def add(self, kind_name: str, fields: Fields, **extra: object) -> Record:
        """Add a record. `extra` holds request fields that responses do not show, such as LinkToTxnID."""
        kind = KINDS[kind_name]
        record = self._enter(self.books, Draft(kind, fields, dict(extra), set(fields)))
        self.now += MINUTE
        return record

    def change(self, record: Record, **fields: object) -> None:
        """Change fields of a record, as a Mod does."""
        self.books.change(record, {**record.fields, **fields})
        self.now += MINUTE

    def add_named(self, kind: str, full_names: Iterable[str], **fields: object) -> None:
        """Add list objects that need nothing but a name. `Hardware:Hinges` is below `Hardware`."""
        for full_name in full_names:
            self.add(kind, {**self.named(kind, full_name), **fields})

    def named(self, kind: str, full_name: str) -> Fields:
        """Return the Name and ParentRef of a full name."""
        parent, _, name = full_name.rpartition(":")
        return {"Name": name, **({"ParentRef": self.reference(kind, parent)} if parent else {})}

    def reference(self, kind: str, full_name: str) -> Fields:
        """Return a reference to a list object. Raises `KeyError` when there is none."""
        key = kind, full_name
        if key not in self._references:
            record = self.books.named(full_name, _sharing_names(kind))
            if record is None:
                raise KeyError(full_name)
            self._references[key] = record.reference()
        return self._references[key]

    def account(self, full_name: str) -> Fields:
        """Return a reference to an account."""
        return self.reference("Account", full_name)
