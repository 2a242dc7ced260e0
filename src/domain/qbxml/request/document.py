"""A QBXML request as a tree, and the forms in which it is written."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from domain.qbxml.request.problems import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from xml.etree.ElementTree import Element

ENVELOPE = "QBXML"
MESSAGE_SET = "QBXMLMsgsRq"

DEFAULT_VERSION = "13.0"
"""The default QBXML version. QuickBooks 2014 and later support it."""

DEFAULT_ON_ERROR = "stopOnError"
CONTINUE_ON_ERROR = "continueOnError"
ROLLBACK_ON_ERROR = "rollbackOnError"

_REQUEST_ATTRIBUTES = ("requestID", "metaData", "iterator", "iteratorID")


@dataclass(frozen=True, slots=True)
class Request:
    """One request element, with the QBXML version and the attributes of its message set.

    `response_data` is the `responseData` attribute of the message set, or None if it is absent. An element has either
    children or text; white space next to children is ignored. Nothing changes the element after it was validated.
    """

    version: str
    on_error: str
    element: Element
    response_data: str | None = None
    source: Source = field(default_factory=lambda: Source("request"), repr=False, compare=False)

    @property
    def name(self) -> str:
        """The name of the request element, for example `CustomerQueryRq`."""
        return self.element.tag

    @property
    def request_label(self) -> str | None:
        """The request label, which QuickBooks returns with the response, or None if it is missing or empty."""
        return self.element.get("requestID") or None

    @property
    def iterator(self) -> str | None:
        """`Start`, `Continue` or `Stop` for a query that uses an iterator, otherwise None."""
        return self.element.get("iterator")

    @property
    def is_read(self) -> bool:
        """Whether QuickBooks can execute the request twice without harm."""
        return self.name.endswith("QueryRq")

    def elements(self) -> Iterator[tuple[Element, str]]:
        """Yield every element with its path, such as `NoteAddRq/NoteAdd/Note`, in document order."""
        pending = [(self.element, self.name)]
        while pending:
            element, path = pending.pop()
            yield element, path
            pending += [(child, f"{path}/{child.tag}") for child in reversed(element)]

    def with_request_label(self, label: str) -> Request:
        """Return the request with this label."""
        return self._with_attributes({"requestID": label})

    def next_page(self, iterator_id: str, label: str) -> Request:
        """Return the request for the page after this one, with the same filters."""
        return self._with_attributes({"requestID": label, "iterator": "Continue", "iteratorID": iterator_id})

    def _with_attributes(self, attributes: Mapping[str, str]) -> Request:
        merged = {**self.element.attrib, **attributes}
        # The fixed order ensures that equal requests have equal texts.
        ordered = {name: merged[name] for name in (*_REQUEST_ATTRIBUTES, *merged) if name in merged}
        element = copy(self.element)
        element.attrib = ordered  # `copy` shares the attributes, so do not change them in place
        return replace(self, element=element)

    def to_xml(self, message_set_id: str | None = None) -> str:
        """Return the canonical XML, without a prologue and without white space between elements."""
        return _message_set([self.element], self.on_error, self.response_data, message_set_id)

    def to_wire(self, message_set_id: str | None = None) -> str:
        """Return the text for QuickBooks: the XML with a prologue, in ASCII with decimal character references.

        If `message_set_id` is set, QuickBooks stores its response (docs/reference/qbxml-rules.md, Error recovery).
        """
        return _to_wire(self.version, self.to_xml(message_set_id))

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form, `{"version", "request": {"name", "attributes", "children"}}`."""
        request = _json_node(self.element)
        request.setdefault("children", [])
        if not self.element.text:
            request.pop("text", None)
        return {"version": self.version, "request": request}


def message_set_to_wire(requests: Sequence[Request], message_set_id: str | None = None) -> str:
    """Return the text for QuickBooks of several requests of one version. An error in one does not stop the others.

    `message_set_id` is as in `Request.to_wire`.
    """
    elements = [request.element for request in requests]
    return _to_wire(requests[0].version, _message_set(elements, CONTINUE_ON_ERROR, None, message_set_id))


def _message_set(
    elements: Sequence[Element], on_error: str, response_data: str | None, message_set_id: str | None
) -> str:
    attributes = {"onError": on_error, "responseData": response_data, "newMessageSetID": message_set_id}
    message_set = _attributes({name: value for name, value in attributes.items() if value is not None})
    parts = [f"<{ENVELOPE}><{MESSAGE_SET}{message_set}>"]
    for element in elements:
        _write(element, parts.append)
    parts.append(f"</{MESSAGE_SET}></{ENVELOPE}>")
    return "".join(parts)


def _to_wire(version: str, xml: str) -> str:
    prologue = f'<?xml version="1.0" encoding="utf-8"?>\n<?qbxml version="{version}"?>\n'
    return f"{prologue}{xml}".encode("ascii", "xmlcharrefreplace").decode("ascii")


_TEXT_ESCAPES = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;", ord("\r"): "&#13;"}
# XML parsers read an unescaped line end or tab in an attribute as a space.
_ATTRIBUTE_ESCAPES = {**_TEXT_ESCAPES, ord('"'): "&quot;", ord("\n"): "&#10;", ord("\t"): "&#9;"}


def escaped(text: str) -> str:
    """Return a text as it is written in an element."""
    return text.translate(_TEXT_ESCAPES)


def _attributes(attributes: Mapping[str, str]) -> str:
    return "".join(f' {name}="{value.translate(_ATTRIBUTE_ESCAPES)}"' for name, value in attributes.items())


def _write(element: Element, write: Callable[[str], None]) -> None:
    name = element.tag
    write(f"<{name}{_attributes(element.attrib)}>" if element.keys() else f"<{name}>")
    for child in element:
        if len(child) or child.keys():
            _write(child, write)
        else:
            write(f"<{child.tag}>{(child.text or '').translate(_TEXT_ESCAPES)}</{child.tag}>")
    if element.text and not len(element):
        write(element.text.translate(_TEXT_ESCAPES))
    write(f"</{name}>")


def _json_node(element: Element) -> dict[str, Any]:
    node: dict[str, Any] = {"name": element.tag}
    if element.keys():
        node["attributes"] = {"request_id" if name == "requestID" else name: value for name, value in element.items()}
    if len(element):
        node["children"] = [_json_node(child) for child in element]
    else:
        node["text"] = element.text or ""
    return node
