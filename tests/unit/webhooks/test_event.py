"""The body of a webhook, member by member."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.records.request import ENDED, Paging, RequestError, State, StoredRequest
from handlers.views.webhook_event import event_body
from tests.support.builders import REQUEST_XML, RESPONSE_XML, a_record
from tests.support.openapi import check_event

MOMENT = "2026-03-14T12:00:05.000000Z"
MIB = 1024 * 1024


def test_the_event_of_a_completed_request_carries_both_forms_of_request_and_response() -> None:
    record = a_record(state=State.RESPONSE_RECEIVED, response_size=len(RESPONSE_XML))

    event = json.loads(event_body(StoredRequest(record, REQUEST_XML, RESPONSE_XML), MOMENT))

    check_event(event)
    [message_set] = event.pop("response_json")
    assert message_set["QBXMLMsgsRs"]["CustomerQueryRs"]["CustomerRet"] == [{"ListID": "80000001-1", "Name": "Ann"}]
    assert event == {
        "type": "queued_request.completed",
        "timestamp": MOMENT,
        "id": record.id,
        "page_request_id": record.id,
        "query_id": record.id,
        "page": 1,
        "last_page": True,
        "label": None,
        "metadata": {},
        "state": "completed",
        "connection_id": record.connection_id,
        "request_xml": REQUEST_XML,
        "request_json": {
            "version": "13.0",
            "request": {
                "name": "CustomerQueryRq",
                "attributes": {"request_id": "1"},
                "children": [{"name": "MaxReturned", "text": "10"}],
            },
        },
        "response_xml": RESPONSE_XML,
        "result": {"CustomerRet": [{"ListID": "80000001-1", "Name": "Ann"}]},
        "error": None,
        "executed": None,
        "links": {
            "self": f"/api/v1/queued_requests/{record.id}",
            "ui": f"/app/queued_requests/{record.id}",
            "connection_ui": f"/app/connections/{record.connection_id}",
        },
    }


@pytest.mark.parametrize(
    ("state", "name"),
    [(State.RESPONSE_RECEIVED, "completed"), (State.ERROR, "failed"), (State.DISCARDED, "discarded")],
)
def test_each_way_to_end_has_its_event(state: State, name: str) -> None:
    event = json.loads(event_body(StoredRequest(a_record(state=state), REQUEST_XML), MOMENT))

    check_event(event)
    assert (event["type"], event["state"]) == (f"queued_request.{name}", name)
    assert (event["response_xml"], event["response_json"], event["result"]) == (None, None, None)
    assert "response_omitted" not in event


@pytest.mark.parametrize("state", sorted(set(State) - ENDED))
def test_a_request_that_has_not_ended_has_no_event(state: State) -> None:
    with pytest.raises(KeyError):
        event_body(StoredRequest(a_record(state=state), REQUEST_XML), MOMENT)


def test_the_event_of_a_failed_request_has_the_reason() -> None:
    error = RequestError("quickbooks_error", "There is no such customer.", {"status_code": 500})
    record = a_record(state=State.ERROR, error=error)

    event = json.loads(event_body(StoredRequest(record, REQUEST_XML), MOMENT))

    check_event(event)
    assert event["error"] == {
        "message": "There is no such customer.",
        "code": "quickbooks_error",
        "details": {"status_code": 500},
    }


def test_the_event_of_a_later_page_carries_the_first_pages_id_and_its_own() -> None:
    record = a_record(state=State.DISCARDED, paging=Paging(3, "11111111-1111-4111-8111-111111111111"))

    event = json.loads(event_body(StoredRequest(record, REQUEST_XML), MOMENT))

    assert (event["id"], event["page_request_id"], event["page"]) == (record.paging.first_page_id, record.id, 3)
    assert event["links"]["self"] == f"/api/v1/queued_requests/{record.id}"


def test_the_event_of_a_test_connection_says_so() -> None:
    events = [
        json.loads(event_body(StoredRequest(a_record(state=State.DISCARDED, simulated=simulated), REQUEST_XML), MOMENT))
        for simulated in (True, False)
    ]

    assert [event.get("simulated") for event in events] == [True, None]


def test_the_same_record_gives_the_same_bytes_and_they_are_ascii() -> None:
    error = RequestError("quickbooks_error", "Für Zoë: \u2028 \ud800", {"b": 1, "a": 2})
    stored_request = StoredRequest(a_record(state=State.ERROR, error=error), REQUEST_XML)

    body = event_body(stored_request, MOMENT)

    assert body == event_body(stored_request, MOMENT)
    assert body.isascii()
    assert json.loads(body)["error"]["message"] == error.message


def with_a_response_of(size: int) -> StoredRequest:
    head, tail = RESPONSE_XML.split("Ann")
    response = head + "x" * (size - len(head) - len(tail)) + tail
    return StoredRequest(a_record(state=State.RESPONSE_RECEIVED, response_size=size), REQUEST_XML, response)


def test_a_body_of_exactly_1_mib_is_sent_whole_and_one_above_leaves_both_response_forms_out() -> None:
    # An event of a size between these two leaves only the result out.
    overhead = len(event_body(with_a_response_of(400_000), MOMENT)) - 2 * 400_000
    largest = (MIB - overhead) // 2

    whole = event_body(with_a_response_of(largest), MOMENT)
    omitted = json.loads(event_body(with_a_response_of(largest + 1), MOMENT))

    assert MIB - 1 <= len(whole) <= MIB
    assert "response_omitted" not in json.loads(whole)
    assert (omitted["response_xml"], omitted["response_json"], omitted["response_omitted"]) == (None, None, True)
    assert omitted["request_xml"] == REQUEST_XML


def test_a_response_that_was_too_large_to_be_read_is_omitted() -> None:
    record = a_record(state=State.RESPONSE_RECEIVED, response_size=5_000_000)

    event = json.loads(event_body(StoredRequest(record, REQUEST_XML, None), MOMENT))

    assert (event["response_xml"], event["response_json"], event["response_omitted"]) == (None, None, True)


def test_a_response_that_is_not_qbxml_is_sent_unchanged() -> None:
    record = a_record(state=State.ERROR, response_size=8)

    event = json.loads(event_body(StoredRequest(record, REQUEST_XML, "<broken>"), MOMENT))

    assert (event["response_xml"], event["response_json"]) == ("<broken>", None)


@settings(max_examples=20)
@given(st.integers(0, 4_000))
def test_the_result_is_the_first_part_that_an_event_leaves_out(customers: int) -> None:
    """An event has the result if all of it fits into 1 MiB, otherwise both forms of the response if these fit."""
    added = f"<CustomerRet><Name>{'x' * 100}</Name></CustomerRet>" * customers
    response_xml = RESPONSE_XML.replace("<CustomerRet>", f"{added}<CustomerRet>", 1)
    record = a_record(state=State.RESPONSE_RECEIVED, response_size=len(response_xml))

    body = event_body(StoredRequest(record, REQUEST_XML, response_xml), MOMENT)

    event = json.loads(body)
    check_event(event)
    assert len(body) <= MIB
    without_result = {name: value for name, value in event.items() if name not in {"result", "result_omitted"}}
    if event.get("response_omitted"):
        assert (event["response_xml"], event["response_json"], event["result"]) == (None, None, None)
        assert len(response_xml) * 2 > MIB * 0.9
    elif event.get("result_omitted"):
        assert event["result"] is None
        assert len(json.dumps(without_result)) + len(json.dumps(event["response_json"])) > MIB * 0.9
    else:
        assert len(event["result"]["CustomerRet"]) == customers + 1


def test_a_failed_request_has_no_result_although_quickbooks_responded() -> None:
    error = RequestError("quickbooks_error", "The name is taken.", {"status_code": 3100})
    record = a_record(state=State.ERROR, error=error, response_size=len(RESPONSE_XML))

    event = json.loads(event_body(StoredRequest(record, REQUEST_XML, RESPONSE_XML), MOMENT))

    assert event["response_json"] is not None
    assert event["result"] is None
    assert "result_omitted" not in event
