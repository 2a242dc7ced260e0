"""The commands of the guide to teardown delete the stack, and leave what the guide lists."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from local import deploy_local, programs
from tests.deployment.test_deploying import DATA_TABLES, Stack, variant
from tests.deployment.test_stopping import run, shell

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["shell"]

GUIDE = programs.ROOT / "docs" / "operations.md"
NAME = "teardown-test"


def test_the_guide_deletes_the_stack_and_the_check_the_tables(tmp_path: Path, shell: list[str]) -> None:
    stack = Stack(NAME)
    (tmp_path / "artifacts").mkdir()
    artifact = variant(tmp_path / "artifacts")
    assert stack.deploy(artifact, "--yes").returncode == 0
    section = GUIDE.read_text(encoding="utf-8").partition("## Teardown\n")[2]
    (script, *_) = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)

    run(shell, script.replace("qbxml-queue", NAME).replace("eu-central-1", deploy_local.REGION))

    assert stack.description() == {}
    assert set(stack.tables()) == DATA_TABLES

    commands = re.findall(r"(?m)^ +(aws dynamodb .*)$", stack.deploy(artifact, "--check").stdout)
    run(shell, "\n".join(commands))

    assert stack.tables() == {}
