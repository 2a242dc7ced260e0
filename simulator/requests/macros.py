"""Macros: an Add names its new object (defMacro), and later requests of the message set refer to it (useMacro)."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

from simulator.basics.errors import RequestError

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element as Node

    from simulator.books import Record

_NOT_DEFINED = 9100
_DEFINED_TWICE = 9101


def expanded(request: Node, macros: dict[str, str]) -> Node:
    """Return the request with ids in place of macros. Raises `RequestError` for a macro that is not defined."""
    if not any("useMacro" in node.attrib for node in request.iter()):
        return request
    request = deepcopy(request)
    for node in request.iter():
        name = node.get("useMacro")
        if name is not None:
            if name not in macros:
                raise RequestError(_NOT_DEFINED, f'The macro "{name}" is not defined in this message set.')
            node.text = macros[name]
    return request


def check_definitions(content: Node, macros: dict[str, str]) -> None:
    """Check that an Add defines no macro that its message set has already. Raises `RequestError`."""
    names = [name for node in content.iter() if (name := node.get("defMacro"))]
    duplicate = next((name for name in names if name in macros or names.count(name) > 1), None)
    if duplicate is not None:
        raise RequestError(_DEFINED_TWICE, f'The macro "{duplicate}" is already defined in this message set.')


def define(content: Node, record: Record, macros: dict[str, str]) -> None:
    """Record the ids of a new record and of its lines under the names in its Add."""
    if "defMacro" in content.attrib:
        macros[content.attrib["defMacro"]] = record.id
    lines = (line for _, line in record.lines())
    names = [child.get("defMacro") for child in content if child.tag.endswith(("LineAdd", "LineGroupAdd", "Line"))]
    for name, line in zip(names, lines, strict=False):
        if name and "TxnLineID" in line:
            macros[name] = line["TxnLineID"]
