"""Queue, read, list, discard, delete and redeliver, through the functions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from domain.requests.record import (
    QueuedRequest,
    RequestError,
    State,
    StoredRequest,
    Webhook,
    WebhookAttempt,
    WebhookState,
)
from domain.storage.changes import ChangeConnection, ChangeRequest
from handlers.views.webhook_event import event_body
from tests.support.api_client import ApiClient
from tests.support.builders import CONNECTION_ID, REQUEST_XML, RESPONSE_XML
from tests.support.services import services_with, using

if TYPE_CHECKING:
    from datetime import datetime

    from tests.integration.api.conftest import Deployment

TREE = {
    "version": "13.0",
    "request": {
        "name": "CustomerQueryRq",
        "attributes": {"request_id": "1"},
        "children": [{"name": "MaxReturned", "text": "10"}],
    },
}
HOOK = "https://shop.example/hook"


def queue(deployment: Deployment, **fields: Any) -> dict[str, Any]:
    """Queue a request and return its record."""
    answer = deployment.api.call("POST", deployment.requests_url, {"request_xml": REQUEST_XML} | fields)
    assert answer.status == 201
    data: dict[str, Any] = answer.json["data"]
    return data


def stored_record(deployment: Deployment, request_id: str) -> QueuedRequest:
    """Return a record as it is stored."""
    record = deployment.store.request(request_id)
    assert isinstance(record, QueuedRequest)
    return record


def end(
    deployment: Deployment,
    request_id: str,
    state: State = State.RESPONSE_RECEIVED,
    response_xml: str = RESPONSE_XML,
    **fields: Any,
) -> None:
    """Bring a record to its end, as a Web Connector session would."""
    for step in (State.TICKETED, State.SENT):
        before = stored_record(deployment, request_id)
        deployment.store.commit(ChangeRequest(before, before.moved(step, deployment.clock())))
    before = stored_record(deployment, request_id)
    deployment.store.commit(
        ChangeRequest(before, before.moved(state, deployment.clock(), **fields), response_xml=response_xml)
    )


# --- Create

MISPLACED = REQUEST_XML.replace("<MaxReturned>", "<ActiveStatus>All</ActiveStatus><MaxReturned>")
FOREIGN = REQUEST_XML.replace("<MaxReturned>10</MaxReturned>", "<FullName>Łódź</FullName>")


def test_a_request_that_the_schema_refuses_is_taken_without_the_check_and_read_back(deployment: Deployment) -> None:
    refused = deployment.api.call("POST", deployment.requests_url, {"request_xml": MISPLACED})
    assert refused.status == 400
    (problem,) = refused.json["error"]["details"]["problems"]
    assert (problem["line"], "MaxReturned" in problem["message"]) == (1, True)

    taken = deployment.api.call("POST", f"{deployment.requests_url}?validate=false", {"request_xml": MISPLACED})

    assert taken.status == 201
    record = deployment.api.call("GET", taken.json["data"]["links"]["self"])
    assert record.status == 200
    assert [child["name"] for child in record.json["data"]["request_json"]["request"]["children"]] == [
        "ActiveStatus",
        "MaxReturned",
    ]


def test_what_is_not_well_formed_is_refused_without_the_check_too(deployment: Deployment) -> None:
    answer = deployment.api.call("POST", f"{deployment.requests_url}?validate=false", {"request_xml": "<QBXML>"})

    assert answer.status == 400


def test_characters_that_quickbooks_cannot_keep_are_refused_or_replaced(deployment: Deployment) -> None:
    refused = deployment.api.call("POST", deployment.requests_url, {"request_xml": FOREIGN})
    assert refused.status == 400
    assert "FullName" in refused.json["error"]["details"]["problems"][0]["path"]

    taken = deployment.api.call("POST", f"{deployment.requests_url}?transliterate=true", {"request_xml": FOREIGN})

    assert "<FullName>Lódz</FullName>" in taken.json["data"]["request_xml"]


def test_a_version_that_this_connections_quickbooks_does_not_serve_is_refused(deployment: Deployment) -> None:
    before = deployment.store.connection(CONNECTION_ID)
    assert before is not None
    deployment.store.commit(ChangeConnection(before, before.changed(before.updated_at, qbxml_version="12.0")))

    answer = deployment.api.call("POST", deployment.requests_url, {"request_xml": REQUEST_XML})

    assert (answer.status, answer.json["error"]["code"]) == (400, "unsupported_by_version")
    assert answer.json["error"]["details"] == {"qbxml_version": "13.0", "supported": "12.0"}


def test_a_request_is_answered_as_the_contract_says(deployment: Deployment) -> None:
    answer = deployment.api.call("POST", deployment.requests_url, {"request_xml": REQUEST_XML, "webhook_url": HOOK})

    data = answer.json["data"]
    assert answer.status == 201
    assert data == {
        "id": data["id"],
        "connection_id": CONNECTION_ID,
        "request_name": "CustomerQueryRq",
        "page": 1,
        "state": "waiting",
        "webhook_state": "pending",
        "waiting_reason": data["waiting_reason"],
        "request_xml": REQUEST_XML,
        "request_json": TREE,
        "response_xml": None,
        "response_json": None,
        "error": None,
        "webhook_url": HOOK,
        "webhook_attempts": [],
        "webhook_error": None,
        "links": {
            "self": f"/api/v1/connections/{CONNECTION_ID}/queued_requests/{data['id']}",
            "ui": f"/app/queued_requests/{data['id']}",
            "connection_ui": f"/app/connections/{CONNECTION_ID}",
        },
        "inserted_at": "2026-03-14T12:00:00.000000Z",
        "updated_at": "2026-03-14T12:00:00.000000Z",
    }


@pytest.mark.parametrize(
    "body",
    [
        {"request_xml": REQUEST_XML},
        {"request_json": TREE},
        {"request_xml": REQUEST_XML, "request_json": TREE},
        {"request_xml": REQUEST_XML, "request_json": None, "webhook_url": None},
        {"queued_request": {"request_json": TREE}},
    ],
)
def test_every_form_of_the_body_queues_the_same_request(deployment: Deployment, body: dict[str, Any]) -> None:
    answer = deployment.api.call("POST", deployment.requests_url, body)

    assert answer.status == 201
    assert answer.json["data"]["request_xml"] == REQUEST_XML


@pytest.mark.parametrize(
    "body",
    [
        {"request_json": TREE | {"version": "14.0"}},
        {"request_xml": REQUEST_XML.replace("stopOnError", "continueOnError")},
    ],
)
def test_both_forms_of_a_record_say_the_same(deployment: Deployment, body: dict[str, Any]) -> None:
    """Its XML has no prologue to name the version, its tree no place for onError."""
    record = deployment.api.call("POST", deployment.requests_url, body).json["data"]

    forms = {name: record[name] for name in ("request_xml", "request_json")}
    again = deployment.api.call("POST", deployment.requests_url, forms)

    assert again.status == 201
    assert {name: again.json["data"][name] for name in forms} == forms


def test_a_body_that_the_gateway_took_for_bytes_is_read_alike(deployment: Deployment) -> None:
    answer = deployment.api.call(
        "POST", deployment.requests_url, data=json.dumps({"request_xml": REQUEST_XML}).encode()
    )

    assert answer.status == 201


@pytest.mark.parametrize("name", ["Content-Type", "CONTENT-TYPE", "content-type"])
@pytest.mark.parametrize("media_type", ["application/json", "Application/JSON; charset=utf-8"])
def test_header_names_and_media_types_may_be_written_in_any_case(
    deployment: Deployment, name: str, media_type: str
) -> None:
    client = ApiClient(deployment.api.key)

    answer = client.call("POST", deployment.requests_url, {"request_xml": REQUEST_XML}, headers={name: media_type})

    assert answer.status == 201


def test_a_request_without_a_label_gets_its_id_as_label(deployment: Deployment) -> None:
    data = queue(deployment, request_xml=REQUEST_XML.replace(' requestID="1"', ""))

    assert data["request_json"]["request"]["attributes"] == {"request_id": data["id"]}


def test_a_repeat_with_the_same_idempotency_key_answers_the_first_record(deployment: Deployment) -> None:
    headers = {"idempotency-key": "order-17"}
    first = deployment.api.call("POST", deployment.requests_url, {"request_json": TREE}, headers=headers)

    again = deployment.api.call("POST", deployment.requests_url, {"request_json": TREE}, headers=headers)
    other = deployment.api.call("POST", deployment.requests_url, {"request_xml": REQUEST_XML}, headers=headers)

    assert (first.status, again.status) == (201, 200)
    assert again.json == first.json
    assert (other.status, other.code) == (409, "idempotency_key_reused")
    assert len(deployment.api.call("GET", deployment.requests_url).json["data"]) == 1


def test_a_call_is_one_line_of_log_without_its_credential_its_body_and_its_query(
    deployment: Deployment, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")

    deployment.api.call("GET", f"{deployment.requests_url}?search_phrase=secret")

    (line,) = (record for record in caplog.records if record.message == "api.called")
    facts = vars(line)
    assert (facts["method"], facts["path"], facts["status"]) == ("GET", deployment.requests_url, 200)
    assert facts["app_id"] == deployment.app_id
    assert "secret" not in str(facts)
    assert str(deployment.api.key) not in str(facts)


# --- Query endpoints


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("customers?name=Ann,%20Bob&include[]=Name,Email&include[]=ListID", "CustomerQueryRq"),
        ("vendors", "VendorQueryRq"),
        ("sales_orders?from_modified_date=2026-01-01", "SalesOrderQueryRq"),
        ("invoices?status=PaidOnly", "InvoiceQueryRq"),
        ("items?max_returned=5", "ItemQueryRq"),
    ],
)
def test_a_query_endpoint_queues_its_query_and_is_not_cached(deployment: Deployment, path: str, name: str) -> None:
    answer = deployment.api.call("GET", f"/api/v1/connections/{CONNECTION_ID}/{path}")

    data = answer.json["data"]
    assert (answer.status, data["request_name"]) == (202, name)
    assert answer.headers["Cache-Control"] == "no-store"
    assert data["links"]["self"] == f"/api/v1/connections/{CONNECTION_ID}/queued_requests/{data['id']}"


# --- Get


def test_every_link_to_itself_answers_with_the_same_record(deployment: Deployment) -> None:
    made = queue(deployment)
    listed = deployment.api.call("GET", deployment.requests_url).json["data"][0]

    by_create = deployment.api.call("GET", made["links"]["self"])
    by_list = deployment.api.call("GET", listed["links"]["self"])

    assert (by_create.status, by_list.status) == (200, 200)
    assert by_create.json == by_list.json
    assert by_list.json["data"]["links"]["self"] == f"/api/v1/queued_requests/{made['id']}"


def test_an_ended_record_shows_its_response_in_both_forms(deployment: Deployment) -> None:
    made = queue(deployment)
    end(deployment, made["id"])

    data = deployment.api.call("GET", made["links"]["self"]).json["data"]

    assert data["state"] == "response_received"
    assert data["response_xml"] == RESPONSE_XML
    (message_set,) = data["response_json"]
    assert message_set["QBXMLMsgsRs"]["CustomerQueryRs"]["CustomerRet"] == [{"ListID": "80000001-1", "Name": "Ann"}]


def test_a_response_of_megabytes_comes_whole_to_a_caller_who_takes_gzip(deployment: Deployment) -> None:
    record = queue(deployment)
    long = "".join(f"<CustomerRet><Notes>{'Café ' * 30}</Notes></CustomerRet>\n" for _ in range(20_000))
    end(deployment, record["id"], response_xml=RESPONSE_XML.replace("<CustomerRet>", f"{long}<CustomerRet>", 1))
    url = record["links"]["self"]

    whole = deployment.api.call("GET", url, headers={"Accept": "application/json", "Accept-Encoding": "gzip"})
    plain = deployment.api.call("GET", url)

    assert (whole.status, whole.headers["Content-Encoding"]) == (200, "gzip")
    assert whole.json["data"]["response_xml"].count("<CustomerRet>") > 20_000
    assert len(whole.json["data"]["response_json"][0]["QBXMLMsgsRs"]["CustomerQueryRs"]["CustomerRet"]) > 20_000
    assert (plain.status, plain.json["data"]["response_json_omitted"]) == (200, True)


def test_errors_and_attempts_are_shown(deployment: Deployment) -> None:
    made = queue(deployment, webhook_url=HOOK)
    end(
        deployment,
        made["id"],
        State.ERROR,
        error=RequestError("outcome_unknown", "Nobody can tell.", {"hint": "Look."}),
        webhook=Webhook(
            state=WebhookState.FAILED,
            url=HOOK,
            error="refused",
            attempts=(WebhookAttempt("2026-03-14T12:00:01.000000Z", "no route"),),
        ),
    )

    data = deployment.api.call("GET", made["links"]["self"]).json["data"]
    listed = deployment.api.call("GET", deployment.requests_url).json["data"][0]

    for view in (data, listed):
        assert view["error"] == {"message": "Nobody can tell.", "code": "outcome_unknown", "details": {"hint": "Look."}}
        assert view["webhook_attempts"] == [{"attempted_at": "2026-03-14T12:00:01.000000Z", "response": "no route"}]
        assert (view["webhook_state"], view["webhook_error"]) == ("failed", "refused")


def test_a_record_of_another_connection_is_not_found_below_this_one(deployment: Deployment) -> None:
    made = queue(deployment)
    other = deployment.api.call("POST", "/api/v1/connections").json["data"]["id"]

    answer = deployment.api.call("GET", f"/api/v1/connections/{other}/queued_requests/{made['id']}")

    assert answer.status == 404


# --- List


def test_a_search_that_takes_too_long_is_answered_with_what_to_do_instead(deployment: Deployment) -> None:
    queue(deployment)

    def clock() -> datetime:
        return deployment.clock.advance(seconds=30)

    with using(services_with(deployment.store, clock)):
        answer = deployment.api.call("GET", f"{deployment.requests_url}?search_phrase=Customer")

    assert answer.status == 400
    assert answer.json["error"]["code"] == "invalid_request"
    (problem,) = answer.json["error"]["details"]["problems"]
    assert problem["field"] == "search_phrase"
    assert "within 20 seconds" in problem["message"]
    assert problem["message"] in answer.json["error"]["message"]


def test_a_list_is_paged_sorted_and_filtered(deployment: Deployment) -> None:
    ids = []
    for _ in range(3):
        ids.append(queue(deployment)["id"])
        deployment.clock.advance(seconds=1)
    deployment.api.call("POST", f"/api/v1/queued_requests/{ids[0]}/discard")

    first = deployment.api.call("GET", f"{deployment.requests_url}?page_size=2").json
    second = deployment.api.call("GET", f"{deployment.requests_url}?page_size=2&page=2").json
    past = deployment.api.call("GET", f"{deployment.requests_url}?page=9").json
    updated = deployment.api.call("GET", f"{deployment.requests_url}?sort=updated_at&sort_direction=asc").json
    waiting = deployment.api.call("GET", f"{deployment.requests_url}?state=waiting&webhook_state=not_applicable").json
    found = deployment.api.call("GET", f"{deployment.requests_url}?search_phrase={ids[1]}").json

    assert [item["id"] for item in first["data"]] == [ids[2], ids[1]]
    assert (first["page"], first["total_pages"]) == (1, 2)
    assert [item["id"] for item in second["data"]] == [ids[0]]
    assert (past["data"], past["page"], past["total_pages"]) == ([], 9, 1)
    assert [item["id"] for item in updated["data"]] == [ids[1], ids[2], ids[0]]
    assert [item["id"] for item in waiting["data"]] == [ids[2], ids[1]]
    assert [item["id"] for item in found["data"]] == [ids[1]]


def test_no_records_are_no_pages(deployment: Deployment) -> None:
    assert deployment.api.call("GET", deployment.requests_url).json == {"data": [], "page": 1, "total_pages": 0}


def test_a_list_item_carries_no_json_forms(deployment: Deployment) -> None:
    queue(deployment)

    item = deployment.api.call("GET", deployment.requests_url).json["data"][0]

    assert "request_json" not in item
    assert "response_json" not in item
    assert "response_omitted" not in item
    assert item["request_xml"] == REQUEST_XML


# --- Discard, delete, redeliver


@pytest.mark.parametrize("prefix", ["", f"/connections/{CONNECTION_ID}"])
def test_a_waiting_request_is_discarded_once(deployment: Deployment, prefix: str) -> None:
    url = f"/api/v1{prefix}/queued_requests/{queue(deployment)['id']}/discard"

    first, second = deployment.api.call("POST", url), deployment.api.call("POST", url)

    assert (first.status, first.json["data"]["state"]) == (200, "discarded")
    assert (second.status, second.code) == (400, "invalid_state")


def test_what_is_in_flight_is_neither_discarded_nor_deleted(deployment: Deployment) -> None:
    url = f"/api/v1/queued_requests/{queue(deployment)['id']}"
    before = stored_record(deployment, url.rpartition("/")[2])
    deployment.store.commit(ChangeRequest(before, before.moved(State.TICKETED, deployment.clock())))

    discarded = deployment.api.call("POST", f"{url}/discard")
    deleted = deployment.api.call("DELETE", f"{url}?force=true")

    assert (discarded.status, discarded.code) == (409, "in_flight")
    assert (deleted.status, deleted.code) == (409, "in_flight")


@pytest.mark.parametrize("prefix", ["", f"/connections/{CONNECTION_ID}"])
def test_deleting_needs_an_end_or_force_and_can_be_repeated(deployment: Deployment, prefix: str) -> None:
    url = f"/api/v1{prefix}/queued_requests/{queue(deployment)['id']}"

    refused = deployment.api.call("DELETE", url)
    forced, again = deployment.api.call("DELETE", f"{url}?force=true"), deployment.api.call("DELETE", url)
    gone = deployment.api.call("GET", url)

    assert (refused.status, refused.code) == (400, "invalid_state")
    assert (forced.status, again.status, forced.text) == (204, 204, "")
    assert (gone.status, gone.code) == (410, "not_found")


@pytest.mark.parametrize("prefix", ["", f"/connections/{CONNECTION_ID}"])
def test_a_webhook_is_sent_again_only_after_the_end(deployment: Deployment, prefix: str) -> None:
    made = queue(deployment, webhook_url=HOOK)
    url = f"/api/v1{prefix}/queued_requests/{made['id']}/redeliver"

    early = deployment.api.call("POST", url)
    end(deployment, made["id"], webhook=Webhook(WebhookState.FAILED, HOOK))
    later = deployment.api.call("POST", url)

    assert (early.status, early.code) == (400, "invalid_state")
    assert (later.status, later.json["data"]["webhook_state"]) == (202, "pending")


# --- Why it waits


def change_connection(deployment: Deployment, **fields: Any) -> None:
    """Change the connection behind the API's back."""
    before = deployment.store.connection(CONNECTION_ID)
    assert before
    deployment.store.commit(ChangeConnection(before, before.changed(before.updated_at, **fields)))


def test_what_waits_says_why_alone_and_in_a_list(deployment: Deployment) -> None:
    queued = queue(deployment)
    url = queued["links"]["self"]

    assert queued["waiting_reason"]["code"] == "never_connected"
    assert deployment.api.call("GET", url).json["data"]["waiting_reason"]["code"] == "never_connected"
    (item,) = deployment.api.call("GET", deployment.requests_url).json["data"]
    assert item["waiting_reason"]["code"] == "never_connected"
    change_connection(deployment, paused_at="2026-03-14T11:00:00.000000Z")
    reason = deployment.api.call("GET", url).json["data"]["waiting_reason"]
    assert reason == {
        "code": "paused",
        "message": "The connection was paused at 2026-03-14T11:00:00.000000Z.",
        "hint": f"To resume it: POST /api/v1/connections/{CONNECTION_ID}/resume.",
    }
    (item,) = deployment.api.call("GET", deployment.requests_url).json["data"]
    assert item["waiting_reason"] == reason
    assert deployment.api.call("GET", f"/api/v1/connections/{CONNECTION_ID}").json["data"]["waiting_reason"] == reason
    (connection,) = deployment.api.call("GET", "/api/v1/connections").json["data"]
    assert connection["waiting_reason"] == reason


def test_what_the_process_knows_no_more_is_not_told(deployment: Deployment) -> None:
    """To queue costs one call: the connection is not read for it."""
    assert queue(deployment)["waiting_reason"]["code"] == "never_connected"

    deployment.clock.advance(seconds=60)

    assert queue(deployment)["waiting_reason"]["code"] == "next_session"


def test_a_request_alone_says_how_many_go_before_it(deployment: Deployment) -> None:
    change_connection(deployment, last_connected_at="2026-03-14T11:59:00.000000Z")
    records = []
    for _ in range(3):
        deployment.clock.advance(seconds=1)
        records.append(queue(deployment))

    reasons = [deployment.api.call("GET", record["links"]["self"]).json["data"]["waiting_reason"] for record in records]

    assert [reason["code"] for reason in reasons] == ["next_session", "requests_ahead", "requests_ahead"]
    assert reasons[2]["message"] == "2 requests are sent before it."


def test_what_has_ended_has_no_reason_to_wait(deployment: Deployment) -> None:
    done, discarded = queue(deployment), queue(deployment)
    end(deployment, done["id"])
    answer = deployment.api.call("POST", f"/api/v1/queued_requests/{discarded['id']}/discard").json["data"]

    assert answer["waiting_reason"] is None
    assert deployment.api.call("GET", done["links"]["self"]).json["data"]["waiting_reason"] is None
    assert [item["waiting_reason"] for item in deployment.api.call("GET", deployment.requests_url).json["data"]] == [
        None,
        None,
    ]


def test_a_webhook_says_nothing_of_waiting(deployment: Deployment) -> None:
    done = queue(deployment)
    end(deployment, done["id"])
    stored = deployment.store.stored_request(done["id"])
    assert isinstance(stored, StoredRequest)

    assert b"waiting_reason" not in event_body(stored, "2026-03-14T12:00:00.000000Z")
