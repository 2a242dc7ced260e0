"""Reads the annotated sample document: the order, first version and length of every element.

Each line has one tag and possibly a comment with facts: `opt, max length = 41 for QBD|QBCA, v4.0`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_line = re.compile(r"\s*<(\w+)[^>]*?(/?)>(?:(\w+)</\w+>)?\s*(?:<!--(.*?)-->)?\s*\Z").match
_closing = re.compile(r"\s*</(\w+)>\s*\Z").match
_length = re.compile(r"max length = (\d+)(?: for ([A-Z|]+))?").findall
_since = re.compile(r"\bv(\d+\.\d)").search
_absent = re.compile(r"not in ([A-Z|]+)").search
_values = re.compile(r"\s*<!-- (\w+) may have one of the following values: (.*?) -->\s*\Z").match

ONLINE = "QBOE"
"""The former online edition, which the service does not support."""


@dataclass
class Facts:
    """The facts about one element.

    `holds` is the type of its text, or None for an element with children. `absent` are the editions without the
    element. QBD is the US edition. `newer_values` extend the enumeration in a later version.
    """

    name: str
    holds: str | None
    since: str
    lengths: tuple[int, ...]
    repeats: bool
    enumeration: tuple[str, ...]
    absent: frozenset[str] = frozenset()
    children: list[Facts] = field(default_factory=list)
    newer_values: tuple[str, ...] = ()

    @property
    def max_length(self) -> int | None:
        """The greatest length that a desktop edition allows."""
        return max(self.lengths, default=None)

    def named(self, name: str) -> list[Facts]:
        """Return the children with this name, in order."""
        return [child for child in self.children if child.name == name]


def read(path: Path) -> dict[str, Facts]:
    """Return the facts of every request and response element by name."""
    root = Facts("", None, "1.0", (), repeats=False, enumeration=())
    stack = [root]
    values: dict[str, tuple[str, ...]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if _closing(line):
            stack.pop()
        elif match := _values(line):
            # The comment precedes the element. `A [DEFAULT]` is the value A.
            names = (value.partition("[")[0].strip() for value in match[2].split(","))
            values[match[1]] = tuple(filter(None, names))
        elif match := _line(line):
            name, empty, holds, comment = match.groups()
            facts = _facts(name, holds, comment or "", values.pop(name, ()))
            stack[-1].children.append(facts)
            if holds is None and not empty:
                stack.append(facts)
    return {
        child.name: child
        for document in root.children
        for message_set in document.children
        for child in message_set.children
    }


def _facts(name: str, holds: str | None, comment: str, enumeration: tuple[str, ...]) -> Facts:
    since = _since(comment)
    absent = _absent(comment)
    return Facts(
        name,
        holds,
        since[1] if since else "1.0",
        tuple(int(length) for length, editions in _length(comment) if editions != ONLINE),
        repeats="rep" in comment,
        enumeration=enumeration,
        absent=frozenset(absent[1].split("|") if absent else ()) - {ONLINE},
    )
