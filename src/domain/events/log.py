"""Appends events to the log of an app, after the commits that caused them.

The stream of the records reports each commit at least once, and several shards of it at the same time. One conditional
put gives a group of events its position, directly behind the newest group. The first group has its position from a
transaction that begins the log, and only one succeeds. Therefore every group at a lower position was stored before, and
no event can appear behind one that was read (decision 0080).
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from domain.errors import Conflict, TooManyRequests
from domain.records.event import EventGroup
from domain.storage.changes import AppendEvents, BeginLog
from domain.timestamps import timestamp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.records.event import LoggedEvent
    from domain.storage.ports import LogStore

KEPT = timedelta(days=7)
"""How long the feed shows an event."""

REMOVED_AFTER = KEPT + timedelta(hours=1)
"""When the database may remove a group. The feed has not shown it for an hour, so no reader finds a gap."""

REMOVED_LATER = timedelta(hours=1)
"""The database may remove a group at the earliest this long after another one became the newest. Until then, every read
of the newest groups that began before has ended, so none finds an empty log."""

LEAP = 3_600_000
"""How many positions a log begins behind the beginning of a former one at least, if that is known: the milliseconds of
an hour. The former log has fewer groups than the clocks of the callers differ by milliseconds, or a clock passed it."""

LOOK_BACK = 16
"""How many of the newest groups are read before an append. A repeated event is recognised in them. With one event each,
they have less than 4 KB, which DynamoDB reads for one unit."""

MAX_TRIES = 20
"""The maximum number of times that other appends may be faster. The stream then repeats the events."""


def append_events(store: LogStore, app_id: str, events: Sequence[LoggedEvent], now: datetime) -> int:
    """Append events as one group, without those that the newest groups already contain. Return how many were appended.

    Nothing is appended for an app that does not exist. Raises TooManyRequests or an error of the database. Then the
    events may have been appended, and the call can be repeated.
    """
    if not events:
        return 0
    for _ in range(MAX_TRIES):
        newest, former = _newest(store, app_id)
        known = {event for group in newest for event in group.events}
        new = tuple(event for event in dict.fromkeys(events) if event not in known)
        if new and not newest and store.app(app_id) is None:
            return 0
        if new:
            change = _behind(newest[0], new, now) if newest else _first(app_id, former, new, now)
            try:
                store.commit(change)
            except Conflict:
                continue
            newest = [change.group, *newest]
        _let_older_groups_expire(store, newest, now)
        return len(new)
    raise TooManyRequests("Too many events of this app at the same time.")


def _newest(store: LogStore, app_id: str) -> tuple[Sequence[EventGroup], int | None]:
    """Return the newest groups, and where the former log began if there are none.

    The groups are read again after the beginning. Otherwise a log that began between the two reads would be taken for a
    former one.
    """
    if newest := store.newest_event_groups(app_id, LOOK_BACK):
        return newest, None
    former = store.log_beginning(app_id)
    return store.newest_event_groups(app_id, LOOK_BACK), former


def _first(app_id: str, former: int | None, events: tuple[LoggedEvent, ...], now: datetime) -> BeginLog:
    """Return the change that begins a log, behind all cursors of a former log that was lost.

    A log begins at the time in milliseconds. Groups are appended more slowly than that, so the clock passes a log. If
    it is known where the former log began, a clock that stands behind it does no harm.
    """
    position = int(now.timestamp() * 1_000)
    if former is not None:
        position = max(position, former + LEAP)
    return BeginLog(EventGroup(app_id, position, timestamp(now), events, is_first=True), former)


def _behind(head: EventGroup, events: tuple[LoggedEvent, ...], now: datetime) -> AppendEvents:
    """Return the change that appends a group behind the newest one."""
    return AppendEvents(EventGroup(head.app_id, head.position + 1, max(timestamp(now), head.at), events))


def _let_older_groups_expire(store: LogStore, newest: Sequence[EventGroup], now: datetime) -> None:
    """Set the expiry of the groups behind the newest one. Usually one has none. A crash can leave more."""
    for group in newest[1:]:
        if group.expires_at is None:
            removed_at = max(datetime.fromisoformat(group.at) + REMOVED_AFTER, now + REMOVED_LATER)
            store.let_event_group_expire(replace(group, expires_at=int(removed_at.timestamp())))
