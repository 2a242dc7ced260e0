"""A response as JSON (contract §6), by what the schema says of repeats and booleans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from domain.qbxml.response.reader import UnreadableResponse, response_tree
from domain.qbxml.schema.facts import response_facts

if TYPE_CHECKING:
    from collections.abc import Mapping
    from xml.etree.ElementTree import Element as Node

    from domain.qbxml.schema.facts import Returned

_NUMBERS = frozenset({"statusCode", "iteratorRemainingCount", "retCount", "rowNumber"})
"""Attributes that are numbers (contract §6); the rows of a report are in their order again when sorted by the last."""

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}

_NO_FACTS: Mapping[str, Returned] = {}

_SET_DEPTH = 3

_MAX_DEPTH = 100
"""QuickBooks nests 8 deep; writing JSON that is nested much deeper would fail later."""


def response_to_json(text: str) -> list[dict[str, Any]]:
    """Return one object per message set of a response.

    Attributes carry `@`; what the schema lets repeat is an array, boolean elements are booleans,
    every other leaf is a string; text beside attributes is `#text`. Each name of a parent stands
    once, so that the order of different names is lost: that of a report's rows is in `@rowNumber`.
    Raises UnreadableResponse.
    """
    return [{message_set.tag: _message_set(message_set)} for message_set in response_tree(text)]


def _message_set(node: Node) -> dict[str, Any]:
    members = _attributes(node.attrib)
    for child in node:
        answer = _attributes(child.attrib)
        _add_members(answer, child, response_facts(child.tag), _SET_DEPTH)
        _put(members, child.tag, answer)
    return members


def _add_members(members: dict[str, Any], node: Node, facts: Mapping[str, Returned], depth: int) -> None:
    """Add what a node holds, by what the schema says of it; this loop runs for every element of a response."""
    if depth > _MAX_DEPTH:
        raise UnreadableResponse(f"Its elements nest more than {_MAX_DEPTH} deep.")
    _add_text(members, node.text)
    for child in node:
        name, text = child.tag, child.text
        fact: Any = facts.get(name)
        is_array = fact.__class__ is list
        if is_array:
            (fact,) = fact
        value: Any
        if len(child) or child.keys():
            value = _attributes(child.attrib)
            _add_members(value, child, fact if fact.__class__ is dict else _NO_FACTS, depth + 1)
        elif fact.__class__ is dict and (text is None or text.isspace()):
            value = {}
        elif fact == 1:
            value = _BOOLEANS.get(text or "", text or "")
        else:
            value = text or ""
        if is_array:
            members.setdefault(name, []).append(value)
        elif name in members:
            _put(members, name, value)
        else:
            members[name] = value
        if child.tail is not None:
            _add_text(members, child.tail)


def _add_text(members: dict[str, Any], text: str | None) -> None:
    if text and not text.isspace():
        members["#text"] = members.get("#text", "") + text


def _put(members: dict[str, Any], name: str, value: Any) -> None:
    """Add a member; what the schema does not know becomes an array when it repeats."""
    if name not in members:
        members[name] = value
    elif isinstance(members[name], list):
        members[name].append(value)
    else:
        members[name] = [members[name], value]


def _attributes(attributes: dict[str, str]) -> dict[str, Any]:
    return {f"@{name}": _number(value) if name in _NUMBERS else value for name, value in attributes.items()}


def _number(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        return text
