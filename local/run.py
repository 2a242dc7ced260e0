"""`make run`: the whole service on this machine, with a simulated QuickBooks, until Ctrl-C.

Options by environment:
  PORT=3000                       the port on 127.0.0.1; 0 selects a free one
  QUICKBOOKS=off                  use your own Web Connector
  COMPANY=wholesale               the simulated company: wholesale, empty, large, or a JSON file that is read and saved
  BOOKS_PORT=0                    the port of the books of the simulated company; 0 selects a free one
  STRICT=on                       warn of behaviours that are not QuickBooks' (simulator/FIDELITY.md)
  QUICKBOOKS_SCRIPT=lost-answer   faults of the simulated QuickBooks: a file, or a name from simulator/scripts
  BASE_URL=https://…              the public URL of a tunnel to this service, for a Web Connector on Windows
  EXECUTION_SECONDS=5             how long QuickBooks may execute one request (with BASE_URL: 1800)
  ALLOW_LOOPBACK_WEBHOOKS=off     refuse webhooks to loopback, as a deployed stack does; the default with BASE_URL
  DYNAMODB_ENDPOINT=http://…      a database that keeps the data, such as that of `make dynamodb`
  STATE_DIR=.                     the folder in which `.local/` is created
  QUIET=on                        no line per REST call, QuickBooks request and webhook attempt
  NO_COLOR=1                      no colour
"""

from __future__ import annotations

import errno
import logging
import os
import socket
import sys
import threading
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from local import first_steps, programs, provider, stack, wait
from local.database import DatabaseUnusable
from local.kept_credentials import COMPANY_FILE, DoNotFit, folder_of, of_earlier_run, put_aside
from local.receiver import receiving
from local.server import HOST
from local.state_lock import FolderInUse, locked
from local.terminal import Terminal
from simulator.company import GENERATED, Company
from simulator.inspection import serving
from simulator.runs.script import Script

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from local.first_steps import Credentials
    from local.receiver import Webhook
    from simulator.web_connector.connector import SessionResult

DEFAULT_PORT = 3000

DEFAULT_COMPANY = GENERATED[0]

MAX_PORT = 65535

MAX_EXECUTION_SECONDS = 1800
"""The default and the maximum of ExecutionSeconds in template.yaml, which a real QuickBooks needs."""

POLL_SECONDS = 1.0
"""The polling interval of the simulated Web Connector."""

CURL = """\
  curl -u {api_key}: {base_url}/api/v1/connections/{connection_id}/queued_requests \\
    -H 'Content-Type: application/json' \\
    -d '{{{webhook}"request_json": {{"CustomerQueryRq": {{"MaxReturned": 2}}}}}}'
"""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `make run`."""

    port: int = DEFAULT_PORT
    dynamodb_endpoint: str | None = None
    base_url: str | None = None
    quickbooks: bool = True
    company: str = DEFAULT_COMPANY
    books_port: int = 0
    script: Script = field(default_factory=Script)
    strict: bool = False
    allow_loopback_webhooks: bool = True
    execution_seconds: int = stack.EXECUTION_SECONDS
    state: Path = Path(".local")
    quiet: bool = False

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Options:
        """Read the options from environment variables. Raises ValueError."""
        script = environment.get("QUICKBOOKS_SCRIPT")
        if script and not _switch(environment, "QUICKBOOKS"):
            raise ValueError("QUICKBOOKS_SCRIPT needs the simulated QuickBooks, but QUICKBOOKS is off")
        base_url = _base_url(environment)
        # Behind a tunnel, whoever has an API key could call the programs of this machine.
        loopback_webhooks = _switch(environment, "ALLOW_LOOPBACK_WEBHOOKS", default="off" if base_url else "on")
        return cls(
            port=_port(environment, "PORT", DEFAULT_PORT),
            dynamodb_endpoint=_endpoint(environment),
            base_url=base_url,
            quickbooks=_switch(environment, "QUICKBOOKS"),
            company=environment.get("COMPANY") or DEFAULT_COMPANY,
            books_port=_port(environment, "BOOKS_PORT", 0),
            script=_script(script) if script else Script(),
            strict=_switch(environment, "STRICT", default="off"),
            allow_loopback_webhooks=loopback_webhooks,
            execution_seconds=_execution_seconds(environment),
            state=wait.state_folder(environment),
            quiet=_switch(environment, "QUIET", default="off"),
        )


def _port(environment: Mapping[str, str], name: str, default: int) -> int:
    text = environment.get(name) or str(default)
    if not (text.isascii() and text.isdigit() and int(text) <= MAX_PORT):
        raise ValueError(f"{name} must be a number up to {MAX_PORT}, not {text!r}")
    return int(text)


def _execution_seconds(environment: Mapping[str, str]) -> int:
    default = MAX_EXECUTION_SECONDS if _base_url(environment) else stack.EXECUTION_SECONDS
    text = environment.get("EXECUTION_SECONDS") or str(default)
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= MAX_EXECUTION_SECONDS):
        raise ValueError(f"EXECUTION_SECONDS must be a number from 1 to {MAX_EXECUTION_SECONDS}, not {text!r}")
    return int(text)


def _script(path: str) -> Script:
    try:
        return Script.load(path)
    except OSError as error:
        raise ValueError(f"QUICKBOOKS_SCRIPT: {path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ValueError(f"QUICKBOOKS_SCRIPT: {error}") from error


def _endpoint(environment: Mapping[str, str]) -> str | None:
    url = (environment.get("DYNAMODB_ENDPOINT") or "").rstrip("/")
    if url and (urlsplit(url).scheme not in {"http", "https"} or not urlsplit(url).hostname):
        raise ValueError(f"DYNAMODB_ENDPOINT must be a URL like http://127.0.0.1:8127, not {url!r}")
    return url or None


def _base_url(environment: Mapping[str, str]) -> str | None:
    url = (environment.get("BASE_URL") or "").rstrip("/")
    parts = urlsplit(url)
    if parts.hostname in {"127.0.0.1", "localhost"}:
        return None  # a shell that has loaded the `.local/env` of an earlier run
    is_origin = parts.scheme == "https" and parts.hostname and "@" not in parts.netloc
    if url and (not is_origin or parts.path or parts.query or parts.fragment):
        raise ValueError(
            f"BASE_URL must be like https://queue.example.com, not {url!r}: the Web Connector accepts only https"
        )
    return url or None


def _switch(environment: Mapping[str, str], name: str, default: str = "on") -> bool:
    value = (environment.get(name) or default).lower()
    if value not in {"on", "true", "1", "off", "false", "0"}:
        raise ValueError(f"{name} must be on or off, not {value!r}")
    return value in {"on", "true", "1"}


def main(arguments: Sequence[str]) -> int:
    """Run until a signal says stop; return the exit status."""
    if arguments:
        # The program takes no arguments. Passing one prints the help text.
        print(__doc__)
        return 0 if arguments[0] in {"-h", "--help"} else 2
    folder = wait.state_folder(os.environ)
    try:
        with locked(folder), wait.starting(folder) as ready:
            return _run(ready)
    except FolderInUse as error:
        print(f"make run: {error}", file=sys.stderr)
        return 1


def _run(ready: Callable[[str], None]) -> int:
    """Run until a signal says stop, call `ready` with the URL, and return the exit status."""
    try:
        options = Options.of(os.environ)
    except ValueError as error:
        print(f"make run: {error}", file=sys.stderr)
        return 2
    wait_for_signal = programs.until_stopped()
    try:
        what = "the service and a simulated QuickBooks" if options.quickbooks else "the service"
        print(f"Starting {what} …", flush=True)
        terminal = Terminal.of(os.environ, sys.stdout, quiet=options.quiet, soap=not options.quickbooks)
        with running(options, terminal) as credentials:
            ready(credentials.base_url)  # ends the log, which must not have the key
            _greet(credentials, options)
            wait_for_signal()
            print("\nStopping.", flush=True)
    except (DatabaseUnusable, CompanyUnusable) as error:
        print(f"make run: {error}", file=sys.stderr)
        return 1
    except PortInUse as error:
        print(
            f"Port {error.port} is in use. Stop the program that listens there, or choose another port: "
            f"make run {error.option}={error.port + 1}",
            file=sys.stderr,
        )
        return 1
    return 0


class PortInUse(Exception):
    """Another program listens on the port that an option names."""

    def __init__(self, option: str, port: int) -> None:
        super().__init__(f"port {port} ({option}) is in use")
        self.option = option
        self.port = port


@contextmanager
def _port_of(option: str, port: int) -> Iterator[None]:
    """Raise PortInUse in place of the system's error."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        raise PortInUse(option, port) from error


def _check_ports(options: Options) -> None:
    """Raise PortInUse before anything is started or written."""
    ports = {"PORT": options.port} | ({"BOOKS_PORT": options.books_port} if options.quickbooks else {})
    for option, port in ports.items():
        with _port_of(option, port):
            socket.create_server((HOST, port)).close()


@contextmanager
def running(options: Options, terminal: Terminal) -> Iterator[Credentials]:
    """Run the stack, the webhook receiver and the simulated QuickBooks while the block runs."""
    _check_ports(options)
    ready = threading.Event()
    folder = folder_of(options.state, options.dynamodb_endpoint) if options.dynamodb_endpoint else None
    with ExitStack() as things:
        # Behind a tunnel, whoever has its URL could sign in.
        provider_url = None if options.base_url else things.enter_context(_identity_provider(folder))
        with _port_of("PORT", options.port):
            service = things.enter_context(
                stack.running(
                    ready=ready,
                    port=options.port,
                    dynamodb_endpoint=options.dynamodb_endpoint,
                    public_url=options.base_url,
                    allow_loopback_webhooks=options.allow_loopback_webhooks,
                    execution_seconds=options.execution_seconds,
                    log_level="INFO",
                    companies=folder / "companies" if folder else None,
                    oidc_issuer=provider_url,
                    on_call=lambda *call: terminal.call(*call) if ready.is_set() else None,
                )
            )
        logger = logging.getLogger(os.environ["POWERTOOLS_SERVICE_NAME"])
        logger.addFilter(terminal)
        things.callback(logger.removeFilter, terminal)
        credentials = replace(_credentials(service, options.state, folder), provider_url=provider_url)
        if provider_url:
            first_steps.invite(provider.PEOPLE, credentials.app_id, service.operator)
        if options.allow_loopback_webhooks:
            webhook_url = things.enter_context(_receiving(credentials, terminal))
            credentials = replace(credentials, webhook_url=webhook_url)
        if folder:
            first_steps.write_credentials(credentials, folder)  # with the URL that requests of the last run contain
        if not options.allow_loopback_webhooks:
            credentials = replace(credentials, webhook_url=None)
        credentials = replace(credentials, books_url=None)  # kept credentials have that of the last run
        if options.quickbooks:
            qwc = Path(credentials.qwc_path).read_text(encoding="utf-8")
            if options.base_url:
                qwc = qwc.replace(options.base_url, service.named_url)  # no need to go through the tunnel
            quickbooks = _simulated_quickbooks(qwc, credentials.qbwc_password, options, folder, terminal, ready=ready)
            credentials = replace(credentials, books_url=things.enter_context(quickbooks).rstrip("/"))
        first_steps.write(credentials, options.state)
        ready.set()  # callers that wait for it read the credentials next
        yield credentials


def _credentials(service: stack.Stack, state: Path, folder: Path | None) -> Credentials:
    """Return the credentials of an earlier run if the database still has them, or create new ones and print why."""
    earlier = _earlier_credentials(folder, service.clients["dynamodb"]) if folder else None
    if earlier is None:
        return first_steps.prepare(service.base_url, service.operator, state)
    print("Continuing with the app, the connection and the requests of the last run.", flush=True)
    return first_steps.of_this_run(earlier, service.base_url, service.operator, state)


def _earlier_credentials(folder: Path, dynamodb: Any) -> Credentials | None:
    try:
        return of_earlier_run(folder, dynamodb)
    except DoNotFit as reason:
        print(f"The credentials of the last run cannot be used: {reason}.", flush=True)
        print(f"Creating new ones. The old files are in {put_aside(folder)}/.", flush=True)
        return None


@contextmanager
def _identity_provider(folder: Path | None) -> Iterator[str]:
    """Run an identity provider, at the URL of the last run if data are kept: people belong to one URL."""
    former = first_steps.provider_of_last_run(folder) if folder else None
    port = urlsplit(former or "").port or 0
    with ExitStack() as running_provider:
        try:
            url = running_provider.enter_context(provider.identity_provider(port))
        except OSError as error:
            if not port or error.errno != errno.EADDRINUSE:
                raise
            url = running_provider.enter_context(provider.identity_provider())
        yield url


@contextmanager
def _receiving(credentials: Credentials, terminal: Terminal) -> Iterator[str]:
    """Receive webhooks at the URL of the last run, if there was one, because queued requests contain it."""
    port = urlsplit(credentials.webhook_url or "").port or 0

    def show(webhook: Webhook) -> None:
        terminal.received(webhook.body["id"], webhook.verified)

    with ExitStack() as receiver:
        try:
            url = receiver.enter_context(receiving(credentials.webhook_secret, show, port))
        except OSError as error:
            if not port or error.errno != errno.EADDRINUSE:
                raise
            terminal.note(f"Port {port} is in use, so webhooks for requests of the last run do not arrive here.")
            url = receiver.enter_context(receiving(credentials.webhook_secret, show))
        yield url


@contextmanager
def _simulated_quickbooks(
    qwc: str, password: str, options: Options, folder: Path | None, terminal: Terminal, *, ready: threading.Event
) -> Iterator[str]:
    """Run a simulated QuickBooks while the block runs, and yield the URL of its books. It polls when `ready` is set.

    Its company is saved to a file if COMPANY names one, or if `folder` belongs to a database that is kept.
    """
    company, company_file = _company(options, folder, terminal)
    company.strict, company.on_request = options.strict, terminal.quickbooks

    def show_and_keep(result: SessionResult) -> None:
        if company_file and (result.requests or result.error is not None):
            company.save(company_file)
        terminal.session(result.requests, result.status, is_error=result.error is not None)

    run = options.script.start(qwc, password, company, on_session=show_and_keep)
    stopping = threading.Event()
    run.plan.sleep = stopping.wait
    for simulator in run.simulators:
        simulator.connector.sleep, simulator.connector.stopped = stopping.wait, stopping.is_set

    def keep_polling() -> None:
        """Poll as "Update Selected" does, without a schedule, so that requests are sent within a second or two."""
        ready.wait()
        count = 0
        while not stopping.is_set():
            run.run_once()
            for fault in run.plan.happened[count:]:
                terminal.fault(str(fault))
                count += 1
            stopping.wait(POLL_SECONDS)

    thread = threading.Thread(target=keep_polling, name="web connector", daemon=True)
    thread.start()
    try:
        with ExitStack() as inspection:
            with _port_of("BOOKS_PORT", options.books_port):
                url = inspection.enter_context(serving(company, port=options.books_port, more_problems=run.problems))
            yield url
    finally:
        stopping.set()
        ready.set()
        thread.join(stack.STOP_SECONDS)
        for problem in run.problems():
            terminal.note(f"The script expected something else: {problem}")


class CompanyUnusable(Exception):
    """COMPANY names a file that is not a company. The message gives the reason."""


def _company(options: Options, folder: Path | None, terminal: Terminal) -> tuple[Company, Path | None]:
    """Return the company and the file that it is saved to: COMPANY, or a file beside the database that is kept."""
    if options.company not in GENERATED:
        if not Path(options.company).exists():
            terminal.note(f"{options.company} does not exist. QuickBooks begins with a new company and saves it there.")
        try:
            return Company.opened(options.company), Path(options.company)
        except (OSError, ValueError) as error:
            raise CompanyUnusable(str(error)) from error
    company_file = folder / COMPANY_FILE if folder else None
    return company_of_last_run(company_file, terminal, options.company), company_file


def company_of_last_run(company_file: Path | None, terminal: Terminal, new: str = DEFAULT_COMPANY) -> Company:
    """Load the company of the last run. If its file cannot be used, move the file away and make a new company."""
    if company_file is None or not company_file.exists():
        return Company.opened(new)
    try:
        return Company.load(company_file)
    except ValueError as error:
        previous = company_file.with_suffix(".previous.json")
        company_file.replace(previous)
        terminal.note(f"The simulated company of the last run cannot be used: {error}")
        terminal.note(f"QuickBooks begins with a new company. The old file is {previous}.")
        return Company.opened(new)


def _greet(credentials: Credentials, options: Options) -> None:
    print(f"\nqbxml-queue is running at {credentials.base_url}. Press Ctrl-C to stop it.", flush=True)
    print(f"Credentials and the .qwc file are in {options.state}/.\n", flush=True)
    url = options.base_url or credentials.base_url
    people = "sign in as Ada, Sam or Vic, or" if credentials.provider_url else "sign in"
    print(f"  Console    {url}/app    {people} with the API key")
    print(f"  API key    {credentials.api_key}")
    print(f"  API docs   {url}/docs")
    if credentials.books_url:
        print(f"  Books      {credentials.books_url}/    the company of the simulated QuickBooks")
    print(flush=True)
    facts = {
        "api_key": credentials.api_key,
        "base_url": credentials.base_url,
        "connection_id": credentials.connection_id,
        "webhook": f'"webhook_url": "{credentials.webhook_url}", ' if credentials.webhook_url else "",
    }
    if options.base_url:
        url = f"{options.base_url}{stack.CONNECTOR_PATH}/qbwc"
        print(f"Web Connectors reach it at {url}. Open the .qwc file on the Windows machine.")
        print("Anyone who has that URL can reach the service. Only programs of this machine can use `make command`.\n")
    if not options.allow_loopback_webhooks:
        print("Webhooks to this machine are off. ALLOW_LOOPBACK_WEBHOOKS=on allows them, and shows them here.\n")
    if options.quickbooks:
        what = "webhook" if credentials.webhook_url else "request"
        print(f"Ask the simulated QuickBooks for two customers. The {what} appears below a moment later:\n")
    else:
        print("Queue a request, then let your Web Connector fetch it:\n")
    print(CURL.format(**facts), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
