"""`if_exists` of calls that queue: what it accepts, what the record shows, and what a copy keeps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from domain.records.app import Scope
from domain.records.lookup import FieldChange, IfExists
from domain.storage.changes import ChangeRequest
from tests.support.api_client import ApiClient

if TYPE_CHECKING:
    from tests.integration.api.conftest import Deployment

CUSTOMER = {"CustomerAddRq": {"CustomerAdd": {"Name": "Ada"}}}
RETURN = {"request_json": CUSTOMER, "if_exists": "return"}


def test_a_request_looks_first_only_if_it_says_so(deployment: Deployment) -> None:
    url = deployment.requests_url
    plain = deployment.api.call("POST", url, {"request_json": CUSTOMER}).json["data"]
    looking = deployment.api.call("POST", url, RETURN).json["data"]
    batch = deployment.api.call("POST", f"{url}/batch", {"requests": [RETURN, {"request_json": CUSTOMER}]}).json["data"]

    shown = [(one["if_exists"], one["outcome"], one["messages"]) for one in (plain, looking, *batch)]
    assert shown == [("fail", None, None), ("return", None, []), ("return", None, []), ("fail", None, None)]


@pytest.mark.parametrize(
    ("request_json", "message"),
    [
        ({"CustomerQueryRq": {}}, "is not an addition"),
        ({"InvoiceAddRq": {"InvoiceAdd": {"CustomerRef": {"ListID": "1-2"}}}}, "must have RefNumber"),
        ({"DepositAddRq": {"DepositAdd": {"TxnDate": "2026-01-01", "DepositToAccountRef": {"ListID": "1-2"}}}}, "by a"),
    ],
)
def test_a_request_without_an_identity_is_refused(
    deployment: Deployment, request_json: dict[str, Any], message: str
) -> None:
    body = {"request_json": request_json, "if_exists": "return"}
    alone = deployment.api.call("POST", deployment.requests_url, body)
    batch = deployment.api.call("POST", f"{deployment.requests_url}/batch", {"requests": [RETURN, body]})

    (problem,) = alone.json["error"]["details"]["problems"]
    assert (alone.status, problem["field"]) == (400, "if_exists")
    assert message in problem["message"]
    assert batch.json["error"]["details"]["problems"][0]["index"] == 1


def test_a_key_that_is_older_than_the_option_still_names_its_request(deployment: Deployment) -> None:
    headers = {"Idempotency-Key": "order-7"}
    body = {"request_json": CUSTOMER}
    first = deployment.api.call("POST", deployment.requests_url, body, headers=headers)
    again = deployment.api.call("POST", deployment.requests_url, {**body, "if_exists": "fail"}, headers=headers)
    other = deployment.api.call("POST", deployment.requests_url, RETURN, headers=headers)

    assert again.json["data"]["id"] == first.json["data"]["id"]
    assert other.json["error"]["code"] == "idempotency_key_reused"


def test_a_copy_keeps_if_exists(deployment: Deployment) -> None:
    record = deployment.api.call("POST", deployment.requests_url, RETURN).json["data"]
    deployment.refuse(record["id"])

    copy = deployment.api.call("POST", f"/api/v1/queued_requests/{record['id']}/queue_again").json["data"]

    assert copy["if_exists"] == IfExists.RETURN
    assert copy["id"] != record["id"]


UPDATE = {
    "request_json": {"CustomerAddRq": {"CustomerAdd": {"Name": "Ada", "Phone": "1", "OpenBalance": "5.00"}}},
    "if_exists": "update",
}


def test_a_record_names_the_fields_that_an_update_does_not_compare(deployment: Deployment) -> None:
    record = deployment.api.call("POST", deployment.requests_url, UPDATE).json["data"]
    looking = deployment.api.call("POST", deployment.requests_url, RETURN).json["data"]

    assert (record["if_exists"], record["not_compared"]) == ("update", ["OpenBalance"])
    assert looking["not_compared"] is None


@pytest.mark.parametrize(
    ("version", "request_json", "message"),
    [
        (
            "13.0",
            {"InvoiceAddRq": {"InvoiceAdd": {"CustomerRef": {"ListID": "1-2"}, "RefNumber": "7"}}},
            "no InvoiceModRq for the objects of a list",
        ),
        ("13.0", {"CustomerTypeAddRq": {"CustomerTypeAdd": {"Name": "Shops"}}}, "no CustomerTypeModRq"),
        ("7.0", {"ClassAddRq": {"ClassAdd": {"Name": "East"}}}, "QBXML 7.0 has no ClassModRq"),
    ],
)
def test_an_update_of_a_type_without_a_mod_is_refused(
    deployment: Deployment, version: str, request_json: dict[str, Any], message: str
) -> None:
    body = {"request_json": {**request_json, "version": version}, "if_exists": "update"}
    answer = deployment.api.call("POST", deployment.requests_url, body)

    (problem,) = answer.json["error"]["details"]["problems"]
    assert (answer.status, problem["field"]) == (400, "if_exists")
    assert message in problem["message"]


def test_an_update_that_needs_approval_asks_first(deployment: Deployment) -> None:
    body = {**UPDATE, "approval": "required"}
    record = deployment.api.call("POST", deployment.requests_url, body).json["data"]
    key = deployment.administration.create_key(deployment.app_id, Scope.APPROVE)
    early = ApiClient(key.text).call(
        "POST", f"/api/v1/queued_requests/{record['id']}/approve", {"revision": record["approval"]["revision"] or 1}
    )

    assert (record["approval"]["revision"], record["send_by"], record["modification"]) == (None, None, None)
    assert record["waiting_reason"]["code"] != "approval"
    assert early.json["error"]["code"] == "invalid_state"
    assert "QuickBooks is asked first" in early.json["error"]["message"]


def test_the_record_shows_the_mod_that_waits_for_approval(deployment: Deployment) -> None:
    record = deployment.api.call("POST", deployment.requests_url, {**UPDATE, "approval": "required"}).json["data"]
    before = deployment.stored_record(record["id"])
    changes = (FieldChange("Phone", None, "1"), FieldChange("BillAddress/City", "Ulm", ""))
    after = replace(before, lookup=before.lookup and before.lookup.modifying("a" * 20))
    after = after.awaiting_approval_again(deployment.clock()).changed(deployment.clock())
    mod = (
        f'<QBXML><QBXMLMsgsRq onError="stopOnError"><CustomerModRq requestID="mod-{"a" * 20}"><CustomerMod>'
        "<ListID>80-1</ListID><EditSequence>5</EditSequence><Phone>1</Phone></CustomerMod></CustomerModRq></QBXMLMsgsRq>"
        "</QBXML>"
    )
    deployment.store.commit(ChangeRequest(before, after, modification_xml=mod, field_changes=changes))

    shown = deployment.api.call("GET", f"/api/v1/queued_requests/{record['id']}").json["data"]

    assert shown["modification"] == {
        "list_id": "80-1",
        "edit_sequence": "5",
        "changes": [
            {"field": "Phone", "old": None, "new": "1"},
            {"field": "BillAddress/City", "old": "Ulm", "new": ""},
        ],
        "request_xml": mod,
    }
    assert shown["waiting_reason"]["code"] == "approval"
    assert shown["approval"]["revision"] == after.revision


def test_updates_that_need_approval_are_queued_again_and_wait_anew(deployment: Deployment) -> None:
    record = deployment.api.call("POST", deployment.requests_url, {**UPDATE, "approval": "required"}).json["data"]
    deployment.refuse(record["id"])

    body = {"filter": {"state": "error"}}
    again = deployment.api.call("POST", f"{deployment.requests_url}/queue_again", body)

    assert (again.json["data"]["queued"], again.json["data"]["left_out"]) == (1, 0), again.json
