"""Reads a request from JSON (docs/reference/service-contract.md, Requests as JSON)."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NoReturn

from domain.errors import InvalidRequest
from domain.qbxml.request import limits
from domain.qbxml.request.document import DEFAULT_ON_ERROR, DEFAULT_VERSION, ENVELOPE, MESSAGE_SET, Element
from domain.qbxml.request.envelope import ENVELOPE_DEPTH, request_in_envelope
from domain.qbxml.request.normalization import normalized
from domain.qbxml.request.problems import did_you_mean, quoted, refuse
from domain.qbxml.request.validation import validated

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.qbxml.request.document import Request

FIELD = "request_json"

_MEMBERS = frozenset({"version", "request"})
_NODE_MEMBERS = frozenset({"name", "attributes", "text", "children"})

_MAX_VERSION = 99
"""Versions have at most two digits before the point."""

_MAX_POINTER_NAME = 100
"""Characters of a wrong member's name that a JSON pointer repeats."""

_MAX_DIGITS = 400
"""A float has fewer digits than this, but `1e999999` would be a megabyte when written out."""


def parse_request_json(
    tree: object, *, validate: bool = True, transliterate: bool = False, country: str | None = None
) -> Request:
    """Return the request in `{"version", "request"}`.

    `request` is a node or the tree from `QBXML` down, alone or in an array of one. A node is
    `{"name", "attributes", "text" | "children"}`; texts and attributes may be strings, numbers or booleans. Children
    may come in any order, and values are converted to QBXML's notation (`97.5` to `97.50` for an amount). The options
    are those of `parse_request_xml`. Raises InvalidRequest with the JSON pointer of everything that is wrong.
    """

    def request_at(pointer: str | None) -> Request:
        root, version = _read(tree, pointer)
        request = request_in_envelope(root, version, FIELD)
        request = replace(request, element=normalized(request.element))
        return validated(request, FIELD, validate=validate, transliterate=transliterate, country=country)

    try:
        return request_at(None)
    except InvalidRequest:
        # Read it again with pointers, which take much of the time and are rarely needed.
        return request_at("")


def _read(tree: object, pointer: str | None) -> tuple[Element, str]:
    """Return the root element and the version. With `pointer` None the elements have no location."""
    members = _object(tree, pointer, _MEMBERS)
    version = _version(members.get("version"), pointer)
    node, node_pointer = members.get("request"), _below(pointer, "request")
    if node is None:
        _refuse("request is missing.", node_pointer, suggestion='Write {"request": {"name": "CustomerQueryRq"}}.')
    if isinstance(node, list):
        if len(node) != 1:
            _refuse("request must be a node, or an array with one node.", node_pointer)
        (node,), node_pointer = node, _below(node_pointer, "0")
        if _object(node, node_pointer, _NODE_MEMBERS).get("name") == ENVELOPE:
            return _element(node, node_pointer, 1 - ENVELOPE_DEPTH), version
    element = _element(node, node_pointer, 1)
    message_set = Element(MESSAGE_SET, {"onError": DEFAULT_ON_ERROR}, (element,), None, node_pointer)
    return Element(ENVELOPE, {}, (message_set,), None, node_pointer), version


def _refuse(message: str, pointer: str | None, *members: str, suggestion: str | None = None) -> NoReturn:
    refuse(FIELD, message, _below(pointer, *members), suggestion=suggestion)


def _below(pointer: str | None, *members: str) -> str | None:
    """Return the JSON pointer of a member (RFC 6901). Long names are shortened."""
    if pointer is None:
        return None
    names = (member[:_MAX_POINTER_NAME].replace("~", "~0").replace("/", "~1") for member in members)
    return "/".join([pointer, *names])


def _object(value: object, pointer: str | None, names: frozenset[str]) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        _refuse(f"This must be an object, not {_kind(value)}.", pointer)
    if not value.keys() <= names:
        name = next(name for name in value if name not in names)
        _refuse(f"{quoted(name)} is not a member here.", pointer, name, suggestion=did_you_mean(name, names))
    return value


def _version(value: object, pointer: str | None) -> str:
    if value is None:
        return DEFAULT_VERSION
    if isinstance(value, Decimal):
        value = str(value)
    elif isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= _MAX_VERSION:
        value = f"{value:.1f}"
    if not isinstance(value, str) or not limits.is_version(value):
        _refuse("The QBXML version is not valid.", pointer, "version", suggestion='Write "13.0".')
    return value


def _element(node: object, pointer: str | None, depth: int) -> Element:
    if depth > limits.MAX_DEPTH:
        _refuse(f"Elements are nested too deeply; at most {limits.MAX_DEPTH} levels are allowed.", pointer)
    members = _object(node, pointer, _NODE_MEMBERS)
    name = members.get("name")
    if name is None:
        _refuse("name is missing.", pointer, "name")
    if not isinstance(name, str) or not limits.is_name(name):
        _refuse("name must be the name of a QBXML element.", pointer, "name")
    text = _text(members.get("text"), pointer, "text")
    attributes = _attributes(members.get("attributes"), pointer)
    nodes = members.get("children")
    if nodes is None:
        return Element(name, attributes, (), text, pointer)
    if not isinstance(nodes, list):
        _refuse(f"children must be an array, not {_kind(nodes)}.", pointer, "children")
    if nodes and text:
        _refuse("A node has either text or children.", pointer, "text")
    children = [
        _element(child, None if pointer is None else f"{pointer}/children/{index}", depth + 1)
        for index, child in enumerate(nodes)
    ]
    return Element(name, attributes, tuple(children), text, pointer)


def _attributes(members: object, pointer: str | None) -> dict[str, str]:
    if members is None:
        return {}
    if not isinstance(members, dict):
        _refuse(f"attributes must be an object, not {_kind(members)}.", pointer, "attributes")
    attributes: dict[str, str] = {}
    for key, value in members.items():
        name = "requestID" if key == "request_id" else key
        if not limits.is_name(name):
            _refuse(f"{quoted(key)} is not the name of an attribute.", pointer, "attributes", key)
        if name in attributes:
            message = "request_id and requestID are the same attribute; send only one of them."
            _refuse(message, pointer, "attributes", key)
        if value is not None:
            attributes[name] = _text(value, pointer, "attributes", key) or ""
    return attributes


def _text(value: object, pointer: str | None, *members: str) -> str | None:
    """Return the text of a string, number or boolean; None for null and for the empty string."""
    if value is None:
        return None
    if isinstance(value, str):
        if (message := limits.bad_character_message(value)) is not None:
            _refuse(message, pointer, *members)
        return value or None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float | Decimal):
        text = _digits(value)
        if text is None:
            _refuse("The number has too many digits.", pointer, *members)
        return text
    _refuse(f"Text must be a string, a number or a boolean, not {_kind(value)}.", pointer, *members)


def _digits(value: float | Decimal) -> str | None:
    """Return a number without an exponent (`1e3` as `1000`), None when it is not finite or too long."""
    # `repr` gives the shortest digits that mean this float, not its exact binary value.
    number = value if isinstance(value, Decimal) else Decimal(repr(value) if isinstance(value, float) else value)
    if not number.is_finite() or abs(number.adjusted()) > _MAX_DIGITS:
        return None
    if not isinstance(value, Decimal) and number == number.to_integral_value():
        return str(int(number))
    return format(number, "f")


_KINDS = {type(None): "null", bool: "a boolean", str: "a string", list: "an array", dict: "an object"}


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "a number")
