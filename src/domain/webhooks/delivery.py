"""One attempt to deliver a webhook: is it still wanted, post it, write down what came of it.

The record is the truth, not the message that asked for the attempt. A message names the round and
the number of tries that it was planned for; one that the record has left behind is dropped. So a
message may come twice, late or never planned to the end, and does no harm.

Two calls of the store frame the HTTP call: one read, one commit. Between them the next attempt is
planned *before* the commit. After a crash in between the record still has its old number of tries:
whatever asked for this attempt asks again, and the attempt planned too early waits for its turn.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from domain.errors import Conflict
from domain.requests.record import ENDED, QueuedRequest, Tombstone, WebhookAttempt, WebhookState, timestamp
from domain.storage.changes import ChangeRequest
from domain.webhooks.defaults import (
    ANSWER_BYTES,
    ATTEMPTS_KEPT,
    CLOCK_TOLERANCE,
    MAX_BODY_BYTES,
    OLDER_ANSWER_BYTES,
)
from domain.webhooks.event import event_body
from domain.webhooks.ports import DeliveryFailed, HttpResponse, PlannedAttempt
from domain.webhooks.schedule import next_attempt_at
from domain.webhooks.signature import signature_headers

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from domain.ports import Clock
    from domain.storage.ports import Database, Delivery
    from domain.webhooks.ports import RetryQueue, WebhookSender

_GONE = 410
_SUCCESS = range(200, 300)
_REDIRECTS = range(300, 400)


@dataclass(frozen=True, slots=True)
class Succeeded:
    """The receiver has it."""


@dataclass(frozen=True, slots=True)
class RetryAt:
    """It failed and is tried again."""

    moment: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class GaveUp:
    """It failed for good: the last attempt, HTTP 410, or a receiver that is not allowed."""

    reason: str


Outcome: TypeAlias = Succeeded | RetryAt | GaveUp


@dataclass(frozen=True, slots=True)
class Attempted:
    """An attempt was made. `status` is None when no answer came.

    `recorded` is False when the record was deleted, or changed twice, while the receiver was
    answering: then this value is all that is left of the attempt.
    """

    record: QueuedRequest
    outcome: Outcome
    status: int | None
    duration_seconds: float
    recorded: bool


@dataclass(frozen=True, slots=True)
class Dropped:
    """The record has moved on (delivered, tried meanwhile, redelivered, deleted): nothing to do."""


@dataclass(frozen=True, slots=True)
class Postponed:
    """It is not yet time: planned again, the record untouched. A queue may not wait long enough at once."""

    until: datetime


Result: TypeAlias = Attempted | Dropped | Postponed


class AheadOfRecord(Exception):
    """A planned attempt came before the failed one that planned it was written down.

    Its commit is late or was lost. Dropping it could lose the webhook: let it come again.
    """


@dataclass(frozen=True, slots=True)
class Deliverer:
    """Makes delivery attempts. `random` returns numbers in [0, 1); it spreads the retries."""

    store: Database
    sender: WebhookSender
    retries: RetryQueue
    clock: Clock
    random: Callable[[], float]

    def attempt(self, ticket: PlannedAttempt, timeout_seconds: float) -> Result:
        """Make the attempt that `ticket` stands for, if it is due and still wanted.

        Raises AheadOfRecord, and what the store raises (TooManyRequests): the caller has the
        ticket come again. Then the receiver may be called twice; it dedupes on `webhook-id`.
        """
        began = self.clock()
        if ticket.not_before > began + CLOCK_TOLERANCE:
            self.retries.plan(ticket)
            return Postponed(ticket.not_before)
        found = self.store.delivery(
            ticket.request_id,
            ticket.app_id,
            response_parts=ticket.response_parts,
            largest_response=MAX_BODY_BYTES,
        )
        if found is None or isinstance(found, Tombstone) or not _is_wanted(found.stored.record, ticket):
            return Dropped()
        record = found.stored.record
        answer = self._post(found, began, timeout_seconds)
        ended = self.clock()
        outcome = self._outcome(answer, record.webhook.tries + 1, ended)
        if isinstance(outcome, RetryAt):
            self.retries.plan(_next_planned_attempt(record, outcome.moment))
        attempt = WebhookAttempt(timestamp(began), _answer_text(answer))
        return Attempted(
            record,
            outcome,
            status=answer.status if isinstance(answer, HttpResponse) else None,
            duration_seconds=(ended - began).total_seconds(),
            recorded=self._write_down(record, attempt, outcome, ended),
        )

    def _post(self, found: Delivery, now: datetime, timeout_seconds: float) -> HttpResponse | DeliveryFailed:
        record = found.stored.record
        if not found.secrets:
            # A receiver could not tell it from a forgery.
            return DeliveryFailed("The app has no webhook secret to sign with.", permanent=True)
        body = event_body(found.stored, timestamp(now))
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "qbxml-queue",
            **signature_headers(found.secrets, record.id, int(now.timestamp()), body),
        }
        try:
            return self.sender.post(record.webhook.url or "", headers, body, timeout_seconds)
        except DeliveryFailed as failure:
            return failure

    def _outcome(self, answer: HttpResponse | DeliveryFailed, tries: int, now: datetime) -> Outcome:
        if isinstance(answer, HttpResponse) and answer.status in _SUCCESS:
            return Succeeded()
        reason = _failure(answer)
        if isinstance(answer, HttpResponse):
            permanent, retry_after = answer.status == _GONE, answer.retry_after
        else:
            permanent, retry_after = answer.permanent, None
        if permanent:
            return GaveUp(reason)
        moment = next_attempt_at(now, tries, retry_after, self.random())
        return RetryAt(moment, reason) if moment else GaveUp(f"Gave up after {tries} attempts. The last one: {reason}")

    def _write_down(self, record: QueuedRequest, attempt: WebhookAttempt, outcome: Outcome, now: datetime) -> bool:
        """Commit the attempt; when the record has changed since it was read, add it to what is there now."""
        try:
            self.store.commit(ChangeRequest(record, _settled(record, attempt, outcome, now)))
        except Conflict as conflict:
            current = conflict.current
        else:
            return True
        if not isinstance(current, QueuedRequest):
            return False
        try:
            self.store.commit(ChangeRequest(current, _joined(current, record, attempt, outcome, now)))
        except Conflict:
            return False
        return True


def first_planned_attempt(record: QueuedRequest, now: datetime) -> PlannedAttempt:
    """Return the ticket for the first attempt of a round: due at once."""
    return replace(_next_planned_attempt(record, now), webhook_tries=record.webhook.tries)


def asks_for_first_attempt(before: QueuedRequest | None, after: QueuedRequest) -> bool:
    """Return whether this change is the one by which a record began to wait for a round's first attempt."""
    if not _awaits_first_attempt(after):
        return False
    return before is None or not _awaits_first_attempt(before) or before.webhook.round != after.webhook.round


def _awaits_first_attempt(record: QueuedRequest) -> bool:
    return record.state in ENDED and record.webhook_state is WebhookState.PENDING and record.webhook.tries == 0


def _next_planned_attempt(record: QueuedRequest, moment: datetime) -> PlannedAttempt:
    return PlannedAttempt(
        request_id=record.id,
        app_id=record.app_id,
        webhook_round=record.webhook.round,
        webhook_tries=record.webhook.tries + 1,
        response_parts=record.response_parts,
        not_before=moment,
    )


def _is_wanted(record: QueuedRequest, ticket: PlannedAttempt) -> bool:
    if record.state not in ENDED or record.webhook_state is not WebhookState.PENDING:
        return False
    if record.webhook.round != ticket.webhook_round or record.webhook.tries > ticket.webhook_tries:
        return False
    if record.webhook.tries < ticket.webhook_tries:
        raise AheadOfRecord(f"{record.id}: try {ticket.webhook_tries} came before try {record.webhook.tries} ended.")
    return True


def _failure(answer: HttpResponse | DeliveryFailed) -> str:
    if isinstance(answer, DeliveryFailed):
        return str(answer)
    if answer.status in _REDIRECTS:
        return f"The receiver answered HTTP {answer.status}: redirects are not followed."
    return f"The receiver answered HTTP {answer.status}."


def _answer_text(answer: HttpResponse | DeliveryFailed) -> str:
    """Return the answer's text; a failure without a text in words (contract §3)."""
    if isinstance(answer, HttpResponse) and (answer.body or answer.status in _SUCCESS):
        return answer.body
    return _failure(answer)


def _settled(record: QueuedRequest, attempt: WebhookAttempt, outcome: Outcome, now: datetime) -> QueuedRequest:
    """Return the record after an attempt of its present round."""
    match outcome:
        case Succeeded():
            state, error = WebhookState.SUCCEEDED, None
        case RetryAt(reason=reason):
            state, error = WebhookState.PENDING, reason
        case GaveUp(reason=reason):
            state, error = WebhookState.FAILED, reason
    return record.with_webhook(
        now, state=state, error=error, tries=record.webhook.tries + 1, attempts=_with_attempt(record, attempt)
    )


def _joined(
    current: QueuedRequest, read: QueuedRequest, attempt: WebhookAttempt, outcome: Outcome, now: datetime
) -> QueuedRequest:
    """Return `current` after an attempt that was begun when the record still was as it was `read`.

    A success counts for its whole round: the receiver has the event. Any other outcome counts
    only while no other attempt has; else it is only noted, and the other one decides what is next.
    """
    same_round = current.webhook.round == read.webhook.round
    same_try = current.webhook_state is WebhookState.PENDING and current.webhook.tries == read.webhook.tries
    if same_round and (same_try or isinstance(outcome, Succeeded)):
        return _settled(current, attempt, outcome, now)
    return current.with_webhook(now, attempts=_with_attempt(current, attempt))


def _with_attempt(record: QueuedRequest, attempt: WebhookAttempt) -> tuple[WebhookAttempt, ...]:
    older = (replace(one, response=_cut(one.response, OLDER_ANSWER_BYTES)) for one in record.webhook.attempts)
    latest = replace(attempt, response=_cut(attempt.response, ANSWER_BYTES))
    return (*older, latest)[-ATTEMPTS_KEPT:]


def _cut(text: str, size: int) -> str:
    """Return the beginning of `text`, at most `size` bytes of UTF-8."""
    return text.encode()[:size].decode(errors="ignore")
