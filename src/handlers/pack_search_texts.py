"""Every 15 minutes: pack the search texts of past days."""

from datetime import timedelta
from typing import Any

from domain.maintenance.search_packing import pack_days
from handlers.common.bootstrap import services
from handlers.common.logs import ServiceLogger

logger = ServiceLogger()

RESERVE = timedelta(seconds=60)
"""Time reserved for the last step, which makes up to 1,000 writes, eight at a time."""


def handler(_event: dict[str, Any], context: Any) -> None:
    """Pack while the function has time. If a day could not be packed, fail at the end to trigger the alarm."""
    left = timedelta(milliseconds=context.get_remaining_time_in_millis())
    clock = services().clock
    packed = pack_days(services().store, clock, clock() + left - RESERVE)
    for (connection_id, day), error in packed.failures.items():
        logger.error("packing.not_processed", exc_info=error, extra={"connection_id": connection_id, "day": day})
    counted = {"days": packed.days, "failed": len(packed.failures), "finished": packed.finished}
    logger.info("packing.done", extra=counted)
    if packed.failures:
        raise next(iter(packed.failures.values()))
