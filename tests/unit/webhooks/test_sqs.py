"""Planning attempts with SQS: delays and messages."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.sqs import SqsRetryQueue, message_of, planned_attempt_of
from domain.records.event import CONNECTION_OUTCOMES, EventOutcome
from domain.timestamps import timestamp
from domain.webhooks.ports import PlannedAttempt, PlannedChanges, PlannedEvent, PlannedResolution
from tests.support.builders import APP_ID, NOON, FixedClock

PLANNED = PlannedAttempt(
    request_id="11111111-1111-4111-8111-111111111111",
    app_id=APP_ID,
    webhook_round=2,
    earlier_attempts=3,
    response_chunks="a#4",
    not_before=NOON,
)


class SentMessages:
    """Stands for an SQS client and keeps the messages."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []

    def send_message(self, **message: Any) -> None:
        """Keep the message."""
        self.messages.append(message)


class RefusingBatches:
    """Stands for an SQS client that refuses the messages of some apps, and fails in the call with this number."""

    def __init__(self, refused_apps: set[str], failing_call: int) -> None:
        self.calls: list[list[str]] = []
        self._refused_apps = refused_apps
        self._failing_call = failing_call

    def send_message_batch(self, **call: Any) -> dict[str, Any]:
        """Keep the groups of the messages."""
        if len(self.calls) == self._failing_call:
            raise ConnectionError("SQS does not respond")
        self.calls.append([entry["MessageGroupId"] for entry in call["Entries"]])
        return {
            "Failed": [
                {"Id": entry["Id"], "Code": "InternalError", "SenderFault": False}
                for entry in call["Entries"]
                if entry["MessageGroupId"] in self._refused_apps
            ]
        }


@pytest.mark.parametrize(
    ("wait", "delay"),
    [
        (timedelta(seconds=-5), 0),
        (timedelta(0), 0),
        (timedelta(milliseconds=1), 1),  # never early
        (timedelta(seconds=5), 5),
        (timedelta(seconds=899, milliseconds=1), 900),
        (timedelta(minutes=15), 900),
        (timedelta(hours=24), 900),  # and is then planned again
    ],
)
def test_a_message_is_delayed_until_it_is_due_by_at_most_15_minutes(wait: timedelta, delay: int) -> None:
    """SQS refuses a DelaySeconds above 900."""
    client = SentMessages()
    planned_attempt = replace(PLANNED, not_before=NOON + wait)

    SqsRetryQueue(client, "https://queue", FixedClock()).plan(planned_attempt)

    assert client.messages == [
        {
            "QueueUrl": "https://queue",
            "MessageBody": message_of(planned_attempt),
            "MessageGroupId": APP_ID,
            "DelaySeconds": delay,
        },
    ]


@given(st.integers(0, 50), st.sets(st.integers(0, 49)), st.integers(0, 9))
def test_attempts_are_sent_ten_at_a_time_and_each_one_that_was_not_sent_has_its_error(
    number: int, refused: set[int], failing_call: int
) -> None:
    attempts = [replace(PLANNED, app_id=str(index)) for index in range(number)]
    client = RefusingBatches({str(index) for index in refused}, failing_call)

    failures = SqsRetryQueue(client, "https://queue", FixedClock()).plan_all(attempts)

    sent = [app_id for call in client.calls for app_id in call]
    assert sent == [str(index) for index in range(min(number, 10 * failing_call))]
    assert all(len(call) == 10 for call in client.calls[:-1])
    expected = {attempt for attempt in attempts if attempt.app_id not in sent or int(attempt.app_id) in refused}
    assert failures.keys() == expected


def test_a_message_is_a_flat_object() -> None:
    assert json.loads(message_of(PLANNED)) == {
        "request_id": PLANNED.request_id,
        "app_id": APP_ID,
        "webhook_round": 2,
        "round_attempts": 3,
        "response_chunks": "a#4",
        "not_before": "2026-03-14T12:00:00.000000Z",
    }


@given(st.integers(0, 9), st.integers(0, 9), st.integers(0, 99), st.timedeltas(timedelta(0), timedelta(days=2)))
def test_a_message_is_read_as_its_planned_attempt(
    webhook_round: int, attempts: int, chunks: int, wait: timedelta
) -> None:
    planned_attempt = PlannedAttempt("id", "app", webhook_round, attempts, f"a#{chunks}", NOON + wait)

    assert planned_attempt_of(message_of(planned_attempt)) == planned_attempt


@given(
    st.sampled_from(sorted(CONNECTION_OUTCOMES)),
    st.integers(1, 10**9),
    st.integers(0, 9),
    st.timedeltas(timedelta(0), timedelta(days=2)),
)
def test_a_message_is_read_as_its_planned_event(
    outcome: EventOutcome, revision: int, attempts: int, wait: timedelta
) -> None:
    planned_event = PlannedEvent("id", "app", outcome, revision, timestamp(NOON), attempts, NOON + wait)

    assert planned_attempt_of(message_of(planned_event)) == planned_event


@given(st.integers(0, 9), st.integers(0, 9), st.timedeltas(timedelta(0), timedelta(days=2)))
def test_a_message_is_read_as_its_planned_resolution(attempts: int, chunks: int, wait: timedelta) -> None:
    planned = PlannedResolution("id", "connection", "app", f"a#{chunks}", attempts, NOON + wait)

    assert planned_attempt_of(message_of(planned)) == planned


@given(st.integers(0, 9), st.integers(1, 10**15), st.timedeltas(timedelta(0), timedelta(days=2)))
def test_a_message_is_read_as_its_planned_changes(attempts: int, sequence: int, wait: timedelta) -> None:
    planned = PlannedChanges("connection", "app", "subscription", sequence, attempts, NOON + wait)

    assert planned_attempt_of(message_of(planned)) == planned


@pytest.mark.parametrize("message", ["", "no JSON", "{}", "[]", "1", '{"request_id": "1"}'])
def test_any_other_message_is_an_error(message: str) -> None:
    """SQS delivers it again and finally moves it to the dead-letter queue, which has an alarm."""
    with pytest.raises((ValueError, KeyError, TypeError)):
        planned_attempt_of(message)
