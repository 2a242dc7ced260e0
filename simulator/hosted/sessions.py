"""Runs a session of the Web Connector of a test connection."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from simulator.hosted.kept import Kept
from simulator.hosted.objects import ChangedMeanwhile
from simulator.web_connector.connector import BUSY
from simulator.web_connector.transport import HttpTransport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from simulator.hosted.objects import Objects
    from simulator.web_connector.connector import SessionResult
    from simulator.web_connector.transport import Transport

PAUSE_SECONDS = 2
"""The time after which the next session begins if one ended with an error. A person waits for the result."""

MAX_TRIES = 5
"""How many sessions run at most: after an error, while the service is busy with the former session, or if somebody
resets the company or changes its faults meanwhile."""


@dataclass(frozen=True, slots=True)
class SavingTransport:
    """A line that keeps the company before it sends anything, if QuickBooks has executed a write.

    So the service never gets a response that a function could forget when it dies. A write whose response was not sent
    may be forgotten: QuickBooks denies it then, and the service sends it again.
    """

    kept: Kept
    line: Transport = field(default_factory=HttpTransport)

    def post(self, url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        """Save, then send a SOAP call. Raises `ChangedMeanwhile` and `TransportError`."""
        if self.kept.has_unsaved_writes:
            self.kept.save()
        return self.line.post(url, headers, body)

    def get(self, url: str) -> int:
        """Fetch a page. Raises `TransportError`."""
        return self.line.get(url)


def run_sessions(
    objects: Objects,
    name: str,
    seconds: Callable[[], float],
    *,
    line: Transport | None = None,
    sleep: Callable[[float], object] = time.sleep,
) -> Iterator[SessionResult | None]:
    """Run a session, and a few more while they end with errors or find the service busy. Yield their results.

    None stands for a limit that is reached. `seconds` returns how long they may still run. Raises `NoCompany`, and
    `ChangedMeanwhile` if others change the company again and again.
    """
    line = line or HttpTransport()
    for number in range(MAX_TRIES):
        if number:
            sleep(PAUSE_SECONDS)
        try:
            result = _run_session(objects, name, seconds, line, sleep)
        except ChangedMeanwhile:
            if number == MAX_TRIES - 1:
                raise
            continue
        yield result
        if result is None or (result.error is None and result.status != BUSY) or seconds() <= 0:
            return


def _run_session(
    objects: Objects, name: str, seconds: Callable[[], float], line: Transport, sleep: Callable[[float], object]
) -> SessionResult | None:
    kept = Kept.read(objects, name)
    if not kept.may_run:
        return None
    run = kept.faults.start(
        kept.qwc,
        kept.password,
        kept.company,
        transport=SavingTransport(kept, line),
        sleep=lambda pause: sleep(max(0.0, min(pause, seconds()))),
    )
    kept.resume(run.plan)
    (simulator,) = run.simulators
    simulator.connector.stopped = lambda: seconds() <= 0
    started = time.monotonic()
    (result,) = run.run_once()
    # No other process has the actions that wait for an event, such as late executions.
    run.plan.do_what_is_late()
    kept.keep_progress(run.plan)
    kept.count_seconds(time.monotonic() - started)
    kept.save()
    return result
