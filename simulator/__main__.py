"""`qbxml-simulator`, or `python -m simulator`: a Web Connector with QuickBooks behind it, against any service URL."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from simulator.basics.errors import QbwcError
from simulator.company import GENERATED, Company
from simulator.company_files.words import PLACES
from simulator.faults import Fault
from simulator.faults.forms import FORMS
from simulator.fidelity.strict import about
from simulator.inspection import serving
from simulator.person import Person
from simulator.requests.facts import OFFERED_VERSIONS, Product
from simulator.runs.scenario import Expectations
from simulator.runs.script import Script
from simulator.situations import names, set_up
from simulator.terminal import JSON, QUIET, TEXT, Terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from simulator.runs.script_run import ScriptRun
    from simulator.web_connector.connector import SessionResult
    from simulator.web_connector.transport import Transport

_Read = TypeVar("_Read")

PASSWORD_VARIABLE = "QBWC_PASSWORD"  # noqa: S105 - the name of a variable, not a password
EXIT_OK, EXIT_SESSION_FAILED, EXIT_USAGE, EXIT_UNEXPECTED, EXIT_SIMPLIFIED, EXIT_INTERRUPTED = 0, 1, 2, 3, 4, 130
PAUSE_SECONDS = 1.0
"""Between the sessions of --sessions, unless --every says otherwise."""

_PLACES = {"call": "METHOD", "process": "process", "session": "session"}
_ACTIONS = "\n".join(f"  {_PLACES[place]}: {', '.join(forms)}" for place, forms in FORMS.items())
_EPILOG = f"""\
exit codes:
  0    what was expected came true; without expectations: the last session, or the run until Ctrl-C, went well
  1    with --once or --sessions, without expectations: the last session failed
  2    wrong arguments, unreadable files, or a .qwc file that the Web Connector would refuse
  3    an expectation (--expect, or "expect" of the script) did not come true
  4    with --strict: otherwise 0, but a request depends on a behaviour that is not QuickBooks' (FIDELITY.md)
  130  Ctrl-C in the middle of --once or --sessions

actions of --fault, by place:
{_ACTIONS}

example:
  qbxml-simulator --qwc my.qwc --password-file secret.txt --once -v
"""


def main(
    arguments: Sequence[str] | None = None,
    *,
    transport: Transport | None = None,
    sleep: Callable[[float], object] = time.sleep,
) -> int:
    """Run the command line and return the exit code. `transport` takes the place of HTTP in tests, `sleep` of waits."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.qwc is None and options.inspect is None:
        parser.error("give --qwc FILE, or --inspect PORT for a QuickBooks without a Web Connector")
    terminal = Terminal.of(os.environ, sys.stdout, options.form)
    try:
        script = _script(options)
        company = _company(options)
        for line in set_up(company, options.situation) if options.situation else ():
            terminal.note(line)
        company.on_request = terminal.request
        company.strict = options.strict
        with _person(company, options, terminal):
            if options.qwc is None:
                return _serve(company, script, options, terminal)
            run = _start(script, options, company, terminal, transport, sleep)
            with _inspection(run, options, terminal):
                return _run(run, options, terminal)
    except (OSError, ValueError, QbwcError) as error:
        print(f"simulator: {error}", file=sys.stderr)
        return EXIT_USAGE


def _run(run: ScriptRun, options: argparse.Namespace, terminal: Terminal) -> int:
    """Run the sessions, judge them, and return the exit code."""
    sessions = 1 if options.once else run.script.sessions
    if sessions is None:
        _run_until_stopped(run, options.every, terminal)
        failed = False
    else:
        try:
            failed = _run_sessions(run, sessions, options.every)
        except KeyboardInterrupt:
            terminal.note("Stopped.")
            return EXIT_INTERRUPTED
    return _judge(run, options.report, failed=failed)


def _serve(company: Company, script: Script, options: argparse.Namespace, terminal: Terminal) -> int:
    """Serve the inspection API and the request processor without a Web Connector, until Ctrl-C."""
    if script != Script() or options.once or options.report or options.every:
        raise ValueError("scripts, faults, expectations, reports and sessions need --qwc FILE")
    with serving(company, port=options.inspect) as url, _interruption() as stop:
        terminal.note(f"The books are at {url}, and QBXML is answered at {url}qbxml")
        stop.wait()
    _save(company, options.company)
    terminal.note("Stopped.")
    return _fidelity(company)


@contextmanager
def _person(company: Company, options: argparse.Namespace, terminal: Terminal) -> Iterator[None]:
    """Let a person edit the books while the block runs if the command line requests it."""
    if options.person is None:
        yield
        return
    person, stop = Person(company, options.seed), threading.Event()

    def work() -> None:
        while not stop.wait(options.person):
            edit = person.edit()
            result = f"status {edit.status}" if edit.status else "done"
            terminal.note(" ".join(filter(None, ("A person:", edit.name, edit.record_id, result))))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@contextmanager
def _inspection(run: ScriptRun, options: argparse.Namespace, terminal: Terminal) -> Iterator[None]:
    """Serve the inspection API while the block runs if the command line requests it."""
    if options.inspect is None:
        yield
        return
    with serving(run.company, port=options.inspect, more_problems=run.problems) as url:
        terminal.note(f"The books are at {url}")
        yield


def _script(options: argparse.Namespace) -> Script:
    """Return the script in the file, extended by the command line."""
    script = Script.load(options.script) if options.script else Script()
    faults = [*script.faults, *options.fault]
    if options.open_error:
        faults.append(Fault.of({"on": "session", "nth": "*", "do": "open-error", "hresult": options.open_error}))
    return replace(
        script,
        faults=tuple(faults),
        expect=options.expect or script.expect,
        sessions=options.sessions or script.sessions,
    )


def _start(  # noqa: PLR0917 - main alone calls it
    script: Script,
    options: argparse.Namespace,
    company: Company,
    terminal: Terminal,
    transport: Transport | None,
    sleep: Callable[[float], object],
) -> ScriptRun:
    run = script.start(
        Path(options.qwc).read_text(encoding="utf-8-sig"),
        _password(options.password_file),
        company,
        transport=transport,
        sleep=sleep,
        on_progress=_Progress(terminal) if options.verbose else _nothing,
        on_call=(lambda method, text: terminal.detail(f"{method}: {text}")) if options.verbose else None,
        on_session=_after_session(company, options.company, terminal),
    )
    scheduled = options.every or run.simulators[0].connector.qwc.every_seconds
    if not (options.once or script.sessions or scheduled):
        raise ValueError("the .qwc file has no Scheduler: give --every SECONDS, --sessions N or --once")
    return run


def _nothing(_percent: int, _text: str) -> None:
    """Show no progress."""


def _run_until_stopped(run: ScriptRun, every: float | None, terminal: Terminal) -> None:
    with _interruption() as stop:
        run.run(stop, every)
    terminal.note("Stopped.")


@contextmanager
def _interruption() -> Iterator[threading.Event]:
    """Yield an event that Ctrl-C sets. A schedule ends between two calls, not in the middle of one.

    A thread sets it, because the handler may run while the main thread holds the event's lock.
    """
    stop = threading.Event()
    before = signal.signal(signal.SIGINT, lambda _number, _frame: threading.Thread(target=stop.set).start())
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def _run_sessions(run: ScriptRun, sessions: int, every: float | None) -> bool:
    """Run this number of sessions on each machine. Return whether one of the last ones failed."""
    results: list[SessionResult] = []
    for number in range(sessions):
        if number:
            run.plan.sleep(every or PAUSE_SECONDS)
        results = run.run_once()
    return any(result.error is not None for result in results)


def _judge(run: ScriptRun, report: str | None, *, failed: bool) -> int:
    """Write the report, print the expectations that failed, and return the exit code."""
    if report:
        run.write_report(report)
    problems = run.problems()
    for problem in problems:
        print(f"simulator: not as expected: {problem}", file=sys.stderr)
    if problems:
        return EXIT_UNEXPECTED
    if failed and run.script.expect == Expectations():
        return EXIT_SESSION_FAILED
    return _fidelity(run.company)


def _fidelity(company: Company) -> int:
    """Print the behaviours that requests depended on and that are not QuickBooks' (`--strict`). Return an exit code."""
    for name, count in company.simplifications.items():
        requests = "1 request" if count == 1 else f"{count} requests"
        print(f"simulator: not known to be as in QuickBooks: {name} ({requests}): {about(name)}", file=sys.stderr)
    return EXIT_SIMPLIFIED if company.simplifications else EXIT_OK


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="qbxml-simulator",
        description="A QuickBooks Web Connector and a QuickBooks company in software, for testing an integration.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--qwc", metavar="FILE", help="the .qwc file of the connection; not needed with --inspect for POST /qbxml alone"
    )
    parser.add_argument(
        "--password-file",
        metavar="FILE|env",
        default="env",
        help=f"file whose first line is the password; env (default): the variable {PASSWORD_VARIABLE}",
    )
    parser.add_argument(
        "--company",
        default="wholesale",
        metavar="wholesale|empty|large|FILE",
        help="the company: generated (default: wholesale), or a JSON file that is read and written after each session",
    )
    parser.add_argument(
        "--country", choices=sorted(PLACES), default="US", help="country of a new company (default: US)"
    )
    parser.add_argument(
        "--qbxml-version",
        choices=OFFERED_VERSIONS,
        default=OFFERED_VERSIONS[-1],
        metavar="VERSION",
        help="highest qbXML version of a new company, 2.0 to 16.0 (default: 16.0)",
    )
    parser.add_argument(
        "--preference",
        type=_assignment,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="sales_tax=off, multi_currency=on, closing_date=2025-12-31; can be repeated: see simulator/README.md",
    )
    parser.add_argument(
        "--behaviour",
        type=_assignment,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="payment_touches_paid=on: what QuickBooks does where no document tells; can be repeated: see FIDELITY.md",
    )
    parser.add_argument(
        "--time-zone",
        default="-05:00",
        metavar="ZONE",
        help="time zone of the machine of a new company: -05:00 (default) or America/New_York",
    )
    parser.add_argument(
        "--situation",
        metavar="NAME",
        help=f"bring the company into a situation: {', '.join(names())}, or a file",
    )
    parser.add_argument(
        "--person",
        type=_seconds,
        metavar="SECONDS",
        help="a person edits the books every SECONDS: adds, changes, pays, merges, deletes, restores a backup (--seed)",
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="warn when a request depends on a behaviour that is not QuickBooks' (simulator/FIDELITY.md); exit code 4",
    )
    parser.add_argument(
        "--inspect",
        type=int,
        metavar="PORT",
        help="show the books at http://127.0.0.1:PORT/ as a page and as JSON; 0 chooses a free port",
    )
    parser.add_argument(
        "--every",
        type=_seconds,
        metavar="SECONDS",
        help="pause between sessions (default: the .qwc's Scheduler; 1 with --sessions)",
    )
    parser.add_argument("--once", action="store_true", help="run one session and exit")
    parser.add_argument("--sessions", type=_number, metavar="N", help="run so many sessions and exit")
    parser.add_argument("--customers", type=int, default=300, metavar="N", help="size of a new company (default: 300)")
    parser.add_argument(
        "--seed", type=int, default=1, metavar="N", help="seed of a new company and of a person (default: 1)"
    )
    parser.add_argument("--script", metavar="FILE", help="faults and expectations as JSON: see simulator/README.md")
    parser.add_argument(
        "--open-error", metavar="HRESULT", help="QuickBooks cannot be opened: for example 0x80040414 or modal-dialog"
    )
    parser.add_argument(
        "--fault",
        type=_fault,
        action="append",
        default=[],
        metavar="PLACE:NTH:ACTION[:VALUE]",
        help="receiveResponseXML:2:lose-response, process/CustomerAddRq:1:fail:0x800706BE; can be repeated",
    )
    parser.add_argument(
        "--expect",
        type=_expectations,
        metavar="JSON",
        help="""what must be so at the end: '{"executed": {"CustomerAddRq": 3}, "faults_happened": "all"}'""",
    )
    parser.add_argument("--report", metavar="FILE", help="write what happened as JSON")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--quiet", dest="form", action="store_const", const=QUIET, help="print problems only")
    form.add_argument(
        "--json", dest="form", action="store_const", const=JSON, help="print one JSON object on each line"
    )
    parser.set_defaults(form=TEXT)
    parser.add_argument("-v", "--verbose", action="store_true", help="print every call and its answer")
    return parser


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < 1e9:  # noqa: PLR2004 - thirty years, which also refuses inf and nan
        raise argparse.ArgumentTypeError(f"must be more than 0: {text}")
    return seconds


def _number(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1: {text}")
    return number


def _assignment(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator:
        raise argparse.ArgumentTypeError(f"must be NAME=VALUE: {text}")
    return name, value


def _fault(text: str) -> Fault:
    return _read(Fault.parse, text)


def _expectations(text: str) -> Expectations:
    return _read(Expectations.parse, text)


def _read(parse: Callable[[str], _Read], text: str) -> _Read:
    """Read an argument. argparse shows the reason if it is wrong."""
    try:
        return parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _password(source: str) -> str:
    if source == "env":
        password = os.environ.get(PASSWORD_VARIABLE, "")
    else:
        password = (Path(source).read_text(encoding="utf-8").splitlines() or [""])[0]
    if not password:
        raise ValueError(f"no password: {PASSWORD_VARIABLE if source == 'env' else source} is empty")
    return password


def _company(options: argparse.Namespace) -> Company:
    if options.customers < 1:
        raise ValueError("--customers must be at least 1")
    product = Product(country=options.country, highest_version=options.qbxml_version)
    company = Company.opened(
        options.company, seed=options.seed, customers=options.customers, product=product, time_zone=options.time_zone
    )
    for name, value in options.preference:
        company.set_preference(name, value)
    for name, value in options.behaviour:
        company.set_behaviour(name, value)
    return company


def _after_session(company: Company, source: str, terminal: Terminal) -> Callable[[SessionResult], None]:
    def finish(result: SessionResult) -> None:
        _save(company, source)
        terminal.session(result)

    return finish


def _save(company: Company, source: str) -> None:
    """Write a company that came from a file back to it."""
    if source not in GENERATED:
        company.save(source)


class _Progress:
    """The Status column: shows a line when it changes."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._last = ""

    def __call__(self, percent: int, text: str) -> None:
        line = f"[{percent:3d}%] {text}"
        if line != self._last:
            self._terminal.detail(line)
        self._last = line


if __name__ == "__main__":
    sys.exit(main())
