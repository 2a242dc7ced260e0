"""A change set that loses data is refused, and the end of its execution is reported."""

from __future__ import annotations

from typing import Any

import pytest

from local import change_sets
from local.change_sets import Change

TABLE, KEY, API, QUEUE, FUNCTION = (
    "AWS::DynamoDB::Table",
    "AWS::KMS::Key",
    "AWS::ApiGateway::RestApi",
    "AWS::SQS::Queue",
    "AWS::Lambda::Function",
)
STACK = "arn:aws:cloudformation:us-east-1:123456789012:stack/queue/1"


@pytest.mark.parametrize("resource_type", [TABLE, KEY])
@pytest.mark.parametrize(
    ("action", "replacement", "is_refused"),
    [
        ("Add", "", False),
        ("Modify", "False", False),
        ("Modify", "True", True),
        ("Modify", "Conditional", True),
        ("Remove", "", True),
        ("Dynamic", "", True),
    ],
)
def test_a_table_or_a_key_is_kept_unless_the_command_names_it(
    resource_type: str, action: str, replacement: str, *, is_refused: bool
) -> None:
    change = Change(action, "Precious", resource_type, replacement)

    assert change_sets.refused([change], ["Other"]) == ([change] if is_refused else [])
    assert change_sets.refused([change], ["Other", "Precious"]) == []


@pytest.mark.parametrize("resource_type", [API, QUEUE])
@pytest.mark.parametrize(
    ("action", "replacement", "is_refused"),
    [("Modify", "Conditional", False), ("Modify", "True", True), ("Remove", "", True)],
)
def test_the_api_and_queues_are_kept_if_their_loss_is_certain(
    resource_type: str, action: str, replacement: str, *, is_refused: bool
) -> None:
    assert bool(change_sets.refused([Change(action, "Hard", resource_type, replacement)], [])) is is_refused


def test_other_resources_can_be_replaced_and_deleted() -> None:
    changes = [Change("Remove", "Function", FUNCTION), Change("Modify", "Other", FUNCTION, "True")]

    assert change_sets.refused(changes, []) == []


class CloudFormation:
    """CloudFormation with a change set in pages, and a stack whose events come in steps."""

    def __init__(
        self, pages: list[list[dict[str, Any]]] | None = None, steps: list[list[dict[str, Any]]] | None = None
    ) -> None:
        self._pages = pages or []
        self._steps = steps or []
        self._events = [event("queue", "UPDATE_COMPLETE", stack=True, number=-1)]
        self.calls: list[str] = []

    def describe_change_set(self, *, ChangeSetName: str) -> dict[str, Any]:  # noqa: N803 - as in botocore
        return {"StackId": STACK, "ChangeSetName": ChangeSetName}

    def execute_change_set(self, **parameters: Any) -> None:
        assert parameters["DisableRollback"] is False
        self.calls.append("execute")

    def delete_stack(self, **_: Any) -> None:
        self.calls.append("delete")

    def get_waiter(self, name: str) -> CloudFormation:
        self.calls.append(name)
        return self

    def wait(self, **_: Any) -> None:
        pass

    def get_paginator(self, name: str) -> Pages:
        if name == "describe_change_set":
            return Pages([{"Changes": [{"ResourceChange": change} for change in page]} for page in self._pages])
        # The newest event is first, and older ones are on further pages.
        return Pages([{"StackEvents": [stack_event]} for stack_event in reversed(self._events)])

    def advance(self, _seconds: float) -> None:
        self._events += self._steps.pop(0)


class Pages:
    """A paginator with these pages."""

    def __init__(self, pages: list[dict[str, Any]]) -> None:
        self._pages = pages

    def paginate(self, **_: Any) -> list[dict[str, Any]]:
        return self._pages


def event(name: str, status: str, reason: str = "", *, stack: bool = False, number: int = 0) -> dict[str, Any]:
    return {
        "EventId": f"{name}-{status}-{number}",
        "LogicalResourceId": name,
        "PhysicalResourceId": STACK if stack else name,
        "StackName": "queue",
        "ResourceStatus": status,
        **({"ResourceStatusReason": reason} if reason else {}),
    }


def test_every_page_of_a_change_set_is_read_and_the_riskiest_changes_come_first() -> None:
    many = [{"Action": "Add", "LogicalResourceId": f"F{n}", "ResourceType": FUNCTION} for n in range(100)]
    risky = {
        "Action": "Modify",
        "LogicalResourceId": "QueueTable",
        "ResourceType": TABLE,
        "Replacement": "Conditional",
        "Details": [
            {"Target": {"Attribute": "Properties", "Name": "KeySchema", "RequiresRecreation": "Conditionally"}},
            {"Target": {"Attribute": "Properties", "Name": "BillingMode", "RequiresRecreation": "Never"}},
            {"Target": {"Attribute": "Tags"}},
        ],
    }

    found = change_sets.changes(CloudFormation(pages=[many, [risky]]), "arn")

    assert len(found) == 101
    assert found[0] == Change("Modify", "QueueTable", TABLE, "Conditional", ("KeySchema",))
    assert [line.split() for line in change_sets.summary(found)] == [
        ["may", "replace", TABLE, "QueueTable", "(KeySchema)"],
        ["adds", FUNCTION, "100"],
    ]


def test_an_execution_ends_with_the_stack_and_shows_each_step_once() -> None:
    steps = [
        [],
        [event("queue", "UPDATE_IN_PROGRESS", stack=True), event("A", "UPDATE_IN_PROGRESS")],
        [event("A", "UPDATE_COMPLETE")],
        [event("queue", "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", stack=True)],
        [event("queue", "UPDATE_COMPLETE", stack=True)],
    ]
    cloudformation, shown = CloudFormation(steps=steps), list[str]()

    change_sets.execute(cloudformation, "arn", shown.append, cloudformation.advance)

    assert cloudformation.calls == ["execute"]
    assert [line.split() for line in shown] == [
        ["UPDATE_IN_PROGRESS", "queue"],
        ["UPDATE_COMPLETE", "A"],
        ["UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", "queue"],
        ["UPDATE_COMPLETE", "queue"],
    ]


def test_a_failed_creation_names_its_cause_and_removes_the_stack() -> None:
    steps = [
        [
            event("Role", "CREATE_FAILED", "not authorized"),
            event("Table", "CREATE_FAILED", "Resource creation cancelled"),
            event("queue", "ROLLBACK_IN_PROGRESS", stack=True),
            event("queue", "ROLLBACK_COMPLETE", stack=True),
        ]
    ]
    cloudformation = CloudFormation(steps=steps)

    with pytest.raises(change_sets.ChangeSetError, match=r"not created.*\n  Role: not authorized$"):
        change_sets.execute(cloudformation, "arn", lambda _: None, cloudformation.advance)

    assert cloudformation.calls == ["execute", "delete", "stack_delete_complete"]


def test_a_failed_update_leaves_the_stack_alone() -> None:
    steps = [[event("Role", "UPDATE_FAILED", "no"), event("queue", "UPDATE_ROLLBACK_COMPLETE", stack=True)]]
    cloudformation = CloudFormation(steps=steps)

    with pytest.raises(change_sets.ChangeSetError, match="UPDATE_ROLLBACK_COMPLETE"):
        change_sets.execute(cloudformation, "arn", lambda _: None, cloudformation.advance)

    assert cloudformation.calls == ["execute"]
