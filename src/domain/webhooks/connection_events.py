"""Sends the events of connections to their webhooks.

An event of a connection has no record, so the retry queue alone keeps its attempts. The first message is sent when the
stream reports the change of the connection, and each failed attempt sends the next message before its own message is
deleted. So no attempt is lost, and an event can be sent twice. All its attempts have the same `webhook-id`, which
follows from the change.

What is sent, and where, is read from the connection at each attempt. A connection that was deleted, that has no webhook
any more or that does not ask for the event gets nothing (docs/decisions/0087).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from domain.records.event_types import asks_for, event_id
from domain.timestamps import timestamp
from domain.webhooks.defaults import ATTEMPT_TIMEOUT_SECONDS, CLOCK_TOLERANCE
from domain.webhooks.delivery import RetryAt, attempt_of, outcome_of, response_to
from domain.webhooks.ports import PlannedEvent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from domain.ports import Clock
    from domain.records.connection import Connection
    from domain.records.event import EventOutcome
    from domain.records.webhook import WebhookAttempt
    from domain.storage.ports import WebhookStore
    from domain.webhooks.delivery import AttemptOutcome
    from domain.webhooks.ports import RetryQueue, WebhookSender


@dataclass(frozen=True, slots=True)
class EventAttempted:
    """An attempt to send an event of a connection was made."""

    planned_event: PlannedEvent
    url: str
    outcome: AttemptOutcome
    attempt: WebhookAttempt


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

    `event_body` returns the body of an event for its connection as it is now and the timestamp of the attempt.
    """

    store: WebhookStore
    event_body: Callable[[Connection, PlannedEvent, str], bytes]
    sender: WebhookSender
    retries: RetryQueue
    clock: Clock
    random: Callable[[], float]

    def attempt(self, planned_event: PlannedEvent) -> EventAttempted | None:
        """Make a planned attempt if it is due and still asked for, and plan the next one if it fails.

        Returns None if no attempt was made. A message that arrives too early is planned again. After an error the
        message must be delivered again, and the receiver may be called twice.
        """
        start = self.clock()
        if planned_event.not_before > start + CLOCK_TOLERANCE:
            self.retries.plan(planned_event)
            return None
        connection = self.store.connection(planned_event.connection_id)
        if connection is None or not asks_for(connection, planned_event.outcome):
            return None
        app = self.store.app(connection.app_id)
        url = connection.webhook_url or ""
        response = response_to(
            self.sender,
            url,
            app.webhook_secrets if app else (),
            event_id(connection.id, planned_event.revision, planned_event.outcome),
            self.event_body(connection, planned_event, timestamp(start)),
            start,
            ATTEMPT_TIMEOUT_SECONDS,
        )
        end = self.clock()
        number = planned_event.earlier_attempts + 1
        outcome = outcome_of(response, number, end, self.random())
        if isinstance(outcome, RetryAt):
            self.retries.plan(replace(planned_event, earlier_attempts=number, not_before=outcome.moment))
        return EventAttempted(planned_event, url, outcome, attempt_of(response, outcome, start, end))
