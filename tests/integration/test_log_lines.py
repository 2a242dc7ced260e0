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
from tests.support.cases import for_each
from tests.support.metric_filters import counted

TEMPLATE = Template.load()
LEVELS = TEMPLATE.document["Parameters"]["LogLevel"]["AllowedValues"]


def log_lines(level: str) -> list[dict[str, Any]]:
    """Return the lines that `log_lines_program.py` writes with a `LogLevel` and the settings of the template."""
    function = Template.load("template.yaml", {"LogLevel": level}).functions()[0]
    environment = {
        **os.environ,
        **{name: value for name, value in function.environment.items() if name.startswith("POWERTOOLS_")},
        "EXECUTION_SECONDS": "3600",
        "DORMANT_POLL_SECONDS": "900",
        "MAX_SESSIONS": "50",
        "WEB_CONNECTOR_CALLS_PER_SECOND": "1000",
        "CONCURRENCY_ALARM_AT": "800",
        # Lambda sets this variable to the level of its own filter.
        "AWS_LAMBDA_LOG_LEVEL": function.properties["LoggingConfig"]["ApplicationLogLevel"],
        **{f"AWS_{name}": "none" for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY")},
        "AWS_DEFAULT_REGION": "us-east-1",
        "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
    }
    command = [sys.executable, "-m", "tests.integration.log_lines_program"]
    process = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)  # noqa: S603 - our own program
    return [json.loads(line) for line in process.stdout.splitlines()]


@pytest.fixture(scope="module", params=LEVELS)
def level(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def lines(level: str) -> list[dict[str, Any]]:
    return log_lines(level)


@for_each(
    ("metric", "number"),
    [
        ("FailedLogins", 1),
        ("RefusedKeys", 1),
        ("NotProcessed", 2),
        ("OverdueWebhooks", 1),
        ("PackUnfinished", 1),
        ("DatabaseThrottles", 4),
    ],
)
def test_what_alarms_count_is_written_at_every_level(lines: list[dict[str, Any]], metric: str, number: int) -> None:
    assert counted(metric, lines) == number


def test_a_statement_that_dynamodb_refuses_for_another_reason_than_its_rate_is_logged(
    lines: list[dict[str, Any]],
) -> None:
    assert [line["code"] for line in lines if line["message"] == "database.statement_refused"] == ["AccessDenied"]


def test_powertools_alone_drops_lines_below_the_level(lines: list[dict[str, Any]], level: str) -> None:
    by_severity = ["a.detail", "web_connector.called", "a.warning", "fault"]
    successful = [line["message"] for line in lines if line.get("login") != "nvu" and line["message"] in by_severity]

    assert successful == [
        message
        for message in ("web_connector.called", "a.detail", "a.warning", "fault")
        if by_severity.index(message) >= LEVELS.index(level)
    ]


REST_API = TEMPLATE.api()["AccessLogSetting"]["Format"]
HTTP_API = TEMPLATE.resources("AWS::ApiGatewayV2::Stage")["WebConnectorApiStage"]["AccessLogSettings"]["Format"]


@pytest.mark.parametrize(
    ("access_log", "error", "route", "calls", "web_connectors"),
    [
        (REST_API, "THROTTLED", "/api/v1/connections", 1, 0),
        (REST_API, "THROTTLED", "/qbwc", 0, 1),
        (REST_API, "-", "/qbwc", 0, 0),
        (REST_API, "UNAUTHORIZED", "/api/v1/connections", 0, 0),
        (HTTP_API, "THROTTLED", "POST /qbwc", 0, 1),
        (HTTP_API, "THROTTLED", "GET /qbwc", 0, 1),
        (HTTP_API, "THROTTLED", "GET /support", 1, 0),
        (HTTP_API, "-", "POST /qbwc", 0, 0),
    ],
)
def test_a_call_over_a_rate_limit_of_the_gateway_is_counted(
    access_log: str, error: str, route: str, calls: int, web_connectors: int
) -> None:
    for variable, value in (("error.responseType", error), ("resourcePath", route), ("routeKey", route)):
        access_log = access_log.replace(f"$context.{variable}", value)
    line = json.loads(re.sub(r"\$context[.\w]+", "-", access_log))

    assert counted("ThrottledCalls", [line]) == calls
    assert counted("ThrottledWebConnectors", [line]) == web_connectors


def test_every_metric_of_the_stack_that_has_an_alarm_comes_from_a_filter() -> None:
    filters = TEMPLATE.resources("AWS::Logs::MetricFilter")
    alarms = TEMPLATE.resources("AWS::CloudWatch::Alarm").values()

    own = {alarm["MetricName"] for alarm in alarms if alarm.get("Namespace") == "local"}
    assert own <= filters.keys()
    assert filters.keys() - own == {"RefusedKeys"}


def test_lambda_passes_on_every_line() -> None:
    for function in TEMPLATE.functions():
        assert function.properties["LoggingConfig"]["LogFormat"] == "JSON"
        assert function.properties["LoggingConfig"]["ApplicationLogLevel"] == "DEBUG"


def test_lambda_writes_lines_of_its_own_only_about_calls_that_fail() -> None:
    assert {function.properties["LoggingConfig"]["SystemLogLevel"] for function in TEMPLATE.functions()} == {"WARN"}


RFC_3339 = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})")


def test_each_line_has_a_timestamp_and_a_level_that_lambda_reads(lines: list[dict[str, Any]]) -> None:
    for line in lines:
        assert RFC_3339.fullmatch(line["timestamp"]), line
        assert datetime.fromisoformat(line["timestamp"]).utcoffset() is not None
        assert line["level"] in {"DEBUG", "INFO", "WARNING", "ERROR"}
