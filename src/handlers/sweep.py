"""Every five minutes: release silent sessions and remove the records of deleted connections."""

from dataclasses import asdict
from datetime import timedelta
from typing import Any

from domain.maintenance.sweep import sweep
from handlers.common.bootstrap import services
from handlers.common.logs import ServiceLogger

logger = ServiceLogger()

RESERVE = timedelta(seconds=20)
"""Time reserved for the last step."""


def handler(_event: dict[str, Any], context: Any) -> None:
    """Sweep while the function has time."""
    left = timedelta(milliseconds=context.get_remaining_time_in_millis())
    clock = services().clock
    swept = sweep(services().store, clock, clock() + left - RESERVE)
    logger.info("sweep.done", extra=asdict(swept))
