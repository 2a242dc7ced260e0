"""The text of a request and its response that a search looks in (contract §4, `search_phrase`)."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from domain.qbxml.response.reader import UnreadableResponse, parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from domain.qbxml.request.document import Element, Request

_RESPONSE_BYTES = 2 * 1024
"""How much distinct text of a response is searched (contract §4)."""

_REQUEST_BYTES = 32 * 1024
"""How much distinct text of a request is searched: its text is stored beside the record, in one item."""

_SEARCHED_ENDINGS = ("Name", "ID", "Number")
"""Leaves that name or identify something: FullName, CompanyName, ListID, TxnID, RefNumber, AccountNumber."""


def search_text(request: Request, response_xml: str | None = None) -> str:
    """Return the request's name, label and texts, and the names, ids and messages of the response, one a line.

    A response that cannot be read adds what was read until then.
    """
    texts = _Texts(_REQUEST_BYTES)
    texts.add(request.name)
    texts.add(request.request_id or "")
    for text in _leaves(request.element):
        texts.add(text)
    lines = texts.lines
    if response_xml:
        found = _Response()
        with suppress(UnreadableResponse, _Full):
            parse(response_xml, found.start, found.end, found.characters)
        lines = [*lines, *(line for line in found.texts.lines if line not in lines)]
    return "\n".join(lines)


class _Full(Exception):
    """Enough text was found."""


class _Texts:
    """Distinct texts up to a number of bytes."""

    def __init__(self, room_bytes: int) -> None:
        self._room = room_bytes
        self._seen: dict[str, None] = {}

    @property
    def lines(self) -> list[str]:
        return list(self._seen)

    def add(self, text: str) -> bool:
        """Add a text and return whether there is room for more."""
        line = " ".join(text.split())
        if line and line not in self._seen and self._room > 0:
            kept = line.encode("utf-8", "replace")[: self._room].decode("utf-8", "ignore")
            self._room -= len(kept.encode()) + 1
            self._seen[kept] = None
        return self._room > 0


def _leaves(element: Element) -> Iterator[str]:
    for child in element.children:
        if child.text:
            yield child.text
        yield from _leaves(child)


class _Response:
    """Collects texts while expat reads; stops it when there are enough."""

    def __init__(self) -> None:
        self.texts = _Texts(_RESPONSE_BYTES)
        self._text = ""

    def start(self, _name: str, attributes: dict[str, str]) -> None:
        self._text = ""
        if (message := attributes.get("statusMessage")) and not self.texts.add(message):
            raise _Full

    def end(self, name: str) -> None:
        if name.endswith(_SEARCHED_ENDINGS) and not self.texts.add(self._text):
            raise _Full
        self._text = ""

    def characters(self, data: str) -> None:
        self._text += data
