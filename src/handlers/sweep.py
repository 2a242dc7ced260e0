"""Every five minutes: release silent sessions, remove deleted connections and plan overdue webhook attempts."""

import logging
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from domain.maintenance.overdue_webhooks import plan_overdue_webhooks
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
    until = clock() + left - RESERVE
    swept = sweep(services().store, clock, until)
    planned, all_planned = plan_overdue_webhooks(services().store, services().retry_queue, clock, until)
    facts = asdict(swept) | {"webhooks_planned": planned, "finished": swept.finished and all_planned}
    logger.always(logging.INFO, "sweep.done", **facts)
