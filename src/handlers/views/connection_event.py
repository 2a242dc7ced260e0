"""The events of connections, in webhooks and in the feed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typing_extensions import TypedDict

from domain.records.event_types import event_id, event_type
from handlers.views.schema import Moment, Schema, Uuid

if TYPE_CHECKING:
    from domain.records.connection import Connection
    from domain.records.event import EventOutcome
    from domain.webhooks.ports import PlannedEvent


class EventConnectionLinks(TypedDict):
    """Paths of a connection in the API and in the console."""

    self: str
    ui: str


class ConnectionEventMembers(TypedDict):
    """The members that the event of a connection has in its webhook and in the feed."""

    type: Literal[
        "connection.connected",
        "connection.stalled",
        "connection.calling_again",
        "connection.company_file_mismatch",
        "connection.company_file_path_changed",
        "connection.password_changed",
    ]
    id: Annotated[Uuid, Schema("The id of the event, which is also the `webhook-id` of its webhook")]
    connection_id: Uuid
    name: Annotated[str | None, Schema("The name of the connection")]
    last_error: Annotated[dict[str, Any] | None, Schema("The last error of the connection now, as in its record")]
    links: EventConnectionLinks


class ConnectionWebhookEventView(ConnectionEventMembers):
    """The body of a webhook for an event of a connection. Members may be added."""

    timestamp: Annotated[Moment, Schema("The time of the webhook attempt")]
    occurred_at: Annotated[Moment, Schema("When it happened")]


def connection_event(connection: Connection, revision: int, outcome: EventOutcome) -> ConnectionEventMembers:
    """Return the members of an event that was reported by the change to this revision of the connection."""
    return {
        "type": event_type(outcome),  # type: ignore[typeddict-item]  # mypy does not know the texts
        "id": event_id(connection.id, revision, outcome),
        "connection_id": connection.id,
        "name": connection.name,
        "last_error": connection.last_error,
        "links": {"self": f"/api/v1/connections/{connection.id}", "ui": f"/app/connections/{connection.id}"},
    }


def connection_event_body(connection: Connection, planned_event: PlannedEvent, moment: str) -> bytes:
    """Return the body of a webhook as JSON in ASCII. `moment` is the timestamp of the attempt."""
    view: ConnectionWebhookEventView = {
        **connection_event(connection, planned_event.revision, planned_event.outcome),
        "timestamp": moment,
        "occurred_at": planned_event.occurred_at,
    }
    return json.dumps(view, separators=(",", ":"), allow_nan=False).encode()
