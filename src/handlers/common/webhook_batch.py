"""Code that the two webhook functions share: parallel attempts, their log lines and partial batch failures."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlsplit

from domain.webhooks.defaults import MAX_PARALLEL_ATTEMPTS
from domain.webhooks.delivery import Attempted, Deferred, GaveUp, RetryAt, Succeeded
from domain.webhooks.unrecorded_events import EventAttempted
from handlers.common.logs import ServiceLogger

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from domain.records.request import QueuedRequest
    from domain.records.webhook import WebhookAttempt
    from domain.webhooks.delivery import AttemptOutcome

    Attempt: TypeAlias = Attempted | EventAttempted | Deferred | None
    Result: TypeAlias = Attempt | Exception

logger = ServiceLogger()


def attempt_all(
    entries: Sequence[Any], identify: Callable[[Any], str], attempt: Callable[[Any], Attempt]
) -> dict[str, Result]:
    """Call `attempt` with each entry of a batch in its own thread. Return the results by identifier, in order."""

    def result_of(entry: Any) -> Result:
        try:
            return attempt(entry)
        except Exception as problem:  # noqa: BLE001 - it is reported as a failure of this entry
            return problem

    with ThreadPoolExecutor(max_workers=MAX_PARALLEL_ATTEMPTS) as pool:
        return dict(zip(map(identify, entries), pool.map(result_of, entries), strict=True))


def batch_response(results: Mapping[str, Result]) -> dict[str, list[dict[str, str]]]:
    """Log the results of a batch and return Lambda's partial batch response.

    Lambda delivers an entry with an error again. It repeats a stream's batch from the first failure on. Attempts that
    were already made are then skipped, because their records have more attempts.
    """
    failures = []
    for identifier, result in results.items():
        match result:
            case Exception():
                logger.error("delivery.not_processed", exc_info=result, extra={"item": identifier})
                failures.append({"itemIdentifier": identifier})
            case Attempted():
                facts = _facts(result.record) | {"recorded": result.recorded}
                logger.info("delivery.attempted", extra=facts | _result(result.outcome, result.attempt))
            case EventAttempted():
                logger.info("delivery.attempted", extra=_event_facts(result) | _result(result.outcome, result.attempt))
            case Deferred():
                logger.info("delivery.deferred", extra=_facts(result.record) | {"reason": result.reason})
    return {"batchItemFailures": failures}


def _facts(record: QueuedRequest) -> dict[str, Any]:
    """Return flat fields, with only the host of the URL, because the rest can contain the receiver's secrets.

    Before its first attempt a record was last changed when the request ended, so the first line has the seconds from
    queued to answered.
    """
    is_first = record.webhook.round == 0 and record.webhook.attempts_in_round == 0
    waited = datetime.fromisoformat(record.updated_at) - datetime.fromisoformat(record.inserted_at)
    return {
        "request_id": record.id,
        "connection_id": record.connection_id,
        "app_id": record.app_id,
        "webhook_round": record.webhook.round,
        "attempt": record.webhook.attempts_in_round + 1,
        "host": urlsplit(record.webhook.url or "").hostname,
        "state": record.state.value,
        **({"answered_seconds": round(waited.total_seconds(), 1)} if is_first else {}),
    }


def _event_facts(attempted: EventAttempted) -> dict[str, Any]:
    """Return flat fields for an event whose attempts no record counts."""
    planned = attempted.planned
    return {
        "event_id": planned.id,
        "type": planned.type,
        "connection_id": planned.connection_id,
        "app_id": planned.app_id,
        "attempt": planned.earlier_attempts + 1,
        "host": urlsplit(attempted.url).hostname,
    }


def _result(outcome: AttemptOutcome, attempt: WebhookAttempt) -> dict[str, Any]:
    match outcome:
        case Succeeded():
            facts: dict[str, Any] = {"outcome": "succeeded"}
        case RetryAt():
            facts = {"outcome": "retry", "reason": outcome.reason, "next_attempt_at": attempt.next_attempt_at}
        case GaveUp():
            facts = {"outcome": "gave_up", "reason": outcome.reason}
    return {"status": attempt.status_code, "duration_ms": attempt.duration_ms, **facts}
