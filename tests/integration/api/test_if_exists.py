"""`if_exists` of calls that queue: what it accepts, what the record shows, and what a copy keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from domain.records.lookup import IfExists

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
