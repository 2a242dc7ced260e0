"""Plans webhook attempts with SQS."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

from domain.requests.record import timestamp
from domain.webhooks.ports import PlannedAttempt

if TYPE_CHECKING:
    from domain.ports import Clock

MAX_DELAY_SECONDS = 900
"""SQS: DelaySeconds is at most 900. Longer waits take several hops; `not_before` is in the message."""


class SqsRetryQueue:
    """Implements `RetryQueue` on a standard queue; `client` is a boto3 SQS client."""

    def __init__(self, client: Any, queue_url: str, clock: Clock) -> None:
        self._client = client
        self._queue_url = queue_url
        self._clock = clock

    def plan(self, ticket: PlannedAttempt) -> None:
        """Send the ticket so that it comes at `not_before`, or after the longest delay if that is sooner."""
        wait = math.ceil((ticket.not_before - self._clock()).total_seconds())
        self._client.send_message(
            QueueUrl=self._queue_url,
            MessageBody=message_of(ticket),
            DelaySeconds=min(max(wait, 0), MAX_DELAY_SECONDS),
        )


def message_of(ticket: PlannedAttempt) -> str:
    """Return the ticket as a message: a flat JSON object, `not_before` as a timestamp."""
    return json.dumps(asdict(ticket) | {"not_before": timestamp(ticket.not_before)})


def ticket_of(message: str) -> PlannedAttempt:
    """Return the ticket in a message. Raises ValueError, KeyError or TypeError when there is none."""
    fields = json.loads(message)
    return PlannedAttempt(
        request_id=str(fields["request_id"]),
        app_id=str(fields["app_id"]),
        webhook_round=int(fields["webhook_round"]),
        webhook_tries=int(fields["webhook_tries"]),
        response_parts=int(fields["response_parts"]),
        not_before=datetime.fromisoformat(fields["not_before"]),
    )
