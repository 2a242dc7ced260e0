"""The types and ids of events, and the names by which `webhook_events` asks for those of connections."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from domain.records.event import CONNECTION_OUTCOMES, EventOutcome

if TYPE_CHECKING:
    from collections.abc import Collection

    from domain.records.connection import Connection

RESOLVED = "queued_request.resolved"
"""The type of the event that a write was settled."""

CHANGES = "subscription.changes"
"""The type of the webhook with a page of changes. In the feed, each change is an event of its own."""

ALL_EVENTS = "connection.*"
"""The group of all events of connections, also of those that later versions add."""


def event_type(outcome: EventOutcome) -> str:
    """Return the type of an event of a connection, such as `connection.stalled`."""
    return f"connection.{outcome.name.lower()}"


_TYPES = {
    EventOutcome.COMPLETED: "queued_request.completed",
    EventOutcome.FAILED: "queued_request.failed",
    EventOutcome.DISCARDED: "queued_request.discarded",
    EventOutcome.RESOLVED: RESOLVED,
    EventOutcome.UNREADABLE: "queued_request.unreadable",
    EventOutcome.APPROVAL_REQUIRED: "queued_request.approval_required",
    EventOutcome.APPROVED: "queued_request.approved",
    EventOutcome.REJECTED: "queued_request.rejected",
}


def feed_type(outcome: EventOutcome) -> str:
    """Return the type of an event in the feed, such as `record.changed`. Events of deleted requests differ."""
    if outcome in CONNECTION_OUTCOMES:
        return event_type(outcome)
    return _TYPES.get(outcome) or outcome.name.lower().replace("_", ".", 1)


FEED_TYPES = tuple(feed_type(outcome) for outcome in EventOutcome if outcome is not EventOutcome.REMOVED)
"""The types of events that the feed can be filtered by."""


def checked_feed_type(name: str) -> str:
    """Return a type of the feed, or a group such as `record.*`. Raises ValueError for another text."""
    groups = {f"{known.partition('.')[0]}.*" for known in FEED_TYPES}
    if name in FEED_TYPES or name in groups:
        return name
    raise ValueError(f"is not a type of events. Use {', '.join(sorted(groups))} or one of {', '.join(FEED_TYPES)}")


def is_of_types(outcome: EventOutcome, types: Collection[str]) -> bool:
    """Return whether an event has one of these types or groups. Without any, every event does."""
    name = feed_type(outcome)
    return not types or name in types or f"{name.partition('.')[0]}.*" in types


EVENT_TYPES = tuple(event_type(outcome) for outcome in EventOutcome if outcome in CONNECTION_OUTCOMES)

WEBHOOK_EVENTS = (ALL_EVENTS, *EVENT_TYPES)
"""The values that `webhook_events` may have."""

_OTHER_NAMES_OF_ALL = frozenset({"all", "connection", "connections"})


def checked_webhook_event(name: str) -> str:
    """Return one of WEBHOOK_EVENTS. Raises ValueError for another text."""
    if name in WEBHOOK_EVENTS:
        return name
    match name.partition(".")[0]:
        case "queued_request":
            raise ValueError(
                "is an event of requests. The webhook_url of a request always gets its event, so leave it out here"
            )
        case "query":
            raise ValueError("is an event of queries, which are only in the feed, GET /events. Leave it out here")
    last_part = name.strip().lower().rpartition(".")[2]
    nearest = ALL_EVENTS if last_part in _OTHER_NAMES_OF_ALL else f"connection.{last_part}"
    hint = f"Did you mean {nearest}? " if nearest in WEBHOOK_EVENTS else ""
    raise ValueError(f"is not an event of connections. {hint}Use {', '.join(WEBHOOK_EVENTS[:-1])} or {EVENT_TYPES[-1]}")


def asks_for(connection: Connection, outcome: EventOutcome) -> bool:
    """Return whether the connection's webhook gets this event."""
    wanted = {ALL_EVENTS, event_type(outcome)}.intersection(connection.webhook_events)
    return bool(wanted and connection.webhook_url and not connection.deleted_at)


def event_id(connection_id: str, revision: int, outcome: EventOutcome) -> str:
    """Return the id of an event: the same whenever the change that reports it is read."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{connection_id}/{revision}/{event_type(outcome)}"))


def resolved_event_id(request_id: str) -> str:
    """Return the id of the event that a write was settled. It differs from that of the event of its end."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{request_id}/{RESOLVED}"))


def changes_event_id(connection_id: str, sequence: int, subscription_id: str) -> str:
    """Return the id of the webhook that tells a subscription the page of changes which begins with this number."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{connection_id}/{sequence}/{subscription_id}/{CHANGES}"))
