"""The delivery of webhooks: a second consumer of the stream, the retry queue and a receiver that fails.

SQS delivers each message at least once, early or late. The receiver checks what it gets.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from domain.errors import TooManyRequests
from domain.maintenance.overdue_webhooks import OVERDUE_AFTER, plan_overdue_webhooks
from domain.records.request import ENDED, QueuedRequest
from domain.records.webhook import WebhookState
from domain.webhooks.defaults import RETRY_DELAYS
from domain.webhooks.delivery import AheadOfRecord, Deferred, Deliverer, NotRecorded, needs_first_attempt
from domain.webhooks.patience import Patience
from domain.webhooks.ports import DeliveryFailed, HttpResponse
from handlers.views.webhook_event import EVENT_STATES, event_body
from tests.support.web_connector.functions import POST
from tests.support.web_connector.interruptions import FunctionTerminated, ReadFailed
from tests.support.web_connector.streams import Consumer
from tests.support.webhooks import PlannedAttempts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from domain.ports import Clock
    from domain.webhooks.ports import PlannedAttempt
    from tests.support.builders import FixedClock
    from tests.support.web_connector.functions import PlannedTrouble
    from tests.support.web_connector.observed_store import Entry

ACCEPTED, FAILED, GONE, UNREACHABLE, TIMED_OUT = "accepted", "failed", "gone", "unreachable", "timed out"
"""How a receiver answers. One that times out has the event."""

TO_BE_REPEATED = (AheadOfRecord, NotRecorded, ReadFailed, TooManyRequests)
"""The errors after which a message or a change is delivered again."""

LONGEST_DELAY = 2 * max(RETRY_DELAYS)

MAX_PASSES = 20
"""How often the queue delivers a message that fails, before it moves it to the dead letters."""


@dataclass
class Receiver:
    """A receiver that gives these answers in turn. It refuses an event that is sent before the end of its request."""

    history: Mapping[str, Sequence[QueuedRequest]]
    interrupter: PlannedTrouble
    answers: Sequence[str] = (ACCEPTED,)
    posts: int = 0
    received: Counter[str] = field(default_factory=Counter)

    def post(self, _url: str, headers: Mapping[str, str], body: bytes, _timeout_seconds: float) -> HttpResponse:
        """Receive an event. The function that sends it may be terminated before or after that."""
        self.interrupter.calls += 1
        interruption = self.interrupter.passing(POST)
        if interruption == "terminated-before":
            raise FunctionTerminated
        request_id, event = headers["webhook-id"], json.loads(body)
        latest = self.history[request_id][-1]
        assert latest.state in ENDED, "a webhook was sent before the end of its request"
        assert (event["page_request_id"], event["state"]) == (request_id, EVENT_STATES[latest.state])
        answer = self.answers[self.posts % len(self.answers)]
        self.posts += 1
        if answer in {ACCEPTED, TIMED_OUT}:
            self.received[request_id] += 1
        if interruption:
            raise FunctionTerminated
        if answer in {UNREACHABLE, TIMED_OUT}:
            raise DeliveryFailed(answer, timed_out=answer == TIMED_OUT)
        return HttpResponse({ACCEPTED: 200, FAILED: 500, GONE: 410}[answer], answer)


@dataclass
class Webhooks:
    """The webhooks of a store that records its changes in `stream`. Each function is a process of its own."""

    store: Any
    interruptible: Any
    host: Clock
    clock: FixedClock
    in_function: Callable[[Callable[[], object], Any], object]
    interrupter: PlannedTrouble

    def __post_init__(self) -> None:
        """Begin with an empty queue."""
        self.receiver = Receiver(self.store.history, self.interrupter)
        self.queue = PlannedAttempts([])
        self.consumer = Consumer(self.store, self.in_function, self._make_first_attempts)

    def _deliverer(self) -> Deliverer:
        patience = Patience(self.host)
        return Deliverer(self.interruptible, event_body, self.receiver, self.queue, self.host, lambda: 0.5, patience)

    def _make_first_attempts(self, batch: Sequence[Entry]) -> None:
        """Make the first attempts of a batch, as `deliver_webhook` does."""
        deliverer = self._deliverer()
        deferred: list[PlannedAttempt] = []
        for before, after in batch:
            if after is None or not needs_first_attempt(before, after):
                continue
            try:
                result = deliverer.first_attempt(after)
            except TO_BE_REPEATED as error:
                result = deliverer.defer(after, str(error))
            if isinstance(result, Deferred):
                deferred.append(result.planned_attempt)
        self.queue.plan_all(deferred)

    def attempt(self, message: PlannedAttempt, trouble: Any, *, again: bool = False) -> None:
        """Deliver a message, which stays in the queue if its function fails. `again` delivers it once more later."""

        def attempt() -> bool:
            try:
                self._deliverer().attempt(message)
            except TO_BE_REPEATED:
                return False
            return True

        if self.in_function(attempt, trouble) and not again and message in self.queue.attempts:
            self.queue.attempts.remove(message)

    def go_on(self, which: int, trouble: Any) -> None:
        """Deliver any message, or the changes of a shard if there is none."""
        if messages := self.queue.attempts:
            self.attempt(messages[which % len(messages)], trouble)
        else:
            self.consumer.consume(which, 1, trouble)

    def plan_overdue(self) -> None:
        """Plan the attempts whose messages were lost."""
        plan_overdue_webhooks(self.interruptible, self.queue, self.host, self.host() + timedelta(seconds=30))

    def to_quiet(self) -> None:
        """Let the receiver accept everything, and deliver everything. Then the sweep finds what the queue has lost."""
        self.receiver.answers = [ACCEPTED]
        self.consumer.consume_everything()
        self._empty_queue()
        self.clock.advance(seconds=(OVERDUE_AFTER + LONGEST_DELAY).total_seconds())
        self.plan_overdue()
        self._empty_queue()

    def _empty_queue(self) -> None:
        for _ in range(MAX_PASSES):
            messages = sorted(self.queue.attempts, key=lambda message: message.not_before)
            for message in messages:
                self.clock.now = max(self.clock.now, message.not_before + timedelta(seconds=5))
                self.attempt(message, None)
        self.queue.attempts.clear()

    def check(self) -> None:
        """Check that each webhook was delivered, or that its record says why it was not."""
        for record in self.store.records.values():
            if isinstance(record, QueuedRequest) and record.state in ENDED and record.webhook.url:
                state = record.webhook.state
                assert state in {WebhookState.SUCCEEDED, WebhookState.FAILED}, record
                assert self.receiver.received[record.id] if state is WebhookState.SUCCEEDED else record.webhook.error
