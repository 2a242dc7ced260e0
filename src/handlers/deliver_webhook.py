"""Make the first webhook attempt for requests that have ended. Called with the stream of their table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.dynamodb.requests import record_from_item
from domain.webhooks.defaults import ATTEMPT_TIMEOUT_SECONDS
from domain.webhooks.delivery import needs_first_attempt
from domain.webhooks.ports import PlannedAttempt
from handlers.bootstrap import services
from handlers.webhook_batch import attempt_all

if TYPE_CHECKING:
    from domain.requests.record import QueuedRequest
    from domain.webhooks.delivery import Result


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Make the attempts of a batch of stream records. Return the sequence numbers of those that failed."""
    deliverer, now = services().deliverer, services().clock()

    def attempt(entry: dict[str, Any]) -> Result | None:
        images = entry["dynamodb"]
        before, after = _record(images.get("OldImage")), _record(images.get("NewImage"))
        if after is None or not needs_first_attempt(before, after):
            return None
        return deliverer.attempt(PlannedAttempt.of(after, after.webhook.tries, now), ATTEMPT_TIMEOUT_SECONDS)

    return attempt_all(event["Records"], lambda entry: str(entry["dynamodb"]["SequenceNumber"]), attempt)


def _record(image: dict[str, Any] | None) -> QueuedRequest | None:
    """Return the record of an image, or None when there is no image or it is a tombstone."""
    return None if image is None or "deleted_at" in image else record_from_item(image)
