"""The terminal of `make run`: one line per REST call, QuickBooks request and webhook attempt, failures included."""

from __future__ import annotations

import logging
import re
import sys
import threading
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from local.gateway import Request, Response

GREEN, YELLOW, RED, DIM = "32", "33", "31", "2"

MAX_SOURCE_LENGTH = 10
"""The longest source: QuickBooks."""

_NOT_PRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class Terminal(logging.Filter):
    """Prints the events of a run. It is also the log filter that turns the records of webhook attempts into such lines.

    `color` and `quiet` (no line per event) are decided by `of`.
    """

    def __init__(self, stream: TextIO = sys.stdout, *, color: bool = False, quiet: bool = False) -> None:
        super().__init__()
        self._stream = stream
        self._color = color
        self._quiet = quiet
        self._last_error: str | None = None
        self._lock = threading.Lock()

    @classmethod
    def of(cls, environment: Mapping[str, str], stream: TextIO = sys.stdout, *, quiet: bool = False) -> Terminal:
        """Return the terminal on `stream`: colour on a terminal, unless NO_COLOR is set (no-color.org)."""
        return cls(stream, color=stream.isatty() and not environment.get("NO_COLOR"), quiet=quiet)

    def call(self, request: Request, response: Response, seconds: float) -> None:
        """Show a call of the REST API."""
        if request.path.startswith("/api/"):
            self._event("REST", f"{request.method} {request.target}", str(response.status), seconds, response.status)

    def quickbooks(self, name: str, label: str, status: int, message: str, seconds: float) -> None:
        """Show a request that the simulated QuickBooks executed."""
        outcome = "OK" if status == 0 else f"{status} {message}"
        self._event("QuickBooks", f"{name} {label}", outcome, seconds, 200 if status in {0, 1} else 400)

    def session(self, requests: int, status: str, *, is_error: bool) -> None:
        """Show how a Web Connector session ended; the same error only once."""
        if requests and not self._quiet:
            number = "1 request" if requests == 1 else f"{requests} requests"
            self._print("QuickBooks", f"session with {number} · {self._painted(status, RED if is_error else GREEN)}")
        elif is_error and status != self._last_error:
            self._print("QuickBooks", status, RED)
        self._last_error = status if is_error else None

    def received(self, event: str, request_id: str, verified: Collection[str]) -> None:
        """Show an event that the webhook receiver of `make run` got."""
        signatures = f"signatures verified: {', '.join(sorted(verified))}" if verified else "no valid signature"
        if not self._quiet:
            self._print("Received", f"{event} {request_id} · {self._painted(signatures, GREEN if verified else RED)}")

    def note(self, text: str) -> None:
        """Show a sentence, also in the quiet mode."""
        self._write(text)

    def filter(self, record: logging.LogRecord) -> bool:
        """Show a webhook attempt; let warnings and errors through to the log."""
        if record.getMessage() == "delivery.attempted":
            self._webhook(vars(record))
        return record.levelno >= logging.WARNING

    def _webhook(self, facts: Mapping[str, Any]) -> None:
        target = f"{facts['request_id']} → {facts['host']}, attempt {facts['attempt']}"
        reason = facts.get("reason", "").rstrip(".")
        match facts["outcome"]:
            case "succeeded":
                outcome, severity = str(facts["status"]), 200
            case "retry":
                outcome, severity = f"{reason}; next attempt at {facts['next_attempt_at'][11:19]} UTC", 400
            case _:
                outcome, severity = f"{reason}; given up", 500
        self._event("Webhook", target, outcome, facts["duration_ms"] / 1000, severity)

    def _event(self, source: str, what: str, outcome: str, seconds: float, status: int) -> None:
        if self._quiet:
            return
        color = next(color for limit, color in ((400, GREEN), (500, YELLOW), (1000, RED)) if status < limit)
        what, outcome = (_NOT_PRINTABLE.sub(" ", text) for text in (what, outcome))
        self._print(source, f"{what} · {self._painted(outcome, color)} · {round(seconds * 1000)} ms")

    def _print(self, source: str, text: str, color: str | None = None) -> None:
        self._write(f"{self._painted(source.ljust(MAX_SOURCE_LENGTH), DIM)}  {self._painted(text, color)}")

    def _painted(self, text: str, color: str | None) -> str:
        return f"\x1b[{color}m{text}\x1b[0m" if self._color and color else text

    def _write(self, line: str) -> None:
        with self._lock:
            print(line, file=self._stream, flush=True)
