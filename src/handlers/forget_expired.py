"""The stream of `queued_requests` → a record that DynamoDB removed because it had expired: remove what it left."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools import Logger

from adapters.dynamodb.images import record_from_image
from handlers.bootstrap import services

logger = Logger()


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Forget each record of a batch of stream records; failures are named by sequence number.

    Of a batch Lambda repeats everything from the first failure on: what was forgotten already is left alone then.
    """
    retention = services().retention
    failed = []
    forgotten = 0
    for entry in event["Records"]:
        number, image = str(entry["dynamodb"]["SequenceNumber"]), entry["dynamodb"]["OldImage"]
        try:
            forgotten += retention.forget(record_from_image(image))
        except Exception:  # one bad record keeps no other from being forgotten
            ids = {name: image.get(name, {}).get("S") for name in ("id", "connection_id")}
            logger.exception("retention.not_processed", extra={"item": number, **ids})
            failed.append({"itemIdentifier": number})
    logger.info("retention.forgotten", extra={"records": forgotten, "failed": len(failed)})
    return {"batchItemFailures": failed}
