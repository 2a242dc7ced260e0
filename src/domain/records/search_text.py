"""The search text of a record, in which `search_phrase` is looked up (docs/reference/service-contract.md, Search)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain import qbxml

if TYPE_CHECKING:
    from domain.records.request import QueuedRequest

MAX_TEXT_BYTES = 8 * 1024
"""Maximum length of a search text, in characters. A search reads the texts of all records of a connection."""


def searchable_text(record: QueuedRequest, request: qbxml.Request, response_xml: str | None = None) -> str:
    """Return the folded search text: id, subject, error, label, the request's values and the response's main values."""
    error = f"{record.error.code}\n{record.error.message}\n" if record.error else ""
    label = f"{record.label}\n" if record.label else ""
    own = f"{record.id}\n{error}{label}".casefold()
    values = qbxml.search_text(request, response_xml).casefold()
    subject = (record.subject or "").casefold()
    # Most parts of a subject are values too. Only the others take space, such as the sum of the lines.
    searched = values[: max(MAX_TEXT_BYTES - len(f"{subject}\n{own}"), 0)]
    derived = "".join(f"{part}\n" for part in subject.split(qbxml.BETWEEN_PARTS) if part not in searched)
    return f"{derived}{own}{values}"[:MAX_TEXT_BYTES]


def normalized_phrase(phrase: str) -> str:
    """Return a phrase in the form of search texts: folded, with one space for each run of white space."""
    return " ".join(phrase.split()).casefold()
