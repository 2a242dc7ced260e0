"""Error recovery: the stored responses of message sets, for each application (its AppName) in one company file.

| newMessageSetID | oldMessageSetID | what happens |
|---|---|---|
| x, unknown | - | The message set is executed, and its response is stored under x. |
| x, stored | - | The stored response is returned and nothing is executed. Other content: 9001. |
| x | x | A status check, which executes nothing: the stored response, or 9002. Content that differs: 9001. |
| - | x | x is cleared, and the message set is executed. If x is not stored: 600, and nothing is executed. |
| - | CLR-ALL-MSG-SETS | All stored responses of the application are cleared. |
| y | x | x is cleared if it is stored. Then as y alone. |
| - | - | The message set is executed and its response is not stored. The response has no attributes. |

A response is stored when the execution ends, and until then the message set is unknown. It is stored whatever its
status: an Add that was refused is refused again from the store, not tried again.
A message set that cannot be parsed is not stored. More than 24 characters: 9004, nothing executed.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

CLEAR_ALL = "CLR-ALL-MSG-SETS"
MAX_LENGTH = 24

NOTHING_STORED = 600
DIFFERENT_CONTENT = 9001
NOT_FOUND = 9002
TOO_LONG = 9004
NOT_STORED = 9005


Answer: TypeAlias = "tuple[str | None, int, list[str]]"
"""newMessageSetID to answer (None without error recovery), messageSetStatusCode, and the lines inside QBXMLMsgsRs."""


@dataclass(frozen=True, slots=True)
class Keeping:
    """How the response to a message set is stored, unless a fault prevents it.

    Without `possible` the message set is executed and answered with 9005, and nothing is stored. Without `readable` the
    response is stored, but a status check returns 9002.
    """

    possible: bool = True
    readable: bool = True


KEPT_WELL = Keeping()


@dataclass(slots=True)
class MessageSets:
    """The stored responses: `{application: {message set id: (checksum, lines of the response)}}`.

    The lines are None where the response was not stored properly.
    """

    stored: dict[str, dict[str, tuple[str, list[str] | None]]] = field(default_factory=dict)

    def begin(self, application: str, message_set: Element) -> Answer | None:
        """Return the answer to a message set that executes nothing, or None if its requests must be executed.

        Status checks, clearing and repeated message sets execute nothing. A message set that is still being executed is
        not stored, so it is unknown.
        """
        new, old = message_set.get("newMessageSetID", ""), message_set.get("oldMessageSetID", "")
        mine = self.stored.setdefault(application, {})
        if not new and not old:
            return None
        if max(len(new), len(old)) > MAX_LENGTH:
            return new, TOO_LONG, []
        checks = bool(new) and new == old
        if not checks and old and not self._clear(mine, old) and not new:
            return "", NOTHING_STORED, []
        return self._status(mine, new, message_set) if checks or new in mine else None

    def end(self, application: str, message_set: Element, lines: list[str], keeping: Keeping = KEPT_WELL) -> Answer:
        """Store the response to a message set that was executed, and return the answer."""
        new = message_set.get("newMessageSetID", "")
        if not new and not message_set.get("oldMessageSetID"):
            return None, 0, lines
        if new and keeping.possible:
            mine = self.stored.setdefault(application, {})
            mine[new] = (_checksum(message_set), lines if keeping.readable else None)
        return new, 0 if keeping.possible or not new else NOT_STORED, lines

    def forget(self, application: str) -> None:
        """Delete all stored responses of an application, as QuickBooks does when its company file is rebuilt."""
        self.stored.pop(application, None)

    @staticmethod
    def _clear(mine: dict[str, tuple[str, list[str] | None]], old: str) -> bool:
        """Delete the response that `old` names. Return whether there was one."""
        if old == CLEAR_ALL:
            mine.clear()
            return True
        return mine.pop(old, None) is not None

    def _status(
        self, mine: dict[str, tuple[str, list[str] | None]], message_set_id: str, message_set: Element
    ) -> tuple[str, int, list[str]]:
        checksum, lines = mine.get(message_set_id, ("", None))
        if lines is None:
            return message_set_id, NOT_FOUND, []
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
            application: {key: (entry[0], entry[1]) for key, entry in sets.items()}
            for application, sets in document.items()
        })  # fmt: skip


def fingerprint(request: Element) -> str:
    """Return a digest of a request's content and requestID."""
    return hashlib.sha256(json.dumps(_content(request)).encode()).hexdigest()


def _checksum(message_set: Element) -> str:
    """Return a checksum of the requests that ignores whitespace between elements."""
    return hashlib.sha256(json.dumps([_content(child) for child in message_set]).encode()).hexdigest()


def _content(element: Element) -> list[Any]:
    children = [_content(child) for child in element]
    return [element.tag, sorted(element.attrib.items()), children or element.text or ""]
