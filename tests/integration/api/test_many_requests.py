"""Many requests of a connection in one call: discard them, and send their webhooks again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pytest

from domain.records.request import State
from domain.records.webhook import Webhook, WebhookState
from domain.timestamps import timestamp
from tests.integration.api.test_limits import refusal, set_limits
from tests.support.builders import CONNECTION_ID, NOON, REQUEST_XML
from tests.support.cases import for_each

if TYPE_CHECKING:
    from tests.integration.api.conftest import Deployment
    from tests.support.api_response import ApiResponse

UNKNOWN_ID = "d0000000-0000-4000-8000-00000000000f"
HOOK = "https://shop.example/hooks"
DISCARD = f"/api/v1/connections/{CONNECTION_ID}/queued_requests/discard"
QUEUE_AGAIN = f"/api/v1/connections/{CONNECTION_ID}/queued_requests/queue_again"
REDELIVER = f"/api/v1/connections/{CONNECTION_ID}/redeliver"


def discard(deployment: Deployment, which: dict[str, Any], **members: Any) -> ApiResponse:
    """Discard the requests that a filter matches, a second later."""
    deployment.clock.advance(seconds=1)
    return deployment.api.call("POST", DISCARD, {"filter": which} | members)


def ids_listed(deployment: Deployment, which: dict[str, Any]) -> list[str]:
    """Return the ids that a list with the same filter has."""
    texts = {name: json.dumps(value).strip('"') for name, value in which.items() if value is not None}
    query = urlencode(texts)
    answer = deployment.api.call("GET", f"/api/v1/connections/{CONNECTION_ID}/queued_requests?{query}")
    assert answer.status == 200, answer.json
    return [item["id"] for item in answer.json["data"]]


def state_of(deployment: Deployment, request: dict[str, Any]) -> State:
    """Return the state of a request."""
    return deployment.stored_record(request["id"]).state


def test_the_requests_that_match_are_discarded_and_counted(deployment: Deployment) -> None:
    mine = [deployment.queue(label=f"import-7-{number}") for number in range(3)]
    other = deployment.queue(label="import-8-0")

    planned = discard(deployment, {"label_prefix": "import-7-"}, dry_run=True)
    done = discard(deployment, {"label_prefix": "import-7-"})
    again = discard(deployment, {"label_prefix": "import-7-"})

    assert planned.status == done.status == 200
    assert planned.json == done.json == {"data": {"discarded": 3, "in_flight": 0, "has_dependants": 0}, "next": None}
    assert again.json["data"]["discarded"] == 0
    assert [state_of(deployment, request) for request in mine] == [State.DISCARDED] * 3
    assert state_of(deployment, other) is State.WAITING


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        ({"state": "waiting"}, [True, True, True]),
        ({"webhook_state": "pending"}, [False, True, False]),
        ({"webhook_retrying": False, "webhook_state": "pending"}, [False, True, False]),
        ({"webhook_retrying": True}, [False, False, False]),
        ({"webhook_failing": False}, [True, True, True]),
        ({"webhook_failing": True}, [False, False, False]),
        ({"sent_since": "2026-03-14T00:00:00Z"}, [False, False, False]),
        ({"sent_before": "2026-03-15T00:00:00Z"}, [False, False, False]),
        ({"request_name": "CustomerQueryRq"}, [True, True, True]),
        ({"request_name": "InvoiceAddRq"}, [False, False, False]),
        ({"label": "b"}, [False, False, True]),
        ({"to": "2026-03-14T13:00:00+01:00"}, [False, False, False]),
        ({"to": "2026-03-14T13:00:00Z", "label_prefix": "b"}, [False, False, True]),
        ({"from": "2026-03-14T12:00:00Z", "to": "2026-03-14T12:00:01Z"}, [True, True, True]),
        ({"from": "2026-03-14T12:00:01Z"}, [False, False, False]),
        ({"updated_since": "2026-03-14T12:00:00Z", "updated_before": "2026-03-14T12:00:01Z"}, [True, True, True]),
        ({"updated_before": "2026-03-14T12:00:00Z"}, [False, False, False]),
        ({"state": "sent"}, [False, False, False]),
        ({"state": "waiting", "label": "a", "webhook_state": None}, [True, False, False]),
    ],
)
def test_a_request_is_listed_and_meant_if_it_meets_every_condition(
    deployment: Deployment, which: dict[str, Any], expected: list[bool]
) -> None:
    requests = [deployment.queue(label="a"), deployment.queue(webhook_url=HOOK), deployment.queue(label="b")]

    for sort in ("inserted_at", "updated_at"):
        listed = ids_listed(deployment, which | {"sort": sort})
        assert [request["id"] in listed for request in requests] == expected
    response = discard(deployment, which)

    assert [state_of(deployment, request) is State.DISCARDED for request in requests] == expected
    assert response.json["data"] == {"discarded": sum(expected), "in_flight": 0, "has_dependants": 0}


def test_a_query_is_discarded_by_its_id(deployment: Deployment) -> None:
    first, other = deployment.queue(), deployment.queue()

    response = discard(deployment, {"query_id": first["query_id"]})

    assert response.json["data"]["discarded"] == 1
    assert state_of(deployment, other) is State.WAITING


@for_each(
    ("body", "field"),
    [
        ({"filter": {}}, "filter"),
        ({"filter": {"state": None}}, "filter"),
        ({}, "filter"),
        ({"filter": {"state": "nothing"}}, "filter.state"),
        ({"filter": {"to": "2026-03-14T12:00:00"}}, "filter.to"),
        ({"filter": {"to": "2026-03-14"}}, "filter.to"),
        ({"filter": {"to": 1773489600}}, "filter.to"),
        (
            {"filter": {"from": "2026-03-15T12:00:00Z", "to": "2026-03-14T12:00:00Z"}},
            "filter.to",
        ),
        (
            {"filter": {"updated_since": "2026-03-15T12:00:00Z", "updated_before": "2026-03-14T12:00:00Z"}},
            "filter.updated_before",
        ),
        ({"filter": {"ids": []}}, "filter.ids"),
        ({"filter": {"ids": ["x"]}}, "filter.ids.0"),
        ({"filter": {"ids": [UNKNOWN_ID] * 101}}, "filter.ids"),
        ({"filter": {"label_prefix": ""}}, "filter.label_prefix"),
        ({"filter": {"webhook_retrying": "true"}}, "filter.webhook_retrying"),
        ({"filter": {"query_id": "x"}}, "filter.query_id"),
        ({"filter": {"search_phrase": "Ann"}}, "filter.search_phrase"),
        ({"filter": {"state": "waiting"}, "cursor": "x"}, "cursor"),
        ({"filter": {"state": "waiting"}, "cursor": "x" * 301}, "cursor"),
        ({"filter": {"state": "waiting"}, "dry_run": "yes"}, "dry_run"),
        ({"state": "waiting"}, "filter"),
    ],
)
def test_a_wrong_filter_is_refused_and_nothing_is_discarded(
    deployment: Deployment, body: dict[str, Any], field: str
) -> None:
    request = deployment.queue()

    response = deployment.api.call("POST", DISCARD, body)

    assert (response.status, response.code) == (400, "invalid_request")
    assert field in {problem["field"] for problem in response.json["error"]["details"]["problems"]}
    assert state_of(deployment, request) is State.WAITING


def test_only_the_chosen_requests_of_this_connection_are_discarded(deployment: Deployment) -> None:
    requests = [deployment.queue() for _ in range(3)]
    connection = deployment.api.call("POST", "/api/v1/connections", {"name": "Other"}).json["data"]["id"]
    url = f"/api/v1/connections/{connection}/queued_requests"
    other = deployment.api.call("POST", url, {"request_xml": REQUEST_XML}).json["data"]
    ids = [requests[2]["id"], requests[0]["id"], requests[0]["id"], other["id"], UNKNOWN_ID]

    listed = ids_listed(deployment, {"ids": ",".join(ids)})
    response = discard(deployment, {"ids": ids})

    assert sorted(listed) == sorted([requests[0]["id"], requests[2]["id"]])
    assert response.json == {"data": {"discarded": 2, "in_flight": 0, "has_dependants": 0}, "next": None}
    assert [state_of(deployment, request) is State.DISCARDED for request in requests] == [True, False, True]
    assert state_of(deployment, other) is State.WAITING


def test_other_callers_cannot_discard(deployment: Deployment) -> None:
    request = deployment.queue()
    body = {"filter": {"state": "waiting"}}

    statuses = [client.call("POST", DISCARD, body).status for client in (deployment.readonly, deployment.stranger)]

    assert statuses == [403, 404]
    assert state_of(deployment, request) is State.WAITING


def failed_webhook(deployment: Deployment) -> str:
    """Queue a request, end it, and let its webhook fail. Return its id."""
    request_id: str = deployment.queue(webhook_url=HOOK)["id"]
    deployment.end(request_id, webhook=Webhook(WebhookState.FAILED, HOOK, attempts_in_round=10))
    return request_id


def test_the_webhooks_that_failed_since_a_time_are_sent_again(deployment: Deployment) -> None:
    failed_webhook(deployment)
    deployment.clock.advance(minutes=10)
    since = timestamp(deployment.clock())
    recent = failed_webhook(deployment)
    tried = deployment.queue(webhook_url=HOOK)["id"]
    deployment.end(tried, webhook=Webhook(WebhookState.PENDING, HOOK, attempts_in_round=2))
    deployment.clock.advance(seconds=1)

    answers = [
        deployment.api.call("POST", REDELIVER, {"failed_since": since} | members)
        for members in ({"dry_run": True}, {}, {"include_pending": True, "dry_run": True}, {"include_pending": True})
    ]

    assert {answer.status for answer in answers} == {202}
    assert [answer.json["data"]["redelivered"] for answer in answers] == [1, 1, 1, 1]
    assert {answer.json["next"] for answer in answers} == {None}
    assert deployment.stored_record(recent).webhook.round == 1
    assert deployment.stored_record(tried).webhook.round == 1


def test_the_webhooks_of_chosen_requests_and_of_a_range_of_time_are_sent_again(deployment: Deployment) -> None:
    ids = []
    for _ in range(4):
        ids.append(failed_webhook(deployment))
        deployment.clock.advance(minutes=10)
    times = [deployment.stored_record(request_id).updated_at for request_id in ids]

    answers = [
        deployment.api.call("POST", REDELIVER, body)
        for body in (
            {"failed_since": times[1], "failed_before": times[2]},
            {"filter": {"ids": [ids[0], ids[1]]}},
            {"filter": {"updated_since": times[2], "state": "error"}},
            {"filter": {"updated_since": times[2], "webhook_state": "failed"}, "failed_before": times[3]},
        )
    ]

    assert {answer.status for answer in answers} == {202}
    assert [answer.json["data"]["redelivered"] for answer in answers] == [1, 1, 0, 1]
    assert [deployment.stored_record(request_id).webhook.round for request_id in ids] == [1, 1, 1, 0]


@pytest.mark.parametrize(
    "body", [{}, {"failed_since": None}, {"failed_since": "2026-03-14T12:00:00"}, {"failed_since": "yesterday"}]
)
def test_a_redelivery_needs_a_time_with_a_zone(deployment: Deployment, body: dict[str, Any]) -> None:
    response = deployment.api.call("POST", REDELIVER, body)

    assert (response.status, response.problem["field"]) == (400, "failed_since")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"failed_since": "2026-03-15T12:00:00Z", "failed_before": "2026-03-14T12:00:00Z"}, "failed_before"),
        ({"failed_before": "2026-03-14T12:00:00Z"}, "failed_since"),
        ({"filter": {}}, "failed_since"),
        ({"filter": {"search_phrase": "Ann"}}, "filter.search_phrase"),
    ],
)
def test_a_wrong_redelivery_is_refused(deployment: Deployment, body: dict[str, Any], field: str) -> None:
    response = deployment.api.call("POST", REDELIVER, body)

    assert (response.status, response.problem["field"]) == (400, field)


def test_redeliveries_stop_at_the_limit_of_the_app_and_continue_with_the_cursor(deployment: Deployment) -> None:
    set_limits(deployment, redeliveries_per_minute=2)
    for _ in range(3):
        failed_webhook(deployment)
    deployment.clock.advance(seconds=1)
    body = {"failed_since": timestamp(NOON)}

    first = deployment.api.call("POST", REDELIVER, body)
    body["cursor"] = first.json["next"]
    second = deployment.api.call("POST", REDELIVER, body)
    deployment.clock.advance(minutes=1)
    third = deployment.api.call("POST", REDELIVER, body)

    assert first.json["data"] == {"redelivered": 2}
    assert refusal(second)[:2] == (429, "quota_exceeded")
    assert third.json == {"data": {"redelivered": 1}, "next": None}


def test_discarded_requests_are_queued_again_once(deployment: Deployment) -> None:
    request = deployment.queue(label="import-7", metadata={"order": "1007"}, webhook_url=HOOK)
    discard(deployment, {"label": "import-7"})
    deployment.clock.advance(seconds=1)
    body = {"filter": {"label": "import-7"}}

    answers = [deployment.api.call("POST", QUEUE_AGAIN, body | members) for members in ({"dry_run": True}, {}, {}, {})]

    counts = [answer.json["data"] for answer in answers]
    assert {answer.status for answer in answers} == {201}
    assert [count["queued"] for count in counts] == [1, 1, 0, 0]
    assert [count["queued_before"] for count in counts] == [0, 0, 1, 1]
    listed = deployment.api.call("GET", f"{deployment.requests_url}?state=waiting").json["data"]
    assert len(listed) == 1
    assert {name: listed[0][name] for name in ("label", "webhook_url")} == {"label": "import-7", "webhook_url": HOOK}
    new = deployment.api.call("GET", f"/api/v1/queued_requests/{listed[0]['id']}").json["data"]
    assert (new["metadata"], new["id"] == request["id"]) == ({"order": "1007"}, False)


def test_requests_that_are_queued_again_count_towards_the_limits_of_the_app(deployment: Deployment) -> None:
    for _ in range(3):
        deployment.queue()
    discard(deployment, {"state": "waiting"})
    deployment.clock.advance(seconds=1)
    set_limits(deployment, creates_per_second=2)
    body = {"filter": {"state": "discarded"}}

    first = deployment.api.call("POST", QUEUE_AGAIN, body)
    body["cursor"] = first.json["next"]
    second = deployment.api.call("POST", QUEUE_AGAIN, body)
    deployment.clock.advance(seconds=1)
    third = deployment.api.call("POST", QUEUE_AGAIN, body)

    assert first.json["data"]["queued"] == 2
    assert refusal(second)[:2] == (429, "quota_exceeded")
    assert (third.json["data"]["queued"], third.json["next"]) == (1, None)


@pytest.mark.parametrize("path", [QUEUE_AGAIN, DISCARD])
def test_an_empty_filter_is_refused_and_other_callers_are_too(deployment: Deployment, path: str) -> None:
    body = {"filter": {"state": "waiting"}}

    statuses = [
        deployment.api.call("POST", path, {"filter": {}}).status,
        deployment.readonly.call("POST", path, body).status,
        deployment.stranger.call("POST", path, body).status,
    ]

    assert statuses == [400, 403, 404]
