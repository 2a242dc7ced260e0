"""The QBXML document of one request, as QuickBooks gets it: for support, and for Intuit's SDK test tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain import qbxml
from domain.web_connector.outcomes.pages import as_sent

if TYPE_CHECKING:
    from domain.records.request import StoredRequest

_ENVELOPE = "<QBXML>"


def sent_document(stored: StoredRequest) -> str | None:
    """Return the document that is sent for a request, with its declarations and, for a write, its message set ID.

    If several writes were sent in one message set, the document has only this request, and a comment says so. It does
    not name the message set that QuickBooks was told to forget, because that belongs to an earlier request. For a
    request with `if_exists`, it is the document of the write that was sent last, or None if a query has to show first
    which write is sent.
    """
    record, text = stored.record, stored.written_xml
    if text is None or (record.lookup and not record.lookup.was_sent):
        return None
    request = as_sent(record, qbxml.stored_request(text, record.qbxml_version))
    message_set = record.message_set
    if message_set is None:
        return request.to_wire(None if record.is_read else record.message_set_id)
    text = qbxml.message_set_to_wire([request.with_request_label(record.id)], message_set.id)
    note = f"<!-- Request {message_set.position} of {message_set.size} in its message set. The others are left out. -->"
    return text.replace(_ENVELOPE, f"{note}\n{_ENVELOPE}", 1)
