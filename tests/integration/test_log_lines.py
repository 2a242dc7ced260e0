"""The lines that functions really write: what Lambda reads in them, and what the filters of the template count."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from datetime import datetime
from typing import Any

import pytest

from local.programs import ROOT
from local.template import Template

TEMPLATE = Template.load()
LEVELS = TEMPLATE.document["Parameters"]["LogLevel"]["AllowedValues"]

PROGRAM = """
from handlers import authorizer, web_connector
from handlers.common.bootstrap import services
from domain.errors import Unauthorized
from tests.support.api_client import api_event
from domain.storage.changes import Put
from tests.support.builders import CONNECTION_ID, a_connection
from tests.support.fake_store import FakeStore

ENVELOPE = (
    '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>'
    f'<authenticate xmlns="http://developer.intuit.com/"><strUserName>{CONNECTION_ID}</strUserName>'
    "<strPassword>wrong</strPassword></authenticate></soap:Body></soap:Envelope>"
)
VERSION = (
    '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>'
    '<serverVersion xmlns="http://developer.intuit.com/"/></soap:Body></soap:Envelope>'
)

services().store = FakeStore()
services().store.commit(Put(None, a_connection()))
web_connector.handler(api_event("POST", "/qbwc", body=ENVELOPE), None)
web_connector.handler(api_event("POST", "/qbwc", body=VERSION), None)
try:
    authorizer.handler({"authorizationToken": "Basic nonsense", "methodArn": "a/b/c"}, None)
except Unauthorized:
    pass
web_connector.logger.debug("a.detail")
web_connector.logger.warning("a.warning")
web_connector.logger.error("fault")
web_connector.logger.error("delivery.not_processed")
web_connector.logger.error("retention.not_processed")
"""
"""Calls of functions at a fresh start of Python, because Powertools reads the level once."""


def log_lines(level: str) -> list[dict[str, Any]]:
    """Return the log lines of PROGRAM with a `LogLevel`, as a function of the template would write them."""
    function = Template.load("template.yaml", {"LogLevel": level}).functions()[0]
    environment = {
        **os.environ,
        **{name: value for name, value in function.environment.items() if name.startswith("POWERTOOLS_")},
        "EXECUTION_SECONDS": "3600",
        # Lambda sets this variable to the level of its own filter.
        "AWS_LAMBDA_LOG_LEVEL": function.properties["LoggingConfig"]["ApplicationLogLevel"],
        "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
    }
    command = [sys.executable, "-c", PROGRAM]
    process = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)  # noqa: S603 - our own program
    return [json.loads(line) for line in process.stdout.splitlines()]


@pytest.fixture(scope="module", params=LEVELS)
def level(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def lines(level: str) -> list[dict[str, Any]]:
    return log_lines(level)


def counted(metric: str, lines: list[dict[str, Any]]) -> int:
    """Return the number of lines that a metric filter of the template matches."""
    pattern = TEMPLATE.resources("AWS::Logs::MetricFilter")[metric]["FilterPattern"]
    terms = re.findall(r'\$\.(\w+) = "([^"]*)"', pattern)
    assert terms
    combine = any if "||" in pattern else all
    return sum(combine(line.get(name) == value for name, value in terms) for line in lines)


@pytest.mark.parametrize(("metric", "number"), [("FailedLogins", 1), ("RefusedKeys", 1), ("NotProcessed", 2)])
def test_what_alarms_count_is_written_at_every_level(lines: list[dict[str, Any]], metric: str, number: int) -> None:
    assert counted(metric, lines) == number


def test_powertools_alone_drops_lines_below_the_level(lines: list[dict[str, Any]], level: str) -> None:
    by_severity = ["a.detail", "web_connector.called", "a.warning", "fault"]
    successful = [line["message"] for line in lines if line.get("login") != "nvu" and line["message"] in by_severity]

    assert successful == [
        message
        for message in ("web_connector.called", "a.detail", "a.warning", "fault")
        if by_severity.index(message) >= LEVELS.index(level)
    ]


def test_lambda_passes_on_every_line() -> None:
    for function in TEMPLATE.functions():
        assert function.properties["LoggingConfig"]["LogFormat"] == "JSON"
        assert function.properties["LoggingConfig"]["ApplicationLogLevel"] == "DEBUG"


RFC_3339 = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})")


def test_each_line_has_a_timestamp_and_a_level_that_lambda_reads(lines: list[dict[str, Any]]) -> None:
    for line in lines:
        assert RFC_3339.fullmatch(line["timestamp"]), line
        assert datetime.fromisoformat(line["timestamp"]).utcoffset() is not None
        assert line["level"] in {"DEBUG", "INFO", "WARNING", "ERROR"}
