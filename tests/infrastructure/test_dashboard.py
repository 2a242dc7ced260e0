"""Each widget and each saved query shows something: metrics that AWS publishes, or lines that functions write."""

from __future__ import annotations

import json
import logging
import re
from typing import TYPE_CHECKING, Any

import pytest
from moto import mock_aws

from handlers import web_connector
from handlers.common.logs import ServiceLogger
from local.emulated_dynamodb import emulated_dynamodb
from local.tables import make_tables
from local.template import Template
from tests.contract.conftest import CREDENTIALS, dynamodb_client
from tests.support import clients
from tests.support.alarms import is_published
from tests.support.api_client import api_event
from tests.support.insights import parsed
from tests.support.random_history import RandomHistory
from tests.support.services import using
from tests.support.web_connector.connector import soap_call
from tests.support.whole_service import WholeService

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TEMPLATE = Template.load(parameters={"Dashboard": "true"})
(DASHBOARD,) = TEMPLATE.resources("AWS::CloudWatch::Dashboard").values()
WIDGETS: dict[str, dict[str, Any]] = {
    widget["properties"]["title"]: widget["properties"] for widget in json.loads(DASHBOARD["DashboardBody"])["widgets"]
}
METRICS = {title: widget["metrics"] for title, widget in WIDGETS.items() if "metrics" in widget}
QUERIES = {title: widget["query"] for title, widget in WIDGETS.items() if "query" in widget}
TABLES = TEMPLATE.resources("AWS::DynamoDB::Table")
INDEXES = {
    (name, index["IndexName"]) for name, table in TABLES.items() for index in table.get("GlobalSecondaryIndexes", [])
}
RESOURCES = {
    "TableName": set(TABLES),
    "FunctionName": {function.logical_id for function in TEMPLATE.functions()},
    "QueueName": {f"{name}.QueueName" for name in TEMPLATE.resources("AWS::SQS::Queue")},
    "ApiName": {TEMPLATE.api()["Name"]},
    "Stage": {TEMPLATE.api()["StageName"]},
    "ApiId": set(TEMPLATE.resources("AWS::ApiGatewayV2::Api")),
    "GlobalSecondaryIndexName": {index for _, index in INDEXES},
}
"""The resources of the stack whose names a dimension can have."""
STEPS = 40


def rows(metrics: Sequence[Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Yield the metrics of a widget, as an alarm names a metric. A row can be written in short.

    Source: "Dashboard Body Structure and Syntax" in the CloudWatch API Reference. "..." stands for all values of the
    row before but those that follow it, and "." for the one value at its place.
    """
    assert 1 <= len(metrics) <= 100
    before: list[str] = []
    for row in metrics:
        assert all(isinstance(value, str) for value in row[:-1]), "an expression: name the metrics instead"
        values = [value for value in row if isinstance(value, str)]
        if values[:1] == ["..."]:
            values = before[: len(before) - len(values) + 1] + values[1:]
        values = [before[place] if value == "." else value for place, value in enumerate(values)]
        namespace, name, *dimensions = before = values
        pairs = zip(dimensions[::2], dimensions[1::2], strict=True)
        yield {"Namespace": namespace, "MetricName": name, "Dimensions": [{"Name": n, "Value": v} for n, v in pairs]}


def dimensions_of(row: dict[str, Any]) -> dict[str, str]:
    return {dimension["Name"]: dimension["Value"] for dimension in row["Dimensions"]}


@pytest.mark.parametrize("title", sorted(METRICS))
def test_aws_publishes_each_metric_of_a_widget_for_a_resource_of_the_stack(title: str) -> None:
    for row in rows(METRICS[title]):
        assert is_published(row), row
        dimensions = dimensions_of(row)
        for name, value in dimensions.items():
            assert value in RESOURCES[name], f"{name} {value} is not in the stack"
        if "GlobalSecondaryIndexName" in dimensions:
            assert (dimensions["TableName"], dimensions["GlobalSecondaryIndexName"]) in INDEXES


@pytest.mark.parametrize("metric", ["WriteThrottleEvents", "ConsumedWriteCapacityUnits", "ConsumedReadCapacityUnits"])
def test_the_dashboard_shows_every_table_and_every_index(metric: str) -> None:
    """The metrics of a table do not include those of its indexes."""
    shown = [dimensions_of(row) for widget in METRICS.values() for row in rows(widget) if row["MetricName"] == metric]

    assert sorted(tuple(dimensions.values()) for dimensions in shown) == sorted(
        [*((name,) for name in TABLES), *INDEXES]
    )


class _Lines(logging.Handler):
    """Keeps the lines that functions write."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[dict[str, Any]] = []

    def emit(self, record: logging.LogRecord) -> None:
        (writer,) = [handler for handler in logging.getLogger(record.name).handlers if handler is not self]
        self.lines.append(json.loads(writer.format(record)))


@pytest.fixture(scope="module")
def lines() -> list[dict[str, Any]]:
    """Return the lines of a request that is queued, fetched, answered and delivered, and of a refused call."""
    handler, logger = _Lines(), logging.getLogger(ServiceLogger().service)
    logger.addHandler(handler)
    with emulated_dynamodb(), mock_aws():
        service = WholeService(
            client := dynamodb_client(), clients.client("dynamodbstreams", **CREDENTIALS), make_tables(client, "")
        )
        with using(service.services):
            run(service)
    logger.removeHandler(handler)
    access_log = TEMPLATE.api()["AccessLogSetting"]["Format"].replace("$context.status", "429")
    return [*handler.lines, json.loads(re.sub(r"\$context[.\w]+", "-", access_log))]


def run(service: WholeService) -> None:
    """Let requests end with webhooks."""
    history = RandomHistory(service, seed=1)
    for _ in range(STEPS):
        history.step()
    service.read_streams()
    web_connector.handler(api_event("POST", "/qbwc", body=soap_call("authenticate", "nobody", "wrong").decode()), None)


@pytest.mark.parametrize("title", sorted(QUERIES))
def test_lines_of_the_service_match_the_query_of_a_widget_and_have_its_fields(
    title: str, lines: list[dict[str, Any]]
) -> None:
    query = parsed(QUERIES[title])

    assert query.source == ("AccessLogs" if "429" in title else "Logs")
    shown = [line for line in lines if query.matches(line)]
    assert shown, f"no line of {sorted({line['message'] for line in lines})}"
    for line in shown:
        assert query.fields <= line.keys()


def test_the_saved_query_shows_what_happened_to_one_connection(lines: list[dict[str, Any]]) -> None:
    (definition,) = TEMPLATE.resources("AWS::Logs::QueryDefinition").values()
    connection_ids = sorted({line["connection_id"] for line in lines if "connection_id" in line})
    query = parsed(definition["QueryString"].replace("00000000-0000-4000-8000-000000000000", connection_ids[0]))

    shown = [line for line in lines if query.matches(line)]

    assert definition["LogGroupNames"] == ["Logs"]
    assert {line["message"] for line in shown} >= {"api.called", "delivery.attempted"}
    assert all(line in shown for line in lines if line.get("connection_id") == connection_ids[0])
    assert not any(line.get("connection_id") in connection_ids[1:] for line in shown)
    assert query.fields - {"login", "problem"} <= {name for line in shown for name in line}
