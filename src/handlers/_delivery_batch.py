"""What the two webhook functions share: attempts side by side, a log line for each, partial failures."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from aws_lambda_powertools import Logger

from domain.requests.record import timestamp
from domain.webhooks.delivery import Attempted, GaveUp, RetryAt, Succeeded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from domain.webhooks.delivery import Result

SIDE_BY_SIDE = 20
"""Attempts at a time. They wait for receivers, not for the processor; a batch in the template is smaller."""

logger = Logger()


def attempt_all(
    entries: Sequence[Any], identify: Callable[[Any], str], attempt: Callable[[Any], Result | None]
) -> dict[str, list[dict[str, str]]]:
    """Call `attempt` with every entry of a batch, each in a thread, and return Lambda's partial batch response.

    An entry fails when its attempt raises: it is logged and comes again, the others do not.
    (Of a stream's batch Lambda repeats everything from the first failure on: an attempt that was
    already made is dropped then, because the record's tries have moved on.)
    """
    with ThreadPoolExecutor(max_workers=SIDE_BY_SIDE) as pool:
        attempts = [(identify(entry), pool.submit(attempt, entry)) for entry in entries]
    failed = []
    for identifier, future in attempts:
        problem = future.exception()
        if problem is not None:
            logger.error("delivery.not_processed", exc_info=problem, extra={"item": identifier})
            failed.append({"itemIdentifier": identifier})
        elif isinstance(result := future.result(), Attempted):
            logger.info("delivery.attempted", extra=_log_line(result))
    return {"batchItemFailures": failed}


def _log_line(attempted: Attempted) -> dict[str, Any]:
    """Return flat fields. Of the URL only the host: the rest may hold a receiver's secrets."""
    record, outcome = attempted.record, attempted.outcome
    match outcome:
        case Succeeded():
            ended: dict[str, Any] = {"outcome": "succeeded"}
        case RetryAt():
            ended = {"outcome": "retry", "reason": outcome.reason, "next_attempt_at": timestamp(outcome.moment)}
        case GaveUp():
            ended = {"outcome": "gave_up", "reason": outcome.reason}
    return {
        "request_id": record.id,
        "connection_id": record.connection_id,
        "app_id": record.app_id,
        "webhook_round": record.webhook.round,
        "attempt": record.webhook.tries + 1,
        "host": urlsplit(record.webhook.url or "").hostname,
        "status": attempted.status,
        "duration_ms": round(attempted.duration_seconds * 1000),
        "recorded": attempted.recorded,
        **ended,
    }
