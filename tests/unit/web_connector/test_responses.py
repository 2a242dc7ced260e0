"""receiveResponseXML: which responses complete a request, and which are duplicates."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from domain.records.request import Paging, State
from domain.timestamps import timestamp
from tests.support.web_connector.connector import Connector, CountingStore, soap_call
from tests.support.web_connector.quickbooks import hcp, page_of, response_to, stored_response

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from domain.records.request import QueuedRequest
    from domain.records.session import RequestInFlight, Session


def test_the_response_is_stored_exactly_and_can_be_searched_for(qbwc: Connector) -> None:
    request_id = qbwc.queue("CustomerQueryRq", "<FullName>Ann</FullName>")
    request = qbwc.begin()
    text = response_to(
        request, content="<CustomerRet>\n<ListID>80000001-1</ListID>\n<Name>Ann Ärmel</Name>\n</CustomerRet>"
    )

    qbwc.receive(text)

    assert qbwc.response(request_id) == text
    found_by = qbwc.store.bodies[request_id].search_text.casefold()
    assert all(part in found_by for part in ("customerqueryrq", request_id, "ann ärmel", "80000001-1", "status ok"))


def test_a_warning_is_a_response(qbwc: Connector) -> None:
    request_id = qbwc.queue()

    qbwc.receive(response_to(qbwc.begin(), code=500, severity="Warn", message="One or more objects cannot be found"))

    assert qbwc.record(request_id).state is State.RESPONSE_RECEIVED


def test_a_response_with_the_status_no_match_completes_the_request(qbwc: Connector) -> None:
    request_id = qbwc.queue()

    qbwc.receive(response_to(qbwc.begin(), code=1, message="No match"))

    assert qbwc.record(request_id).state is State.RESPONSE_RECEIVED


def test_a_quickbooks_error_fails_the_request_and_the_session_continues(qbwc: Connector) -> None:
    failing, next_one = qbwc.write(), qbwc.queue()
    text = response_to(qbwc.begin(), code=3100, severity="Error", message="The name is already in use.")

    progress = qbwc.receive(text)

    record = qbwc.record(failing)
    assert record.state is State.ERROR
    assert record.error is not None
    assert record.error.code == "quickbooks_error"
    assert record.error.message == "The name is already in use."
    assert record.error.details["status_code"] == 3100
    assert record.error.details["status_severity"] == "Error"
    assert record.error.details["request_id"] == failing
    assert record.error.details["hint"]
    assert qbwc.response(failing) == text
    assert 1 <= progress <= 99
    assert qbwc.record(next_one).state is State.TICKETED
    assert "already in use" in qbwc.store.bodies[failing].search_text.casefold()


def test_a_refused_message_set_fails_the_request(qbwc: Connector) -> None:
    request_id = qbwc.write()
    qbwc.begin()
    text = '<QBXML><QBXMLMsgsRs messageSetStatusCode="9001"></QBXMLMsgsRs></QBXML>'

    qbwc.receive(text)

    error = qbwc.record(request_id).error
    assert error is not None
    assert error.code == "quickbooks_error"
    assert {name: error.details[name] for name in ("status_code", "status_severity", "retryable")} == {
        "status_code": 9001,
        "status_severity": "Error",
        "retryable": False,
    }


NAMELESS = ["", "no xml", "<QBXML><QBXMLMsgsRs>", "<QBXML/>", "<QBXML><QBXMLMsgsRs/></QBXML>"]


@pytest.mark.parametrize("text", NAMELESS)
def test_an_unreadable_response_fails_a_read_and_is_stored(qbwc: Connector, text: str) -> None:
    request_id = qbwc.queue()
    qbwc.begin()

    assert qbwc.receive(text) == 100

    record = qbwc.record(request_id)
    assert record.state is State.ERROR
    assert record.error is not None
    assert record.error.code == "outcome_unknown"
    assert record.error.details["hint"]
    assert qbwc.response(request_id) == (text or None), "an empty response is stored as no response"


def test_a_response_to_a_write_that_is_cut_off_fails_it_and_is_stored(qbwc: Connector) -> None:
    write = qbwc.write()
    text = stored_response(qbwc.begin()).partition("</QBXMLMsgsRs>")[0]

    assert qbwc.receive(text) == 100

    error = qbwc.record(write).error
    assert error is not None
    assert error.code == "outcome_unknown"
    assert qbwc.response(write) == text


@pytest.mark.parametrize("text", NAMELESS)
def test_quickbooks_is_asked_for_the_response_to_a_write_if_a_text_names_nothing(qbwc: Connector, text: str) -> None:
    write = qbwc.write()
    request = qbwc.begin()

    qbwc.receive(text)

    assert qbwc.send() == ""
    qbwc.close()
    assert "oldMessageSetID" in qbwc.begin()
    qbwc.receive(stored_response(request))
    assert qbwc.record(write).state is State.RESPONSE_RECEIVED


def test_a_response_may_contain_references_that_xml_forbids(qbwc: Connector) -> None:
    request_id = qbwc.queue()

    qbwc.receive(response_to(qbwc.begin(), content="<CustomerRet><Name>a&#x1F;b</Name></CustomerRet>"))

    assert qbwc.record(request_id).state is State.RESPONSE_RECEIVED
    assert "&#x1F;" in (qbwc.response(request_id) or "")


@pytest.mark.parametrize("other", [{"name": "VendorQueryRs"}, {"label": "somebody else's"}])
def test_the_response_to_another_request_is_ignored(qbwc: Connector, other: dict[str, str]) -> None:
    """The Web Connector names only the session, so the response must belong to the request in flight."""
    request_id = qbwc.queue()
    request = qbwc.begin()

    assert qbwc.receive(response_to(request, **other)) < 100  # type: ignore[arg-type]

    assert qbwc.record(request_id).state is State.SENT
    assert qbwc.receive(response_to(request)) == 100
    assert qbwc.record(request_id).state is State.RESPONSE_RECEIVED


def test_white_space_in_a_label_is_normalised(qbwc: Connector) -> None:
    request_id = qbwc.queue(request_label="a  b")

    qbwc.receive(response_to(qbwc.begin(), label="a b"))

    assert qbwc.record(request_id).state is State.RESPONSE_RECEIVED


def test_a_response_without_a_label_is_matched_by_its_name(qbwc: Connector) -> None:
    request_id = qbwc.queue()

    qbwc.receive(response_to(qbwc.begin()).replace(f' requestID="{request_id}"', ""))

    assert qbwc.record(request_id).state is State.RESPONSE_RECEIVED


def test_a_duplicate_response_is_stored_once(qbwc: Connector) -> None:
    first, second = qbwc.queue(), qbwc.queue()
    text = response_to(qbwc.begin())

    progress = qbwc.receive(text)
    before = qbwc.record(first)

    assert qbwc.receive(text) == progress
    assert qbwc.record(first) is before
    assert qbwc.record(second).state is State.TICKETED


def test_a_duplicate_of_the_last_response_gets_100(qbwc: Connector) -> None:
    qbwc.queue()
    text = response_to(qbwc.begin())

    assert qbwc.receive(text) == 100
    assert qbwc.receive(text) == 100


def test_a_response_before_the_request_was_sent_is_not_stored(qbwc: Connector) -> None:
    request_id = qbwc.queue()
    qbwc.authenticate()

    assert qbwc.receive("<QBXML/>") == 0

    assert qbwc.record(request_id).state is State.TICKETED
    assert qbwc.send(hcp()) != ""


def test_a_duplicate_response_does_not_touch_a_request_of_another_kind(qbwc: Connector) -> None:
    qbwc.queue(request_label="mine")
    write = qbwc.write(request_label="mine")
    late = response_to(qbwc.begin())
    progress = qbwc.receive(late)
    request = qbwc.send()

    assert qbwc.receive(late) == progress
    assert qbwc.record(write).state is State.SENT

    qbwc.receive(stored_response(request))
    assert qbwc.record(write).state is State.RESPONSE_RECEIVED


def test_a_duplicate_page_is_not_stored_as_the_next_page(qbwc: Connector) -> None:
    first = qbwc.queue(attributes=' iterator="Start"', content="<MaxReturned>2</MaxReturned>")
    qbwc.receive(page_of(qbwc.begin(), 4))
    late = page_of(qbwc.send(), 2)
    progress = qbwc.receive(late)
    last = qbwc.send()

    assert qbwc.receive(late) == progress
    assert qbwc.receive(page_of(last, 0)) == 100

    pages = sorted(qbwc.records, key=lambda record: record.paging.page)
    assert [record.paging.page for record in pages] == [1, 2, 3]
    assert pages[0].id == first
    assert 'iteratorRemainingCount="0"' in str(qbwc.response(pages[2].id))


def test_a_duplicate_response_is_recognised_by_its_label(qbwc: Connector) -> None:
    qbwc.queue()
    second = qbwc.queue()
    late = response_to(qbwc.begin())
    progress = qbwc.receive(late)
    request = qbwc.send()

    assert qbwc.receive(late) == progress

    assert qbwc.record(second).state is State.SENT
    assert qbwc.receive(response_to(request)) == 100
    assert qbwc.record(second).state is State.RESPONSE_RECEIVED


def test_progress_never_falls(qbwc: Connector) -> None:
    for _ in range(3):
        qbwc.queue()
    steps = [qbwc.receive(response_to(qbwc.begin()))]
    for _ in range(10):
        qbwc.queue()

    while steps[-1] < 100:
        steps.append(qbwc.receive(response_to(qbwc.send())))

    assert steps == sorted(steps)
    assert len(steps) == 13
    assert all(1 <= step <= 99 for step in steps[:-1])


class OvertakenStore(CountingStore):
    """A store in which another caller is quicker, after the session and before the request in flight is read."""

    def __init__(self) -> None:
        super().__init__()
        self.others: list[Callable[[], object]] = []

    def requests_in_flight(
        self, session: Session, front: int = 0
    ) -> tuple[Sequence[RequestInFlight], Sequence[QueuedRequest]]:
        """Return the requests of a session after the other caller has changed them."""
        while self.others:
            self.others.pop()()
        return super().requests_in_flight(session, front)


def test_a_response_that_arrives_twice_at_once_does_not_end_the_session_while_requests_wait() -> None:
    store = OvertakenStore()
    qbwc = Connector(store=store)
    qbwc.connect()
    qbwc.queue()
    waiting = qbwc.queue()
    response = response_to(qbwc.begin())
    call = soap_call("receiveResponseXML", qbwc.ticket, response, "", "")
    store.others.append(lambda: qbwc.post("", {}, call))

    assert qbwc.receive(response) < 100

    assert qbwc.record(waiting).state is State.TICKETED


def test_a_request_queued_during_a_session_is_sent_in_it(qbwc: Connector) -> None:
    qbwc.queue()
    request = qbwc.begin()
    late = qbwc.queue()

    assert qbwc.receive(response_to(request)) < 100
    assert late in qbwc.send()


def test_an_empty_label_is_like_no_label(qbwc: Connector) -> None:
    request_id = qbwc.queue()

    qbwc.receive(response_to(qbwc.begin(), label=""))

    assert qbwc.record(request_id).state is State.RESPONSE_RECEIVED


@pytest.mark.parametrize("piece", ["<QBXMLMsgsRs ", "<aRs ", "<QBXMLMsgsRs newMessageSetID=", '<aRs requestID="'])
@pytest.mark.parametrize("receive", [Connector.receive, Connector.receive_oversized])
def test_the_time_to_read_a_response_grows_with_its_length(qbwc: Connector, receive: Any, piece: str) -> None:
    """A quadratic reader would need minutes."""
    qbwc.write()
    qbwc.begin()

    receive(qbwc, piece * (1_000_000 // len(piece)) + "{padding}")


def damage(qbwc: Connector, **fields: Any) -> None:
    """Change the record in flight to a form that no version of the service stores."""
    for record in qbwc.in_flight:
        qbwc.store.records[record.id] = replace(record, **fields)


@pytest.mark.parametrize("queue", [Connector.queue, Connector.write])
def test_an_unexpected_error_ends_the_request_and_the_session_continues(
    qbwc: Connector, queue: Callable[[Connector], str]
) -> None:
    request_id, behind = queue(qbwc), qbwc.queue()
    response = response_to(qbwc.begin())
    damage(qbwc, request_label=None)

    assert 1 <= qbwc.receive(response) <= 99

    error = qbwc.record(request_id).error
    assert error is not None
    assert (error.code, error.details["reason"]) == ("outcome_unknown", "response_not_understood")
    assert "unexpected AttributeError" in error.message
    assert qbwc.response(request_id) == response
    request = qbwc.send()
    assert behind in request
    assert qbwc.receive(response_to(request)) == 100
    assert qbwc.store.counts == qbwc.store.recount()


def test_an_unexpected_error_in_the_next_page_ends_the_page_and_keeps_its_response(qbwc: Connector) -> None:
    first, behind = qbwc.queue(paging=Paging(page_size=5)), qbwc.queue()
    response = page_of(qbwc.begin(), 10)
    damage(qbwc, qbxml_version=None, paging=Paging(page_size=5))

    qbwc.receive(response)

    error = qbwc.record(first).error
    assert error is not None
    assert error.details["reason"] == "response_not_understood"
    assert qbwc.response(first) == response
    assert behind in qbwc.send()


def test_a_record_has_the_times_of_sending_and_of_the_response(qbwc: Connector) -> None:
    request_id = qbwc.queue()
    queued = qbwc.record(request_id)
    request = qbwc.begin()
    sent_at = timestamp(qbwc.clock.now)
    qbwc.clock.advance(seconds=47)

    qbwc.receive(response_to(request))

    ended = qbwc.record(request_id)
    assert (queued.sent_at, queued.responded_at) == (None, None)
    assert (ended.sent_at, ended.responded_at) == (sent_at, ended.updated_at)
    assert ended.responded_at == timestamp(qbwc.clock.now)
