"""Plans webhook attempts with SQS."""

from __future__ import annotations

import json
import math
from datetime import datetime
from typing import TYPE_CHECKING, Any

from domain.records.event import EventOutcome
from domain.timestamps import timestamp
from domain.webhooks.ports import PlannedAttempt, PlannedChanges, PlannedEvent, PlannedResolution

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from domain.ports import Clock
    from domain.webhooks.ports import AnyPlanned, Planned

MAX_DELAY_SECONDS = 900
"""SQS: DelaySeconds is at most 900. A longer delay takes several messages; `not_before` is in each of them."""

MAX_MESSAGES_OF_A_CALL = 10
"""SQS: SendMessageBatch sends at most ten messages, and costs as much as one SendMessage."""


class MessageNotAccepted(Exception):
    """SQS accepted other messages of a batch, but not this one."""


class SqsRetryQueue:
    """Implements `RetryQueue` with a standard queue. `client` is an SQS client of botocore.

    The app is the message group, which makes it a fair queue: while many attempts of one app are in flight, SQS
    delivers the messages of other apps first.
    """

    def __init__(self, client: Any, queue_url: str, clock: Clock) -> None:
        self._client = client
        self._queue_url = queue_url
        self._clock = clock

    def plan(self, planned_attempt: Planned) -> None:
        """Send a message that arrives at `not_before`, or after the longest possible delay if that is sooner."""
        self._client.send_message(QueueUrl=self._queue_url, **self._message(planned_attempt))

    def plan_all(self, planned_attempts: Sequence[AnyPlanned]) -> Mapping[AnyPlanned, Exception]:
        """Send ten messages with each call. Return the attempts whose message was not accepted, with the errors.

        If a call itself fails, the rest is not sent: while SQS does not respond, each call would take many seconds.
        """
        failures: dict[AnyPlanned, Exception] = {}
        for start in range(0, len(planned_attempts), MAX_MESSAGES_OF_A_CALL):
            part = planned_attempts[start : start + MAX_MESSAGES_OF_A_CALL]
            entries = [{"Id": str(number), **self._message(attempt)} for number, attempt in enumerate(part)]
            try:
                response = self._client.send_message_batch(QueueUrl=self._queue_url, Entries=entries)
            except Exception as error:  # noqa: BLE001 - whatever the error is, the caller must know what was not sent
                return failures | dict.fromkeys(planned_attempts[start:], error)
            for failed in response.get("Failed", []):
                reason = f"SQS did not accept the message: {failed['Code']} {failed.get('Message', '')}".rstrip()
                failures[part[int(failed["Id"])]] = MessageNotAccepted(reason)
        return failures

    def _message(self, planned_attempt: Planned) -> dict[str, Any]:
        wait = math.ceil((planned_attempt.not_before - self._clock()).total_seconds())
        return {
            "MessageBody": message_of(planned_attempt),
            "MessageGroupId": planned_attempt.app_id,
            "DelaySeconds": min(max(wait, 0), MAX_DELAY_SECONDS),
        }


def message_of(planned_attempt: Planned) -> str:
    """Return a planned attempt as a flat JSON object, with `not_before` as a timestamp."""
    if isinstance(planned_attempt, PlannedEvent):
        ids: dict[str, Any] = {
            "connection_id": planned_attempt.connection_id,
            "app_id": planned_attempt.app_id,
            "event": planned_attempt.outcome.value,
            "revision": planned_attempt.revision,
            "occurred_at": planned_attempt.occurred_at,
        }
    elif isinstance(planned_attempt, PlannedResolution):
        ids = {
            "request_id": planned_attempt.request_id,
            "connection_id": planned_attempt.connection_id,
            "app_id": planned_attempt.app_id,
            "response_chunks": planned_attempt.response_chunks,
        }
    elif isinstance(planned_attempt, PlannedChanges):
        ids = {
            "connection_id": planned_attempt.connection_id,
            "app_id": planned_attempt.app_id,
            "subscription_id": planned_attempt.subscription_id,
            "sequence": planned_attempt.sequence,
        }
    else:
        ids = {
            "request_id": planned_attempt.request_id,
            "app_id": planned_attempt.app_id,
            "webhook_round": planned_attempt.webhook_round,
            "response_chunks": planned_attempt.response_chunks,
        }
    return json.dumps(
        ids | {"round_attempts": planned_attempt.earlier_attempts, "not_before": timestamp(planned_attempt.not_before)}
    )


def planned_attempt_of(message: str) -> Planned:
    """Return the planned attempt in a message. Raises ValueError, KeyError or TypeError for any other text."""
    fields = json.loads(message)
    earlier_attempts, not_before = int(fields["round_attempts"]), datetime.fromisoformat(fields["not_before"])
    if "event" in fields:
        return PlannedEvent(
            connection_id=str(fields["connection_id"]),
            app_id=str(fields["app_id"]),
            outcome=EventOutcome(fields["event"]),
            revision=int(fields["revision"]),
            occurred_at=str(fields["occurred_at"]),
            earlier_attempts=earlier_attempts,
            not_before=not_before,
        )
    if "subscription_id" in fields:
        return PlannedChanges(
            connection_id=str(fields["connection_id"]),
            app_id=str(fields["app_id"]),
            subscription_id=str(fields["subscription_id"]),
            sequence=int(fields["sequence"]),
            earlier_attempts=earlier_attempts,
            not_before=not_before,
        )
    if "webhook_round" not in fields:
        return PlannedResolution(
            request_id=str(fields["request_id"]),
            connection_id=str(fields["connection_id"]),
            app_id=str(fields["app_id"]),
            response_chunks=str(fields["response_chunks"]),
            earlier_attempts=earlier_attempts,
            not_before=not_before,
        )
    return PlannedAttempt(
        request_id=str(fields["request_id"]),
        app_id=str(fields["app_id"]),
        webhook_round=int(fields["webhook_round"]),
        earlier_attempts=earlier_attempts,
        response_chunks=str(fields["response_chunks"]),
        not_before=not_before,
    )
