"""Every point of a session is interrupted in every way: no write is executed twice, and no request is stuck.

One interruption at each point, with lagging indexes and with a lagging queue, and two within one call. `make test`
makes each fifth, and `make prove ARGS=interruptions` all, which takes minutes.
"""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

import pytest

from domain.records.request import State
from tests.support.web_connector.connector import Connector
from tests.support.web_connector.drain import Drain
from tests.support.web_connector.interruptions import IN_QUICKBOOKS
from tests.support.web_connector.matrix import (
    LAGS,
    QUEUES,
    QUEUES_OF_SETS,
    WRITES,
    a_read,
    interruptions_of,
    pairs_in_one_call,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.web_connector.interruptions import Interruption
    from tests.support.web_connector.matrix import Fill

T = TypeVar("T")
EVERY = 1 if os.environ.get("INTERRUPTIONS") == "all" else 5
"""A point has 2, 3, 6 or 11 interruptions, so each fifth is another one at each point."""
LINGER_SECONDS = 20
BATCH_SIZE = 5


def share(interruptions: Iterator[T]) -> Iterator[T]:
    """Yield the interruptions that this run makes."""
    return islice(interruptions, 0, None, EVERY)


@pytest.mark.parametrize("fill", QUEUES)
def test_after_any_interruption_requests_end_and_writes_are_executed_once(fill: Fill) -> None:
    for number, interruption in enumerate(share(interruptions_of(fill))):
        for lag in LAGS if EVERY == 1 else [LAGS[number % 2]]:
            drain = Drain(fill, interruption, lag=lag).to_the_end()

            assert drain.points.happened == [interruption]
            drain.check()


@pytest.mark.parametrize("fill", QUEUES)
def test_a_terminated_function_in_a_duplicate_or_late_call_changes_nothing(fill: Fill) -> None:
    for pair in pairs_in_one_call(fill, every=EVERY):
        drain = Drain(fill, *pair, lag="indexes").to_the_end()

        assert drain.points.happened == list(pair)
        drain.check()


@pytest.mark.parametrize("fill", QUEUES_OF_SETS[BATCH_SIZE])
def test_after_any_interruption_of_sets_requests_end_and_writes_are_executed_at_most_once(fill: Fill) -> None:
    for interruption in share(interruptions_of(fill, BATCH_SIZE)):
        drain = Drain(fill, interruption, lag="indexes", batch_size=BATCH_SIZE).to_the_end()

        assert drain.points.happened == [interruption]
        drain.check()


def test_a_terminated_function_in_a_duplicate_or_late_call_of_a_set_changes_nothing() -> None:
    fill = QUEUES_OF_SETS[2][0]
    for pair in pairs_in_one_call(fill, BATCH_SIZE, every=EVERY):
        drain = Drain(fill, *pair, lag="indexes", batch_size=BATCH_SIZE).to_the_end()

        assert drain.points.happened == list(pair)
        drain.check()


@pytest.mark.parametrize("fill", WRITES)
def test_in_an_unmarked_file_a_write_is_executed_once_or_its_outcome_is_unknown(fill: Fill) -> None:
    for interruption in share(interruptions_of(fill)):
        Drain(fill, interruption, marked=False).to_the_end().check()


def test_without_interruptions_quickbooks_gets_requests_in_queue_order() -> None:
    for fill in QUEUES:
        drain = Drain(fill).to_the_end()

        drain.check()
        first = {record.id: record for record in drain.records if record.paging.page == 1}
        records = sorted(drain.records, key=lambda record: (first[record.query_id].inserted_at, record.paging.page))
        # A dependant enters the queue later (`test_dependants.py`).
        requests = [
            (record.request_name, record.request_label)
            for record in records
            if not drain.store.bodies[record.id].references
        ]
        executed = [
            (execution.name, (execution.request_id or "").removeprefix("set-")) for execution in drain.company.executed
        ]
        assert [execution for execution in executed if execution in requests] == requests


def lingering_drain(*interruptions: Interruption) -> Drain:
    """Drain a read; while the session lingers, a write, a read and a write arrive."""
    arriving = (lambda qbwc: qbwc.write("Ann"), Connector.queue, lambda qbwc: qbwc.write("Bob"))
    return Drain(a_read, *interruptions, arriving=arriving, linger_seconds=LINGER_SECONDS).to_the_end()


def test_a_lingering_session_sends_everything_that_arrives() -> None:
    drain = lingering_drain()

    drain.check()
    assert drain.results[0].requests == 4


def test_after_any_interruption_of_a_lingering_session_each_request_is_executed_once() -> None:
    for interruption in share(lingering_drain().points.after()):
        if interruption.kind not in IN_QUICKBOOKS:
            drain = lingering_drain(interruption)

            drain.check()
            assert [record.state for record in drain.records] == [State.RESPONSE_RECEIVED] * 4
