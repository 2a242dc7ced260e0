"""The canaries in the batches of a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapters.dynamodb import keys
from domain.maintenance.canaries import consumer_of
from handlers.common.bootstrap import services
from handlers.common.logs import ServiceLogger

if TYPE_CHECKING:
    from collections.abc import Sequence

    StreamRecord = dict[str, Any]

logger = ServiceLogger()


def without_canaries(function: str, records: Sequence[StreamRecord]) -> list[StreamRecord]:
    """Return the records of a batch that are not canaries. Note that the function has got those that are.

    A canary that cannot be noted must not hold up the stream. The next one is noted 15 minutes later.
    """
    images = [record["dynamodb"].get("NewImage", {}) for record in records]
    for stream in sorted({image[keys.CANARY]["S"] for image in images if keys.CANARY in image}):
        try:
            services().store.note_canary(consumer_of(function, stream))
        except Exception:
            logger.exception("canary.not_noted", extra={"stream": stream})
    return [record for record, image in zip(records, images, strict=True) if keys.CANARY not in image]
