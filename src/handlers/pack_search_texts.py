"""Every 15 minutes for each share of the connections: pack the search texts of past days."""

import logging
from datetime import timedelta
from typing import Any

from domain.maintenance.search_packing import Share, pack_days
from handlers.common.bootstrap import end_init, services
from handlers.common.logs import ServiceLogger

logger = ServiceLogger()
end_init(lambda services: services.store)

RESERVE = timedelta(seconds=60)
"""Time reserved for the last steps, each of which makes up to 1,000 writes, eight at a time."""


def handler(event: dict[str, Any], context: Any) -> None:
    """Pack while the function has time. If a day could not be packed, fail at the end to trigger the alarm.

    The event of a schedule names its share: `{"share": 0, "shares": 4}`. Other events mean all connections.
    """
    share = Share(event["share"], event["shares"]) if "share" in event else Share()
    left = timedelta(milliseconds=context.get_remaining_time_in_millis())
    clock = services().clock
    packed = pack_days(services().store, clock, clock() + left - RESERVE, share)
    for (connection_id, day), error in packed.failures.items():
        logger.error("packing.not_processed", exc_info=error, extra={"connection_id": connection_id, "day": day})
    logger.always(
        logging.INFO,
        "packing.done",
        share=share.number,
        days=packed.days,
        settled=packed.settled,
        failed=len(packed.failures),
        finished=packed.finished,
    )
    if packed.failures:
        raise next(iter(packed.failures.values()))
