"""`make event-sources` lets each consumer read the present stream of its table, with its former settings.

Lambda is a model whose calls botocore checks against its description of the service.
"""

from __future__ import annotations

from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from botocore.session import Session
from botocore.validate import validate_parameters
from hypothesis import given, settings
from hypothesis import strategies as st

from local.deploy import DeployError
from local.event_sources import consumers, problems, renew
from local.template import Template

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

TEMPLATE = Template.load()
CONSUMERS = consumers(TEMPLATE)
TABLES = sorted({consumer.table for consumer in CONSUMERS})
ARN = "arn:aws:dynamodb:eu-central-1:123456789012:table/"
QUEUE = "arn:aws:sqs:eu-central-1:123456789012:retries"
NAMES = {name: f"queue-{name}" for name in TEMPLATE.document["Resources"]}
MODEL = Session().get_service_model("lambda")


class Broken(Exception):
    """A call failed."""


class Aws:
    """Lambda and DynamoDB with the tables, functions and event sources of the template.

    `fails_after` is how many changes succeed.
    """

    def __init__(self) -> None:
        self.streams = dict.fromkeys(TABLES, 1)
        self.sources: dict[str, dict[str, Any]] = {}
        self.changes: list[str] = []
        self.fails_after = 1_000
        self.view_types = {
            table: TEMPLATE.resources("AWS::DynamoDB::Table")[table]["StreamSpecification"]["StreamViewType"]
            for table in TABLES
        }
        self._ids = count()
        for function in TEMPLATE.functions():
            for event in function.events:
                if event.type in {"DynamoDB", "SQS"}:
                    self._deploy(function.logical_id, event.properties)

    def _deploy(self, function: str, properties: Mapping[str, Any]) -> None:
        """Create an event source as CloudFormation does."""
        stream = properties.get("Stream", "").removesuffix(".StreamArn")
        values = {name: value for name, value in properties.items() if name not in {"Stream", "Queue"}}
        if "DestinationConfig" in values:  # SAM's form has the type of the destination too
            values["DestinationConfig"] = {"OnFailure": {"Destination": "arn:aws:sqs:eu-central-1:123456789012:dead"}}
        if "ParallelizationFactor" in values:
            values["ParallelizationFactor"] = int(values["ParallelizationFactor"])
        if "ScalingConfig" in values:
            values["ScalingConfig"] = {"MaximumConcurrency": 2}
        self._create(EventSourceArn=self.arn(stream) if stream else QUEUE, FunctionName=NAMES[function], **values)

    def _create(self, **values: Any) -> None:
        number = f"00000000-0000-4000-8000-{next(self._ids):012}"
        self.sources[number] = {**values, "UUID": number, "State": "Enabled", "LastModified": 0, "Topics": []}

    def arn(self, table: str) -> str:
        """Return the present stream of a table."""
        return f"{ARN}{NAMES[table]}/stream/{self.streams[table]}"

    def __call__(self, service: str) -> Aws:
        del service
        return self

    @property
    def meta(self) -> Any:
        """What botocore knows about the service."""
        return type("Meta", (), {"service_model": MODEL})

    def get_paginator(self, operation: str) -> Any:
        """Return what lists event sources."""
        assert operation == "list_event_source_mappings"
        return type("Paginator", (), {"paginate": staticmethod(self._pages)})

    def _pages(self, **parameters: str) -> list[dict[str, Any]]:
        found = [source for source in self.sources.values() if source["FunctionName"] == parameters["FunctionName"]]
        return [{"EventSourceMappings": [dict(source)]} for source in found]

    def describe_table(self, **parameters: str) -> dict[str, Any]:
        """Return the table with its present stream."""
        (table,) = [table for table in TABLES if NAMES[table] == parameters["TableName"]]
        stream = {"StreamEnabled": True, "StreamViewType": self.view_types[table]} if self.view_types[table] else None
        optional = {"StreamSpecification": stream, "LatestStreamArn": self.arn(table)} if stream else {}
        return {"Table": {"TableArn": ARN + NAMES[table], **optional}}

    def __getattr__(self, name: str) -> Callable[..., None]:
        """Return a call that changes an event source."""
        return partial(self._change, name)

    def _change(self, name: str, **parameters: Any) -> None:
        operation = name.title().replace("_", "")
        validate_parameters(parameters, MODEL.operation_model(operation).input_shape)
        if len(self.changes) >= self.fails_after:
            raise Broken
        self.changes.append(name)
        match name:
            case "create_event_source_mapping":
                self._create(**parameters)
            case "update_event_source_mapping":
                self.sources[parameters["UUID"]]["State"] = "Enabled" if parameters["Enabled"] else "Disabled"
            case "delete_event_source_mapping":
                del self.sources[parameters["UUID"]]

    def restore(self, table: str) -> None:
        """Delete a table and restore it under its name."""
        self.streams[table] += 1

    def described(self) -> list[tuple[str, ...]]:
        """Return each event source without its id and its stream."""
        texts = [
            {name: value for name, value in source.items() if name not in {"UUID", "LastModified"}}
            for source in self.sources.values()
        ]
        return sorted(tuple(f"{k}={v}".partition("/stream/")[0] for k, v in sorted(text.items())) for text in texts)


def run(aws: Aws) -> list[str]:
    return list(renew(aws, NAMES))


def test_each_stream_has_a_consumer_for_the_feed_and_that_of_records_with_webhooks_another() -> None:
    with_webhooks = ("QueuedRequestsTable", "ConnectionsTable")
    assert sorted(map(str, CONSUMERS)) == sorted(
        [
            *(f"LogAndForgetFunction of {table}" for table in (*with_webhooks, "ChangePagesTable")),
            *(f"DeliverWebhookFunction of {table}" for table in with_webhooks),
        ]
    )


@settings(max_examples=50, deadline=None)
@given(
    restored=st.lists(st.sampled_from(TABLES), max_size=3),
    disabled=st.sets(st.integers(0, len(CONSUMERS))),
    failures=st.lists(st.integers(0, 8), max_size=3),
)
def test_whatever_was_restored_disabled_or_interrupted_each_consumer_reads_the_present_stream_as_before(
    restored: list[str], disabled: set[int], failures: list[int]
) -> None:
    aws = Aws()
    before = aws.described()
    for number, source in enumerate(list(aws.sources.values())):
        if number in disabled and source["EventSourceArn"] != QUEUE:
            source["State"] = "Disabled"
    for table in restored:
        aws.restore(table)
    expected = bool(restored) or any(source["State"] == "Disabled" for source in aws.sources.values())
    assert bool(list(problems(aws, NAMES))) is expected

    for failure in failures:
        aws.changes, aws.fails_after = [], failure
        try:
            run(aws)
        except Broken:
            continue
    aws.changes, aws.fails_after = [], 1_000
    run(aws)

    assert list(problems(aws, NAMES)) == []
    assert aws.described() == before
    aws.changes = []
    assert all(line.endswith("reads the present stream") for line in run(aws))
    assert aws.changes == [], "a repetition changes nothing"


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("view_type", ["", "KEYS_ONLY"])
def test_a_table_without_the_stream_of_the_template_is_named_before_anything_changes(
    table: str, view_type: str
) -> None:
    aws = Aws()
    for name in TABLES:
        aws.restore(name)
    expected, aws.view_types[table] = aws.view_types[table], view_type

    with pytest.raises(DeployError, match=f"{NAMES[table]} has no stream of the view type {expected}. .*update-table"):
        run(aws)

    assert aws.changes == []
    assert [text for text in problems(aws, NAMES) if "update-table" in text]


def test_a_consumer_without_any_event_source_is_named() -> None:
    aws = Aws()
    del aws.sources[next(number for number, s in aws.sources.items() if "DeliverWebhook" in s["FunctionName"])]

    with pytest.raises(DeployError, match="DeliverWebhookFunction of QueuedRequestsTable has no event source"):
        run(aws)


def test_the_retry_queue_is_checked_too() -> None:
    aws = Aws()
    (source,) = [source for source in aws.sources.values() if source["EventSourceArn"] == QUEUE]
    source["State"] = "Disabled"

    assert list(problems(aws, NAMES)) == [
        "RetryWebhookFunction of WebhookRetryQueue is Disabled. Enable its event source in Lambda"
    ]
    del aws.sources[source["UUID"]]
    assert "missing" in next(problems(aws, NAMES))


def test_the_roles_of_consumers_may_read_every_stream_of_their_tables() -> None:
    roles = TEMPLATE.resources("AWS::IAM::Role")
    tables = ["QueuedRequestsTable", "ConnectionsTable"]
    for name, others in (("DeliveringRole", []), ("ForgettingRole", ["ChangePagesTable"])):
        (statement,) = [
            statement
            for statement in roles[name]["Policies"][0]["PolicyDocument"]["Statement"]
            if "dynamodb:GetRecords" in statement["Action"]
        ]
        assert statement["Resource"] == [f"{table}.Arn/stream/*" for table in tables + others]
