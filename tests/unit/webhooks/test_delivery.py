"""One webhook attempt, with a store in memory and a scripted receiver."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from threading import Event, Lock
from typing import TYPE_CHECKING

import pytest

from domain.records.request import Paging
from domain.records.webhook import WebhookAttempt, WebhookState
from domain.timestamps import timestamp
from domain.webhooks.delivery import Attempted, GaveUp, RetryAt, Succeeded
from domain.webhooks.ports import DeliveryFailed, HttpResponse
from handlers.views.webhook_event import event_body
from local.gateway import Request
from local.receiver import verified_schemes
from tests.support.builders import NOON
from tests.support.webhooks import SECRET, URL, DeliverySetup, a_webhook, first_attempt

if TYPE_CHECKING:
    from domain.records.request import StoredRequest

OLDER_SECRET = "whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8="


# --- The request


def test_an_attempt_posts_the_signed_event_to_the_records_url() -> None:
    setup = DeliverySetup(secrets=(SECRET, OLDER_SECRET))
    record = setup.add()

    setup.deliverer.attempt(first_attempt(record, NOON))

    [(url, headers, body, timeout)] = setup.receiver.posts
    assert (url, timeout) == (URL, 10)
    assert headers["Content-Type"] == "application/json"
    assert headers["webhook-id"] == record.id
    assert headers["webhook-timestamp"] == str(int(NOON.timestamp()))
    for secret in (SECRET, OLDER_SECRET):
        request = Request("POST", "/", list(headers.items()), body)
        assert verified_schemes(request, secret) == {"standard", "qube"}
    assert json.loads(body)["type"] == "queued_request.discarded"


def test_the_webhook_id_is_the_same_for_every_attempt_and_every_page_has_its_own() -> None:
    setup = DeliverySetup(HttpResponse(500, ""))
    page = setup.add(paging=Paging(2, "11111111-1111-4111-8111-111111111111"))

    setup.attempt(page)
    setup.attempt(page)

    ids = [headers["webhook-id"] for _, headers, _, _ in setup.receiver.posts]
    assert ids == [page.id, page.id]
    assert json.loads(setup.receiver.posts[0][2])["id"] == page.paging.first_page_id


def test_nothing_is_sent_unsigned() -> None:
    """Without a webhook secret, the receiver could not distinguish the event from a forged one."""
    setup = DeliverySetup(secrets=())
    record = setup.add()

    result = setup.attempt(record)

    assert setup.receiver.posts == []
    assert isinstance(result.outcome, GaveUp)
    assert "secret" in (setup.stored_record(record).webhook.error or "")


# --- The outcome


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_any_2xx_is_success(status: int) -> None:
    setup = DeliverySetup(HttpResponse(status, "thanks"))
    record = setup.add()

    setup.receiver.while_responding = lambda: setup.clock.advance(seconds=1.5)
    result = setup.attempt(record)

    attempt = WebhookAttempt(timestamp(NOON), "thanks", status, duration_ms=1500)
    assert result == Attempted(record, Succeeded(), attempt, recorded=True)
    after = setup.stored_record(record)
    assert (after.webhook_state, after.webhook.error, after.webhook.attempts_in_round) == (
        WebhookState.SUCCEEDED,
        None,
        1,
    )
    assert after.webhook.attempts == (attempt,)
    assert setup.queue.attempts == []


@pytest.mark.parametrize("status", [100, 199, 300, 301, 302, 304, 307, 308, 400, 401, 404, 429, 500, 503])
def test_any_other_status_is_a_failed_attempt_that_is_tried_again(status: int) -> None:
    setup = DeliverySetup(HttpResponse(status, "no"))
    record = setup.add(response_chunks="a#3", webhook=a_webhook(round=2))

    result = setup.attempt(record)

    due = NOON + timedelta(seconds=5)
    assert isinstance(result.outcome, RetryAt)
    assert result.outcome.moment == due
    after = setup.stored_record(record)
    assert (after.webhook_state, after.webhook.attempts_in_round) == (WebhookState.PENDING, 1)
    assert str(status) in (after.webhook.error or "")
    attempt = WebhookAttempt(timestamp(NOON), "no", status, duration_ms=0, next_attempt_at=timestamp(due))
    assert after.webhook.attempts == (attempt,)
    [planned_attempt] = setup.queue.attempts
    assert planned_attempt == replace(
        first_attempt(after, due), earlier_attempts=1, webhook_round=2, response_chunks="a#3"
    )


def test_a_failure_without_a_response_text_is_described() -> None:
    setup = DeliverySetup(HttpResponse(302, ""), DeliveryFailed("hooks.example.com refuses connections."))
    record = setup.add()

    setup.attempt(record)
    setup.attempt(record)

    assert [attempt.response for attempt in setup.stored_record(record).webhook.attempts] == [
        "The receiver returned HTTP 302: redirects are not followed.",
        "hooks.example.com refuses connections.",
    ]


def test_retry_after_delays_the_next_attempt() -> None:
    setup = DeliverySetup(HttpResponse(503, "", retry_after="600"))
    record = setup.add()

    result = setup.attempt(record)

    assert isinstance(result.outcome, RetryAt)
    assert result.outcome.moment == NOON + timedelta(minutes=10)


def test_http_410_fails_at_once() -> None:
    setup = DeliverySetup(HttpResponse(410, "unsubscribed", retry_after="5"))
    record = setup.add()

    result = setup.attempt(record)

    assert isinstance(result.outcome, GaveUp)
    assert setup.stored_record(record).webhook_state is WebhookState.FAILED
    assert setup.stored_record(record).webhook.error == "The receiver returned HTTP 410."
    assert setup.queue.attempts == []


def test_a_receiver_that_is_not_allowed_fails_at_once() -> None:
    setup = DeliverySetup(DeliveryFailed("hooks.example.com resolves to 10.0.0.1.", permanent=True))
    record = setup.add()

    result = setup.attempt(record)

    assert result.outcome == GaveUp("hooks.example.com resolves to 10.0.0.1.")
    assert result.attempt.status_code is None
    assert result.attempt.next_attempt_at is None
    assert setup.stored_record(record).webhook_state is WebhookState.FAILED


def test_the_webhook_fails_after_the_tenth_attempt() -> None:
    """The whole schedule: each attempt is made from the message that the attempt before it planned."""
    setup = DeliverySetup(*[HttpResponse(500, f"response {number}") for number in range(1, 11)])
    record = setup.add()
    waits = []

    setup.attempt(record)
    for number in range(9):
        planned_attempt = setup.queue.attempts[number]
        waits.append(planned_attempt.not_before - setup.clock())
        setup.clock.now = planned_attempt.not_before
        setup.deliverer.attempt(planned_attempt)

    assert [wait.total_seconds() for wait in waits] == [5, 30, 120, 300, 1800, 7200, 18000, 36000, 36000]
    assert len(setup.queue.attempts) == 9
    after = setup.stored_record(record)
    assert (after.webhook_state, after.webhook.attempts_in_round) == (WebhookState.FAILED, 10)
    assert after.webhook.error == "Gave up after 10 attempts. The last one: The receiver returned HTTP 500."
    assert [attempt.response for attempt in after.webhook.attempts] == [f"response {number}" for number in range(1, 11)]


def test_success_after_failures_clears_the_error() -> None:
    setup = DeliverySetup(HttpResponse(500, ""))
    record = setup.add()

    setup.attempt(record)
    setup.attempt(record)

    assert setup.stored_record(record).webhook_state is WebhookState.SUCCEEDED
    assert setup.stored_record(record).webhook.error is None


# --- Order and number of calls


@pytest.mark.parametrize(
    ("response", "calls"),
    [
        (HttpResponse(200, ""), ["delivery", "post", "commit"]),
        (HttpResponse(500, ""), ["delivery", "post", "plan", "commit"]),
        (HttpResponse(410, ""), ["delivery", "post", "commit"]),
    ],
)
def test_an_attempt_makes_two_store_calls_and_plans_before_it_commits(response: HttpResponse, calls: list[str]) -> None:
    """The budget of an attempt is one read before the HTTP call and one commit after it."""
    setup = DeliverySetup(response)
    record = setup.add()

    setup.attempt(record)

    assert setup.calls == calls


def test_a_dropped_attempt_costs_one_read() -> None:
    setup = DeliverySetup()
    record = setup.add(webhook=a_webhook(state=WebhookState.SUCCEEDED))

    setup.deliverer.attempt(first_attempt(record, NOON))

    assert setup.calls == ["delivery"]


# --- The stored attempt


def test_the_latest_response_is_cut_to_4_kib_and_earlier_ones_to_512_bytes() -> None:
    setup = DeliverySetup(HttpResponse(500, "é" * 5000), HttpResponse(500, "x" * 5000))
    record = setup.add()

    setup.attempt(record)
    attempts = setup.stored_record(record).webhook.attempts
    setup.attempt(record)
    older, latest = setup.stored_record(record).webhook.attempts

    assert [len(attempt.response.encode()) for attempt in attempts] == [4096]
    assert len(latest.response.encode()) == 4096
    assert older.response == "é" * 256


def test_a_cut_never_splits_a_character() -> None:
    setup = DeliverySetup(HttpResponse(500, "x" + "€" * 2000))
    record = setup.add()

    setup.attempt(record)

    assert setup.stored_record(record).webhook.attempts[0].response == "x" + "€" * 1365


def test_only_the_latest_twenty_attempts_are_kept() -> None:
    """However often a webhook is redelivered, the record stays below 16 KB."""
    setup = DeliverySetup(*[HttpResponse(500, f"{number} " + "x" * 5000) for number in range(25)])
    record = setup.add()

    for _ in range(25):
        setup.attempt(record)
        setup.redeliver(record)

    attempts = setup.stored_record(record).webhook.attempts
    assert [attempt.response.split()[0] for attempt in attempts] == [str(number) for number in range(5, 25)]
    assert sum(len(attempt.response.encode()) for attempt in attempts) < 14_000


def test_the_events_of_a_batch_are_made_one_at_a_time() -> None:
    setup = DeliverySetup()
    attempts = [first_attempt(setup.add(), NOON) for _ in range(8)]
    inside, never = Lock(), Event()

    def make(stored: StoredRequest, moment: str) -> bytes:
        assert inside.acquire(blocking=False), "another thread makes an event"
        never.wait(0.02)
        inside.release()
        return event_body(stored, moment)

    deliverer = replace(setup.deliverer, event_body=make)
    with ThreadPoolExecutor(len(attempts)) as pool:
        results = list(pool.map(deliverer.attempt, attempts))

    assert all(results)
