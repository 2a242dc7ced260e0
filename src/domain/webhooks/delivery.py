"""One webhook attempt: check that it is still needed, post the event and record the result.

The stream consumer makes the first attempt with a short time limit. If the receiver does not respond in time, or
recently did not, the stream consumer hands the attempt over to the retry queue. A receiver that timed out may have the
event and get it again. It recognises the event by its `webhook-id`.

The record, not the message, determines whether an attempt is made. A message names a round and the number of earlier
tries in it. If the record is past them, the message is dropped, so duplicate and late messages do no harm.

An attempt calls the store twice: it reads before the HTTP call and commits after it. The next attempt is planned before
the commit. If the process dies in between, the number of tries in the record is unchanged. The message for this attempt
is then delivered again, and the message that was planned too early waits (`AheadOfRecord`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

from domain.errors import Conflict
from domain.requests.record import ENDED, QueuedRequest, Tombstone, WebhookAttempt, WebhookState, timestamp
from domain.storage.changes import ChangeRequest
from domain.webhooks.defaults import (
    ATTEMPT_TIMEOUT_SECONDS,
    CLOCK_TOLERANCE,
    FIRST_ATTEMPT_TIMEOUT_SECONDS,
    MAX_ATTEMPTS_KEPT,
    MAX_BODY_BYTES,
    MAX_OLDER_RESPONSE_BYTES,
    MAX_RESPONSE_BYTES,
)
from domain.webhooks.ports import DeliveryFailed, HttpResponse, PlannedAttempt
from domain.webhooks.schedule import next_attempt_at
from domain.webhooks.signature import signature_headers

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from domain.ports import Clock
    from domain.requests.record import StoredRequest
    from domain.storage.ports import Database, Delivery
    from domain.webhooks.ports import RetryQueue, WebhookSender
    from domain.webhooks.slow_hosts import SlowHosts

    Response: TypeAlias = HttpResponse | DeliveryFailed

_GONE = 410
_SUCCESS = range(200, 300)
_REDIRECTS = range(300, 400)


@dataclass(frozen=True, slots=True)
class Succeeded:
    """The receiver has the event."""


@dataclass(frozen=True, slots=True)
class RetryAt:
    """The attempt failed. The next one is planned."""

    moment: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class GaveUp:
    """The webhook failed: it was the last attempt, the receiver returned 410, or its address is not allowed."""

    reason: str


Outcome: TypeAlias = Succeeded | RetryAt | GaveUp


@dataclass(frozen=True, slots=True)
class Attempted:
    """An attempt was made.

    `recorded` is False if the record was deleted, or changed twice, during the attempt. Then this value is the only
    trace of the attempt.
    """

    record: QueuedRequest
    outcome: Outcome
    attempt: WebhookAttempt
    recorded: bool


@dataclass(frozen=True, slots=True)
class Dropped:
    """The attempt is no longer needed: the event was delivered, tried meanwhile, redelivered or deleted."""


@dataclass(frozen=True, slots=True)
class Postponed:
    """The message arrived too early, because a queue cannot delay it long enough. The attempt was planned again."""

    until: datetime


@dataclass(frozen=True, slots=True)
class HandedOver:
    """The first attempt was not made, or it timed out. It is in the retry queue, and the record is unchanged."""

    record: QueuedRequest
    reason: str


Result: TypeAlias = Attempted | Dropped | Postponed | HandedOver


class AheadOfRecord(Exception):
    """A planned attempt arrived before the failed attempt that planned it was recorded.

    That commit is late, or the process died before it. The message must be delivered again, or the webhook
    could be lost.
    """


@dataclass(frozen=True, slots=True)
class Deliverer:
    """Makes webhook attempts. `random` returns numbers in [0, 1), which spread the retries.

    `event_body` returns the body of the event for a record and the timestamp of the attempt.
    """

    store: Database
    event_body: Callable[[StoredRequest, str], bytes]
    sender: WebhookSender
    retries: RetryQueue
    clock: Clock
    random: Callable[[], float]
    slow_hosts: SlowHosts

    def first_attempt(self, record: QueuedRequest) -> Result:
        """Make the first attempt of a round with a short time limit, or hand it over.

        Raises the same errors as `attempt`.
        """
        host = urlsplit(record.webhook.url or "").netloc
        if host in self.slow_hosts:
            return self.hand_over(record, "The receiver recently did not respond in time.")
        start = self.clock()
        delivery = self._wanted(PlannedAttempt.of(record, record.webhook.tries, start))
        if delivery is None:
            return Dropped()
        response = self._post(delivery, start, FIRST_ATTEMPT_TIMEOUT_SECONDS)
        timed_out = isinstance(response, DeliveryFailed) and response.timed_out
        self.slow_hosts.record(host, timed_out=timed_out)
        return self.hand_over(record, str(response)) if timed_out else self._finish(delivery, response, start)

    def hand_over(self, record: QueuedRequest, reason: str) -> HandedOver:
        """Put the first attempt of a round into the retry queue."""
        self.retries.plan(PlannedAttempt.of(record, record.webhook.tries, self.clock()))
        return HandedOver(record, reason)

    def attempt(self, planned: PlannedAttempt) -> Result:
        """Make a planned attempt if it is due and still needed.

        Raises AheadOfRecord and the errors of the store. After an error the message must be delivered again, and the
        receiver may be called twice.
        """
        start = self.clock()
        if planned.not_before > start + CLOCK_TOLERANCE:
            self.retries.plan(planned)
            return Postponed(planned.not_before)
        delivery = self._wanted(planned)
        if delivery is None:
            return Dropped()
        return self._finish(delivery, self._post(delivery, start, ATTEMPT_TIMEOUT_SECONDS), start)

    def _wanted(self, planned: PlannedAttempt) -> Delivery | None:
        """Read the record and its bodies. Return None if the attempt is no longer needed."""
        delivery = self.store.delivery(
            planned.request_id, planned.app_id, response_parts=planned.response_parts, max_response_bytes=MAX_BODY_BYTES
        )
        if delivery is None or isinstance(delivery, Tombstone) or not _is_wanted(delivery.stored.record, planned):
            return None
        return delivery

    def _finish(self, delivery: Delivery, response: Response, start: datetime) -> Attempted:
        """Plan the next attempt if one is needed, and record this one."""
        record, end = delivery.stored.record, self.clock()
        outcome = self._outcome(response, record.webhook.tries + 1, end)
        if isinstance(outcome, RetryAt):
            self.retries.plan(PlannedAttempt.of(record, record.webhook.tries + 1, outcome.moment))
        attempt = WebhookAttempt(
            timestamp(start),
            _response_text(response),
            status_code=response.status if isinstance(response, HttpResponse) else None,
            duration_ms=round((end - start).total_seconds() * 1000),
            next_attempt_at=timestamp(outcome.moment) if isinstance(outcome, RetryAt) else None,
        )
        return Attempted(record, outcome, attempt, recorded=self._record(record, attempt, outcome, end))

    def _post(self, delivery: Delivery, now: datetime, timeout_seconds: float) -> Response:
        record = delivery.stored.record
        if not delivery.secrets:
            # The receiver could not distinguish an unsigned event from a forged one.
            return DeliveryFailed("The app has no webhook secret to sign with.", permanent=True)
        body = self.event_body(delivery.stored, timestamp(now))
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "qbxml-queue",
            **signature_headers(delivery.secrets, record.id, int(now.timestamp()), body),
        }
        try:
            return self.sender.post(record.webhook.url or "", headers, body, timeout_seconds)
        except DeliveryFailed as failure:
            return failure

    def _outcome(self, response: Response, tries: int, now: datetime) -> Outcome:
        if isinstance(response, HttpResponse):
            if response.status in _SUCCESS:
                return Succeeded()
            permanent, retry_after = response.status == _GONE, response.retry_after
        else:
            permanent, retry_after = response.permanent, None
        reason = _failure(response)
        if permanent:
            return GaveUp(reason)
        moment = next_attempt_at(now, tries, retry_after, self.random())
        return RetryAt(moment, reason) if moment else GaveUp(f"Gave up after {tries} attempts. The last one: {reason}")

    def _record(self, record: QueuedRequest, attempt: WebhookAttempt, outcome: Outcome, now: datetime) -> bool:
        """Commit the attempt. If the record has changed since it was read, add the attempt to the changed record."""
        try:
            self.store.commit(ChangeRequest(record, _settled(record, attempt, outcome, now)))
        except Conflict as conflict:
            current = conflict.current
        else:
            return True
        if not isinstance(current, QueuedRequest):
            return False
        try:
            self.store.commit(ChangeRequest(current, _merged(current, record, attempt, outcome, now)))
        except Conflict:
            return False
        return True


def needs_first_attempt(before: QueuedRequest | None, after: QueuedRequest) -> bool:
    """Return whether this change of a record requires the first attempt of a round."""
    return _awaits_first_attempt(after) and (
        before is None or not _awaits_first_attempt(before) or before.webhook.round != after.webhook.round
    )


def _awaits_first_attempt(record: QueuedRequest) -> bool:
    return record.state in ENDED and record.webhook_state is WebhookState.PENDING and record.webhook.tries == 0


def _is_wanted(record: QueuedRequest, planned: PlannedAttempt) -> bool:
    webhook = record.webhook
    if record.state not in ENDED or webhook.state is not WebhookState.PENDING or webhook.round != planned.webhook_round:
        return False
    if webhook.tries < planned.webhook_tries:
        raise AheadOfRecord(f"{record.id}: attempt {planned.webhook_tries} came before {webhook.tries} was recorded.")
    return webhook.tries == planned.webhook_tries


def _failure(response: Response) -> str:
    if isinstance(response, DeliveryFailed):
        return str(response)
    not_followed = ": redirects are not followed" if response.status in _REDIRECTS else ""
    return f"The receiver returned HTTP {response.status}{not_followed}."


def _response_text(response: Response) -> str:
    """Return the text of the response, or a description of the failure if there is no text."""
    if isinstance(response, HttpResponse) and (response.body or response.status in _SUCCESS):
        return response.body
    return _failure(response)


def _settled(record: QueuedRequest, attempt: WebhookAttempt, outcome: Outcome, now: datetime) -> QueuedRequest:
    """Return the record after an attempt of its current round."""
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


def _merged(
    current: QueuedRequest, read: QueuedRequest, attempt: WebhookAttempt, outcome: Outcome, now: datetime
) -> QueuedRequest:
    """Return `current` with an attempt that started from the record `read`.

    A success counts for its whole round, because the receiver has the event. Any other outcome counts only if no other
    attempt was recorded meanwhile. Otherwise this attempt is only listed, and the other one decides.
    """
    same_round = current.webhook.round == read.webhook.round
    same_try = current.webhook_state is WebhookState.PENDING and current.webhook.tries == read.webhook.tries
    if same_round and (same_try or isinstance(outcome, Succeeded)):
        return _settled(current, attempt, outcome, now)
    return current.with_webhook(now, attempts=_with_attempt(current, attempt))


def _with_attempt(record: QueuedRequest, attempt: WebhookAttempt) -> tuple[WebhookAttempt, ...]:
    older = (_shortened(one, MAX_OLDER_RESPONSE_BYTES) for one in record.webhook.attempts)
    return (*older, _shortened(attempt, MAX_RESPONSE_BYTES))[-MAX_ATTEMPTS_KEPT:]


def _shortened(attempt: WebhookAttempt, max_bytes: int) -> WebhookAttempt:
    return replace(attempt, response=attempt.response.encode()[:max_bytes].decode(errors="ignore"))
