"""Sends the events whose attempts no record counts: of connections, of settled writes, and pages of changes.

A connection and a page have no record of attempts, and the record of a request counts those of the event of its end.
So the retry queue alone keeps these attempts. The first message is sent when the stream reports the change, and each
failed attempt sends the next message before its own message is deleted. So no attempt is lost, and an event can be sent
twice. All its attempts have the same `webhook-id`, which follows from the change.

What is sent, and where, is read from the connection, the request or the subscription at each attempt. Nothing is sent
if it was deleted, has no webhook any more, or does not ask for the event any more (docs/decisions/0087).

What fails at the webhook of a subscription is noted in the subscription, because people look there.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from domain.errors import Conflict
from domain.records.event_types import asks_for
from domain.records.request import WhetherExecuted
from domain.records.subscription import Subscription
from domain.storage.changes import Put
from domain.timestamps import timestamp
from domain.webhooks.defaults import ATTEMPT_TIMEOUT_SECONDS, CLOCK_TOLERANCE
from domain.webhooks.delivery import (
    MAX_COMMITS,
    BodySlots,
    GaveUp,
    NotRecorded,
    RetryAt,
    Succeeded,
    attempt_of,
    event_of_request,
    outcome_of,
    response_to,
)
from domain.webhooks.ports import PlannedChanges, PlannedEvent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from domain.ports import Clock
    from domain.records.connection import Connection
    from domain.records.event import EventOutcome
    from domain.records.request import QueuedRequest, StoredRequest
    from domain.records.subscription import ChangePage, SubscriptionWebhook
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
    """What an attempt sends, and where. `subscription` is the one that asks for a page of changes."""

    url: str
    secrets: Sequence[str]
    body: bytes
    subscription: Subscription | None = None


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

    `connection_body` returns the body of an event for its connection as it is now and the timestamp of the attempt,
    `resolved_body` that for a write that was settled, and `changes_body` that for a page of changes.
    """

    store: WebhookStore
    connection_body: Callable[[Connection, PlannedEvent, str], bytes]
    resolved_body: Callable[[StoredRequest, str], bytes]
    changes_body: Callable[[ChangePage, PlannedChanges, str], bytes]
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
        event = self._event(planned, timestamp(start))
        if event is None:
            return None
        response = response_to(
            self.sender, event.url, event.secrets, planned.id, event.body, start, ATTEMPT_TIMEOUT_SECONDS
        )
        end = self.clock()
        number = planned.earlier_attempts + 1
        outcome = outcome_of(response, number, end, self.random())
        # Before the next attempt is planned: if it fails, this attempt is repeated, and not also the next one.
        self._note(event, outcome, timestamp(end))
        if isinstance(outcome, RetryAt):
            self.retries.plan(replace(planned, earlier_attempts=number, not_before=outcome.moment))
        return EventAttempted(planned, event.url, outcome, attempt_of(response, outcome, start, end))

    def _event(self, planned: UnrecordedAttempt, moment: str) -> _Event | None:
        match planned:
            case PlannedEvent():
                return self._of_connection(planned, moment)
            case PlannedChanges():
                return self._of_page(planned, moment)
            case _:
                return self._of_request(planned, moment)

    def _of_connection(self, planned: PlannedEvent, moment: str) -> _Event | None:
        connection = self.store.connection(planned.connection_id)
        if connection is None or not asks_for(connection, planned.outcome):
            return None
        body = self.connection_body(connection, planned, moment)
        return _Event(connection.webhook_url or "", self._secrets(connection.app_id), body)

    def _secrets(self, app_id: str) -> Sequence[str]:
        app = self.store.app(app_id)
        return app.webhook_secrets if app else ()

    def _of_page(self, planned: PlannedChanges, moment: str) -> _Event | None:
        subscription = self.store.subscription(planned.connection_id, planned.subscription_id)
        connection = self.store.connection(planned.connection_id)
        if subscription is None or not subscription.webhook.url or connection is None or connection.deleted_at:
            return None
        with self.slots.reading():
            for page in self.store.change_pages([(planned.connection_id, planned.sequence)]):
                if not subscription.wants(page.object):
                    return None
                with self.slots.making:
                    body = self.changes_body(page, planned, moment)
                return _Event(subscription.webhook.url, self._secrets(planned.app_id), body, subscription)
        return None

    def _note(self, event: _Event, outcome: AttemptOutcome, now: str) -> None:
        """Note in the subscription what became of an attempt. Raises NotRecorded if others change it too often."""
        current: object = event.subscription
        for _ in range(MAX_COMMITS):
            # A subscription that was deleted, or has another receiver by now, has not failed.
            if not isinstance(current, Subscription) or current.webhook.url != event.url:
                return
            after = _noted(current.webhook, outcome, now)
            if after == current.webhook:
                return
            try:
                self.store.commit(Put(current, replace(current, webhook=after, revision=current.revision + 1)))
            except Conflict as conflict:
                current = conflict.current
            else:
                return
        raise NotRecorded(f"A subscription changed {MAX_COMMITS} times during the commit of an attempt.")

    def _of_request(self, planned: PlannedResolution, moment: str) -> _Event | None:
        event = event_of_request(
            self.store, self.slots, planned, _is_settled, lambda stored: self.resolved_body(stored, moment)
        )
        return _Event(event.record.webhook.url or "", event.secrets, event.body) if event else None


def _is_settled(record: QueuedRequest) -> bool:
    """Return whether the event is still true. A restore may have gone back to before the answer."""
    return bool(record.webhook.url) and record.executed is not WhetherExecuted.UNKNOWN


def _noted(webhook: SubscriptionWebhook, outcome: AttemptOutcome, now: str) -> SubscriptionWebhook:
    """Return the webhook of a subscription after an attempt."""
    if isinstance(outcome, Succeeded):
        return replace(webhook, error=None)
    return webhook.failed(outcome.reason, now, gave_up=isinstance(outcome, GaveUp))
