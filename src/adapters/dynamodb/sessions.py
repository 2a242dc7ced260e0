"""Web Connector sessions: how they are stored and read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.dynamodb import keys
from adapters.dynamodb.codec import Codec
from adapters.dynamodb.database import Database, key_query
from adapters.dynamodb.transactions import Operation, put_revision
from domain.web_connector.session.record import Session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.storage.changes import Change

SESSIONS = Codec(Session, renamed={"id": keys.SESSION_ID})


class Sessions(Database):
    """Reads sessions."""

    def session(self, session_id: str) -> Session | None:
        """Return a session with one read."""
        item = self._get(self._tables.sessions, keys.session_key(session_id))
        return SESSIONS.entity(item) if item else None

    def silent_sessions(self, before: str, limit: int) -> Sequence[Session]:
        """Return live sessions whose last call was before the timestamp. Reads the sparse index, then one batch."""
        table = self._tables.sessions
        query = key_query(table, keys.LIVE_PARTITION, index=keys.LIVE_SESSIONS_INDEX, below=(keys.LAST_CALL_AT, before))
        entries = self._client.query(**query, Limit=limit)["Items"]
        items = self._batch_get({table: [keys.session_key(entry[keys.SESSION_ID]["S"]) for entry in entries]})[table]
        # The index may lag behind the sessions.
        sessions = [session for session in map(SESSIONS.entity, items) if not session.ended]
        silent = [session for session in sessions if session.last_call_at < before]
        return sorted(silent, key=lambda session: session.last_call_at)

    def _put_session(self, before: Session | None, after: Session, change: Change) -> Operation:
        item = SESSIONS.item(after) | keys.expiry(after.expires_at) | ({} if after.ended else keys.LIVE_MARK)
        revision = before.revision if before else None
        return put_revision(self._tables.sessions, item, revision, change, SESSIONS.entity)
