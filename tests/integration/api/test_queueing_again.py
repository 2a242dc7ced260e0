"""`POST /queued_requests/{id}/queue_again` and `replaces`: a request that has ended is queued again once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from domain.records.request import Paging, Recovery, RequestError, State
from domain.records.successor import id_again
from domain.storage.changes import AddRequest, RemoveRequest
from domain.timestamps import timestamp
from tests.support.builders import CONNECTION_ID, NOON, REQUEST_XML, a_record

if TYPE_CHECKING:
    from tests.integration.api.conftest import Deployment

ADD_XML = (
    '<QBXML><QBXMLMsgsRq onError="stopOnError"><CustomerAddRq requestID="1"><CustomerAdd><Name>Ann</Name>'
    "</CustomerAdd></CustomerAddRq></QBXMLMsgsRq></QBXML>"
)
CORRECTED = {"request_json": {"CustomerAddRq": {"CustomerAdd": {"Name": "Ada"}}}}
REFUSED = RequestError("quickbooks_error", "The name is in use.")


def ended(deployment: Deployment, **members: Any) -> str:
    """Store a write that has ended, and return its id."""
    usual = {"request_name": "CustomerAddRq", "state": State.ERROR, "error": REFUSED, "app_id": deployment.app_id}
    record = a_record(**usual | members)
    deployment.store.commit(AddRequest(record, ADD_XML, "", {"order": "7"}))
    return record.id


def test_a_failed_request_is_queued_again_once(deployment: Deployment) -> None:
    request_id = ended(deployment, label="nightly")

    first = deployment.api.call("POST", f"/api/v1/queued_requests/{request_id}/queue_again")
    second = deployment.api.call("POST", f"{deployment.requests_url}/{request_id}/queue_again")

    assert (first.status, second.status) == (201, 200)
    record = first.json["data"]
    assert record["id"] == second.json["data"]["id"] == id_again(request_id)
    assert (record["state"], record["label"], record["metadata"]) == ("waiting", "nightly", {"order": "7"})
    assert record["request_json"]["request"]["children"][0]["children"][0]["text"] == "Ann"
    assert [front.id for front in deployment.store.queue_front(CONNECTION_ID, 10)] == [record["id"]]


def test_a_list_says_on_demand_which_requests_were_queued_again(deployment: Deployment) -> None:
    again, failed, discarded = (
        ended(deployment),
        ended(deployment),
        ended(deployment, state=State.DISCARDED, error=None),
    )
    for request_id in (again, discarded):
        deployment.api.call("POST", f"/api/v1/queued_requests/{request_id}/queue_again")

    listed = deployment.api.call("GET", f"{deployment.requests_url}?include[]=replaced_by&bodies=false").json["data"]
    usual = deployment.api.call("GET", f"{deployment.requests_url}?bodies=false").json["data"]
    other = deployment.api.call("GET", f"{deployment.requests_url}?include[]=batch")

    assert {one["id"]: one["replaced_by"] for one in listed} == {
        again: id_again(again),
        failed: None,
        discarded: id_again(discarded),
        id_again(again): None,
        id_again(discarded): None,
    }
    assert all("replaced_by" not in one for one in usual)
    assert other.status == 400


def test_a_corrected_request_replaces_a_failed_one_once(deployment: Deployment) -> None:
    request_id = ended(deployment)
    body = {**CORRECTED, "replaces": request_id}

    first = deployment.api.call("POST", deployment.requests_url, body, headers={"Idempotency-Key": "new"})
    same = deployment.api.call("POST", deployment.requests_url, body, headers={"Idempotency-Key": "new"})
    others = [
        deployment.api.call("POST", deployment.requests_url, {"replaces": request_id, "request_xml": ADD_XML}),
        deployment.api.call("POST", f"/api/v1/queued_requests/{request_id}/queue_again"),
    ]
    which = {"filter": {"ids": [request_id]}}
    in_bulk = deployment.api.call("POST", f"{deployment.requests_url}/queue_again", which)

    assert [first.status, same.status, *(other.status for other in others)] == [201, 200, 200, 200]
    assert {answer.json["data"]["id"] for answer in (first, same, *others)} == {id_again(request_id)}
    assert "Ada" in others[0].json["data"]["request_xml"]
    assert in_bulk.json["data"] == {"queued": 0, "queued_before": 1, "left_out": 0}


@pytest.mark.parametrize(
    ("members", "executed"),
    [
        ({"state": State.RESPONSE_RECEIVED, "error": None}, "yes"),
        ({"error": RequestError("outcome_unknown", "…")}, "unknown"),
        ({"recovery": Recovery(begun=True)}, "unknown"),
        ({"recovery": Recovery(begun=True), "state": State.DISCARDED, "error": None}, "unknown"),
    ],
)
def test_what_quickbooks_may_have_executed_needs_force(
    deployment: Deployment, members: dict[str, Any], executed: str
) -> None:
    request_id = ended(deployment, **members)
    path = f"/api/v1/queued_requests/{request_id}/queue_again"
    create = deployment.requests_url, {**CORRECTED, "replaces": request_id}

    assert deployment.api.call("GET", f"/api/v1/queued_requests/{request_id}").json["data"]["executed"] == executed
    for refused in (
        deployment.api.call("POST", path),
        deployment.api.call("POST", f"{path}?force=false"),
        deployment.api.call("POST", *create),
    ):
        assert (refused.status, refused.json["error"]["code"]) == (409, "possibly_executed")
        assert refused.json["error"]["details"] == {"executed": executed, "record_id": request_id}
    assert deployment.store.queue_front(CONNECTION_ID, 10) == []

    forced = [
        deployment.api.call("POST", f"{path}?force=true"),
        deployment.api.call("POST", f"{create[0]}?force=true", create[1]),
    ]
    assert [answer.status for answer in forced] == [201, 200]
    assert len({answer.json["data"]["id"] for answer in forced}) == 1


def test_force_is_not_part_of_what_an_idempotency_key_covers(deployment: Deployment) -> None:
    key = {"Idempotency-Key": "k"}
    first = deployment.api.call("POST", deployment.requests_url, CORRECTED, headers=key)

    again = deployment.api.call("POST", f"{deployment.requests_url}?force=true", CORRECTED, headers=key)

    assert (first.status, again.status) == (201, 200)


def test_a_request_that_is_not_whole_or_has_not_ended_is_not_queued_again(deployment: Deployment) -> None:
    page = ended(deployment, request_name="CustomerQueryRq", paging=Paging(page=2, first_page_id="b" * 36))
    dependant = ended(deployment, error=RequestError("dependency_failed", "…"), dependencies=(0,))
    waiting = deployment.queue()["id"]

    messages = {}
    for request_id in (page, dependant, waiting):
        refused = deployment.api.call("POST", f"/api/v1/queued_requests/{request_id}/queue_again?force=true")
        assert (refused.status, refused.json["error"]["code"]) == (400, "invalid_state")
        messages[request_id] = refused.json["error"]["message"]

    assert "Queue page 1 again" in messages[page]
    assert '"replaces"' in messages[dependant]
    assert "when it has ended" in messages[waiting]
    # With its values, a corrected request can replace one that lacked them.
    body = {**CORRECTED, "replaces": dependant}
    assert deployment.api.call("POST", deployment.requests_url, body).status == 201


def one_by_one(deployment: Deployment, request_id: str) -> None:
    deployment.api.call("POST", f"/api/v1/queued_requests/{request_id}/queue_again")


def corrected(deployment: Deployment, request_id: str) -> None:
    deployment.api.call("POST", deployment.requests_url, {**CORRECTED, "replaces": request_id})


def in_bulk(deployment: Deployment, request_id: str) -> None:
    deployment.api.call("POST", f"{deployment.requests_url}/queue_again", {"filter": {"ids": [request_id]}})


@pytest.mark.parametrize("route", [one_by_one, corrected, in_bulk])
@pytest.mark.parametrize("members", [{}, {"state": State.DISCARDED, "error": None}])
def test_a_request_and_its_successor_name_each_other(deployment: Deployment, route: Any, members: Any) -> None:
    request_id = ended(deployment, **members)
    before = deployment.api.call("GET", f"/api/v1/queued_requests/{request_id}").json["data"]

    route(deployment, request_id)

    successor_id = id_again(request_id)
    paths = [f"/api/v1/queued_requests/{request_id}", f"{deployment.requests_url}/{request_id}"]
    former, same = (deployment.api.call("GET", path).json["data"] for path in paths)
    successor = deployment.api.call("GET", f"/api/v1/queued_requests/{successor_id}").json["data"]
    assert (before["replaces"], before.get("replaced_by")) == (None, None)
    assert (former["replaced_by"], same["replaced_by"]) == (successor_id, successor_id)
    assert (successor["replaces"], successor.get("replaced_by")) == (request_id, None)

    deployment.store.commit(RemoveRequest(deployment.stored_record(successor_id), timestamp(NOON)))
    assert deployment.api.call("GET", paths[0]).json["data"]["replaced_by"] == successor_id


def test_a_deleted_request_and_a_deleted_successor_are_gone(deployment: Deployment) -> None:
    request_id = ended(deployment)
    path = f"/api/v1/queued_requests/{request_id}/queue_again"
    successor = deployment.api.call("POST", path).json["data"]["id"]
    deployment.store.commit(RemoveRequest(deployment.stored_record(successor), timestamp(NOON)))
    assert deployment.api.call("POST", path).status == 410
    assert deployment.api.call("POST", deployment.requests_url, {**CORRECTED, "replaces": request_id}).status == 410

    deployment.store.commit(RemoveRequest(deployment.stored_record(request_id), timestamp(NOON)))
    assert deployment.api.call("POST", path).status == 410
    assert deployment.api.call("POST", deployment.requests_url, {**CORRECTED, "replaces": request_id}).status == 410
    assert deployment.store.queue_front(CONNECTION_ID, 10) == []


def test_a_query_is_queued_again_without_force_and_has_no_outcome(deployment: Deployment) -> None:
    record = a_record(app_id=deployment.app_id, state=State.RESPONSE_RECEIVED)
    deployment.store.commit(AddRequest(record, REQUEST_XML, ""))

    again = deployment.api.call("POST", f"/api/v1/queued_requests/{record.id}/queue_again")

    assert again.status == 201
    assert deployment.api.call("GET", f"/api/v1/queued_requests/{record.id}").json["data"]["executed"] is None


def test_a_request_of_a_batch_replaces_nothing(deployment: Deployment) -> None:
    body = {"requests": [{**CORRECTED, "replaces": ended(deployment)}]}

    assert deployment.api.call("POST", f"{deployment.requests_url}/batch", body).status == 400
