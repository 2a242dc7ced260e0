"""Lingering: a session stays after its last request and takes what is queued meanwhile."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from domain.connections.service import ConnectionService
from domain.connections.sync_window import SyncWindow
from domain.maintenance.sweep import Sweeper
from domain.requests.record import Recovery, State
from domain.storage.changes import ChangeRequest
from domain.web_connector.protocol import qwc
from domain.web_connector.session import polling
from domain.web_connector.session.record import MAX_LINGER_SECONDS, SILENCE_SECONDS
from simulator import Company, Simulator
from simulator.web_connector.connector import NO_OP_WAIT_SECONDS
from tests.support.builders import APP_ID, CONNECTION_ID, NOON, counting_bytes
from tests.support.web_connector.cuts import RandomIds
from tests.support.web_connector.driver import PASSWORD, Desk, answer, hcp, kept

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LINGER = 60


def a_desk(**fields: Any) -> Desk:
    desk = Desk(new_id=RandomIds())
    desk.connect(**({"linger_seconds": LINGER} | fields))
    return desk


@pytest.fixture
def desk() -> Desk:
    return a_desk()


def pause(desk: Desk, *, resume: bool = False) -> None:
    store = desk.store
    managed = ConnectionService(store, clock=desk.clock, new_id=desk.new_id, secrets=counting_bytes)
    (managed.resume if resume else managed.pause)(APP_ID, CONNECTION_ID)


def answered(desk: Desk) -> None:
    """Run a session to where its only request is answered."""
    desk.queue()
    assert desk.receive(answer(desk.begin())) == 99


def test_after_the_last_answer_the_session_waits_by_noop(desk: Desk) -> None:
    answered(desk)

    assert desk.send() == "NoOp"
    assert desk.last_error() == "NoOp"


def test_waiting_costs_two_reads_and_one_and_writes_nothing(desk: Desk) -> None:
    answered(desk)
    before = desk.session

    desk.send()
    assert dict(desk.store.calls) == {"session": 1, "queue_front": 1}
    desk.last_error()
    assert dict(desk.store.calls) == {"session": 1}

    assert desk.session == before


@pytest.mark.parametrize("queue", [Desk.queue, Desk.write])
def test_what_is_queued_meanwhile_is_handed_out_at_the_next_question_by_one_commit(desk: Desk, queue: Any) -> None:
    answered(desk)
    desk.send()
    request_id = queue(desk)

    request = desk.send()

    assert dict(desk.store.calls) == {"session": 1, "queue_front": 1, "request_xml": 1, "commit": 1}
    record = desk.record(request_id)
    assert (record.state, record.sessions, record.revision) == (State.SENT, 1, 2)
    assert record.last_session_id == desk.session.id
    assert desk.session.in_flight
    assert desk.session.in_flight.record == record
    assert desk.receive(answer(request)) == 99
    assert desk.record(request_id).state is State.RESPONSE_RECEIVED
    assert desk.store.counts == desk.store.recount()


def test_the_time_begins_anew_with_each_answer(desk: Desk) -> None:
    answered(desk)
    desk.clock.advance(seconds=LINGER - 10)
    desk.queue()
    desk.receive(answer(desk.send()))
    desk.clock.advance(seconds=LINGER - 10)

    assert desk.send() == "NoOp"


def test_when_the_time_is_over_the_session_ends_with_a_friendly_word(desk: Desk) -> None:
    answered(desk)
    desk.clock.advance(seconds=LINGER)

    assert desk.send() == ""
    assert desk.last_error() == "Done: nothing more was queued for 60 seconds."
    assert desk.close() == "OK"
    assert desk.connection.session_id is None


def test_what_was_queued_in_the_last_seconds_is_still_taken(desk: Desk) -> None:
    answered(desk)
    desk.clock.advance(seconds=LINGER)
    desk.queue()

    assert "CustomerQueryRq" in desk.send()


def test_without_lingering_the_last_answer_ends_the_session() -> None:
    desk = a_desk(linger_seconds=0)
    desk.queue()

    assert desk.receive(answer(desk.begin())) == 100
    assert desk.send() == ""


def test_a_login_that_finds_nothing_is_answered_none(desk: Desk) -> None:
    assert desk.authenticate() == "none"


def test_a_repeated_last_answer_does_not_end_a_session_that_lingers(desk: Desk) -> None:
    desk.queue()
    request = desk.begin()
    desk.receive(answer(request))

    assert desk.receive(answer(request)) == 99


def test_a_session_that_left_something_to_a_later_one_does_not_linger(desk: Desk) -> None:
    """This session may not take it again, and the later one must come for it."""
    desk.queue()
    desk.begin()

    assert desk.receive(hresult="0x8004041B") == -1
    assert desk.states() == ["retryable"]


def test_a_session_that_ends_for_its_errors_says_so_and_does_not_linger(desk: Desk) -> None:
    for _ in range(3):
        desk.queue()
    desk.begin()
    desk.receive(hresult="0x8004041B")
    desk.send()

    assert desk.receive(hresult="0x8004041B") == -1
    assert "0x8004041B" in desk.last_error()


def test_a_session_whose_first_request_never_went_out_does_not_linger(desk: Desk) -> None:
    desk.queue()
    desk.authenticate()
    desk.send(hcp("{00000000-0000-0000-0000-000000000009}"))

    assert desk.send() == ""
    assert "not the file of this connection" in desk.last_error()


def test_a_pause_ends_the_waiting(desk: Desk) -> None:
    answered(desk)
    assert desk.send() == "NoOp"
    pause(desk)
    desk.queue()

    assert desk.send() == ""
    assert desk.last_error() == polling.PAUSED
    assert desk.states() == ["response_received", "waiting"]


def test_a_window_that_closes_ends_the_waiting() -> None:
    desk = a_desk(sync_window=SyncWindow("11:00", "12:01", "UTC"), linger_seconds=600)
    answered(desk)
    assert desk.send() == "NoOp"
    desk.clock.now = NOON.replace(minute=1)
    desk.queue()

    assert desk.send() == ""
    assert desk.last_error() == polling.WINDOW_CLOSED


def test_what_a_pause_took_back_is_left_to_a_later_session(desk: Desk) -> None:
    answered(desk)
    desk.queue()
    desk.queue()
    desk.receive(answer(desk.send()))
    pause(desk)
    assert desk.send() == ""
    pause(desk, resume=True)

    assert desk.send() == ""
    assert desk.last_error() == polling.PAUSED
    desk.close()
    assert desk.authenticate() == ""


def test_a_request_that_somebody_takes_away_first_is_passed_over(desk: Desk) -> None:
    answered(desk)
    gone, other = desk.queue(), desk.queue()
    plain = desk.store.commit

    def discarded_meanwhile(*changes: Any) -> None:
        desk.store.commit = plain  # type: ignore[method-assign]
        record = desk.record(gone)
        plain(ChangeRequest(record, record.moved(State.DISCARDED, desk.clock.now)))
        plain(*changes)

    desk.store.commit = discarded_meanwhile  # type: ignore[method-assign]

    assert other in desk.send()
    assert desk.store.counts == desk.store.recount()


def test_a_request_that_cannot_be_written_blocks_nobody(desk: Desk) -> None:
    answered(desk)
    broken = desk.queue("CustomerQueryRq", "<MaxReturned>")
    fine = desk.queue()

    assert fine in desk.send()
    assert desk.record(broken).state is State.ERROR
    assert desk.store.counts == desk.store.recount()


def test_a_takeover_ends_a_session_that_lingers(desk: Desk) -> None:
    answered(desk)
    former = desk.ticket
    desk.queue()
    assert desk.authenticate() == ""
    desk.ticket = former

    assert desk.send() == ""
    assert desk.last_error() != "NoOp"


def test_closing_ends_a_session_that_lingers(desk: Desk) -> None:
    answered(desk)
    desk.close()

    assert desk.send() == ""
    assert desk.last_error() != "NoOp"


def test_the_sweeper_does_not_take_the_longest_waiting_for_silence() -> None:
    desk = a_desk(linger_seconds=MAX_LINGER_SECONDS)
    answered(desk)
    desk.clock.advance(seconds=MAX_LINGER_SECONDS - 2)
    store = desk.store

    Sweeper(store, desk.clock).sweep(NOON.replace(hour=23))

    assert MAX_LINGER_SECONDS + NO_OP_WAIT_SECONDS < SILENCE_SECONDS
    assert desk.send() == "NoOp"


def test_the_answer_to_a_write_is_asked_for_by_a_session_that_lingers(desk: Desk) -> None:
    answered(desk)
    write = desk.write(recovery=Recovery(response_lost=True, active=True), state=State.RETRYABLE, queue_priority=0)

    check = desk.send()

    assert f'newMessageSetID="{desk.record(write).message_set_id}"' in check
    assert desk.receive(kept(check.replace("/>", f'><CustomerAddRq requestID="{write}"/>'))) == 99
    assert desk.record(write).state is State.RESPONSE_RECEIVED


def test_the_log_tells_waiting_from_handing_out(desk: Desk) -> None:
    answered(desk)
    desk.send()

    assert desk.last
    assert desk.last.log["handed_out"] == "lingers"


# --- with a whole Web Connector


class Direct:
    """The transport: calls the endpoint in the process, each call a second after the one before."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def get(self, _url: str) -> int:
        """Answer the check of the certificate."""
        return 200

    def post(self, _url: str, _headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        """Deliver a call."""
        self._desk.clock.advance(milliseconds=100)
        said = self._desk.connector.answer(body)
        return said.status, said.body.encode()


def run(desk: Desk, at_pause: Callable[[int], object]) -> tuple[Any, int]:
    """Run a session; `at_pause(n)` is called at the start of the nth wait of five seconds. Return result and waits."""
    waits = 0

    def sleep(seconds: float) -> None:
        nonlocal waits
        waits += 1
        at_pause(waits)
        desk.clock.advance(seconds=seconds)

    simulator = Simulator(
        qwc.render(desk.connection, base_url="https://queue.example.com", app_name="Queue"),
        PASSWORD,
        Company.generated(customers=5),
        transport=Direct(desk),
        sleep=sleep,
    )
    return simulator.run_once(), waits


def test_a_request_queued_while_a_session_lingers_is_executed_within_one_step(desk: Desk) -> None:
    desk.queue()
    queued: list[str] = []

    result, waits = run(desk, lambda number: queued.append(desk.queue()) if number == 3 else None)

    record = desk.record(queued[0])
    assert record.state is State.RESPONSE_RECEIVED
    took = datetime.fromisoformat(record.updated_at) - datetime.fromisoformat(record.inserted_at)
    assert took.total_seconds() <= NO_OP_WAIT_SECONDS + 1
    assert (result.requests, result.error) == (2, None)
    assert result.status == "Done: nothing more was queued for 60 seconds."
    assert waits == 3 + LINGER // NO_OP_WAIT_SECONDS


def test_a_pause_is_noticed_within_one_step(desk: Desk) -> None:
    desk.queue()

    result, waits = run(desk, lambda number: pause(desk) if number == 2 else None)

    assert (result.status, waits) == (polling.PAUSED, 2)
    assert desk.connection.session_id is None


def test_a_window_that_closes_is_noticed_within_one_step() -> None:
    desk = a_desk(sync_window=SyncWindow("11:00", "12:01", "UTC"), linger_seconds=600)
    desk.queue()

    result, _ = run(desk, lambda _number: desk.queue() if desk.clock.now >= NOON.replace(minute=1) else None)

    assert result.status == polling.WINDOW_CLOSED
    assert desk.clock.now < NOON.replace(minute=1, second=10)
