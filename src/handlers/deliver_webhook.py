"""Make the first webhook attempt for requests that have ended, and plan that for events of connections.

The streams of `QueuedRequests` and `Connections` trigger it. An attempt to send an event of a connection is left to the
retry queue, so that a receiver does not hold up the stream.
"""

from __future__ import annotations

from threading import BoundedSemaphore
from typing import TYPE_CHECKING, Any

from adapters.dynamodb import keys
from adapters.dynamodb.connections import CONNECTIONS
from adapters.dynamodb.records import RECORDS
from domain.records.event import EventOutcome
from domain.webhooks.defaults import MAX_FIRST_ATTEMPTS_PER_APP
from domain.webhooks.delivery import Deferred, needs_first_attempt
from domain.webhooks.unrecorded_events import first_attempts
from handlers.common.bootstrap import end_init, services
from handlers.common.canaries import without_canaries
from handlers.common.webhook_batch import attempt_all, batch_response, logger

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.records.request import QueuedRequest
    from domain.webhooks.delivery import Attempted
    from domain.webhooks.ports import PlannedEvent

end_init(lambda services: services.deliverer)


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Make the attempts of a batch of stream records. Return the sequence numbers of those that failed."""
    records = without_canaries("deliver_webhook", event["Records"])
    # A batch is from one stream. A change of a request can have events, too.
    image = records[0]["dynamodb"].get("NewImage", {}) if records else {}
    is_of_connections = keys.EVENT in image and keys.STATE not in image
    return _plan_events(records) if is_of_connections else _attempt_webhooks(records)


def _plan_events(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Plan the first attempt for each event of a connection whose webhook asks for it.

    If SQS does not accept a message, Lambda repeats the batch from there. An event can then be sent twice.
    """
    numbers: dict[PlannedEvent, str] = {}
    for record in records:
        image, number = record["dynamodb"]["NewImage"], str(record["dynamodb"]["SequenceNumber"])
        try:
            outcomes = [EventOutcome(letter) for letter in image[keys.EVENT]["S"]]
            attempts = first_attempts(CONNECTIONS.entity(image), outcomes, services().clock())
        except Exception:  # noqa: BLE001 - a repetition would fail as well, and hold up the events behind it
            logger.exception("delivery.not_processed", extra={"item": number})
        else:
            numbers |= dict.fromkeys(attempts, number)
    failures = services().retry_queue.plan_all(list(numbers))
    return batch_response({numbers[planned_event]: error for planned_event, error in failures.items()})


def _attempt_webhooks(records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Make or defer the first attempt for each request that has ended."""
    deliverer = services().deliverer
    slots: dict[str, BoundedSemaphore] = {}

    def attempt(entry: dict[str, Any]) -> Attempted | Deferred | None:
        images = entry["dynamodb"]
        before, after = _record(images.get("OldImage")), _record(images.get("NewImage"))
        if after is None or not needs_first_attempt(before, after):
            return None
        slot = slots.setdefault(after.app_id, BoundedSemaphore(MAX_FIRST_ATTEMPTS_PER_APP))
        # The wait is short: when the attempts before this one were slow, it is left to the queue.
        with slot:
            try:
                return deliverer.first_attempt(after)
            except Exception:  # noqa: BLE001 - whatever the error is, the attempt must be made
                # Lambda repeats a batch at once, and gives it up after a few failures. The queue repeats for half an
                # hour.
                logger.exception("delivery.failed", extra={"request_id": after.id, "app_id": after.app_id})
                return deliverer.defer(after, "The first attempt failed with an error.")

    results = attempt_all(records, lambda entry: str(entry["dynamodb"]["SequenceNumber"]), attempt)
    # Together, because an app whose receivers are slow can have hundreds, and each call takes time from all apps.
    failures = deliverer.retries.plan_all(
        [result.planned_attempt for result in results.values() if isinstance(result, Deferred)]
    )
    return batch_response(
        {
            number: failures.get(result.planned_attempt, result) if isinstance(result, Deferred) else result
            for number, result in results.items()
        }
    )


def _record(image: dict[str, Any] | None) -> QueuedRequest | None:
    """Return the record of an image, or None if there is no image or it is a tombstone."""
    return None if image is None or "deleted_at" in image else RECORDS.entity(image)
