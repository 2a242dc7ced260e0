"""Checks a message set against the schema before anything is executed.

A document with a wrong order, an unknown element, a wrong enumeration value or a wrong attribute fails as a whole with
HRESULT 0x80040400, as in QuickBooks. So does rollbackOnError, which Intuit's schema has and QuickBooks never had.
`simulator.schema.values` checks the form of values: QuickBooks answers a wrong one with a status.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.basics.errors import PARSE_ERROR, HresultError
from simulator.schema.model import Aggregate, Element, Simple, Version, schema

if TYPE_CHECKING:
    from collections.abc import Mapping
    from xml.etree.ElementTree import Element as Node

_ITERATORS_SINCE = (5, 0)
_MESSAGE_SET_ATTRIBUTES = {
    "onError": Simple("ENUMTYPE", dict.fromkeys(("stopOnError", "continueOnError"), (1, 0))),
    "responseData": Simple("ENUMTYPE", dict.fromkeys(("includeAll", "includeNone"), (1, 0))),
    "newMessageSetID": Simple("STRTYPE"),
    "oldMessageSetID": Simple("STRTYPE"),
}


def check_message_set(root: Node, version: Version) -> Node:
    """Check a whole document and return its QBXMLMsgsRq. Raises `HresultError` 0x80040400."""
    if root.tag != "QBXML" or [child.tag for child in root] != ["QBXMLMsgsRq"]:
        raise parse_error("QBXML must hold exactly one QBXMLMsgsRq")
    _check_attributes(root, {})
    message_set = root[0]
    _check_attributes(message_set, _MESSAGE_SET_ATTRIBUTES)
    if "onError" not in message_set.attrib:
        raise parse_error("QBXMLMsgsRq has no onError")
    for request in message_set:
        model = schema().requests.get(request.tag)
        if model is None:
            raise parse_error(f"there is no request {request.tag}")
        check_element(request, model, version)
    return message_set


def parse_error(detail: str) -> HresultError:
    """Return QuickBooks' parse error. The reason in `detail` is the simulator's addition."""
    return HresultError(PARSE_ERROR, detail=detail)


def check_element(node: Node, model: Element, version: Version) -> None:
    """Check an element and all below it: order, enumerations, attributes, first versions. Raises `HresultError`."""
    if model.since > version:
        raise parse_error(f"{node.tag} began with qbXML {_text(model.since)}; the request is {_text(version)}")
    if node.attrib:
        _check_attributes(node, model.attributes)
        if "iterator" in node.attrib and version < _ITERATORS_SINCE:
            raise parse_error(f"iterators began with qbXML {_text(_ITERATORS_SINCE)}; the request is {_text(version)}")
    kind = model.type
    if isinstance(kind, Aggregate):
        _check_children(node, kind, version)
    elif len(node):
        raise parse_error(f"{node.tag} holds a value, not elements")
    elif kind.values:
        since = kind.values.get((node.text or "").strip())
        if since is None or since > version:
            raise parse_error(f"{node.tag} cannot be {node.text!r}")


def _check_children(node: Node, kind: Aggregate, version: Version) -> None:
    if (node.text or "").strip() or any((child.tail or "").strip() for child in node):
        raise parse_error(f"{node.tag} holds text between its elements")
    names = "".join(f"{child.tag};" for child in node)
    if not kind.pattern.fullmatch(names):
        raise parse_error(f"{node.tag}: wrong, missing or misplaced elements: {names.replace(';', ' ').strip()}")
    elements = kind.elements
    for child in node:
        check_element(child, elements[child.tag], version)


def _check_attributes(node: Node, allowed: Mapping[str, Simple]) -> None:
    for name, value in node.attrib.items():
        if name not in allowed:
            raise parse_error(f"{node.tag} has no attribute {name}")
        if allowed[name].values and value not in allowed[name].values:
            raise parse_error(f"{node.tag}: {name} cannot be {value!r}")


def _text(version: Version) -> str:
    return f"{version[0]}.{version[1]}"
