"""The code blocks of a Markdown page, their commands, and the output that the page shows.

A `sh` block has commands, and a `text` block directly after it shows what they print. A `console` block has commands
behind `$ ` and their output below each. `text terminal` shows what a program in another terminal prints.
A `sh` block that begins with `# terminal 2` belongs into a new terminal. A block that starts a program again, which an
earlier block of the page has started, says so with a comment: `# Stop make run …`.
"""

from __future__ import annotations

import re
import subprocess
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).resolve().parents[2]

BUILT = {"node_modules", "build"}
"""Folders of what was installed or built, beside those whose names begin with a dot."""

COMMANDS = {"sh", "console"}
"""The languages of blocks that a reader pastes into a terminal."""

NOT_COMMANDS = {
    "csharp", "go", "java", "javascript", "js", "json", "mermaid", "php", "python", "ruby", "text", "typescript", "xml",
}  # fmt: skip

_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})(?P<info>[^`]*)$")
_TERMINAL = re.compile(r"# terminal \d+\s*")
_PROMPT = "$ "


class Malformed(ValueError):
    """A page has a block that cannot be read. The message names the page and the line."""


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its page, the number of its first line, its language, and what follows that on the fence."""

    page: str
    line: int
    language: str
    info: str
    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """A command, which may have several lines, and the output that the page shows for it, if it shows one."""

    page: str
    line: int
    text: str
    output: str | None = None

    def __str__(self) -> str:
        """Return the place and the first line."""
        first, _, rest = self.text.partition("\n")
        return f"{self.page}:{self.line}: {first}{' …' if rest else ''}"


@dataclass(frozen=True, slots=True)
class Group:
    """The commands of one block, in their order, and the output that the page shows for all of them together."""

    block: Block
    commands: tuple[Command, ...]
    output: str | None = None
    terminal_output: str | None = None

    @property
    def has_own_terminal(self) -> bool:
        """Return whether the page asks for a new terminal."""
        return _TERMINAL.match(self.block.text) is not None

    def asks_to_stop(self, kind: str) -> bool:
        """Return whether a comment of the block asks the reader to stop a program first."""
        return re.search(rf"(?m)^# Stop {re.escape(kind)}\b", self.block.text) is not None


def pages(root: Path = ROOT) -> list[str]:
    """Return the paths of all Markdown files that belong to the repository, the README first. It needs no git."""
    paths = [path.relative_to(root) for path in root.rglob("*.md")]
    names = [path.as_posix() for path in paths if not any(part.startswith(".") or part in BUILT for part in path.parts)]
    return sorted(names, key=lambda name: (name != "README.md", name))


def blocks_of(page: str, text: str) -> list[Block]:
    """Return the fenced blocks of a page. Raises Malformed for one that does not end."""
    blocks, opening, begin, body = [], None, 0, list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        fence = _FENCE.match(line)
        if opening is None:
            if fence:
                opening, begin, body = fence, number + 1, []
        elif fence and not fence["info"].strip() and fence["fence"].startswith(opening["fence"]):
            language, _, info = opening["info"].strip().partition(" ")
            content = textwrap.dedent("".join(f"{line}\n" for line in body))
            blocks.append(Block(page, begin, language, info.strip(), content))
            opening = None
        else:
            body.append(line)
    if opening is not None:
        raise Malformed(f"{page}:{begin - 1}: this block does not end")
    return blocks


def groups_of(page: str, text: str) -> list[Group]:
    """Return the commands of a page with the output that it shows. Raises Malformed."""
    blocks = blocks_of(page, text)
    groups = []
    for number, block in enumerate(blocks):
        if block.language not in COMMANDS | NOT_COMMANDS:
            known = ", ".join(sorted(COMMANDS | NOT_COMMANDS))
            raise Malformed(f"{page}:{block.line - 1}: the language {block.language!r} is none of {known}")
        if block.language not in COMMANDS:
            continue
        shown = blocks[number + 1] if number + 1 < len(blocks) and blocks[number + 1].language == "text" else None
        groups.append(
            Group(
                block,
                tuple(_commands(block) if block.language == "sh" else _console_commands(block)),
                output=shown.text if shown and shown.info != "terminal" else None,
                terminal_output=shown.text if shown and shown.info == "terminal" else None,
            )
        )
    return groups


def _commands(block: Block) -> Iterator[Command]:
    """Yield the commands of a block in which every line belongs to one."""
    lines, begin = list[str](), 0
    for number, line in enumerate(block.text.splitlines(), block.line):
        if not lines and (not line.strip() or line.startswith("#")):
            continue
        begin = begin if lines else number
        lines.append(line)
        if is_complete("\n".join(lines)):
            yield Command(block.page, begin, "\n".join(lines))
            lines = []
    if lines:
        raise Malformed(f"{block.page}:{begin}: this command does not end: {lines[0]}")


def _console_commands(block: Block) -> Iterator[Command]:
    """Yield the commands behind the prompts of a block, each with its output."""
    command, begin, output = list[str](), 0, list[str]()
    for number, line in enumerate(block.text.splitlines(), block.line):
        if command and not is_complete("\n".join(command)):
            command.append(line)
        elif line.startswith(_PROMPT):
            if command:
                yield Command(block.page, begin, "\n".join(command), _text(output))
            command, begin, output = [line.removeprefix(_PROMPT)], number, []
        elif command:
            output.append(line)
        else:
            raise Malformed(f"{block.page}:{number}: a console block begins with `$ ` and a command")
    if command:
        if not is_complete("\n".join(command)):
            raise Malformed(f"{block.page}:{begin}: this command does not end: {command[0]}")
        yield Command(block.page, begin, "\n".join(command), _text(output))


def _text(lines: Sequence[str]) -> str | None:
    return "\n".join(lines) if lines else None


def is_complete(text: str) -> bool:
    """Return whether a shell would run the text as it is, without waiting for another line."""
    if text.endswith("\\"):
        return False
    checked = subprocess.run(["bash", "-n"], input=f"{text}\n", capture_output=True, text=True, check=False)  # noqa: S607
    return checked.returncode == 0 and "here-document" not in checked.stderr


_VARIES = (
    (re.compile(r"\b\d\d:\d\d:\d\d\b"), "<time>"),
    (re.compile(r"\b[0-9a-f]{8}(?:…|(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b)"), "<id>"),
    (re.compile(r"\b\d[\d.,]* (?:ms|s|min)\b"), "<duration>"),
    (re.compile(r"(?<=\S) {2,}"), " "),
)
"""What differs between two runs: the time of day, ids, durations, and the blanks that align columns behind them."""


def same(line: str, shown: str) -> bool:
    """Compare a line with one that a page shows, in which `…` stands for any text."""
    for pattern, name in _VARIES:
        line, shown = pattern.sub(name, line), pattern.sub(name, shown)
    return re.fullmatch(".+".join(map(re.escape, shown.rstrip().split("…"))), line.rstrip()) is not None


def prints(output: str, shown: str) -> bool:
    """Return whether an output is what a page shows, line by line."""
    lines, expected = output.strip("\n").splitlines(), shown.strip("\n").splitlines()
    return len(lines) == len(expected) and all(map(same, lines, expected))


def contains(output: str, shown: str) -> bool:
    """Return whether an output has the lines that a page shows, in their order, perhaps with others between them."""
    lines = iter(output.splitlines())
    return all(any(same(line, expected) for line in lines) for expected in shown.strip("\n").splitlines())
