"""Packing works day by day, step by step, and stops at its time limit."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from domain.maintenance.search_packing import DAYS_A_RUN, Packed, pack_days
from handlers import pack_search_texts
from handlers.common.bootstrap import Services
from tests.support.builders import NOON, FixedClock
from tests.support.fake_store import FakeStore
from tests.support.services import using

if TYPE_CHECKING:
    from collections.abc import Sequence

STEP = timedelta(seconds=10)


class Days(FakeStore):
    """Days that are to be packed, in three steps each; every step takes a while. One of them may be `bad`."""

    def __init__(self, clock: FixedClock, number: int, bad: str | None = None) -> None:
        super().__init__()
        self._clock = clock
        self._number = number
        self._bad = bad
        self.steps: list[tuple[str, str, tuple[str, str] | None]] = []
        self.arguments: tuple[str, int] | None = None

    def days_to_pack(self, before: str, limit: int) -> Sequence[tuple[str, str]]:
        """Return at most `limit` days."""
        self.arguments = before, limit
        return [("connection", f"day {number}") for number in range(min(limit, self._number))]

    def pack(self, connection_id: str, day: str, after: tuple[str, str] | None) -> tuple[str, str] | None:
        """Record the step."""
        self.steps.append((connection_id, day, after))
        if day == self._bad:
            raise OSError(day)
        self._clock.advance(seconds=STEP.total_seconds())
        number = int(after[0]) + 1 if after else 1
        return (str(number), "") if number < 3 else None


def test_every_day_that_is_over_is_packed_whole() -> None:
    days = Days(clock := FixedClock(), 2)

    assert pack_days(days, clock, NOON + timedelta(hours=1)) == Packed(2, finished=True)

    assert days.arguments == ("2026-03-14", DAYS_A_RUN)
    assert days.steps == [
        ("connection", f"day {day}", after) for day in (0, 1) for after in (None, ("1", ""), ("2", ""))
    ]


def test_no_day_is_packed_after_the_time_limit() -> None:
    days = Days(clock := FixedClock(), 3)

    assert pack_days(days, clock, NOON + 4 * STEP) == Packed(1, finished=False)

    assert len(days.steps) == 4


def test_days_over_the_limit_of_a_run_wait_for_the_next_run() -> None:
    days = Days(clock := FixedClock(), DAYS_A_RUN)

    assert pack_days(days, clock, NOON + timedelta(days=1)) == Packed(DAYS_A_RUN, finished=False)


def test_a_day_that_cannot_be_packed_does_not_block_other_days() -> None:
    days = Days(clock := FixedClock(), 3, bad="day 1")

    result = pack_days(days, clock, NOON + timedelta(hours=1))

    assert (result.days, result.finished) == (2, True)
    assert {day: str(error) for day, error in result.failures.items()} == {("connection", "day 1"): "day 1"}
    assert days.steps[-1] == ("connection", "day 2", ("2", ""))


class Context:
    """Lambda's, with a minute and a half left."""

    def get_remaining_time_in_millis(self) -> int:
        """Return the time left."""
        return 90_000


def test_the_function_uses_its_remaining_time(caplog: pytest.LogCaptureFixture) -> None:
    clock = FixedClock()
    days = Days(clock, 3)

    with using(Services(clock=clock)) as services:
        services.store = days
        pack_search_texts.handler({}, Context())

    assert len(days.steps) == 3  # half a minute, less than two days
    (line,) = (vars(record) for record in caplog.records)
    assert (line["message"], line["days"], line["failed"], line["finished"]) == ("packing.done", 1, 0, False)


def test_the_function_names_unpacked_days_and_fails(caplog: pytest.LogCaptureFixture) -> None:
    """The alarm counts its failures."""
    clock = FixedClock()
    days = Days(clock, 1, bad="day 0")

    with using(Services(clock=clock)) as services:
        services.store = days
        with pytest.raises(OSError, match="day 0"):
            pack_search_texts.handler({}, Context())

    failure, summary = (vars(record) for record in caplog.records)
    assert (failure["message"], failure["connection_id"], failure["day"]) == (
        "packing.not_processed",
        "connection",
        "day 0",
    )
    assert (summary["message"], summary["days"], summary["failed"]) == ("packing.done", 0, 1)
