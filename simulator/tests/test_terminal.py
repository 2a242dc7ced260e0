"""The line that the command prints for each request."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime

from simulator.terminal import JSON, QUIET, TEXT, Terminal
from simulator.tests.support import a_company, ask

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
