"""Requests with a `send_by`: none is first handed to the Web Connector after it, and the sweep ends those that wait."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from domain.maintenance import sweep as sweeping
from domain.maintenance.late_requests import end_late_requests
from domain.queueing.new_request import added_request, copy_of
from domain.records.request import State
from domain.records.session import SILENCE_SECONDS
from domain.records.successor import may_be_queued_again
from domain.send_by import SendBy
from domain.storage.changes import ChangeRequest
from domain.storage.ports import RequestDetail
from domain.timestamps import timestamp
from tests.support.queueing import new_request
from tests.support.web_connector.connector import Connector
from tests.support.web_connector.quickbooks import labels_in, nothing_stored, response_to, set_response

if TYPE_CHECKING:
    from collections.abc import Callable


HOUR = 3_600


@pytest.fixture
def qbwc() -> Connector:
    """Return a connected Web Connector whose writes are sent up to five at a time."""
    connector = Connector()
    connector.connect(batch_size=5, linger_seconds=60)
    return connector


def ahead(qbwc: Connector, seconds: float = HOUR) -> int:
    """Return a time in Unix seconds."""
    return int(qbwc.clock.now.timestamp() + seconds)


def sweep(qbwc: Connector) -> int:
    """Run both parts of the sweep. Return the number of requests that were not sent in time."""
    until = qbwc.clock() + timedelta(minutes=5)
    late, _ = end_late_requests(qbwc.store, qbwc.clock, until)
    sweeping.sweep(qbwc.store, qbwc.clock, until)
    return late


def end_of(qbwc: Connector, request_id: str) -> str:
    """Return the error code or the state of a request."""
    record = qbwc.record(request_id)
    return record.error.code if record.error else record.state.value


def at(qbwc: Connector, moment: int, action: Callable[[], Any]) -> Any:
    """Make a call that arrives at this time: each call of the Web Connector takes a second."""
    qbwc.clock.advance(seconds=moment - 1 - qbwc.clock.now.timestamp())
    return action()


@pytest.mark.parametrize(("seconds_late", "is_sent"), [(-1, True), (0, False), (1, False)])
@pytest.mark.parametrize("kind", ["CustomerQueryRq", "CustomerAddRq"])
def test_a_request_is_claimed_before_its_time_and_not_later(
    qbwc: Connector, kind: str, *, seconds_late: int, is_sent: bool
) -> None:
    limit = ahead(qbwc)
    late = qbwc.queue(kind, send_by=limit)
    other = qbwc.write(inserted_at=timestamp(qbwc.clock.now + timedelta(minutes=1)))

    at(qbwc, limit + seconds_late, qbwc.authenticate)

    assert qbwc.in_flight[0].id == (late if is_sent else other)


@pytest.mark.parametrize(("seconds_late", "is_sent"), [(-1, True), (0, False), (HOUR, False)])
def test_a_request_that_was_claimed_in_time_is_sent_in_time_or_ends(
    qbwc: Connector, *, seconds_late: int, is_sent: bool
) -> None:
    limit = ahead(qbwc)
    claimed, behind = qbwc.write(send_by=limit), qbwc.write("Bob")
    at(qbwc, limit - 60, qbwc.authenticate)

    sent = at(qbwc, limit + seconds_late, qbwc.send)

    assert (claimed in sent) is is_sent
    assert (behind in sent) is not is_sent
    assert end_of(qbwc, claimed) == ("sent" if is_sent else "not_sent_in_time")


def test_a_late_request_is_not_sent_in_the_set_of_another(qbwc: Connector) -> None:
    limit = ahead(qbwc)
    qbwc.write()
    first, late, third = qbwc.write("Bob"), qbwc.write("Cid", send_by=limit), qbwc.write("Dan")
    qbwc.receive(response_to(at(qbwc, limit - 20, qbwc.begin)))

    assert labels_in(at(qbwc, limit, qbwc.send)) == [first, third]

    sweep(qbwc)
    assert end_of(qbwc, late) == "not_sent_in_time"


def test_a_lingering_session_does_not_claim_a_late_request(qbwc: Connector) -> None:
    qbwc.write()
    qbwc.receive(response_to(qbwc.begin()))
    late = qbwc.write("Bob", send_by=ahead(qbwc, 2))

    assert qbwc.send() == "NoOp"
    assert end_of(qbwc, late) == "waiting"


def test_the_sweep_ends_what_waits_and_tells_how_much(qbwc: Connector) -> None:
    limit = ahead(qbwc)
    late, later, plain = qbwc.write(send_by=limit), qbwc.queue(send_by=limit + 1), qbwc.write()
    qbwc.clock.advance(seconds=limit - 1 - qbwc.clock.now.timestamp())
    assert sweep(qbwc) == 0

    qbwc.clock.advance(seconds=1)
    assert sweep(qbwc) == 1

    assert [end_of(qbwc, each) for each in (late, later, plain)] == ["not_sent_in_time", "waiting", "waiting"]
    assert "not_sent_in_time" in qbwc.store.bodies[late].search_text
    assert qbwc.store.counts == qbwc.store.recount()
    assert qbwc.record(late).wrote_nothing


def test_the_sweep_ends_a_request_that_a_session_holds_and_has_not_sent(qbwc: Connector) -> None:
    limit = ahead(qbwc)
    held, behind = qbwc.write(send_by=limit), qbwc.write("Bob")
    at(qbwc, limit - 1, qbwc.authenticate)
    qbwc.clock.advance(seconds=2)

    assert sweep(qbwc) == 1

    assert end_of(qbwc, held) == "not_sent_in_time"
    assert qbwc.session.ids_in_flight == ()
    assert qbwc.send() == ""
    qbwc.close()
    assert qbwc.begin()
    assert [record.id for record in qbwc.in_flight] == [behind]


def test_the_sweep_leaves_a_request_whose_session_is_gone_to_the_next_login(qbwc: Connector) -> None:
    limit = ahead(qbwc)
    held = qbwc.write(send_by=limit)
    at(qbwc, limit - 1, qbwc.authenticate)
    qbwc.store.lose_sessions()
    qbwc.clock.advance(seconds=SILENCE_SECONDS)

    assert sweep(qbwc) == 0
    qbwc.authenticate()
    assert sweep(qbwc) == 1
    assert end_of(qbwc, held) == "not_sent_in_time"


def test_the_sweep_ends_dependants_too(qbwc: Connector) -> None:
    customer = {"CustomerAddRq": {"CustomerAdd": {"Name": "Ann"}}}
    job = {"CustomerAddRq": {"CustomerAdd": {"Name": "Job"}}}
    ids = qbwc.batch(
        new_request(customer, "c", send_by=SendBy(within=60)),
        new_request(job, "j", "c"),
        new_request(job, None, "j"),
        new_request(job, None),
    )
    qbwc.clock.advance(seconds=60)

    sweep(qbwc)

    failed = ["not_sent_in_time", "dependency_failed", "dependency_failed", "waiting"]
    assert [end_of(qbwc, each) for each in ids] == failed
    error = qbwc.record(ids[1]).error
    assert error
    assert error.details["dependency_code"] == "not_sent_in_time"


def test_the_sweep_ends_a_request_that_still_waits_for_another(qbwc: Connector) -> None:
    customer = {"CustomerAddRq": {"CustomerAdd": {"Name": "Ann"}}}
    first, second = qbwc.batch(new_request(customer, "c"), new_request(customer, None, "c", send_by=SendBy(within=60)))
    qbwc.clock.advance(seconds=60)

    sweep(qbwc)

    assert [end_of(qbwc, first), end_of(qbwc, second)] == ["waiting", "not_sent_in_time"]
    assert first in qbwc.begin()


def test_a_lone_write_that_was_never_executed_ends_after_its_time(qbwc: Connector) -> None:
    limit = ahead(qbwc)
    write = qbwc.write(send_by=limit)
    assert write in qbwc.begin()
    qbwc.close_and_wait()
    assert sweep(qbwc) == 0, "QuickBooks may have executed it"
    qbwc.clock.advance(seconds=HOUR)

    qbwc.receive(nothing_stored(qbwc.begin()))
    assert write not in qbwc.send()

    assert end_of(qbwc, write) == "not_sent_in_time"
    # A Web Connector that hangs may still hand over the first copy.
    assert not may_be_queued_again(qbwc.record(write))
    error = qbwc.record(write).error
    assert error
    assert "look in the company file" in error.details["hint"]


def test_a_lone_write_that_was_executed_gets_its_response_after_its_time(qbwc: Connector) -> None:
    limit = ahead(qbwc)
    write = qbwc.write(send_by=limit)
    request = qbwc.begin()
    qbwc.close_and_wait()
    qbwc.clock.advance(seconds=HOUR)

    qbwc.begin()
    qbwc.receive(response_to(request))

    assert end_of(qbwc, write) == "response_received"


def test_a_write_that_quickbooks_refused_to_begin_is_not_sent_after_its_time(qbwc: Connector) -> None:
    limit = ahead(qbwc)
    write = qbwc.write(send_by=limit)
    assert write in qbwc.begin()
    qbwc.receive(hresult="0x80040408")
    assert end_of(qbwc, write) == "retryable"
    qbwc.close()
    qbwc.clock.advance(seconds=HOUR)

    sweep(qbwc)

    assert end_of(qbwc, write) == "not_sent_in_time"


def test_a_set_that_was_handed_over_is_recovered_whole(qbwc: Connector) -> None:
    limit = ahead(qbwc)
    qbwc.write()
    ids = [qbwc.write(name, send_by=limit) for name in ("Bob", "Cid")]
    qbwc.receive(response_to(qbwc.begin()))
    assert labels_in(qbwc.send()) == ids
    qbwc.receive(hresult="0x80040408")  # a set that never began is sent again as it is
    qbwc.close()
    qbwc.clock.advance(seconds=2 * HOUR)
    assert sweep(qbwc) == 0

    sent = qbwc.begin()

    assert labels_in(sent) == ids
    qbwc.receive(set_response(sent))
    assert [end_of(qbwc, each) for each in ids] == ["response_received"] * 2


def test_a_read_that_was_sent_in_time_may_be_sent_again(qbwc: Connector) -> None:
    limit = ahead(qbwc)
    read = qbwc.queue(send_by=limit)
    assert read in qbwc.begin()
    qbwc.close()
    qbwc.clock.advance(seconds=2 * HOUR)
    assert sweep(qbwc) == 0

    assert read in qbwc.begin()


def test_the_pages_of_a_query_that_began_in_time_arrive_after_it(qbwc: Connector) -> None:
    limit = ahead(qbwc)
    query = qbwc.iterate(send_by=limit)
    request = qbwc.begin()
    qbwc.receive(response_to(request, extra=' iteratorRemainingCount="2" iteratorID="{1}"'))

    sent = at(qbwc, limit + 60, qbwc.send)

    assert 'iterator="Continue"' in sent
    assert qbwc.record(query).send_by == limit
    assert qbwc.in_flight[0].send_by is None


def test_a_person_can_still_discard_a_late_request(qbwc: Connector) -> None:
    late = qbwc.write(send_by=ahead(qbwc))
    qbwc.clock.advance(seconds=HOUR)
    record = qbwc.record(late)

    qbwc.store.commit(ChangeRequest(record, record.moved(State.DISCARDED, qbwc.clock.now)))

    assert sweep(qbwc) == 0
    assert end_of(qbwc, late) == "discarded"


@pytest.mark.parametrize(("seconds", "is_kept"), [(HOUR, False), (0, False), (-1, True)])
def test_a_copy_keeps_a_time_that_has_not_passed(qbwc: Connector, *, seconds: int, is_kept: bool) -> None:
    limit = ahead(qbwc)
    write = qbwc.write(send_by=limit)
    record = qbwc.record(write)
    qbwc.store.commit(ChangeRequest(record, record.moved(State.DISCARDED, qbwc.clock.now)))
    detail = qbwc.store.request_detail(write)
    assert isinstance(detail, RequestDetail)

    moment = timestamp(qbwc.clock.now + timedelta(seconds=limit + seconds - qbwc.clock.now.timestamp()))

    copy = added_request(qbwc.new_id(), qbwc.connection, copy_of(detail.stored), moment)

    assert copy.record.send_by == (limit if is_kept else None)


@pytest.mark.parametrize("seconds", [0.0, 0.4, 0.999])
def test_a_fraction_of_a_second_counts_in_favour_of_not_sending(qbwc: Connector, seconds: float) -> None:
    record = replace(qbwc.record(qbwc.write()), send_by=ahead(qbwc, 0))
    now = qbwc.clock.now.replace(microsecond=0) + timedelta(seconds=seconds)

    assert record.misses_send_by(now)
    assert not record.misses_send_by(now.replace(microsecond=0) - timedelta(microseconds=1))
