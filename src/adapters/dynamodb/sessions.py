"""The table of sessions: keys, index, items, reads and changes."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID

from adapters.dynamodb import keys
from adapters.dynamodb.client import DynamoDB, Index, key_query
from adapters.dynamodb.codec import Codec
from adapters.dynamodb.operations import Operation, put_entity
from domain.records.session import LIVE_SHARDS, Session
from domain.timestamps import minute_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adapters.dynamodb.keys import Item
    from domain.storage.changes import Put

SESSION_ID = "ticket"
"""The hash of the session ticket."""

ID_BYTES = 16
"""The size of a UUID, which is the id of a request."""

LIVE = Index("live")
"""The sparse index of live sessions, in `LIVE_SHARDS` partitions. It has the minute of the last call, so an entry is
rewritten at most once a minute."""
LIVE_SHARD = "live"
LIVE_MINUTE = "live_minute"
LAST_MINUTE = "9999"


class _SessionCodec(Codec[Session]):
    """Stores the ids of all requests in flight as one text of 16 bytes for each id, in Base64.

    An item with the ids of 20 requests is then written for one unit, which covers 1,024 bytes.
    """

    def item(self, entity: Session) -> Item:
        """Return the item of a session."""
        return super().item(_with_ids(entity, lambda request_ids: (_packed(request_ids),)))

    def entity(self, item: Item) -> Session:
        """Return the session of an item."""
        return _with_ids(super().entity(item), lambda stored: tuple(_unpacked(*stored)))


def _with_ids(session: Session, convert: Callable[[tuple[str, ...]], tuple[str, ...]]) -> Session:
    if session.in_flight is None:
        return session
    return replace(session, in_flight=replace(session.in_flight, request_ids=convert(session.held_ids)))


def _packed(request_ids: Sequence[str]) -> str:
    return urlsafe_b64encode(b"".join(UUID(request_id).bytes for request_id in request_ids)).decode()


def _unpacked(packed: str) -> list[str]:
    data = urlsafe_b64decode(packed)
    return [str(UUID(bytes=data[start : start + ID_BYTES])) for start in range(0, len(data), ID_BYTES)]


SESSIONS = _SessionCodec(Session, renamed={"id": SESSION_ID})


def session_key(session_id: str) -> Item:
    """Return the key of a session."""
    return {SESSION_ID: {"S": session_id}}


class Sessions:
    """Reads sessions, and converts their changes into operations."""

    def __init__(self, dynamodb: DynamoDB) -> None:
        self._dynamodb = dynamodb

    def session(self, session_id: str) -> Session | None:
        """Return a session with one read."""
        item = self._dynamodb.get(self._dynamodb.tables.sessions, session_key(session_id))
        return SESSIONS.entity(item) if item else None

    def silent_sessions(self, before: str, limit: int) -> Sequence[Session]:
        """Return live sessions whose last call was before the timestamp. Reads each shard, then a batch."""
        table = self._dynamodb.tables.sessions
        entries: list[Item] = []
        for shard in range(LIVE_SHARDS):
            # The minute of a call is less than the timestamp of a later call in the same minute.
            query = key_query(table, {LIVE_SHARD: str(shard)}, index=LIVE, below=(LIVE_MINUTE, before))
            entries += self._dynamodb.client.query(**query, Limit=limit)["Items"]
        sessions = self._dynamodb.entities(table, SESSIONS, (session_key(entry[SESSION_ID]["S"]) for entry in entries))
        # The index may lag behind the sessions, and has only the minute.
        silent = [session for session in sessions if not session.ended and session.last_call_at < before]
        return sorted(silent, key=lambda session: session.last_call_at)[:limit]

    def live_sessions(self, shard: int, since: str) -> int:
        """Return the number of live sessions of a shard with a call since that minute. Reads one page of the index."""
        table, minutes = self._dynamodb.tables.sessions, (LIVE_MINUTE, minute_of(since), LAST_MINUTE)
        query = key_query(table, {LIVE_SHARD: str(shard)}, index=LIVE, between=minutes)
        count: int = self._dynamodb.client.query(**query, Select="COUNT")["Count"]
        return count

    def put(self, change: Put[Session]) -> list[Operation]:
        """Return the operation that stores a session, live or about to expire."""
        session = change.after
        live = {LIVE_SHARD: {"S": str(session.shard)}, LIVE_MINUTE: {"S": minute_of(session.last_call_at)}}
        marks = keys.expiry(session.expires_at) if session.ended else live
        return [put_entity(self._dynamodb.tables.sessions, SESSIONS, change, marks, key=SESSION_ID)]
