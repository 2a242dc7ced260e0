"""The terminal of `make run`: one line per REST call, QuickBooks request and webhook attempt, failures included.

    REST        POST /api/v1/connections/59f1c1a2…/queued_requests · 201 · 14 ms
    QuickBooks  InvoiceAddRq order-17                              · 3140 invalid reference · 41 ms
    Webhook     0b33c224… → 127.0.0.1                              · 204, signatures verified · 16 ms

Columns: the source, the subject, the outcome and the duration. UUIDs are shortened.
"""

from __future__ import annotations

import logging
import re
import sys
import threading
from typing import TYPE_CHECKING, Any, TextIO

from simulator.fidelity.strict import about

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from local.gateway import Request, Response
    from simulator.requests.events import RequestEvent

GREEN, YELLOW, RED, DIM = "32", "33", "31", "2"

SOURCE_COLORS = {"REST": "36", "QuickBooks": "35", "SOAP": "35", "Webhook": "34", "Fault": YELLOW, "Warning": YELLOW}

SOURCE_WIDTH = max(map(len, SOURCE_COLORS))

SUBJECT_WIDTH = len("POST /api/v1/connections/59f1c1a2…/queued_requests")
"""Outcomes are aligned behind subjects up to this length: the most common call."""

MAX_SUBJECT_LENGTH = 160
"""Longer subjects are cut: names of records in QuickBooks and URLs can be long."""

FIRST_ERROR_STATUS = 500
"""QuickBooks: lower statuses are information (1: no match), 500 is a warning or an error, 1000 and above are errors."""

LOG_ATTRIBUTES = frozenset({*vars(logging.makeLogRecord({})), "message", "asctime"})
"""The attributes that every log record has. The others are details of the message."""

MAX_SIGNATURES_KEPT = 1000
"""Webhooks that are received but whose attempt is not logged, because the function ended in between."""

_UUID = re.compile(r"\b([0-9a-fA-F]{8})-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b")


class Terminal(logging.Filter):
    """Prints a line for each event. It is also the filter that turns the log lines of webhook attempts into such lines.

    `color` and `quiet` (no line per event) are decided by `of`. `soap` also shows the calls of the Web Connector.
    """

    def __init__(
        self, stream: TextIO = sys.stdout, *, color: bool = False, quiet: bool = False, soap: bool = False
    ) -> None:
        super().__init__()
        self._stream = stream
        self._color = color
        self._quiet = quiet
        self._soap = soap
        self._last_error: str | None = None
        self._failed_requests = 0
        self._simplified: set[str] = set()
        self._signatures: dict[str, Collection[str]] = {}
        self._lock = threading.Lock()

    @classmethod
    def of(
        cls, environment: Mapping[str, str], stream: TextIO = sys.stdout, *, quiet: bool = False, soap: bool = False
    ) -> Terminal:
        """Return the terminal on `stream`: with colour if it is a terminal and NO_COLOR is not set (no-color.org)."""
        return cls(stream, color=stream.isatty() and not environment.get("NO_COLOR"), quiet=quiet, soap=soap)

    def call(self, request: Request, response: Response, seconds: float) -> None:
        """Show a call of the REST API or, if asked for, of the Web Connector."""
        color = GREEN if response.status < 400 else YELLOW if response.status < 500 else RED  # noqa: PLR2004 - the HTTP status classes
        if request.path.startswith("/api/"):
            self._event("REST", f"{request.method} {request.target}", str(response.status), color, seconds)
        elif request.path.endswith("/qbwc") and self._soap:
            method = (request.header("SOAPAction") or request.method).strip('"').rpartition("/")[2]
            self._event("SOAP", method, str(response.status), color, seconds)

    def quickbooks(self, event: RequestEvent) -> None:
        """Show a request that the simulated QuickBooks executed, except those of the Web Connector itself."""
        if event.is_own_question:
            return
        self._failed_requests += event.status >= FIRST_ERROR_STATUS
        outcome = f"{event.status} {event.summary}" if event.status else event.summary
        color = RED if event.status >= FIRST_ERROR_STATUS else YELLOW if event.status else GREEN
        self._event("QuickBooks", f"{event.name} {event.label}".rstrip(), outcome, color, event.seconds)
        for name in event.simplified:
            if name not in self._simplified:
                self._simplified.add(name)
                self._line("Warning", f"not known to be as in QuickBooks: {name}", about(name), YELLOW)

    def session(self, requests: int, status: str, *, is_error: bool) -> None:
        """Show a session that ended with an error, the same error only once, or that had several requests."""
        failure_count, self._failed_requests = self._failed_requests, 0
        if is_error and (requests or status != self._last_error):
            self._line("QuickBooks", "session", status, RED)
        elif requests > 1 and not self._quiet:
            counts = f"{requests} requests, {failure_count} failed" if failure_count else f"{requests} requests"
            self._line("QuickBooks", "session ended", counts, YELLOW if failure_count else GREEN)
        self._last_error = status if is_error else None

    def fault(self, text: str) -> None:
        """Show a fault that a script injected."""
        self._line("Fault", text)

    def received(self, request_id: str, verified: Collection[str]) -> None:
        """Store the signatures that the webhook receiver of `make run` verified, for the line of the attempt."""
        with self._lock:
            self._signatures[request_id] = verified
            while len(self._signatures) > MAX_SIGNATURES_KEPT:
                del self._signatures[next(iter(self._signatures))]

    def note(self, text: str) -> None:
        """Show a sentence, also in the quiet mode."""
        self._write(text)

    def filter(self, record: logging.LogRecord) -> bool:
        """Show a webhook attempt or a warning of the service; pass errors on to the log."""
        facts = vars(record)
        match record.getMessage():
            case "delivery.attempted":
                self._attempted(facts)
            case "delivery.deferred":
                self._event("Webhook", _target(facts), f"sent later: {_reason(facts)}", YELLOW)
            case message if record.levelno == logging.WARNING and not record.exc_info:
                details = ", ".join(f"{name} {value}" for name, value in facts.items() if name not in LOG_ATTRIBUTES)
                self._line("Warning", message, details, YELLOW)
                return False
        return record.levelno >= logging.WARNING

    def _attempted(self, facts: Mapping[str, Any]) -> None:
        with self._lock:
            is_verified = self._signatures.pop(facts.get("event_id") or facts["request_id"], None)
        match facts["outcome"]:
            case "succeeded":
                outcome, color = str(facts["status"]) + (", signatures verified" if is_verified else ""), GREEN
            case "retry":
                outcome, color = f"{_reason(facts)}, next attempt at {facts['next_attempt_at'][11:19]} UTC", YELLOW
            case _:
                outcome, color = f"{_reason(facts)}, no further attempt", RED
        self._event("Webhook", _target(facts), outcome, color, facts["duration_ms"] / 1000)

    def _event(self, source: str, subject: str, outcome: str, color: str, seconds: float | None = None) -> None:
        if not self._quiet:
            self._line(source, subject, outcome, color, seconds)

    def _line(
        self, source: str, subject: str, outcome: str = "", color: str = "", seconds: float | None = None
    ) -> None:
        subject, outcome = (_UUID.sub(r"\1…", _printable(text)) for text in (subject, outcome))
        columns = [subject]
        if outcome:
            columns = [subject.ljust(SUBJECT_WIDTH), self._painted(outcome, color)]
        if seconds is not None:
            columns.append(self._painted(_duration(seconds), DIM))
        source = self._painted(source.ljust(SOURCE_WIDTH), SOURCE_COLORS[source])
        self._write(f"{source}  {self._painted(' · ', DIM).join(columns)}")

    def _painted(self, text: str, color: str) -> str:
        return f"\x1b[{color}m{text}\x1b[0m" if self._color else text

    def _write(self, line: str) -> None:
        with self._lock:
            print(line, file=self._stream, flush=True)


def _target(facts: Mapping[str, Any]) -> str:
    attempt = f", attempt {facts['attempt']}" if facts["attempt"] > 1 else ""
    return f"{facts.get('type') or facts['request_id']} → {facts['host']}{attempt}"


def _reason(facts: Mapping[str, Any]) -> str:
    return str(facts.get("reason", "")).rstrip(".")


def _duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{round(seconds * 1000)} ms"


def _printable(text: str) -> str:
    """Return text without characters that could control the terminal, such as escape and right-to-left override."""
    text = "".join(character if character.isprintable() else " " for character in text)
    return text if len(text) <= MAX_SUBJECT_LENGTH else text[: MAX_SUBJECT_LENGTH - 1] + "…"
