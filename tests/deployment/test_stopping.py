"""The commands of the guide to restoring stop the whole stack and start it again."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from local import deploy, deploy_local, programs

if TYPE_CHECKING:
    from pathlib import Path

ENDPOINT = os.environ.get("EMULATOR", "")
GUIDE = programs.ROOT / "docs" / "restore.md"


def step(title: str) -> str:
    """Return the shell block of a step of the guide."""
    text = GUIDE.read_text(encoding="utf-8").partition(f"**{title}**")[2]
    block = re.search(r"```sh\n(.*?)\n *```", text, re.DOTALL)
    assert block, title
    return re.sub(r"(?m)^ {3}", "", block[1])


@pytest.fixture
def shell(tmp_path: Path) -> list[str]:
    """Return a shell that finds the small `aws` of these tests."""
    program = tmp_path / "aws"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tests.deployment.aws_cli "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return ["env", f"PATH={tmp_path}:{os.environ['PATH']}", "bash", "-euo", "pipefail", "-c"]


def run(shell: list[str], script: str) -> None:
    environment = {**programs.without_aws(), **deploy_local.environment(ENDPOINT)}
    subprocess.run([*shell, script], cwd=programs.ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - the guide's commands


def states() -> dict[str, Any]:
    """Return what runs in the stack: event sources, rules, and functions that may run."""
    cloudformation = deploy_local.client("cloudformation", ENDPOINT)
    functions, events = deploy_local.client("lambda", ENDPOINT), deploy_local.client("events", ENDPOINT)
    pages = cloudformation.get_paginator("list_stack_resources").paginate(StackName=deploy.STACK_NAME)
    resources = [resource for page in pages for resource in page["StackResourceSummaries"]]

    def ids(kind: str) -> list[str]:
        return [resource["PhysicalResourceId"] for resource in resources if resource["ResourceType"] == kind]

    concurrency = [functions.get_function_concurrency(FunctionName=name) for name in ids("AWS::Lambda::Function")]
    return {
        "sources": {
            functions.get_event_source_mapping(UUID=source_id)["State"]
            for source_id in ids("AWS::Lambda::EventSourceMapping")
        },
        "rules": {events.describe_rule(Name=rule)["State"] for rule in ids("AWS::Events::Rule")},
        "concurrency": {setting.get("ReservedConcurrentExecutions") for setting in concurrency},
    }


def test_the_guide_stops_and_starts_event_sources_rules_and_functions(shell: list[str]) -> None:
    stop, start = step("Stop everything"), step("Start everything")
    assert states() == {"sources": {"Enabled"}, "rules": {"ENABLED"}, "concurrency": {None}}

    run(shell, stop)

    assert states() == {"sources": {"Disabled"}, "rules": {"DISABLED"}, "concurrency": {0}}

    run(shell, f"{stop.partition('for ')[0]}\n{start}")

    assert states() == {"sources": {"Enabled"}, "rules": {"ENABLED"}, "concurrency": {None}}
