"""Sends the events whose attempts no record counts: those of connections, and that an unknown write was settled.

A connection has no record of attempts, and the record of a request counts those of the event of its end. So the retry
queue alone keeps these attempts. The first message is sent when the stream reports the change, and each failed attempt
sends the next message before its own message is deleted. So no attempt is lost, and an event can be sent twice. All its
attempts have the same `webhook-id`, which follows from the change.

What is sent, and where, is read from the connection or the request at each attempt. One that was deleted, a connection
that has no webhook any more or that does not ask for the event, and a request without a webhook get nothing
(docs/decisions/0087).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from domain.records.event_types import asks_for
from domain.records.request import WhetherExecuted
from domain.timestamps import timestamp
from domain.webhooks.defaults import ATTEMPT_TIMEOUT_SECONDS, CLOCK_TOLERANCE
from domain.webhooks.delivery import BodySlots, RetryAt, attempt_of, event_of_request, outcome_of, response_to
from domain.webhooks.ports import PlannedEvent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from domain.ports import Clock
    from domain.records.connection import Connection
    from domain.records.event import EventOutcome
    from domain.records.request import QueuedRequest, StoredRequest
    from domain.records.webhook import WebhookAttempt
    from domain.storage.ports import WebhookStore
    from domain.webhooks.delivery import AttemptOutcome
    from domain.webhooks.ports import PlannedResolution, RetryQueue, UnrecordedAttempt, WebhookSender


@dataclass(frozen=True, slots=True)
class EventAttempted:
    """An attempt to send an event was made."""

    planned: UnrecordedAttempt
    url: str
    outcome: AttemptOutcome
    attempt: WebhookAttempt


@dataclass(frozen=True, slots=True)
class _Event:
    """What an attempt sends, and where."""

    url: str
    secrets: Sequence[str]
    body: bytes


def first_attempts(connection: Connection, outcomes: Iterable[EventOutcome], now: datetime) -> list[PlannedEvent]:
    """Return the first attempt of each event that the connection asks for. `connection` is as after its change."""
    return [
        PlannedEvent(connection.id, connection.app_id, outcome, connection.revision, connection.updated_at, 0, now)
        for outcome in outcomes
        if asks_for(connection, outcome)
    ]


@dataclass(frozen=True, slots=True)
class EventDeliverer:
    """Makes the attempts. `random` returns numbers in [0, 1), which spread the retries.

    `connection_body` returns the body of an event for its connection as it is now and the timestamp of the attempt, and
    `resolved_body` that for a write that was settled.
    """

    store: WebhookStore
    connection_body: Callable[[Connection, PlannedEvent, str], bytes]
    resolved_body: Callable[[StoredRequest, str], bytes]
    sender: WebhookSender
    retries: RetryQueue
    clock: Clock
    random: Callable[[], float]
    slots: BodySlots = field(default_factory=BodySlots)

    def attempt(self, planned: UnrecordedAttempt) -> EventAttempted | None:
        """Make a planned attempt if it is due and still asked for, and plan the next one if it fails.

        Returns None if no attempt was made. A message that arrives too early is planned again. After an error the
        message must be delivered again, and the receiver may be called twice.
        """
        start = self.clock()
        if planned.not_before > start + CLOCK_TOLERANCE:
            self.retries.plan(planned)
            return None
        moment = timestamp(start)
        if isinstance(planned, PlannedEvent):
            event = self._of_connection(planned, moment)
        else:
            event = self._of_request(planned, moment)
        if event is None:
            return None
        response = response_to(
            self.sender, event.url, event.secrets, planned.id, event.body, start, ATTEMPT_TIMEOUT_SECONDS
        )
        end = self.clock()
        number = planned.earlier_attempts + 1
        outcome = outcome_of(response, number, end, self.random())
        if isinstance(outcome, RetryAt):
            self.retries.plan(replace(planned, earlier_attempts=number, not_before=outcome.moment))
        return EventAttempted(planned, event.url, outcome, attempt_of(response, outcome, start, end))

    def _of_connection(self, planned: PlannedEvent, moment: str) -> _Event | None:
        connection = self.store.connection(planned.connection_id)
        if connection is None or not asks_for(connection, planned.outcome):
            return None
        app = self.store.app(connection.app_id)
        secrets = app.webhook_secrets if app else ()
        return _Event(connection.webhook_url or "", secrets, self.connection_body(connection, planned, moment))

    def _of_request(self, planned: PlannedResolution, moment: str) -> _Event | None:
        event = event_of_request(
            self.store, self.slots, planned, _is_settled, lambda stored: self.resolved_body(stored, moment)
        )
        return _Event(event.record.webhook.url or "", event.secrets, event.body) if event else None


def _is_settled(record: QueuedRequest) -> bool:
    """Return whether the event is still true. A restore may have gone back to before the answer."""
    return bool(record.webhook.url) and record.executed is not WhetherExecuted.UNKNOWN
