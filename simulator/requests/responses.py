"""Responses to requests, and their text in QuickBooks' own form: one tag per line, no indentation."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from simulator.basics.statuses import STATUSES
from simulator.requests.preferences import hidden_elements
from simulator.schema import Aggregate, Element

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simulator.books import Books, Fields
    from simulator.schema.model import Version

STATUS_OK = "Status OK"


@dataclass(frozen=True, slots=True)
class Markup:
    """The content of an element as lines of XML that are in the order of the schema."""

    lines: list[str]


@dataclass(frozen=True, slots=True)
class Response:
    """The response to one request: a status, more attributes of its Rs element, and its content by element name."""

    code: int = 0
    severity: str = "Info"
    message: str = STATUS_OK
    attributes: dict[str, str] = field(default_factory=dict)
    rows: list[tuple[str, Any]] = field(default_factory=list)

    @classmethod
    def error(cls, code: int, message: str) -> Response:
        """Return a response of severity Error."""
        return cls(code, "Error", message)


class Renderer:
    """Writes content in the order of the schema, without what the version, the edition or the company does not have."""

    def __init__(self, books: Books, version: Version, edition: str) -> None:
        self._books = books
        self._version = version
        self._edition = edition
        self._hidden = hidden_elements(books)

    def render(self, element: Element, value: Any, lines: list[str]) -> None:
        """Append an element to `lines`, unless it is empty and the schema does not require it.

        A value is text, a dict of children (`@name` for an attribute), `Markup`, or a list of these for what repeats.
        """
        if element.since > self._version or self._edition in element.absent or element in self._hidden:
            return
        if isinstance(value, str):
            if value or element.least:
                lines.append(f"<{element.name}>{escape(value)}</{element.name}>")
        elif isinstance(value, dict):
            self._aggregate(element, value, lines)
        elif isinstance(value, Markup):
            if value.lines:
                lines += [f"<{element.name}>", *value.lines, f"</{element.name}>"]
        else:
            for member in value:
                self.render(element, member, lines)

    def _aggregate(self, element: Element, value: Fields, lines: list[str]) -> None:
        kind = element.type
        attributes = {name: value[f"@{name}"] for name in element.attributes if f"@{name}" in value}
        start = opening_tag(element.name, attributes) if attributes else f"<{element.name}"
        if not isinstance(kind, Aggregate):
            lines.append(f"{start}>{escape(value.get('#text', ''))}</{element.name}>")
            return
        if not kind.elements:
            if attributes:
                lines.append(f"{start} />")
            return
        if kind.is_reference and len(value) == 1:
            record = self._books.lists.get(value.get("ListID", ""))
            if record is None:
                return
            # Some references hold fewer characters than the names of the objects that they can point to.
            value = {"ListID": record.id, "FullName": record.full_name[: kind.max_name]}
        before = len(lines)
        lines.append(f"{start}>")
        self._children(kind, value, lines)
        if len(lines) == before + 1:
            lines[before] = f"{start} />" if attributes else ""
            if not attributes:
                lines.pop()
            return
        lines.append(f"</{element.name}>")

    def _children(self, kind: Aggregate, value: Fields, lines: list[str]) -> None:
        mixed = kind.mixed_keys
        alternatives, excluded = kind.alternatives, set[str]()
        for name, child in kind.elements.items():
            if name in value:
                # A record can hold an amount and the percentage that it was computed from. The form shows one of them.
                if name not in excluded:
                    self.render(child, value[name], lines)
                    if name in alternatives:
                        excluded |= alternatives[name]
            elif name in mixed:
                for member_name, member in value.get(mixed[name], ()):
                    self.render(kind.elements[member_name], member, lines)


def representable(response: Response, model: Element, version: Version) -> Response:
    """Return a response without the objects that a version of qbXML does not have: with status 501 if it had any."""
    newer = [row for row in response.rows if model.content[row[0]].since > version]
    if not newer or response.severity == "Error":
        return response
    name, fields = newer[0]
    value = next((fields[field] for field in ("FullName", "Name", "TxnID", "ListID") if field in fields), "")
    message = STATUSES[501].text.format(object=name.removesuffix("Ret"), value=value)
    rows = [row for row in response.rows if row not in newer]
    return replace(response, code=501, severity="Warn", message=message, rows=rows)


def response_lines(model: Element, request_id: str | None, response: Response, renderer: Renderer) -> list[str]:
    """Return the lines of one Rs element."""
    attributes = {} if request_id is None else {"requestID": request_id}
    attributes |= {
        "statusCode": str(response.code),
        "statusSeverity": response.severity,
        "statusMessage": response.message,
        **response.attributes,
    }
    start = opening_tag(model.name, attributes)
    if not response.rows or not isinstance(model.type, Aggregate):
        return [f"{start} />"]
    lines = [f"{start}>"]
    for name, value in response.rows:
        renderer.render(model.type[name], value, lines)
    lines.append(f"</{model.name}>")
    return lines


def opening_tag(name: str, attributes: Mapping[str, str]) -> str:
    """Return `<name a="…"` without its end, for the caller to close."""
    return "".join([f"<{name}", *[f' {key}="{quoted(value)}"' for key, value in attributes.items()]])


def quoted(value: str) -> str:
    """Escape the value of an attribute."""
    text = escape(value)
    return text.replace('"', "&quot;") if '"' in text else text


def escape(text: str) -> str:
    """Escape `&`, `<` and `>`. Responses contain all other characters as they are."""
    if "&" in text or "<" in text or ">" in text:
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text
