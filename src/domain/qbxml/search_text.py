"""The searchable text of a request and its response (docs/reference/service-contract.md, Search)."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from domain.qbxml.response.reader import UnreadableResponse, read_with_repair
from domain.qbxml.xml_parser import parse_events

if TYPE_CHECKING:
    from domain.qbxml.request.document import Request

_MAX_RESPONSE_BYTES = 2 * 1024
_MAX_REQUEST_BYTES = 32 * 1024

_SEARCHED_ENDINGS = ("Name", "ID", "Number")
"""Elements that name or identify something: FullName, CompanyName, ListID, TxnID, RefNumber, AccountNumber."""


def search_text(request: Request, response_xml: str | None = None) -> str:
    """Return the distinct texts, one per line.

    They are the name, label and texts of the request, and the names, ids and messages of the response. A malformed
    response contributes only the texts before the error.
    """
    texts = _Texts(_MAX_REQUEST_BYTES)
    for text in (request.name, request.request_id, *(node.text for node in request.element.iter())):
        texts.add(text or "")
    lines = texts.lines
    if response_xml:
        response = _ResponseReader()
        with suppress(UnreadableResponse, _Full):
            read_with_repair(response.read, response_xml)
        lines |= response.texts.lines
    return "\n".join(lines)


class _Full(Exception):
    """The size limit is reached."""


class _Texts:
    """Distinct texts up to a number of bytes, stored as the keys of `lines`."""

    def __init__(self, max_bytes: int) -> None:
        self._free_bytes = max_bytes
        self.lines: dict[str, None] = {}

    def add(self, text: str) -> bool:
        """Add a text. Return whether there is room for more."""
        line = " ".join(text.split())
        if line and line not in self.lines and self._free_bytes > 0:
            kept = line.encode("utf-8", "replace")[: self._free_bytes].decode("utf-8", "ignore")
            self._free_bytes -= len(kept.encode()) + 1
            self.lines[kept] = None
        return self._free_bytes > 0


class _ResponseReader:
    """Collects texts from the events of expat and stops the parser when the limit is reached."""

    def __init__(self) -> None:
        self.texts = _Texts(_MAX_RESPONSE_BYTES)
        self._text: list[str] = []

    def read(self, text: str) -> None:
        parse_events(text, self.start, self.end, self.characters)

    def start(self, _name: str, attributes: dict[str, str]) -> None:
        self._text.clear()
        if (message := attributes.get("statusMessage")) and not self.texts.add(message):
            raise _Full

    def end(self, name: str) -> None:
        if name.endswith(_SEARCHED_ENDINGS) and not self.texts.add("".join(self._text)):
            raise _Full
        self._text.clear()

    def characters(self, data: str) -> None:
        self._text.append(data)
