"""Packing works day by day, step by step, in shares, and stops at its time limit."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.maintenance.search_packing import Packed, Share, pack_days
from handlers import pack_search_texts
from handlers.common.bootstrap import Services
from local.template import Template
from tests.support.builders import NOON, FixedClock
from tests.support.fake_store import FakeStore
from tests.support.metric_filters import counted
from tests.support.services import using

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

STEP = timedelta(seconds=10)
EVENTS = [
    json.loads(event.properties["Input"])
    for function in Template.load().functions()
    if function.logical_id == "PackSearchTextsFunction"
    for event in function.events
]
"""What the schedules of the template send."""


class Days(FakeStore):
    """Days that are to be packed, in three steps each; every step takes a while. One of them may be `bad`."""

    def __init__(self, clock: FixedClock, number: int, bad: str | None = None) -> None:
        super().__init__()
        self._clock = clock
        self._number = number
        self._bad = bad
        self.steps: list[tuple[str, str, tuple[str, str] | None]] = []
        self.before: str | None = None
        self.settled = 0

    def days_to_pack(self, before: str) -> Iterator[tuple[str, str]]:
        """Yield each day twice, as a day with an overflow row."""
        self.before = before
        for number in range(self._number):
            yield from [("connection", f"day {number}")] * 2

    def settle_days(self, before: str, is_chosen: Callable[[str], bool]) -> Iterator[int]:
        """Record the steps."""
        assert before == self.before
        for _ in range(3 * is_chosen("connection")):
            self.settled += 1
            yield 1

    def pack(self, connection_id: str, day: str, after: tuple[str, str] | None) -> tuple[str, str] | None:
        """Record the step."""
        self.steps.append((connection_id, day, after))
        if day == self._bad:
            raise OSError(day)
        self._clock.advance(seconds=STEP.total_seconds())
        number = int(after[0]) + 1 if after else 1
        return (str(number), "") if number < 3 else None


def packed(days: Days, clock: FixedClock, time_limit: timedelta) -> Packed:
    """Pack one day after the other, so that the order of the steps is certain."""
    return pack_days(days, clock, NOON + time_limit, threads=1)


def test_every_day_that_is_over_is_packed_whole_and_once() -> None:
    days = Days(clock := FixedClock(), 2)

    assert packed(days, clock, timedelta(hours=1)) == Packed(2, 3, finished=True, failures={})

    assert days.before == "2026-03-14"
    assert days.steps == [
        ("connection", f"day {day}", after) for day in (0, 1) for after in (None, ("1", ""), ("2", ""))
    ]


def test_no_day_is_packed_or_settled_after_the_time_limit() -> None:
    days = Days(clock := FixedClock(), 3)

    assert packed(days, clock, 4 * STEP) == Packed(1, 0, finished=False, failures={})

    assert len(days.steps) == 4
    assert days.settled == 0


def test_the_settling_of_days_stops_at_the_time_limit() -> None:
    days = Days(clock := FixedClock(), 1)

    assert packed(days, clock, 3 * STEP) == Packed(1, 1, finished=False, failures={})


def test_a_day_that_cannot_be_packed_does_not_block_other_days() -> None:
    days = Days(clock := FixedClock(), 3, bad="day 1")

    result = packed(days, clock, timedelta(hours=1))

    assert (result.days, result.finished) == (2, True)
    assert {day: str(error) for day, error in result.failures.items()} == {("connection", "day 1"): "day 1"}
    assert days.steps[-1] == ("connection", "day 2", ("2", ""))


CHANGED, QUIET, COPIED, TAKEN_OUT, DONE = range(5)


class Connections(FakeStore):
    """Connections with one past day each. One run each settles it, copies its texts, removes them, and unmarks it."""

    def __init__(self, connection_ids: list[str]) -> None:
        super().__init__()
        self.days = dict.fromkeys(connection_ids, CHANGED)
        self.visits: Counter[str] = Counter()

    def days_to_pack(self, before: str) -> Iterator[tuple[str, str]]:
        """Yield the days that wait."""
        yield from [(key, before) for key, state in self.days.items() if state in {QUIET, COPIED, TAKEN_OUT}]

    def settle_days(self, before: str, is_chosen: Callable[[str], bool]) -> Iterator[int]:  # noqa: ARG002 - one day each
        """Settle a thousand days a step."""
        changed = [key for key, state in self.days.items() if state == CHANGED and is_chosen(key)]
        for start in range(0, len(changed), 1_000):
            for key in changed[start : start + 1_000]:
                self.days[key] = QUIET
            yield len(changed[start : start + 1_000])

    def pack(self, connection_id: str, day: str, after: tuple[str, str] | None) -> None:  # noqa: ARG002 - one step each
        """Go on by one."""
        self.visits[connection_id] += 1
        self.days[connection_id] += 1


@settings(max_examples=25, deadline=None)
@given(number=st.one_of(st.integers(0, 20), st.integers(450, 1_400), st.integers(10_000, 30_000)), seed=st.integers())
def test_an_hour_of_the_schedules_packs_any_number_of_connections(number: int, seed: int) -> None:
    connections = Connections([str(uuid.UUID(int=(seed + index * 7_919**9) % 2**128)) for index in range(number)])

    for _ in range(4):  # every 15 minutes
        for event in EVENTS:
            pack_days(connections, FixedClock(), NOON + timedelta(minutes=4), Share(event["share"], event["shares"]))

    assert set(connections.days.values()) <= {DONE}
    assert set(connections.visits.values()) <= {3}  # no two runs visit the same day in a round


@settings(max_examples=50)
@given(connection_id=st.uuids().map(str), shares=st.integers(1, 12), parts=st.integers(1, 5))
def test_each_connection_belongs_to_one_share_and_one_of_its_parts(connection_id: str, shares: int, parts: int) -> None:
    (share,) = [share for share in Share().parts(shares) if share.contains(connection_id)]

    assert sum(part.contains(connection_id) for part in share.parts(parts)) == 1
    assert not any(
        part.contains(connection_id) for other in Share().parts(shares) if other != share for part in other.parts(parts)
    )


def test_shares_are_of_about_the_same_size() -> None:
    sizes = Counter(
        number
        for index in range(4_000)
        for number in range(4)
        if Share(number, 4).contains(str(uuid.UUID(int=index * 7_919**9 % 2**128)))
    )

    assert all(900 < size < 1_100 for size in sizes.values())


@pytest.mark.parametrize(("number", "of"), [(4, 4), (-1, 4), (0, 0)])
def test_a_share_that_does_not_exist_is_refused(number: int, of: int) -> None:
    """A schedule with a wrong share fails, instead of packing nothing."""
    with pytest.raises(ValueError, match="does not exist"):
        Share(number, of)


def test_the_schedules_cover_every_share() -> None:
    assert sorted(event["share"] for event in EVENTS) == list(range(len(EVENTS)))
    assert {event["shares"] for event in EVENTS} == {len(EVENTS)}


class Context:
    """Lambda's, with a minute and a half left."""

    def get_remaining_time_in_millis(self) -> int:
        """Return the time left."""
        return 90_000


class SlowDays(Days):
    """Days of which the first step takes all the time of a run."""

    def pack(self, connection_id: str, day: str, after: tuple[str, str] | None) -> tuple[str, str] | None:
        """Take half a minute."""
        self._clock.advance(seconds=30)
        return super().pack(connection_id, day, after)


@pytest.mark.parametrize("event", [{}, {"source": "aws.events"}, {"share": 0, "shares": 1}])
def test_the_function_uses_its_remaining_time(caplog: pytest.LogCaptureFixture, event: dict[str, Any]) -> None:
    clock = FixedClock()
    days = SlowDays(clock, 3)

    with using(Services(clock=clock)) as services:
        services.store = days
        pack_search_texts.handler(event, Context())

    assert len(days.steps) == 1  # all days are of one connection, and so of one thread
    (line,) = (vars(record) for record in caplog.records)
    assert (line["message"], line["share"], line["days"], line["failed"]) == ("packing.done", 0, 0, 0)
    assert line["finished"] is False
    assert counted("PackUnfinished", [line]) == 1


def test_a_run_that_finishes_is_not_counted_as_unfinished(caplog: pytest.LogCaptureFixture) -> None:
    with using(Services(clock=FixedClock())) as services:
        services.store = FakeStore()
        pack_search_texts.handler({"share": 3, "shares": 4}, Context())

    (line,) = (vars(record) for record in caplog.records)
    assert (line["share"], line["finished"]) == (3, True)
    assert counted("PackUnfinished", [line]) == 0


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
