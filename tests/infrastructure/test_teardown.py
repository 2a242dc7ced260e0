"""The guide to teardown lists what a deleted stack leaves behind, with commands that are permitted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from botocore import xform_name

from local.template import Template
from tests.support import clients
from tests.support.iam import allows

ROOT = Path(__file__).resolve().parents[2]
DEPLOYER = Template.load(ROOT / "examples" / "deployer.yaml")
SECTION = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8").partition("\n## Teardown\n")[2]
SECTION = SECTION.partition("\n## ")[0].replace("\\\n", " ")
BLOCK = re.findall(r"```sh\n(.*?)```", SECTION, re.DOTALL)[0]
STACK = "arn:aws:cloudformation:us-east-1:123456789012:stack/qbxml-queue/1"
TABLE = "arn:aws:dynamodb:us-east-1:123456789012:table/qbxml-queue-AppsTable-1"


def action_of(command: str) -> str:
    """Return the permission that a command of the AWS CLI needs."""
    _, service, name, *rest = command.split()
    client = clients.client(service, region_name="us-east-1", aws_access_key_id="none", aws_secret_access_key="none")
    if name == "wait":
        return f"{service}:{client.get_waiter(rest[0].replace('-', '_')).config.operation}"
    operations = client.meta.service_model.operation_names
    return next(f"{service}:{operation}" for operation in operations if xform_name(operation, "-") == name)


def is_allowed(action: str, resource: str) -> bool:
    policies = DEPLOYER.resources("AWS::IAM::ManagedPolicy")
    names = ("DeployFunctions", "DeployData")
    return any(allows(policies[name]["PolicyDocument"]["Statement"], action, resource) for name in names)


def test_a_deployer_may_delete_the_stack_as_the_guide_says() -> None:
    commands = [line for line in BLOCK.splitlines() if line.startswith("aws ")]

    assert len(commands) == 3
    assert [command for command in commands if not is_allowed(action_of(command), STACK)] == []


@pytest.mark.parametrize("command", ["aws dynamodb update-table", "aws dynamodb delete-table"])
def test_a_deployer_may_delete_the_tables_that_remain(command: str) -> None:
    assert is_allowed(action_of(command), TABLE)


def test_every_resource_that_outlives_the_stack_is_listed() -> None:
    resources = Template.load(ROOT / "template.yaml").document["Resources"]
    kept = {name for name, resource in resources.items() if resource.get("DeletionPolicy", "").startswith("Retain")}
    rows = [row for row in SECTION.splitlines() if row.startswith("| ")]
    listed = {name for row in rows for name in re.findall(r"`(\w+)`", row.split(" | ")[0])}

    assert listed & resources.keys() == kept


def test_no_command_of_sam_deletes_a_stack() -> None:
    for page in (ROOT / "docs").glob("*.md"):
        assert not re.search(r"make sam DO=\"delete", page.read_text(encoding="utf-8")), page.name
