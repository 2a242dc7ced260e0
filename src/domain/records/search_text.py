"""The search text of a record, in which `search_phrase` is looked up (docs/reference/service-contract.md, Search)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain import qbxml

if TYPE_CHECKING:
    from domain.records.request import QueuedRequest

MAX_TEXT_BYTES = 8 * 1024
"""Maximum length of a search text, in characters. A search reads the texts of all records of a connection."""


def searchable_text(record: QueuedRequest, request: qbxml.Request, response_xml: str | None = None) -> str:
    """Return the folded search text: id, error, label, the request's values and the response's main values."""
    error = f"{record.error.code}\n{record.error.message}\n" if record.error else ""
    label = f"{record.label}\n" if record.label else ""
    text = f"{record.id}\n{error}{label}{qbxml.search_text(request, response_xml)}"
    return text.casefold()[:MAX_TEXT_BYTES]


def normalized_phrase(phrase: str) -> str:
    """Return a phrase in the form of search texts: folded, with one space for each run of white space."""
    return " ".join(phrase.split()).casefold()
