"""The stream of `queued_requests` → the first delivery attempt of a record that has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.dynamodb.images import record_from_image
from domain.webhooks.defaults import FIRST_ATTEMPT_TIMEOUT_SECONDS
from domain.webhooks.delivery import awaits_first_attempt, first_ticket
from handlers import bootstrap
from handlers._delivery_batch import attempt_all

if TYPE_CHECKING:
    from domain.queued_request import QueuedRequest
    from domain.webhooks.delivery import Result


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Attempt the webhooks of a batch of stream records; failures are named by sequence number."""
    deliverer, now = bootstrap.webhook_deliveries(), bootstrap.clock()()

    def attempt(entry: dict[str, Any]) -> Result | None:
        record = _record_to_deliver(entry["dynamodb"])
        return deliverer.attempt(first_ticket(record, now), FIRST_ATTEMPT_TIMEOUT_SECONDS) if record else None

    return attempt_all(event["Records"], lambda entry: str(entry["dynamodb"]["SequenceNumber"]), attempt)


def _record_to_deliver(images: dict[str, Any]) -> QueuedRequest | None:
    """Return the record if this change is the one by which it began to wait for its first attempt."""
    if not _is_record(images.get("NewImage")):
        return None
    record = record_from_image(images["NewImage"])
    if not awaits_first_attempt(record):
        return None
    before = record_from_image(images["OldImage"]) if _is_record(images.get("OldImage")) else None
    if before and awaits_first_attempt(before) and before.webhook_round == record.webhook_round:
        return None
    return record


def _is_record(image: dict[str, Any] | None) -> bool:
    """Tell a record from nothing (before its insertion, after its expiry) and from what is left of a deleted one."""
    return image is not None and "deleted_at" not in image
