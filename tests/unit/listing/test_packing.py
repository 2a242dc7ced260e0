"""Packing goes day by day, step by step, and stops when its time is over."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from domain.packing import DAYS_A_RUN, Packed, Packer
from tests.builders import NOON, FixedClock

if TYPE_CHECKING:
    from collections.abc import Sequence

STEP = timedelta(seconds=10)


class Days:
    """Days that are to be packed, in three steps each; every step takes a while."""

    def __init__(self, clock: FixedClock, number: int) -> None:
        self._clock = clock
        self._number = number
        self.steps: list[tuple[str, str, tuple[str, str] | None]] = []
        self.asked: tuple[str, int] | None = None

    def quiet_days(self, before: str, limit: int) -> Sequence[tuple[str, str]]:
        """Return the days, as many as are asked for."""
        self.asked = before, limit
        return [("connection", f"day {number}") for number in range(min(limit, self._number))]

    def pack(self, connection_id: str, day: str, after: tuple[str, str] | None) -> tuple[str, str] | None:
        """Note the step."""
        self.steps.append((connection_id, day, after))
        self._clock.advance(seconds=STEP.total_seconds())
        number = int(after[0]) + 1 if after else 1
        return (str(number), "") if number < 3 else None


def test_every_day_that_is_over_is_packed_whole() -> None:
    days = Days(clock := FixedClock(), 2)

    assert Packer(days, clock).run(NOON + timedelta(hours=1)) == Packed(2, finished=True)

    assert days.asked == ("2026-03-14", DAYS_A_RUN)
    assert days.steps == [
        ("connection", f"day {day}", after) for day in (0, 1) for after in (None, ("1", ""), ("2", ""))
    ]


def test_nothing_is_begun_when_the_time_is_over() -> None:
    days = Days(clock := FixedClock(), 3)

    assert Packer(days, clock).run(NOON + 4 * STEP) == Packed(1, finished=False)

    assert len(days.steps) == 4


def test_more_days_than_a_run_takes_are_left_to_the_next() -> None:
    days = Days(clock := FixedClock(), DAYS_A_RUN)

    assert Packer(days, clock).run(NOON + timedelta(days=1)) == Packed(DAYS_A_RUN, finished=False)
