"""Client libraries that were written for such services work unmodified."""

from __future__ import annotations

import base64
import json
import urllib.request
from typing import TYPE_CHECKING

from tests.e2e.support import QUERY

if TYPE_CHECKING:
    from tests.e2e.support import Service


def test_the_body_may_be_wrapped_in_queued_request(service: Service) -> None:
    connection = service.connection()
    # Such clients build the whole tree from QBXML down and pass it as an array.
    request = {"name": "CustomerQueryRq", "attributes": {"requestID": "7"}, "children": []}
    tree = [{"name": "QBXML", "children": [{"name": "QBXMLMsgsRq", "children": [request]}]}]

    record = connection.queue({"queued_request": {"request_json": {"request": tree}, "webhook_url": None}})

    assert record["request_json"]["request"]["attributes"]["request_id"] == "7"
    assert record["state"] == "waiting"


def test_post_returns_the_qwc_file_too(service: Service) -> None:
    connection = service.connection()

    from_get = service.call("GET", f"{connection.path}/qwc")
    from_post = service.call("POST", f"{connection.path}/qwc")

    assert from_get.status == from_post.status == 200
    assert from_get.json["qwc"] == from_post.json["qwc"]
    assert "<QBWCXML" in from_post.json["qwc"]


def test_the_user_name_is_the_key_and_the_password_is_empty(service: Service) -> None:
    credential = base64.b64encode(f"{service.api_key}:".encode()).decode()
    request = urllib.request.Request(  # noqa: S310 - the stack's own URL
        f"{service.base_url}/api/v1/connections", headers={"Authorization": f"Basic {credential}"}
    )

    with urllib.request.urlopen(request) as response:  # noqa: S310 - the stack's own URL
        assert response.status == 200
        assert "data" in json.load(response)


def test_header_names_may_be_in_any_case(service: Service) -> None:
    connection = service.connection()
    body = json.dumps({"request_json": QUERY}).encode()
    headers = {"content-TYPE": "application/json", "idempotency-KEY": "a-1"}

    first = service.call("POST", f"{connection.path}/queued_requests", body, headers=headers)
    again = service.call("POST", f"{connection.path}/queued_requests", body, headers=headers)

    assert (first.status, again.status) == (201, 200)
    assert first.json["data"]["id"] == again.json["data"]["id"]
