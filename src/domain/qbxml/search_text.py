"""The searchable text of a request and its response (docs/reference/service-contract.md, Search)."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

from domain.qbxml.response.reader import UnreadableResponse, read_with_repair
from domain.qbxml.xml.parser import XML_ERRORS, parse_events, parse_tree
from domain.whole_values import MatchedAs, is_marked, marked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from domain.qbxml.request.document import Request

MAX_RESPONSE_BYTES = 2 * 1024
MAX_REQUEST_BYTES = 32 * 1024

_BEGINNING = 64 * 1024
"""The part of a response that is searched for texts first, in characters. It has those of 150 customers."""

_SEARCHED_ENDINGS = ("Name", "ID", "Number")
"""Elements that name or identify something: FullName, CompanyName, ListID, TxnID, RefNumber, AccountNumber."""

_NUMBERS = ("RefNumber", "RefNumberCaseSensitive", "TxnID")
_NAMES = ("FullName", "Name")
_OF_CUSTOMER_OR_VENDOR = re.compile(
    "(Customer|Vendor)(Ref|Add|Mod|Ret|QueryRq)|(Payee)?EntityRef|(Transaction|TimeTracking|Report)?EntityFilter"
)
"""The elements whose name is that of a customer or a vendor, or of another one who is paid."""


def _as_line(name: str, parent: str, text: str) -> str:
    """Return the line for the text of an element, with a mark if it is a number or names a customer or vendor."""
    if name in _NUMBERS:
        return marked(MatchedAs.NUMBER, text)
    if name in _NAMES and _OF_CUSTOMER_OR_VENDOR.fullmatch(parent):
        return marked(MatchedAs.NAME, text)
    return text


def search_text(request: Request, response_xml: str | None = None) -> str:
    """Return the distinct texts, one per line.

    They are the name of the request, the same as words (`Invoice Add`), its request label and texts, and the names, ids
    and messages of the response. Numbers, customers and vendors are marked as whole values. A malformed response
    contributes only the texts before the error.
    """
    texts = _Texts(MAX_REQUEST_BYTES)
    with suppress(_Full):
        names = (request.name, _words(request.name), request.request_label)
        for line in (*names, *_lines_below(request.element)):
            texts.add(line or "")
    lines = texts.lines
    if response_xml:
        lines |= _lines_of_response(response_xml)
    return "\n".join(lines)


def _lines_below(element: Element, parent: str = "") -> Iterator[str]:
    """Yield the lines of an element and of those in it, in their order."""
    yield _as_line(element.tag, parent, element.text or "")
    for child in element:
        yield from _lines_below(child, element.tag)


def _lines_of_response(response_xml: str) -> dict[str, None]:
    """Return the texts of a response. Nearly always its beginning has enough of them, and the rest is not parsed."""
    for end in (_BEGINNING, len(response_xml)):
        texts = _Texts(MAX_RESPONSE_BYTES)
        try:
            read_with_repair(partial(_read_response, texts), response_xml[:end])
        except _Full:
            break
        except UnreadableResponse:
            pass
        if end >= len(response_xml):
            break
    return texts.lines


_WORD_END = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def _words(request_name: str) -> str:
    """Return the words of the name: `Invoice Add` for `InvoiceAddRq`.

    The console shows them in another case, and `change` for `Mod`, which a search maps (`domain.records.search_text`).
    """
    return _WORD_END.sub(" ", request_name.removesuffix("Rq"))


class _Full(Exception):
    """The size limit is reached."""


class _Texts:
    """Distinct texts up to a number of bytes, stored as the keys of `lines`."""

    def __init__(self, max_bytes: int) -> None:
        self._free_bytes = max_bytes
        self.lines: dict[str, None] = {}

    def add(self, text: str) -> None:
        """Add a text, shortened to the remaining bytes. Raise _Full if there is no room for another.

        The beginning of a value is another value, so a shortened one has no mark.
        """
        line = text if text in self.lines else " ".join(text.split())
        if line and line not in self.lines:
            excerpt = line.encode("utf-8", "replace")[: self._free_bytes].decode("utf-8", "ignore")
            if is_marked(line) and len(excerpt) < len(line):
                excerpt = excerpt[1:]
            self._free_bytes -= len(excerpt.encode()) + 1
            self.lines[excerpt] = None
        if self._free_bytes <= 0:
            raise _Full


def _read_response(texts: _Texts, response_xml: str) -> None:
    """Add the texts of a response up to an error. _Full stops the parser."""
    if len(response_xml) < _BEGINNING:
        # A tree takes three quarters of the time of events, but there is none of a malformed text. One whose elements
        # are nested too deeply for recursion is left to the events too, which add the same texts in the same order.
        with suppress(*XML_ERRORS, RecursionError):
            document = Element("")
            document.append(parse_tree(response_xml))
            _add_texts_below(texts, document)
            return
    _read_events(texts, response_xml)


def _add_texts_below(texts: _Texts, parent: Element) -> None:
    """Add the texts of the elements in an element."""
    for element in parent:
        if message := element.get("statusMessage"):
            texts.add(message)
        text = element.text
        if len(element):
            _add_texts_below(texts, element)
            text = element[-1].tail  # as the events have it: behind the last element inside of it
        name = element.tag
        if text and name.endswith(_SEARCHED_ENDINGS):
            texts.add(_as_line(name, parent.tag, text))


def _read_events(texts: _Texts, response_xml: str) -> None:
    """Add the texts of a response, each at the end of its element."""
    parts: list[str] = []
    path: list[str] = [""]

    def start(name: str, attributes: dict[str, str]) -> None:
        path.append(name)
        parts.clear()
        if attributes:
            texts.add(attributes.get("statusMessage", ""))

    def end(name: str) -> None:
        path.pop()
        if name.endswith(_SEARCHED_ENDINGS):
            texts.add(_as_line(name, path[-1], "".join(parts)))
        parts.clear()

    parse_events(response_xml, start, end, parts.append)
