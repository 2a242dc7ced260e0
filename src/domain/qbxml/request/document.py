"""A QBXML request as a tree, and the forms in which it is written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

ENVELOPE = "QBXML"
MESSAGE_SET = "QBXMLMsgsRq"

DEFAULT_VERSION = "13.0"
"""What QuickBooks 2014 and everything later serves (`qbxml.md` §1)."""

DEFAULT_ON_ERROR = "stopOnError"

ITERATOR_ATTRIBUTES = ("requestID", "metaData", "iterator", "iteratorID")

Place: TypeAlias = tuple[int, int] | str | None
"""Where an element was written: line and column from 1, or a JSON pointer."""


class Element(NamedTuple):  # noqa: PLW1641 - nothing hashes elements: their attributes are dicts
    """An element with either children or text; `text` is None when there is neither.

    `place` is where its author wrote it. It is left out of comparisons.
    """

    name: str
    attributes: dict[str, str] = {}  # noqa: RUF012 - nobody changes it: every writer makes a new one
    children: Sequence[Element] = ()
    text: str | None = None
    place: Place = None

    def __eq__(self, other: object) -> bool:
        """Compare what the elements say, not where they were written."""
        return isinstance(other, Element) and self[:4] == other[:4]

    def __ne__(self, other: object) -> bool:
        """Compare what the elements say, not where they were written."""
        return not self == other

    def child(self, name: str) -> Element | None:
        """Return the first child of this name."""
        return next((child for child in self.children if child.name == name), None)


@dataclass(frozen=True, slots=True)
class Request:
    """One request element with the version and the `onError` rule of its message set.

    `response_data` is the message set's `responseData` when it was given.
    """

    version: str
    on_error: str
    element: Element
    response_data: str | None = None

    @property
    def name(self) -> str:
        """The name of the request element: `CustomerQueryRq`."""
        return self.element.name

    @property
    def request_id(self) -> str | None:
        """The label that QuickBooks echoes; None when it is missing or empty."""
        return self.element.attributes.get("requestID") or None

    @property
    def is_read(self) -> bool:
        """Whether sending it twice does no harm (contract §8)."""
        return self.name.endswith("QueryRq")

    def with_request_id(self, label: str) -> Request:
        """Return the request with `requestID` set to `label`."""
        return self.with_attributes({"requestID": label})

    def with_attributes(self, attributes: Mapping[str, str | None]) -> Request:
        """Return the request with attributes of its element set, or removed where the value is None."""
        merged = {**self.element.attributes, **attributes}
        # The usual order first, so that one request has one text.
        names = [*(name for name in ITERATOR_ATTRIBUTES if name in merged), *merged]
        kept = {name: value for name in names if (value := merged[name]) is not None}
        return replace(self, element=self.element._replace(attributes=kept))

    def to_xml(self) -> str:
        """Return the canonical XML: one tag after another, no prologue, no white space between elements."""
        return self._write({})

    def to_json(self) -> dict[str, Any]:
        """Return the tree of contract §5: `{"version", "request": {"name", "attributes", "children"}}`."""
        request = _json_node(self.element)
        request.setdefault("children", [])
        if not self.element.text:
            request.pop("text", None)
        return {"version": self.version, "request": request}

    def _write(self, message_set_attributes: Mapping[str, str]) -> str:
        attributes = {"onError": self.on_error}
        if self.response_data is not None:
            attributes["responseData"] = self.response_data
        attributes.update(message_set_attributes)
        parts = [f"<{ENVELOPE}><{MESSAGE_SET}{_attributes(attributes)}>"]
        _write(self.element, parts.append)
        parts.append(f"</{MESSAGE_SET}></{ENVELOPE}>")
        return "".join(parts)


def wire(request: Request, message_set_id: str | None = None) -> str:
    """Return what is handed to QuickBooks: prologue and pure ASCII with decimal references.

    With `message_set_id` (at most 24 characters) QuickBooks keeps the answer under it (`qbxml.md` §4).
    """
    body = request._write({} if message_set_id is None else {"newMessageSetID": message_set_id})  # noqa: SLF001 - same room
    text = f'<?xml version="1.0" encoding="utf-8"?>\n<?qbxml version="{request.version}"?>\n{body}'
    return text.encode("ascii", "xmlcharrefreplace").decode("ascii")


def iteration(request: Request) -> str | None:
    """Return `Start`, `Continue` or `Stop` for a query that iterates, else None."""
    return request.element.attributes.get("iterator")


def next_page(request: Request, iterator_id: str, request_id: str) -> Request:
    """Return the request for the page after `request`: the same filters, continued (`qbxml.md` §5)."""
    return request.with_attributes({"requestID": request_id, "iterator": "Continue", "iteratorID": iterator_id})


_TEXT_ESCAPES = {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;", ord("\r"): "&#13;"}
# A parser turns bare line ends and tabs of an attribute into spaces (XML 1.0, 3.3.3).
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
