"""`Simulator`: the Web Connector's window with one application in it: run now, or again and again on a schedule."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

from simulator.errors import QbwcError
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
    """The part of `threading.Event` that a schedule needs."""

    def is_set(self) -> bool:
        """Tell whether to stop."""
        ...

    def wait(self, timeout: float) -> bool:
        """Wait for so many seconds or until it is set; tell whether it is."""
        ...


class Simulator:
    """One application: its `.qwc` text, the password that the user typed, the company in QuickBooks.

    `sleep` is used for the waits inside a session of `run_once`; in `run` the stop event is waited on instead, so that
    stopping takes effect at once. `on_progress(percent, text)` is the Status column, `on_call(method, text)` the log,
    `on_session(result)` is told of the end of every session that `run` starts. `interactive(url)` and
    `on_warning(text)` are the user's consent to a web page and to a warning of clientVersion.
    `faults` happen on the line and in QuickBooks; simulators on several machines share one plan of them.
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
        self.books = FaultyCompany(company, self.faults, machine.number)
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
        """Run one session, as "Update Selected" does; the first time the application is added before."""
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

        `every_seconds` is the pause between sessions; None means the Scheduler of the `.qwc` (`ValueError` without
        one). With Auto-Run ticked authenticate can ask for a longer one, or postpone the next session; without it
        every session is one that the user asked for.
        """
        keep_running([self], lambda: [self._next_session()], stop_event, every_seconds, auto_run=auto_run)

    def _next_session(self) -> SessionResult:
        result = self.run_once()
        self._on_session(result)
        return result

    def obey(self, stop_event: StopEvent, *, auto_run: bool) -> None:
        """Wait on `stop_event` from now on instead of sleeping, and stop with it."""
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
    """Let `run_once` run the next session of each of the simulators, until `stop_event` is set: see `Simulator.run`."""
    every = simulators[0].connector.qwc.every_seconds if every_seconds is None else every_seconds
    if every is None:
        raise ValueError("the .qwc file has no Scheduler: say how often to run")
    for simulator in simulators:
        simulator.obey(stop_event, auto_run=auto_run)
    while not stop_event.is_set():
        results = run_once()
        every = max(every, *(result.min_interval_seconds or 0 for result in results))
        stop_event.wait(max(result.postpone_seconds or 0 for result in results) or every)
