"""The table of sessions: keys, index, items, reads and changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.dynamodb import keys
from adapters.dynamodb.client import DynamoDB, Index, key_query
from adapters.dynamodb.codec import Codec
from adapters.dynamodb.operations import Operation, put_entity
from domain.records.session import Session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adapters.dynamodb.keys import Item
    from domain.storage.changes import Put

SESSION_ID = "ticket"
"""The hash of the session ticket."""

LIVE = Index("live")
LIVE_PARTITION = {"live": "live"}
"""The one partition of the sparse index of live sessions. Each Web Connector call rewrites one entry. A partition takes
1,000 writes a second (DynamoDB), which is enough for some thousands of Web Connectors."""
LIVE_MARK: Item = {"live": {"S": "live"}}
LAST_CALL_AT = "last_call_at"

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
        """Return live sessions whose last call was before the timestamp. Reads the sparse index, then one batch."""
        table = self._dynamodb.tables.sessions
        query = key_query(table, LIVE_PARTITION, index=LIVE, below=(LAST_CALL_AT, before))
        entries = self._dynamodb.client.query(**query, Limit=limit)["Items"]
        item_keys = (session_key(entry[SESSION_ID]["S"]) for entry in entries)
        sessions = self._dynamodb.entities(table, SESSIONS, item_keys)
        # The index may lag behind the sessions.
        silent = [session for session in sessions if not session.ended and session.last_call_at < before]
        return sorted(silent, key=lambda session: session.last_call_at)

    def put(self, change: Put[Session]) -> list[Operation]:
        """Return the operation that stores a session, live or about to expire."""
        session = change.after
        marks = keys.expiry(session.expires_at) if session.ended else LIVE_MARK
        return [put_entity(self._dynamodb.tables.sessions, SESSIONS, change, marks, key=SESSION_ID)]
