"""Remove the bodies and counts of records that have expired. The stream of `QueuedRequests` triggers it."""

from typing import Any

from adapters.dynamodb.records import RECORDS
from domain.maintenance.retention import forget_record
from handlers.common.bootstrap import end_init, services
from handlers.common.logs import ServiceLogger

logger = ServiceLogger()
end_init(lambda services: services.store)


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Clean up after each record of a batch. Failures are identified by sequence number.

    Lambda repeats everything after the first failure. A record that was already cleaned up is not changed.
    """
    store, clock = services().store, services().clock
    failures = []
    forgotten = 0
    for entry in event["Records"]:
        number, image = str(entry["dynamodb"]["SequenceNumber"]), entry["dynamodb"]["OldImage"]
        try:
            forgotten += forget_record(store, RECORDS.entity(image), clock())
        except Exception:  # one bad record must not block the others
            ids = {name: image.get(name, {}).get("S") for name in ("id", "connection_id")}
            logger.exception("retention.not_processed", extra={"item": number, **ids})
            failures.append({"itemIdentifier": number})
    logger.info("retention.forgotten", extra={"records": forgotten, "failed": len(failures)})
    return {"batchItemFailures": failures}
