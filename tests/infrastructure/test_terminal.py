"""The output of `make run` while it runs."""

from __future__ import annotations

import io
import logging
from typing import Any

import pytest

from local.gateway import Request, Response
from local.run import Options
from local.terminal import Terminal
from simulator.requests.events import RequestEvent

UUID = "59f1c1a2-0000-4000-8000-000000000000"
RETRY = {"outcome": "retry", "reason": "HTTP 503.", "next_attempt_at": "2026-03-14T12:00:05.000000Z"}
GAVE_UP = {"outcome": "gave_up", "reason": "HTTP 410."}


def log_attempt(terminal: Terminal, **facts: Any) -> bool:
    """Log a webhook attempt; return whether it still goes to the log."""
    record = logging.makeLogRecord(
        {"msg": "delivery.attempted", "levelno": logging.INFO, "request_id": UUID, "host": "shop.example"}
        | {"attempt": 1, "status": 204, "duration_ms": 12}
        | facts
    )
    return bool(terminal.filter(record))


def fields(stream: io.StringIO) -> list[list[str]]:
    """Return the columns of each line without their padding."""
    lines = [line.split(None, 1) for line in stream.getvalue().splitlines()]
    return [[source, *(part.strip() for part in rest.split(" · "))] for source, rest in lines]


def quickbooks_event(status: int, summary: str, *, name: str = "InvoiceAddRq", request_id: str = "7") -> RequestEvent:
    """Return the event of an answered request."""
    return RequestEvent(name, request_id, "order-17", status, "Customer Nobody does not exist.", 0.0412, summary)


def test_a_call_of_the_api_is_one_line_with_its_status_and_time() -> None:
    stream = io.StringIO()

    Terminal(stream).call(Request("GET", "/api/v1/connections?page=2", [], b""), Response(200, [], b""), 0.0123)

    assert fields(stream) == [["REST", "GET /api/v1/connections?page=2", "200", "12 ms"]]


@pytest.mark.parametrize(
    ("status", "summary", "outcome"), [(0, "OK", "OK"), (3140, "invalid reference", "3140 invalid reference")]
)
def test_a_request_of_quickbooks_is_one_line_with_its_outcome_and_time(status: int, summary: str, outcome: str) -> None:
    stream = io.StringIO()

    Terminal(stream).quickbooks(quickbooks_event(status, summary))

    assert fields(stream) == [["QuickBooks", "InvoiceAddRq order-17", outcome, "41 ms"]]


@pytest.mark.parametrize(
    ("facts", "subject", "outcome"),
    [
        ({"outcome": "succeeded"}, "59f1c1a2… → shop.example", "204"),
        (RETRY, "59f1c1a2… → shop.example", "HTTP 503, next attempt at 12:00:05 UTC"),
        (GAVE_UP | {"attempt": 3}, "59f1c1a2… → shop.example, attempt 3", "HTTP 410, no further attempt"),
    ],
)
def test_a_webhook_attempt_is_one_line_in_place_of_its_log_line(
    facts: dict[str, Any], subject: str, outcome: str
) -> None:
    stream = io.StringIO()

    assert not log_attempt(Terminal(stream), **facts)

    assert fields(stream) == [["Webhook", subject, outcome, "12 ms"]]


def test_errors_go_to_the_log() -> None:
    assert log_attempt(Terminal(io.StringIO()), msg="webhook.not_processed", levelno=logging.ERROR)


def test_control_characters_of_a_caller_do_not_reach_the_terminal() -> None:
    stream = io.StringIO()

    Terminal(stream).call(Request("GET", "/api/\x1b[2J\u202e", [], b""), Response(404, [], b""), 0)

    assert not {"\x1b", "\u202e"} & set(stream.getvalue())


def test_the_quiet_mode_shows_notes_only() -> None:
    stream = io.StringIO()
    terminal = Terminal(stream, quiet=Options.of({"QUIET": "on"}).quiet)

    terminal.call(Request("GET", "/api/", [], b""), Response(200, [], b""), 0)
    terminal.quickbooks(quickbooks_event(0, "OK"))
    terminal.session(2, "Finished", is_error=False)
    log_attempt(terminal, outcome="succeeded")
    terminal.note("Port 3000 is in use.")

    assert stream.getvalue() == "Port 3000 is in use.\n"
