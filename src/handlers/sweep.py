"""Every five minutes: release silent sessions, remove deleted connections, plan overdue webhook attempts."""

import logging
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from domain.maintenance.old_statistics import OldStatistics
from domain.maintenance.overdue_webhooks import plan_overdue_webhooks
from domain.maintenance.stopped_connections import StoppedConnections
from domain.maintenance.sweep import sweep
from handlers.common.bootstrap import end_init, services
from handlers.common.logs import ServiceLogger

logger = ServiceLogger()
end_init(lambda services: (services.store, services.retry_queue))

RESERVE = timedelta(seconds=20)
"""Time reserved for the last step."""

MAX_LOGGED_CONNECTIONS = 20
"""The ids of connections that a log line names. Their number is exact."""


def handler(_event: dict[str, Any], context: Any) -> None:
    """Sweep while the function has time."""
    left = timedelta(milliseconds=context.get_remaining_time_in_millis())
    clock = services().clock
    until = clock() + left - RESERVE
    swept = sweep(services().store, clock, until)
    stopped = StoppedConnections(services().store, clock)
    planned, all_planned = plan_overdue_webhooks(
        services().store,
        services().retry_queue,
        clock,
        until,
        observers=(stopped.look_at, OldStatistics(services().store, clock).look_at),
    )
    facts = asdict(swept) | {
        "webhooks_planned": planned,
        "connections_stopped": len(stopped.ids),
        "stopped_connections": stopped.ids[:MAX_LOGGED_CONNECTIONS],
        "finished": swept.finished and all_planned,
    }
    logger.always(logging.INFO, "sweep.done", **facts)
