"""One webhook attempt: check that it is still needed, post the event and record the result.

The stream consumer makes the first attempt with a short time limit. If the receiver does not respond in time, or
recently did not, the attempt is deferred to the retry queue. A receiver that timed out may have the event and get it
again. It recognises the event by its `webhook-id`.

The record, not the message, determines whether an attempt is made. A message names a round and the number of earlier
attempts in it. If the record is past them, the message is dropped, so duplicate and late messages do no harm.

An attempt calls the store twice: it reads before the HTTP call and commits after it. The next attempt is planned before
the commit. If the process dies in between, the number of attempts in the record is unchanged. The message for this
attempt is then delivered again, and the message that was planned too early waits (`AheadOfRecord`).
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from threading import BoundedSemaphore, Lock
from typing import TYPE_CHECKING, TypeAlias

from domain.errors import Conflict, InvalidRequest
from domain.records.request import ENDED, QueuedRequest, Tombstone
from domain.records.webhook import SUCCESS, WebhookAttempt, WebhookState
from domain.storage.changes import ChangeRequest
from domain.timestamps import timestamp
from domain.webhooks.addresses import parse_url
from domain.webhooks.defaults import (
    ATTEMPT_TIMEOUT_SECONDS,
    CLOCK_TOLERANCE,
    FIRST_ATTEMPT_TIMEOUT_SECONDS,
    MAX_ATTEMPTS_KEPT,
    MAX_BODY_BYTES,
    MAX_EVENT_WAIT_SECONDS,
    MAX_OLDER_RESPONSE_BYTES,
    MAX_PARALLEL_READS,
    MAX_RESPONSE_BYTES,
)
from domain.webhooks.patience import Refused
from domain.webhooks.ports import DeliveryFailed, HttpResponse, PlannedAttempt
from domain.webhooks.schedule import next_attempt_at
from domain.webhooks.signature import signature_headers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime

    from domain.ports import Clock
    from domain.records.request import StoredRequest
    from domain.storage.ports import WebhookStore
    from domain.webhooks.patience import Patience
    from domain.webhooks.ports import PlannedResolution, RetryQueue, WebhookSender

    Response: TypeAlias = HttpResponse | DeliveryFailed

MAX_COMMITS = 20
"""Maximum number of commits to record one attempt. The record can change during the HTTP call: rounds that end at the
same time change it once each."""

_GONE = 410
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


AttemptOutcome: TypeAlias = Succeeded | RetryAt | GaveUp


@dataclass(frozen=True, slots=True)
class Attempted:
    """An attempt was made.

    `recorded` is False if the record was deleted during the attempt. Then this value is the only trace of the attempt.
    """

    record: QueuedRequest
    outcome: AttemptOutcome
    attempt: WebhookAttempt
    recorded: bool = False


@dataclass(frozen=True, slots=True)
class Deferred:
    """The first attempt was not made, or it timed out. The retry queue must make it. The record is unchanged.

    The caller plans it, because it can plan the attempts of a batch together.
    """

    record: QueuedRequest
    reason: str
    planned_attempt: PlannedAttempt


class AheadOfRecord(Exception):
    """A planned attempt arrived before the failed attempt that planned it was recorded.

    That commit is late, or the process died before it. The message must be delivered again, or the webhook
    could be lost.
    """


class NotRecorded(Exception):
    """The result of an attempt could not be recorded, because the record changed too often.

    The message must be delivered again. Otherwise the webhook would be pending without a message.
    """


class BodySlots:
    """Bounds the memory of a batch: how many attempts may hold the bodies of their records, and make an event.

    Attempts wait for each other only until their events are made, never for a receiver.
    """

    def __init__(self, wait_seconds: float = MAX_EVENT_WAIT_SECONDS) -> None:
        self.making = Lock()
        self._reading = BoundedSemaphore(MAX_PARALLEL_READS)
        self._wait_seconds = wait_seconds

    @contextmanager
    def reading(self) -> Iterator[bool]:
        """Wait for a slot. Yield False if that took too long: then the event must do without the response."""
        in_time = self._reading.acquire(timeout=self._wait_seconds)
        if not in_time:
            self._reading.acquire()
        try:
            yield in_time
        finally:
            self._reading.release()


@dataclass(frozen=True, slots=True)
class RequestEvent:
    """What an attempt sends. It does not hold the texts from which the body was made."""

    record: QueuedRequest
    secrets: Sequence[str]
    body: bytes


def event_of_request(
    store: WebhookStore,
    slots: BodySlots,
    planned: PlannedAttempt | PlannedResolution,
    is_needed: Callable[[QueuedRequest], bool],
    event_body: Callable[[StoredRequest], bytes],
) -> RequestEvent | None:
    """Read the record with its bodies, and make the event. Return None if the attempt is no longer needed."""
    with slots.reading() as in_time:
        delivery = store.delivery(
            planned.request_id,
            planned.app_id,
            response_chunks=planned.response_chunks if in_time else "",
            max_response_bytes=MAX_BODY_BYTES if in_time else 0,
        )
        if delivery is None or isinstance(delivery, Tombstone) or not is_needed(delivery.stored.record):
            return None
        with slots.making:
            # Without a secret, nothing is sent.
            body = event_body(delivery.stored) if delivery.secrets else b""
        return RequestEvent(delivery.stored.record, delivery.secrets, body)


@dataclass(frozen=True, slots=True)
class Deliverer:
    """Makes webhook attempts. `random` returns numbers in [0, 1), which spread the retries.

    `event_body` returns the body of the event for a record and the timestamp of the attempt.
    """

    store: WebhookStore
    event_body: Callable[[StoredRequest, str], bytes]
    sender: WebhookSender
    retries: RetryQueue
    clock: Clock
    random: Callable[[], float]
    patience: Patience
    slots: BodySlots = field(default_factory=BodySlots)

    def first_attempt(self, record: QueuedRequest) -> Attempted | Deferred | None:
        """Make the first attempt of a round with a short time limit, or defer it.

        Returns None if the attempt is no longer needed. Raises the same errors as `attempt`.
        """
        host = receiver_of(record.webhook.url or "")
        try:
            self.patience.require(record.app_id, host)
            start = self.clock()
            event = self._event(PlannedAttempt.of(record, record.webhook.attempts_in_round, start), start)
            if event is None:
                return None
            # The attempt begins here: the time of the database and of the other events is not the receiver's.
            token = self.patience.begin(record.app_id, host)
        except Refused as refused:
            return self.defer(record, str(refused))
        try:
            response = self._post(event, start, FIRST_ATTEMPT_TIMEOUT_SECONDS)
        finally:
            self.patience.end(record.app_id, host, token)
        timed_out = isinstance(response, DeliveryFailed) and response.timed_out
        return self.defer(record, str(response)) if timed_out else self._finish(event.record, response, start)

    def defer(self, record: QueuedRequest, reason: str) -> Deferred:
        """Leave the first attempt of a round to the retry queue."""
        return Deferred(record, reason, PlannedAttempt.of(record, record.webhook.attempts_in_round, self.clock()))

    def attempt(self, planned_attempt: PlannedAttempt) -> Attempted | None:
        """Make a planned attempt if it is due and still needed.

        Returns None if no attempt was made. A message that arrives too early, because the queue cannot delay it long
        enough, is planned again. Raises AheadOfRecord, or the errors of the store. The message must then be delivered
        again, and the receiver may be called twice.
        """
        start = self.clock()
        if planned_attempt.not_before > start + CLOCK_TOLERANCE:
            self.retries.plan(planned_attempt)
            return None
        event = self._event(planned_attempt, start)
        if event is None:
            return None
        return self._finish(event.record, self._post(event, start, ATTEMPT_TIMEOUT_SECONDS), start)

    def _event(self, planned: PlannedAttempt, now: datetime) -> RequestEvent | None:
        return event_of_request(
            self.store,
            self.slots,
            planned,
            lambda record: _is_needed(record, planned),
            lambda stored: self.event_body(stored, timestamp(now)),
        )

    def _finish(self, record: QueuedRequest, response: Response, start: datetime) -> Attempted:
        """Plan the next attempt if one is needed, and record this one."""
        end = self.clock()
        number = record.webhook.attempts_in_round + 1
        outcome = outcome_of(response, number, end, self.random())
        if isinstance(outcome, RetryAt):
            self.retries.plan(PlannedAttempt.of(record, number, outcome.moment))
        result = Attempted(record, outcome, attempt_of(response, outcome, start, end))
        return replace(result, recorded=self._record(result, end))

    def _post(self, event: RequestEvent, now: datetime, timeout_seconds: float) -> Response:
        record = event.record
        url = record.webhook.url or ""
        return response_to(self.sender, url, event.secrets, record.id, event.body, now, timeout_seconds)

    def _record(self, result: Attempted, now: datetime) -> bool:
        """Commit an attempt. If the record has changed since it was read, add the attempt to the changed record.

        Return False if the record was deleted. Raises NotRecorded.
        """
        current: object = result.record
        for _ in range(MAX_COMMITS):
            if not isinstance(current, QueuedRequest):
                return False
            try:
                self.store.commit(ChangeRequest(current, _with_result(current, result, now)))
            except Conflict as conflict:
                current = conflict.current
            else:
                return True
        raise NotRecorded(f"{result.record.id}: the record changed {MAX_COMMITS} times during the commit.")


def response_to(  # noqa: PLR0917 - the parts of one call
    sender: WebhookSender,
    url: str,
    secrets: Sequence[str],
    webhook_id: str,
    body: bytes,
    now: datetime,
    timeout_seconds: float,
) -> Response:
    """Post a signed event, and return the receiver's response or the failure. Without a secret, nothing is sent."""
    if not secrets:
        # The receiver could not distinguish an unsigned event from a forged one.
        return DeliveryFailed("The app has no webhook secret to sign with.", permanent=True)
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "qbxml-queue",
        **signature_headers(secrets, webhook_id, int(now.timestamp()), body),
    }
    try:
        return sender.post(url, headers, body, timeout_seconds)
    except DeliveryFailed as failure:
        return failure


def outcome_of(response: Response, number: int, now: datetime, random: float) -> AttemptOutcome:
    """Return the outcome of the attempt with this number, from 1 on. `random` in [0, 1) spreads the retries."""
    if isinstance(response, HttpResponse):
        if is_success(response):
            return Succeeded()
        permanent, retry_after = response.status == _GONE, response.retry_after
    else:
        permanent, retry_after = response.permanent, None
    reason = failure_of(response)
    if permanent:
        return GaveUp(reason)
    moment = next_attempt_at(now, number, retry_after, random)
    return RetryAt(moment, reason) if moment else GaveUp(f"Gave up after {number} attempts. The last one: {reason}")


def attempt_of(response: Response, outcome: AttemptOutcome, start: datetime, end: datetime) -> WebhookAttempt:
    """Return the description of an attempt."""
    return WebhookAttempt(
        timestamp(start),
        _response_text(response),
        status_code=response.status if isinstance(response, HttpResponse) else None,
        duration_ms=round((end - start).total_seconds() * 1000),
        next_attempt_at=timestamp(outcome.moment) if isinstance(outcome, RetryAt) else None,
    )


def is_success(response: HttpResponse) -> bool:
    """Whether the receiver accepted the event."""
    return response.status in SUCCESS


def receiver_of(url: str) -> str:
    """Return the host and the port of a URL, in one form for all spellings."""
    try:
        receiver = parse_url(url)
    except InvalidRequest:
        return ""
    return receiver.host_header


def needs_first_attempt(before: QueuedRequest | None, after: QueuedRequest) -> bool:
    """Return whether this change of a record requires the first attempt of a round."""
    return _awaits_first_attempt(after) and (
        before is None or not _awaits_first_attempt(before) or before.webhook.round != after.webhook.round
    )


def _awaits_first_attempt(record: QueuedRequest) -> bool:
    return _awaits_attempt(record) and record.webhook.attempts_in_round == 0


def _awaits_attempt(record: QueuedRequest) -> bool:
    return record.state in ENDED and record.webhook_state is WebhookState.PENDING


def _is_needed(record: QueuedRequest, planned_attempt: PlannedAttempt) -> bool:
    if not _awaits_attempt(record) or record.webhook.round != planned_attempt.webhook_round:
        return False
    recorded_attempts, earlier_attempts = record.webhook.attempts_in_round, planned_attempt.earlier_attempts
    if recorded_attempts < earlier_attempts:
        number, missing = earlier_attempts + 1, recorded_attempts + 1
        raise AheadOfRecord(f"{record.id}: attempt {number} arrived before attempt {missing} was recorded.")
    return recorded_attempts == earlier_attempts


def failure_of(response: Response) -> str:
    """Describe a response that is not a success, for the app's owner."""
    if isinstance(response, DeliveryFailed):
        return str(response)
    not_followed = ": redirects are not followed" if response.status in _REDIRECTS else ""
    return f"The receiver returned HTTP {response.status}{not_followed}."


def _response_text(response: Response) -> str:
    """Return the text of the response, or a description of the failure if there is no text."""
    if isinstance(response, HttpResponse) and (response.body or response.status in SUCCESS):
        return response.body
    return failure_of(response)


def _with_result(current: QueuedRequest, result: Attempted, now: datetime) -> QueuedRequest:
    """Return `current` with an attempt that started from the record `result.record`.

    A success counts for its whole round, because the receiver has the event. Any other outcome counts only if no other
    attempt was recorded meanwhile. Otherwise this attempt is only listed, and the other one decides.
    """
    webhook, read = current.webhook, result.record.webhook
    older = (_shortened(attempt, MAX_OLDER_RESPONSE_BYTES) for attempt in webhook.attempts)
    attempts = (*older, _shortened(result.attempt, MAX_RESPONSE_BYTES))[-MAX_ATTEMPTS_KEPT:]
    same_attempt = webhook.state is WebhookState.PENDING and webhook.attempts_in_round == read.attempts_in_round
    if webhook.round != read.round or not (same_attempt or isinstance(result.outcome, Succeeded)):
        return current.with_webhook(now, replace(webhook, attempts=attempts))
    match result.outcome:
        case Succeeded():
            state, error = WebhookState.SUCCEEDED, None
        case RetryAt(reason=reason):
            state, error = WebhookState.PENDING, reason
        case GaveUp(reason=reason):
            state, error = WebhookState.FAILED, reason
    in_round = webhook.attempts_in_round + 1
    after = replace(webhook, attempts=attempts, state=state, error=error, attempts_in_round=in_round)
    return current.with_webhook(now, after)


def _shortened(attempt: WebhookAttempt, max_bytes: int) -> WebhookAttempt:
    return replace(attempt, response=attempt.response.encode()[:max_bytes].decode(errors="ignore"))
