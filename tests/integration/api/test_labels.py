"""Labels and metadata: what a caller gives to a request comes back, and lists can be filtered by it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pytest

from domain.records.request import Paging, State
from domain.storage.changes import AddRequest
from handlers.views.webhook_event import event_body
from tests.support.builders import APP_ID, CONNECTION_ID, REQUEST_XML, a_record

if TYPE_CHECKING:
    from tests.integration.api.conftest import Deployment

LABEL = "nächtlich 夜 #7 & more"
METADATA = {"order": "1007", "ключ": "значение\n😀", "empty": ""}


def listed(deployment: Deployment, **parameters: Any) -> tuple[list[str], int]:
    """Return the ids of a page of the list, and the number of pages."""
    page = deployment.api.call("GET", f"{deployment.requests_url}?{urlencode(parameters)}")
    assert page.status == 200, page.json
    return [item["id"] for item in page.json["data"]], page.json["total_pages"]


def test_a_label_and_metadata_are_in_the_record_and_the_event_and_the_label_in_the_list(deployment: Deployment) -> None:
    queued = deployment.queue(label=LABEL, metadata=METADATA)
    deployment.end(queued["id"])

    record = deployment.api.call("GET", queued["links"]["self"]).json["data"]
    (item,) = deployment.api.call("GET", deployment.requests_url).json["data"]
    detail = deployment.store.request_detail(queued["id"])
    event = json.loads(event_body(detail.stored, "2026-03-14T12:00:00.000000Z"))  # type: ignore[union-attr]

    assert {(view["label"], json.dumps(view["metadata"])) for view in (queued, record, event)} == {
        (LABEL, json.dumps(METADATA))
    }
    assert (item["label"], "metadata" in item) == (LABEL, False)


def test_a_request_without_them_has_no_label_and_no_metadata(deployment: Deployment) -> None:
    queued = deployment.queue(label=None, metadata={})

    assert (queued["label"], queued["metadata"]) == (None, {})


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_convenience_query_takes_a_label_and_metadata(deployment: Deployment, method: str) -> None:
    parameters = urlencode({"label": LABEL, "metadata": json.dumps(METADATA)})

    queued = deployment.api.call(method, f"/api/v1/connections/{CONNECTION_ID}/customers?{parameters}")

    assert queued.status == 202
    assert (queued.json["data"]["label"], queued.json["data"]["metadata"]) == (LABEL, METADATA)


def test_a_repeated_call_with_an_idempotency_key_needs_the_same_label_and_metadata(deployment: Deployment) -> None:
    body = {"request_xml": REQUEST_XML, "label": LABEL, "metadata": METADATA}
    headers = {"Idempotency-Key": "order-17"}
    changes: list[dict[str, Any]] = [{"label": "other"}, {"metadata": {}}]

    first, second = (deployment.api.call("POST", deployment.requests_url, body, headers=headers) for _ in range(2))
    others = [deployment.api.call("POST", deployment.requests_url, body | other, headers=headers) for other in changes]

    assert (first.status, second.status) == (201, 200)
    assert second.json["data"] == first.json["data"]
    assert [other.status for other in others] == [409, 409]


def test_lists_are_filtered_by_label_and_by_query_in_combination_with_the_other_filters(deployment: Deployment) -> None:
    waiting, ended = (deployment.queue(label="run 7")["id"] for _ in range(2))
    other = deployment.queue(label="run 8")["id"]
    deployment.end(ended)
    later = {"inserted_at": "2026-03-14T13:00:00.000000Z", "updated_at": "2026-03-14T13:00:00.000000Z"}
    page = a_record(app_id=deployment.app_id, state=State.ERROR, paging=Paging(2, ended), label="run 7", **later)
    deployment.store.commit(AddRequest(page, REQUEST_XML, "alpha"))

    assert listed(deployment, label="run 7", page_size=2, sort_direction="asc") == ([waiting, ended], 2)
    assert listed(deployment, label="run 7", page_size=2, page=2, sort_direction="asc") == ([page.id], 2)
    assert listed(deployment, label="Run 7") == ([], 0)
    assert listed(deployment, label="run 7", state="error") == ([page.id], 1)
    assert listed(deployment, label="run 7", search_phrase="alpha") == ([page.id], 1)
    assert listed(deployment, label="run 8", sort="updated_at") == ([other], 1)
    assert listed(deployment, query_id=ended) == ([page.id, ended], 1)
    assert listed(deployment, query_id=ended, state="response_received") == ([ended], 1)
    assert listed(deployment, query_id=other, label="run 8") == ([other], 1)
    assert listed(deployment, query_id=page.id) == ([], 0)


def test_another_connections_query_is_not_found_by_its_id(deployment: Deployment) -> None:
    record = a_record(app_id=APP_ID, connection_id="c0000000-0000-4000-8000-000000000099", label="nightly")
    deployment.queue()
    deployment.store.commit(AddRequest(record, REQUEST_XML, ""))

    assert listed(deployment, query_id=record.id) == ([], 0)
    assert listed(deployment, label="nightly") == ([], 0)


def test_nothing_finds_the_label_and_the_metadata_of_a_deleted_request(deployment: Deployment) -> None:
    queued = deployment.queue(label="secret label", metadata={"secret": "metadata"})
    deployment.api.call("DELETE", f"{queued['links']['self']}?force=true")

    assert listed(deployment, label="secret label") == ([], 0)
    assert listed(deployment, query_id=queued["id"]) == ([], 0)
    assert "secret" not in repr(vars(deployment.store)["records"]) + repr(vars(deployment.store)["bodies"])


TOO_MANY = {f"name {number}": "" for number in range(21)}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("label", ""),
        ("label", "x" * 51),
        ("label", "two\nlines"),
        ("label", 7),
        ("metadata", TOO_MANY),
        ("metadata", {"name": "x" * 2045}),
        ("metadata", {"name": "é" * 1023}),
        ("metadata", {"name": 7}),
        ("metadata", {"name": None}),
        ("metadata", {"": "no name"}),
        ("metadata", {"a": {"nested": "object"}}),
        ("metadata", ["a", "list"]),
        ("metadata", "text"),
    ],
)
def test_a_label_or_metadata_out_of_bounds_is_refused_by_its_name(
    deployment: Deployment, field: str, value: object
) -> None:
    body = deployment.api.call("POST", deployment.requests_url, {"request_xml": REQUEST_XML, field: value})
    text = value if isinstance(value, str) and field == "label" else json.dumps(value)
    query = deployment.api.call(
        "POST", f"/api/v1/connections/{CONNECTION_ID}/customers?{urlencode({field: text})}", None
    )

    assert [problem["field"] for problem in body.json["error"]["details"]["problems"]] == [field]
    assert body.status == 400
    if value != 7 or field != "label":  # in a URL it is text
        assert query.status == 400
        assert [problem["field"] for problem in query.json["error"]["details"]["problems"]] == [field]
        assert deployment.store.records == {}


@pytest.mark.parametrize(
    "text",
    ["{", '{"a":"b","a":"c"}', "[" * 10_000, '{"a":"\\ud800"}', '{"a":' + "9" * 5_000 + "}", "{" * 20_000, "null"],
)
def test_metadata_of_a_query_that_is_not_an_object_of_strings_is_refused(deployment: Deployment, text: str) -> None:
    answer = deployment.api.call(
        "POST", f"/api/v1/connections/{CONNECTION_ID}/customers?{urlencode({'metadata': text})}", None
    )

    assert answer.status == 400
    assert [problem["field"] for problem in answer.json["error"]["details"]["problems"]] == ["metadata"]


def test_the_member_of_metadata_that_is_not_a_string_is_named(deployment: Deployment) -> None:
    body = {"request_xml": REQUEST_XML, "metadata": {"shop": "north", "order": 7}}

    response = deployment.api.call("POST", deployment.requests_url, body)

    assert response.problem["message"].endswith("It has the member 'order', which is not a string")


def test_the_largest_label_and_metadata_are_accepted(deployment: Deployment) -> None:
    metadata = {f"{number:02}": "x" * 100 for number in range(20)} | {"00": "x" * 108}

    queued = deployment.queue(label="夜" * 50, metadata=metadata)

    assert (queued["label"], queued["metadata"]) == ("夜" * 50, metadata)
    assert listed(deployment, label="夜" * 50) == ([queued["id"]], 1)


@pytest.mark.parametrize("parameters", [{"label": ""}, {"label": "x" * 51}, {"query_id": "1"}, {"query_id": ""}])
def test_a_filter_that_matches_nothing_by_its_form_is_refused(
    deployment: Deployment, parameters: dict[str, str]
) -> None:
    answer = deployment.api.call("GET", f"{deployment.requests_url}?{urlencode(parameters)}")

    assert answer.status == 400
    assert [problem["field"] for problem in answer.json["error"]["details"]["problems"]] == list(parameters)
