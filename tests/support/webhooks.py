"""Support for the tests of webhooks: ended requests in a store, a scripted receiver, a queue that keeps messages."""

from __future__ import annotations

import base64
from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from domain.records.app import App
from domain.records.request import QueuedRequest, State
from domain.records.webhook import Webhook, WebhookState
from domain.storage.changes import AddRequest, ChangeRequest, Put
from domain.timestamps import timestamp
from domain.webhooks.delivery import Attempted, Deliverer
from domain.webhooks.patience import Patience
from domain.webhooks.ports import (
    DeliveryFailed,
    HttpResponse,
    PlannedAttempt,
    PlannedChanges,
    PlannedEvent,
    PlannedResolution,
)
from handlers.views.webhook_event import event_body
from tests.support.builders import APP_ID, NOON, REQUEST_XML, FixedClock, a_record
from tests.support.fake_store import FakeStore

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from domain.records.request import Tombstone
    from domain.storage.changes import Change
    from domain.storage.ports import Delivery
    from domain.webhooks.ports import AnyPlanned, Planned

SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
URL = "https://hooks.example.com/qb?token=hidden"


def stream_image(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return an item as Lambda passes it on from a stream: binary values are in base64."""
    return {
        name: {"B": base64.b64encode(value["B"]).decode()} if "B" in value else dict(value)
        for name, value in item.items()
    }


@dataclass
class CountingStore(FakeStore):
    """A store that lists its calls, and calls a function of the test before each commit."""

    calls: list[str] = field(default_factory=list)
    before_commit: deque[Callable[[], None]] = field(default_factory=deque)

    def __post_init__(self) -> None:
        """Start empty."""
        super().__init__()

    def commit(self, *changes: Change) -> None:
        """Call the next function of the test, then commit."""
        self.calls.append("commit")
        if self.before_commit:
            self.before_commit.popleft()()
        super().commit(*changes)

    def delivery(
        self, request_id: str, app_id: str, *, response_chunks: str, max_response_bytes: int
    ) -> Delivery | Tombstone | None:
        """Read the data for an attempt."""
        self.calls.append("delivery")
        return super().delivery(
            request_id, app_id, response_chunks=response_chunks, max_response_bytes=max_response_bytes
        )


@dataclass
class ScriptedReceiver:
    """A sender with a receiver that returns these responses in turn, then 200."""

    calls: list[str]
    responses: deque[HttpResponse | DeliveryFailed] = field(default_factory=deque)
    posts: list[tuple[str, Mapping[str, str], bytes, float]] = field(default_factory=list)
    while_responding: Callable[[], Any] = lambda: None

    def post(self, url: str, headers: Mapping[str, str], body: bytes, timeout_seconds: float) -> HttpResponse:
        """Keep the call and respond."""
        self.calls.append("post")
        self.posts.append((url, headers, body, timeout_seconds))
        self.while_responding()
        response = self.responses.popleft() if self.responses else HttpResponse(200, "ok")
        if isinstance(response, DeliveryFailed):
            raise response
        return response


@dataclass
class PlannedAttempts:
    """A retry queue that keeps the planned attempts by kind."""

    calls: list[str]
    attempts: list[PlannedAttempt] = field(default_factory=list)
    events: list[PlannedEvent] = field(default_factory=list)
    resolutions: list[PlannedResolution] = field(default_factory=list)
    changes: list[PlannedChanges] = field(default_factory=list)

    def plan(self, attempt: Planned) -> None:
        """Keep the planned attempt."""
        self.calls.append("plan")
        match attempt:
            case PlannedEvent():
                self.events.append(attempt)
            case PlannedResolution():
                self.resolutions.append(attempt)
            case PlannedChanges():
                self.changes.append(attempt)
            case _:
                self.attempts.append(attempt)

    def plan_all(self, attempts: Sequence[AnyPlanned]) -> Mapping[AnyPlanned, Exception]:
        """Plan each attempt."""
        failures: dict[AnyPlanned, Exception] = {}
        for attempt in attempts:
            try:
                self.plan(attempt)
            except Exception as error:  # noqa: BLE001 - a test replaced `plan`
                failures[attempt] = error
        return failures


def a_webhook(**fields: Any) -> Webhook:
    """Return a webhook that was never tried; `fields` change it."""
    return replace(Webhook.to(URL), **fields)


def first_attempt(record: QueuedRequest, due: datetime) -> PlannedAttempt:
    """Return the next attempt of a record, due at this time."""
    return PlannedAttempt.of(record, record.webhook.attempts_in_round, due)


class DeliverySetup:
    """An app, its records, its receiver and the deliverer between them. `calls` lists all calls in order."""

    def __init__(self, *responses: HttpResponse | DeliveryFailed, secrets: tuple[str, ...] = (SECRET,)) -> None:
        self.clock = FixedClock()
        self.store = CountingStore()
        self.calls = self.store.calls
        self.receiver = ScriptedReceiver(self.calls, deque(responses))
        self.queue = PlannedAttempts(self.calls)
        self.deliverer = Deliverer(
            self.store, event_body, self.receiver, self.queue, self.clock, lambda: 0.5, Patience(self.clock)
        )
        self.store.commit(Put(None, App(APP_ID, "Shop", timestamp(NOON), secrets)))
        self.calls.clear()

    def add(self, **fields: Any) -> QueuedRequest:
        """Store a record that was discarded and whose webhook was never tried; `fields` change it."""
        record = a_record(**{"state": State.DISCARDED, "webhook": a_webhook()} | fields)
        self.store.commit(AddRequest(record, REQUEST_XML, "text"))
        self.calls.clear()
        return record

    def stored_record(self, record: QueuedRequest) -> QueuedRequest:
        """Return the record as it is stored now."""
        stored_record = self.store.request(record.id)
        assert isinstance(stored_record, QueuedRequest)
        return stored_record

    def attempt(self, record: QueuedRequest) -> Attempted:
        """Make the record's next attempt, which is due now."""
        result = self.deliverer.attempt(first_attempt(self.stored_record(record), self.clock()))
        assert isinstance(result, Attempted)
        return result

    def redeliver(self, record: QueuedRequest) -> None:
        """Redeliver the record's webhook."""
        before = self.stored_record(record)
        after = before.with_webhook(
            self.clock(),
            replace(
                before.webhook,
                state=WebhookState.PENDING,
                round=before.webhook.round + 1,
                attempts_in_round=0,
                error=None,
            ),
        )
        self.store.commit(ChangeRequest(before, after))
