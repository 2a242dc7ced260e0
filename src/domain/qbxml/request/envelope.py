"""The envelope around a request, read from a tree of either source."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from domain.errors import InvalidRequest, Problem
from domain.qbxml.request import limits
from domain.qbxml.request.document import DEFAULT_ON_ERROR, ENVELOPE, MESSAGE_SET, Element, Request

if TYPE_CHECKING:
    from domain.qbxml.request.document import Place

ENVELOPE_DEPTH = 2
"""Elements around the request element."""

_SET_PATH = f"{ENVELOPE}/{MESSAGE_SET}"

_ONE_BY_ONE = "Queue each request by itself; they are sent in the order in which they were queued."


def refuse(
    field: str, message: str, place: Place = None, path: str | None = None, suggestion: str | None = None
) -> NoReturn:
    """Raise InvalidRequest for one problem. A JSON pointer is its own path."""
    raise InvalidRequest([problem(field, message, place, path, suggestion)])


def problem(
    field: str, message: str, place: Place = None, path: str | None = None, suggestion: str | None = None
) -> Problem:
    """Return the problem with its place in XML (line, column, path) or in JSON (pointer)."""
    if isinstance(place, str):
        return Problem(field, message, path=place, suggestion=suggestion)
    line, column = place or (None, None)
    return Problem(field, message, line, column, path, suggestion)


def request_of(root: Element, version: str, field: str) -> Request:
    """Return the request in a tree from `QBXML` down.

    Raises InvalidRequest unless it holds one message set with one request, and nothing that this
    service sets itself.
    """
    if root.name != ENVELOPE:
        suggestion = _envelope_of(root) if root.name.endswith("Rq") else limits.nearest(root.name, [ENVELOPE])
        refuse(field, f"The outermost element is {ENVELOPE}, not {root.name}.", root.place, root.name, suggestion)
    if root.attributes or (root.text or "").strip():
        refuse(field, f"{ENVELOPE} has neither attributes nor text.", root.place, ENVELOPE)
    for child in root.children:
        if child.name != MESSAGE_SET:
            _refuse_in_envelope(child, field)
    if len(root.children) != 1:
        place = root.children[1].place if root.children else root.place
        suggestion = _ONE_BY_ONE if root.children else _envelope_of(None)
        refuse(field, f"{ENVELOPE} holds exactly one {MESSAGE_SET}.", place, ENVELOPE, suggestion)
    message_set = root.children[0]
    on_error, response_data = _message_set_attributes(message_set, field)
    if (message_set.text or "").strip():
        refuse(field, f"{MESSAGE_SET} holds a request, not text.", message_set.place, _SET_PATH)
    if len(message_set.children) != 1:
        place = message_set.children[1].place if message_set.children else message_set.place
        count = len(message_set.children)
        refuse(
            field,
            f"{MESSAGE_SET} holds exactly one request; here are {count}.",
            place,
            _SET_PATH,
            _ONE_BY_ONE if count else None,
        )
    return Request(version, on_error, _checked(message_set.children[0], field), response_data)


def _refuse_in_envelope(child: Element, field: str) -> NoReturn:
    path = f"{ENVELOPE}/{child.name}"
    if child.name == "SignonMsgsRq":
        message = "SignonMsgsRq is for the old online edition; the Web Connector signs on by itself."
        refuse(field, message, child.place, path, "Remove SignonMsgsRq.")
    suggestion = _envelope_of(child) if child.name.endswith("Rq") else None
    refuse(field, f"{ENVELOPE} holds {MESSAGE_SET}, not {child.name}.", child.place, path, suggestion)


def _envelope_of(element: Element | None) -> str:
    """Return how a request is written, that of the element itself if it is one."""
    if element is not None and element.name == MESSAGE_SET:
        return f"Write <{ENVELOPE}> around it."
    name = "CustomerQueryRq" if element is None else element.name
    return (
        f'A request is written as <{ENVELOPE}><{MESSAGE_SET} onError="{DEFAULT_ON_ERROR}"><{name}>…</{name}>'
        f"</{MESSAGE_SET}></{ENVELOPE}>."
    )


def _message_set_attributes(message_set: Element, field: str) -> tuple[str, str | None]:
    given = {"onError": DEFAULT_ON_ERROR, **message_set.attributes}
    allowed = {"onError": limits.ON_ERROR, "responseData": limits.RESPONSE_DATA}
    for name, value in given.items():
        path = f"{_SET_PATH}/@{name}"
        if name in limits.MESSAGE_SET_IDS:
            refuse(field, f"{name} {limits.MESSAGE_SET_IDS_RESERVED}", message_set.place, path)
        if name not in allowed:
            message = f"{MESSAGE_SET} has no attribute {name}."
            refuse(field, message, message_set.place, path, limits.nearest(name, allowed))
        if value not in allowed[name]:
            message = f"{name} is one of {', '.join(allowed[name])}, not {limits.shown(value)}."
            refuse(field, message, message_set.place, path, limits.nearest(value, allowed[name]))
    return given["onError"], given.get("responseData")


def _checked(element: Element, field: str) -> Element:
    name = element.name
    if not name.endswith("Rq"):
        refuse(field, f"{name} is no request: the name of a request ends in Rq.", element.place, name)
    if (element.text or "").strip():
        refuse(field, f"{name} holds elements, not text.", element.place, name)
    return element._replace(text=None)
