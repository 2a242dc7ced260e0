"""The stream of `queued_requests` → the first delivery attempt of a record that has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.dynamodb.images import record_from_image
from domain.webhooks.defaults import ATTEMPT_TIMEOUT_SECONDS
from domain.webhooks.delivery import asks_for_first_attempt, first_planned_attempt
from handlers._delivery_batch import attempt_all
from handlers.bootstrap import services

if TYPE_CHECKING:
    from domain.requests.record import QueuedRequest
    from domain.webhooks.delivery import Result


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Attempt the webhooks of a batch of stream records; failures are named by sequence number."""
    deliverer, now = services().deliverer, services().clock()

    def attempt(entry: dict[str, Any]) -> Result | None:
        images = entry["dynamodb"]
        before, after = _record(images.get("OldImage")), _record(images.get("NewImage"))
        if after is None or not asks_for_first_attempt(before, after):
            return None
        return deliverer.attempt(first_planned_attempt(after, now), ATTEMPT_TIMEOUT_SECONDS)

    return attempt_all(event["Records"], lambda entry: str(entry["dynamodb"]["SequenceNumber"]), attempt)


def _record(image: dict[str, Any] | None) -> QueuedRequest | None:
    """Return an image's record; None for no image, and for what is left of a deleted record."""
    return None if image is None or "deleted_at" in image else record_from_image(image)
