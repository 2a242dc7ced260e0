"""The pages of an iterated query: the record of each, and how many objects it is asked for.

The stored request stays what its author asked for; what goes out differs in `MaxReturned` only (decision 0014).
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
    """Return how many objects `record` asks for; None for what does not iterate, or begins in the middle."""
    begins = "Start" if record.paging.page == 1 else "Continue"
    if request.iterator != begins:
        return None
    return record.paging.page_size or _asked_for(request)


def of_size(request: qbxml.Request, size: int | None) -> qbxml.Request:
    """Return the request for pages of `size` objects; as it is without one."""
    if size is None or size == _asked_for(request):
        return request
    element = request.element
    children = tuple(child._replace(text=str(size)) if child.name == SIZE else child for child in element.children)
    return replace(request, element=element._replace(children=children))


def smaller_page(record: QueuedRequest) -> int | None:
    """Return half of what the first page of an iterated query was asked for; None when there is no less."""
    paging = record.paging
    if paging.page > 1 or paging.page_size is None or paging.page_size <= 1:
        return None
    return paging.page_size // 2


def next_page(
    record: QueuedRequest, request: qbxml.Request, iterator_id: str, *, ticket: str, new_id: IdSource, now: datetime
) -> AddRequest | None:
    """Return the record of the page after `record`, already claimed; None when the query does not iterate."""
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
        paging=Paging(record.paging.page + 1, record.event_id, record.paging.page_size),
        queue_priority=FIRST_IN_LINE,
        last_session_id=ticket,
    )
    return AddRequest(page, request.to_xml(), searchable_text(page, request))


def _asked_for(request: qbxml.Request) -> int | None:
    asked = request.element.child(SIZE)
    text = ((asked and asked.text) or "").strip()
    return int(text) if text.isdecimal() and text.isascii() else None
