"""The envelope of a request: `QBXML`, `QBXMLMsgsRq` and exactly one request."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from domain.qbxml.request import limits
from domain.qbxml.request.document import DEFAULT_ON_ERROR, ENVELOPE, MESSAGE_SET, Element, Request
from domain.qbxml.request.problems import did_you_mean, quoted, refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.qbxml.request.document import Location

ENVELOPE_DEPTH = 2
"""The number of elements around the request element."""

_MESSAGE_SET_PATH = f"{ENVELOPE}/{MESSAGE_SET}"

_QUEUE_SEPARATELY = "Queue each request separately. Requests are sent in the order in which they are queued."

_ATTRIBUTE_VALUES = {"onError": limits.ON_ERROR, "responseData": limits.RESPONSE_DATA}
_RESERVED_ATTRIBUTES = ("newMessageSetID", "oldMessageSetID")


def request_in_envelope(root: Element, version: str, field: str) -> Request:
    """Return the request in a tree that starts at `QBXML`.

    Raises InvalidRequest unless the tree contains exactly one message set with one request. Also raises it if the
    tree sets a value that only the service may set.
    """
    if root.name != ENVELOPE:
        suggestion = _how_to_write(root) if root.name.endswith("Rq") else did_you_mean(root.name, [ENVELOPE])
        message = f"The outermost element must be {ENVELOPE}, not {root.name}."
        refuse(field, message, root.location, root.name, suggestion)
    if root.attributes or (root.text or "").strip():
        refuse(field, f"{ENVELOPE} must not have attributes or text.", root.location, ENVELOPE)
    for child in root.children:
        if child.name != MESSAGE_SET:
            _refuse_in_envelope(child, field)
    if len(root.children) != 1:
        suggestion = _QUEUE_SEPARATELY if root.children else _how_to_write(None)
        message = f"{ENVELOPE} must contain exactly one {MESSAGE_SET}."
        refuse(field, message, _second_location(root), ENVELOPE, suggestion)
    message_set = root.children[0]
    attributes = _message_set_attributes(message_set, field)
    if (message_set.text or "").strip():
        message = f"{MESSAGE_SET} must contain a request, not text."
        refuse(field, message, message_set.location, _MESSAGE_SET_PATH)
    if (count := len(message_set.children)) != 1:
        message = f"{MESSAGE_SET} must contain exactly one request, not {count}."
        suggestion = _QUEUE_SEPARATELY if count else None
        refuse(field, message, _second_location(message_set), _MESSAGE_SET_PATH, suggestion)
    element = message_set.children[0]
    if not element.name.endswith("Rq"):
        message = f"{element.name} is not a request. The name of a request ends in Rq."
        refuse(field, message, element.location, element.name)
    if (element.text or "").strip():
        refuse(field, f"{element.name} must contain elements, not text.", element.location, element.name)
    return Request(version, attributes["onError"], element._replace(text=None), attributes.get("responseData"))


def _second_location(parent: Element) -> Location:
    """Return the location of the second child, or of the parent if there is no second child."""
    children: Sequence[Element] = parent.children
    return children[1].location if children else parent.location


def _refuse_in_envelope(child: Element, field: str) -> NoReturn:
    path = f"{ENVELOPE}/{child.name}"
    if child.name == "SignonMsgsRq":
        message = "SignonMsgsRq is for the former online edition. The Web Connector signs on by itself."
        refuse(field, message, child.location, path, "Remove SignonMsgsRq.")
    suggestion = _how_to_write(child) if child.name.endswith("Rq") else None
    refuse(field, f"{ENVELOPE} must contain {MESSAGE_SET}, not {child.name}.", child.location, path, suggestion)


def _how_to_write(element: Element | None) -> str:
    """Return a suggestion for the correct envelope. It contains the element's name if the element is a request."""
    if element is not None and element.name == MESSAGE_SET:
        return f"Write <{ENVELOPE}> around it."
    name = "CustomerQueryRq" if element is None else element.name
    start = f'<{ENVELOPE}><{MESSAGE_SET} onError="{DEFAULT_ON_ERROR}">'
    return f"Write {start}<{name}>…</{name}></{MESSAGE_SET}></{ENVELOPE}>."


def _message_set_attributes(message_set: Element, field: str) -> dict[str, str]:
    attributes = {"onError": DEFAULT_ON_ERROR, **message_set.attributes}
    for name, value in attributes.items():
        location, path = message_set.location, f"{_MESSAGE_SET_PATH}/@{name}"
        if name in _RESERVED_ATTRIBUTES:
            message = f"Remove {name}: the service sets it to recover lost responses."
            refuse(field, message, location, path)
        if (values := _ATTRIBUTE_VALUES.get(name)) is None:
            message = f"{MESSAGE_SET} has no attribute {name}."
            refuse(field, message, location, path, did_you_mean(name, _ATTRIBUTE_VALUES))
        if value not in values:
            message = f"{name} must be one of {', '.join(values)}, not {quoted(value)}."
            refuse(field, message, location, path, did_you_mean(value, values))
    return attributes
