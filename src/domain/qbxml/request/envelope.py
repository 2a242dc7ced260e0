"""The envelope of a request: `QBXML`, `QBXMLMsgsRq` and exactly one request."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from domain.qbxml.request import limits
from domain.qbxml.request.document import DEFAULT_ON_ERROR, ENVELOPE, MESSAGE_SET, Request
from domain.qbxml.request.problems import quoted
from domain.qbxml.request.request_names import suggested_request
from domain.qbxml.schema.content_models import request_model
from domain.suggestions import did_you_mean

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from domain.qbxml.request.problems import Source

ENVELOPE_DEPTH = 2
"""The number of elements around the request element."""

_MESSAGE_SET_PATH = f"{ENVELOPE}/{MESSAGE_SET}"

QUEUE_SEPARATELY = "Queue each request separately. Requests are sent in the order in which they are queued."

_ATTRIBUTE_VALUES = {"onError": limits.ON_ERROR, "responseData": limits.RESPONSE_DATA}
_RESERVED_ATTRIBUTES = ("newMessageSetID", "oldMessageSetID")


def request_in_envelope(root: Element, version: str, source: Source) -> Request:
    """Return the request in a tree that starts at `QBXML`.

    Raises InvalidRequest unless the tree contains exactly one message set with one request. Also raises it if the
    tree sets a value that only the service may set.
    """
    if root.tag != ENVELOPE:
        suggestion = did_you_mean(root.tag, [ENVELOPE]) or meant_request(root.tag)
        suggestion = _how_to_write(root.tag) if root.tag.endswith("Rq") else suggestion
        message = f"The outermost element must be {ENVELOPE}, not {root.tag}."
        source.refuse(message, root, root.tag, suggestion)
    if root.keys() or (root.text or "").strip():
        source.refuse(f"{ENVELOPE} must not have attributes or text.", root, ENVELOPE)
    for child in root:
        if child.tag != MESSAGE_SET:
            _refuse_in_envelope(child, source)
    if len(root) != 1:
        suggestion = QUEUE_SEPARATELY if len(root) else _how_to_write("CustomerQueryRq")
        message = f"{ENVELOPE} must contain exactly one {MESSAGE_SET}."
        source.refuse(message, _second(root), ENVELOPE, suggestion)
    message_set = root[0]
    attributes = _message_set_attributes(message_set, source)
    if (message_set.text or "").strip():
        message = f"{MESSAGE_SET} must contain a request, not text."
        source.refuse(message, message_set, _MESSAGE_SET_PATH)
    if (count := len(message_set)) != 1:
        message = f"{MESSAGE_SET} must contain exactly one request, not {count}."
        suggestion = QUEUE_SEPARATELY if count else None
        source.refuse(message, _second(message_set), _MESSAGE_SET_PATH, suggestion)
    element = message_set[0]
    if not element.tag.endswith("Rq"):
        message = f"{element.tag} is not a request. The name of a request ends in Rq."
        source.refuse(message, element, element.tag, meant_request(element.tag))
    if (element.text or "").strip():
        source.refuse(f"{element.tag} must contain elements, not text.", element, element.tag)
    element.text = None
    return Request(version, attributes["onError"], element, attributes.get("responseData"), source)


def meant_request(name: str) -> str | None:
    """Return a suggestion for a name that is not a request, such as CustomerAdd, or None if it resembles none."""
    model = request_model(f"{name}Rq")
    if model is None:
        return suggested_request(name)
    inner = f'{{"{name}": {{…}}}}' if name in model.content.rules else "{…}"
    return f'Did you mean {name}Rq? In JSON, write {{"{name}Rq": {inner}}}.'


def _second(parent: Element) -> Element:
    """Return the second child, or the parent if there is no second child."""
    return parent[1] if len(parent) > 1 else parent


def _refuse_in_envelope(child: Element, source: Source) -> NoReturn:
    path = f"{ENVELOPE}/{child.tag}"
    if child.tag == "SignonMsgsRq":
        message = "SignonMsgsRq is for the former online edition. The Web Connector signs on by itself."
        source.refuse(message, child, path, "Remove SignonMsgsRq.")
    suggestion = _how_to_write(child.tag) if child.tag.endswith("Rq") else None
    source.refuse(f"{ENVELOPE} must contain {MESSAGE_SET}, not {child.tag}.", child, path, suggestion)


def _how_to_write(name: str) -> str:
    """Return a suggestion for the correct envelope of an element."""
    if name == MESSAGE_SET:
        return f"Write <{ENVELOPE}> around it."
    start = f'<{ENVELOPE}><{MESSAGE_SET} onError="{DEFAULT_ON_ERROR}">'
    return f"Write {start}<{name}>…</{name}></{MESSAGE_SET}></{ENVELOPE}>."


def _message_set_attributes(message_set: Element, source: Source) -> dict[str, str]:
    attributes = {"onError": DEFAULT_ON_ERROR, **message_set.attrib}
    for name, value in attributes.items():
        path = f"{_MESSAGE_SET_PATH}/@{name}"
        if name in _RESERVED_ATTRIBUTES:
            message = f"Remove {name}: the service sets it to recover lost responses."
            source.refuse(message, message_set, path)
        if (values := _ATTRIBUTE_VALUES.get(name)) is None:
            message = f"{MESSAGE_SET} has no attribute {name}."
            source.refuse(message, message_set, path, did_you_mean(name, _ATTRIBUTE_VALUES))
        if value not in values:
            message = f"{name} must be one of {', '.join(values)}, not {quoted(value)}."
            source.refuse(message, message_set, path, did_you_mean(value, values))
    return attributes
