"""`Simulator`: the Web Connector's window with one application: runs sessions now or on a schedule."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

from simulator.basics.errors import QbwcError
from simulator.faults.company import FaultyCompany
from simulator.faults.line import FaultPlan, FaultyTransport
from simulator.web_connector.connector import SessionResult, WebConnector
from simulator.web_connector.machines import Machine
from simulator.web_connector.qwc import read_qwc
from simulator.web_connector.transport import HttpTransport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from simulator.company import Company
    from simulator.faults import Fault
    from simulator.web_connector.transport import Transport


class StopEvent(Protocol):
    """The part of `threading.Event` that a schedule uses."""

    def is_set(self) -> bool:
        """Return whether to stop."""
        ...

    def wait(self, timeout: float) -> bool:
        """Wait for a number of seconds or until it is set. Return whether it is set."""
        ...


class Simulator:
    """One application: its `.qwc` text, the password that the user typed, the company in QuickBooks.

    `sleep` waits within a session of `run_once`. `run` waits on the stop event instead, so stopping takes effect at
    once. `on_progress(percent, text)` is the Status column, `on_call(method, text)` the log,
    `on_session(result)` is called after every session that `run` starts. `interactive(url)` asks the user to open a
    web page, `on_warning(text)` to continue after a warning of clientVersion.
    `faults` happen on the line and in QuickBooks. Simulators of several machines share one plan.
    Raises `QbwcError` for a `.qwc` that the Web Connector would refuse.
    """

    def __init__(
        self,
        qwc_text: str,
        password: str,
        company: Company,
        *,
        transport: Transport | None = None,
        sleep: Callable[[float], object] = time.sleep,
        on_progress: Callable[[int, str], None] = lambda _percent, _text: None,
        on_call: Callable[[str, str], None] | None = None,
        on_session: Callable[[SessionResult], None] = lambda _result: None,
        interactive: Callable[[str], bool] = lambda _url: False,
        on_warning: Callable[[str], bool] = lambda _text: True,
        faults: FaultPlan | Iterable[Fault] = (),
        machine: Machine | None = None,
    ) -> None:
        self.company = company
        self.faults = faults if isinstance(faults, FaultPlan) else FaultPlan(faults, sleep=sleep)
        machine = machine or Machine()
        self.books = FaultyCompany(company, self.faults, machine)
        line = HttpTransport() if transport is None else transport
        self.connector = WebConnector(
            read_qwc(qwc_text),
            password,
            self.books,
            FaultyTransport(line, self.faults, machine=machine),
            sleep=sleep,
            on_progress=on_progress,
            on_call=on_call,
            interactive=interactive,
            on_warning=on_warning,
        )
        self._on_progress = on_progress
        self._on_session = on_session
        self._added = False

    def run_once(self) -> SessionResult:
        """Run one session, as "Update Selected" does. The first call adds the application."""
        if not self._added:
            try:
                self.connector.add_application()
            except QbwcError as error:
                self._on_progress(0, str(error))
                return SessionResult(str(error), error.code)
            self._added = True
        return self.connector.run_session()

    def run(self, stop_event: StopEvent, every_seconds: float | None = None, *, auto_run: bool = True) -> None:
        """Run sessions until `stop_event` is set.

        `every_seconds` is the pause between sessions. None means the Scheduler of the `.qwc` (`ValueError` without
        one). With Auto-Run, authenticate can set a longer one or postpone the next session. Without it the user
        starts every session.
        """
        keep_running([self], lambda: [self._next_session()], stop_event, every_seconds, auto_run=auto_run)

    def _next_session(self) -> SessionResult:
        result = self.run_once()
        self._on_session(result)
        return result

    def obey(self, stop_event: StopEvent, *, auto_run: bool) -> None:
        """Wait on `stop_event` from now on instead of sleeping, and stop when it is set."""
        self.connector.auto_run = auto_run
        self.connector.sleep = self.faults.sleep = stop_event.wait
        self.connector.stopped = stop_event.is_set


def keep_running(
    simulators: Sequence[Simulator],
    run_once: Callable[[], Sequence[SessionResult]],
    stop_event: StopEvent,
    every_seconds: float | None,
    *,
    auto_run: bool,
) -> None:
    """Call `run_once` for the next session of each simulator until `stop_event` is set: see `Simulator.run`."""
    every = simulators[0].connector.qwc.every_seconds if every_seconds is None else every_seconds
    if every is None:
        raise ValueError("the .qwc file has no Scheduler: say how often to run")
    for simulator in simulators:
        simulator.obey(stop_event, auto_run=auto_run)
    while not stop_event.is_set():
        results = run_once()
        every = max(every, *(result.min_interval_seconds or 0 for result in results))
        stop_event.wait(max(result.postpone_seconds or 0 for result in results) or every)
