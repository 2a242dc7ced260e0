"""Hosts of receivers that did not respond in time to this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.webhooks.defaults import MAX_SLOW_HOSTS, MAX_TIMEOUTS, SLOW_HOST_DURATION

if TYPE_CHECKING:
    from datetime import datetime

    from domain.ports import Clock


class SlowHosts:
    """Counts time-outs in a row. After MAX_TIMEOUTS a host is slow for SLOW_HOST_DURATION."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._timeouts: dict[str, tuple[int, datetime]] = {}

    def record(self, host: str, *, timed_out: bool) -> None:
        """Count a time-out. A response in time resets the count to zero."""
        if not timed_out:
            self._timeouts.pop(host, None)
            return
        if len(self._timeouts) >= MAX_SLOW_HOSTS:
            self._timeouts.clear()
        number, _ = self._timeouts.get(host, (0, None))
        self._timeouts[host] = number + 1, self._clock()

    def __contains__(self, host: str) -> bool:
        """Return whether the host is slow. After the slow period, a single time-out makes it slow again."""
        number, last = self._timeouts.get(host, (0, self._clock()))
        return number >= MAX_TIMEOUTS and self._clock() - last < SLOW_HOST_DURATION
