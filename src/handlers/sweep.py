"""Every five minutes: end late requests, release sessions, purge connections, plan webhooks, settle unknown writes."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any

from domain.maintenance.canaries import silent_consumers
from domain.maintenance.late_requests import end_late_requests
from domain.maintenance.old_statistics import OldStatistics
from domain.maintenance.overdue_webhooks import plan_overdue_webhooks
from domain.maintenance.stopped_connections import StoppedConnections
from domain.maintenance.sweep import sweep
from domain.maintenance.unsettled_writes import settle_writes
from handlers.common.bootstrap import end_init, services
from handlers.common.logs import ServiceLogger

logger = ServiceLogger()
end_init(lambda services: (services.store, services.retry_queue))

RESERVE = timedelta(seconds=20)
"""Time reserved for the last step."""

MAX_LOGGED_CONNECTIONS = 20
"""The ids of connections that a log line names. Their number is exact."""


MAX_LOGGED_FAILURES = 20
"""The failures of a run that have a log line. Their number is exact."""


@dataclass
class Failures:
    """Logs the failures of a run, counts them and keeps the first one."""

    number: int = 0
    first: Exception | None = None

    def add(self, error: Exception, facts: Mapping[str, str]) -> None:
        """Add a failure of one session, connection or webhook."""
        self.number += 1
        self.first = self.first or error
        if self.number <= MAX_LOGGED_FAILURES:
            logger.error("sweep.not_processed", exc_info=error, extra=dict(facts))


def handler(_event: dict[str, Any], context: Any) -> None:
    """Sweep while the function has time. If something could not be handled, fail at the end to trigger the alarm."""
    left = timedelta(milliseconds=context.get_remaining_time_in_millis())
    clock = services().clock
    until = clock() + left - RESERVE
    failures = Failures()
    late, all_late = end_late_requests(services().store, clock, until, failures.add)
    swept = sweep(services().store, clock, until, failures.add, services().forget_simulator)
    stopped = StoppedConnections(services().store, clock, services().wake_simulator)
    planned, all_planned = plan_overdue_webhooks(
        services().store,
        services().retry_queue,
        clock,
        until,
        observers=(stopped.look_at, OldStatistics(services().store, clock).look_at),
        on_failure=failures.add,
    )
    steps, all_settled = settle_writes(services().store, services().settling, clock, until, failures.add)
    silent: Sequence[str] = ()
    try:
        silent = silent_consumers(services().store, clock())
    except Exception as error:  # noqa: BLE001 - the report of the run must not wait for it
        failures.add(error, {})
    facts = asdict(swept) | {
        "requests_not_sent": late,
        "webhooks_planned": planned,
        "settling_steps": steps,
        "connections_stopped": len(stopped.ids),
        "stopped_connections": stopped.ids[:MAX_LOGGED_CONNECTIONS],
        "failed": failures.number,
        "consumers_silent": len(silent),
        "silent_consumers": silent,
        "finished": swept.finished and all_late and all_settled and all_planned,
    }
    logger.always(logging.INFO, "sweep.done", **facts)
    if failures.first:
        raise failures.first
