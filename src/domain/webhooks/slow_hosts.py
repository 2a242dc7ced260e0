"""Hosts of receivers that did not respond in time to this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.webhooks.defaults import MAX_SLOW_HOSTS, SLOW_HOST_DURATION

if TYPE_CHECKING:
    from datetime import datetime

    from domain.ports import Clock


class SlowHosts:
    """A host that times out is slow for SLOW_HOST_DURATION, or until it responds in time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._timeouts: dict[str, datetime] = {}

    def record(self, host: str, *, timed_out: bool) -> None:
        """Record the result of an attempt."""
        if not timed_out:
            self._timeouts.pop(host, None)
            return
        if len(self._timeouts) >= MAX_SLOW_HOSTS:
            self._timeouts.clear()
        self._timeouts[host] = self._clock()

    def __contains__(self, host: str) -> bool:
        """Return whether the host is slow."""
        last = self._timeouts.get(host)
        return last is not None and self._clock() - last < SLOW_HOST_DURATION
