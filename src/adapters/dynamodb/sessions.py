"""The table of sessions: keys, index, items, reads and changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.dynamodb import keys
from adapters.dynamodb.client import DynamoDB, Index, key_query
from adapters.dynamodb.codec import Codec
from adapters.dynamodb.operations import Operation, put_entity
from domain.records.session import LIVE_SHARDS, Session
from domain.timestamps import minute_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adapters.dynamodb.keys import Item
    from domain.storage.changes import Put

SESSION_ID = "ticket"
"""The hash of the session ticket."""

LIVE = Index("live")
"""The sparse index of live sessions, in `LIVE_SHARDS` partitions. It has the minute of the last call, so an entry is
rewritten at most once a minute."""
LIVE_SHARD = "live"
LIVE_MINUTE = "live_minute"
LAST_MINUTE = "9999"

SESSIONS = Codec(Session, renamed={"id": SESSION_ID})


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
