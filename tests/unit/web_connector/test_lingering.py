"""Lingering: a session stays open after its last request and takes requests that are queued meanwhile."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from domain.connections.service import ConnectionService
from domain.maintenance.sweep import sweep
from domain.records.request import Recovery, State
from domain.records.session import MAX_LINGER_SECONDS, SILENCE_SECONDS
from domain.records.sync_window import SyncWindow
from domain.storage.changes import ChangeRequest
from domain.web_connector.session import polling
from simulator import Company
from simulator.web_connector.connector import NO_OP_WAIT_SECONDS
from tests.support.builders import AN_ACTOR, APP_ID, CONNECTION_ID, NOON, counting_bytes
from tests.support.web_connector.connector import Connector
from tests.support.web_connector.interruptions import RandomIds
from tests.support.web_connector.quickbooks import hcp, response_to, stored_response

if TYPE_CHECKING:
    from collections.abc import Callable

LINGER = 60


def a_connector(**fields: Any) -> Connector:
    qbwc = Connector(new_id=RandomIds())
    qbwc.connect(**({"linger_seconds": LINGER} | fields))
    return qbwc


@pytest.fixture
def qbwc() -> Connector:
    return a_connector()


def pause(qbwc: Connector, *, resume: bool = False) -> None:
    store = qbwc.store
    service = ConnectionService(store, clock=qbwc.clock, new_id=qbwc.new_id, secrets=counting_bytes)
    (service.resume if resume else service.pause)(APP_ID, CONNECTION_ID, actor=AN_ACTOR)


def answer_only_request(qbwc: Connector) -> None:
    """Run a session until its only request has a response."""
    qbwc.queue()
    assert qbwc.receive(response_to(qbwc.begin())) == 99


def test_after_the_last_response_the_session_lingers_with_noop(qbwc: Connector) -> None:
    answer_only_request(qbwc)

    assert qbwc.send() == "NoOp"
    assert qbwc.last_error() == "NoOp"


def test_lingering_costs_three_reads_and_no_write(qbwc: Connector) -> None:
    answer_only_request(qbwc)
    before = qbwc.session

    qbwc.send()
    assert dict(qbwc.store.calls) == {"session": 1, "queue_front": 1}
    qbwc.last_error()
    assert dict(qbwc.store.calls) == {"session": 1}

    assert qbwc.session == before


@pytest.mark.parametrize("queue", [Connector.queue, Connector.write])
def test_a_request_queued_meanwhile_is_claimed_and_sent_in_one_commit(qbwc: Connector, queue: Any) -> None:
    answer_only_request(qbwc)
    qbwc.send()
    request_id = queue(qbwc)

    request = qbwc.send()

    assert dict(qbwc.store.calls) == {"session": 1, "queue_front": 1, "with_request_xml": 1, "commit": 1}
    record = qbwc.record(request_id)
    assert (record.state, record.attempts.sessions, record.revision) == (State.SENT, 1, 2)
    assert record.claim.session_id == qbwc.session.id
    assert qbwc.in_flight == [record]
    assert qbwc.receive(response_to(request)) == 99
    assert qbwc.record(request_id).state is State.RESPONSE_RECEIVED
    assert qbwc.store.counts == qbwc.store.recount()


def test_each_response_restarts_the_lingering_time(qbwc: Connector) -> None:
    answer_only_request(qbwc)
    qbwc.clock.advance(seconds=LINGER - 10)
    qbwc.queue()
    qbwc.receive(response_to(qbwc.send()))
    qbwc.clock.advance(seconds=LINGER - 10)

    assert qbwc.send() == "NoOp"


def test_after_the_lingering_time_the_session_ends_with_a_friendly_message(qbwc: Connector) -> None:
    answer_only_request(qbwc)
    qbwc.clock.advance(seconds=LINGER)

    assert qbwc.send() == ""
    assert qbwc.last_error() == "Done: nothing more was queued for 60 seconds."
    assert qbwc.close() == "OK"
    assert qbwc.connection.session_id is None


def test_a_request_queued_in_the_last_seconds_is_sent(qbwc: Connector) -> None:
    answer_only_request(qbwc)
    qbwc.clock.advance(seconds=LINGER)
    qbwc.queue()

    assert "CustomerQueryRq" in qbwc.send()


def test_without_lingering_the_last_response_ends_the_session() -> None:
    qbwc = a_connector(linger_seconds=0)
    qbwc.queue()

    assert qbwc.receive(response_to(qbwc.begin())) == 100
    assert qbwc.send() == ""


def test_a_login_without_work_does_not_linger(qbwc: Connector) -> None:
    assert qbwc.authenticate() == "none"


def test_a_duplicate_of_the_last_response_does_not_end_lingering(qbwc: Connector) -> None:
    qbwc.queue()
    request = qbwc.begin()
    qbwc.receive(response_to(request))

    assert qbwc.receive(response_to(request)) == 99


def test_a_session_that_requeued_a_request_does_not_linger(qbwc: Connector) -> None:
    """This session must not claim the request again, so it ends, and a later session claims it."""
    qbwc.queue()
    qbwc.begin()

    assert qbwc.receive(hresult="0x8004041B") == -1
    assert qbwc.states() == ["retryable"]


def test_a_session_that_ends_with_errors_does_not_linger(qbwc: Connector) -> None:
    for _ in range(3):
        qbwc.queue()
    qbwc.begin()
    qbwc.receive(hresult="0x8004041B")
    qbwc.send()

    assert qbwc.receive(hresult="0x8004041B") == -1
    assert "0x8004041B" in qbwc.last_error()


def test_a_session_in_another_company_file_does_not_linger(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.authenticate()
    qbwc.send(hcp("{00000000-0000-0000-0000-000000000009}"))

    assert qbwc.send() == ""
    assert "not the file of this connection" in qbwc.last_error()


def test_a_pause_ends_lingering(qbwc: Connector) -> None:
    answer_only_request(qbwc)
    assert qbwc.send() == "NoOp"
    pause(qbwc)
    qbwc.queue()

    assert qbwc.send() == ""
    assert qbwc.last_error() == polling.PAUSED
    assert qbwc.states() == ["response_received", "waiting"]


def test_the_end_of_the_sync_window_ends_lingering() -> None:
    qbwc = a_connector(sync_window=SyncWindow("11:00", "12:01", "UTC"), linger_seconds=600)
    answer_only_request(qbwc)
    assert qbwc.send() == "NoOp"
    qbwc.clock.now = NOON.replace(minute=1)
    qbwc.queue()

    assert qbwc.send() == ""
    assert qbwc.last_error() == polling.WINDOW_CLOSED


def test_a_request_put_back_by_a_pause_is_for_a_later_session(qbwc: Connector) -> None:
    answer_only_request(qbwc)
    qbwc.queue()
    qbwc.queue()
    qbwc.receive(response_to(qbwc.send()))
    pause(qbwc)
    assert qbwc.send() == ""
    pause(qbwc, resume=True)

    assert qbwc.send() == ""
    assert qbwc.last_error() == polling.PAUSED
    qbwc.close()
    assert qbwc.authenticate() == ""


def test_a_request_that_was_discarded_meanwhile_is_passed_over(qbwc: Connector) -> None:
    answer_only_request(qbwc)
    discarded_id, other = qbwc.queue(), qbwc.queue()
    plain = qbwc.store.commit

    def discarded_meanwhile(*changes: Any) -> None:
        qbwc.store.commit = plain  # type: ignore[method-assign]
        record = qbwc.record(discarded_id)
        plain(ChangeRequest(record, record.moved(State.DISCARDED, qbwc.clock.now)))
        plain(*changes)

    qbwc.store.commit = discarded_meanwhile  # type: ignore[method-assign]

    assert other in qbwc.send()
    assert qbwc.store.counts == qbwc.store.recount()


def test_a_request_that_cannot_be_written_does_not_block_the_queue(qbwc: Connector) -> None:
    answer_only_request(qbwc)
    bad = qbwc.queue("CustomerQueryRq", "<MaxReturned>")
    fine = qbwc.queue()

    assert fine in qbwc.send()
    assert qbwc.record(bad).state is State.ERROR
    assert qbwc.store.counts == qbwc.store.recount()


def test_a_takeover_ends_lingering(qbwc: Connector) -> None:
    answer_only_request(qbwc)
    former = qbwc.ticket
    qbwc.queue()
    assert qbwc.authenticate() == ""
    qbwc.ticket = former

    assert qbwc.send() == ""
    assert qbwc.last_error() != "NoOp"


def test_closing_ends_lingering(qbwc: Connector) -> None:
    answer_only_request(qbwc)
    qbwc.close()

    assert qbwc.send() == ""
    assert qbwc.last_error() != "NoOp"


def test_the_sweep_spares_the_longest_lingering() -> None:
    qbwc = a_connector(linger_seconds=MAX_LINGER_SECONDS)
    answer_only_request(qbwc)
    qbwc.clock.advance(seconds=MAX_LINGER_SECONDS - 2)
    store = qbwc.store

    sweep(store, qbwc.clock, NOON.replace(hour=23))

    assert MAX_LINGER_SECONDS + NO_OP_WAIT_SECONDS < SILENCE_SECONDS
    assert qbwc.send() == "NoOp"


def test_a_lingering_session_recovers_a_write(qbwc: Connector) -> None:
    answer_only_request(qbwc)
    write = qbwc.write(recovery=Recovery(begun=True, active=True), state=State.RETRYABLE, queue_priority=0)

    check = qbwc.send()

    assert f'newMessageSetID="{qbwc.record(write).message_set_id}"' in check
    assert qbwc.receive(stored_response(check.replace("/>", f'><CustomerAddRq requestID="{write}"/>'))) == 99
    assert qbwc.record(write).state is State.RESPONSE_RECEIVED


def test_the_log_distinguishes_lingering_from_sending(qbwc: Connector) -> None:
    answer_only_request(qbwc)
    qbwc.send()

    assert qbwc.last
    assert qbwc.last.log["sent"] == "later"


# --- with a whole Web Connector


def run(qbwc: Connector, at_pause: Callable[[int], object]) -> tuple[Any, int]:
    """Run a session; `at_pause(n)` is called at the start of the nth wait of five seconds. Return result and waits."""
    waits = 0

    def sleep(seconds: float) -> None:
        nonlocal waits
        waits += 1
        at_pause(waits)
        qbwc.clock.advance(seconds=seconds)

    return qbwc.simulator(Company.generated(customers=5, sales_orders=0), sleep=sleep).run_once(), waits


def test_a_request_queued_while_a_session_lingers_is_executed_within_one_step(qbwc: Connector) -> None:
    qbwc.queue()
    request_ids: list[str] = []

    result, waits = run(qbwc, lambda number: request_ids.append(qbwc.queue()) if number == 3 else None)

    record = qbwc.record(request_ids[0])
    assert record.state is State.RESPONSE_RECEIVED
    took = datetime.fromisoformat(record.updated_at) - datetime.fromisoformat(record.inserted_at)
    assert took.total_seconds() <= NO_OP_WAIT_SECONDS + 1
    assert (result.requests, result.error) == (2, None)
    assert result.status == "Done: nothing more was queued for 60 seconds."
    assert waits == 3 + LINGER // NO_OP_WAIT_SECONDS


def test_a_pause_is_noticed_within_one_step(qbwc: Connector) -> None:
    qbwc.queue()

    result, waits = run(qbwc, lambda number: pause(qbwc) if number == 2 else None)

    assert (result.status, waits) == (polling.PAUSED, 2)
    assert qbwc.connection.session_id is None


def test_the_end_of_the_sync_window_is_noticed_within_one_step() -> None:
    qbwc = a_connector(sync_window=SyncWindow("11:00", "12:01", "UTC"), linger_seconds=600)
    qbwc.queue()

    result, _ = run(qbwc, lambda _number: qbwc.queue() if qbwc.clock.now >= NOON.replace(minute=1) else None)

    assert result.status == polling.WINDOW_CLOSED
    assert qbwc.clock.now < NOON.replace(minute=1, second=10)
