"""The pages of an iterated query: the record of each page, and the number of objects that it requests.

The stored request stays as its author wrote it. The request that is sent can have another `MaxReturned`, or an iterator
that its author allowed (docs/decisions/0014).
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from domain import qbxml
from domain.qbxml.request.limits import MAX_DIGITS
from domain.records.request import Claim, Paging, QueuedRequest, State
from domain.records.search_text import searchable_text
from domain.records.webhook import Webhook
from domain.storage.changes import AddRequest
from domain.timestamps import later_than, timestamp

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.records.audit import Actor

SIZE = "MaxReturned"

MAX_PAGES = 10_000
"""Maximum number of pages of a query: a million objects, with 100 in a page. Each page is a record with a webhook, and
QuickBooks decides how many there are, so their number needs a limit."""


def page_size(record: QueuedRequest, request: qbxml.Request) -> int | None:
    """Return the number of objects that `record` requests, or None if it is not a page of an iterated query."""
    if request.iterator != ("Start" if record.paging.page == 1 else "Continue"):
        return None
    return record.paging.page_size or max_returned(request)


def iterating(record: QueuedRequest, request: qbxml.Request) -> qbxml.Request:
    """Return the stored request of `record`, with an iterator if it began to iterate after a response was too large."""
    size = record.paging.page_size
    return (request.iterator is None and size and qbxml.iterated(request, size)) or request


def as_sent(record: QueuedRequest, stored: qbxml.Request) -> qbxml.Request:
    """Return the request to send for `record`: its stored request with the current page size."""
    request, size = iterating(record, stored), record.paging.page_size
    if size is None or size == max_returned(request):
        return request
    element = deepcopy(request.element)
    for limit in element.findall(SIZE):
        limit.text = str(size)
    return replace(request, element=element)


def smaller_page(record: QueuedRequest) -> int | None:
    """Return the page size for another attempt, or None if the query cannot ask for less.

    It is half the size of the first page, or the first size of a query that may begin to iterate.
    """
    paging = record.paging
    if paging.page > 1:
        return None
    if paging.page_size is None:
        return qbxml.PAGE_SIZE if paging.may_begin else None
    return paging.page_size // 2 or None


def next_page(
    record: QueuedRequest,
    request: qbxml.Request,
    iterator_id: str,
    page_id: str,
    now: datetime,
    *,
    metadata: Mapping[str, str],
    queued_by: Actor | None,
) -> AddRequest | None:
    """Return the record of the next page, claimed by the same session, or None if the query does not iterate.

    `request` is the stored request of `record`, and `metadata` its metadata. `queued_by` queued page 1. The new record
    gets the id `page_id`.
    """
    request = iterating(record, request)
    if request.iterator not in {"Start", "Continue"}:
        return None
    request = request.next_page(iterator_id, record.request_label)
    # A page keeps its place after the page before it, although another function with another clock may store it.
    moment = timestamp(later_than(datetime.fromisoformat(record.inserted_at), now))
    page = QueuedRequest(
        id=page_id,
        connection_id=record.connection_id,
        app_id=record.app_id,
        request_name=record.request_name,
        request_label=record.request_label,
        qbxml_version=record.qbxml_version,
        inserted_at=moment,
        updated_at=moment,
        state=State.TICKETED,
        webhook=Webhook.to(record.webhook.url),
        paging=Paging(record.paging.page + 1, record.query_id, record.paging.page_size),
        claim=Claim(record.claim.session_id),
        label=record.label,
        subject=record.subject,
        simulated=record.simulated,
    )
    search_text = searchable_text(page, request, queued_by=queued_by)
    return AddRequest(page, request.to_xml(), search_text, metadata, queued_by=queued_by)


def max_returned(request: qbxml.Request) -> int | None:
    """Return the largest number of objects that a query asks for, or None if it has no such number."""
    text = request.element.findtext(SIZE, "").strip()
    return int(text) if len(text) <= MAX_DIGITS and text.isdecimal() and text.isascii() else None
