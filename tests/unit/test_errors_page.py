"""docs/errors.md has every code that the API returns, with its cause and what to do about it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from domain.errors import ServiceError
from domain.records.connection import HELD_BY_COMPANY_FILE
from domain.records.request import ErrorCode
from handlers.rest.errors import STATUSES, InternalError
from local.template import Template
from tools.error_reasons import (
    METHOD_NOT_ALLOWED,
    REMEDIES_OF_CALLS,
    REMEDIES_OF_REQUESTS,
    TARGET,
    document,
)

ROOT = Path(__file__).resolve().parents[2]
CONTRACT = (ROOT / "docs" / "reference" / "service-contract.md").read_text(encoding="utf-8")


def rows(page: str, section: str) -> list[list[str]]:
    """Return the cells of the tables of a section, without their heads."""
    text = page.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| ---")]
    return [line.strip("| ").split(" | ") for line in lines[1:]]


def codes(cell: str) -> list[str]:
    return re.findall(r"`(\w+)`", cell)


def test_the_page_matches_the_tables() -> None:
    assert TARGET.read_text(encoding="utf-8") == document(), "run `make error-reasons`"


def test_every_error_of_a_call_has_a_cause_and_a_remedy() -> None:
    missing = [error.__name__ for error in ServiceError.__subclasses__() if error not in REMEDIES_OF_CALLS]

    assert missing == [], f"add cause and remedy to REMEDIES_OF_CALLS in tools/error_reasons.py: {missing}"


def test_every_error_of_a_request_has_a_cause_and_a_remedy() -> None:
    missing = [code.value for code in ErrorCode if code not in REMEDIES_OF_REQUESTS]

    assert missing == [], f"add cause and remedy to REMEDIES_OF_REQUESTS in tools/error_reasons.py: {missing}"


def test_every_code_that_the_api_returns_is_on_the_page() -> None:
    """API Gateway and a few functions write the body of an error themselves."""
    template = (ROOT / "template.yaml").read_text(encoding="utf-8")
    written = [path.read_text(encoding="utf-8") for path in (ROOT / "src" / "handlers").rglob("*.py")]
    returned = set(re.findall(r'"code": "(\w+)"', "".join([template, *written])))

    assert "method_not_allowed" in returned
    assert returned <= {code for row in rows(document(), "Errors of a call") for code in codes(row[1])}


def test_every_error_of_a_connection_is_on_the_page() -> None:
    on_page = {code for row in rows(document(), "Errors of a connection") for code in codes(row[0])}

    assert on_page == {ErrorCode.QUICKBOOKS_CONNECTION_ERROR.value, *HELD_BY_COMPANY_FILE}


def statuses_of_the_gateway() -> set[int]:
    """Return the statuses with which API Gateway answers in place of a function that failed: 502, or the template's."""
    resource: Any = Template.load().resources("AWS::Serverless::Api")["Api"]
    responses = {
        name: response for name, response in resource["GatewayResponses"].items() if InternalError.code in str(response)
    }
    assert "DEFAULT_5XX" in responses
    return {502, *(response["StatusCode"] for response in responses.values() if "StatusCode" in response)}


def test_the_contract_has_the_same_errors_of_calls_and_requests() -> None:
    calls = {(row[0], *codes(row[1])) for row in rows(CONTRACT, "Errors")}
    requests = {code for row in rows(CONTRACT, "Error codes of a request") for code in codes(row[0])}

    assert calls == {(row[0], *codes(row[1])) for row in rows(document(), "Errors of a call")}
    assert {(int(status), code) for statuses, code in calls for status in statuses.split(", ")} == {
        (METHOD_NOT_ALLOWED[0], METHOD_NOT_ALLOWED[1].strip("`")),
        *((status, error.code) for error, status in STATUSES.items()),
        *((status, InternalError.code) for status in statuses_of_the_gateway()),
    }
    assert requests == {code.value for code in ErrorCode}
