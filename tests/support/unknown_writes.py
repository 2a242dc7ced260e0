"""Writes whose outcome is unknown, and what the books show about them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from domain.records.request import Attempts, QueuedRequest, Recovery, RequestError, State
from domain.storage.changes import AddRequest, ChangeRequest
from domain.timestamps import timestamp
from tests.support.builders import NOON, a_record

if TYPE_CHECKING:
    from domain.storage.ports import Database

FILE = "0123456789abcdef"
"""The key of a company file."""

UNKNOWN = RequestError("outcome_unknown", "…")
MESSAGE_SET = '<QBXML><QBXMLMsgsRq onError="stopOnError">{}</QBXMLMsgsRq></QBXML>'
RESPONSE = (
    '<QBXML><QBXMLMsgsRs><{0} statusCode="{1}" statusSeverity="Info" statusMessage="">{2}</{0}></QBXMLMsgsRs></QBXML>'
)

DELETION = "<ListDelRq><ListDelType>Vendor</ListDelType><ListID>8-1</ListID></ListDelRq>"
ADDITION = "<CustomerAddRq><CustomerAdd><Name>Ada</Name></CustomerAdd></CustomerAddRq>"


def add_unknown_write(store: Database, xml: str = DELETION, **fields: Any) -> QueuedRequest:
    """Store a write that was sent at noon, and whose outcome is unknown."""
    values = {
        "request_name": xml[1 : xml.index(">")],
        "state": State.ERROR,
        "error": UNKNOWN,
        "sent_at": timestamp(NOON),
        "recovery": Recovery(company_file_key=FILE),
        **fields,
    }
    record = a_record(**values)
    store.commit(AddRequest(record, MESSAGE_SET.format(xml), ""))
    return record


def add_executed(store: Database, sent_at: datetime, created_at: str, xml: str = ADDITION, **fields: Any) -> None:
    """Store an addition that QuickBooks executed within a second."""
    moments = {"inserted_at": timestamp(sent_at), "updated_at": timestamp(sent_at), "sent_at": timestamp(sent_at)}
    values = {
        "request_name": "VendorAddRq",
        "state": State.SENT,
        "attempts": Attempts(sessions=1),
        "recovery": Recovery(company_file_key=FILE),
        **fields,
    }
    record = a_record(**moments, **values)
    store.commit(AddRequest(record, MESSAGE_SET.format(xml), ""))
    responded_at = sent_at + timedelta(seconds=1)
    after = replace(record.moved(State.RESPONSE_RECEIVED, responded_at), responded_at=timestamp(responded_at))
    row = f"<Ret><TimeCreated>{created_at}</TimeCreated></Ret>"
    store.commit(ChangeRequest(record, after, RESPONSE.format("VendorAddRs", 0, row)))


def end_query(
    store: Database, query_id: str, at: datetime, rows: str = "", *, code: int | None = None, file: str | None = FILE
) -> QueuedRequest:
    """End a query with an answer of QuickBooks, as a session would, and return its record."""
    record = store.request(query_id)
    assert isinstance(record, QueuedRequest)
    for state in (State.TICKETED, State.SENT, State.RESPONSE_RECEIVED):
        after = record.moved(state, at)
        if state is State.RESPONSE_RECEIVED:
            recovery = Recovery(company_file_key=file)
            after = replace(after, responded_at=timestamp(at), recovery=recovery)
        name = record.request_name.replace("Rq", "Rs")
        status = code if code is not None else 0 if rows else 1
        text = RESPONSE.format(name, status, rows) if state is State.RESPONSE_RECEIVED else None
        store.commit(ChangeRequest(record, after, text))
        record = after
    stored = store.request(query_id)
    assert isinstance(stored, QueuedRequest)
    return stored
