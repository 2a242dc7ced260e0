"""The body of a webhook."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Literal, NotRequired

from typing_extensions import TypedDict

from domain.records.event_types import RESOLVED
from domain.records.request import State, WhetherExecuted
from domain.webhooks.defaults import MAX_BODY_BYTES
from handlers.views.requests import (
    Metadata,
    RequestErrorView,
    RequestLinks,
    RequestTree,
    ResponseJson,
    Result,
    Simulated,
    error_view,
    links,
    request_json,
    response_json,
    result,
)
from handlers.views.schema import Moment, Schema, Uuid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.records.request import StoredRequest

EventState = Literal["completed", "failed", "discarded"]

EVENT_STATES: Mapping[State, EventState] = {
    State.RESPONSE_RECEIVED: "completed",
    State.ERROR: "failed",
    State.DISCARDED: "discarded",
}
"""The names of the three final states in events."""


class WebhookEventView(TypedDict):
    """The body of a webhook. Members may be added."""

    type: Literal[
        "queued_request.completed", "queued_request.failed", "queued_request.discarded", "queued_request.resolved"
    ]
    timestamp: Annotated[Moment, Schema("The time of the webhook attempt")]
    id: Annotated[Uuid, Schema("The id of page 1. It equals `query_id`")]
    page_request_id: Annotated[Uuid, Schema("The id of the queued request")]
    query_id: Annotated[Uuid, Schema("The id of page 1, which all pages of an iterated query share")]
    page: Annotated[int, Schema("1, or the page of an iterated query", minimum=1)]
    last_page: Annotated[bool | None, Schema("Whether this is the last page")]
    state: EventState
    label: Annotated[str | None, Schema("The label of the request")]
    metadata: Metadata
    connection_id: Uuid
    request_xml: str
    request_json: RequestTree
    response_xml: Annotated[str | None, Schema("The response exactly as QuickBooks sent it")]
    response_json: Annotated[ResponseJson | None, Schema("The same response")]
    result: Annotated[
        Result | None,
        Schema(
            "The elements of the response. Null if the request failed, or with `result_omitted` or `response_omitted`"
        ),
    ]
    error: RequestErrorView | None
    executed: Annotated[WhetherExecuted | None, Schema("Whether QuickBooks has executed the write. Null for a query")]
    links: RequestLinks
    simulated: NotRequired[Simulated]
    result_omitted: NotRequired[
        Annotated[bool, Schema("True when the event was too large for `result` beside `response_json`")]
    ]
    response_omitted: NotRequired[
        Annotated[bool, Schema("True when the response was too large for an event: get `links.self`")]
    ]


def event_body(stored: StoredRequest, moment: str, **further: str) -> bytes:
    """Return the event's JSON. It is the same for the same record and `moment`, the timestamp of the attempt.

    `further` are members that only the feed has, and the type of an event that is not of the end of the request.

    The text is ASCII, so receivers cannot misread its encoding. What makes it larger than 1 MiB is left out: first the
    result, then both forms of the response, which are also left out if the response was too large to be read. The
    members are then null, and `result_omitted` or `response_omitted` is true. Raises KeyError if the record has not
    ended.
    """
    event: WebhookEventView = {**_event(stored, moment), **further}  # type: ignore[typeddict-item]
    elements = result(stored, event["response_json"])
    if stored.response_xml is None and stored.record.response_size == 0:
        return _encoded(event)
    if stored.response_xml is not None:
        # The text of a large response takes much memory, so it is made without the result first.
        body = _encoded(event if elements is None else {**event, "result_omitted": True})
        if len(body) <= MAX_BODY_BYTES:
            whole = b"" if elements is None else _encoded({**event, "result": elements})
            return whole if 0 < len(whole) <= MAX_BODY_BYTES else body
    return _encoded({**event, "response_xml": None, "response_json": None, "response_omitted": True})


def resolved_event_body(stored: StoredRequest, moment: str) -> bytes:
    """Return the JSON of the event that a write was settled."""
    return event_body(stored, moment, type=RESOLVED)


def _event(stored: StoredRequest, moment: str) -> WebhookEventView:
    record = stored.record
    state = EVENT_STATES[record.state]
    event: WebhookEventView = {
        "type": f"queued_request.{state}",  # type: ignore[typeddict-item]  # mypy does not join literals
        "timestamp": moment,
        "id": record.query_id,
        "page_request_id": record.id,
        "query_id": record.query_id,
        "page": record.paging.page,
        "last_page": record.last_page,
        "state": state,
        "label": record.label,
        "metadata": dict(stored.metadata),
        "connection_id": record.connection_id,
        "request_xml": stored.request_xml,
        "request_json": request_json(stored),
        "response_xml": stored.response_xml,
        "response_json": response_json(stored),
        "result": None,
        "error": error_view(record.error),
        "executed": record.executed,
        "links": links(record),
    }
    if record.simulated:
        event["simulated"] = True
    return event


def _encoded(event: WebhookEventView) -> bytes:
    return json.dumps(event, separators=(",", ":"), allow_nan=False).encode()
