"""Converts a response to JSON (docs/reference/service-contract.md, Responses as JSON)."""

from __future__ import annotations

from sys import intern
from typing import TYPE_CHECKING, Any

from domain.qbxml.response.reader import UnreadableResponse, read_with_repair
from domain.qbxml.schema.facts import response_facts
from domain.qbxml.xml.parser import parse_tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from xml.etree.ElementTree import Element as Node

    from domain.qbxml.schema.facts import Returned

_NUMBERS = frozenset({"statusCode", "iteratorRemainingCount", "retCount", "rowNumber"})
"""Attributes that become numbers. `rowNumber` restores the order of a report's rows."""

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}

_NO_FACTS: Mapping[str, Returned] = {}

_RESPONSE_DEPTH = 3

_MAX_DEPTH = 100
"""The maximum depth. QuickBooks nests about 8 levels, and much deeper JSON cannot be written."""


def response_to_json(text: str) -> list[dict[str, Any]]:
    """Return one object for each message set of a response. Raises UnreadableResponse.

    Attributes start with `@`. An element that can repeat is an array, a boolean element is a boolean, and every other
    leaf is a string. Text next to attributes or elements is `#text`. The order of elements with different names is
    lost.
    """
    return [{message_set.tag: _message_set(message_set)} for message_set in read_with_repair(parse_tree, text)]


def _message_set(node: Node) -> dict[str, Any]:
    members = _attributes(node.attrib)
    for child in _taken_from(node):
        response = _attributes(child.attrib)
        _add_members(response, child, response_facts(child.tag), _RESPONSE_DEPTH)
        _put(members, child.tag, response)
    return members


def _taken_from(node: Node) -> Iterator[Node]:
    """Yield the children and remove them, so that a large tree and its JSON are never in memory at the same time."""
    children = node[::-1]
    del node[:]
    while children:
        yield children.pop()


def _add_members(  # noqa: C901 - this loop runs for every element of a response
    members: dict[str, Any], node: Node, facts: Mapping[str, Returned], depth: int
) -> None:
    """Add the content of a node according to its schema facts."""
    if depth > _MAX_DEPTH:
        raise UnreadableResponse(f"Elements are nested more than {_MAX_DEPTH} levels deep.")
    texts = [node.text] if node.text and not node.text.isspace() else []
    for child in _taken_from(node):
        name, text, tail = child.tag, child.text, child.tail
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
        if tail is not None and not tail.isspace():
            texts.append(tail)
    if texts:
        members["#text"] = "".join(texts)


def _put(members: dict[str, Any], name: str, value: Any) -> None:
    """Add a member. An element that is not in the schema becomes an array if it repeats."""
    if name not in members:
        members[name] = value
    elif isinstance(members[name], list):
        members[name].append(value)
    else:
        members[name] = [members[name], value]


def _attributes(attributes: dict[str, str]) -> dict[str, Any]:
    # The names repeat, and each would be a text of its own.
    return {intern(f"@{name}"): _number(value) if name in _NUMBERS else value for name, value in attributes.items()}


def _number(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        return text
