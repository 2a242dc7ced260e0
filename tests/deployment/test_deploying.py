"""`make deploy` against the emulator, with the real SAM: what it creates, protects, refuses and leaves behind."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from local import build, deploy, deploy_check, deploy_local, programs
from local.template import Template

if TYPE_CHECKING:
    from pathlib import Path

TOOLS = programs.ROOT / os.environ.get("TOOLS", ".tools")
ENDPOINT = os.environ.get("EMULATOR", "")
DATA_TABLES = {
    "QueuedRequests",
    "Queue",
    "Payloads",
    "Counts",
    "Connections",
    "Apps",
    "AuditLog",
    "People",
    "Subscriptions",
}

NEVER_SIGNALLED = """
  SignalHandle:
    Type: AWS::CloudFormation::WaitConditionHandle
  NeverSignalled:
    Type: AWS::CloudFormation::WaitCondition
    DependsOn: [{tables}]
    Properties: {{Handle: !Ref SignalHandle, Timeout: "1"}}

Outputs:
"""


def client(service: str) -> Any:
    return deploy_local.client(service, ENDPOINT)


def variant(folder: Path, *changes: tuple[str, str]) -> Path:
    """Return an artifact with another template: each change replaces a text that occurs once or more."""
    artifact = folder / f"artifact-{len(list(folder.iterdir()))}"
    artifact.mkdir()
    for archive in deploy_local.ARTIFACT.glob("*.zip"):
        os.link(archive, artifact / archive.name)
    text = (deploy_local.ARTIFACT / build.TEMPLATE).read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (artifact / build.TEMPLATE).write_text(text, encoding="utf-8")
    return artifact


@dataclass(frozen=True, slots=True)
class Stack:
    """A stack in the emulator."""

    name: str

    def deploy(self, artifact: Path, *arguments: str, answer: str = "") -> subprocess.CompletedProcess[str]:
        """Run what `make deploy` runs after the build."""
        command = [sys.executable, "-m", "local.deploy", str(TOOLS / "sam"), "--stack", self.name]
        command += ["--artifact", str(artifact), *arguments]
        return run(command, answer=answer)

    def description(self) -> dict[str, Any]:
        return deploy_check.stack_description(client("cloudformation"), self.name)

    def tables(self) -> dict[str, dict[str, Any]]:
        """Return the stack's tables by logical ID without `Table`, also those that it has left behind."""
        dynamodb = client("dynamodb")
        names = [name for page in dynamodb.get_paginator("list_tables").paginate() for name in page["TableNames"]]
        return {
            name.split("-")[-2].removesuffix("Table"): dynamodb.describe_table(TableName=name)["Table"]
            for name in names
            if name.startswith(f"{self.name}-")
        }

    def table_ids(self) -> dict[str, str]:
        """Return the ID of each table: a table that was replaced has another one."""
        return {name: table["TableId"] for name, table in self.tables().items()}


def run(command: list[str], *, answer: str = "") -> subprocess.CompletedProcess[str]:
    """Run a program against the emulator."""
    environment = {**programs.without_aws(), **deploy_local.environment(ENDPOINT)}
    return subprocess.run(command, env=environment, input=answer, capture_output=True, text=True, check=False)  # noqa: S603 - our own arguments


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("artifacts")


@pytest.fixture(scope="module")
def unchanged(folder: Path) -> Path:
    """Return the artifact of this version."""
    return variant(folder)


@pytest.fixture(scope="module")
def deployed(unchanged: Path) -> Stack:
    """Deploy a stack that the tests of this module leave as it is."""
    stack = Stack("deployment-test")
    result = stack.deploy(unchanged, "--yes", "--tags", "team=books")
    assert result.returncode == 0, result.stdout + result.stderr
    return stack


def test_a_first_creation_that_fails_leaves_nothing_in_the_way_of_the_second(folder: Path, unchanged: Path) -> None:
    stack = Stack("failure-test")
    logical_ids = ", ".join(Template.load().resources("AWS::DynamoDB::Table"))
    failing = variant(folder, ("\nOutputs:\n", NEVER_SIGNALLED.format(tables=logical_ids)))

    first = stack.deploy(failing, "--yes")

    assert first.returncode == 1
    assert "NeverSignalled: WaitCondition timed out" in first.stderr
    assert (stack.description(), stack.tables()) == ({}, {})
    checked = stack.deploy(failing, "--check")
    assert checked.returncode == 0
    assert "does not exist yet" in checked.stdout

    second = stack.deploy(unchanged, "--yes")

    assert second.returncode == 0, second.stderr
    assert stack.description()["StackStatus"] in {"CREATE_COMPLETE", "UPDATE_COMPLETE"}
    assert stack.tables().keys() > DATA_TABLES


def test_a_created_stack_and_its_tables_with_data_are_protected(deployed: Stack) -> None:
    is_protected = {name: str(table["DeletionProtectionEnabled"]).lower() for name, table in deployed.tables().items()}

    assert deployed.description()["EnableTerminationProtection"] is True
    assert {name for name, protected in is_protected.items() if protected == "true"} == DATA_TABLES


def test_a_deployment_without_changes_succeeds_and_keeps_tags_and_protection(deployed: Stack, unchanged: Path) -> None:
    result = deployed.deploy(unchanged)

    assert result.returncode == 0, result.stderr
    assert "Nothing has changed" in result.stdout
    assert deployed.description()["Tags"] == [{"Key": "team", "Value": "books"}]
    assert deployed.description()["EnableTerminationProtection"] is True


def test_nothing_changes_without_a_yes(folder: Path, deployed: Stack) -> None:
    changed = variant(folder, ("      RetentionInDays: !Ref LogRetentionDays", "      RetentionInDays: 7"))
    before = deployed.description()

    result = deployed.deploy(changed, answer="maybe\n")

    assert result.returncode == 1
    assert "Deploy this changeset? [y/N]" in result.stdout
    assert "Nothing was changed." in result.stdout
    assert deployed.description() == before


QUEUE_KEY = "{AttributeName: connection_id, KeyType: HASH}\n        - {AttributeName: position, KeyType: RANGE}"
NEW_KEY = (
    (QUEUE_KEY, QUEUE_KEY.replace("position", "place")),
    ("{AttributeName: position, AttributeType: S}", "{AttributeName: place, AttributeType: S}"),
)
OTHER_NAME = (("QueueTable", "OtherTable"),)


@pytest.mark.parametrize(
    ("changes", "named"),
    [(NEW_KEY, ()), (OTHER_NAME, ("--remove", "QueuedRequestsTable"))],
    ids=["replaced, without a name", "deleted, with another name"],
)
def test_a_table_is_not_given_up_unless_the_command_names_it(
    folder: Path, deployed: Stack, changes: tuple[tuple[str, str], ...], named: tuple[str, ...]
) -> None:
    before = deployed.table_ids()

    result = deployed.deploy(variant(folder, *changes), "--yes", *named)

    assert result.returncode == 1
    assert 'make deploy REMOVE="QueueTable"' in result.stderr
    assert deployed.table_ids() == before


def test_a_table_that_the_command_names_leaves_the_stack_and_keeps_its_data(folder: Path, unchanged: Path) -> None:
    stack = Stack("removal-test")
    assert stack.deploy(unchanged, "--yes").returncode == 0
    artifact = variant(folder, *OTHER_NAME)

    result = stack.deploy(artifact, "--yes", "--remove", "QueueTable")

    assert result.returncode == 0, result.stderr
    assert {"Queue", "Other"} <= stack.tables().keys()
    checked = stack.deploy(artifact, "--check").stdout
    assert f"aws dynamodb delete-table --table-name {stack.tables()['Queue']['TableName']} " in checked
    assert stack.tables()["Apps"]["TableName"] not in checked


def test_sam_uses_the_options_that_the_program_names_and_no_others() -> None:
    command = deploy.sam_deploy(
        TOOLS / "sam",
        deploy_local.ARTIFACT,
        "options-test",
        {"LogLevel": "WARNING"},
        tags={"team": "books"},
        region=deploy_local.REGION,
    )

    result = run([*command, "--debug"])

    assert result.returncode == 0, result.stderr[-4000:]
    (options,) = re.findall(r"Expand command line arguments to:\n.*?\| (--.*)", result.stderr)
    assert dict(re.findall(r"--(\w+)(?:=(\([^)]*\)|\{[^}]*\}|\S+))?", options)) == {
        "template_file": str(deploy_local.ARTIFACT / build.TEMPLATE),
        "stack_name": "options-test",
        "resolve_s3": "",
        "s3_prefix": "options-test",
        "capabilities": "('CAPABILITY_IAM',)",
        "no_execute_changeset": "",
        "no_progressbar": "",
        "output": "json",
        "parameter_overrides": "{'LogLevel': 'WARNING'}",
        "tags": "{'team': 'books'}",
        # SAM's defaults, which matter only if it executes the change set.
        "on_failure": "ROLLBACK",
        "max_wait_duration": "60",
    }
    assert "samconfig.toml' does not exist" in result.stderr
