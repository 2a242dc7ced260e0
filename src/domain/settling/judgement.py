"""Judges from the answers of the books whether QuickBooks executed a write.

* An addition was not executed if nothing of its type was created, changed or deleted since the first sending. It was
  executed if one object was created between the first sending and the answer that equals the request, and nothing else
  of ours may have made it.
* A change was not executed if the object has the `EditSequence` that was sent.
* A deletion was not executed if the object is there.

Everything else is `unknown`. The times are those of the books, so an addition needs a clock (`books_clock`). Nobody can
tell an object of ours from an equal one that a person entered after the first sending: it counts as ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from domain import qbxml
from domain.existing.queries import Write, id_field
from domain.qbxml.response.objects import returned_objects
from domain.records.request import ErrorCode, State, WhetherExecuted
from domain.settling.equality import is_of, may_be_of, states_customer_and_total
from domain.settling.queries import ASKED_BEFORE, QueryRole, settling_queries
from domain.timestamps import books_time

if TYPE_CHECKING:
    from collections.abc import Sequence
    from xml.etree.ElementTree import Element

    from domain.records.request import StoredRequest
    from domain.settling.books_clock import BooksClock
    from domain.settling.queries import SettlingQuery

ANSWERED = frozenset({0, 1, 500})
"""The status codes of an answer: objects were found; nothing matches the filter; no object has the name or id."""

ZONES = timedelta(hours=14)
"""By how much QuickBooks' idea of a time zone may differ from the one in a query."""


@dataclass(frozen=True, slots=True)
class BooksAnswer:
    """The objects that QuickBooks returned to a query. `is_complete` is False if there may be more."""

    rows: Sequence[Element]
    responded_at: datetime
    is_complete: bool


@dataclass(frozen=True, slots=True)
class Case:
    """A write and the answers to its queries, by their roles. `first_sent_at` is None if it was not stored."""

    write: Write
    first_sent_at: datetime | None
    answers: dict[QueryRole, BooksAnswer]


def queries_of(write: StoredRequest) -> Sequence[SettlingQuery]:
    """Return the queries that settle a write, in the order of asking, or none if no query can."""
    record = write.record
    if write.written_xml is None:
        return ()
    request = qbxml.stored_request(write.written_xml, record.qbxml_version)
    return settling_queries(request, datetime.fromisoformat(record.first_sent_at or record.inserted_at))


def case_of(write: StoredRequest, asked: Sequence[StoredRequest]) -> Case | None:
    """Return the write with what its queries found out, or None if they tell nothing.

    Each must be answered, in the company file that the write was sent to.
    """
    planned, key = queries_of(write), write.record.recovery.company_file_key
    if not planned or len(planned) != len(asked) or write.written_xml is None:
        return None
    answers: dict[QueryRole, BooksAnswer] = {}
    for query, stored in zip(planned, asked, strict=True):
        answer = _answer(query, stored) if key and stored.record.recovery.company_file_key == key else None
        if answer is None:
            return None
        answers |= dict.fromkeys(query.roles, answer)
    request = qbxml.stored_request(write.written_xml, write.record.qbxml_version)
    sent_at = write.record.first_sent_at
    return Case(Write.of(request), datetime.fromisoformat(sent_at) if sent_at else None, answers)


def _answer(query: SettlingQuery, stored: StoredRequest) -> BooksAnswer | None:
    """Return the answer to a query, or None if it was not answered or another one was asked."""
    record, text = stored.record, stored.response_xml
    is_same = query.request.with_request_label(record.request_label).to_xml() == stored.request_xml
    refused = record.error is not None and record.error.code == ErrorCode.QUICKBOOKS_ERROR
    if not is_same or not text or not record.responded_at or not (record.state is State.RESPONSE_RECEIVED or refused):
        return None
    try:
        statuses, rows = qbxml.parse_response(text).statuses, returned_objects(text)
    except qbxml.UnreadableResponse:
        return None
    if len(statuses) != 1 or statuses[0].code not in ANSWERED:
        return None
    is_complete = query.max_rows is None or len(rows) < query.max_rows
    return BooksAnswer(rows, datetime.fromisoformat(record.responded_at), is_complete)


def judged(case: Case, clock: BooksClock | None, others: Sequence[qbxml.Request] | None) -> WhetherExecuted:
    """Return whether QuickBooks has executed a write.

    `others` are the other requests of ours of its type that QuickBooks may have executed since. None means that they
    are not known.
    """
    write, found = case.write, case.answers[QueryRole.FOUND]
    match write.verb:
        case "Add" if case.first_sent_at and clock:
            if _nothing_happened(case, case.first_sent_at, clock):
                return WhetherExecuted.NO
            if others is not None and _is_there(case, case.first_sent_at, clock, others):
                return WhetherExecuted.YES
        case "Mod" if _is_unchanged(write, found):
            return WhetherExecuted.NO
        case "Del" if _by_id(write, found):
            return WhetherExecuted.NO
    return WhetherExecuted.UNKNOWN


def _by_id(write: Write, found: BooksAnswer) -> list[Element]:
    name = id_field(write)
    object_id = write.content.findtext(name)
    return [row for row in found.rows if row.findtext(name) == object_id]


def _is_unchanged(write: Write, found: BooksAnswer) -> bool:
    sent = write.content.findtext("EditSequence")
    return bool(sent) and [row.findtext("EditSequence") for row in _by_id(write, found)] == [sent]


def _nothing_happened(case: Case, sent_at: datetime, clock: BooksClock) -> bool:
    """Whether nothing of the type of an addition was created, changed or deleted since it was sent first.

    Deletions are asked for last: an object that was deleted before the changes were asked for is among them.
    """
    changed, deleted = case.answers.get(QueryRole.CHANGED), case.answers.get(QueryRole.DELETED)
    since = clock.since(sent_at)
    if not changed or not deleted or not changed.is_complete or deleted.responded_at < changed.responded_at:
        return False
    if sent_at - ASKED_BEFORE + ZONES > since:
        return False  # The clock is so wrong that QuickBooks was not asked about all of the time.
    times = ((case.answers[QueryRole.FOUND], "TimeCreated"), (changed, "TimeModified"), (deleted, "TimeDeleted"))
    return all(_all_before(answer.rows, name, since) for answer, name in times)


def _all_before(rows: Sequence[Element], name: str, since: datetime) -> bool:
    times = [books_time(row.findtext(name)) for row in rows]
    return all(time is not None and time < since for time in times)


def _is_there(case: Case, sent_at: datetime, clock: BooksClock, others: Sequence[qbxml.Request]) -> bool:
    """Whether an addition certainly made an object: the only one like it that was created since it was sent first."""
    content, found = case.write.content, case.answers[QueryRole.FOUND]
    is_transaction = id_field(case.write) == "TxnID"
    has_identity = states_customer_and_total(content) if is_transaction else bool(content.findtext("Name"))
    if not has_identity or not found.is_complete:
        return False
    since = clock.since(sent_at)
    times = [(books_time(row.findtext("TimeCreated")), row) for row in found.rows]
    alike = [(created, row) for created, row in times if (not created or created >= since) and may_be_of(content, row)]
    if len(alike) != 1:
        return False
    ((created, row),) = alike
    if created is None or not is_of(content, row):
        return False
    if any(may_be_of(Write.of(other).content, row) for other in others):
        return False
    return clock.may_be_between(created, sent_at, found.responded_at)
