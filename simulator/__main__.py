"""`python -m simulator`: a Web Connector with QuickBooks behind it, against any service URL."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from simulator.company import Company
from simulator.errors import QbwcError
from simulator.faults import ACTIONS, Fault, FaultyTransport
from simulator.scheduler import Simulator
from simulator.transport import HttpTransport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.transport import Transport
    from simulator.web_connector import SessionResult

PASSWORD_VARIABLE = "QBWC_PASSWORD"  # noqa: S105 - the name of a variable, not a password
EXIT_OK, EXIT_SESSION_FAILED, EXIT_USAGE, EXIT_INTERRUPTED = 0, 1, 2, 130

_EPILOG = f"""\
exit codes:
  0    the session (with --once), or the run until Ctrl-C, went well
  1    with --once: the session failed
  2    wrong arguments, unreadable files, or a .qwc file that the Web Connector would refuse
  130  Ctrl-C in the middle of a session with --once

actions of --fault: {", ".join(ACTIONS)}

example:
  python -m simulator --qwc my.qwc --password-file secret.txt --once -v
"""


def main(arguments: Sequence[str] | None = None, *, transport: Transport | None = None) -> int:
    """Run the command line; returns the exit code. `transport` takes the place of HTTP in tests."""
    options = _parser().parse_args(arguments)
    try:
        company = _company(options)
        simulator = _simulator(options, company, HttpTransport() if transport is None else transport)
    except (OSError, ValueError, QbwcError) as error:
        print(f"simulator: {error}", file=sys.stderr)
        return EXIT_USAGE
    if options.once:
        return _run_once(simulator, company, options.company)
    stop = threading.Event()
    # A schedule ends between two calls, not in the middle of one.
    before = signal.signal(signal.SIGINT, lambda _number, _frame: stop.set())
    try:
        simulator.run(stop, options.every)
    finally:
        signal.signal(signal.SIGINT, before)
    print("Stopped.")
    return EXIT_OK


def _simulator(options: argparse.Namespace, company: Company, transport: Transport) -> Simulator:
    simulator = Simulator(
        Path(options.qwc).read_text(encoding="utf-8-sig"),
        _password(options.password_file),
        company,
        transport=FaultyTransport(transport, options.fault) if options.fault else transport,
        on_progress=_Progress(),
        on_call=_log if options.verbose else None,
        on_session=lambda result: _finish(result, company, options.company),
    )
    if not options.once and options.every is None and simulator.connector.qwc.every_seconds is None:
        raise ValueError("the .qwc file has no Scheduler: give --every SECONDS or --once")
    return simulator


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m simulator",
        description="A QuickBooks Web Connector and a QuickBooks company in software, for testing an integration.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--qwc", required=True, metavar="FILE", help="the .qwc file of the connection")
    parser.add_argument(
        "--password-file",
        metavar="FILE|env",
        default="env",
        help=f"file whose first line is the password; env (default): the variable {PASSWORD_VARIABLE}",
    )
    parser.add_argument(
        "--company", metavar="FILE", help="company as JSON: read if it exists, written after each session"
    )
    parser.add_argument(
        "--every", type=_seconds, metavar="SECONDS", help="pause between sessions (default: the .qwc's Scheduler)"
    )
    parser.add_argument("--once", action="store_true", help="run one session and exit")
    parser.add_argument("--customers", type=int, default=300, metavar="N", help="size of a new company (default: 300)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of a new company (default: 1)")
    parser.add_argument(
        "--open-error", metavar="HRESULT", help="QuickBooks cannot be opened: for example 0x80040414 (modal dialog)"
    )
    parser.add_argument(
        "--fault",
        type=_fault,
        action="append",
        default=[],
        metavar="METHOD:CALL:ACTION",
        help="break a call: receiveResponseXML:2:lose-response; can be repeated",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="print every call and its answer")
    return parser


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds < 1e9:  # noqa: PLR2004 - thirty years; refuses inf and nan
        raise argparse.ArgumentTypeError(f"must be more than 0: {text}")
    return seconds


def _fault(text: str) -> Fault:
    try:
        return Fault.parse(text)
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
    if options.company and Path(options.company).exists():
        company = Company.load(options.company)
    else:
        if options.customers < 1:
            raise ValueError("--customers must be at least 1")
        company = Company.generated(seed=options.seed, customers=options.customers)
    company.open_error = options.open_error
    return company


def _run_once(simulator: Simulator, company: Company, company_file: str | None) -> int:
    try:
        result = simulator.run_once()
    except KeyboardInterrupt:
        print("Stopped.")
        return EXIT_INTERRUPTED
    _finish(result, company, company_file)
    return EXIT_OK if result.error is None else EXIT_SESSION_FAILED


def _finish(result: SessionResult, company: Company, company_file: str | None) -> None:
    if company_file:
        company.save(company_file)
    print(f"{_now()}  {result.status} ({result.requests} requests)", flush=True)


class _Progress:
    """The Status column: prints a line when it changes."""

    def __init__(self) -> None:
        self._last = ""

    def __call__(self, percent: int, text: str) -> None:
        line = f"[{percent:3d}%] {text}"
        if line != self._last:
            print(f"{_now()}  {line}", flush=True)
        self._last = line


def _log(method: str, text: str) -> None:
    print(f"{_now()}  {method}: {text}", flush=True)


def _now() -> str:
    return datetime.now(UTC).astimezone().strftime("%H:%M:%S")


if __name__ == "__main__":
    sys.exit(main())
