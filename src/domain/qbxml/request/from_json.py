"""From the JSON tree of a request (contract §5) to the request."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NoReturn

from domain.errors import InvalidRequest
from domain.qbxml.request import limits
from domain.qbxml.request.acceptance import accepted
from domain.qbxml.request.document import DEFAULT_ON_ERROR, DEFAULT_VERSION, ENVELOPE, MESSAGE_SET, Element
from domain.qbxml.request.envelope import ENVELOPE_DEPTH, refuse, request_of
from domain.qbxml.request.fitting import fitted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.qbxml.request.document import Request

FIELD = "request_json"

_MEMBERS = frozenset({"version", "request"})
_NODE_MEMBERS = frozenset({"name", "attributes", "text", "children"})

_VERSIONS_END = 100
"""Versions have two digits before the point."""

_MAX_NAME_LENGTH = 100
"""Characters of a wrong member's name that a pointer repeats."""

_MAX_DIGITS = 400
"""More digits than a float can have (1e308): `1e999999` would be written as a megabyte."""


def parse_request_json(
    tree: object, *, validate: bool = True, transliterate: bool = False, country: str | None = None
) -> Request:
    """Return the request of `{"version", "request"}`, where `request` is a node or the tree from `QBXML` down.

    An array with one of either is what client-side builders send. A node is
    `{"name", "attributes", "text" | "children"}`; texts and attributes may be strings, numbers or
    booleans. Children come in any order and are put into the schema's; values become QBXML's notation
    where the schema knows their type (`97.5` an amount of `97.50`). For `validate`, `transliterate`
    and `country` see `parse_request_xml`. Raises InvalidRequest with the JSON pointer of all that is
    wrong.
    """

    def request_in(pointer: str | None) -> Request:
        root, version = _read(tree, pointer)
        request = request_of(root, version, FIELD)
        request = replace(request, element=fitted(request.element))
        return accepted(request, FIELD, validate=validate, transliterate=transliterate, country=country)

    try:
        return request_in(None)
    except InvalidRequest:
        # Read once more, for the pointers: they cost much of the time, and few requests need any.
        return request_in("")


def _read(tree: object, pointer: str | None) -> tuple[Element, str]:
    """Return the root element and the version. With `pointer` None no element knows its place."""
    members = _object(tree, pointer, _MEMBERS)
    version = _version(members.get("version"), pointer)
    given = members.get("request")
    place = _below(pointer, "request")
    if given is None:
        _refuse("request is missing.", place, suggestion='Write {"request": {"name": "CustomerQueryRq"}}.')
    if isinstance(given, list):
        if len(given) != 1:
            _refuse(f"request is one node or an array with the {ENVELOPE} node alone.", place)
        place = _below(place, "0")
        (given,) = given
        if _object(given, place, _NODE_MEMBERS).get("name") == ENVELOPE:
            return _element(given, place, 1 - ENVELOPE_DEPTH), version
    element = _element(given, place, 1)
    message_set = Element(MESSAGE_SET, {"onError": DEFAULT_ON_ERROR}, (element,), None, place)
    return Element(ENVELOPE, {}, (message_set,), None, place), version


def _refuse(message: str, pointer: str | None, *members: str, suggestion: str | None = None) -> NoReturn:
    refuse(FIELD, message, _below(pointer, *members), suggestion=suggestion)


def _below(pointer: str | None, *members: str) -> str | None:
    """Return the JSON pointer of a member (RFC 6901); endless names are cut."""
    if pointer is None:
        return None
    return "/".join([pointer, *(member[:_MAX_NAME_LENGTH].replace("~", "~0").replace("/", "~1") for member in members)])


def _object(value: object, pointer: str | None, names: frozenset[str]) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        _refuse(f"An object is expected, not {_kind(value)}.", pointer)
    if not value.keys() <= names:
        name = next(name for name in value if name not in names)
        _refuse(f"There is no member {limits.shown(name)} here.", pointer, name, suggestion=limits.nearest(name, names))
    return value


def _version(value: object, pointer: str | None) -> str:
    if value is None:
        return DEFAULT_VERSION
    if isinstance(value, Decimal):
        value = str(value)
    elif isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < _VERSIONS_END:
        value = f"{value:.1f}"
    if not isinstance(value, str) or not limits.is_version(value):
        _refuse("The QBXML version is not readable.", pointer, "version", suggestion='Write "13.0".')
    return value


def _element(node: object, pointer: str | None, depth: int) -> Element:
    if depth > limits.MAX_DEPTH:
        _refuse(f"Elements may nest {limits.MAX_DEPTH} deep at most.", pointer)
    members = _object(node, pointer, _NODE_MEMBERS)
    name = members.get("name")
    if name is None:
        _refuse("name is missing.", pointer, "name")
    if not isinstance(name, str) or not limits.is_name(name):
        _refuse("name is the name of a QBXML element.", pointer, "name")
    text = _text(members.get("text"), pointer, "text")
    nodes = members.get("children")
    given = members.get("attributes")
    attributes = {} if given is None else _attributes(given, pointer)
    if nodes is None:
        return Element(name, attributes, (), text, pointer)
    if not isinstance(nodes, list):
        _refuse(f"children is an array, not {_kind(nodes)}.", pointer, "children")
    if nodes and text:
        _refuse("A node has either text or children.", pointer, "text")
    children = [
        _element(child, None if pointer is None else f"{pointer}/children/{index}", depth + 1)
        for index, child in enumerate(nodes)
    ]
    return Element(name, attributes, tuple(children), text, pointer)


def _attributes(given: object, pointer: str | None) -> dict[str, str]:
    if not isinstance(given, dict):
        _refuse(f"attributes is an object, not {_kind(given)}.", pointer, "attributes")
    attributes: dict[str, str] = {}
    for key, value in given.items():
        name = "requestID" if key == "request_id" else key
        if not limits.is_name(name):
            _refuse(f"{limits.shown(key)} is no name of an attribute.", pointer, "attributes", key)
        if name in attributes:
            _refuse("request_id and requestID are the same attribute; give one.", pointer, "attributes", key)
        if value is not None:
            attributes[name] = _text(value, pointer, "attributes", key) or ""
    return attributes


def _text(value: object, pointer: str | None, *members: str) -> str | None:
    """Return the text of a string, number or boolean; None for null and for the empty string."""
    if value is None:
        return None
    if isinstance(value, str):
        if (message := limits.bad_character(value)) is not None:
            _refuse(message, pointer, *members)
        return value or None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float | Decimal):
        text = _plain(value)
        if text is None:
            _refuse("This number is too great to be written out.", pointer, *members)
        return text
    _refuse(f"Text is a string, a number or a boolean, not {_kind(value)}.", pointer, *members)


def _plain(value: float | Decimal) -> str | None:
    """Return a number in digits without an exponent: `1e3` is `1000`, `97.50` as a float `97.5`.

    None for what is not finite or has a great many digits.
    """
    # The shortest digits that mean this float, not the exact binary value behind it.
    number = value if isinstance(value, Decimal) else Decimal(repr(value) if isinstance(value, float) else value)
    if not number.is_finite() or abs(number.adjusted()) > _MAX_DIGITS:
        return None
    if not isinstance(value, Decimal) and number == number.to_integral_value():
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
