"""A planned attempt is made once, even if its message arrives twice, early, late or in parallel."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from domain.errors import TooManyRequests
from domain.records.request import ENDED, Attempts, QueuedRequest, State, Tombstone
from domain.records.webhook import WebhookState
from domain.storage.changes import ChangeRequest, RemoveRequest
from domain.timestamps import timestamp
from domain.webhooks.delivery import (
    MAX_COMMITS,
    AheadOfRecord,
    Attempted,
    NotRecorded,
    Succeeded,
    needs_first_attempt,
)
from domain.webhooks.ports import HttpResponse
from tests.support.builders import NOON, a_record
from tests.support.webhooks import DeliverySetup, a_webhook, first_attempt

OLDER_SECRET = "whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8="

if TYPE_CHECKING:
    from collections.abc import Callable


# --- Attempts that are outdated or early


@pytest.mark.parametrize(
    "fields",
    [
        {"webhook": a_webhook(state=WebhookState.SUCCEEDED)},
        {"webhook": a_webhook(state=WebhookState.FAILED)},
        {"webhook": a_webhook(state=WebhookState.NOT_APPLICABLE)},
        {"webhook": a_webhook(round=1)},
        {"webhook": a_webhook(attempts_in_round=1)},
        *[{"state": state} for state in State if state not in ENDED],
    ],
)
def test_an_outdated_attempt_is_dropped(fields: dict[str, object]) -> None:
    setup = DeliverySetup()
    record = setup.add(**fields)
    planned_attempt = replace(first_attempt(record, NOON), webhook_round=0, earlier_attempts=0)

    result = setup.deliverer.attempt(planned_attempt)

    assert result is None
    assert setup.stored_record(record) == record


def test_an_attempt_for_a_deleted_or_unknown_record_is_dropped() -> None:
    setup = DeliverySetup()
    record = setup.add()
    setup.store.commit(RemoveRequest(record, timestamp(NOON)))

    assert setup.deliverer.attempt(first_attempt(record, NOON)) is None
    assert setup.deliverer.attempt(first_attempt(a_record(), NOON)) is None
    assert setup.receiver.posts == []


def test_a_duplicate_message_makes_one_attempt() -> None:
    setup = DeliverySetup()
    record = setup.add()
    planned_attempt = first_attempt(record, NOON)

    results = [setup.deliverer.attempt(planned_attempt) for _ in range(2)]

    assert isinstance(results[0], Attempted)
    assert results[1] is None


def test_an_early_message_is_planned_again_and_leaves_the_record_unchanged() -> None:
    """SQS delays a message by at most 15 minutes."""
    setup = DeliverySetup()
    record = setup.add()
    planned_attempt = first_attempt(record, NOON + timedelta(hours=2))

    result = setup.deliverer.attempt(planned_attempt)

    assert result is None
    assert setup.queue.attempts == [planned_attempt]
    assert setup.calls == ["plan"]


def test_a_message_may_come_a_second_early() -> None:
    """Clocks differ, and SQS counts whole seconds."""
    setup = DeliverySetup()
    record = setup.add()

    result = setup.deliverer.attempt(first_attempt(record, NOON + timedelta(milliseconds=900)))

    assert isinstance(result, Attempted)


def test_a_message_that_overtakes_the_commit_of_the_previous_attempt_is_repeated() -> None:
    """If that commit is only late, dropping the message would lose the webhook."""
    setup = DeliverySetup()
    record = setup.add()
    planned_attempt = replace(first_attempt(record, NOON), earlier_attempts=1)

    with pytest.raises(AheadOfRecord, match="attempt 2 arrived before attempt 1 was recorded"):
        setup.deliverer.attempt(planned_attempt)

    assert setup.receiver.posts == []


def test_a_crash_between_plan_and_commit_loses_nothing() -> None:
    """The first message is delivered again, and its attempt is repeated. Then the early message is due."""
    setup = DeliverySetup(HttpResponse(500, "1"), HttpResponse(500, "2"))
    record = setup.add()

    def crash() -> None:
        raise TooManyRequests("busy")

    setup.store.before_commit.append(crash)
    with pytest.raises(TooManyRequests):
        setup.attempt(record)
    [early] = setup.queue.attempts
    setup.clock.now = early.not_before
    with pytest.raises(AheadOfRecord):
        setup.deliverer.attempt(early)
    setup.attempt(record)
    result = setup.deliverer.attempt(early)

    assert isinstance(result, Attempted)
    assert setup.stored_record(record).webhook_state is WebhookState.SUCCEEDED
    assert [attempt.response for attempt in setup.stored_record(record).webhook.attempts] == ["2", "ok"]


# --- The record changes during an attempt


@pytest.mark.parametrize("status", [200, 500, 410])
def test_an_attempt_of_an_earlier_round_is_listed_and_changes_nothing_else(status: int) -> None:
    setup = DeliverySetup(HttpResponse(status, "late"))
    record = setup.add()
    setup.receiver.while_responding = lambda: setup.redeliver(record)

    result = setup.attempt(record)

    after = setup.stored_record(record)
    assert result.recorded
    assert (after.webhook_state, after.webhook.round, after.webhook.attempts_in_round) == (WebhookState.PENDING, 1, 0)
    assert after.webhook.error is None
    assert [attempt.response for attempt in after.webhook.attempts] == ["late"]


def test_the_retry_of_an_earlier_round_is_dropped() -> None:
    setup = DeliverySetup(HttpResponse(500, ""))
    record = setup.add()
    setup.receiver.while_responding = lambda: setup.redeliver(record)
    setup.attempt(record)
    [planned_attempt] = setup.queue.attempts
    setup.clock.now = planned_attempt.not_before

    assert setup.deliverer.attempt(planned_attempt) is None


def test_an_attempt_of_a_deleted_record_is_reported_as_not_recorded() -> None:
    setup = DeliverySetup()
    record = setup.add()
    setup.receiver.while_responding = lambda: setup.store.commit(RemoveRequest(record, timestamp(NOON)))

    result = setup.attempt(record)

    assert not result.recorded
    assert result.outcome == Succeeded()
    assert isinstance(setup.store.request(record.id), Tombstone)


def test_an_attempt_is_added_to_a_record_that_changed_meanwhile() -> None:
    setup = DeliverySetup(HttpResponse(500, "no"))
    record = setup.add()

    def touch() -> None:
        setup.store.commit(ChangeRequest(record, replace(record, attempts=Attempts(9)).changed(setup.clock())))

    setup.receiver.while_responding = touch
    setup.attempt(record)

    after = setup.stored_record(record)
    assert (after.attempts.sessions, after.webhook.attempts_in_round, after.webhook_state) == (
        9,
        1,
        WebhookState.PENDING,
    )


@pytest.mark.parametrize(
    ("first", "second", "state", "attempts"),
    [
        (200, 500, WebhookState.SUCCEEDED, 1),
        (500, 200, WebhookState.SUCCEEDED, 2),
        (500, 500, WebhookState.PENDING, 1),
        (410, 200, WebhookState.SUCCEEDED, 2),
        (410, 500, WebhookState.FAILED, 1),
    ],
)
def test_of_two_parallel_attempts_a_success_counts_and_both_are_listed(
    first: int, second: int, state: WebhookState, attempts: int
) -> None:
    """After a duplicate message, the receiver has the event as soon as one of the attempts succeeded."""
    setup = DeliverySetup(HttpResponse(first, "first"), HttpResponse(second, "second"))
    record = setup.add()

    def other_attempt() -> None:
        setup.receiver.while_responding = lambda: None
        setup.attempt(record)

    setup.receiver.while_responding = other_attempt
    setup.attempt(record)

    after = setup.stored_record(record)
    assert (after.webhook_state, after.webhook.attempts_in_round) == (state, attempts)
    assert [attempt.response for attempt in after.webhook.attempts] == ["first", "second"]


@pytest.mark.parametrize("others", [1, 2, 3, 7, MAX_COMMITS - 1])
@pytest.mark.parametrize("status", [200, 500])
def test_a_result_is_recorded_although_other_rounds_end_at_the_same_time(others: int, status: int) -> None:
    """Each of them changes the record between the read and the commit of this attempt."""
    setup = DeliverySetup(HttpResponse(status, "this"))
    record = setup.add()
    setup.store.before_commit.extend([changing(setup, record)] * others)

    result = setup.attempt(record)

    after = setup.stored_record(record)
    assert result.recorded
    assert after.webhook.attempts_in_round == 1
    assert after.webhook_state is (WebhookState.SUCCEEDED if status == 200 else WebhookState.PENDING)


def test_a_result_that_could_not_be_recorded_is_repeated() -> None:
    """The message that was planned after it would otherwise be ahead of the record for ever."""
    setup = DeliverySetup(HttpResponse(500, "first"))
    record = setup.add()
    setup.store.before_commit.extend([changing(setup, record)] * MAX_COMMITS)

    with pytest.raises(NotRecorded, match=f"changed {MAX_COMMITS} times"):
        setup.attempt(record)
    setup.attempt(record)

    assert setup.stored_record(record).webhook_state is WebhookState.SUCCEEDED


def changing(setup: DeliverySetup, record: QueuedRequest) -> Callable[[], None]:
    """Return a function that changes the record as another attempt would."""

    def change() -> None:
        setup.store.records[record.id] = setup.stored_record(record).changed(setup.clock())

    return change


# --- Changes that need the first attempt


@pytest.mark.parametrize("state", sorted(ENDED))
def test_a_request_that_ends_needs_the_first_attempt(state: State) -> None:
    before = a_record(state=State.SENT, webhook=a_webhook())
    after = replace(before, state=state)

    assert needs_first_attempt(before, after)
    assert needs_first_attempt(None, after)


def test_a_new_round_needs_its_first_attempt() -> None:
    pending = a_record(state=State.ERROR, webhook=a_webhook())
    new_round = replace(pending, webhook=a_webhook(round=1))

    assert needs_first_attempt(
        replace(pending, webhook=a_webhook(state=WebhookState.FAILED, attempts_in_round=8)), new_round
    )
    assert needs_first_attempt(pending, new_round)


@pytest.mark.parametrize(
    "change",
    [
        {"attempts": Attempts(1)},
        {"webhook": a_webhook(attempts_in_round=1)},
        {"webhook": a_webhook(state=WebhookState.SUCCEEDED)},
        {"state": State.SENT},
    ],
)
def test_no_other_change_needs_an_attempt(change: dict[str, Any]) -> None:
    pending = a_record(state=State.ERROR, webhook=a_webhook())

    assert not needs_first_attempt(pending, replace(pending, **change))
