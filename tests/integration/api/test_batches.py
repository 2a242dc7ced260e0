"""Several requests are queued in one call: all of them in their order, or none."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from domain.records.batch import MAX_REQUESTS, ids_of_batch, position_of
from tests.support.builders import CONNECTION_ID, REQUEST_XML

if TYPE_CHECKING:
    from tests.integration.api.conftest import Deployment


def customer(name: str, **fields: Any) -> dict[str, Any]:
    """Return a request that adds a customer."""
    return {"request_json": {"CustomerAddRq": {"CustomerAdd": {"Name": name}}}} | fields


def problems(response: Any) -> list[tuple[int | None, str]]:
    """Return the index and the field of each problem of a refused call."""
    assert response.status == 400
    return [(problem.get("index"), problem["field"]) for problem in response.json["error"]["details"]["problems"]]


@pytest.fixture
def url(deployment: Deployment) -> str:
    """Return the URL of batches."""
    return f"{deployment.requests_url}/batch"


@pytest.mark.parametrize("number", [1, 2, MAX_REQUESTS])
def test_a_batch_is_queued_in_its_order(deployment: Deployment, url: str, number: int) -> None:
    before = deployment.queue()["id"]

    response = deployment.api.call("POST", url, {"requests": [customer(f"Ann {i}") for i in range(number)]})

    assert response.status == 201
    ids = [record["id"] for record in response.json["data"]]
    assert len(set(ids)) == number
    assert [f"Ann {i}" in record["request_xml"] for i, record in enumerate(response.json["data"])] == [True] * number
    assert [record.id for record in deployment.store.queue_front(CONNECTION_ID, 100)] == [before, *ids]
    assert {record["state"] for record in response.json["data"]} == {"waiting"}
    (listed,) = {deployment.api.call("GET", deployment.requests_url).json["counts"]["waiting"]}
    assert listed == number + 1


def test_each_request_of_a_batch_has_its_own_options(deployment: Deployment, url: str) -> None:
    batch = [
        customer("Ann", webhook_url=None),
        {"request_xml": REQUEST_XML, "webhook_url": "https://example.com/other"},
        {"queued_request": {"request_json": {"CustomerQueryRq": {}}, "iterate": "auto"}},
    ]

    records = deployment.api.call("POST", url, {"requests": batch}).json["data"]

    assert [record["webhook_url"] for record in records] == [None, "https://example.com/other", None]
    assert deployment.stored_record(records[2]["id"]).paging.may_begin


def test_if_one_request_is_wrong_none_is_queued_and_each_problem_has_its_index(
    deployment: Deployment, url: str
) -> None:
    batch = [
        customer("Ann"),
        {"request_json": {"CustomerAddRq": {"CustomerAdd": {"Nam": "Ada"}}}},
        customer("Bob", webhook_url="http://[::"),
        {},
    ]

    response = deployment.api.call("POST", url, {"requests": batch})

    assert {index for index, _ in problems(response)} == {1, 3}
    assert response.json["error"]["message"].startswith("requests[1]: request_json: ")
    batch[1] = batch[3] = customer("Eve")
    assert problems(deployment.api.call("POST", url, {"requests": batch})) == [(2, "webhook_url")]
    assert deployment.store.queue_front(CONNECTION_ID, 10) == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"requests": []}, [(None, "requests")]),
        ({"requests": [{}] * 26}, [(None, "requests")]),
        ({"requests": {}}, [(None, "requests")]),
        ({"requests": [customer("Ann"), "text"]}, [(1, "requests")]),
        ({"requests": [customer("Ann"), {"request_xml": 5}]}, [(1, "request_xml")]),
        ({"requests": [customer("Ann", webhok_url="x")]}, [(0, "webhok_url")]),
        ({"requests": [customer("Ann")], "ref": "x"}, [(None, "ref")]),
        ({}, [(None, "requests")]),
    ],
)
def test_a_problem_with_the_body_names_the_field_and_the_request(
    deployment: Deployment, url: str, body: dict[str, Any], expected: list[tuple[int | None, str]]
) -> None:
    assert problems(deployment.api.call("POST", url, body)) == expected


def test_a_misspelled_field_of_a_request_is_recognised(deployment: Deployment, url: str) -> None:
    response = deployment.api.call("POST", url, {"requests": [customer("Ann", webhok_url="x")]})

    (problem,) = response.json["error"]["details"]["problems"]
    assert problem["suggestion"] == "Did you mean webhook_url?"


def test_a_request_of_a_newer_version_is_refused_with_its_index(deployment: Deployment, url: str) -> None:
    connection = deployment.store.connections[CONNECTION_ID]
    deployment.store.connections[CONNECTION_ID] = replace(connection, qbxml_version="13.0").changed(
        connection.updated_at
    )
    newer = {"request_json": {"version": "16.0", "request": {"name": "HostQueryRq"}}}

    response = deployment.api.call("POST", url, {"requests": [customer("Ann"), newer]})

    assert (response.status, response.json["error"]["code"]) == (400, "unsupported_by_version")
    assert response.json["error"]["details"]["index"] == 1


def test_requests_that_take_too_many_bytes_together_are_refused(deployment: Deployment, url: str) -> None:
    names = [{"request_json": {"CustomerQueryRq": {"FullName": ["n"] * 40_000}}} for _ in range(3)]

    response = deployment.api.call("POST", url, {"requests": names})

    assert (response.status, response.json["error"]["code"]) == (413, "request_too_large")
    assert "together" in response.json["error"]["message"]


def test_a_large_batch_is_answered_with_both_forms_or_says_what_is_left_out(deployment: Deployment, url: str) -> None:
    name = {"request_json": {"CustomerQueryRq": {"FullName": ["\N{LATIN SMALL LETTER E WITH ACUTE}" * 205] * 95}}}

    text = json.dumps({"requests": [name] * 24}, ensure_ascii=False)

    response = deployment.api.call("POST", url, text=text)

    assert response.status == 201
    assert all(record["request_xml"].count("FullName") == 190 for record in response.json["data"])
    assert any(record.get("request_json_omitted") for record in response.json["data"])
    for record in response.json["data"]:
        assert (record["request_json"] is None) == record.get("request_json_omitted", False)


class TestIdempotency:
    """A call that is repeated with the same key."""

    def test_it_returns_the_first_records(self, deployment: Deployment, url: str) -> None:
        body = {"requests": [customer("Ann"), customer("Bob")]}
        headers = {"Idempotency-Key": "order-17"}
        first = deployment.api.call("POST", url, body, headers=headers)
        deployment.end(first.json["data"][0]["id"])

        second = deployment.api.call("POST", url, body, headers=headers)

        assert (first.status, second.status) == (201, 200)
        assert [record["id"] for record in second.json["data"]] == [record["id"] for record in first.json["data"]]
        assert [record["state"] for record in second.json["data"]] == ["response_received", "waiting"]
        assert second.json["data"][0]["response_json"]
        assert len(deployment.store.records) == 2

    def test_a_batch_of_one_is_a_batch(self, deployment: Deployment, url: str) -> None:
        headers = {"Idempotency-Key": "order-17"}
        first, second = (
            deployment.api.call("POST", url, {"requests": [customer("Ann")]}, headers=headers) for _ in range(2)
        )

        assert second.json["data"][0]["id"] == first.json["data"][0]["id"]

    @pytest.mark.parametrize("other", [[customer("Ann")], [customer("Bob"), customer("Ann")]])
    def test_another_body_is_refused(self, deployment: Deployment, url: str, other: list[Any]) -> None:
        headers = {"Idempotency-Key": "order-17"}
        deployment.api.call("POST", url, {"requests": [customer("Ann"), customer("Bob")]}, headers=headers)

        response = deployment.api.call("POST", url, {"requests": other}, headers=headers)

        assert (response.status, response.json["error"]["code"]) == (409, "idempotency_key_reused")

    def test_after_a_deletion_it_returns_410(self, deployment: Deployment, url: str) -> None:
        body, headers = {"requests": [customer("Ann"), customer("Bob")]}, {"Idempotency-Key": "order-17"}
        ids = [record["id"] for record in deployment.api.call("POST", url, body, headers=headers).json["data"]]
        deployment.api.call("DELETE", f"/api/v1/queued_requests/{ids[1]}?force=true")

        response = deployment.api.call("POST", url, body, headers=headers)

        assert response.status == 410
        details = response.json["error"]["details"]
        assert details["record_ids"] == ids
        assert details["deleted_at"]


def test_the_ids_of_a_batch_tell_their_positions_and_share_no_message_set(deployment: Deployment, url: str) -> None:
    batch = deployment.api.call("POST", url, {"requests": [customer("Ann")] * MAX_REQUESTS}).json["data"]

    ids = [record["id"] for record in batch]
    assert [position_of(request_id) for request_id in ids] == list(range(MAX_REQUESTS))
    assert all(ids_of_batch(request_id, MAX_REQUESTS) == ids for request_id in ids)
    assert len({deployment.stored_record(request_id).message_set_id for request_id in ids}) == MAX_REQUESTS


def test_a_read_only_key_and_another_app_cannot_queue_a_batch(deployment: Deployment, url: str) -> None:
    body = {"requests": [customer("Ann")]}

    assert deployment.readonly.call("POST", url, body).status == 403
    assert deployment.stranger.call("POST", url, body).status == 404
