"""The commands of the AWS CLI in the documentation exist, with the options that they name."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from botocore import xform_name
from botocore.session import Session

from local.programs import ROOT
from local.template import Template
from tests.documents.pages import pages
from tests.support import clients
from tests.support.cases import for_each

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGES = [ROOT / page for page in pages()]
GLOBAL_OPTIONS = {"--region", "--profile", "--query", "--output"}

WRITTEN_BY_THE_CLI = {
    ("cloudformation", "deploy"): {"stack-name", "template-file", "capabilities", "parameter-overrides"},
    ("s3", "rb"): {"force"},
    ("s3", "rm"): {"recursive"},
}
"""Commands that the AWS CLI adds to those of the service, and some of their options."""


def commands() -> Iterator[tuple[str, str, str, frozenset[str]]]:
    """Yield each command: its page, its service, its name and its options."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8").replace("\\\n", " ")
        blocks = re.findall(r"^ *```sh\n(.*?)^ *```", text, re.DOTALL | re.MULTILINE) + re.findall(
            r"`(aws [^`\n]+)`", text
        )
        for block in blocks:
            for service, name, rest in re.findall(r"\baws ([a-z0-9-]+) (wait [a-z-]+|[a-z-]+)([^\n;)|]*)", block):
                options = re.findall(r"(?<=\s)--([a-z-]+)", rest)
                yield page.name, service, name, frozenset(f"--{option}" for option in options) - GLOBAL_OPTIONS


@cache
def model(service: str) -> Any:
    return Session().get_service_model(service)


COMMANDS = sorted(set(commands()))


def test_the_documentation_has_commands() -> None:
    assert {("lambda", "update-event-source-mapping"), ("events", "disable-rule")} <= {
        command[1:3] for command in COMMANDS
    }


@for_each(("page", "service", "name", "options"), COMMANDS)
def test_a_documented_command_exists(page: str, service: str, name: str, options: frozenset[str]) -> None:
    del page
    known = WRITTEN_BY_THE_CLI.get((service, name)) or set(members(service, name))

    for option in options:
        text = option.removeprefix("--")
        assert text in known or text.removeprefix("no-") in known, f"aws {service} {name} has no {option}"


def members(service: str, name: str) -> Iterator[str]:
    """Yield the options of a command, from botocore's description of the service."""
    if name.startswith("wait "):
        client = clients.client(
            service, region_name="us-east-1", aws_access_key_id="none", aws_secret_access_key="none"
        )
        operation = client.get_waiter(name.removeprefix("wait ").replace("-", "_")).config.operation
    else:
        operation = next(
            operation_name
            for operation_name in model(service).operation_names
            if xform_name(operation_name, "-") == name
        )
    for member in model(service).operation_model(operation).input_shape.members:
        yield xform_name(member, "-")


def test_the_guide_restores_the_tables_that_have_point_in_time_recovery_but_the_audit_log() -> None:
    tables = Template.load().resources("AWS::DynamoDB::Table")
    lost = {name for name, table in tables.items() if "PointInTimeRecoverySpecification" not in table}
    kept = {"AuditLogTable", "PeopleTable"}  # what was done after the moment of the restore was done

    lines = re.findall(r'case "\$table" in (.*)\) continue;; esac', (ROOT / "docs/restore.md").read_text("utf-8"))

    assert len(lines) == 3
    for line in lines:
        assert {name.strip("*") for name in line.split("|")} == lost | kept
