"""The guides are correct: their code is that of the examples, and their commands print the output that they show."""

from __future__ import annotations

import shutil
import socket
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from tests.examples.guide import (
    GUIDES,
    background,
    blocks_of,
    environment_with,
    is_part_of,
    matches,
    run_commands,
    workplace,
)

if TYPE_CHECKING:
    from pathlib import Path


GUIDES_WITH_COMMANDS = [
    guide for guide in GUIDES if any(block.language == "sh" and block.mark is None for block in blocks_of(guide))
]
"""Those with commands that are simply run."""


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: guide.stem)
def test_every_code_block_is_part_of_the_example_that_the_guide_names(guide: Path) -> None:
    for block in blocks_of(guide):
        if block.language == "sh":
            continue
        assert block.language in {"python", "javascript"}, block.text
        assert block.example, f"no example is linked before: {block.text}"
        assert is_part_of(block.text, block.example.read_text(encoding="utf-8")), f"{block.example}: {block.text}"


@pytest.mark.usefixtures("run")
@pytest.mark.parametrize("guide", GUIDES_WITH_COMMANDS, ids=lambda guide: guide.stem)
def test_every_command_of_a_guide_prints_what_the_guide_shows(guide: Path, state: Path, tmp_path: Path) -> None:
    blocks = [block for block in blocks_of(guide) if block.language == "sh"]
    if not shutil.which("node"):
        blocks = [block for block in blocks if not block.text.startswith("node ")]
    folder = workplace(tmp_path / "project", state)
    environment = environment_with(RECEIVER_URL=f"http://127.0.0.1:{free_port()}/")

    [service, *others] = [block for block in blocks if (block.mark or "").startswith("terminal")]
    assert service.text == "make run\n"
    commands = [block for block in blocks if block.mark is None]
    with ExitStack() as terminals:
        for block in others:
            terminals.enter_context(background(block.text, folder, environment))
        outputs = run_commands([block.text for block in commands], folder, environment)

    for block, output in zip(commands, outputs, strict=True):
        if block.output is not None:
            assert matches(output, block.output), f"{block.text}\nprinted\n{output}\nand not\n{block.output}"
