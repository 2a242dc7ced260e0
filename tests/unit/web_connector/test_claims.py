"""Claims: an outdated queue neither sends a request twice nor hides another."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from domain.records.request import Claim, MessageSet, State
from domain.storage.changes import RemoveRequest
from domain.web_connector.session.claims import BEING_STORED, FRONTS, Claims
from tests.support.builders import CONNECTION_ID
from tests.support.web_connector.connector import Connector
from tests.support.web_connector.interruptions import RandomIds
from tests.support.web_connector.quickbooks import hcp, response_to

if TYPE_CHECKING:
    from domain.records.request import QueuedRequest


def test_a_removed_request_is_passed_over(qbwc: Connector) -> None:
    removed_id, good = qbwc.queue(), qbwc.queue()
    qbwc.store.index = [qbwc.record(removed_id), qbwc.record(good)]
    qbwc.store.commit(RemoveRequest(qbwc.record(removed_id), "2026-03-14T12:00:00.000000Z"))

    assert qbwc.authenticate() == ""

    assert qbwc.record(good).state is State.TICKETED


@pytest.mark.parametrize(("age", "removed"), [(timedelta(0), 0), (BEING_STORED, 1)])
def test_an_entry_without_a_request_leaves_the_queue_when_it_is_too_old_to_be_new(
    qbwc: Connector, age: timedelta, removed: int
) -> None:
    missing = qbwc.record(qbwc.queue())
    qbwc.store.index = [missing]
    del qbwc.store.records[missing.id]
    qbwc.clock.now += age

    assert qbwc.authenticate() == "none"

    assert qbwc.store.calls["remove_from_queue"] == removed


def test_a_discarded_request_is_passed_over(qbwc: Connector) -> None:
    discarded_id, good, behind = qbwc.queue(), qbwc.queue(), qbwc.queue()
    qbwc.store.index = [qbwc.record(discarded_id), qbwc.record(good), qbwc.record(behind)]
    qbwc.change(discarded_id, state=State.DISCARDED)
    qbwc.change(behind, state=State.DISCARDED)

    assert qbwc.authenticate() == ""

    assert qbwc.store.calls["request"] == 2
    assert qbwc.store.calls["remove_from_queue"] == 1
    assert good in qbwc.send(hcp())


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
    assert qbwc.store.calls["commit"] == 2


def test_an_outdated_queue_is_read_again(qbwc: Connector) -> None:
    stale, good = qbwc.queue(), qbwc.queue()
    readings = [[qbwc.record(stale)], [qbwc.record(good)]]
    qbwc.change(stale, state=State.DISCARDED)
    qbwc.store.queue_front = lambda *_, **__: readings.pop(0)  # type: ignore[method-assign]

    assert qbwc.authenticate() == ""

    assert qbwc.record(good).state is State.TICKETED


@pytest.mark.parametrize(("fields", "removed"), [({"state": State.DISCARDED}, 1), ({"label": "changed"}, 0)])
def test_a_lingering_session_removes_an_entry_from_the_queue_only_if_its_request_has_ended(
    fields: dict[str, Any], removed: int
) -> None:
    qbwc = Connector(new_id=RandomIds())
    qbwc.connect(linger_seconds=60)
    qbwc.queue()
    qbwc.receive(response_to(qbwc.begin()))
    outdated = qbwc.record(qbwc.queue())
    qbwc.change(outdated.id, **fields)
    stored, readings = qbwc.store.queue_front, [[outdated]]
    qbwc.store.queue_front = lambda *place, **lane: readings.pop() if readings else stored(*place, **lane)  # type: ignore[method-assign]

    sent = qbwc.send()

    assert not readings
    assert qbwc.store.calls["remove_from_queue"] == removed
    assert (outdated.id in sent) is (not removed)


def test_a_record_that_another_session_claimed_first_is_not_claimed_twice(qbwc: Connector) -> None:
    request_id = qbwc.queue()
    qbwc.store.index = [qbwc.record(request_id)]
    qbwc.change(request_id, state=State.TICKETED, claim=Claim("somebody's"))

    assert qbwc.authenticate() == "none"

    assert qbwc.record(request_id).claim.session_id == "somebody's"


def limits_of_reads(qbwc: Connector) -> list[int]:
    """Return a list of how many requests each read of the queue asks for from now on."""
    limits: list[int] = []
    read = qbwc.store.queue_front

    def noted(connection_id: str, limit: int, *, low_lane: bool = False) -> list[QueuedRequest]:
        limits.append(limit)
        return read(connection_id, limit, low_lane=low_lane)

    qbwc.store.queue_front = noted  # type: ignore[method-assign]
    return limits


@pytest.mark.parametrize(("had", "expected"), [(9, [10]), (10, [10, 100]), (99, [10, 100]), (100, [10, 100, 1_000])])
def test_more_of_the_queue_is_read_only_if_the_session_had_all_that_was_read(
    qbwc: Connector, had: int, expected: list[int]
) -> None:
    for _ in range(had):
        qbwc.queue(claim=Claim("mine"))
    limits = limits_of_reads(qbwc)

    assert Claims(qbwc.store, CONNECTION_ID, "mine", qbwc.clock.now).front() == []

    assert limits == expected


@pytest.mark.parametrize(
    ("ahead", "missing", "reads"),
    [(0, 0, 1), (0, 1, 1), (FRONTS[1] - 1, 0, 1), (FRONTS[1] - 1, 1, 2), (FRONTS[1], 0, 2), (FRONTS[1], 1, 2)],
)
def test_all_members_of_a_message_set_are_found_and_more_of_the_queue_is_read_only_if_one_is_missing(
    qbwc: Connector, ahead: int, missing: int, reads: int
) -> None:
    for number in range(ahead):
        other = MessageSet("another", 1, 2) if number % 2 else None
        qbwc.write(state=State.RETRYABLE, message_set=other)
    size = 2 + missing
    member = qbwc.write(state=State.RETRYABLE, message_set=MessageSet("lost", 2, size))
    limits = limits_of_reads(qbwc)

    claims = Claims(qbwc.store, qbwc.connection.id, "mine", qbwc.clock.now)
    found = claims.other_members(MessageSet("lost", 1, size))

    assert [record.id for record in found] == [member]
    assert len(limits) == reads
