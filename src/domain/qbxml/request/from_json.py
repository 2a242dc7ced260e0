"""Reads a request from JSON (docs/reference/service-contract.md, Requests as JSON)."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NoReturn

from domain.qbxml.request import limits
from domain.qbxml.request.document import DEFAULT_ON_ERROR, DEFAULT_VERSION, ENVELOPE, MESSAGE_SET, Element
from domain.qbxml.request.envelope import ENVELOPE_DEPTH, request_in_envelope
from domain.qbxml.request.normalization import normalized
from domain.qbxml.request.problems import did_you_mean, quoted, refuse
from domain.qbxml.request.validation import validated

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from domain.qbxml.request.document import Request

FIELD = "request_json"

_MEMBERS = frozenset({"version", "request"})
_NODE_MEMBERS = frozenset({"name", "attributes", "text", "children"})

_MAX_VERSION = 99
"""The highest number before the point. A version has at most two digits there."""

_MAX_POINTER_NAME = 100
"""The maximum characters of an invalid member's name that a JSON pointer repeats."""

_MAX_DIGITS = 400
"""A float has fewer digits than this, but `1e999999` would be a megabyte when written out."""


def parse_request_json(
    tree: object,
    default_version: str = DEFAULT_VERSION,
    *,
    validate: bool = True,
    transliterate: bool = False,
    country: str | None = None,
) -> Request:
    """Return the request in `{"version", "request"}`, or in the shorter form of `response_json`.

    The shorter form is `{"CustomerQueryRq": {"@requestID": "1", "MaxReturned": 5}}`, with or without `version`.
    Attributes start with `@`, an element that repeats is an array, and the text of an element with attributes is
    `#text`.

    `request` is either a node or the whole tree from `QBXML` down. It may be wrapped in an array of one. A node is
    `{"name", "attributes", "text" | "children"}`. Texts and attributes may be strings, numbers or booleans. Children
    may come in any order. Values are converted to QBXML's notation (`97.5` to `97.50` for an amount). The options
    are those of `parse_request_xml`. Raises InvalidRequest with the JSON pointer of every problem.
    """
    root, version = _read(tree)
    request = request_in_envelope(root, version or default_version, FIELD)
    request = replace(request, element=normalized(request.element))
    return validated(request, FIELD, validate=validate, transliterate=transliterate, country=country)


def _read(tree: object) -> tuple[Element, str | None]:
    """Return the root element, and the version if present."""
    rest = iter(range(limits.MAX_ELEMENTS))
    if isinstance(tree, dict) and len(names := [*tree.keys() - {"version"}]) == 1 and names[0].endswith("Rq"):
        (name,) = names
        pointer = f"/{name}"
        element = _short_element(name, tree[name], pointer, 1, rest)
        return _enveloped(element, pointer), _version(tree.get("version"))
    members = _object(tree, "", _MEMBERS)
    version = _version(members.get("version"))
    node, pointer = members.get("request"), "/request"
    if node is None:
        _refuse("request is missing.", pointer, suggestion='Write {"request": {"name": "CustomerQueryRq"}}.')
    if isinstance(node, list):
        if len(node) != 1:
            _refuse("request must be a node, or an array with one node.", pointer)
        (node,), pointer = node, "/request/0"
        if _object(node, pointer, _NODE_MEMBERS).get("name") == ENVELOPE:
            return _element(node, pointer, 1 - ENVELOPE_DEPTH, rest), version
    return _enveloped(_element(node, pointer, 1, rest), pointer), version


def _enveloped(element: Element, pointer: str) -> Element:
    message_set = Element(MESSAGE_SET, {"onError": DEFAULT_ON_ERROR}, (element,), None, pointer)
    return Element(ENVELOPE, {}, (message_set,), None, pointer)


def _refuse(message: str, pointer: str, *members: str, suggestion: str | None = None) -> NoReturn:
    """Raise InvalidRequest for a member, with its JSON pointer (RFC 6901). Long names are shortened."""
    names = (member[:_MAX_POINTER_NAME].replace("~", "~0").replace("/", "~1") for member in members)
    refuse(FIELD, message, "/".join([pointer, *names]), suggestion=suggestion)


def _object(value: object, pointer: str, names: frozenset[str]) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        _refuse(f"This must be an object, not {_kind(value)}.", pointer)
    if not value.keys() <= names:
        name = next(name for name in value if name not in names)
        _refuse(f"{quoted(name)} is not a member of this object.", pointer, name, suggestion=did_you_mean(name, names))
    return value


def _version(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, Decimal):
        value = str(value)
    elif isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= _MAX_VERSION:
        value = f"{value:.1f}"
    if not isinstance(value, str) or not limits.is_version(value):
        _refuse("The QBXML version is not valid.", "/version", suggestion='Write "13.0".')
    return value


def _check_limits(pointer: str, depth: int, rest: Iterator[int]) -> None:
    """Refuse an element that is too deep, or one too many. `rest` yields an item for each element that is allowed."""
    if depth > limits.MAX_DEPTH:
        _refuse(f"Elements are nested too deeply; at most {limits.MAX_DEPTH} levels are allowed.", pointer)
    if next(rest, None) is None:
        _refuse(limits.TOO_MANY_ELEMENTS, pointer, suggestion=limits.FEWER_ELEMENTS)


def _element(node: object, pointer: str, depth: int, rest: Iterator[int]) -> Element:
    _check_limits(pointer, depth, rest)
    members = _object(node, pointer, _NODE_MEMBERS)
    name = members.get("name")
    if name is None:
        _refuse("name is missing.", pointer, "name")
    if not isinstance(name, str) or not limits.is_name(name):
        _refuse("name must be the name of a QBXML element.", pointer, "name")
    text = _text(members.get("text"), pointer, "text")
    attributes = _attributes(members["attributes"], pointer) if "attributes" in members else {}
    nodes = members.get("children")
    if nodes is None:
        return Element(name, attributes, (), text, pointer)
    if not isinstance(nodes, list):
        _refuse(f"children must be an array, not {_kind(nodes)}.", pointer, "children")
    if nodes and text:
        _refuse("A node has either text or children.", pointer, "text")
    children = [_element(child, f"{pointer}/children/{index}", depth + 1, rest) for index, child in enumerate(nodes)]
    return Element(name, attributes, tuple(children), text, pointer)


def _short_element(name: str, value: object, pointer: str, depth: int, rest: Iterator[int]) -> Element:
    """Return an element from the shorter form, which is the form of `response_json`."""
    _check_limits(pointer, depth, rest)
    if not limits.is_name(name):
        _refuse(f"{quoted(name)} is not the name of a QBXML element.", pointer)
    if not isinstance(value, dict):
        return Element(name, {}, (), _text(value, pointer), pointer)
    attributes: dict[str, str] = {}
    children: list[Element] = []
    for key, member in value.items():
        if key == "#text":
            continue
        if key.startswith("@"):
            if not limits.is_name(key[1:]):
                _refuse(f"{quoted(key[1:])} is not an attribute name.", pointer, key)
            attributes[key[1:]] = _text(member, pointer, key) or ""
            continue
        below = f"{pointer}/{key[:_MAX_POINTER_NAME].replace('~', '~0').replace('/', '~1')}"
        if isinstance(member, list):
            items = enumerate(member)
            children += [_short_element(key, item, f"{below}/{index}", depth + 1, rest) for index, item in items]
        else:
            children.append(_short_element(key, member, below, depth + 1, rest))
    text = _text(value.get("#text"), pointer, "#text")
    if text and children:
        _refuse("An element has either text or children.", pointer, "#text")
    return Element(name, attributes, tuple(children), text, pointer)


def _attributes(members: object, pointer: str) -> dict[str, str]:
    if members is None:
        return {}
    if not isinstance(members, dict):
        _refuse(f"attributes must be an object, not {_kind(members)}.", pointer, "attributes")
    attributes: dict[str, str] = {}
    for key, value in members.items():
        name = "requestID" if key == "request_id" else key
        if not limits.is_name(name):
            _refuse(f"{quoted(key)} is not an attribute name.", pointer, "attributes", key)
        if name in attributes:
            message = "request_id and requestID are the same attribute; send only one of them."
            _refuse(message, pointer, "attributes", key)
        if value is not None:
            attributes[name] = _text(value, pointer, "attributes", key) or ""
    return attributes


def _text(value: object, pointer: str, *members: str) -> str | None:
    """Return a string, number or boolean as text, or None for null and the empty string."""
    if value is None:
        return None
    if isinstance(value, str):
        if limits.find_bad_character(value):
            _refuse(limits.bad_character_message(value) or "", pointer, *members)
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
    """Return a number without an exponent (`1e3` as `1000`), or None if it is not finite or is too long."""
    # `repr` returns the shortest digits that identify this float, not its exact binary value.
    number = value if isinstance(value, Decimal) else Decimal(repr(value) if isinstance(value, float) else value)
    if not number.is_finite() or abs(number.adjusted()) > _MAX_DIGITS:
        return None
    if not isinstance(value, Decimal) and number == number.to_integral_value():
        return str(int(number))
    return format(number, "f")


_KINDS = {type(None): "null", bool: "a boolean", str: "a string", list: "an array", dict: "an object"}


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "a number")
