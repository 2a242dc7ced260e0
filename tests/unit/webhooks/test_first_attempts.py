"""First attempts are short, so that a slow receiver does not delay the webhooks of others."""

from __future__ import annotations

from domain.records.webhook import WebhookState
from domain.webhooks.defaults import (
    ATTEMPT_TIMEOUT_SECONDS,
    FIRST_ATTEMPT_TIMEOUT_SECONDS,
    MAX_SLOW_HOSTS,
    SLOW_HOST_DURATION,
)
from domain.webhooks.delivery import Attempted, Deferred, RetryAt, SlowHosts, Succeeded
from domain.webhooks.ports import DeliveryFailed, HttpResponse
from tests.support.builders import FixedClock
from tests.support.webhooks import DeliverySetup, a_webhook, first_attempt

TIMED_OUT = DeliveryFailed("hooks.example.com did not respond within 2 seconds.", timed_out=True)


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
    (planned_attempt,) = setup.queue.attempts
    second = setup.deliverer.attempt(planned_attempt)

    assert result == Deferred(record, "hooks.example.com did not respond within 2 seconds.")
    assert planned_attempt == first_attempt(record, setup.clock())
    assert isinstance(second, Attempted)
    assert {headers["webhook-id"] for _, headers, _, _ in setup.receiver.posts} == {record.id}
    webhook = setup.stored_record(record).webhook
    assert (webhook.state, webhook.attempts_in_round) == (WebhookState.SUCCEEDED, 1)


def test_a_host_that_timed_out_is_skipped_until_the_queue_retries() -> None:
    setup = DeliverySetup(TIMED_OUT)
    setup.deliverer.first_attempt(setup.add())
    record = setup.add()

    result = setup.deliverer.first_attempt(record)

    assert isinstance(result, Deferred)
    assert setup.calls == ["plan"]
    other_host = setup.add(webhook=a_webhook(url="https://other.example.com/qb"))
    assert isinstance(setup.deliverer.first_attempt(other_host), Attempted)


def test_a_first_attempt_that_is_no_longer_needed_is_dropped() -> None:
    setup = DeliverySetup()
    record = setup.add(webhook=a_webhook(state=WebhookState.SUCCEEDED))

    assert setup.deliverer.first_attempt(record) is None
    assert setup.receiver.posts == []


# --- Which hosts are slow


def a_slow_host(clock: FixedClock) -> SlowHosts:
    """Return a memory in which `slow.example` has timed out."""
    hosts = SlowHosts(clock)
    hosts.record("slow.example", timed_out=True)
    return hosts


def test_a_host_is_slow_for_a_minute_after_a_timeout() -> None:
    clock = FixedClock()
    hosts = a_slow_host(clock)

    assert "slow.example" in hosts
    assert "fast.example" not in hosts
    clock.now += SLOW_HOST_DURATION
    assert "slow.example" not in hosts


def test_each_timeout_begins_the_minute_again() -> None:
    clock = FixedClock()
    hosts = a_slow_host(clock)
    clock.now += SLOW_HOST_DURATION / 2

    hosts.record("slow.example", timed_out=True)
    clock.now += SLOW_HOST_DURATION / 2

    assert "slow.example" in hosts


def test_a_response_in_time_makes_a_host_fast() -> None:
    hosts = a_slow_host(FixedClock())

    hosts.record("slow.example", timed_out=False)

    assert "slow.example" not in hosts


def test_the_number_of_remembered_hosts_is_bounded() -> None:
    hosts = a_slow_host(FixedClock())

    for number in range(MAX_SLOW_HOSTS):
        hosts.record(f"{number}.example", timed_out=True)

    assert "slow.example" not in hosts
