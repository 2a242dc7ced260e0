"""The pages of an iterated query: the record of each page, and the number of objects that it requests.

The stored request stays as its author wrote it. The request that is sent differs only in `MaxReturned`
(docs/decisions/0014).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from domain.requests.record import FIRST_IN_LINE, Paging, QueuedRequest, State, Webhook, timestamp
from domain.requests.search_text import searchable_text
from domain.storage.changes import AddRequest

if TYPE_CHECKING:
    from datetime import datetime

    from domain import qbxml
    from domain.ports import IdSource

SIZE = "MaxReturned"


def page_size(record: QueuedRequest, request: qbxml.Request) -> int | None:
    """Return the number of objects that `record` requests, or None if it is not a page of an iterated query."""
    expected = "Start" if record.paging.page == 1 else "Continue"
    if request.iterator != expected:
        return None
    return record.paging.page_size or _max_returned(request)


def with_page_size(request: qbxml.Request, size: int | None) -> qbxml.Request:
    """Return the request for pages of `size` objects, or the unchanged request if `size` is None."""
    if size is None or size == _max_returned(request):
        return request
    element = request.element
    children = tuple(child._replace(text=str(size)) if child.name == SIZE else child for child in element.children)
    return replace(request, element=element._replace(children=children))


def smaller_page(record: QueuedRequest) -> int | None:
    """Return half the size of the first page of an iterated query, or None if it cannot be halved."""
    paging = record.paging
    if paging.page > 1 or paging.page_size is None or paging.page_size <= 1:
        return None
    return paging.page_size // 2


def next_page(
    record: QueuedRequest, request: qbxml.Request, iterator_id: str, new_id: IdSource, now: datetime
) -> AddRequest | None:
    """Return the record of the next page, claimed by the same session, or None if the query does not iterate."""
    if request.iterator not in {"Start", "Continue"}:
        return None
    request = request.next_page(iterator_id, record.request_label)
    moment = timestamp(now)
    page = QueuedRequest(
        id=new_id(),
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
        queue_priority=FIRST_IN_LINE,
        last_session_id=record.last_session_id,
    )
    return AddRequest(page, request.to_xml(), searchable_text(page, request))


def _max_returned(request: qbxml.Request) -> int | None:
    element = request.element.child(SIZE)
    text = ((element and element.text) or "").strip()
    return int(text) if text.isdecimal() and text.isascii() else None
