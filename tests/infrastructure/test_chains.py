"""A chain of functions ends: each function that writes to what calls it has its reason in `docs/architecture.md`.

The chains are derived from the event sources and the roles of the template.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from adapters.dynamodb.records import RECORDS, tombstone_item
from domain.records.request import ENDED
from domain.records.webhook import Webhook, WebhookState
from domain.timestamps import timestamp
from local.event_filters import passes, patterns_of
from local.permissions import permissions_of
from local.template import Template
from tests.support.builders import NOON, a_record
from tools.transformed_template import transformed_template

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from local.template import Event

ROOT = Path(__file__).resolve().parents[2]
TEMPLATE = Template.load(ROOT / "template.yaml")
ROW = re.compile(r"\| `(\w+)` \| `(\w+)` \| `(\w+)` \| (\S.*) \|")

READING = {
    *(f"dynamodb:{name}" for name in ("BatchGetItem", "ConditionCheckItem", "GetItem", "Query")),
    *(f"dynamodb:{name}" for name in ("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams")),
    *(f"sqs:{name}" for name in ("ReceiveMessage", "DeleteMessage", "GetQueueAttributes")),
}
"""Actions that call no function. Every other action may."""

SOURCES = {"DynamoDB": "Stream", "SQS": "Queue"}
"""The event sources that a function can write to, and their property with the resource."""

CALLS_FROM_OUTSIDE = {"Api", "HttpApi", "Schedule"}

Chain = tuple[str, str, str]


def source_of(event: Event) -> str:
    """Return the resource of an event source, '' if it calls functions by itself."""
    if event.type in CALLS_FROM_OUTSIDE:
        return ""
    return str(event.properties[SOURCES[event.type]]).partition(".")[0]


def written(template: Template) -> dict[str, set[str]]:
    """Return the resources that each function may change, with the queues to which SQS moves their messages."""
    queues = template.resources("AWS::SQS::Queue")
    dead_letters = {
        name: str(queue["RedrivePolicy"]["deadLetterTargetArn"]).partition(".")[0]
        for name, queue in queues.items()
        if "RedrivePolicy" in queue
    }
    result = {}
    for function in template.functions():
        resources = {
            re.split(r"[./]", resource)[0]
            for action, resource in permissions_of(template, function)
            if action not in READING
        }
        result[function.logical_id] = resources | {dead_letters[name] for name in resources & dead_letters.keys()}
    return result


def chains(template: Template, *, over_tables: bool = True) -> set[Chain]:
    """Return each function, resource and called function that are part of a circle."""
    called_by = {
        function.logical_id: {source_of(event) for event in function.events} | {function.logical_id}
        for function in template.functions()
    }
    tables = template.resources("AWS::DynamoDB::Table")
    calls = {
        (function, resource, called)
        for function, resources in written(template).items()
        for resource in resources
        for called, sources in called_by.items()
        if resource in sources and (over_tables or resource not in tables)
    }
    reached = {function: {called for first, _, called in calls if first == function} for function in called_by}
    for _ in reached:
        for further in reached.values():
            further |= {last for middle in set(further) for last in reached[middle]}
    return {(function, resource, called) for function, resource, called in calls if function in reached[called]}


def documented() -> dict[Chain, str]:
    """Return the reason of each chain."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = text.partition("## Chains of functions\n")[2].partition("\n## ")[0]
    return {(row[1], row[2], row[3]): row[4] for row in ROW.finditer(section)}


def test_each_chain_has_its_reason_and_each_reason_its_chain() -> None:
    assert documented().keys() == chains(TEMPLATE)


def with_permission(role: str, action: str, resource: str) -> Template:
    """Return the template with another permission in a role."""
    document = json.loads(json.dumps(TEMPLATE.document))
    statement = {"Effect": "Allow", "Action": action, "Resource": {"Fn::GetAtt": [resource, "Arn"]}}
    policies = document["Resources"][role]["Properties"]["Policies"]
    policies[0]["PolicyDocument"]["Statement"].append(statement)
    return Template(document, TEMPLATE.parameters)


@pytest.mark.parametrize(
    ("role", "action", "resource", "chain"),
    [
        (
            "ForgettingRole",
            "dynamodb:UpdateItem",
            "ConnectionsTable",
            ("LogAndForgetFunction", "ConnectionsTable", "LogAndForgetFunction"),
        ),
        ("RetryingRole", "lambda:InvokeFunction", "RetryWebhookFunction", ("RetryWebhookFunction",) * 3),
        (
            "DeliveringRole",
            "dynamodb:PutItem",
            "ConnectionsTable",
            ("DeliverWebhookFunction", "ConnectionsTable", "LogAndForgetFunction"),
        ),
    ],
)
def test_a_permission_that_makes_a_new_chain_is_noticed(role: str, action: str, resource: str, chain: Chain) -> None:
    found = chains(with_permission(role, action, resource))

    assert chain in found - documented().keys()


def test_lambda_lets_exactly_the_chains_run_that_it_sees() -> None:
    """It does not see chains over DynamoDB, and a function without a chain needs the protection."""
    resources = transformed_template()["Resources"].items()
    allowed = {name for name, resource in resources if resource["Properties"].get("RecursiveLoop") == "Allow"}

    assert allowed == {function for function, _, _ in chains(TEMPLATE, over_tables=False)}
    assert allowed == {"RetryWebhookFunction"}


def stream_record(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> dict[str, Any]:
    images = {"OldImage": before, "NewImage": after}
    return {
        "eventName": "MODIFY" if before and after else "INSERT" if after else "REMOVE",
        "userIdentity": {"type": "Service", "principalId": "dynamodb.amazonaws.com"},
        "dynamodb": {name: image for name, image in images.items() if image},
    }


def own_changes() -> Iterator[dict[str, Any]]:
    """Yield the changes that the consumers of the stream make: recorded attempts, and tombstones."""
    for state in ENDED:
        for attempts in range(10):
            before = a_record(state=state, webhook=Webhook(url="https://a.example", attempts_in_round=attempts))
            for webhook_state in (WebhookState.PENDING, WebhookState.SUCCEEDED, WebhookState.FAILED):
                after = before.with_webhook(
                    NOON, replace(before.webhook, state=webhook_state, attempts_in_round=attempts + 1)
                )
                yield stream_record(RECORDS.item(before), RECORDS.item(after))
        tombstone = tombstone_item(a_record(state=state), timestamp(NOON))
        yield stream_record(None, tombstone)
        yield stream_record(tombstone, None)


def test_no_filter_passes_the_changes_that_its_consumers_make() -> None:
    sources = [
        patterns_of(event.properties)
        for function in TEMPLATE.functions()
        for event in function.events
        if source_of(event) == "QueuedRequestsTable"
    ]

    assert len(sources) == 2
    assert all(sources)
    assert [change for change in own_changes() if any(passes(change, patterns) for patterns in sources)] == []
