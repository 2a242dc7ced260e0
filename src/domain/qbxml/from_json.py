"""From the JSON tree of a request (contract §5) to the request."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NoReturn

from domain.qbxml import rules
from domain.qbxml.acceptance import accepted
from domain.qbxml.document import DEFAULT_ON_ERROR, DEFAULT_VERSION, ENVELOPE, MESSAGE_SET, Element
from domain.qbxml.envelope import ENVELOPE_DEPTH, refuse, request_of
from domain.qbxml.fitting import fitted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from domain.qbxml.document import Request

FIELD = "request_json"

_NODE_MEMBERS = ("name", "attributes", "text", "children")


def parse_request_json(
    tree: object, *, validate: bool = True, transliterate: bool = False, country: str | None = None
) -> Request:
    """Return the request of `{"version", "request"}`, where `request` is a node or the tree from `QBXML` down.

    A node is `{"name", "attributes", "text" | "children"}`; texts and attributes may be strings,
    numbers or booleans. Children come in any order and are put into the schema's; values become QBXML's
    notation where the schema knows their type (`97.5` an amount of `97.50`). For `validate`,
    `transliterate` and `country` see `parse_request_xml`. Raises InvalidRequest with the JSON pointer
    of all that is wrong.
    """
    members = _object(tree, "", ("version", "request"))
    version = _version(members.get("version"))
    given = members.get("request")
    if given is None:
        _refuse("request is missing.", "/request", 'Write {"request": {"name": "CustomerQueryRq"}}.')
    if isinstance(given, list):
        if len(given) != 1:
            _refuse(f"request is one node or an array with the {ENVELOPE} node alone.", "/request")
        root = _element(given[0], "/request/0", 1 - ENVELOPE_DEPTH)
    else:
        element = _element(given, "/request", 1)
        message_set = Element(MESSAGE_SET, {"onError": DEFAULT_ON_ERROR}, (element,), None, "/request")
        root = Element(ENVELOPE, {}, (message_set,), None, "/request")
    request = request_of(root, version, FIELD)
    request = replace(request, element=fitted(request.element))
    return accepted(request, FIELD, validate=validate, transliterate=transliterate, country=country)


def _refuse(message: str, pointer: str, suggestion: str | None = None) -> NoReturn:
    refuse(FIELD, message, pointer, suggestion=suggestion)


def _object(value: object, pointer: str, names: Iterable[str]) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        _refuse(f"An object is expected, not {_kind(value)}.", pointer)
    for name in value:
        if name not in names:
            _refuse(f"There is no member {name!r} here.", f"{pointer}/{_escaped(name)}", rules.nearest(name, names))
    return value


def _version(value: object) -> str:
    if value is None:
        return DEFAULT_VERSION
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        value = f"{float(value):.1f}"
    if not isinstance(value, str) or not rules.is_version(value):
        _refuse("The QBXML version is not readable.", "/version", 'Write "13.0".')
    return value


def _element(node: object, pointer: str, depth: int) -> Element:
    if depth > rules.MAX_DEPTH:
        _refuse(f"Elements may nest {rules.MAX_DEPTH} deep at most.", pointer)
    members = _object(node, pointer, _NODE_MEMBERS)
    name = members.get("name")
    if name is None:
        _refuse("name is missing.", f"{pointer}/name")
    if not isinstance(name, str) or not rules.is_name(name):
        _refuse("name is the name of a QBXML element.", f"{pointer}/name")
    text = _text(members.get("text"), f"{pointer}/text")
    nodes = members.get("children")
    if not isinstance(nodes, list | None):
        _refuse(f"children is an array, not {_kind(nodes)}.", f"{pointer}/children")
    if nodes and text:
        _refuse("A node has either text or children.", f"{pointer}/text")
    children = tuple(
        _element(child, f"{pointer}/children/{index}", depth + 1) for index, child in enumerate(nodes or ())
    )
    return Element(name, _attributes(members.get("attributes"), f"{pointer}/attributes"), children, text, pointer)


def _attributes(given: object, pointer: str) -> dict[str, str]:
    if given is None:
        return {}
    if not isinstance(given, dict):
        _refuse(f"attributes is an object, not {_kind(given)}.", pointer)
    attributes: dict[str, str] = {}
    for key, value in given.items():
        place = f"{pointer}/{_escaped(key)}"
        name = "requestID" if key == "request_id" else key
        if not rules.is_name(name):
            _refuse(f"{key!r} is no name of an attribute.", place)
        if name in attributes:
            _refuse("request_id and requestID are the same attribute; give one.", place)
        if value is not None:
            attributes[name] = _text(value, place) or ""
    return attributes


def _text(value: object, pointer: str) -> str | None:
    """Return the text of a string, number or boolean; None for null and for the empty string."""
    match value:
        case None:
            return None
        case bool():
            return "true" if value else "false"
        case str():
            text = value
        case int():
            text = str(value)
        case float() | Decimal():
            text = _plain(value, pointer)
        case _:
            _refuse(f"Text is a string, a number or a boolean, not {_kind(value)}.", pointer)
    if (message := rules.bad_character(text)) is not None:
        _refuse(message, pointer)
    return text or None


def _plain(value: float | Decimal, pointer: str) -> str:
    """Return a number in digits without an exponent: `1e3` is `1000`, `97.50` as a float `97.5`."""
    # The shortest digits that mean this float, not the exact binary value behind it.
    number = value if isinstance(value, Decimal) else Decimal(repr(value))
    if not math.isfinite(number):
        _refuse("A number must be finite.", pointer)
    if isinstance(value, float) and number == number.to_integral_value():
        return str(int(number))
    return format(number, "f")


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case str():
            return "a string"
        case list():
            return "an array"
        case dict():
            return "an object"
        case _:
            return "a number"


def _escaped(member: object) -> str:
    """Return a JSON pointer's reference token (RFC 6901, section 3)."""
    return str(member).replace("~", "~0").replace("/", "~1")
