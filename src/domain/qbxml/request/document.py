"""A QBXML request as a tree, and the forms in which it is written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

ENVELOPE = "QBXML"
MESSAGE_SET = "QBXMLMsgsRq"

DEFAULT_VERSION = "13.0"
"""The default QBXML version. QuickBooks 2014 and later support it."""

DEFAULT_ON_ERROR = "stopOnError"

_REQUEST_ATTRIBUTES = ("requestID", "metaData", "iterator", "iteratorID")

Location: TypeAlias = tuple[int, int] | str | None
"""The location of an element in the original text: line and column from 1, or a JSON pointer."""


class Element(NamedTuple):  # noqa: PLW1641 - elements are never hashed: their attributes are dicts
    """An element with either children or text. `location` is ignored in comparisons."""

    name: str
    attributes: dict[str, str] = {}  # noqa: RUF012 - never changed: every writer makes a new dict
    children: Sequence[Element] = ()
    text: str | None = None
    location: Location = None

    def __eq__(self, other: object) -> bool:
        """Compare everything but the location."""
        return isinstance(other, Element) and self[:4] == other[:4]

    def __ne__(self, other: object) -> bool:
        """Compare everything but the location."""
        return not self == other

    def child(self, name: str) -> Element | None:
        """Return the first child with this name."""
        return next((child for child in self.children if child.name == name), None)


@dataclass(frozen=True, slots=True)
class Request:
    """One request element, with the QBXML version and the attributes of its message set.

    `response_data` is the `responseData` attribute of the message set, or None if it is absent.
    """

    version: str
    on_error: str
    element: Element
    response_data: str | None = None

    @property
    def name(self) -> str:
        """The name of the request element, for example `CustomerQueryRq`."""
        return self.element.name

    @property
    def request_id(self) -> str | None:
        """The request label, which QuickBooks returns with the response, or None if it is missing or empty."""
        return self.element.attributes.get("requestID") or None

    @property
    def iterator(self) -> str | None:
        """`Start`, `Continue` or `Stop` for a query that uses an iterator, otherwise None."""
        return self.element.attributes.get("iterator")

    @property
    def is_read(self) -> bool:
        """Whether QuickBooks can execute the request twice without harm."""
        return self.name.endswith("QueryRq")

    def with_request_id(self, label: str) -> Request:
        """Return the request with this label."""
        return self._with_attributes({"requestID": label})

    def next_page(self, iterator_id: str, label: str) -> Request:
        """Return the request for the page after this one, with the same filters."""
        return self._with_attributes({"requestID": label, "iterator": "Continue", "iteratorID": iterator_id})

    def _with_attributes(self, attributes: Mapping[str, str]) -> Request:
        merged = {**self.element.attributes, **attributes}
        # The fixed order ensures that equal requests have equal texts.
        ordered = {name: merged[name] for name in (*_REQUEST_ATTRIBUTES, *merged) if name in merged}
        return replace(self, element=self.element._replace(attributes=ordered))

    def to_xml(self, message_set_id: str | None = None) -> str:
        """Return the canonical XML, without a prologue and without white space between elements."""
        attributes = {
            "onError": self.on_error,
            "responseData": self.response_data,
            "newMessageSetID": message_set_id,
        }
        written = _attributes({name: value for name, value in attributes.items() if value is not None})
        parts = [f"<{ENVELOPE}><{MESSAGE_SET}{written}>"]
        _write(self.element, parts.append)
        parts.append(f"</{MESSAGE_SET}></{ENVELOPE}>")
        return "".join(parts)

    def to_wire(self, message_set_id: str | None = None) -> str:
        """Return the text for QuickBooks: the XML with a prologue, in ASCII with decimal character references.

        If `message_set_id` is set, QuickBooks stores its response (docs/reference/qbxml-rules.md, Error recovery).
        """
        prologue = f'<?xml version="1.0" encoding="utf-8"?>\n<?qbxml version="{self.version}"?>\n'
        return f"{prologue}{self.to_xml(message_set_id)}".encode("ascii", "xmlcharrefreplace").decode("ascii")

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form, `{"version", "request": {"name", "attributes", "children"}}`."""
        request = _json_node(self.element)
        request.setdefault("children", [])
        if not self.element.text:
            request.pop("text", None)
        return {"version": self.version, "request": request}


_TEXT_ESCAPES = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;", ord("\r"): "&#13;"}
# XML parsers read an unescaped line end or tab in an attribute as a space.
_ATTRIBUTE_ESCAPES = {**_TEXT_ESCAPES, ord('"'): "&quot;", ord("\n"): "&#10;", ord("\t"): "&#9;"}


def _attributes(attributes: Mapping[str, str]) -> str:
    return "".join(f' {name}="{value.translate(_ATTRIBUTE_ESCAPES)}"' for name, value in attributes.items())


def _write(element: Element, write: Callable[[str], None]) -> None:
    name, attributes, children, text, _ = element
    write(f"<{name}{_attributes(attributes)}>" if attributes else f"<{name}>")
    for child in children:
        if child.children or child.attributes:
            _write(child, write)
        else:
            write(f"<{child.name}>{(child.text or '').translate(_TEXT_ESCAPES)}</{child.name}>")
    if text:
        write(text.translate(_TEXT_ESCAPES))
    write(f"</{name}>")


def _json_node(element: Element) -> dict[str, Any]:
    node: dict[str, Any] = {"name": element.name}
    if element.attributes:
        node["attributes"] = {_json_name(name): value for name, value in element.attributes.items()}
    if element.children:
        node["children"] = [_json_node(child) for child in element.children]
    else:
        node["text"] = element.text or ""
    return node


def _json_name(attribute: str) -> str:
    return "request_id" if attribute == "requestID" else attribute
