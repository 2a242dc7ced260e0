"""Reservations: the time from which a login is admitted, however many sessions run.

Without them, a login could be turned away for ever: each time it calls, another one has taken the free place. The first
login that is turned away takes the next time in the line of its app. The times of an app follow one another so that,
together with other apps, as many sessions as there are places get one within five minutes. A session can be ended for
others after five minutes, so reservations add about as many sessions as there are places, and no more.

    longest wait = connections of the app * apps with sessions * 5 minutes / sessions + the Web Connector's interval

Other apps do not count with their connections. A connection that finds a free place earlier takes it. It keeps its
reservation, and uses it if it is turned away again before that time. So it is never twice in the line.

The line of an app is one counter, the last time that was given in milliseconds. A connection that does not call within
15 minutes after its time loses it. Otherwise all connections that were switched off could begin at the same moment.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from domain.storage.ports import Usage
from domain.timestamps import timestamp
from domain.web_connector.session.admission import UNDISTURBED

if TYPE_CHECKING:
    from domain.records.connection import Connection
    from domain.storage.ports import UsageCounters
    from domain.web_connector.session.admission import Reading

LINE = "sessions_reserved_until"
"""The counter of an app."""

KEPT = timedelta(minutes=15)
"""How long a reservation can be used. It is the longest time between two calls that the service asks for."""


def is_due(connection: Connection, now: datetime) -> bool:
    """Whether a connection has a reservation that it can use now."""
    reserved = connection.reserved_at
    return reserved is not None and timestamp(now - KEPT) <= reserved <= timestamp(now)


def interval(reading: Reading, app_id: str) -> timedelta:
    """Return the time between two reservations of an app."""
    return UNDISTURBED * reading.apps_with(app_id) / reading.budget.sessions


def reserved(store: UsageCounters, reading: Reading, connection: Connection, now: datetime) -> str:
    """Return the time of a connection's reservation. Takes the next one with one or two calls if it has none."""
    if connection.reserved_at and connection.reserved_at > timestamp(now):
        return connection.reserved_at
    length = int(interval(reading, connection.app_id) / timedelta(milliseconds=1))
    earliest = int(now.timestamp() * 1000) + length
    last = store.add_usage(connection.app_id, LINE, length).total
    if last < earliest:
        # Nobody was waiting. If two logins find that at once, they share a time.
        last = earliest
        store.set_usage(connection.app_id, LINE, Usage(last))
    return timestamp(datetime.fromtimestamp(last / 1000, UTC))
