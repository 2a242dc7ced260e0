"""A deployment that nobody uses costs less than three dollars a month."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from local.programs import ROOT
from local.template import Template

if TYPE_CHECKING:
    from collections.abc import Iterator

PRICES = json.loads((ROOT / "benchmarks" / "prices.json").read_text(encoding="utf-8"))
MONTH_MINUTES = 30 * 24 * 60
POLLS_A_MINUTE = 5 * 3
"""Lambda polls a queue with five long polls of 20 seconds ("Using Lambda with Amazon SQS" in the Developer Guide)."""
RUN_SECONDS = 0.3
"""A run of a job that finds nothing to do, of which each is a cold start at worst once an hour."""
CANARIES = MONTH_MINUTES / 15
"""Each event source of a stream gets a canary in each third sweep (`domain/maintenance/canaries.py`)."""
COST_NOTHING_WHILE_IDLE = {
    "AWS::ApiGateway",
    "AWS::ApiGatewayV2",
    "AWS::DynamoDB",
    "AWS::Events",
    "AWS::IAM",
    "AWS::Lambda",
    "AWS::Logs",
    "AWS::SNS",
    "AWS::SQS",
    "AWS::Serverless",
}
"""Services that charge for use only. A metric of a filter costs only in hours in which it has values."""


def minutes_between(schedule: str) -> int:
    """Return the minutes between two runs of a schedule."""
    found = re.fullmatch(r"rate\((\d+) minutes?\)|cron\(\d+/(\d+) \* \* \* \? \*\)", schedule)
    assert found, schedule
    return int(found[1] or found[2])


def parts(template: Template) -> Iterator[tuple[str, float]]:
    """Yield what costs money every month, and its price in USD."""
    alarms = template.resources("AWS::CloudWatch::Alarm").values()
    for alarm in alarms:
        yield "alarm", PRICES["alarm_month"] * len(alarm.get("Metrics", [None]))
    for _ in template.resources("AWS::CloudWatch::Dashboard"):
        yield "dashboard", PRICES["dashboard_month"]
    for function in template.functions():
        memory_gb = int(function.properties.get("MemorySize", 1024)) / 1024
        for event in function.events:
            if event.type == "SQS":
                yield "polling", POLLS_A_MINUTE * MONTH_MINUTES * PRICES["sqs_million_requests"] / 1e6
            if event.type == "DynamoDB":
                yield "canaries", CANARIES * RUN_SECONDS * memory_gb * PRICES["lambda_gb_second_arm64"]
                # The note of the consumer, and its share of the three canaries of five consumers.
                yield "canaries", CANARIES * 1.6 * PRICES["dynamodb_million_write_units"] / 1e6
                yield "canaries", CANARIES * PRICES["lambda_million_requests"] / 1e6
            if event.type == "Schedule":
                runs = MONTH_MINUTES / minutes_between(event.properties["Schedule"])
                seconds = runs * RUN_SECONDS * memory_gb * PRICES["lambda_gb_second_arm64"]
                yield "schedule", seconds + runs * PRICES["lambda_million_requests"] / 1e6


@pytest.mark.parametrize("parameters", [{}, {"AccessLog": "false"}, {"AlarmEmail": "operator@example.com"}])
def test_a_deployment_without_connections_costs_less_than_three_dollars_a_month(parameters: dict[str, str]) -> None:
    assert sum(price for _, price in parts(Template.load(ROOT / "template.yaml", parameters))) < 3


def test_the_costs_of_idle_parts_are_those_of_the_documentation() -> None:
    totals: dict[str, float] = {}
    for name, price in parts(Template.load()):
        totals[name] = totals.get(name, 0) + price
    costs = (ROOT / "docs" / "costs.md").read_text(encoding="utf-8")

    alarms = len(Template.load().resources("AWS::CloudWatch::Alarm"))
    assert f"| {alarms} alarms | {totals['alarm']:.2f} |" in costs
    assert f"| polling of the retry queue by Lambda | {totals['polling']:.2f} |" in costs
    assert f"0118-canaries-of-the-streams.md) | {totals['canaries']:.2f} |" in costs


def test_everything_else_costs_only_when_it_is_used() -> None:
    document = Template.load().document
    kinds = {resource["Type"].rpartition("::")[0] for resource in document["Resources"].values()}

    assert kinds - COST_NOTHING_WHILE_IDLE == {"AWS::CloudWatch", "AWS::Route53", "AWS::S3", "AWS::WAFv2"}
    optional = ("Route53::RecordSetGroup", "WAFv2::WebACLAssociation", "CloudWatch::Dashboard", "S3::Bucket")
    for kind in (f"AWS::{name}" for name in optional):
        assert Template.load().resources(kind) == {}, "an optional resource"
