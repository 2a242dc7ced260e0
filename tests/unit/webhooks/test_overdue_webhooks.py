"""The sweep plans an attempt for every webhook that is pending although no attempt is planned."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import TooManyRequests, Unavailable
from domain.maintenance.overdue_webhooks import (
    DAYS,
    OVERDUE_AFTER,
    RECORDS_A_DAY,
    is_overdue,
    overdue_webhooks,
    plan_overdue_webhooks,
)
from domain.records.request import ENDED, State
from domain.records.webhook import WebhookAttempt, WebhookState
from domain.storage.changes import Put
from domain.timestamps import timestamp
from domain.webhooks.ports import HttpResponse
from tests.support.builders import CONNECTION_ID, NOON, a_connection
from tests.support.webhooks import DeliverySetup, a_webhook, first_attempt

LONG = timedelta(hours=1)
LATE = OVERDUE_AFTER + timedelta(seconds=1)


class SweepSetup(DeliverySetup):
    """A connection whose overdue webhooks are planned."""

    def __init__(self, *responses: HttpResponse) -> None:
        super().__init__(*responses)
        self.store.commit(Put(None, a_connection()))

    def sweep(self, left: timedelta = LONG) -> tuple[int, bool]:
        """Plan the overdue webhooks with this much time."""
        return plan_overdue_webhooks(self.store, self.queue, self.clock, self.clock() + left)


@given(late=st.timedeltas(LATE, DAYS - timedelta(days=1)), state=st.sampled_from(sorted(ENDED)))
def test_a_webhook_without_a_message_gets_its_attempt(late: timedelta, state: State) -> None:
    setup = SweepSetup()
    record = setup.add(state=state)
    setup.clock.now += late

    assert setup.sweep() == (1, True)

    assert setup.queue.attempts == [first_attempt(record, setup.clock())]
    setup.deliverer.attempt(setup.queue.attempts[0])
    assert setup.stored_record(record).webhook_state is WebhookState.SUCCEEDED


def test_a_planned_webhook_is_not_overdue_for_another_hour() -> None:
    """Otherwise each sweep would add a message while the retry queue is late."""
    setup = SweepSetup()
    record = setup.add()
    setup.clock.now += LATE
    setup.sweep()

    assert setup.sweep() == (0, True)
    assert "overdue" in str(setup.stored_record(record).webhook.error)

    setup.clock.now += LATE
    assert setup.sweep() == (1, True)


def test_the_later_attempts_of_a_round_are_overdue_an_hour_after_they_were_planned() -> None:
    setup = SweepSetup()
    due = NOON + timedelta(hours=10)
    attempt = WebhookAttempt(timestamp(NOON), "busy", next_attempt_at=timestamp(due))
    record = setup.add(webhook=a_webhook(attempts=(attempt,), attempts_in_round=6))

    setup.clock.now = due + OVERDUE_AFTER
    assert setup.sweep() == (0, True)
    setup.clock.now = due + LATE
    assert setup.sweep() == (1, True)
    assert setup.queue.attempts == [first_attempt(record, setup.clock())]


@pytest.mark.parametrize(
    "fields",
    [
        {"webhook": a_webhook(state=WebhookState.SUCCEEDED)},
        {"webhook": a_webhook(state=WebhookState.FAILED)},
        {"webhook": a_webhook(state=WebhookState.NOT_APPLICABLE)},
        *[{"state": state} for state in State if state not in ENDED],
    ],
)
def test_no_other_webhook_is_overdue(fields: dict[str, object]) -> None:
    setup = SweepSetup()
    record = setup.add(**fields)
    setup.clock.now += timedelta(days=2)

    assert not is_overdue(record, setup.clock())
    assert setup.sweep() == (0, True)


def test_an_attempt_that_races_the_overdue_one_is_made_once() -> None:
    setup = SweepSetup()
    record = setup.add()
    late_message = first_attempt(record, NOON)
    setup.clock.now += LATE
    setup.sweep()

    setup.deliverer.attempt(late_message)
    assert setup.deliverer.attempt(setup.queue.attempts[0]) is None

    assert len(setup.receiver.posts) == 1


@pytest.mark.parametrize("failure", [TooManyRequests("busy"), Unavailable("no answer")])
def test_a_webhook_whose_change_fails_is_planned_again_by_the_next_sweep(failure: Exception) -> None:
    setup = SweepSetup()
    setup.add()
    setup.clock.now += LATE

    def fail() -> None:
        raise failure

    setup.store.before_commit.append(fail)
    assert setup.sweep() == (0, True)
    assert setup.sweep() == (1, True)
    assert len(setup.queue.attempts) == 2


def test_a_webhook_that_gets_its_result_during_the_sweep_is_left_alone() -> None:
    setup = SweepSetup()
    record = setup.add()
    setup.clock.now += LATE

    def succeed() -> None:
        setup.store.before_commit.clear()
        setup.deliverer.attempt(first_attempt(record, NOON))

    setup.store.before_commit.append(succeed)
    assert setup.sweep() == (0, True)
    assert setup.stored_record(record).webhook_state is WebhookState.SUCCEEDED


def test_a_sweep_without_time_plans_nothing_and_says_so() -> None:
    setup = SweepSetup()
    setup.add()
    setup.clock.now += LATE

    assert setup.sweep(timedelta()) == (0, False)
    assert setup.queue.attempts == []


def test_webhooks_that_wait_for_their_retry_do_not_hide_an_overdue_one_for_ever() -> None:
    setup = SweepSetup()
    later = WebhookAttempt(timestamp(NOON), "busy", next_attempt_at=timestamp(NOON + timedelta(days=1)))
    for _ in range(RECORDS_A_DAY + 100):
        setup.add(webhook=a_webhook(attempts=(later,), attempts_in_round=6))
    overdue = setup.add()
    setup.clock.now += LATE

    runs = 0
    while not setup.queue.attempts:
        setup.clock.now += timedelta(minutes=5)
        setup.sweep()
        runs += 1
        assert runs < 50

    assert [attempt.request_id for attempt in setup.queue.attempts] == [overdue.id]


def test_a_connection_without_pending_webhooks_costs_one_read() -> None:
    setup = SweepSetup()
    setup.add(webhook=a_webhook(state=WebhookState.SUCCEEDED))
    setup.clock.now += LATE
    reads: list[str] = []
    for name in ("day_counts", "all_index_entries", "request", "connection"):
        read = getattr(setup.store, name)

        def counted(*arguments: object, name: str = name, read: object = read, **named: object) -> object:
            reads.append(name)
            return read(*arguments, **named)  # type: ignore[operator]

        setattr(setup.store, name, counted)

    setup.sweep()

    assert reads == ["day_counts"]


def test_a_deleted_connection_is_left_out() -> None:
    setup = SweepSetup()
    setup.add()
    connection = setup.store.connection(CONNECTION_ID)
    assert connection
    setup.store.commit(Put(connection, connection.removed(timestamp(NOON))))
    setup.clock.now += LATE

    assert setup.sweep() == (0, True)


@pytest.mark.parametrize("lost", range(1, 11))
def test_whichever_message_is_lost_the_webhook_still_ends(lost: int) -> None:
    """A receiver that always fails gets ten attempts, although one message of them never arrives."""
    setup = SweepSetup(*[HttpResponse(500, "busy")] * 10)
    record = setup.add()
    messages = [first_attempt(record, NOON)]
    delivered = 0
    for _ in range(60):
        for message in messages:
            delivered += 1
            setup.clock.now = max(setup.clock.now, message.not_before)
            if delivered != lost:
                setup.deliverer.attempt(message)
        setup.clock.now += timedelta(minutes=61)
        setup.sweep()
        messages, setup.queue.attempts[:] = [*setup.queue.attempts], []

    assert setup.stored_record(record).webhook_state is WebhookState.FAILED
    assert len(setup.receiver.posts) == 10


@pytest.mark.parametrize(("max_records", "expected", "is_complete"), [(2, 2, False), (3, 3, True), (4, 3, True)])
def test_overdue_webhooks_are_listed_up_to_a_number_without_planning_them(
    max_records: int, expected: int, *, is_complete: bool
) -> None:
    setup = SweepSetup()
    for _ in range(3):
        setup.add()
    setup.clock.now += LATE

    found, complete = overdue_webhooks(setup.store, setup.clock, setup.clock() + LONG, max_records)

    assert (len(found), complete) == (expected, is_complete)
    assert setup.queue.attempts == []


def test_listing_overdue_webhooks_stops_when_the_time_is_over() -> None:
    setup = SweepSetup()
    setup.add()
    setup.clock.now += LATE

    assert overdue_webhooks(setup.store, setup.clock, setup.clock(), 10) == ([], False)
