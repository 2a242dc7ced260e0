"""The events of the feed: those of webhooks with a cursor, and those that only the feed has."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

from typing_extensions import TypeAliasType, TypedDict

from domain.records.batch import batch_id
from domain.records.connection import Connection
from domain.records.event import CHANGE_OUTCOMES, CONNECTION_OUTCOMES, QUERY_OUTCOMES, EventOutcome
from domain.records.event_types import RESOLVED
from domain.records.request import State
from domain.records.subscription import ChangePage
from handlers.views.changes_event import change_view
from handlers.views.connection_event import ConnectionEventMembers, connection_event
from handlers.views.requests import (
    ApprovalView,
    Metadata,
    RequestErrorView,
    RequestLinks,
    Simulated,
    approval_view,
    error_view,
    links,
)
from handlers.views.schema import Moment, Schema, Uuid
from handlers.views.webhook_event import EVENT_STATES, EventState, WebhookEventView, event_body

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.events.feed import FeedEvent
    from domain.records.request import QueuedRequest, StoredRequest

CursorText = Annotated[str, Schema("The place behind this event, for `after`", examples=["1773489600000"])]


class RequestEventView(WebhookEventView):
    """A request has ended, or a write was settled.

    The members are those of the webhook; `timestamp` is when the event entered the feed. An event that is too large for
    an answer has only the members that are required: get the request by `page_request_id`.
    """

    cursor: CursorText


class QueryEventView(TypedDict):
    """An iterated query has ended: the event behind that of its last page."""

    type: Literal["query.completed", "query.failed"]
    timestamp: Annotated[Moment, Schema("When the event entered the feed")]
    cursor: CursorText
    id: Annotated[Uuid, Schema("The id of page 1. It equals `query_id`")]
    query_id: Uuid
    page_request_id: Annotated[Uuid, Schema("The id of the last page")]
    connection_id: Uuid
    request_name: Annotated[str, Schema(examples=["CustomerQueryRq"])]
    state: Annotated[EventState, Schema("How the last page ended")]
    label: Annotated[str | None, Schema("The label of the query")]
    pages: Annotated[int, Schema("The number of pages", minimum=1)]
    completed_pages: Annotated[int, Schema("The number of pages with a response", minimum=0)]
    error: RequestErrorView | None
    links: Annotated[RequestLinks, Schema("Of the last page")]
    simulated: NotRequired[Simulated]


class ApprovalEventView(TypedDict):
    """A request waits for approval, or somebody has decided about it. Only the feed has this event."""

    type: Literal["queued_request.approval_required", "queued_request.approved", "queued_request.rejected"]
    timestamp: Annotated[Moment, Schema("When the event entered the feed")]
    cursor: CursorText
    page_request_id: Annotated[Uuid, Schema("The id of the queued request")]
    batch_id: Annotated[Uuid | None, Schema("The batch of the request")]
    connection_id: Uuid
    request_name: Annotated[str, Schema(examples=["InvoiceAddRq"])]
    subject: Annotated[str | None, Schema("What the request is about, such as a customer, a number and an amount")]
    label: Annotated[str | None, Schema("The label of the request")]
    metadata: Metadata
    state: Annotated[State, Schema("The state of the request now")]
    approval: ApprovalView
    send_by: Annotated[
        Moment | None, Schema("When the request ends without a decision, or after it, when it must have been sent")
    ]
    links: RequestLinks
    simulated: NotRequired[Simulated]


class ConnectionEventView(ConnectionEventMembers):
    """Something has happened to a connection."""

    timestamp: Annotated[Moment, Schema("When the event entered the feed")]
    cursor: CursorText


class DeletedConnectionEventView(TypedDict):
    """The connection of an event was deleted."""

    type: Literal["connection.deleted"]
    timestamp: Annotated[Moment, Schema("When the event entered the feed")]
    cursor: CursorText
    connection_id: Uuid
    state: Literal["deleted"]


RecordSequence = Annotated[
    int, Schema("Rises with each change of a connection. Ignore a lower one than you have of a record")
]
RecordGeneration = Annotated[int, Schema("The snapshot that the change belongs to. Later ones have a higher number")]


class RecordChangedEventView(TypedDict):
    """A record of a subscription has changed, or a snapshot has read it."""

    type: Literal["record.changed"]
    timestamp: Annotated[Moment, Schema("When the event entered the feed")]
    cursor: CursorText
    connection_id: Uuid
    object: Annotated[str, Schema("The object of QuickBooks", examples=["Invoice"])]
    id: Annotated[str, Schema("The ListID or TxnID", examples=["80000001-1"])]
    sequence: RecordSequence
    generation: RecordGeneration
    edit_sequence: Annotated[str | None, Schema("The EditSequence of the record")]
    time_modified: Annotated[str | None, Schema("The time of the change by the clock of the books")]
    record: Annotated[
        dict[str, Any] | None, Schema("The record, as in the JSON of a response. Null with `record_omitted`")
    ]
    record_omitted: NotRequired[
        Annotated[bool, Schema("True when the record is too large for an event: query it by its id")]
    ]


class RecordDeletedEventView(TypedDict):
    """A record of a subscription was deleted."""

    type: Literal["record.deleted"]
    timestamp: Annotated[Moment, Schema("When the event entered the feed")]
    cursor: CursorText
    connection_id: Uuid
    object: Annotated[str, Schema("The object of QuickBooks", examples=["Invoice"])]
    id: Annotated[str, Schema("The ListID or TxnID", examples=["80000001-1"])]
    sequence: RecordSequence
    generation: RecordGeneration
    time_deleted: Annotated[str | None, Schema("The time of the deletion by the clock of the books")]


class RecordDerivedEventView(TypedDict):
    """Fields of a list entry that QuickBooks computes have changed. They are not in `record`, and do not replace it."""

    type: Literal["record.derived"]
    timestamp: Annotated[Moment, Schema("When the event entered the feed")]
    cursor: CursorText
    connection_id: Uuid
    object: Annotated[str, Schema("The list of QuickBooks", examples=["Customer"])]
    id: Annotated[str, Schema("The ListID", examples=["80000001-1"])]
    sequence: Annotated[
        int,
        Schema("Ignore derived fields with a lower one than those that you have. It says nothing about the record"),
    ]
    generation: Annotated[int, Schema("The last snapshot of the list")]
    as_of: Annotated[Moment, Schema("When QuickBooks was asked")]
    derived: Annotated[dict[str, Any], Schema("The fields, such as `Balance`, as in the JSON of a response")]


class SubscriptionEventView(TypedDict):
    """Something has happened to the reading of the objects of subscriptions."""

    type: Literal[
        "subscription.snapshot_started",
        "subscription.snapshot_completed",
        "subscription.failed",
        "subscription.recovered",
        "subscription.resync_required",
    ]
    timestamp: Annotated[Moment, Schema("When the event entered the feed")]
    cursor: CursorText
    connection_id: Uuid
    object: Annotated[str | None, Schema("The object, or null if all are meant", examples=["Invoice"])]
    sequence: Annotated[int, Schema("Rises with each change of a connection")]
    generation: Annotated[
        int, Schema("The number of the snapshot. When it is completed, remove records with a lower number")
    ]
    records: NotRequired[Annotated[int, Schema("How many records the snapshot had", minimum=0)]]
    reason: NotRequired[Annotated[str, Schema("What happened, for people")]]


class BriefEventView(TypedDict):
    """A request or a query was deleted, or its event could not be made (`unreadable`): its ids."""

    type: Literal["queued_request.deleted", "query.deleted", "queued_request.unreadable"]
    timestamp: Annotated[Moment, Schema("When the event entered the feed")]
    cursor: CursorText
    page_request_id: Annotated[Uuid, Schema("The id of the queued request")]
    connection_id: Uuid
    state: Literal["deleted", "unreadable"]


FeedEventView = TypeAliasType(
    "FeedEventView",
    Annotated[
        RequestEventView
        | QueryEventView
        | ApprovalEventView
        | ConnectionEventView
        | DeletedConnectionEventView
        | RecordChangedEventView
        | RecordDeletedEventView
        | RecordDerivedEventView
        | SubscriptionEventView
        | BriefEventView,
        Schema("An event. Its `type` tells which members it has"),
    ],
)


class FeedView(TypedDict):
    """Events in the order in which they entered the feed."""

    data: list[FeedEventView]
    next: Annotated[str, Schema("The cursor for the next call. Store it when you have processed `data`")]
    has_more: Annotated[bool, Schema("Whether there may be more events behind `next`")]


def feed_event(  # noqa: PLR0911 - one return for each kind of event
    event: FeedEvent, stored: StoredRequest | Connection | ChangePage | None
) -> str:
    """Return an event as JSON in ASCII. `stored` is None if the request or the connection was deleted."""
    outcome = event.logged.outcome
    if outcome is EventOutcome.UNREADABLE:
        return brief_event(event, "queued_request.unreadable", "unreadable")
    match stored:
        case ChangePage():
            return _page_event(event, stored)
        case Connection():
            return _connection_event(event, stored)
        case None:
            return _deleted_event(event)
    if outcome in QUERY_OUTCOMES:
        return _query_event(event, stored.record)
    if outcome in CHANGE_OUTCOMES:
        return _approval_event(event, stored)
    return event_body(stored, event.at, type=_type(event, stored), cursor=str(event.cursor)).decode()


def too_large_event(event: FeedEvent, stored: StoredRequest) -> str:
    """Return the event of a request whose content does not fit into an answer."""
    return brief_event(event, _type(event, stored), EVENT_STATES[stored.record.state])


def _type(event: FeedEvent, stored: StoredRequest) -> str:
    if event.logged.outcome is EventOutcome.RESOLVED:
        return RESOLVED
    return f"queued_request.{EVENT_STATES[stored.record.state]}"


def brief_event(event: FeedEvent, event_type: str, state: str) -> str:
    """Return an event with ids only: a BriefEventView, or what a RequestEventView has that is too large."""
    view = {
        "type": event_type,
        "timestamp": event.at,
        "cursor": str(event.cursor),
        "page_request_id": event.logged.request_id,
        "connection_id": event.logged.connection_id,
        "state": state,
    }
    return _encoded(view)


def _connection_event(event: FeedEvent, connection: Connection) -> str:
    logged = event.logged
    view: ConnectionEventView = {
        **connection_event(connection, logged.revision, logged.outcome),
        "timestamp": event.at,
        "cursor": str(event.cursor),
    }
    return _encoded(view)


def _page_event(event: FeedEvent, page: ChangePage) -> str:
    """Return an event of a page: that of a record or of a subscription."""
    change = change_view(page, _changes(page.changes)[event.index], event.index)
    return _encoded({**change, "timestamp": event.at, "cursor": str(event.cursor), "connection_id": page.connection_id})


@lru_cache(maxsize=2)
def _changes(text: str) -> list[dict[str, Any]]:
    """Return the changes of a page. It is read once for all its events, which follow each other."""
    changes: list[dict[str, Any]] = json.loads(text)
    return changes


def _deleted_event(event: FeedEvent) -> str:
    if event.logged.outcome not in CONNECTION_OUTCOMES:
        kind = "query" if event.logged.outcome in QUERY_OUTCOMES else "queued_request"
        return brief_event(event, f"{kind}.deleted", "deleted")
    view: DeletedConnectionEventView = {
        "type": "connection.deleted",
        "timestamp": event.at,
        "cursor": str(event.cursor),
        "connection_id": event.logged.connection_id,
        "state": "deleted",
    }
    return _encoded(view)


def _query_event(event: FeedEvent, record: QueuedRequest) -> str:
    completed = record.state is State.RESPONSE_RECEIVED
    view: QueryEventView = {
        "type": "query.completed" if completed else "query.failed",
        "timestamp": event.at,
        "cursor": str(event.cursor),
        "id": record.query_id,
        "query_id": record.query_id,
        "page_request_id": record.id,
        "connection_id": record.connection_id,
        "request_name": record.request_name,
        "state": EVENT_STATES[record.state],
        "label": record.label,
        "pages": record.paging.page,
        "completed_pages": record.paging.page - (not completed),
        "error": error_view(record.error),
        "links": links(record),
    }
    if record.simulated:
        view["simulated"] = True
    return _encoded(view)


def _approval_event(event: FeedEvent, stored: StoredRequest) -> str:
    record, approval = stored.record, approval_view(stored.record)
    if approval is None:
        raise AssertionError("only a request that needs approval has such an event")
    view: ApprovalEventView = {
        "type": f"queued_request.{event.logged.outcome.name.lower()}",  # type: ignore[typeddict-item]  # mypy does not join literals
        "timestamp": event.at,
        "cursor": str(event.cursor),
        "page_request_id": record.id,
        "batch_id": batch_id(record.id),
        "connection_id": record.connection_id,
        "request_name": record.request_name,
        "subject": record.subject,
        "label": record.label,
        "metadata": dict(stored.metadata),
        "state": record.state,
        "approval": approval,
        "send_by": record.send_by_time,
        "links": links(record),
    }
    if record.simulated:
        view["simulated"] = True
    return _encoded(view)


def _encoded(view: Mapping[str, Any]) -> str:
    return json.dumps(view, separators=(",", ":"), allow_nan=False)
