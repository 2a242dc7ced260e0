"""Many requests of a connection, in parts: which requests are meant, and where the next part begins.

A walk looks at the entries of a listing index that are not later than its beginning, in order of time. What is inserted
or changed afterwards is not in it, so a walk comes to an end. Each record is read before it is judged, because an entry
may be outdated. Requests that are chosen by their ids are read without an index.
"""

from __future__ import annotations

import hashlib
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from domain.errors import InvalidRequest, QuotaExceeded
from domain.records.batch import id_at
from domain.storage.ports import IndexEntry, IndexStretch
from domain.timestamps import AFTER_ALL, timestamp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime

    from domain.records.connection import Connection
    from domain.records.request import QueuedRequest
    from domain.storage.ports import QueueStore

MAX_CURSOR_LENGTH = 300

FIRST_TIME = "0"
"""Sorts before every timestamp."""

LAST_ID = "~"
"""Sorts after every id."""

INDEX_LAG = timedelta(minutes=1)
"""An index shows what is older than this. DynamoDB usually takes less than a second."""


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a walk that looks at entries up to the timestamp `until`: behind the entry `after`."""

    until: str
    after: IndexEntry | None = None

    def cursor(self, *subject: Any) -> str:
        """Return the text that continues a walk here. `subject` is what the walk does, as JSON."""
        after = (self.after.moment, self.after.id) if self.after else ()
        text = json.dumps([_digest(subject), self.until, *after], separators=(",", ":"))
        return urlsafe_b64encode(text.encode()).decode().rstrip("=")

    @classmethod
    def of(cls, cursor: str | None, now: datetime, *subject: Any, before: str | None = None) -> Place:
        """Return the place of a cursor, or the beginning of a new walk, which ends now. Raises InvalidRequest.

        With `before`, a timestamp, it ends there if that is earlier.
        """
        if cursor is None:
            return cls(min(timestamp(now), before or AFTER_ALL))
        match _decoded(cursor):
            case [str(digest), str(until), str(moment), str(id_)] if digest == _digest(subject) and moment and id_:
                return cls(until, IndexEntry(id_, moment))
        raise InvalidRequest.of("cursor", "must be the `next` of a former answer to the same call")


def _digest(subject: Any) -> str:
    return hashlib.sha256(json.dumps(subject, sort_keys=True).encode()).hexdigest()[:16]


def _decoded(cursor: str) -> Any:
    try:
        return json.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (Error, ValueError, RecursionError):
        return None


@dataclass(frozen=True, slots=True)
class Part:
    """Some requests of a walk, in order, each with its entry. `following` is the place behind them, None at the end."""

    requests: Sequence[tuple[IndexEntry, QueuedRequest]]
    following: Place | None


@dataclass(frozen=True, slots=True)
class Walk:
    """The requests of a stretch of an index, up to the time of the first part.

    A part has at most `part_size` requests. With `queue_too`, also the requests that have not ended and are too new for
    the index, which lags. With `ids`, only the requests of the connection that have these, in one part and one batch.
    """

    store: QueueStore
    stretch: IndexStretch
    part_size: int
    ids: Sequence[str] | None = None
    queue_too: bool = False

    @property
    def connection_id(self) -> str:
        """The id of the connection."""
        return self.stretch.connection_id

    def parts(self, place: Place, now: datetime) -> Iterator[Part]:
        """Yield the parts behind a place."""
        if self.ids is not None:
            yield self._chosen(place, self.ids)
            return
        following: Place | None = place
        newest = self._newest(now) if self.queue_too and place.until >= timestamp(now - INDEX_LAG) else ()
        while following:
            entries, following = self._part(following, newest)
            records = {record.id: record for record in self.store.records_by_id([entry.id for entry in entries])}
            yield Part([(entry, records[entry.id]) for entry in entries if entry.id in records], following)

    def _chosen(self, place: Place, ids: Sequence[str]) -> Part:
        records = {
            IndexEntry(record.id, record.inserted_at): record
            for record in self.store.records_by_id(list(dict.fromkeys(ids)))
            if record.connection_id == self.connection_id
        }
        after = _order(place.after) if place.after else ("", "")
        behind = sorted((entry for entry in records if _order(entry) > after), key=_order)
        return Part([(entry, records[entry]) for entry in behind], None)

    def _part(self, place: Place, newest: Sequence[IndexEntry]) -> tuple[Sequence[IndexEntry], Place | None]:
        """Return the next entries in order, and the place behind them, or None at the end."""
        beginning = place.after or IndexEntry("", self.stretch.first)
        if beginning.moment > place.until:
            return [], None
        stretch = replace(self.stretch, last=place.until, after=place.after)
        in_index = list(self.store.next_index_entries(stretch, self.part_size))
        last = (place.until, LAST_ID)
        behind = [entry for entry in newest if _order(beginning) < _order(entry) <= last]
        # What the index may have behind its last entry is behind this part too.
        entries = sorted({entry.id: entry for entry in (*in_index, *behind)}.values(), key=_order)
        part = entries[: self.part_size]
        return part, replace(place, after=part[-1]) if len(part) == self.part_size else None

    def _newest(self, now: datetime) -> Sequence[IndexEntry]:
        """Return entries for all requests of the last minute that have not ended, read consistently.

        A request in flight is not in the queue. A request that is claimed or returned during the read is found all the
        same, because those in flight are read before and after the queue. A request that waits for another one of its
        batch is not in the queue either. It is found from that one, which has its position.
        """
        connection = self.store.connection(self.connection_id)
        level = [*self._in_flight(connection)]
        for low_lane in (False, True) if connection and connection.has_low_lane else (False,):
            level += self._queued_since(timestamp(now - INDEX_LAG), low_lane=low_lane)
        level += self._in_flight(self.store.connection(self.connection_id))
        found = {record.id: record for record in level}
        while ids := {id_at(record.id, other) for record in level for other in record.dependants} - found.keys():
            level = list(self.store.records_by_id(sorted(ids)))
            found |= {record.id: record for record in level}
        return [IndexEntry(record.id, record.inserted_at) for record in found.values()]

    def _in_flight(self, connection: Connection | None) -> Sequence[QueuedRequest]:
        session = self.store.session(connection.session_id) if connection and connection.session_id else None
        return self.store.records_by_id(session.ids_in_flight) if session and session.ids_in_flight else ()

    def _queued_since(self, moment: str, *, low_lane: bool) -> Iterator[QueuedRequest]:
        """Yield the requests that entered the lane since a timestamp."""
        after: IndexEntry | None = IndexEntry("", moment)
        while after:
            queue = self.store.queued_after(self.connection_id, after, AFTER_ALL, self.part_size, low_lane=low_lane)
            yield from queue
            is_full = len(queue) == self.part_size
            after = IndexEntry(queue[-1].id, queue[-1].place_in_queue[1]) if is_full else None


def counted_parts(walk: Walk, place: Place, now: datetime, check_read: Callable[[], None]) -> Iterator[Part]:
    """Yield the parts of a walk behind a place. Each is a read of the app, as a page of a list is.

    The call itself counted the first part. Ends early if the reads of the app are used up: `following` of the last part
    then continues the walk.
    """
    parts = walk.parts(place, now)
    with suppress(QuotaExceeded):
        while part := next(parts, None):
            yield part
            check_read()


def _order(entry: IndexEntry) -> tuple[str, str]:
    return entry.moment, entry.id
