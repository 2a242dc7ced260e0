"""What the tests of webhooks share: an ended record in a store, a receiver that answers as told, a planning queue."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from domain.apps.record import App
from domain.requests.record import QueuedRequest, State, Webhook, timestamp
from domain.storage.changes import AddRequest, PutApp
from domain.webhooks.delivery import Deliverer
from domain.webhooks.ports import DeliveryFailed, HttpResponse
from tests.support.builders import APP_ID, NOON, REQUEST_XML, FixedClock, a_record
from tests.support.fake_store import FakeStore

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from domain.requests.record import Tombstone
    from domain.storage.changes import Change
    from domain.storage.ports import Delivery
    from domain.webhooks.ports import PlannedAttempt

SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
URL = "https://hooks.example.com/qb?token=hidden"


@dataclass
class CountingStore(FakeStore):
    """A store that notes its calls, and does what a test wants done just before a commit."""

    calls: list[str] = field(default_factory=list)
    before_commit: deque[Callable[[], None]] = field(default_factory=deque)

    def __post_init__(self) -> None:
        """Begin empty."""
        super().__init__()

    def commit(self, *changes: Change) -> None:
        """Commit, after whoever is to be faster."""
        self.calls.append("commit")
        if self.before_commit:
            self.before_commit.popleft()()
        super().commit(*changes)

    def delivery(
        self, request_id: str, app_id: str, *, response_parts: int, largest_response: int
    ) -> Delivery | Tombstone | None:
        """Read what an attempt needs."""
        self.calls.append("delivery")
        return super().delivery(request_id, app_id, response_parts=response_parts, largest_response=largest_response)


@dataclass
class ScriptedReceiver:
    """A sender whose receiver gives these answers in turn, 200 when they are used up."""

    calls: list[str]
    answers: deque[HttpResponse | DeliveryFailed] = field(default_factory=deque)
    posts: list[tuple[str, Mapping[str, str], bytes, float]] = field(default_factory=list)
    while_answering: Callable[[], Any] = lambda: None

    def post(self, url: str, headers: Mapping[str, str], body: bytes, timeout_seconds: float) -> HttpResponse:
        """Note the call and answer."""
        self.calls.append("post")
        self.posts.append((url, headers, body, timeout_seconds))
        self.while_answering()
        answer = self.answers.popleft() if self.answers else HttpResponse(200, "ok")
        if isinstance(answer, DeliveryFailed):
            raise answer
        return answer


@dataclass
class PlannedTickets:
    """A retry queue that only keeps what was planned."""

    calls: list[str]
    tickets: list[PlannedAttempt] = field(default_factory=list)

    def plan(self, ticket: PlannedAttempt) -> None:
        """Keep the ticket."""
        self.calls.append("plan")
        self.tickets.append(ticket)


def a_webhook(**fields: Any) -> Webhook:
    """Return a webhook that was never tried; `fields` change it."""
    return replace(Webhook.to(URL), **fields)


class World:
    """An app, its records, a receiver and a deliverer between them; `calls` are in their order."""

    def __init__(self, *answers: HttpResponse | DeliveryFailed, secrets: tuple[str, ...] = (SECRET,)) -> None:
        self.clock = FixedClock()
        self.store = CountingStore()
        self.calls = self.store.calls
        self.receiver = ScriptedReceiver(self.calls, deque(answers))
        self.queue = PlannedTickets(self.calls)
        self.deliverer = Deliverer(self.store, self.receiver, self.queue, self.clock, lambda: 0.5)
        self.store.commit(PutApp(None, App(APP_ID, "Shop", timestamp(NOON), secrets)))
        self.calls.clear()

    def add(self, **fields: Any) -> QueuedRequest:
        """Store a record that was discarded and whose webhook was never tried; `fields` change it."""
        record = a_record(**{"state": State.DISCARDED, "webhook": a_webhook()} | fields)
        self.store.commit(AddRequest(record, REQUEST_XML, "text"))
        self.calls.clear()
        return record

    def stored(self, record: QueuedRequest) -> QueuedRequest:
        """Return the record as it is now."""
        found = self.store.request(record.id)
        assert isinstance(found, QueuedRequest)
        return found
