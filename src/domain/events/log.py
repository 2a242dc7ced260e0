"""Appends events to the log of an app, after the commits that caused them.

The stream of the records reports each commit at least once, and several shards of it at the same time. One conditional
put gives a group of events its position, directly behind the newest group. Therefore every group at a lower position
was stored before, and no event can appear behind one that was read (decision 0080).
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from domain.errors import Conflict, TooManyRequests
from domain.records.event import EventGroup
from domain.storage.changes import AppendEvents
from domain.timestamps import timestamp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.records.event import LoggedEvent
    from domain.storage.ports import Database

KEPT = timedelta(days=7)
"""How long the feed shows an event."""

REMOVED_AFTER = KEPT + timedelta(hours=1)
"""When the database may remove a group. The feed has not shown it for an hour, so no reader finds a gap."""

LOOK_BACK = 16
"""How many of the newest groups are read before an append. A repeated event is recognised in them. With one event each,
they have less than 4 KB, which DynamoDB reads for one unit."""

MAX_TRIES = 20
"""The maximum number of times that other appends may be faster. The stream then repeats the events."""


def append_events(store: Database, app_id: str, events: Sequence[LoggedEvent], now: datetime) -> int:
    """Append events as one group, without those that the newest groups already contain. Return how many were appended.

    Nothing is appended for an app that does not exist. Raises TooManyRequests or an error of the database. Then the
    events may have been appended, and the call can be repeated.
    """
    if not events:
        return 0
    for _ in range(MAX_TRIES):
        newest = store.newest_event_groups(app_id, LOOK_BACK)
        known = {event for group in newest for event in group.events}
        new = tuple(event for event in dict.fromkeys(events) if event not in known)
        if new and not newest and store.app(app_id) is None:
            return 0
        if new:
            group = _next_group(app_id, newest[0] if newest else None, new, now)
            try:
                store.commit(AppendEvents(group))
            except Conflict:
                continue
            newest = [group, *newest]
        _let_older_groups_expire(store, newest)
        return len(new)
    raise TooManyRequests("Too many events of this app at the same time.")


def _next_group(app_id: str, head: EventGroup | None, events: tuple[LoggedEvent, ...], now: datetime) -> EventGroup:
    """Return the group behind the newest one.

    A log begins at the time in milliseconds. Groups are appended more slowly than that, so a log that begins again
    because its table was lost begins behind all cursors of the former log.
    """
    if head is None:
        return EventGroup(app_id, int(now.timestamp() * 1_000), timestamp(now), events, is_first=True)
    return EventGroup(app_id, head.position + 1, max(timestamp(now), head.at), events)


def _let_older_groups_expire(store: Database, newest: Sequence[EventGroup]) -> None:
    """Set the expiry of the groups behind the newest one. Usually one has none. A crash can leave more."""
    for group in newest[1:]:
        if group.expires_at is None:
            removed_at = datetime.fromisoformat(group.at) + REMOVED_AFTER
            store.let_event_group_expire(replace(group, expires_at=int(removed_at.timestamp())))
