"""The code blocks of the guides, as a reader would copy or paste them."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
GUIDES = sorted(ROOT.glob("docs/guides/*.md"))
START_SECONDS = 30
SCRIPT_SECONDS = 120

_BLOCK = re.compile(r"(?ms)^```(\w*)\n(.*?)^```$")
_EXAMPLE = re.compile(r"\]\((\.\./\.\./examples/[\w./]+\.\w+)\)")
_LINE = re.compile(r"(?m)^# (?P<what>terminal \d|needs [\w-]+)\n")


@dataclass(frozen=True, slots=True)
class Block:
    """A code block: its language, its text, the latest example that the guide linked before, and the output after it.

    `mark` is the first line of a command that is not simply run: `terminal 2`, `needs qubesync`.
    """

    language: str
    text: str
    example: Path | None
    mark: str | None = None
    output: str | None = None


def blocks_of(guide: Path) -> list[Block]:
    """Return the code blocks of a guide. A `text` block is the output of the commands before it."""
    text = guide.read_text(encoding="utf-8")
    matches = list(_BLOCK.finditer(text))
    blocks = []
    for number, block in enumerate(matches):
        if block[1] == "text":
            continue
        links = _EXAMPLE.findall(text, 0, block.start())
        mark = _LINE.match(block[2])
        follower = matches[number + 1] if number + 1 < len(matches) else None
        blocks.append(
            Block(
                language=block[1],
                text=block[2][mark.end() :] if mark else block[2],
                example=(guide.parent / links[-1]).resolve() if links else None,
                mark=mark["what"] if mark else None,
                output=follower[2] if follower and follower[1] == "text" else None,
            )
        )
    return blocks


def is_part_of(text: str, whole: str) -> bool:
    """Return whether `text` is in `whole`, line by line, at any indentation."""
    indents = ["\t", *(" " * width for width in range(0, 24, 2))]
    return any(f"\n{textwrap.indent(text, indent)}" in f"\n{whole}" for indent in indents)


def matches(output: str, expected: str) -> bool:
    """Compare an output with what a guide shows; `…` stands for any text on one line."""
    pattern = ".+".join(re.escape(part) for part in expected.strip().split("…"))
    return re.fullmatch(pattern, output.strip()) is not None


def run_commands(commands: list[str], folder: Path, environment: dict[str, str]) -> list[str]:
    """Run commands in one shell, one after the other, and return the output of each."""
    separator = "-- next --"
    script = "set -euo pipefail\n" + f"echo '{separator}'\n".join(commands)
    return output_of(["bash", "-c", script], folder, environment).split(f"{separator}\n")


def output_of(command: list[str], folder: Path, environment: dict[str, str], seconds: float = SCRIPT_SECONDS) -> str:
    """Run a command and return its output. It must succeed."""
    result = subprocess.run(  # noqa: S603 - our own commands
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert result.returncode == 0, result.stdout
    return result.stdout


@contextmanager
def background(command: str, folder: Path, environment: dict[str, str]) -> Iterator[None]:
    """Run a command in a separate terminal until the block ends; start the block when it has printed a line."""
    process = subprocess.Popen(  # noqa: S603 - a command of our own guides
        ["bash", "-c", command],  # noqa: S607 - the shell of the reader
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    output = process.stdout
    printed = threading.Event()

    def read() -> None:
        for _ in output:
            printed.set()
        printed.set()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        assert printed.wait(START_SECONDS)
        assert process.poll() is None
        yield
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(START_SECONDS)
        reader.join()
        output.close()


def workplace(folder: Path, state: Path) -> Path:
    """Return a copy of the files that a reader has: the examples and the credentials."""
    folder.mkdir()
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("*.db", "__pycache__"))
    (folder / ".local").symlink_to(state / ".local")
    return folder


def environment_with(**variables: str) -> dict[str, str]:
    """Return this process's environment, with the tests' Python as `python3`."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1", **variables}
