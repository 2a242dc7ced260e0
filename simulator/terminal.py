"""The output of the command: one line for each request that QuickBooks executes, as text or as JSON.

14:03:07  InvoiceAddRq INV-1042 · 3140 invalid reference · 3 ms
"""

from __future__ import annotations

import json
import re
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TextIO

from simulator.fidelity.strict import about

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from simulator.requests.events import RequestEvent
    from simulator.web_connector.connector import SessionResult

GREEN, YELLOW, RED, DIM = "32", "33", "31", "2"
TEXT, JSON, QUIET = "text", "json", "quiet"
FIRST_ERROR_STATUS = 1000

_NOT_PRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def _now() -> datetime:
    return datetime.now(UTC).astimezone()


class Terminal:
    """Prints requests, sessions and faults. `form` is `TEXT`, `JSON` (one object on each line) or `QUIET` (nothing)."""

    def __init__(
        self, stream: TextIO, *, form: str = TEXT, color: bool = False, now: Callable[[], datetime] = _now
    ) -> None:
        self._stream = stream
        self._form = form
        self._color = color
        self._now = now
        self._last_error: str | None = None
        self._simplified: set[str] = set()
        self._lock = threading.Lock()

    @classmethod
    def of(cls, environment: Mapping[str, str], stream: TextIO, form: str = TEXT) -> Terminal:
        """Return the terminal on `stream`: with colour on a terminal, unless NO_COLOR is set (no-color.org)."""
        return cls(stream, form=form, color=stream.isatty() and not environment.get("NO_COLOR"))

    def request(self, event: RequestEvent) -> None:
        """Show a request that QuickBooks executed, except those that the Web Connector makes by itself."""
        if event.is_own_question:
            return
        if event.status == 0:
            outcome, color = event.summary, GREEN
        else:
            outcome = f"{event.status} {event.summary}"
            color = RED if event.status >= FIRST_ERROR_STATUS else YELLOW
        label = f" {_clean(event.label)}" if event.label else ""
        self._show(
            {
                "event": "request",
                "type": event.name,
                "label": event.label,
                "status_code": event.status,
                "status_message": event.message,
                "summary": event.summary,
                "milliseconds": round(event.seconds * 1000, 3),
            },
            f"{event.name}{label} · {self._painted(_clean(outcome), color)} · {round(event.seconds * 1000)} ms",
        )

        for name in event.simplified:
            self._simplification(event.name, name)

    def _simplification(self, request: str, name: str) -> None:
        """Show a behaviour that is not QuickBooks' when the first request depends on it (`--strict`)."""
        if name not in self._simplified:
            self._simplified.add(name)
            self._show(
                {"event": "simplification", "name": name, "about": about(name), "type": request},
                self._painted(f"Not known to be as in QuickBooks: {name}. {about(name)}", YELLOW),
            )

    def session(self, result: SessionResult) -> None:
        """Show the end of a session that had requests, or an error that the previous session did not have."""
        is_error = result.error is not None
        number = "1 request" if result.requests == 1 else f"{result.requests} requests"
        is_news = result.requests or (is_error and result.status != self._last_error)
        self._last_error = result.status if is_error else None
        if is_news:
            self._show(
                {"event": "session", "status": result.status, "error": result.error, "requests": result.requests},
                f"{self._painted(_clean(result.status), RED if is_error else DIM)} ({number})",
            )

    def fault(self, description: str) -> None:
        """Show a fault that happened."""
        self._show({"event": "fault", "fault": description}, self._painted(f"Fault: {_clean(description)}", YELLOW))

    def detail(self, text: str) -> None:
        """Show a call or the progress of a session (`--verbose`)."""
        self._show({"event": "detail", "text": text}, self._painted(text, DIM))

    def note(self, text: str) -> None:
        """Show a sentence for the user."""
        self._show({"event": "note", "text": text}, text)

    def _show(self, facts: Mapping[str, object], text: str) -> None:
        if self._form == QUIET:
            return
        now = self._now()
        if self._form == JSON:
            line = json.dumps({"time": now.isoformat(timespec="milliseconds"), **facts})
        else:
            line = f"{self._painted(f'{now:%H:%M:%S}', DIM)}  {text}"
        with self._lock:
            print(line, file=self._stream, flush=True)

    def _painted(self, text: str, color: str) -> str:
        return f"\x1b[{color}m{text}\x1b[0m" if self._color else text


def _clean(text: str) -> str:
    """Replace control characters, so that a name in QuickBooks cannot move the cursor."""
    return _NOT_PRINTABLE.sub(" ", text)
