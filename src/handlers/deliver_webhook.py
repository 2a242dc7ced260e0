"""Make the first webhook attempt for requests that have ended. The stream of their table triggers it."""

from __future__ import annotations

from threading import BoundedSemaphore
from typing import TYPE_CHECKING, Any

from adapters.dynamodb.records import RECORDS
from domain.webhooks.defaults import MAX_FIRST_ATTEMPTS_PER_APP
from domain.webhooks.delivery import Deferred, needs_first_attempt
from handlers.common.bootstrap import end_init, services
from handlers.common.webhook_batch import attempt_all, batch_response, logger

if TYPE_CHECKING:
    from domain.records.request import QueuedRequest
    from domain.webhooks.delivery import Attempted

end_init(lambda services: services.deliverer)


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Make the attempts of a batch of stream records. Return the sequence numbers of those that failed."""
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

    results = attempt_all(event["Records"], lambda entry: str(entry["dynamodb"]["SequenceNumber"]), attempt)
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
