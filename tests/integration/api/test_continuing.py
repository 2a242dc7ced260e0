"""`POST /connections/{id}/batches/{batch_id}/continue`, and what a record and a list say about a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from domain.records.request import RequestError, State
from domain.records.successor import id_again
from domain.storage.changes import RemoveRequest
from domain.timestamps import timestamp
from tests.support.builders import CONNECTION_ID, NOON

if TYPE_CHECKING:
    from tests.integration.api.conftest import Deployment

CUSTOMER_RESPONSE = (
    '<?xml version="1.0" ?><QBXML><QBXMLMsgsRs><CustomerAddRs statusCode="0" statusSeverity="Info">'
    "<CustomerRet><ListID>80000001-1</ListID></CustomerRet></CustomerAddRs></QBXMLMsgsRs></QBXML>"
)
BATCH = [
    {"ref": "c", "request_json": {"CustomerAddRq": {"CustomerAdd": {"Name": "Ada"}}}},
    {
        "ref": "i",
        "label": "shop",
        "metadata": {"order": "7"},
        "webhook_url": "https://example.com/hook",
        "request_json": {
            "InvoiceAddRq": {"InvoiceAdd": {"CustomerRef": {"ListID": {"$from": "c", "path": "CustomerRet/ListID"}}}}
        },
    },
    {
        "request_json": {
            "ReceivePaymentAddRq": {
                "ReceivePaymentAdd": {
                    "CustomerRef": {"ListID": {"$from": "c", "path": "CustomerRet/ListID"}},
                    "Memo": {"$from": "i", "path": "InvoiceRet/TxnID"},
                    "IsAutoApply": "true",
                }
            }
        }
    },
]


def corrected(customer_id: str) -> dict[str, Any]:
    """Return the invoice with a number."""
    customer = {"ListID": {"$from": customer_id, "path": "CustomerRet/ListID"}}
    return {"request_json": {"InvoiceAddRq": {"InvoiceAdd": {"CustomerRef": customer, "RefNumber": "W7"}}}}


@pytest.fixture
def ids(deployment: Deployment) -> list[str]:
    """Return the ids of a batch of a customer, who was added, an invoice, which failed, and a payment."""
    answer = deployment.api.call("POST", f"{deployment.requests_url}/batch", {"requests": BATCH})
    ids = [record["id"] for record in answer.json["data"]]
    deployment.respond(ids[0], CUSTOMER_RESPONSE)
    deployment.refuse(ids[1])
    return ids


def url_of(batch_id: str) -> str:
    return f"/api/v1/connections/{CONNECTION_ID}/batches/{batch_id}/continue"


@pytest.mark.parametrize("is_corrected", [False, True])
def test_a_batch_is_continued_with_a_corrected_request_or_none(
    deployment: Deployment, ids: list[str], *, is_corrected: bool
) -> None:
    body = corrected(ids[0]) if is_corrected else None

    first = deployment.api.call("POST", url_of(ids[0]), body)
    second = deployment.api.call("POST", url_of(ids[0]), body)

    assert (first.status, second.status) == (201, 200), first
    invoice, payment = first.json["data"]
    assert [invoice["id"], payment["id"]] == [one["id"] for one in second.json["data"]] == [*map(id_again, ids[1:])]
    assert "<ListID>80000001-1</ListID>" in invoice["request_xml"]
    assert ("W7" in invoice["request_xml"]) is is_corrected
    assert (invoice["label"], invoice["metadata"], invoice["webhook_url"]) == (
        "shop",
        {"order": "7"},
        "https://example.com/hook",
    )
    assert [(one["batch_id"], one["batch_position"]) for one in (invoice, payment)] == [
        (id_again(ids[0]), 1),
        (id_again(ids[0]), 2),
    ]
    assert payment["depends_on"] == [invoice["id"]]
    assert [(one["request_id"], one["value"]) for one in payment["references"]] == [
        (ids[0], "80000001-1"),
        (invoice["id"], None),
    ]


def test_another_corrected_request_is_refused(deployment: Deployment, ids: list[str]) -> None:
    deployment.api.call("POST", url_of(ids[0]), corrected(ids[0]))

    other = deployment.api.call(
        "POST", url_of(ids[0]), {"request_json": {"InvoiceAddRq": {"InvoiceAdd": {"CustomerRef": {"ListID": "1"}}}}}
    )

    assert (other.status, other.json["error"]["code"]) == (409, "queued_again_differently")
    assert other.json["error"]["details"] == {"record_id": id_again(ids[1])}


def test_what_is_wrong_with_the_corrected_request_is_said_and_nothing_is_queued(
    deployment: Deployment, ids: list[str]
) -> None:
    wrong = {"request_json": {"InvoiceAddRq": {"InvoiceAdd": {"CustomerRf": {"ListID": "1"}}}}}
    for body in (wrong, corrected("nobody"), {"request_id": id_again(ids[1])}, {"replaces": ids[1]}):
        refused = deployment.api.call("POST", url_of(ids[0]), body)
        assert (refused.status, refused.json["error"]["code"]) == (400, "invalid_request"), body
    assert deployment.store.queue_front(CONNECTION_ID, 10) == []


def test_an_unknown_step_needs_force_and_a_deleted_source_is_gone(deployment: Deployment) -> None:
    answer = deployment.api.call("POST", f"{deployment.requests_url}/batch", {"requests": BATCH})
    ids = [record["id"] for record in answer.json["data"]]
    deployment.respond(ids[0], CUSTOMER_RESPONSE)
    deployment.refuse(ids[1], RequestError("outcome_unknown", "…"))

    refused = deployment.api.call("POST", url_of(ids[0]))
    assert (refused.status, refused.json["error"]["code"]) == (409, "possibly_executed")
    deployment.store.commit(RemoveRequest(deployment.stored_record(ids[0]), timestamp(NOON)))
    gone = deployment.api.call("POST", f"{url_of(ids[0])}?force=true")
    assert (gone.status, gone.json["error"]["details"]["record_id"]) == (410, ids[0])


def test_a_record_shows_the_states_of_its_batch_in_one_call(deployment: Deployment, ids: list[str]) -> None:
    shown = deployment.api.call("GET", f"/api/v1/queued_requests/{ids[2]}?include[]=batch").json["data"]

    assert (shown["batch_id"], shown["batch_position"]) == (ids[0], 2)
    members = ("id", "batch_position", "state", "executed", "error_code")
    assert [tuple(one[name] for name in members) for one in shown["batch"]] == [
        (ids[0], 0, "response_received", "yes", None),
        (ids[1], 1, "error", "no", "quickbooks_error"),
        (ids[2], 2, "error", "no", "dependency_failed"),
    ]
    assert "batch" not in deployment.api.call("GET", f"/api/v1/queued_requests/{ids[2]}").json["data"]
    alone = deployment.queue()
    shown = deployment.api.call("GET", f"/api/v1/queued_requests/{alone['id']}?include[]=batch").json["data"]
    assert (shown["batch_id"], shown["batch_position"], shown["batch"]) == (None, None, [])


def test_a_list_and_a_bulk_action_are_filtered_by_a_batch(deployment: Deployment, ids: list[str]) -> None:
    deployment.queue()
    other = deployment.api.call("POST", f"{deployment.requests_url}/batch", {"requests": BATCH}).json["data"]

    def listed(query: str) -> list[str]:
        answer = deployment.api.call("GET", f"{deployment.requests_url}?sort=inserted_at&sort_direction=asc&{query}")
        return [record["id"] for record in answer.json["data"]]

    assert listed(f"batch_id={ids[0]}") == ids
    assert listed(f"batch_id={ids[0]}&state=error") == ids[1:]
    assert listed(f"batch_id={ids[0]}&ids={ids[2]},{other[0]['id']}") == [ids[2]]
    assert listed(f"batch_id={ids[0]}&ids={other[0]['id']}") == []
    assert listed(f"batch_id={ids[1]}") == []
    deployment.clock.advance(minutes=1)
    which = {"filter": {"batch_id": ids[0]}}
    again = deployment.api.call("POST", f"{deployment.requests_url}/queue_again", which)
    assert again.json["data"] == {"queued": 1, "queued_before": 0, "left_out": 1}
    assert deployment.stored_record(id_again(ids[1])).state is State.WAITING


def test_a_batch_of_another_app_is_not_found(deployment: Deployment, ids: list[str]) -> None:
    assert deployment.stranger.call("POST", url_of(ids[0])).status == 404
    for other in (ids[1], deployment.queue()["id"]):
        assert deployment.api.call("POST", url_of(other)).status == 404
