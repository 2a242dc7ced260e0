"""The output of `make run` while it runs."""

from __future__ import annotations

import io
import logging
from dataclasses import replace
from typing import Any

import pytest

from local.gateway import Request, Response
from local.run import Options
from local.terminal import Terminal
from simulator.requests.events import RequestEvent

UUID = "59f1c1a2-0000-4000-8000-000000000000"
RETRY = {"outcome": "retry", "reason": "HTTP 503.", "next_attempt_at": "2026-03-14T12:00:05.000000Z"}
GAVE_UP = {"outcome": "gave_up", "reason": "HTTP 410."}


class Tty(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


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


def test_outcomes_are_aligned() -> None:
    stream = io.StringIO()
    terminal = Terminal(stream)

    terminal.call(Request("POST", f"/api/v1/connections/{UUID}/queued_requests", [], b""), Response(201, [], b""), 0.01)
    terminal.quickbooks(quickbooks_event(0, "OK"))
    log_attempt(terminal, outcome="succeeded")

    assert len({line.index(" · ") for line in stream.getvalue().splitlines()}) == 1


@pytest.mark.parametrize(
    ("status", "summary", "outcome"), [(0, "OK", "OK"), (3140, "invalid reference", "3140 invalid reference")]
)
def test_a_request_of_quickbooks_is_one_line_with_its_outcome_and_time(status: int, summary: str, outcome: str) -> None:
    stream = io.StringIO()

    Terminal(stream).quickbooks(quickbooks_event(status, summary))

    assert fields(stream) == [["QuickBooks", "InvoiceAddRq order-17", outcome, "41 ms"]]


def test_a_behaviour_that_is_not_that_of_quickbooks_is_shown_once() -> None:
    stream = io.StringIO()
    terminal = Terminal(stream, quiet=True)

    for _ in range(2):
        terminal.quickbooks(replace(quickbooks_event(0, "OK"), simplified=("stock_by_site",)))

    (line,) = fields(stream)
    assert line[:2] == ["Warning", "not as in QuickBooks: stock_by_site"]
    assert line[2].startswith("Stock is not counted by site")


def test_queries_that_the_web_connector_makes_by_itself_are_not_shown() -> None:
    stream = io.StringIO()

    Terminal(stream).quickbooks(quickbooks_event(0, "OK", name="HostQueryRq", request_id="0"))

    assert not stream.getvalue()


def test_a_session_of_several_requests_ends_with_the_number_that_failed() -> None:
    stream = io.StringIO()
    terminal = Terminal(stream)

    for status in (0, 1, 3140):
        terminal.quickbooks(quickbooks_event(status, "x"))
    terminal.session(3, "Finished", is_error=False)
    terminal.session(1, "Finished", is_error=False)

    assert fields(stream)[3:] == [["QuickBooks", "session ended", "3 requests, 1 failed"]]


def test_a_webhook_for_the_receiver_of_make_run_says_that_its_signatures_are_verified() -> None:
    stream = io.StringIO()
    terminal = Terminal(stream)

    terminal.received(UUID, {"qube", "standard"})
    log_attempt(terminal, outcome="succeeded")

    assert fields(stream) == [["Webhook", "59f1c1a2… → shop.example", "204, signatures verified", "12 ms"]]


def test_a_webhook_about_a_connection_is_shown_with_its_type() -> None:
    stream = io.StringIO()
    terminal = Terminal(stream)

    terminal.received(UUID, {"qube", "standard"})
    log_attempt(terminal, outcome="succeeded", request_id=None, event_id=UUID, type="connection.stalled")

    assert fields(stream) == [["Webhook", "connection.stalled → shop.example", "204, signatures verified", "12 ms"]]


def test_a_webhook_that_another_function_sends_later_is_shown() -> None:
    stream = io.StringIO()

    log_attempt(Terminal(stream), msg="delivery.deferred", reason="The host is slow.")

    assert fields(stream) == [["Webhook", "59f1c1a2… → shop.example", "sent later: The host is slow"]]


def test_calls_of_a_real_web_connector_are_shown_on_request() -> None:
    stream = io.StringIO()
    headers = [("SOAPAction", '"http://developer.intuit.com/authenticate"')]

    Terminal(stream, soap=True).call(Request("POST", "/qbwc", headers, b""), Response(200, [], b""), 1.25)

    assert fields(stream) == [["SOAP", "authenticate", "200", "1.2 s"]]


def test_a_call_of_the_web_connector_is_not_shown() -> None:
    stream = io.StringIO()

    Terminal(stream).call(Request("POST", "/qbwc", [], b""), Response(200, [], b""), 0.01)

    assert not stream.getvalue()


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


def test_a_warning_of_the_service_is_one_line_in_place_of_its_log_line() -> None:
    stream = io.StringIO()
    record = logging.makeLogRecord({"msg": "api_key.refused", "levelno": logging.WARNING, "reason": "unknown"})

    assert not Terminal(stream).filter(record)

    assert fields(stream) == [["Warning", "api_key.refused", "reason unknown"]]


def test_errors_go_to_the_log() -> None:
    assert log_attempt(Terminal(io.StringIO()), msg="webhook.not_processed", levelno=logging.ERROR)


def test_the_same_error_of_a_session_is_shown_once() -> None:
    stream = io.StringIO()
    terminal = Terminal(stream)

    for _ in range(3):
        terminal.session(0, "QBWC1039: no", is_error=True)

    assert fields(stream) == [["QuickBooks", "session", "QBWC1039: no"]]


def test_control_characters_of_a_caller_do_not_reach_the_terminal() -> None:
    stream = io.StringIO()

    Terminal(stream).call(Request("GET", "/api/\x1b[2J\u202e", [], b""), Response(404, [], b""), 0)

    assert not {"\x1b", "\u202e"} & set(stream.getvalue())


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
    terminal.quickbooks(quickbooks_event(0, "OK"))
    terminal.session(2, "Finished", is_error=False)
    log_attempt(terminal, outcome="succeeded")
    terminal.note("Port 3000 is in use.")

    assert stream.getvalue() == "Port 3000 is in use.\n"


def test_an_injected_fault_is_a_line() -> None:
    stream = io.StringIO()

    Terminal(stream).fault("the answer is lost")

    assert stream.getvalue() == "Fault       the answer is lost\n"
