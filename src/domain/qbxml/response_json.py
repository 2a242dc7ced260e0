"""A response as JSON (contract §6), by what the schema says of repeats and booleans."""

from __future__ import annotations

from typing import Any

from domain.qbxml.facts import response_facts
from domain.qbxml.responses import UnreadableResponse, parse

_NUMBERS = frozenset({"statusCode", "iteratorRemainingCount", "retCount"})

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}

_SET_DEPTH = 2

_MAX_DEPTH = 100
"""QuickBooks nests 8 deep; writing JSON that is nested much deeper would fail later."""


def response_to_json(text: str) -> list[dict[str, Any]]:
    """Return one object per message set of a response.

    Attributes carry `@`; what the schema lets repeat is an array, boolean elements are booleans,
    every other leaf is a string; text beside attributes is `#text`. Raises UnreadableResponse.
    """
    builder = _Builder()
    parse(text, builder.start, builder.end, builder.characters, builder.reset)
    return builder.message_sets


class _Builder:
    """Builds the value while expat reads: no tree in between.

    `_value` is the open element's object, None as long as it may still be a leaf; `_facts` is what
    the schema says of its children.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Begin anew."""
        self.message_sets: list[dict[str, Any]] = []
        self._stack: list[tuple[Any, Any]] = []
        self._value: Any = None
        self._facts: Any = None
        self._text = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Open an element: its parent is no leaf."""
        value = self._value
        if value is None:
            value = {}
        if self._text and not self._text.isspace():
            value["#text"] = value.get("#text", "") + self._text
        facts = self._facts
        self._stack.append((value, facts))
        self._text = ""
        depth = len(self._stack)
        if depth == _SET_DEPTH + 1:
            self._facts = response_facts(name)
            self._value = _attributes(attributes, _NUMBERS)
            return
        if depth > _MAX_DEPTH:
            raise UnreadableResponse(f"Its elements nest more than {_MAX_DEPTH} deep.")
        self._value = _attributes(attributes) if attributes else None
        if facts is not None:
            fact = facts.get(name)
            if fact.__class__ is list:
                fact = fact[0]
            self._facts = fact if fact.__class__ is dict else None

    def end(self, name: str) -> None:
        """Close an element: put its value into its parent's."""
        value, text = self._value, self._text
        is_aggregate = self._facts is not None
        self._value, self._facts = parent, facts = self._stack.pop()
        self._text = ""
        fact = facts.get(name) if facts is not None else None
        if value is not None:
            if text and not text.isspace():
                value["#text"] = value.get("#text", "") + text
        elif is_aggregate and not text.strip():
            value = {}
        elif fact in (1, [1]):
            value = _BOOLEANS.get(text, text)
        else:
            value = text
        if not self._stack:
            return
        if len(self._stack) == _SET_DEPTH - 1:
            self.message_sets.append({name: value if isinstance(value, dict) else {}})
        elif fact.__class__ is list:
            parent.setdefault(name, []).append(value)
        elif name not in parent:
            parent[name] = value
        elif isinstance(parent[name], list):
            parent[name].append(value)
        else:
            parent[name] = [parent[name], value]

    def characters(self, data: str) -> None:
        """Collect text."""
        self._text += data


def _attributes(attributes: dict[str, str], numbers: frozenset[str] = frozenset()) -> dict[str, Any]:
    return {f"@{name}": _number(value) if name in numbers else value for name, value in attributes.items()}


def _number(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        return text
