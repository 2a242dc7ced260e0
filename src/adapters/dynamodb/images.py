"""Records out of the images of the `queued_requests` stream, for the Lambda functions that it triggers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.dynamodb.items import record_from_item

if TYPE_CHECKING:
    from domain.requests.record import QueuedRequest


def record_from_image(image: dict[str, Any]) -> QueuedRequest:
    """Return the record of a stream image (`NewImage`). Records hold no binary values, so that it is an item."""
    return record_from_item(image)
