"""Reads a request from JSON (docs/reference/service-contract.md, Requests as JSON)."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, NoReturn
from xml.etree.ElementTree import Element, SubElement

from domain.qbxml.request import limits
from domain.qbxml.request.document import DEFAULT_ON_ERROR, DEFAULT_VERSION, ENVELOPE, MESSAGE_SET
from domain.qbxml.request.envelope import ENVELOPE_DEPTH, QUEUE_SEPARATELY, meant_request, request_in_envelope
from domain.qbxml.request.normalization import normalize
from domain.qbxml.request.other_names import BESIDE_THE_REQUEST
from domain.qbxml.request.problems import Source, quoted
from domain.qbxml.request.validation import validated
from domain.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from domain.qbxml.request.document import Request

FIELD = "request_json"

_MEMBERS = frozenset({"version", "request"})
_NODE_MEMBERS = frozenset({"name", "attributes", "text", "children"})

_ENVELOPE_NAMES = frozenset({ENVELOPE, MESSAGE_SET})

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
    `#text`. Null is refused as a value. An attribute that is null is like one that is absent.

    `request` is either a node or the whole tree from `QBXML` down. It may be wrapped in an array of one. A node is
    `{"name", "attributes", "text" | "children"}`. Texts and attributes may be strings, numbers or booleans. Children
    may come in any order. Values are converted to QBXML's notation (`97.5` to `97.50` for an amount). The options
    are those of `parse_request_xml`. Raises InvalidRequest with the JSON pointer of every problem.
    """
    source = Source(FIELD)
    root, version = _TreeReader(source).read(tree)
    request = request_in_envelope(root, version or default_version, source)
    normalize(request.element)
    return validated(request, validate=validate, transliterate=transliterate, country=country)


class _TreeReader:
    """Builds the elements from either form of a JSON request."""

    def __init__(self, source: Source) -> None:
        self._locations = source.locations

    def read(self, tree: object) -> tuple[Element, str | None]:
        """Return the root element, and the version if present."""
        name = _short_request_name(tree)
        if name is not None and isinstance(tree, dict):
            element = self._short_element(name, tree[name], f"/{name}", 1)
            return self._enveloped(element), _version(tree.get("version"))
        members = _object(tree, "", _MEMBERS)
        version = _version(members.get("version"))
        node, pointer = members.get("request"), "/request"
        if node is None:
            _refuse("The request is missing.", pointer, suggestion='Write {"CustomerQueryRq": {"MaxReturned": 5}}.')
        if isinstance(node, list):
            if len(node) != 1:
                _refuse("request must be a node, or an array with one node.", pointer)
            (node,), pointer = node, "/request/0"
            if _object(node, pointer, _NODE_MEMBERS).get("name") == ENVELOPE:
                return self._element(node, pointer, 1 - ENVELOPE_DEPTH), version
        return self._enveloped(self._element(node, pointer, 1)), version

    def _enveloped(self, request: Element) -> Element:
        root = Element(ENVELOPE)
        message_set = SubElement(root, MESSAGE_SET, onError=DEFAULT_ON_ERROR)
        message_set.append(request)
        self._locations[root] = self._locations[message_set] = self._locations[request]
        return root

    def _check_limits(self, pointer: str, depth: int) -> None:
        if depth > limits.MAX_DEPTH:
            _refuse(f"Elements are nested too deeply; at most {limits.MAX_DEPTH} levels are allowed.", pointer)
        if len(self._locations) >= limits.MAX_ELEMENTS:
            _refuse(limits.TOO_MANY_ELEMENTS, pointer, suggestion=limits.FEWER_ELEMENTS)

    def _element(self, node: object, pointer: str, depth: int) -> Element:
        self._check_limits(pointer, depth)
        members = _object(node, pointer, _NODE_MEMBERS)
        name = members.get("name")
        if name is None:
            _refuse("name is missing.", pointer, "name")
        if not isinstance(name, str) or not limits.is_name(name):
            _refuse("name must be the name of a QBXML element.", pointer, "name")
        element = Element(name)
        self._locations[element] = pointer
        nodes = members.get("children")
        if "text" in members:
            # A request without fields holds no value that null could clear.
            read = _text if nodes or depth == 1 else _value
            element.text = read(members["text"], pointer, "text")
        if "attributes" in members:
            element.attrib = _attributes(members["attributes"], pointer)
        if nodes is None:
            return element
        if not isinstance(nodes, list):
            _refuse(f"children must be an array, not {_kind(nodes)}.", pointer, "children")
        if nodes and element.text:
            _refuse("A node has either text or children.", pointer, "text")
        for index, child in enumerate(nodes):
            element.append(self._element(child, f"{pointer}/children/{index}", depth + 1))
        return element

    def _short_element(self, name: str, value: object, pointer: str, depth: int) -> Element:
        """Return an element from the shorter form, which is the form of `response_json`."""
        self._check_limits(pointer, depth)
        if not limits.is_name(name):
            how = (
                "Only the requests of a batch can refer to others: POST …/queued_requests/batch."
                if name == "$from"
                else None
            )
            _refuse(f"{quoted(name)} is not the name of a QBXML element.", pointer, suggestion=how)
        element = Element(name)
        self._locations[element] = pointer
        if not isinstance(value, dict):
            # A request without fields holds no value that null could clear.
            element.text = _text(value, pointer) if depth == 1 else _value(value, pointer)
            return element
        for key, member in value.items():
            if key.startswith("@"):
                _set_short_attribute(element, key, member, pointer)
            elif key != "#text":
                self._append_short_elements(element, key, member, _pointer(pointer, key), depth + 1)
        if "#text" in value:
            read = _text if len(element) else _value
            element.text = read(value["#text"], pointer, "#text")
        if element.text and len(element):
            _refuse("An element has either text or children.", pointer, "#text")
        return element

    def _append_short_elements(self, parent: Element, name: str, member: object, pointer: str, depth: int) -> None:
        """Append the element of a member, or the elements of an array."""
        if isinstance(member, list):
            for index, item in enumerate(member):
                parent.append(self._short_element(name, item, f"{pointer}/{index}", depth))
        else:
            parent.append(self._short_element(name, member, pointer, depth))


def _set_short_attribute(element: Element, key: str, value: object, pointer: str) -> None:
    """Set the attribute of a member such as `@requestID`. Null is like an absent member."""
    name = key[1:]
    if not limits.is_name(name):
        _refuse(f"{quoted(name)} is not an attribute name.", pointer, key)
    if value is not None:
        element.set(name, _text(value, pointer, key) or "")


def _short_request_name(tree: object) -> str | None:
    """Return the name of the request in the shorter form, or None if `tree` is an object in another form.

    Raises InvalidRequest for what callers often write in place of one request, and says what to write.
    """
    if isinstance(tree, list):
        _refuse("This must be one request, not an array.", "", suggestion=QUEUE_SEPARATELY)
    if isinstance(tree, str):
        suggestion = "Send QBXML as request_xml." if tree.lstrip().startswith("<") else "Send JSON, not its text."
        _refuse("This must be an object, not a string.", "", suggestion=suggestion)
    if not isinstance(tree, dict):
        return None
    names: list[str] = [name for name in tree if name not in _MEMBERS]
    requests = [name for name in names if name.endswith("Rq") and name != MESSAGE_SET]
    if len(requests) > 1:
        message = f"This must have one request, not {len(requests)}."
        _refuse(message, "", requests[1], suggestion=QUEUE_SEPARATELY)
    if len(requests) == len(names) == 1 and "request" not in tree:
        return requests[0]
    for name in names:
        if name not in requests:
            _refuse_member(name, requests)
    if "request" not in tree and names:
        suggestion = 'Write {"CustomerQueryRq": {"MaxReturned": 5}}, for example.'
        _refuse(f"{quoted(names[0])} is not a request.", "", names[0], suggestion=suggestion)
    return None


def _refuse_member(name: str, requests: Sequence[str]) -> None:
    """Raise InvalidRequest for a member of the shorter form that is not a request, if it is known what is meant."""
    if name in BESIDE_THE_REQUEST:
        _refuse(f"{name} is not part of a request.", "", name, suggestion=f"Write {name} beside {FIELD}, not in it.")
    if name in _ENVELOPE_NAMES:
        suggestion = 'Write only the request, for example {"CustomerQueryRq": {"MaxReturned": 5}}.'
        _refuse(f"{name} is not needed.", "", name, suggestion=suggestion)
    if name in _NODE_MEMBERS:
        _refuse(f"{name} is a member of a node.", "", name, suggestion='Write {"request": {"name": …}}.')
    if requests:
        message = f"{quoted(name)} is not a member beside a request."
        _refuse(message, "", name, suggestion=f"Write it inside {requests[0]}.")
    if meant := meant_request(name):
        _refuse(f"{name} is not a request. The name of a request ends in Rq.", "", name, suggestion=meant)


def _pointer(pointer: str, *members: str) -> str:
    """Return the JSON pointer (RFC 6901) of a member. Long names are shortened."""
    return "/".join(
        [pointer, *(member[:_MAX_POINTER_NAME].replace("~", "~0").replace("/", "~1") for member in members)]
    )


def _refuse(message: str, pointer: str, *members: str, suggestion: str | None = None) -> NoReturn:
    """Raise InvalidRequest for a member."""
    Source(FIELD).refuse(message, _pointer(pointer, *members), suggestion=suggestion)


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


def _value(value: object, pointer: str, *members: str) -> str | None:
    """Return the text of a field. Null is refused, because QuickBooks clears a field whose element is empty."""
    if value is None:
        suggestion = 'Leave it out to keep the value, or write "" to clear it.'
        _refuse("A value must not be null.", pointer, *members, suggestion=suggestion)
    return _text(value, pointer, *members)


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
