"""`send_by` and `send_within` of calls that queue: what they accept, what the record shows, and repeated calls."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pytest

from domain.send_by import MAX_SECONDS, MIN_SECONDS
from domain.timestamps import timestamp
from tests.support.builders import CONNECTION_ID, NOON, REQUEST_XML

if TYPE_CHECKING:
    from tests.integration.api.conftest import Deployment
    from tests.support.api_response import ApiResponse

QUERY = f"/api/v1/connections/{CONNECTION_ID}/customers"
CALLS = ("create", "batch", "request of a batch", "query")


def call(deployment: Deployment, how: str, given: dict[str, Any], key: str | None = None) -> ApiResponse:
    """Queue a request with these members in one of the ways."""
    headers = {"Idempotency-Key": key} if key else {}
    request = {"request_xml": REQUEST_XML}
    if how == "query":
        return deployment.api.call("POST", f"{QUERY}?{urlencode(given)}", headers=headers)
    url, body = deployment.requests_url, request | given
    if how != "create":
        url += "/batch"
        body = {"requests": [request], **given} if how == "batch" else {"requests": [request | given]}
    return deployment.api.call("POST", url, body, headers=headers)


def record_of(answer: ApiResponse) -> dict[str, Any]:
    """Return the record in an answer to one of the calls."""
    data = answer.json["data"]
    record: dict[str, Any] = data[0] if isinstance(data, list) else data
    return record


def ahead(seconds: float) -> str:
    """Return a time from the present of the functions on."""
    return timestamp(NOON + timedelta(seconds=seconds))


@pytest.mark.parametrize("how", CALLS)
def test_the_record_has_the_time_in_whole_seconds(deployment: Deployment, how: str) -> None:
    time = ahead(3_600)

    record = record_of(call(deployment, how, {"send_by": time}))

    assert record["send_by"] == f"{time[:19]}.000000Z"
    read = deployment.api.call("GET", f"/api/v1/queued_requests/{record['id']}")
    assert read.json["data"]["send_by"] == record["send_by"]


@pytest.mark.parametrize("how", CALLS)
@pytest.mark.parametrize("seconds", [MIN_SECONDS, MAX_SECONDS])
def test_seconds_count_from_the_call_on(deployment: Deployment, how: str, seconds: int) -> None:
    record = record_of(call(deployment, how, {"send_within": seconds}))

    assert record["send_by"] == ahead(seconds)


def test_a_request_of_a_batch_keeps_its_own_time(deployment: Deployment) -> None:
    own, of_all = ahead(3_600), ahead(7_200)
    body = {"send_by": of_all, "requests": [{"request_xml": REQUEST_XML, "send_by": own}, {"request_xml": REQUEST_XML}]}

    answer = deployment.api.call("POST", f"{deployment.requests_url}/batch", body)

    assert [record["send_by"][:19] for record in answer.json["data"]] == [own[:19], of_all[:19]]


@pytest.mark.parametrize("how", CALLS)
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"send_by": "2020-03-14T18:00:00Z"}, "is in the past"),
        ({"send_by": ahead(30)}, "60 seconds ahead"),
        ({"send_by": "9999-03-14T18:00:00Z"}, "at most 366 days ahead"),
        ({"send_by": "tomorrow"}, "time with a time zone"),
        ({"send_within": MIN_SECONDS - 1}, "60"),
        ({"send_within": MAX_SECONDS + 1}, "31"),
        ({"send_by": ahead(3_600), "send_within": 60}, "together with send_by"),
    ],
    ids=["past", "soon", "far", "words", "short", "long", "both"],
)
def test_a_time_that_cannot_be_meant_is_refused(
    deployment: Deployment, how: str, given: dict[str, Any], message: str
) -> None:
    answer = call(deployment, how, given)

    assert answer.status == 400
    (problem,) = answer.json["error"]["details"]["problems"]
    assert message in problem["message"]
    assert problem["field"].rpartition(".")[2] in given
    assert deployment.store.queue_front(CONNECTION_ID, 10) == []


@pytest.mark.parametrize("how", CALLS)
def test_a_repeated_call_returns_its_record_after_the_time(deployment: Deployment, how: str) -> None:
    time = ahead(3_600)
    first = record_of(call(deployment, how, {"send_by": time}, "once"))
    deployment.clock.advance(seconds=3_600)

    repeated = call(deployment, how, {"send_by": time}, "once")

    assert repeated.status == 200
    assert record_of(repeated)["id"] == first["id"]
    assert call(deployment, how, {"send_by": time}, "another").status == 400
    assert call(deployment, how, {"send_by": ahead(7_200)}, "once").status == 409


def test_a_key_that_was_used_before_the_members_existed_still_returns_its_record(deployment: Deployment) -> None:
    """The hash of a body without them is the one of an earlier version."""
    body = {"request_xml": REQUEST_XML}
    first = deployment.api.call("POST", deployment.requests_url, body, headers={"Idempotency-Key": "k"})
    null = {"send_by": None, "send_within": None}

    repeated = deployment.api.call("POST", deployment.requests_url, body | null, headers={"Idempotency-Key": "k"})

    assert repeated.status == 200
    assert record_of(repeated)["id"] == record_of(first)["id"]
