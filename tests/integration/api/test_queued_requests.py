"""Get, list, discard, delete and redeliver requests through the functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from domain.records.request import RequestError, State
from domain.records.webhook import Webhook, WebhookAttempt, WebhookState
from domain.storage.changes import ChangeRequest
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


def test_every_link_to_a_record_returns_the_same_record(deployment: Deployment) -> None:
    request = deployment.queue()
    record = deployment.api.call("GET", deployment.requests_url).json["data"][0]

    by_create = deployment.api.call("GET", request["links"]["self"])
    by_list = deployment.api.call("GET", record["links"]["self"])

    assert (by_create.status, by_list.status) == (200, 200)
    assert by_create.json == by_list.json
    assert by_list.json["data"]["links"]["self"] == f"/api/v1/queued_requests/{request['id']}"


def test_an_ended_record_shows_its_response_in_both_forms(deployment: Deployment) -> None:
    request = deployment.queue()
    deployment.end(request["id"])

    data = deployment.api.call("GET", request["links"]["self"]).json["data"]

    assert data["state"] == "response_received"
    assert data["response_xml"] == RESPONSE_XML
    (message_set,) = data["response_json"]
    assert message_set["QBXMLMsgsRs"]["CustomerQueryRs"]["CustomerRet"] == [{"ListID": "80000001-1", "Name": "Ann"}]


def test_a_record_shows_the_result_in_place_of_the_response_on_request(deployment: Deployment) -> None:
    request = deployment.queue()
    url = f"{request['links']['self']}?include[]=result"
    before = deployment.api.call("GET", url).json["data"]
    deployment.end(request["id"])

    data = deployment.api.call("GET", url).json["data"]
    plain = deployment.api.call("GET", request["links"]["self"]).json["data"]

    assert (before["result"], before["response_json"]) == (None, None)
    assert data["result"] == {"CustomerRet": [{"ListID": "80000001-1", "Name": "Ann"}]}
    assert (data["response_json"], data["response_xml"]) == (None, RESPONSE_XML)
    assert "result" not in plain
    assert deployment.api.call("GET", f"{request['links']['self']}?include[]=resul").status == 400


def test_the_result_of_an_error_is_null(deployment: Deployment) -> None:
    request = deployment.queue()
    deployment.end(request["id"], State.ERROR, error=RequestError("quickbooks_error", "Taken.", {"status_code": 3100}))

    data = deployment.api.call("GET", f"{request['links']['self']}?include[]=result").json["data"]

    assert data["result"] is None


def test_a_result_that_does_not_fit_is_left_out(deployment: Deployment) -> None:
    record = deployment.queue()
    long = "".join(f"<CustomerRet><Notes>{'Cafe ' * 30}</Notes></CustomerRet>\n" for _ in range(20_000))
    deployment.end(record["id"], response_xml=RESPONSE_XML.replace("<CustomerRet>", f"{long}<CustomerRet>", 1))

    data = deployment.api.call("GET", f"{record['links']['self']}?include[]=result").json["data"]

    assert (data["result"], data["result_omitted"], data["response_json"]) == (None, True, None)
    assert "response_json_omitted" not in data


def test_a_client_that_accepts_gzip_gets_a_response_of_megabytes(deployment: Deployment) -> None:
    record = deployment.queue()
    long = "".join(f"<CustomerRet><Notes>{'Café ' * 30}</Notes></CustomerRet>\n" for _ in range(20_000))
    deployment.end(record["id"], response_xml=RESPONSE_XML.replace("<CustomerRet>", f"{long}<CustomerRet>", 1))
    url = record["links"]["self"]

    whole = deployment.api.call("GET", url, headers={"Accept": "application/json", "Accept-Encoding": "gzip"})
    plain = deployment.api.call("GET", url)

    assert (whole.status, whole.headers["Content-Encoding"]) == (200, "gzip")
    assert whole.json["data"]["response_xml"].count("<CustomerRet>") > 20_000
    assert len(whole.json["data"]["response_json"][0]["QBXMLMsgsRs"]["CustomerQueryRs"]["CustomerRet"]) > 20_000
    assert (plain.status, plain.json["data"]["response_json_omitted"]) == (200, True)


def test_errors_and_attempts_are_shown(deployment: Deployment) -> None:
    request = deployment.queue(webhook_url=HOOK)
    deployment.end(
        request["id"],
        State.ERROR,
        error=RequestError("outcome_unknown", "Nobody can tell.", {"hint": "Look."}),
        webhook=Webhook(
            state=WebhookState.FAILED,
            url=HOOK,
            error="refused",
            attempts=(
                WebhookAttempt("2026-03-14T12:00:01.000000Z", "no route", None, 12, "2026-03-14T12:05:01.000000Z"),
            ),
        ),
    )

    data = deployment.api.call("GET", request["links"]["self"]).json["data"]
    item = deployment.api.call("GET", deployment.requests_url).json["data"][0]

    for view in (data, item):
        assert view["error"] == {"message": "Nobody can tell.", "code": "outcome_unknown", "details": {"hint": "Look."}}
        assert view["webhook_attempts"] == [
            {
                "attempted_at": "2026-03-14T12:00:01.000000Z",
                "response": "no route",
                "status_code": None,
                "duration_ms": 12,
                "next_attempt_at": "2026-03-14T12:05:01.000000Z",
            }
        ]
        assert (view["webhook_state"], view["webhook_error"]) == ("failed", "refused")


def test_a_webhook_that_failed_and_is_tried_again_is_pending_and_retrying(deployment: Deployment) -> None:
    attempt = WebhookAttempt("2026-03-14T12:00:01.000000Z", "no route", None, 12, "2026-03-14T12:05:01.000000Z")
    webhooks = {
        "new": Webhook.to(HOOK),
        "tried": Webhook(WebhookState.PENDING, HOOK, (attempt,), attempts_in_round=1),
        "redelivered": Webhook(WebhookState.PENDING, HOOK, (attempt,), round=1),
        "given up": Webhook(WebhookState.FAILED, HOOK, (attempt,), attempts_in_round=10),
        "delivered": Webhook(WebhookState.SUCCEEDED, HOOK, (attempt,), attempts_in_round=2),
    }
    ids = {}
    for name, webhook in webhooks.items():
        ids[name] = deployment.queue(webhook_url=HOOK)["id"]
        deployment.end(ids[name], webhook=webhook)
    ids["without"] = deployment.queue()["id"]

    def found(query: str) -> dict[str, tuple[str, bool]]:
        items = deployment.api.call("GET", f"{deployment.requests_url}?{query}").json["data"]
        names = {id_: name for name, id_ in ids.items()}
        return {names[item["id"]]: (item["webhook_state"], item["webhook_retrying"]) for item in items}

    everything = found("")
    assert everything["tried"] == ("pending", True)
    assert [name for name, (_, retrying) in everything.items() if retrying] == ["tried"]
    assert found("webhook_retrying=true") == {"tried": ("pending", True)}
    assert found("webhook_retrying=false").keys() == everything.keys() - {"tried"}
    assert found("webhook_retrying=false&webhook_state=pending").keys() == {"new", "redelivered"}
    assert found("webhook_retrying=true&webhook_state=failed") == {}
    assert found("webhook_failing=true").keys() == {"tried", "given up"}
    assert found("webhook_failing=false").keys() == everything.keys() - {"tried", "given up"}
    assert found("webhook_failing=true&webhook_state=pending").keys() == {"tried"}
    record = deployment.api.call("GET", f"/api/v1/queued_requests/{ids['tried']}").json["data"]
    assert (record["webhook_state"], record["webhook_retrying"]) == ("pending", True)
    assert deployment.api.call("GET", f"{deployment.requests_url}?webhook_retrying=perhaps").status == 400


def test_a_record_of_another_connection_is_not_found_below_this_one(deployment: Deployment) -> None:
    request = deployment.queue()
    other = deployment.api.call("POST", "/api/v1/connections").json["data"]["id"]

    response = deployment.api.call("GET", f"/api/v1/connections/{other}/queued_requests/{request['id']}")

    assert response.status == 404


def test_a_search_that_takes_too_long_is_refused_with_advice(deployment: Deployment) -> None:
    deployment.queue()

    def clock() -> datetime:
        return deployment.clock.advance(seconds=30)

    with using(services_with(deployment.store, clock)):
        response = deployment.api.call("GET", f"{deployment.requests_url}?search_phrase=Customer")

    assert response.status == 400
    assert response.json["error"]["code"] == "invalid_request"
    (problem,) = response.json["error"]["details"]["problems"]
    assert problem["field"] == "search_phrase"
    assert "within 20 seconds" in problem["message"]
    assert problem["message"] in response.json["error"]["message"]


def test_a_list_is_paged_sorted_and_filtered(deployment: Deployment) -> None:
    ids = []
    for _ in range(3):
        ids.append(deployment.queue()["id"])
        deployment.clock.advance(seconds=1)
    deployment.api.call("POST", f"/api/v1/queued_requests/{ids[0]}/discard")

    first = deployment.api.call("GET", f"{deployment.requests_url}?page_size=2").json
    second = deployment.api.call("GET", f"{deployment.requests_url}?page_size=2&page=2").json
    past = deployment.api.call("GET", f"{deployment.requests_url}?page=9").json
    updated = deployment.api.call("GET", f"{deployment.requests_url}?sort=updated_at&sort_direction=asc").json
    waiting = deployment.api.call("GET", f"{deployment.requests_url}?state=waiting&webhook_state=not_applicable").json
    matches = deployment.api.call("GET", f"{deployment.requests_url}?search_phrase={ids[1]}").json

    assert [item["id"] for item in first["data"]] == [ids[2], ids[1]]
    assert (first["page"], first["total_pages"]) == (1, 2)
    assert [item["id"] for item in second["data"]] == [ids[0]]
    assert (past["data"], past["page"], past["total_pages"]) == ([], 9, 1)
    assert [item["id"] for item in updated["data"]] == [ids[1], ids[2], ids[0]]
    assert [item["id"] for item in waiting["data"]] == [ids[2], ids[1]]
    assert [item["id"] for item in matches["data"]] == [ids[1]]


def test_an_empty_list_has_no_pages(deployment: Deployment) -> None:
    assert deployment.api.call("GET", deployment.requests_url).json == {
        "data": [],
        "page": 1,
        "total_pages": 0,
        "total": 0,
        "counts": dict.fromkeys(State, 0),
        "awaiting_approval": 0,
    }


def test_a_list_without_bodies_says_that_they_are_left_out(deployment: Deployment) -> None:
    record_id = deployment.queue()["id"]
    deployment.end(record_id)

    (item,) = deployment.api.call("GET", deployment.requests_url + "?bodies=false").json["data"]

    assert (item["request_xml"], item["response_xml"]) == (None, None)
    assert item["request_omitted"] is True
    assert item["response_omitted"] is True
    assert item["id"] == record_id


def test_a_list_counts_all_requests_by_state_regardless_of_filters_and_search(deployment: Deployment) -> None:
    for _ in range(3):
        deployment.queue()
    deployment.api.call("POST", f"{deployment.queue()['links']['self']}/discard")

    for query in ("", "?state=discarded", "?search_phrase=nothing+has+this", "?page=9"):
        counts = deployment.api.call("GET", deployment.requests_url + query).json["counts"]
        assert counts == dict.fromkeys(State, 0) | {"waiting": 3, "discarded": 1}


def test_a_list_item_has_no_json_forms(deployment: Deployment) -> None:
    deployment.queue()

    item = deployment.api.call("GET", deployment.requests_url).json["data"][0]

    assert "request_json" not in item
    assert "response_json" not in item
    assert "response_omitted" not in item
    assert item["request_xml"] == REQUEST_XML


def test_a_list_of_large_responses_names_them_and_leads_to_the_records(deployment: Deployment) -> None:
    response_xml = f"<QBXML>{'x' * 3_000_000}</QBXML>"
    for _ in range(40):
        deployment.end(deployment.queue()["id"], response_xml=response_xml)

    items = deployment.api.call("GET", f"{deployment.requests_url}?page_size=40").json["data"]
    one = deployment.api.call("GET", items[0]["links"]["self"]).json["data"]

    assert [(item["response_xml"], item["response_omitted"], item["request_xml"]) for item in items] == [
        (None, True, REQUEST_XML)
    ] * 40
    assert one["response_xml"] == response_xml


def test_a_page_has_at_most_8_mib_of_bodies(deployment: Deployment) -> None:
    name = "Ann and Bob, " * 70_000  # 0.9 MB
    request_xml = REQUEST_XML.replace("<MaxReturned>10</MaxReturned>", f"<FullName>{name}</FullName>")
    assert name in request_xml
    url = f"{deployment.requests_url}?validate=false"
    for _ in range(12):
        assert deployment.api.call("POST", url, {"request_xml": request_xml}).status == 201
    gzip = {"Accept": "application/json", "Accept-Encoding": "gzip"}

    page = deployment.api.call("GET", deployment.requests_url, headers=gzip).json["data"]

    assert [item.get("request_omitted", False) for item in page] == [False] * 9 + [True] * 3
    assert [item["request_xml"] is None for item in page] == [False] * 9 + [True] * 3


@pytest.mark.parametrize("prefix", ["", f"/connections/{CONNECTION_ID}"])
def test_a_waiting_request_is_discarded_once(deployment: Deployment, prefix: str) -> None:
    url = f"/api/v1{prefix}/queued_requests/{deployment.queue()['id']}/discard"

    first, second = deployment.api.call("POST", url), deployment.api.call("POST", url)

    assert (first.status, first.json["data"]["state"]) == (200, "discarded")
    assert (second.status, second.code) == (400, "invalid_state")


def test_a_request_in_flight_cannot_be_discarded_or_deleted(deployment: Deployment) -> None:
    url = f"/api/v1/queued_requests/{deployment.queue()['id']}"
    before = deployment.stored_record(url.rpartition("/")[2])
    deployment.store.commit(ChangeRequest(before, before.moved(State.TICKETED, deployment.clock())))

    discard = deployment.api.call("POST", f"{url}/discard")
    delete = deployment.api.call("DELETE", f"{url}?force=true")

    assert (discard.status, discard.code) == (409, "in_flight")
    assert (delete.status, delete.code) == (409, "in_flight")


@pytest.mark.parametrize("prefix", ["", f"/connections/{CONNECTION_ID}"])
def test_deleting_needs_an_ended_request_or_force_and_can_be_repeated(deployment: Deployment, prefix: str) -> None:
    url = f"/api/v1{prefix}/queued_requests/{deployment.queue()['id']}"

    without_force = deployment.api.call("DELETE", url)
    forced, again = deployment.api.call("DELETE", f"{url}?force=true"), deployment.api.call("DELETE", url)
    get = deployment.api.call("GET", url)

    assert (without_force.status, without_force.code) == (400, "invalid_state")
    assert (forced.status, again.status, forced.text) == (204, 204, "")
    assert (get.status, get.code) == (410, "not_found")


@pytest.mark.parametrize("prefix", ["", f"/connections/{CONNECTION_ID}"])
def test_a_webhook_is_redelivered_only_for_an_ended_request(deployment: Deployment, prefix: str) -> None:
    request = deployment.queue(webhook_url=HOOK)
    url = f"/api/v1{prefix}/queued_requests/{request['id']}/redeliver"

    early = deployment.api.call("POST", url)
    deployment.end(request["id"], webhook=Webhook(WebhookState.FAILED, HOOK))
    later = deployment.api.call("POST", url)

    assert (early.status, early.code) == (400, "invalid_state")
    assert (later.status, later.json["data"]["webhook_state"]) == (202, "pending")
