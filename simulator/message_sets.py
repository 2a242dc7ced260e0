"""Error recovery: the stored responses of message sets, for each application.

| newMessageSetID | oldMessageSetID | what happens |
|---|---|---|
| x, unknown | - | executed, response stored under x |
| x, stored | - | the stored response again, nothing executed; other content: 9001 |
| x | x | status check: the stored response, or 9002; never executes |
| - | x | x is cleared; nothing stored: 600 |
| - | CLR-ALL-MSG-SETS | everything is cleared |
| y | x | x is cleared, then as y alone |
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from xml.etree.ElementTree import Element

CLEAR_ALL = "CLR-ALL-MSG-SETS"
MAX_LENGTH = 24

NOTHING_STORED = 600
DIFFERENT_CONTENT = 9001
NOT_FOUND = 9002
TOO_LONG = 9004


@dataclass(slots=True)
class MessageSets:
    """The stored responses: `{application: {message set id: (checksum, lines of the response)}}`."""

    stored: dict[str, dict[str, tuple[str, list[str]]]] = field(default_factory=dict)

    def process(
        self, application: str, message_set: Element, execute: Callable[[], list[str]]
    ) -> tuple[str | None, int, list[str]]:
        """Return (newMessageSetID to answer, messageSetStatusCode, lines inside QBXMLMsgsRs).

        The id is None when the request took no part in recovery. `execute` runs the requests; it is called at
        most once, and not at all for checks, clearings and repetitions.
        """
        new, old = message_set.get("newMessageSetID", ""), message_set.get("oldMessageSetID", "")
        mine = self.stored.setdefault(application, {})
        if not new and not old:
            return None, 0, execute()
        if max(len(new), len(old)) > MAX_LENGTH:
            return new, TOO_LONG, []
        checks = bool(new) and new == old
        if not checks and old and not self._clear(mine, old) and not new:
            return "", NOTHING_STORED, []
        if checks or new in mine:
            return self._status(mine, new, message_set)
        lines = execute()
        if new:
            mine[new] = (_checksum(message_set), lines)
        return new, 0, lines

    @staticmethod
    def _clear(mine: dict[str, tuple[str, list[str]]], old: str) -> bool:
        """Forget what `old` names; tell whether there was such a thing to forget."""
        if old == CLEAR_ALL:
            mine.clear()
            return True
        return mine.pop(old, None) is not None

    def _status(
        self, mine: dict[str, tuple[str, list[str]]], message_set_id: str, message_set: Element
    ) -> tuple[str, int, list[str]]:
        found = mine.get(message_set_id)
        if found is None:
            return message_set_id, NOT_FOUND, []
        checksum, lines = found
        explicit_check = message_set.get("oldMessageSetID") == message_set_id and not len(message_set)
        if not explicit_check and checksum != _checksum(message_set):
            return message_set_id, DIFFERENT_CONTENT, []
        return message_set_id, 0, lines

    def to_json(self) -> dict[str, Any]:
        """Return the stored responses for a company's file."""
        return {
            application: {key: list(entry) for key, entry in sets.items()} for application, sets in self.stored.items()
        }

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> MessageSets:
        """Read what `to_json` wrote."""
        return cls({
            application: {key: (entry[0], list(entry[1])) for key, entry in sets.items()}
            for application, sets in document.items()
        })  # fmt: skip


def _checksum(message_set: Element) -> str:
    """Return a checksum of the requests, blind to whitespace between elements."""
    return hashlib.sha256(json.dumps([_content(child) for child in message_set]).encode()).hexdigest()


def _content(element: Element) -> list[Any]:
    children = [_content(child) for child in element]
    return [element.tag, sorted(element.attrib.items()), children or element.text or ""]
