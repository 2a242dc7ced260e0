"""The text that `search_phrase` looks in (contract §4): made when a record is stored, read when a list is searched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain import qbxml

if TYPE_CHECKING:
    from domain.requests.record import QueuedRequest

MAX_TEXT_BYTES = 8 * 1024
"""Characters kept of one record's text: a search reads every text of a connection."""


def searchable_text(record: QueuedRequest, request: qbxml.Request, response_xml: str | None = None) -> str:
    """Return the record's id, the values of its request, its error and the first of its response, folded."""
    error = f"{record.error.code}\n{record.error.message}\n" if record.error else ""
    text = f"{record.id}\n{error}{qbxml.search_text(request, response_xml)}"
    return folded(text)[:MAX_TEXT_BYTES]


def folded(text: str) -> str:
    """Return `text` as it is compared: without regard to case."""
    return text.casefold()


def needle_of(phrase: str) -> str:
    """Return what to look for in searchable texts: those have one blank where there was any white space."""
    return folded(" ".join(phrase.split()))
