"""The low lane of a connection: requests that nobody waits for, such as those of a backfill.

Of ten message sets at least one is of the low lane while a request waits there (`records.session`). Sessions look there
only if the connection has a low lane, so that all others pay nothing for it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from domain.connections.service import live_session
from domain.errors import InvalidRequest
from domain.storage.changes import Put
from domain.storage.retry import commit_with_retry
from domain.timestamps import timestamp

if TYPE_CHECKING:
    from domain.connections.cache import ConnectionCache
    from domain.ports import Clock
    from domain.qbxml import Request
    from domain.storage.changes import Change
    from domain.storage.ports import NewRequestStore

NO_ITERATOR = (
    "cannot be low for an iterated query: requests of the normal lane would wait until its last page. Cut it into "
    "ranges, each a query of its own without an iterator: by time (ModifiedDateRangeFilter, FromModifiedDate and "
    "ToModifiedDate), name (NameRangeFilter) or number (RefNumberRangeFilter)"
)


def check_low(request: Request, *, may_iterate: bool) -> None:
    """Raise InvalidRequest if a request cannot be of the low lane, because it is sent in pages, or may be."""
    if may_iterate or request.iterator is not None:
        raise InvalidRequest.of("priority", NO_ITERATOR)


def begin_low_lane(
    store: NewRequestStore, cache: ConnectionCache, clock: Clock, app_id: str, connection_id: str
) -> None:
    """Give the connection a low lane for ever, unless it has one.

    A live session is changed too, because it does not read its connection while it runs. Raises TooManyRequests.
    """

    def attempt(_: object) -> None:
        connection = cache.read(app_id, connection_id)
        if connection.has_low_lane:
            return
        changes: list[Change] = [Put(connection, replace(connection, has_low_lane=True).changed(timestamp(clock())))]
        if session := live_session(store, connection):
            changes.append(Put(session, session.with_low_lane()))
        store.commit(*changes)
        cache.read(app_id, connection_id)

    if not cache.get(app_id, connection_id).has_low_lane:
        commit_with_retry(attempt, "The connection is being changed. Try again in a moment.")
