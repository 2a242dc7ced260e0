"""Change sets of CloudFormation: read one, refuse it if it loses data, execute it.

SAM creates a change set and would execute it without looking at it. A change set that replaces a table leaves the
service with an empty one, so `make deploy` reads it first.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

DATA = {
    "AWS::DynamoDB::Table": "the service would not see its items any more",
    "AWS::KMS::Key": "nobody could read what it encrypts",
}
"""The types of resources that hold data, and what happens without the resource."""

ADDRESSES = {
    "AWS::ApiGateway::RestApi": "the URL that the Web Connectors of all customers call would change",
    "AWS::ApiGatewayV2::Api": "Web Connectors whose .qwc file names it could not call the service any more",
    "AWS::SQS::Queue": "its messages would be lost, such as planned webhook attempts",
}
"""The same for other resources that are hard to replace. CloudFormation often says that it may replace such a resource
and then does not, so only a certain replacement counts."""

POLL_SECONDS = 3

MAX_POLLS = 1200
"""An hour. Most of it is for CloudFormation to add an index to a large table."""

CONSEQUENCES = {"Resource creation cancelled", "Resource update cancelled"}
"""CloudFormation: the reasons of resources that stopped because another one failed."""

CREATING = "REVIEW_IN_PROGRESS"
"""CloudFormation: the status of a stack that has a change set and nothing else."""


class ChangeSetError(Exception):
    """The change set cannot be read or executed; the message says why."""


@dataclass(frozen=True, slots=True)
class Change:
    """What a change set does to one resource.

    `action` is `Add`, `Modify`, `Remove`, `Import` or `Dynamic` (CloudFormation decides during the execution).
    `replacement` is `True`, `False` or `Conditional`, and empty if the resource is not modified. `causes` are the
    properties of which a change replaces, or may replace, the resource.
    """

    action: str
    logical_id: str
    resource_type: str
    replacement: str = ""
    causes: tuple[str, ...] = ()

    @property
    def loss(self) -> str | None:
        """The loss if the resource leaves the stack, or None if it stays or can be replaced without harm."""
        if self.action == "Remove" or self.replacement == "True":
            return {**DATA, **ADDRESSES}.get(self.resource_type)
        if self.action == "Dynamic" or self.replacement == "Conditional":
            return DATA.get(self.resource_type)
        return None

    @property
    def verb(self) -> str:
        """The change of the resource, in one word or two for people."""
        match self.action, self.replacement:
            case "Modify", "True":
                return "replaces"
            case ("Modify", "Conditional") | ("Dynamic", _):
                return "may replace"
        return {"Add": "adds", "Remove": "deletes", "Import": "imports"}.get(self.action, "changes")

    def __str__(self) -> str:
        """Return the line of the change in a list."""
        causes = f" ({', '.join(self.causes)})" if self.causes else ""
        return f"{self.verb:12}{self.resource_type:36}{self.logical_id}{causes}"


def changes(cloudformation: Any, change_set: str) -> list[Change]:
    """Return what a change set does, the riskiest changes first. `change_set` is its ARN."""
    pages = cloudformation.get_paginator("describe_change_set").paginate(ChangeSetName=change_set)
    found = [
        _change(entry["ResourceChange"]) for page in pages for entry in page["Changes"] if "ResourceChange" in entry
    ]
    order = ("deletes", "replaces", "may replace", "changes", "imports", "adds")
    return sorted(found, key=lambda change: (order.index(change.verb), change.resource_type, change.logical_id))


def _change(entry: dict[str, Any]) -> Change:
    targets = [detail["Target"] for detail in entry.get("Details", [])]
    causes = {
        target.get("Name", target["Attribute"])
        for target in targets
        if target.get("RequiresRecreation") in {"Always", "Conditionally"}
    }
    return Change(
        action=entry["Action"],
        logical_id=entry["LogicalResourceId"],
        resource_type=entry["ResourceType"],
        replacement=entry.get("Replacement", "") if entry["Action"] == "Modify" else "",
        causes=tuple(sorted(causes)),
    )


def summary(found: Sequence[Change]) -> list[str]:
    """Return a line for each change, with the additions of one type on one line: the first deployment has 150."""
    added: dict[str, list[str]] = {}
    for change in found:
        if change.action == "Add":
            added.setdefault(change.resource_type, []).append(change.logical_id)
    lines = [str(change) for change in found if change.action != "Add"]
    return lines + [
        f"{'adds':12}{resource_type:36}{names[0] if len(names) == 1 else len(names)}"
        for resource_type, names in added.items()
    ]


def refused(found: Sequence[Change], removable: Collection[str]) -> list[Change]:
    """Return the changes that lose something and whose resource `removable` does not name."""
    return [change for change in found if change.loss and change.logical_id not in removable]


def discard(cloudformation: Any, change_set: str, stack: str) -> None:
    """Delete a change set and, if it was to create the stack, the empty stack as well."""
    is_new = cloudformation.describe_stacks(StackName=stack)["Stacks"][0]["StackStatus"] == CREATING
    cloudformation.delete_change_set(ChangeSetName=change_set)
    if is_new:
        cloudformation.delete_stack(StackName=stack)


def execute(
    cloudformation: Any, change_set: str, show: Callable[[str], None], pause: Callable[[float], None] = time.sleep
) -> None:
    """Execute a change set and wait until the stack has changed. `show` gets a line for each step.

    Raises ChangeSetError with the reasons when the stack does not change. A stack whose creation failed is deleted,
    because CloudFormation would refuse to deploy it again.
    """
    stack = cloudformation.describe_change_set(ChangeSetName=change_set)["StackId"]
    last = next(_events_after(cloudformation, stack, None), {}).get("EventId")
    cloudformation.execute_change_set(ChangeSetName=change_set, DisableRollback=False)
    reasons: list[str] = []
    for _ in range(MAX_POLLS):
        pause(POLL_SECONDS)
        for event in reversed(list(_events_after(cloudformation, stack, last))):
            last = event["EventId"]
            status, name = event["ResourceStatus"], event["LogicalResourceId"]
            reason = event.get("ResourceStatusReason", "")
            if status.endswith("_FAILED") and reason not in CONSEQUENCES:
                reasons.append(f"{name}: {reason or status}")
            is_in_progress = status.endswith("_IN_PROGRESS")
            if event["PhysicalResourceId"] == stack or not is_in_progress:
                show(f"{status:35} {name}" + (f"  {reason}" if reason else ""))
            if event["PhysicalResourceId"] == stack and not is_in_progress:
                _check_ended(cloudformation, stack, status, reasons, show)
                return
    raise ChangeSetError(
        f"the stack has been changing for {MAX_POLLS * POLL_SECONDS // 60} minutes; this program stops waiting"
    )


def _events_after(cloudformation: Any, stack: str, last: str | None) -> Iterator[dict[str, Any]]:
    """Yield the stack's events, the newest first, down to the event `last`."""
    for page in cloudformation.get_paginator("describe_stack_events").paginate(StackName=stack):
        for event in page["StackEvents"]:
            if event["EventId"] == last:
                return
            yield event


def _check_ended(
    cloudformation: Any, stack: str, status: str, reasons: Sequence[str], show: Callable[[str], None]
) -> None:
    if status in {"CREATE_COMPLETE", "UPDATE_COMPLETE"}:
        return
    because = "\n  ".join(reasons or ["CloudFormation gave no reason"])
    if status != "ROLLBACK_COMPLETE":
        raise ChangeSetError(f"the stack is now {status}, because\n  {because}")
    show("Deleting the stack, because its creation failed.")
    cloudformation.delete_stack(StackName=stack)
    waiter = cloudformation.get_waiter("stack_delete_complete")
    waiter.wait(StackName=stack, WaiterConfig={"Delay": POLL_SECONDS, "MaxAttempts": MAX_POLLS})
    raise ChangeSetError(
        f"the stack was not created. Nothing of it is left that would block another attempt. The reason:\n  {because}"
    )
