"""Code that the two webhook functions share: parallel attempts, their log lines and partial batch failures."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from domain.webhooks.defaults import MAX_PARALLEL_ATTEMPTS
from domain.webhooks.delivery import Attempted, Deferred, GaveUp, RetryAt, Succeeded
from handlers.common.logs import ServiceLogger

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from domain.records.request import QueuedRequest

logger = ServiceLogger()


def attempt_all(
    entries: Sequence[Any], identify: Callable[[Any], str], attempt: Callable[[Any], Attempted | Deferred | None]
) -> dict[str, list[dict[str, str]]]:
    """Call `attempt` with each entry of a batch in its own thread. Return Lambda's partial batch response.

    If an attempt raises an error, the error is logged and Lambda delivers the entry again. Lambda repeats a stream's
    batch from the first failure on. Attempts that were already made are then skipped, because their records have more
    attempts.
    """
    with ThreadPoolExecutor(max_workers=MAX_PARALLEL_ATTEMPTS) as pool:
        attempts = [(identify(entry), pool.submit(attempt, entry)) for entry in entries]
    failures = []
    for identifier, future in attempts:
        problem = future.exception()
        if problem is not None:
            logger.error("delivery.not_processed", exc_info=problem, extra={"item": identifier})
            failures.append({"itemIdentifier": identifier})
            continue
        result = future.result()
        if isinstance(result, Attempted):
            logger.info("delivery.attempted", extra=_facts(result.record) | _result(result))
        elif isinstance(result, Deferred):
            logger.info("delivery.deferred", extra=_facts(result.record) | {"reason": result.reason})
    return {"batchItemFailures": failures}


def _facts(record: QueuedRequest) -> dict[str, Any]:
    """Return flat fields, with only the host of the URL, because the rest can contain the receiver's secrets."""
    return {
        "request_id": record.id,
        "connection_id": record.connection_id,
        "app_id": record.app_id,
        "webhook_round": record.webhook.round,
        "attempt": record.webhook.attempts_in_round + 1,
        "host": urlsplit(record.webhook.url or "").hostname,
    }


def _result(attempted: Attempted) -> dict[str, Any]:
    outcome, attempt = attempted.outcome, attempted.attempt
    match outcome:
        case Succeeded():
            facts: dict[str, Any] = {"outcome": "succeeded"}
        case RetryAt():
            facts = {"outcome": "retry", "reason": outcome.reason, "next_attempt_at": attempt.next_attempt_at}
        case GaveUp():
            facts = {"outcome": "gave_up", "reason": outcome.reason}
    return {
        "status": attempt.status_code,
        "duration_ms": attempt.duration_ms,
        "recorded": attempted.recorded,
        **facts,
    }
