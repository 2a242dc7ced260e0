"""Claims: an outdated queue neither sends a request twice nor hides another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.records.request import State
from domain.storage.changes import RemoveRequest
from tests.support.web_connector.quickbooks import response_to

if TYPE_CHECKING:
    from tests.support.web_connector.connector import Connector


def test_a_removed_request_is_passed_over(qbwc: Connector) -> None:
    removed_id, good = qbwc.queue(), qbwc.queue()
    qbwc.store.index = [qbwc.record(removed_id), qbwc.record(good)]
    qbwc.store.commit(RemoveRequest(qbwc.record(removed_id), "2026-03-14T12:00:00.000000Z"))

    assert qbwc.authenticate() == ""

    assert qbwc.record(good).state is State.TICKETED


def test_a_discarded_request_is_passed_over(qbwc: Connector) -> None:
    discarded_id, good = qbwc.queue(), qbwc.queue()
    qbwc.store.index = [qbwc.record(discarded_id), qbwc.record(good)]
    qbwc.change(discarded_id, state=State.DISCARDED)

    assert good in qbwc.begin()


def test_an_outdated_queue_does_not_send_a_completed_request_again(qbwc: Connector) -> None:
    first, second = qbwc.queue(), qbwc.queue()
    qbwc.store.index = [qbwc.record(first), qbwc.record(second)]

    request = qbwc.begin()
    assert qbwc.receive(response_to(request)) < 100
    request = qbwc.send()
    assert second in request
    assert qbwc.receive(response_to(request)) == 100


def test_a_queue_with_only_outdated_entries_counts_as_empty(qbwc: Connector) -> None:
    records = [qbwc.record(qbwc.queue()) for _ in range(30)]
    qbwc.store.index = records
    for record in records:
        qbwc.change(record.id, state=State.DISCARDED)

    assert qbwc.authenticate() == "none"
    assert qbwc.store.calls["commit"] <= 10


def test_an_outdated_queue_is_read_again(qbwc: Connector) -> None:
    stale, good = qbwc.queue(), qbwc.queue()
    readings = [[qbwc.record(stale)], [qbwc.record(good)]]
    qbwc.change(stale, state=State.DISCARDED)
    qbwc.store.queue_front = lambda _connection_id, _limit: readings.pop(0)  # type: ignore[assignment, method-assign]

    assert qbwc.authenticate() == ""

    assert qbwc.record(good).state is State.TICKETED


def test_a_record_that_another_session_claimed_first_is_not_claimed_twice(qbwc: Connector) -> None:
    request_id = qbwc.queue()
    qbwc.store.index = [qbwc.record(request_id)]
    qbwc.change(request_id, state=State.TICKETED, last_session_id="somebody's")

    assert qbwc.authenticate() == "none"

    assert qbwc.record(request_id).last_session_id == "somebody's"
