"""The body of a webhook."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, NotRequired

from typing_extensions import TypedDict

from domain.requests.record import State
from domain.webhooks.defaults import MAX_BODY_BYTES
from handlers.views.requests import (
    RequestErrorView,
    RequestLinks,
    error_view,
    links,
    request_json,
    response_json,
)
from handlers.views.schema import Moment, Uuid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.requests.record import StoredRequest

EventState = Literal["completed", "failed", "discarded"]

EVENT_STATES: Mapping[State, EventState] = {
    State.RESPONSE_RECEIVED: "completed",
    State.ERROR: "failed",
    State.DISCARDED: "discarded",
}
"""The names of the three final states in events."""


class WebhookEventView(TypedDict):
    """An event. `page_request_id` is the id of the record, `id` and `query_id` that of the first page of the query."""

    type: Literal["queued_request.completed", "queued_request.failed", "queued_request.discarded"]
    timestamp: Moment
    id: Uuid
    page_request_id: Uuid
    query_id: Uuid
    page: int
    last_page: bool | None
    state: EventState
    connection_id: Uuid
    request_xml: str
    request_json: dict[str, Any]
    response_xml: str | None
    response_json: list[dict[str, Any]] | None
    error: RequestErrorView | None
    links: RequestLinks
    response_omitted: NotRequired[bool]


def event_body(stored: StoredRequest, moment: str) -> bytes:
    """Return the event's JSON. It is the same for the same record and `moment`, the timestamp of the attempt.

    The text is ASCII, so receivers cannot misread its encoding. A response that makes it larger than 1 MiB, or that
    was too large to be read, is left out. Both forms are then null, and `response_omitted` is true. Raises KeyError
    if the record has not ended.
    """
    event = _event(stored, moment)
    if stored.response_xml is None and stored.record.response_size == 0:
        return _encoded(event)
    if stored.response_xml is not None:
        body = _encoded(event)
        if len(body) <= MAX_BODY_BYTES:
            return body
    return _encoded({**event, "response_xml": None, "response_json": None, "response_omitted": True})


def _event(stored: StoredRequest, moment: str) -> WebhookEventView:
    record = stored.record
    state = EVENT_STATES[record.state]
    return {
        "type": f"queued_request.{state}",  # type: ignore[typeddict-item]  # mypy does not join literals
        "timestamp": moment,
        "id": record.query_id,
        "page_request_id": record.id,
        "query_id": record.query_id,
        "page": record.paging.page,
        "last_page": record.last_page,
        "state": state,
        "connection_id": record.connection_id,
        "request_xml": stored.request_xml,
        "request_json": request_json(stored),
        "response_xml": stored.response_xml,
        "response_json": response_json(stored),
        "error": error_view(record.error),
        "links": links(record),
    }


def _encoded(event: WebhookEventView) -> bytes:
    return json.dumps(event, separators=(",", ":"), allow_nan=False).encode()
