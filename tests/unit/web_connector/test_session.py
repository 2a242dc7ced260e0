"""A Web Connector session from login to close, and the calls around it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from domain.connections.service import ConnectionService
from domain.records.request import Attempts, State
from domain.records.session import LastResponse, session_id
from domain.storage.changes import Put
from domain.timestamps import timestamp
from tests.support.builders import AN_ACTOR, APP_ID, CONNECTION_ID, NOON
from tests.support.web_connector.connector import PASSWORD, PASSWORD_HASH, Connector
from tests.support.web_connector.quickbooks import hcp, page_of, response_to

if TYPE_CHECKING:
    from domain.storage.changes import Change


def test_a_session_drains_the_queue_in_order(qbwc: Connector) -> None:
    first, second, third = qbwc.queue(), qbwc.write(), qbwc.queue("VendorQueryRq")

    steps = qbwc.drain()

    assert steps == [33, 66, 100]
    assert qbwc.states() == ["response_received"] * 3
    assert [qbwc.response(request_id) is not None for request_id in (first, second, third)] == [True] * 3
    assert qbwc.connection.status == "connected"
    assert qbwc.connection.session_id is None
    assert qbwc.session.ended


def test_a_request_goes_through_its_states_one_by_one(qbwc: Connector) -> None:
    request_id = qbwc.queue()

    assert qbwc.authenticate() == ""
    assert qbwc.record(request_id).state is State.TICKETED
    request = qbwc.send(hcp())
    assert qbwc.record(request_id).state is State.SENT
    assert qbwc.record(request_id).attempts.sessions == 1
    assert qbwc.receive(response_to(request)) == 100
    assert qbwc.record(request_id).state is State.RESPONSE_RECEIVED
    assert qbwc.record(request_id).error is None


@pytest.mark.parametrize("ticket", ["", "nonsense", "0" * 32, "<&>", "x" * 10_000])
def test_unknown_tickets_never_cause_a_fault(qbwc: Connector, ticket: str) -> None:
    qbwc.ticket = ticket

    assert qbwc.send() == ""
    assert qbwc.receive("<QBXML/>") == -1
    assert "expired" in qbwc.last_error()
    assert qbwc.call("connectionError", ticket, "0x80040408", "x") == "done"
    assert qbwc.close() == "OK"


def test_a_request_that_was_sent_before_returns_to_retryable(qbwc: Connector) -> None:
    request_id = qbwc.queue(state=State.RETRYABLE, sent_at=timestamp(NOON), attempts=Attempts(1))
    qbwc.authenticate()

    qbwc.close()

    assert qbwc.record(request_id).state is State.RETRYABLE
    assert qbwc.record(request_id).attempts.sessions == 1


def test_closing_requeues_a_request_that_was_not_sent(qbwc: Connector) -> None:
    request_id = qbwc.queue()
    qbwc.authenticate()

    assert qbwc.close() == "OK"

    assert qbwc.record(request_id).state is State.WAITING
    assert qbwc.connection.session_id is None


def test_an_ended_session_keeps_no_iterator_and_no_connection(qbwc: Connector) -> None:
    qbwc.iterate()
    qbwc.receive(page_of(qbwc.begin(), 3))
    assert qbwc.session.last_response
    assert qbwc.session.last_response.iterator_id

    qbwc.close()

    assert qbwc.session.last_response == LastResponse(
        number=1, answered=1, iterator_remaining=3, progress=qbwc.session.progress
    )
    assert qbwc.session.connection is None


def test_closing_twice_is_like_closing_once(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.authenticate()
    qbwc.close()
    before = dict(qbwc.store.records), dict(qbwc.store.connections), dict(qbwc.store.sessions)

    assert qbwc.close() == "OK"

    assert before == (qbwc.store.records, qbwc.store.connections, qbwc.store.sessions)


def test_closing_a_former_session_does_not_touch_the_new_one(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.authenticate()
    former = qbwc.ticket
    qbwc.begin()
    mine, qbwc.ticket = qbwc.ticket, former

    qbwc.close()

    assert qbwc.connection.session_id == session_id(mine)


def test_closing_works_if_the_connection_was_removed(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.authenticate()
    del qbwc.store.connections[CONNECTION_ID]

    assert qbwc.close() == "OK"
    assert qbwc.session.ended


def test_get_last_error_always_returns_a_text(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.authenticate()

    assert qbwc.last_error() == "No more requests."


def test_get_last_error_of_an_ended_session_says_so(qbwc: Connector) -> None:
    """More requests may be queued. The old ticket tells nothing about them."""
    qbwc.queue()
    qbwc.begin()
    qbwc.close()

    message = "The Web Connector closed this session before it returned the answer of QuickBooks."
    assert qbwc.last_error() == f"{message} The next update begins a new one."


def test_an_error_at_the_end_of_a_session_can_be_searched_for(qbwc: Connector) -> None:
    request_id = qbwc.write("Grace")
    qbwc.begin()
    qbwc.close_and_wait()
    for _ in range(3):
        qbwc.take_over()

    qbwc.close()

    found_by = qbwc.store.bodies[request_id].search_text.casefold()
    assert "outcome_unknown" in found_by
    assert "grace" in found_by


def test_version_calls_do_not_read_the_store(qbwc: Connector) -> None:
    assert qbwc.call("serverVersion") != ""
    assert not qbwc.store.calls
    for version in ("2.0.0.107", "2.3.0.215", "34.0.10001.7", "", "not a version"):
        assert qbwc.call("clientVersion", version) == ""
    assert not qbwc.store.calls


def test_interactive_mode_is_declined(qbwc: Connector) -> None:
    assert qbwc.call("getInteractiveURL", "t", "s") == ""
    assert qbwc.call("interactiveRejected", "t", "no time") != ""
    assert qbwc.call("interactiveDone", "t") == "Done"


def test_counts_stay_exact_through_everything(qbwc: Connector) -> None:
    qbwc.iterate()
    qbwc.write()
    qbwc.queue()
    qbwc.receive(page_of(qbwc.begin(), 3))
    qbwc.send()
    qbwc.take_over()
    qbwc.receive(hresult="0x80040402")
    qbwc.close()
    qbwc.begin()
    qbwc.receive(hresult="0x80040402")
    qbwc.receive(response_to(qbwc.send()))
    qbwc.authenticate(PASSWORD)
    qbwc.close()

    assert qbwc.store.counts == qbwc.store.recount()


def test_a_session_expires_a_day_after_its_last_call(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.begin()
    opened = qbwc.session

    qbwc.clock.advance(hours=2)
    qbwc.send()

    assert qbwc.session.expires_at >= opened.expires_at + 7200
    assert qbwc.session.last_call_at > opened.last_call_at


def test_the_log_contains_no_ticket_password_or_body(qbwc: Connector) -> None:
    qbwc.queue()
    replies = []
    qbwc.authenticate()
    replies.append(qbwc.last)
    request = qbwc.send(hcp())
    replies.append(qbwc.last)
    qbwc.receive(response_to(request))
    replies.append(qbwc.last)

    text = " ".join(str(dict(reply.log)) for reply in replies if reply)

    assert not re.search(f"{qbwc.ticket}|{PASSWORD}|QBXML>|Acme", text)
    assert CONNECTION_ID in text
    assert "'progress': 100" in text


def test_a_session_does_not_contain_the_password_hash(qbwc: Connector) -> None:
    qbwc.queue()
    before = qbwc.connection.password_hash
    qbwc.authenticate()
    assert PASSWORD_HASH not in repr(qbwc.store.sessions)

    qbwc.send(hcp())  # stores new facts about QuickBooks

    assert qbwc.connection.qbxml_version == "16.0"
    assert qbwc.connection.password_hash == before == PASSWORD_HASH


def test_a_connection_that_changes_before_the_first_request_keeps_the_change(qbwc: Connector) -> None:
    qbwc.queue()
    qbwc.authenticate()
    connection = replace(qbwc.connection, name="Renamed", password_hash="another").changed(timestamp(qbwc.clock.now))
    qbwc.store.commit(Put(qbwc.connection, connection))

    assert qbwc.send(hcp()) != ""

    assert (qbwc.connection.name, qbwc.connection.password_hash) == ("Renamed", "another")
    assert qbwc.connection.qbxml_version == "16.0"


# --- The end of a session without work


def test_the_response_after_which_nothing_waits_ends_the_session_in_its_commit(qbwc: Connector) -> None:
    """`closeConnection` then finds the session ended, and writes nothing."""
    qbwc.queue()
    request = qbwc.begin()

    assert qbwc.receive(response_to(request)) == 100

    assert qbwc.store.calls["commit"] == 1
    assert qbwc.session.ended
    assert qbwc.connection.session_id is None
    assert qbwc.close() == "OK"
    assert qbwc.store.calls == {"session": 1}


def test_a_duplicate_of_the_last_response_gets_the_same_reply_and_changes_nothing(qbwc: Connector) -> None:
    request_id = qbwc.queue()
    request = qbwc.begin()
    qbwc.receive(response_to(request))
    before = qbwc.record(request_id), qbwc.session, qbwc.connection

    assert qbwc.receive(response_to(request)) == 100

    assert (qbwc.record(request_id), qbwc.session, qbwc.connection) == before


def test_a_session_that_was_replaced_does_not_free_the_connection_of_its_successor(qbwc: Connector) -> None:
    qbwc.queue()
    request = qbwc.begin()
    successor = "f" * 64
    qbwc.store.connections[CONNECTION_ID] = replace(qbwc.connection, session_id=successor)

    assert qbwc.receive(response_to(request)) == 100

    assert qbwc.connection.session_id == successor


# --- Sending without a change of the session


def commits_of(qbwc: Connector) -> list[tuple[Change, ...]]:
    """Return a list that gets each further commit."""
    commits: list[tuple[Change, ...]] = []
    plain = qbwc.store.commit

    def observed(*changes: Change) -> None:
        commits.append(changes)
        plain(*changes)

    qbwc.store.commit = observed  # type: ignore[method-assign]
    return commits


def test_a_read_in_the_middle_of_a_session_is_sent_by_a_commit_of_its_record_alone(qbwc: Connector) -> None:
    """The last call of the session stays that before, which must be recent."""
    for _ in range(3):
        qbwc.queue()
    request = qbwc.begin()
    qbwc.receive(response_to(request))
    commits = commits_of(qbwc)

    request = qbwc.send()
    qbwc.receive(response_to(request))
    qbwc.clock.advance(seconds=60)
    qbwc.send()

    kinds = [[type(change).__name__ for change in changes] for changes in commits]
    assert kinds[0] == ["ChangeRequest"]
    assert kinds[2] == ["Put", "ChangeRequest"]
    assert qbwc.session.last_call_at == timestamp(qbwc.clock.now)


@pytest.mark.parametrize("how", ["pause", "password"])
def test_nothing_is_sent_after_a_pause_or_a_new_password_by_a_call_that_has_read_the_session(
    qbwc: Connector, how: str
) -> None:
    """Even if the sending would not write the session."""
    for _ in range(3):
        qbwc.queue()
    request = qbwc.begin()
    qbwc.receive(response_to(request))
    service = ConnectionService(qbwc.store, clock=qbwc.clock, new_id=qbwc.new_id, secrets=qbwc.secrets)
    plain = qbwc.store.commit

    def changed_meanwhile(*changes: Change) -> None:
        qbwc.store.commit = plain  # type: ignore[method-assign]
        if how == "pause":
            service.pause(APP_ID, CONNECTION_ID, actor=AN_ACTOR)
        else:
            service.set_password(APP_ID, CONNECTION_ID, None, actor=AN_ACTOR)
        plain(*changes)

    qbwc.store.commit = changed_meanwhile  # type: ignore[method-assign]

    assert qbwc.send() == ""
    assert State.SENT not in qbwc.states()
