"""The ports of webhook delivery: a sender and a queue of planned attempts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

from domain.records.event_types import CHANGES, RESOLVED, changes_event_id, event_id, event_type, resolved_event_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from domain.records.event import EventOutcome
    from domain.records.request import QueuedRequest


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """The response of a receiver. `retry_after` is the text of the header. `body` is shortened to 4 KiB."""

    status: int
    body: str
    retry_after: str | None = None


class WebhookSender(Protocol):
    """Posts to webhook URLs. It connects only to checked addresses."""

    def post(self, url: str, headers: Mapping[str, str], body: bytes, timeout_seconds: float) -> HttpResponse:
        """Return the receiver's response with any status. Raises DeliveryFailed if there is no response."""


class DeliveryFailed(Exception):
    """The receiver did not return a response, for example because of a time-out or a wrong certificate.

    The text is for the app's owner.

    `permanent` is True if a retry cannot help because the address is not allowed. `timed_out` is True if the time
    limit ended the attempt. The receiver may still have the event.
    """

    def __init__(self, reason: str, *, permanent: bool = False, timed_out: bool = False) -> None:
        super().__init__(reason)
        self.permanent = permanent
        self.timed_out = timed_out


@dataclass(frozen=True, slots=True)
class PlannedAttempt:
    """A message in the retry queue: the attempt after `earlier_attempts` in a round of a request."""

    request_id: str
    app_id: str
    webhook_round: int
    earlier_attempts: int
    response_chunks: str
    not_before: datetime

    @classmethod
    def of(cls, record: QueuedRequest, earlier_attempts: int, not_before: datetime) -> PlannedAttempt:
        """Return the attempt after `earlier_attempts` in the current round of a record."""
        return cls(record.id, record.app_id, record.webhook.round, earlier_attempts, record.response_chunks, not_before)


@dataclass(frozen=True, slots=True)
class PlannedEvent:
    """A message in the retry queue: the attempt after `earlier_attempts` to send an event of a connection.

    The event has no record, so the message alone counts its attempts. `revision` is that of the connection after the
    change that reports the event, and `occurred_at` the time of this change.
    """

    connection_id: str
    app_id: str
    outcome: EventOutcome
    revision: int
    occurred_at: str
    earlier_attempts: int
    not_before: datetime

    @property
    def id(self) -> str:
        """The id of the event, which is the `webhook-id`."""
        return event_id(self.connection_id, self.revision, self.outcome)

    @property
    def type(self) -> str:
        """The type of the event."""
        return event_type(self.outcome)


@dataclass(frozen=True, slots=True)
class PlannedResolution:
    """A message in the retry queue: the attempt after `earlier_attempts` to tell that a write was settled.

    The record counts the attempts of the event of its end, so the message alone counts these.
    """

    request_id: str
    connection_id: str
    app_id: str
    response_chunks: str
    earlier_attempts: int
    not_before: datetime

    @classmethod
    def first(cls, record: QueuedRequest, not_before: datetime) -> PlannedResolution:
        """Return the first attempt for a write that was settled."""
        return cls(record.id, record.connection_id, record.app_id, record.response_chunks, 0, not_before)

    @property
    def id(self) -> str:
        """The id of the event, which is the `webhook-id`."""
        return resolved_event_id(self.request_id)

    @property
    def type(self) -> str:
        """The type of the event."""
        return RESOLVED


@dataclass(frozen=True, slots=True)
class PlannedChanges:
    """A message in the retry queue: the attempt after `earlier_attempts` to send a page of changes to a subscription.

    `sequence` is that of the first change of the page. The message alone counts the attempts.
    """

    connection_id: str
    app_id: str
    subscription_id: str
    sequence: int
    earlier_attempts: int
    not_before: datetime

    @property
    def id(self) -> str:
        """The id of the event, which is the `webhook-id`."""
        return changes_event_id(self.connection_id, self.sequence, self.subscription_id)

    @property
    def type(self) -> str:
        """The type of the event."""
        return CHANGES


UnrecordedAttempt: TypeAlias = PlannedEvent | PlannedResolution | PlannedChanges
Planned: TypeAlias = PlannedAttempt | UnrecordedAttempt
AnyPlanned = TypeVar("AnyPlanned", bound=Planned)


class RetryQueue(Protocol):
    """Delays planned attempts."""

    def plan(self, planned_attempt: Planned) -> None:
        """Pass the planned attempt to `retry_webhook` at `not_before` or a little later."""

    def plan_all(self, planned_attempts: Sequence[AnyPlanned]) -> Mapping[AnyPlanned, Exception]:
        """Plan many attempts with few calls. Return those that could not be planned, with their errors."""
