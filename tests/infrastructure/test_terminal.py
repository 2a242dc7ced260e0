"""What `make run` prints while it runs."""

from __future__ import annotations

import io
import logging
from typing import Any

import pytest

from local.gateway import Request, Response
from local.run import Options
from local.terminal import Terminal

RETRY = {"outcome": "retry", "reason": "HTTP 503.", "next_attempt_at": "2026-03-14T12:00:05.000000Z"}
GAVE_UP = {"outcome": "gave_up", "reason": "HTTP 410."}


class Tty(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


def printed(terminal: Terminal, **facts: Any) -> bool:
    """Log a webhook attempt; return whether the line goes on to the log."""
    record = logging.makeLogRecord(
        {"msg": "delivery.attempted", "levelno": logging.INFO, "request_id": "r1", "host": "shop.example"}
        | {"attempt": 1, "status": 204, "duration_ms": 12}
        | facts
    )
    return bool(terminal.filter(record))


def test_a_call_of_the_api_is_one_line_with_its_status_and_time() -> None:
    stream = io.StringIO()

    Terminal(stream).call(Request("GET", "/api/v1/connections?page=2", [], b""), Response(200, [], b""), 0.0123)

    assert stream.getvalue() == "REST        GET /api/v1/connections?page=2 · 200 · 12 ms\n"


def test_a_call_of_the_web_connector_is_not_shown() -> None:
    stream = io.StringIO()

    Terminal(stream).call(Request("POST", "/qbwc", [], b""), Response(200, [], b""), 0.01)

    assert not stream.getvalue()


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        ({"outcome": "succeeded"}, "Webhook     r1 → shop.example, attempt 1 · 204 · 12 ms\n"),
        (RETRY, "Webhook     r1 → shop.example, attempt 1 · HTTP 503; next attempt at 12:00:05 UTC · 12 ms\n"),
        (
            {"outcome": "gave_up", "reason": "HTTP 410."},
            "Webhook     r1 → shop.example, attempt 1 · HTTP 410; given up · 12 ms\n",
        ),
    ],
)
def test_a_webhook_attempt_is_one_line_in_place_of_its_log_line(facts: dict[str, Any], line: str) -> None:
    stream = io.StringIO()

    assert not printed(Terminal(stream), **facts)

    assert stream.getvalue() == line


def test_warnings_go_on_to_the_log() -> None:
    assert printed(Terminal(io.StringIO()), msg="webhook.not_processed", levelno=logging.ERROR)


def test_the_same_error_of_a_session_is_shown_once() -> None:
    stream = io.StringIO()
    terminal = Terminal(stream)

    for _ in range(3):
        terminal.session(0, "QBWC1039: no", is_error=True)

    assert stream.getvalue() == "QuickBooks  QBWC1039: no\n"


def test_control_characters_of_a_caller_do_not_reach_the_terminal() -> None:
    stream = io.StringIO()

    Terminal(stream).call(Request("GET", "/api/\x1b[2J", [], b""), Response(404, [], b""), 0)

    assert "\x1b" not in stream.getvalue()


@pytest.mark.parametrize(
    ("stream", "environment", "colored"),
    [(Tty(), {}, True), (Tty(), {"NO_COLOR": "1"}, False), (io.StringIO(), {}, False)],
)
def test_lines_are_coloured_on_a_terminal_unless_no_color_is_set(
    stream: io.StringIO, environment: dict[str, str], colored: bool
) -> None:
    Terminal.of(environment, stream).call(Request("GET", "/api/", [], b""), Response(500, [], b""), 0)

    assert ("\x1b[31m500\x1b[0m" in stream.getvalue()) is colored


def test_the_quiet_mode_shows_notes_only() -> None:
    stream = io.StringIO()
    terminal = Terminal(stream, quiet=Options.of({"QUIET": "on"}).quiet)

    terminal.call(Request("GET", "/api/", [], b""), Response(200, [], b""), 0)
    terminal.session(1, "Finished", is_error=False)
    printed(terminal, outcome="succeeded")
    terminal.note("Port 3000 is in use.")

    assert stream.getvalue() == "Port 3000 is in use.\n"
