"""One delivery attempt, against a store in memory and a receiver that answers as told."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from domain.errors import TooManyRequests
from domain.requests.record import (
    ENDED,
    Paging,
    QueuedRequest,
    State,
    Tombstone,
    WebhookAttempt,
    WebhookState,
    timestamp,
)
from domain.storage.changes import ChangeRequest, RemoveRequest
from domain.webhooks.delivery import (
    AheadOfRecord,
    Attempted,
    Dropped,
    GaveUp,
    Postponed,
    RetryAt,
    Succeeded,
    asks_for_first_attempt,
    first_planned_attempt,
)
from domain.webhooks.ports import DeliveryFailed, HttpResponse
from local.gateway import Request
from local.receiver import verified_schemes
from tests.support.builders import NOON, a_record
from tests.support.webhooks import SECRET, URL, World, a_webhook

OLDER_SECRET = "whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8="


def attempt(world: World, record: QueuedRequest) -> Attempted:
    """Make the record's next attempt, which is due now."""
    result = world.deliverer.attempt(first_planned_attempt(world.stored(record), world.clock()), 10)
    assert isinstance(result, Attempted)
    return result


# --- What is sent


def test_an_attempt_posts_the_signed_event_to_the_records_url() -> None:
    world = World(secrets=(SECRET, OLDER_SECRET))
    record = world.add()

    world.deliverer.attempt(first_planned_attempt(record, NOON), 7)

    [(url, headers, body, timeout)] = world.receiver.posts
    assert (url, timeout) == (URL, 7)
    assert headers["Content-Type"] == "application/json"
    assert headers["webhook-id"] == record.id
    assert headers["webhook-timestamp"] == str(int(NOON.timestamp()))
    for secret in (SECRET, OLDER_SECRET):
        request = Request("POST", "/", list(headers.items()), body)
        assert verified_schemes(request, secret) == {"standard", "qube"}
    assert json.loads(body)["type"] == "queued_request.discarded"


def test_the_webhook_id_is_the_same_for_every_attempt_and_every_page_has_its_own() -> None:
    world = World(HttpResponse(500, ""))
    page = world.add(paging=Paging(2, "11111111-1111-4111-8111-111111111111"))

    attempt(world, page)
    attempt(world, page)

    ids = [headers["webhook-id"] for _, headers, _, _ in world.receiver.posts]
    assert ids == [page.id, page.id]
    assert json.loads(world.receiver.posts[0][2])["id"] == page.paging.first_page_id


def test_nothing_is_sent_unsigned() -> None:
    """An app without a secret: its receiver could not tell the webhook from a forgery."""
    world = World(secrets=())
    record = world.add()

    result = attempt(world, record)

    assert world.receiver.posts == []
    assert isinstance(result.outcome, GaveUp)
    assert "secret" in (world.stored(record).webhook.error or "")


# --- What comes of it


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_any_2xx_is_success(status: int) -> None:
    world = World(HttpResponse(status, "thanks"))
    record = world.add()

    result = attempt(world, record)

    assert result == Attempted(record, Succeeded(), status, 0, recorded=True)
    stored = world.stored(record)
    assert (stored.webhook_state, stored.webhook.error, stored.webhook.tries) == (WebhookState.SUCCEEDED, None, 1)
    assert stored.webhook.attempts == (WebhookAttempt(timestamp(NOON), "thanks"),)
    assert world.queue.tickets == []


@pytest.mark.parametrize("status", [100, 199, 300, 301, 302, 304, 307, 308, 400, 401, 404, 429, 500, 503])
def test_any_other_status_is_a_failed_attempt_that_is_tried_again(status: int) -> None:
    world = World(HttpResponse(status, "no"))
    record = world.add(response_parts=3, webhook=a_webhook(round=2))

    result = attempt(world, record)

    due = NOON + timedelta(seconds=5)
    assert isinstance(result.outcome, RetryAt)
    assert (result.outcome.moment, result.status) == (due, status)
    stored = world.stored(record)
    assert (stored.webhook_state, stored.webhook.tries) == (WebhookState.PENDING, 1)
    assert str(status) in (stored.webhook.error or "")
    assert stored.webhook.attempts == (WebhookAttempt(timestamp(NOON), "no"),)
    [ticket] = world.queue.tickets
    assert ticket == replace(first_planned_attempt(stored, due), webhook_tries=1, webhook_round=2, response_parts=3)


def test_a_failure_without_an_answers_text_is_told_in_words() -> None:
    world = World(HttpResponse(302, ""), DeliveryFailed("hooks.example.com refuses connections."))
    record = world.add()

    attempt(world, record)
    attempt(world, record)

    assert [one.response for one in world.stored(record).webhook.attempts] == [
        "The receiver answered HTTP 302: redirects are not followed.",
        "hooks.example.com refuses connections.",
    ]


def test_retry_after_is_honoured() -> None:
    world = World(HttpResponse(503, "", retry_after="600"))
    record = world.add()

    result = attempt(world, record)

    assert isinstance(result.outcome, RetryAt)
    assert result.outcome.moment == NOON + timedelta(minutes=10)


def test_http_410_fails_at_once() -> None:
    world = World(HttpResponse(410, "unsubscribed", retry_after="5"))
    record = world.add()

    result = attempt(world, record)

    assert isinstance(result.outcome, GaveUp)
    assert world.stored(record).webhook_state is WebhookState.FAILED
    assert world.stored(record).webhook.error == "The receiver answered HTTP 410."
    assert world.queue.tickets == []


def test_a_receiver_that_is_not_allowed_fails_at_once() -> None:
    world = World(DeliveryFailed("hooks.example.com leads to 10.0.0.1.", permanent=True))
    record = world.add()

    result = attempt(world, record)

    assert result.outcome == GaveUp("hooks.example.com leads to 10.0.0.1.")
    assert result.status is None
    assert world.stored(record).webhook_state is WebhookState.FAILED


def test_after_the_eighth_failure_it_gives_up() -> None:
    """The whole schedule, each attempt made from the ticket that the one before it planned."""
    world = World(*[HttpResponse(500, f"answer {number}") for number in range(1, 9)])
    record = world.add()
    waits = []

    attempt(world, record)
    for number in range(7):
        ticket = world.queue.tickets[number]
        waits.append(ticket.not_before - world.clock())
        world.clock.now = ticket.not_before
        world.deliverer.attempt(ticket, 10)

    assert [wait.total_seconds() for wait in waits] == [5, 300, 1800, 7200, 18000, 36000, 36000]
    assert len(world.queue.tickets) == 7
    stored = world.stored(record)
    assert (stored.webhook_state, stored.webhook.tries) == (WebhookState.FAILED, 8)
    assert stored.webhook.error == "Gave up after 8 attempts. The last one: The receiver answered HTTP 500."
    assert [one.response for one in stored.webhook.attempts] == [f"answer {number}" for number in range(1, 9)]


def test_success_after_failures_clears_the_error() -> None:
    world = World(HttpResponse(500, ""))
    record = world.add()

    attempt(world, record)
    attempt(world, record)

    assert world.stored(record).webhook_state is WebhookState.SUCCEEDED
    assert world.stored(record).webhook.error is None


# --- Order and number of calls


@pytest.mark.parametrize(
    ("answer", "calls"),
    [
        (HttpResponse(200, ""), ["delivery", "post", "commit"]),
        (HttpResponse(500, ""), ["delivery", "post", "plan", "commit"]),
        (HttpResponse(410, ""), ["delivery", "post", "commit"]),
    ],
)
def test_two_store_calls_frame_the_post_and_the_plan_comes_before_the_commit(
    answer: HttpResponse, calls: list[str]
) -> None:
    """The budget of a webhook attempt: two calls around the HTTP call."""
    world = World(answer)
    record = world.add()

    attempt(world, record)

    assert world.calls == calls


def test_a_ticket_that_is_dropped_costs_one_read() -> None:
    world = World()
    record = world.add(webhook=a_webhook(state=WebhookState.SUCCEEDED))

    world.deliverer.attempt(first_planned_attempt(record, NOON), 10)

    assert world.calls == ["delivery"]


# --- Whether it is still wanted


@pytest.mark.parametrize(
    "fields",
    [
        {"webhook": a_webhook(state=WebhookState.SUCCEEDED)},
        {"webhook": a_webhook(state=WebhookState.FAILED)},
        {"webhook": a_webhook(state=WebhookState.NOT_APPLICABLE)},
        {"webhook": a_webhook(round=1)},
        {"webhook": a_webhook(tries=1)},
        *[{"state": state} for state in State if state not in ENDED],
    ],
)
def test_an_attempt_that_the_record_has_left_behind_is_dropped(fields: dict[str, object]) -> None:
    world = World()
    record = world.add(**fields)
    ticket = replace(first_planned_attempt(record, NOON), webhook_round=0, webhook_tries=0)

    result = world.deliverer.attempt(ticket, 10)

    assert result == Dropped()
    assert world.stored(record) == record


def test_an_attempt_for_a_deleted_or_unknown_record_is_dropped() -> None:
    world = World()
    record = world.add()
    world.store.commit(RemoveRequest(record, timestamp(NOON)))

    assert world.deliverer.attempt(first_planned_attempt(record, NOON), 10) == Dropped()
    assert world.deliverer.attempt(first_planned_attempt(a_record(), NOON), 10) == Dropped()
    assert world.receiver.posts == []


def test_a_ticket_that_comes_twice_is_delivered_once() -> None:
    world = World()
    record = world.add()
    ticket = first_planned_attempt(record, NOON)

    results = [world.deliverer.attempt(ticket, 10) for _ in range(2)]

    assert isinstance(results[0], Attempted)
    assert results[1] == Dropped()


def test_a_ticket_before_its_time_is_planned_again_and_the_record_left_alone() -> None:
    """The hop: SQS waits 15 minutes at most."""
    world = World()
    record = world.add()
    ticket = first_planned_attempt(record, NOON + timedelta(hours=2))

    result = world.deliverer.attempt(ticket, 10)

    assert result == Postponed(ticket.not_before)
    assert world.queue.tickets == [ticket]
    assert world.calls == ["plan"]


def test_a_ticket_that_is_a_moment_early_is_due() -> None:
    """Clocks differ a little, and SQS counts whole seconds."""
    world = World()
    record = world.add()

    result = world.deliverer.attempt(first_planned_attempt(record, NOON + timedelta(milliseconds=900)), 10)

    assert isinstance(result, Attempted)


def test_a_ticket_that_overtakes_the_commit_of_the_attempt_before_it_comes_again() -> None:
    """Dropping it would lose the webhook when that commit is only late."""
    world = World()
    record = world.add()
    ticket = replace(first_planned_attempt(record, NOON), webhook_tries=1)

    with pytest.raises(AheadOfRecord):
        world.deliverer.attempt(ticket, 10)

    assert world.receiver.posts == []


def test_a_crash_between_plan_and_commit_loses_nothing() -> None:
    """The trigger comes again and the attempt is made again; then the early ticket has its turn."""
    world = World(HttpResponse(500, "1"), HttpResponse(500, "2"))
    record = world.add()

    def crash() -> None:
        raise TooManyRequests("busy")

    world.store.before_commit.append(crash)
    with pytest.raises(TooManyRequests):
        attempt(world, record)
    [early] = world.queue.tickets
    world.clock.now = early.not_before
    with pytest.raises(AheadOfRecord):
        world.deliverer.attempt(early, 10)
    attempt(world, record)
    result = world.deliverer.attempt(early, 10)

    assert isinstance(result, Attempted)
    assert world.stored(record).webhook_state is WebhookState.SUCCEEDED
    assert [one.response for one in world.stored(record).webhook.attempts] == ["2", "ok"]


# --- Somebody else was faster


def redeliver(world: World, record: QueuedRequest) -> None:
    """Do what a redelivery by hand does, while the receiver is answering."""
    now = world.stored(record)
    after = now.with_webhook(
        world.clock(), state=WebhookState.PENDING, round=now.webhook.round + 1, tries=0, error=None
    )
    world.store.commit(ChangeRequest(now, after))


@pytest.mark.parametrize("status", [200, 500, 410])
def test_an_attempt_of_a_round_that_is_over_is_noted_and_changes_nothing_else(status: int) -> None:
    world = World(HttpResponse(status, "late"))
    record = world.add()
    world.receiver.while_answering = lambda: redeliver(world, record)

    result = attempt(world, record)

    stored = world.stored(record)
    assert result.recorded
    assert (stored.webhook_state, stored.webhook.round, stored.webhook.tries) == (WebhookState.PENDING, 1, 0)
    assert stored.webhook.error is None
    assert [one.response for one in stored.webhook.attempts] == ["late"]


def test_the_retry_of_a_round_that_is_over_is_dropped() -> None:
    world = World(HttpResponse(500, ""))
    record = world.add()
    world.receiver.while_answering = lambda: redeliver(world, record)
    attempt(world, record)
    [ticket] = world.queue.tickets
    world.clock.now = ticket.not_before

    assert world.deliverer.attempt(ticket, 10) == Dropped()


def test_an_attempt_whose_record_was_deleted_meanwhile_is_reported_as_not_recorded() -> None:
    world = World()
    record = world.add()
    world.receiver.while_answering = lambda: world.store.commit(RemoveRequest(record, timestamp(NOON)))

    result = attempt(world, record)

    assert not result.recorded
    assert result.outcome == Succeeded()
    assert isinstance(world.store.request(record.id), Tombstone)


def test_an_attempt_is_settled_on_the_record_as_it_is_now_when_something_else_changed() -> None:
    world = World(HttpResponse(500, "no"))
    record = world.add()

    def touch() -> None:
        world.store.commit(ChangeRequest(record, record.changed(world.clock(), sessions=9)))

    world.receiver.while_answering = touch
    attempt(world, record)

    stored = world.stored(record)
    assert (stored.sessions, stored.webhook.tries, stored.webhook_state) == (9, 1, WebhookState.PENDING)


@pytest.mark.parametrize(
    ("first", "second", "state", "tries"),
    [
        (200, 500, WebhookState.SUCCEEDED, 1),
        (500, 200, WebhookState.SUCCEEDED, 2),
        (500, 500, WebhookState.PENDING, 1),
        (410, 200, WebhookState.SUCCEEDED, 2),
        (410, 500, WebhookState.FAILED, 1),
    ],
)
def test_of_two_attempts_side_by_side_a_success_counts_and_both_are_noted(
    first: int, second: int, state: WebhookState, tries: int
) -> None:
    """A trigger that came twice: the receiver has the event as soon as one of them succeeded."""
    world = World(HttpResponse(first, "first"), HttpResponse(second, "second"))
    record = world.add()

    def other_attempt() -> None:
        world.receiver.while_answering = lambda: None
        attempt(world, record)

    world.receiver.while_answering = other_attempt
    attempt(world, record)

    stored = world.stored(record)
    assert (stored.webhook_state, stored.webhook.tries) == (state, tries)
    assert [one.response for one in stored.webhook.attempts] == ["first", "second"]


def test_a_second_conflict_is_reported_as_not_recorded() -> None:
    world = World()
    record = world.add()
    for _ in range(2):
        world.store.before_commit.append(lambda: world.store.records.update({record.id: touched()}))

    def touched() -> QueuedRequest:
        return world.stored(record).changed(world.clock())

    result = attempt(world, record)

    assert not result.recorded


# --- What the record keeps


def test_the_latest_answer_is_kept_to_4_kib_and_older_ones_shorter() -> None:
    world = World(HttpResponse(500, "é" * 5000), HttpResponse(500, "x" * 5000))
    record = world.add()

    attempt(world, record)
    kept = world.stored(record).webhook.attempts
    attempt(world, record)
    older, latest = world.stored(record).webhook.attempts

    assert [len(one.response.encode()) for one in kept] == [4096]
    assert len(latest.response.encode()) == 4096
    assert older.response == "é" * 256


def test_a_cut_never_splits_a_character() -> None:
    world = World(HttpResponse(500, "x" + "€" * 2000))
    record = world.add()

    attempt(world, record)

    assert world.stored(record).webhook.attempts[0].response == "x" + "€" * 1365


def test_only_the_latest_twenty_attempts_are_kept() -> None:
    """However often it is redelivered by hand, the record stays below 16 KB."""
    world = World(*[HttpResponse(500, f"{number} " + "x" * 5000) for number in range(25)])
    record = world.add()

    for _ in range(25):
        attempt(world, record)
        redeliver(world, record)

    attempts = world.stored(record).webhook.attempts
    assert [one.response.split()[0] for one in attempts] == [str(number) for number in range(5, 25)]
    assert sum(len(one.response.encode()) for one in attempts) < 14_000


# --- What asks for the first attempt


@pytest.mark.parametrize("state", sorted(ENDED))
def test_ending_asks_for_the_first_attempt(state: State) -> None:
    sent = a_record(state=State.SENT, webhook=a_webhook())
    ended = replace(sent, state=state)

    assert asks_for_first_attempt(sent, ended)
    assert asks_for_first_attempt(None, ended)


def test_a_new_round_asks_for_its_first_attempt() -> None:
    pending = a_record(state=State.ERROR, webhook=a_webhook())
    new_round = replace(pending, webhook=a_webhook(round=1))

    assert asks_for_first_attempt(replace(pending, webhook=a_webhook(state=WebhookState.FAILED, tries=8)), new_round)
    assert asks_for_first_attempt(pending, new_round)


@pytest.mark.parametrize(
    "change",
    [
        {"sessions": 1},
        {"webhook": a_webhook(tries=1)},
        {"webhook": a_webhook(state=WebhookState.SUCCEEDED)},
        {"state": State.SENT},
    ],
)
def test_any_other_change_asks_for_none(change: dict[str, Any]) -> None:
    pending = a_record(state=State.ERROR, webhook=a_webhook())

    assert not asks_for_first_attempt(pending, replace(pending, **change))
