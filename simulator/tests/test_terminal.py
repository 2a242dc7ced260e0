"""The line that the command prints for each request."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime

import pytest

from simulator.terminal import JSON, QUIET, TEXT, Terminal
from simulator.tests.support import a_company, ask
from simulator.web_connector.connector import SessionResult

NOON = datetime(2026, 1, 31, 12, 0, 5, tzinfo=UTC)
INVOICE = (
    "<InvoiceAddRq requestID='9'><InvoiceAdd><CustomerRef><FullName>nobody</FullName></CustomerRef>"
    "<RefNumber>INV-1042</RefNumber></InvoiceAdd></InvoiceAddRq>"
)
CUSTOMER = "<CustomerAddRq><CustomerAdd><Name>Ada &#x85;&#x1; Co</Name></CustomerAdd></CustomerAddRq>".replace(
    "&#x1;", ""
)


def lines_of(body: str, form: str = TEXT, *, color: bool = False) -> list[str]:
    stream = io.StringIO()
    company = a_company(customers=3, sales_orders=0)
    company.on_request = Terminal(stream, form=form, color=color, now=lambda: NOON).request
    ask(company, body)
    return stream.getvalue().splitlines()


def test_a_request_is_one_line_with_type_number_result_and_time() -> None:
    lines = lines_of(f"{INVOICE}<CustomerQueryRq><MaxReturned>2</MaxReturned></CustomerQueryRq>")

    assert lines[0].startswith("12:00:05  InvoiceAddRq INV-1042 · 3140 invalid reference · ")
    assert lines[1].startswith("12:00:05  CustomerQueryRq · 2 records · ")
    assert all(line.endswith(" ms") for line in lines)


def test_the_web_connectors_own_questions_are_not_shown() -> None:
    assert lines_of('<HostQueryRq requestID="0"/>') == []
    assert len(lines_of('<HostQueryRq requestID="5"/>')) == 1


def test_control_characters_of_names_do_not_reach_the_terminal() -> None:
    (line,) = lines_of(CUSTOMER)

    assert line.isprintable()


def test_errors_are_red_and_successes_green_where_there_is_colour() -> None:
    error, success = lines_of(f"{INVOICE}{CUSTOMER}", color=True)

    assert "\x1b[31m3140 invalid reference\x1b[0m" in error
    assert "\x1b[32mOK\x1b[0m" in success


@pytest.mark.parametrize(
    ("is_terminal", "no_color", "colored"), [(True, "", True), (True, "1", False), (False, "", False)]
)
def test_colour_needs_a_terminal_and_no_no_color(is_terminal: bool, no_color: str, colored: bool) -> None:
    class Stream(io.StringIO):
        def isatty(self) -> bool:
            return is_terminal

    stream = Stream()
    Terminal.of({"NO_COLOR": no_color}, stream).fault("lost")

    assert ("\x1b[" in stream.getvalue()) == colored


def test_json_is_one_object_on_each_line() -> None:
    (line,) = lines_of(INVOICE, JSON)
    facts = json.loads(line)

    assert facts.pop("milliseconds") >= 0
    assert "nobody" in facts.pop("status_message")
    assert facts == {
        "time": "2026-01-31T12:00:05.000+00:00",
        "event": "request",
        "type": "InvoiceAddRq",
        "label": "INV-1042",
        "status_code": 3140,
        "summary": "invalid reference",
    }


def test_quiet_prints_nothing() -> None:
    assert lines_of(INVOICE, QUIET) == []


def test_a_session_is_shown_when_it_had_requests_or_another_error_than_the_last() -> None:
    stream = io.StringIO()
    terminal = Terminal(stream, now=lambda: NOON)
    failure = SessionResult(status="QBWC1048: no certificate", requests=0, error=1048)
    success = SessionResult(status="Finished", requests=1, error=None)
    idle = SessionResult(status="Finished", requests=0, error=None)

    for result in (failure, failure, idle, success, failure):
        terminal.session(result)

    assert [line.partition("  ")[2] for line in stream.getvalue().splitlines()] == [
        "QBWC1048: no certificate (0 requests)",
        "Finished (1 request)",
        "QBWC1048: no certificate (0 requests)",
    ]
