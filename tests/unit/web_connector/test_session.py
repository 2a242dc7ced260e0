"""A Web Connector session, call by call."""

from __future__ import annotations

import re
from typing import Any

import pytest

from domain.errors import Conflict, NotFound, TooManyRequests
from domain.requests.record import State, timestamp
from domain.storage.changes import AddRequest, ChangeConnection, RemoveRequest
from domain.web_connector.session.record import session_id
from tests.support.builders import CONNECTION_ID, a_record
from tests.support.web_connector.driver import PASSWORD, Desk, answer, hcp, kept, page_of


@pytest.fixture
def desk() -> Desk:
    """Return a desk with a connection and an empty queue."""
    desk = Desk()
    desk.connect()
    return desk


# --- the plain way


def test_a_session_drains_the_queue_in_order(desk: Desk) -> None:
    first, second, third = desk.queue(), desk.write(), desk.queue("VendorQueryRq")

    steps = desk.drain()

    assert steps == [33, 66, 100]
    assert desk.states() == ["response_received"] * 3
    assert [desk.response(one) is not None for one in (first, second, third)] == [True] * 3
    assert desk.connection.status == "connected"
    assert desk.connection.session_id is None
    assert desk.session.ended


def test_a_request_goes_through_its_states_one_by_one(desk: Desk) -> None:
    request_id = desk.queue()

    assert desk.authenticate() == ""
    assert desk.record(request_id).state is State.TICKETED
    request = desk.send(hcp())
    assert desk.record(request_id).state is State.SENT
    assert desk.record(request_id).sessions == 1
    assert desk.receive(answer(request)) == 100
    assert desk.record(request_id).state is State.RESPONSE_RECEIVED
    assert desk.record(request_id).error is None


def test_what_is_handed_out_has_the_prologue_and_is_ascii(desk: Desk) -> None:
    desk.queue("CustomerQueryRq", "<FullName>Zoë</FullName>")

    request = desk.begin()

    assert request.startswith('<?xml version="1.0" encoding="utf-8"?>\n<?qbxml version="13.0"?>\n<QBXML>')
    assert "Zo&#235;" in request
    assert request.isascii()


def test_a_write_carries_its_message_set_id_and_a_read_none(desk: Desk) -> None:
    write = desk.write()
    desk.queue()

    first = desk.begin()
    desk.receive(answer(first))
    second = desk.send()

    assert f'newMessageSetID="{desk.record(write).message_set_id}"' in first
    assert "newMessageSetID" not in second


def test_the_version_of_the_request_is_the_one_it_was_queued_with(desk: Desk) -> None:
    desk.queue(qbxml_version="16.0")

    assert '<?qbxml version="16.0"?>' in desk.begin()


def test_the_response_is_kept_exactly_and_found_by_its_texts(desk: Desk) -> None:
    request_id = desk.queue("CustomerQueryRq", "<FullName>Ann</FullName>")
    request = desk.begin()
    text = answer(request, content="<CustomerRet>\n<ListID>80000001-1</ListID>\n<Name>Ann Ärmel</Name>\n</CustomerRet>")

    desk.receive(text)

    assert desk.response(request_id) == text
    found_by = desk.store.bodies[request_id].search_text.casefold()
    assert all(part in found_by for part in ("customerqueryrq", request_id, "ann ärmel", "80000001-1", "status ok"))


def test_a_warning_is_a_response(desk: Desk) -> None:
    request_id = desk.queue()

    desk.receive(answer(desk.begin(), code=500, severity="Warn", message="One or more objects cannot be found"))

    assert desk.record(request_id).state is State.RESPONSE_RECEIVED


def test_no_match_is_a_response(desk: Desk) -> None:
    request_id = desk.queue()

    desk.receive(answer(desk.begin(), code=1, message="No match"))

    assert desk.record(request_id).state is State.RESPONSE_RECEIVED


def test_an_error_of_quickbooks_ends_the_request_and_the_session_goes_on(desk: Desk) -> None:
    failing, next_one = desk.write(), desk.queue()
    text = answer(desk.begin(), code=3100, severity="Error", message="The name is already in use.")

    progress = desk.receive(text)

    record = desk.record(failing)
    assert record.state is State.ERROR
    assert record.error is not None
    assert record.error.code == "quickbooks_error"
    assert record.error.message == "The name is already in use."
    assert record.error.details["status_code"] == 3100
    assert record.error.details["status_severity"] == "Error"
    assert record.error.details["request_id"] == failing
    assert record.error.details["hint"]
    assert desk.response(failing) == text
    assert 1 <= progress <= 99
    assert desk.record(next_one).state is State.TICKETED
    assert "already in use" in desk.store.bodies[failing].search_text.casefold()


def test_a_message_set_that_quickbooks_refuses_ends_in_error(desk: Desk) -> None:
    request_id = desk.write()
    desk.begin()
    text = '<QBXML><QBXMLMsgsRs messageSetStatusCode="9001"></QBXMLMsgsRs></QBXML>'

    desk.receive(text)

    error = desk.record(request_id).error
    assert error is not None
    assert (error.code, error.details["status_code"]) == ("quickbooks_error", 9001)


@pytest.mark.parametrize("text", ["", "no xml", "<QBXML><QBXMLMsgsRs>", "<QBXML/>", "<QBXML><QBXMLMsgsRs/></QBXML>"])
@pytest.mark.parametrize("queue", [Desk.queue, Desk.write])
def test_an_answer_that_cannot_be_read_ends_in_error_and_is_kept(desk: Desk, queue: Any, text: str) -> None:
    request_id = queue(desk)
    desk.begin()

    assert desk.receive(text) == 100

    record = desk.record(request_id)
    assert record.state is State.ERROR
    assert record.error is not None
    assert record.error.code == "outcome_unknown"
    assert record.error.details["hint"]
    assert desk.response(request_id) == text


def test_a_response_with_references_that_xml_forbids_is_a_response(desk: Desk) -> None:
    request_id = desk.queue()

    desk.receive(answer(desk.begin(), content="<CustomerRet><Name>a&#x1F;b</Name></CustomerRet>"))

    assert desk.record(request_id).state is State.RESPONSE_RECEIVED
    assert "&#x1F;" in (desk.response(request_id) or "")


@pytest.mark.parametrize("other", [{"name": "VendorQueryRs"}, {"label": "somebody else's"}])
def test_the_response_to_another_request_is_no_success(desk: Desk, other: dict[str, str]) -> None:
    """The Web Connector names only the session: what was asked must be what is answered."""
    request_id = desk.queue()
    text = answer(desk.begin(), **other)  # type: ignore[arg-type]

    desk.receive(text)

    record = desk.record(request_id)
    assert record.state is State.ERROR
    assert record.error is not None
    assert record.error.code == "outcome_unknown"
    assert desk.response(request_id) == text


def test_a_label_with_white_space_is_still_the_same_label(desk: Desk) -> None:
    request_id = desk.queue(request_label="a  b")

    desk.receive(answer(desk.begin(), label="a b"))

    assert desk.record(request_id).state is State.RESPONSE_RECEIVED


def test_a_response_without_a_label_is_taken_by_its_name(desk: Desk) -> None:
    request_id = desk.queue()

    desk.receive(answer(desk.begin()).replace(f' requestID="{request_id}"', ""))

    assert desk.record(request_id).state is State.RESPONSE_RECEIVED


# --- authenticate


def test_with_nothing_queued_the_answer_is_none_and_only_the_visit_is_noted(desk: Desk) -> None:
    assert desk.authenticate() == "none"

    assert desk.connection.last_connected_at == timestamp(desk.clock.now)
    assert desk.connection.session_id is None
    assert desk.store.sessions == {}
    assert len(desk.ticket) == 32
    assert desk.close() == "OK"


def test_a_wrong_password_is_refused_and_changes_nothing(desk: Desk) -> None:
    desk.queue()
    before = desk.connection

    assert desk.authenticate("wrong") == "nvu"

    assert desk.connection is before
    assert desk.states() == ["waiting"]
    assert desk.close() == "OK"


@pytest.mark.parametrize("fields", [{"password_hash": None}, {"deleted_at": "2026-03-14T12:00:00.000000Z"}])
def test_a_connection_without_password_or_deleted_lets_nobody_in(fields: dict[str, Any]) -> None:
    desk = Desk()
    desk.connect(**fields)
    desk.queue()

    assert desk.authenticate() == "nvu"
    assert desk.authenticate("") == "nvu"


def test_an_unknown_user_is_refused(desk: Desk) -> None:
    assert desk.authenticate(username="c0000000-0000-4000-8000-00000000ffff") == "nvu"


@pytest.mark.parametrize(
    "username", ["", "admin", "x" * 100_000, CONNECTION_ID.upper(), f" {CONNECTION_ID}", "' OR 1=1"]
)
def test_a_user_name_that_is_no_id_is_refused_without_a_read(desk: Desk, username: str) -> None:
    assert desk.authenticate(username=username) == "nvu"

    assert not desk.store.calls


def test_every_login_gets_another_ticket(desk: Desk) -> None:
    desk.authenticate()
    first = desk.ticket
    desk.authenticate()

    assert first != desk.ticket


def test_only_the_hash_of_a_ticket_is_stored(desk: Desk) -> None:
    desk.queue()
    desk.begin()

    assert desk.ticket not in repr(desk.store.sessions)
    assert desk.ticket not in repr(desk.store.connections)
    assert desk.connection.session_id == session_id(desk.ticket)


@pytest.mark.parametrize(
    ("company_file", "status"),
    [
        ("C:\\Books\\acme.qbw", "C:\\Books\\acme.qbw"),
        (" \\\\server\\books\\ACME.QBW ", "\\\\server\\books\\ACME.QBW"),
        ("Acme", ""),
        ("", ""),
        (None, ""),
    ],
)
def test_the_company_file_is_named_when_its_path_is_known(company_file: str | None, status: str) -> None:
    """Any text that is no path would be opened as one and fail."""
    desk = Desk()
    desk.connect(company_file=company_file)
    desk.queue()

    assert desk.authenticate() == status


def contended(*_changes: object) -> None:
    """Stand in for a commit that others kept from being made."""
    raise TooManyRequests("busy")


def test_contention_makes_a_login_come_later(desk: Desk) -> None:
    desk.queue()
    desk.store.commit = contended  # type: ignore[method-assign]

    assert desk.authenticate() == "busy"


def test_contention_within_a_session_is_a_fault_of_the_server(desk: Desk) -> None:
    desk.queue()
    desk.authenticate()
    desk.store.commit = contended  # type: ignore[method-assign]

    with pytest.raises(AssertionError, match="soap:Server"):
        desk.send()

    assert desk.last is not None
    assert desk.last.status == 503


def test_a_password_changed_during_the_login_is_what_counts(desk: Desk) -> None:
    desk.queue()
    real = desk.store.queue_front

    def changing(connection_id: str, limit: int) -> Any:
        if desk.connection.revision == 1:
            after = desk.connection.changed("2026-03-14T12:00:00.000000Z", password_hash=None)
            desk.store.commit(ChangeConnection(desk.connection, after))
        return real(connection_id, limit)

    desk.store.queue_front = changing  # type: ignore[method-assign]

    assert desk.authenticate() == "nvu"


def test_a_login_whose_commit_was_done_without_our_knowing_takes_its_own_session_over(desk: Desk) -> None:
    request_id = desk.queue()
    real = desk.store.commit
    met: list[Any] = []

    def commit(*changes: Any) -> None:
        real(*changes)
        if not met:
            met.extend(changes)
            raise Conflict(changes[0])

    desk.store.commit = commit  # type: ignore[method-assign]

    assert desk.authenticate() == ""

    assert desk.connection.session_id == session_id(desk.ticket)
    assert desk.record(request_id).last_session_id == session_id(desk.ticket)
    assert len([session for session in desk.store.sessions.values() if not session.ended]) == 1


# --- a former session


def test_a_new_login_ends_the_former_session_and_takes_what_it_had_claimed(desk: Desk) -> None:
    first, second = desk.queue(), desk.queue()
    desk.authenticate()
    former = desk.ticket

    assert desk.authenticate() == ""

    assert desk.store.sessions[session_id(former)].ended
    assert desk.record(first).last_session_id == session_id(desk.ticket)
    assert desk.record(first).state is State.TICKETED
    assert desk.record(second).state is State.WAITING
    assert desk.connection.session_id == session_id(desk.ticket)


def test_a_read_that_was_out_is_sent_again_by_the_next_session(desk: Desk) -> None:
    request_id = desk.queue()
    first = desk.begin()

    assert desk.begin() == first

    assert desk.record(request_id).sessions == 2
    assert desk.receive(answer(first)) == 100


def test_a_write_that_was_out_is_not_sent_again_by_the_next_session_but_asked_for(desk: Desk) -> None:
    write, _read = desk.write(), desk.queue()
    desk.begin()

    second = desk.begin()

    record = desk.record(write)
    assert (record.state, record.recovering) == (State.SENT, True)
    assert "oldMessageSetID" in second
    assert "CustomerAddRq" not in second


def test_a_read_is_given_up_after_three_sessions(desk: Desk) -> None:
    request_id = desk.queue()

    for _ in range(3):
        desk.begin()
    assert desk.authenticate() == "none"

    record = desk.record(request_id)
    assert record.state is State.ERROR
    assert record.error is not None
    assert record.error.code == "quickbooks_connection_error"
    assert record.error.details["sessions"] == 3


def test_a_former_session_may_be_gone(desk: Desk) -> None:
    desk.store.commit(ChangeConnection(desk.connection, desk.connection.changed("x", session_id="gone")))
    desk.queue()

    assert desk.authenticate() == ""


def test_calls_with_the_ticket_of_a_session_that_was_taken_over_are_answered_like_expired_ones(desk: Desk) -> None:
    request_id = desk.queue()
    request = desk.begin()
    former = desk.ticket
    desk.begin()
    mine, desk.ticket = desk.ticket, former

    assert desk.receive(answer(request)) == -1
    assert "Another session" in desk.last_error()
    assert desk.send() == ""
    assert desk.call("connectionError", former, "0x80040408", "x") == "done"
    assert desk.close() == "OK"
    desk.ticket = mine
    assert desk.record(request_id).state is State.SENT
    assert desk.receive(answer(request)) == 100


# --- unknown tickets (§3.1)


@pytest.mark.parametrize("ticket", ["", "nonsense", "0" * 32, "<&>", "x" * 10_000])
def test_unknown_tickets_never_cause_a_fault(desk: Desk, ticket: str) -> None:
    desk.ticket = ticket

    assert desk.send() == ""
    assert desk.receive("<QBXML/>") == -1
    assert "expired" in desk.last_error()
    assert desk.call("connectionError", ticket, "0x80040408", "x") == "done"
    assert desk.close() == "OK"


# --- sendRequestXML


def test_the_first_call_tells_the_connection_what_quickbooks_is(desk: Desk) -> None:
    desk.queue()

    desk.begin()

    connection = desk.connection
    assert connection.quickbooks_product_name == "QuickBooks Enterprise 24"
    assert connection.country == "US"
    assert connection.qbxml_version == "16.0"
    assert connection.company_file_seen == "C:\\Books\\acme.qbw"
    assert connection.file_id_seen == connection.file_id
    assert desk.session.connection is None
    assert desk.session.connection is None


@pytest.mark.parametrize(
    "facts", ["", "HOSTQUERY/COMPANYQUERY/PREFQUERY is currently not supported in QBPOS.", "<QBXML>"]
)
def test_a_session_goes_on_without_facts(desk: Desk, facts: str) -> None:
    desk.queue()
    desk.authenticate()

    assert desk.send(facts) != ""

    assert desk.connection.qbxml_version == "16.0"  # of the request processor
    assert desk.connection.country == "US"
    assert desk.connection.quickbooks_product_name is None


def test_facts_survive_a_change_of_the_connection_in_between(desk: Desk) -> None:
    desk.queue()
    desk.authenticate()
    desk.store.commit(ChangeConnection(desk.connection, desk.connection.changed("x", name="New name")))

    assert desk.send(hcp()) != ""

    assert desk.connection.name == "New name"
    assert desk.connection.quickbooks_product_name == "QuickBooks Enterprise 24"


def test_a_session_goes_on_when_the_connection_is_gone(desk: Desk) -> None:
    desk.queue()
    desk.authenticate()
    del desk.store.connections[CONNECTION_ID]

    assert desk.send(hcp()) != ""


def test_a_read_that_is_asked_for_twice_is_sent_twice_in_one_session(desk: Desk) -> None:
    request_id = desk.queue()
    first = desk.begin()

    assert desk.send() == first

    assert desk.record(request_id).sessions == 1
    assert desk.receive(answer(first)) == 100


def test_a_write_that_is_asked_for_twice_is_sent_once_and_its_response_is_still_taken(desk: Desk) -> None:
    request_id = desk.write()
    first = desk.begin()

    assert desk.send() == ""
    assert request_id in desk.last_error()

    assert desk.record(request_id).state is State.SENT
    assert desk.receive(answer(first)) == 100
    assert desk.record(request_id).state is State.RESPONSE_RECEIVED


def test_a_write_whose_response_never_came_is_asked_for_later(desk: Desk) -> None:
    request_id = desk.write()
    desk.begin()
    desk.send()

    desk.close()

    record = desk.record(request_id)
    assert (record.state, record.recovering) == (State.RETRYABLE, True)


def test_a_request_that_can_no_longer_be_written_blocks_nobody(desk: Desk) -> None:
    broken = a_record(id=desk.new_id())
    desk.store.commit(AddRequest(broken, "<QBXML><not closed", "broken"))
    good = desk.queue()

    request = desk.begin()

    assert good in request
    error = desk.record(broken.id).error
    assert error is not None
    assert error.code == "qbxml_parse_error"
    assert desk.receive(answer(request)) == 100


def test_a_request_whose_text_is_gone_blocks_nobody(desk: Desk) -> None:
    gone, good = desk.queue(), desk.queue()
    real = desk.store.request_xml

    def request_xml(request_id: str) -> str:
        if request_id == gone:
            raise NotFound("There is no such request.")
        return real(request_id)

    desk.store.request_xml = request_xml  # type: ignore[method-assign]

    assert good in desk.begin()

    assert desk.record(gone).state is State.ERROR


def test_a_lone_request_that_can_no_longer_be_written_ends_the_session(desk: Desk) -> None:
    desk.store.commit(AddRequest(a_record(id=desk.new_id()), "<QBXML><not closed", "broken"))

    assert desk.begin() == ""

    assert "malformed" in desk.last_error()


# --- receiveResponseXML


def test_the_same_response_twice_is_stored_once(desk: Desk) -> None:
    first, second = desk.queue(), desk.queue()
    text = answer(desk.begin())

    progress = desk.receive(text)
    before = desk.record(first)

    assert desk.receive(text) == progress
    assert desk.record(first) is before
    assert desk.record(second).state is State.TICKETED


def test_the_last_response_twice_is_acknowledged_with_100(desk: Desk) -> None:
    desk.queue()
    text = answer(desk.begin())

    assert desk.receive(text) == 100
    assert desk.receive(text) == 100


def test_a_response_before_anything_was_handed_out_is_acknowledged_and_not_stored(desk: Desk) -> None:
    request_id = desk.queue()
    desk.authenticate()

    assert desk.receive("<QBXML/>") == 0

    assert desk.record(request_id).state is State.TICKETED
    assert desk.send(hcp()) != ""


def test_a_response_that_comes_again_while_another_kind_of_request_is_out_does_not_touch_it(desk: Desk) -> None:
    desk.queue(request_label="mine")
    write = desk.write(request_label="mine")
    late = answer(desk.begin())
    progress = desk.receive(late)
    sent = desk.send()

    assert desk.receive(late) == progress
    assert desk.record(write).state is State.SENT

    desk.receive(kept(sent))
    assert desk.record(write).state is State.RESPONSE_RECEIVED


def test_a_page_that_comes_again_while_the_next_one_is_out_is_not_taken_for_it(desk: Desk) -> None:
    first = desk.queue(attributes=' iterator="Start"', content="<MaxReturned>2</MaxReturned>")
    desk.receive(page_of(desk.begin(), 4))
    late = page_of(desk.send(), 2)
    progress = desk.receive(late)
    last = desk.send()

    assert desk.receive(late) == progress
    assert desk.receive(page_of(last, 0)) == 100

    pages = sorted(desk.records, key=lambda found: found.paging.page)
    assert [found.paging.page for found in pages] == [1, 2, 3]
    assert pages[0].id == first
    assert 'iteratorRemainingCount="0"' in str(desk.response(pages[2].id))


def test_a_response_that_comes_twice_while_the_next_request_is_out_is_told_by_its_label(desk: Desk) -> None:
    desk.queue()
    second = desk.queue()
    late = answer(desk.begin())
    progress = desk.receive(late)
    request = desk.send()

    assert desk.receive(late) == progress

    assert desk.record(second).state is State.SENT
    assert desk.receive(answer(request)) == 100
    assert desk.record(second).state is State.RESPONSE_RECEIVED


def test_progress_never_goes_back(desk: Desk) -> None:
    for _ in range(3):
        desk.queue()
    steps = [desk.receive(answer(desk.begin()))]
    for _ in range(10):
        desk.queue()

    while steps[-1] < 100:
        steps.append(desk.receive(answer(desk.send())))

    assert steps == sorted(steps)
    assert len(steps) == 13
    assert all(1 <= step <= 99 for step in steps[:-1])


def test_what_is_queued_during_a_session_is_sent_in_it(desk: Desk) -> None:
    desk.queue()
    request = desk.begin()
    late = desk.queue()

    assert desk.receive(answer(request)) < 100
    assert late in desk.send()


# --- getLastError, closeConnection


def test_a_request_that_was_tried_before_goes_back_to_retryable(desk: Desk) -> None:
    request_id = desk.queue(state=State.RETRYABLE, sessions=1)
    desk.authenticate()

    desk.close()

    assert desk.record(request_id).state is State.RETRYABLE
    assert desk.record(request_id).sessions == 1


def test_closing_gives_back_what_was_not_handed_out(desk: Desk) -> None:
    request_id = desk.queue()
    desk.authenticate()

    assert desk.close() == "OK"

    assert desk.record(request_id).state is State.WAITING
    assert desk.connection.session_id is None


def test_closing_twice_is_as_closing_once(desk: Desk) -> None:
    desk.queue()
    desk.authenticate()
    desk.close()
    before = dict(desk.store.records), dict(desk.store.connections), dict(desk.store.sessions)

    assert desk.close() == "OK"

    assert before == (desk.store.records, desk.store.connections, desk.store.sessions)


def test_closing_a_former_session_leaves_the_new_one_alone(desk: Desk) -> None:
    desk.queue()
    desk.authenticate()
    former = desk.ticket
    desk.begin()
    mine, desk.ticket = desk.ticket, former

    desk.close()

    assert desk.connection.session_id == session_id(mine)


def test_closing_works_when_the_connection_is_gone(desk: Desk) -> None:
    desk.queue()
    desk.authenticate()
    del desk.store.connections[CONNECTION_ID]

    assert desk.close() == "OK"
    assert desk.session.ended


def test_there_is_always_a_text_for_the_last_error(desk: Desk) -> None:
    desk.queue()
    desk.authenticate()

    assert desk.last_error() == "No more requests."


def test_who_asks_an_ended_session_is_told_that_it_is_over(desk: Desk) -> None:
    """More may be queued: its old ticket says nothing about that."""
    desk.queue()
    desk.begin()
    desk.close()

    assert desk.last_error() == "This session is over. The next update begins a new one."


def test_an_error_given_at_the_end_of_a_session_can_be_searched_for(desk: Desk) -> None:
    request_id = desk.write("Grace")
    for _ in range(4):
        desk.begin()

    desk.close()

    found_by = desk.store.bodies[request_id].search_text.casefold()
    assert "outcome_unknown" in found_by
    assert "grace" in found_by


# --- the methods without a session


def test_versions_are_answered_without_a_call_of_the_store(desk: Desk) -> None:
    assert desk.call("serverVersion") != ""
    assert not desk.store.calls
    for version in ("2.0.0.107", "2.3.0.215", "34.0.10001.7", "", "not a version"):
        assert desk.call("clientVersion", version) == ""
    assert not desk.store.calls


def test_interactive_mode_is_declined(desk: Desk) -> None:
    assert desk.call("getInteractiveURL", "t", "s") == ""
    assert desk.call("interactiveRejected", "t", "no time") != ""
    assert desk.call("interactiveDone", "t") == "Done"


# --- a late index


def test_a_candidate_that_is_gone_is_passed_over(desk: Desk) -> None:
    gone, good = desk.queue(), desk.queue()
    desk.store.index = [desk.record(gone), desk.record(good)]
    desk.store.commit(RemoveRequest(desk.record(gone), "2026-03-14T12:00:00.000000Z"))

    assert desk.authenticate() == ""

    assert desk.record(good).state is State.TICKETED


def test_a_candidate_that_was_discarded_is_passed_over(desk: Desk) -> None:
    discarded, good = desk.queue(), desk.queue()
    desk.store.index = [desk.record(discarded), desk.record(good)]
    desk.change(discarded, state=State.DISCARDED)

    assert good in desk.begin()


def test_an_index_that_still_shows_what_was_answered_does_not_send_it_again(desk: Desk) -> None:
    first, second = desk.queue(), desk.queue()
    desk.store.index = [desk.record(first), desk.record(second)]

    request = desk.begin()
    assert desk.receive(answer(request)) < 100
    request = desk.send()
    assert second in request
    assert desk.receive(answer(request)) == 100


def test_with_only_stale_candidates_there_is_nothing_to_do(desk: Desk) -> None:
    records = [desk.record(desk.queue()) for _ in range(30)]
    desk.store.index = records
    for record in records:
        desk.change(record.id, state=State.DISCARDED)

    assert desk.authenticate() == "none"
    assert desk.store.calls["commit"] <= 10


def test_the_index_is_read_again_when_what_it_showed_was_stale(desk: Desk) -> None:
    stale, good = desk.queue(), desk.queue()
    readings = [[desk.record(stale)], [desk.record(good)]]
    desk.change(stale, state=State.DISCARDED)
    desk.store.queue_front = lambda _connection_id, _limit: readings.pop(0)  # type: ignore[assignment, method-assign]

    assert desk.authenticate() == ""

    assert desk.record(good).state is State.TICKETED


def test_a_record_that_another_session_claimed_first_is_not_claimed_twice(desk: Desk) -> None:
    request_id = desk.queue()
    desk.store.index = [desk.record(request_id)]
    desk.change(request_id, state=State.TICKETED, last_session_id="somebody's")

    assert desk.authenticate() == "none"

    assert desk.record(request_id).last_session_id == "somebody's"


# --- round trips


BUDGET = 3


def test_every_call_of_a_plain_session_keeps_to_its_budget(desk: Desk) -> None:
    for _ in range(3):
        desk.queue()
    desk.authenticate()
    spent = {"authenticate": desk.store.calls.total()}
    first = hcp()
    for number in range(3):
        request = desk.send(first)
        spent[f"sendRequestXML {number}"] = desk.store.calls.total()
        desk.receive(answer(request))
        spent[f"receiveResponseXML {number}"] = desk.store.calls.total()
        first = ""
    desk.close()
    spent["closeConnection"] = desk.store.calls.total()
    desk.authenticate()
    spent["authenticate: nothing queued"] = desk.store.calls.total()

    assert {name: calls for name, calls in spent.items() if calls > BUDGET} == {}


def test_every_call_of_an_iteration_keeps_to_its_budget(desk: Desk) -> None:
    desk.iterate()
    request = desk.begin()
    for remaining in (3, 2, 1, 0):
        desk.receive(page_of(request, remaining))
        assert desk.store.calls.total() <= BUDGET
        if remaining:
            request = desk.send()
            assert desk.store.calls.total() <= BUDGET


@pytest.mark.parametrize(("method", "calls"), [("getLastError", 1), ("serverVersion", 0), ("closeConnection", 3)])
def test_the_other_calls_are_cheap(desk: Desk, method: str, calls: int) -> None:
    desk.queue()
    desk.authenticate()

    desk.call(method, desk.ticket)

    assert desk.store.calls.total() <= calls


def test_taking_over_costs_one_call_more(desk: Desk) -> None:
    desk.queue()
    desk.authenticate()

    desk.authenticate()

    assert desk.store.calls.total() == BUDGET + 1


def test_a_refused_login_costs_one_read(desk: Desk) -> None:
    desk.authenticate("wrong")

    assert desk.store.calls == {"connection": 1}


# --- what is always so


def test_counts_stay_exact_through_everything(desk: Desk) -> None:
    desk.iterate()
    desk.write()
    desk.queue()
    desk.receive(page_of(desk.begin(), 3))
    desk.send()
    desk.begin()
    desk.receive(hresult="0x80040402")
    desk.receive(answer(desk.send()))
    desk.authenticate(PASSWORD)
    desk.close()

    assert desk.store.counts == desk.store.recount()


def test_a_session_expires_a_day_after_its_last_call(desk: Desk) -> None:
    desk.queue()
    desk.begin()
    opened = desk.session

    desk.clock.advance(hours=2)
    desk.send()

    assert desk.session.expires_at >= opened.expires_at + 7200
    assert desk.session.last_call_at > opened.last_call_at


def test_the_log_has_no_ticket_password_or_body(desk: Desk) -> None:
    desk.queue()
    logged = []
    desk.authenticate()
    logged.append(desk.last)
    request = desk.send(hcp())
    logged.append(desk.last)
    desk.receive(answer(request))
    logged.append(desk.last)

    text = " ".join(str(dict(answered.log)) for answered in logged if answered)

    assert not re.search(f"{desk.ticket}|{PASSWORD}|QBXML>|Acme", text)
    assert CONNECTION_ID in text
    assert "'progress': 100" in text
