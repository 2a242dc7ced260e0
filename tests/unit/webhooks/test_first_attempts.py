"""First attempts are short, so that a slow receiver does not delay the webhooks of others."""

from __future__ import annotations

from domain.records.webhook import WebhookState
from domain.webhooks.defaults import (
    ATTEMPT_TIMEOUT_SECONDS,
    FIRST_ATTEMPT_TIMEOUT_SECONDS,
)
from domain.webhooks.delivery import Attempted, Deferred, RetryAt, Succeeded
from domain.webhooks.ports import DeliveryFailed, HttpResponse
from tests.support.webhooks import DeliverySetup, a_webhook, first_attempt

OTHER_APP_ID = "a0000000-0000-4000-8000-000000000002"
TIMED_OUT = DeliveryFailed("hooks.example.com did not respond within 1 second.", timed_out=True)


def test_a_first_attempt_has_a_short_time_limit_and_any_other_the_full_one() -> None:
    setup = DeliverySetup(HttpResponse(500, "busy"))
    record = setup.add()

    setup.deliverer.first_attempt(record)
    setup.attempt(record)

    assert [timeout for *_, timeout in setup.receiver.posts] == [
        FIRST_ATTEMPT_TIMEOUT_SECONDS,
        ATTEMPT_TIMEOUT_SECONDS,
    ]


def test_a_first_attempt_that_responds_in_time_is_recorded() -> None:
    setup = DeliverySetup(HttpResponse(500, "busy"))
    failing, working = setup.add(), setup.add()

    first, second = setup.deliverer.first_attempt(failing), setup.deliverer.first_attempt(working)

    assert isinstance(first, Attempted)
    assert isinstance(first.outcome, RetryAt)
    assert isinstance(second, Attempted)
    assert second.outcome == Succeeded()
    assert (
        setup.stored_record(failing).webhook.attempts_in_round
        == setup.stored_record(working).webhook.attempts_in_round
        == 1
    )


def test_a_first_attempt_that_is_cut_off_is_repeated_through_the_queue_and_does_not_count() -> None:
    """The receiver may have the event, so the repetition has the same webhook-id."""
    setup = DeliverySetup(TIMED_OUT)
    record = setup.add()

    result = setup.deliverer.first_attempt(record)
    assert setup.stored_record(record) == record
    assert isinstance(result, Deferred)
    second = setup.deliverer.attempt(result.planned_attempt)

    assert result.reason == "hooks.example.com did not respond within 1 second."
    assert result.planned_attempt == first_attempt(record, setup.clock())
    assert isinstance(second, Attempted)
    assert {headers["webhook-id"] for _, headers, _, _ in setup.receiver.posts} == {record.id}
    webhook = setup.stored_record(record).webhook
    assert (webhook.state, webhook.attempts_in_round) == (WebhookState.SUCCEEDED, 1)


def test_after_a_time_out_the_attempts_of_the_app_are_left_to_the_queue() -> None:
    setup = DeliverySetup(TIMED_OUT)
    setup.receiver.while_responding = lambda: setup.clock.advance(seconds=2)
    setup.deliverer.first_attempt(setup.add())
    record = setup.add()

    result = setup.deliverer.first_attempt(record)

    assert isinstance(result, Deferred)
    assert setup.calls == []
    other_app = setup.add(app_id=OTHER_APP_ID)
    assert isinstance(setup.deliverer.first_attempt(other_app), Attempted)


def test_a_first_attempt_that_is_no_longer_needed_is_dropped() -> None:
    setup = DeliverySetup()
    record = setup.add(webhook=a_webhook(state=WebhookState.SUCCEEDED))

    assert setup.deliverer.first_attempt(record) is None
    assert setup.receiver.posts == []
