"""The table of sessions: keys, index, items, reads and changes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from adapters.dynamodb import keys
from adapters.dynamodb.client import DynamoDB, Index, key_query
from adapters.dynamodb.codec import Codec, CompressedCodec
from adapters.dynamodb.operations import Operation, put_entity
from domain.records.session import LIVE_SHARDS, Session
from domain.timestamps import AFTER_ALL, minute_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adapters.dynamodb.keys import Item
    from domain.storage.changes import Put

SESSION_ID = "ticket"
"""The hash of the session ticket."""

LIVE = Index("live")
"""The sparse index of live sessions, in `LIVE_SHARDS` partitions. It has the minute of the last call, so an entry is
rewritten at most once a minute."""
LIVE_SHARD = "live"
LIVE_MINUTE = "live_minute"
"""The minute of the last call, and the app by which live sessions are counted."""
LAST_MINUTE = "9999"

OF_CONNECTION = Index("of_connection")
"""The sparse index of ended sessions by connection. An entry costs one write unit, when the session ends."""
BEGAN_AT = "began_at"


FIELDS = "fields"

_DICTIONARY = (
    b'{"limits_work_until":{"S":"2026-"},"limits_linger_seconds":{"N":"60"},"in_flight":{"S":"{\\"request_ids\\":[\\"'
    b'\\"]}"},"last_response":{"S":"{\\"request_name\\":\\"CustomerQueryRq\\",\\"request_label\\":\\"'
    b'\\",\\"progress\\":1,\\"number\\":1}"},"connection":{"S":"{\\"id\\":\\"'
    b'\\",\\"app_id\\":\\"\\",\\"owner_id\\":\\"{\\",\\"file_id\\":\\"{\\",\\"inserted_at\\":\\"'
    b'\\",\\"updated_at\\":\\"\\",\\"name\\":\\"\\",\\"company_file\\":\\"\\",\\"webhook_url\\":\\"https://'
    b'\\",\\"password_changed_at\\":\\"2026-\\",\\"session_id\\":\\"\\",\\"last_connected_at\\":\\"2026-'
    b'\\",\\"qbxml_version\\":\\"16.0\\",\\"quickbooks_product_name\\":\\"QuickBooks Desktop Enterprise Solutions: '
    b'Manufacturing and Wholesale 24.0\\",\\"country\\":\\"US\\",\\"company_file_paths\\":[\\"'
    b"C:\\\\\\\\Users\\\\\\\\Public\\\\\\\\Documents\\\\\\\\Intuit\\\\\\\\QuickBooks\\\\\\\\Company Files\\\\\\\\.qbw"
    b'\\"],\\"file_id_seen\\":\\"{\\",\\"last_worked_at\\":\\"2026-\\",\\"revision\\":1}"},"company_file_key":{"S":"'
    b'"},"message_set_to_forget":{"S":"\\"},"connection_id":{"S":"'
    b'"},"last_call_at":{"S":"2026-12-31T"}}'
)
"""Texts that occur in most sessions. Stored sessions cannot be read without it, as with that of `records.py`."""

SESSIONS = CompressedCodec(Codec(Session, renamed={"id": SESSION_ID}), {SESSION_ID, keys.REVISION}, FIELDS, _DICTIONARY)
"""A session with the copy of its connection, or with many requests in flight, would otherwise take two write units."""


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
            # A minute, with an app or not, is less than the timestamp of a later call in the same minute.
            query = key_query(table, {LIVE_SHARD: str(shard)}, index=LIVE, below=(LIVE_MINUTE, before))
            entries += self._dynamodb.client.query(**query, Limit=limit)["Items"]
        sessions = self._dynamodb.entities(table, SESSIONS, (session_key(entry[SESSION_ID]["S"]) for entry in entries))
        # The index may lag behind the sessions, and has only the minute.
        silent = [session for session in sessions if not session.ended and session.last_call_at < before]
        return sorted(silent, key=lambda session: session.last_call_at)[:limit]

    def ended_sessions(self, connection_id: str, since: str, limit: int) -> Sequence[Session]:
        """Return ended sessions of a connection that began later, newest first, with one query and a batch."""
        table = self._dynamodb.tables.sessions
        began = (BEGAN_AT, since, AFTER_ALL)
        query = key_query(table, {keys.CONNECTION_ID: connection_id}, index=OF_CONNECTION, between=began)
        entries = self._dynamodb.client.query(**query, ScanIndexForward=False, Limit=limit)["Items"]
        found = {table: [session_key(entry[SESSION_ID]["S"]) for entry in entries]}
        sessions = map(SESSIONS.entity, self._dynamodb.batch_get(found, eventually={table})[table])
        return sorted(sessions, key=lambda session: session.began_at, reverse=True)

    def keys_of_ended(self, connection_id: str) -> Iterator[Item]:
        """Yield the keys of the ended sessions of a connection."""
        table = self._dynamodb.tables.sessions
        query = key_query(table, {keys.CONNECTION_ID: connection_id}, index=OF_CONNECTION, attributes=(SESSION_ID,))
        return self._dynamodb.query(query)

    def live_sessions(self, shard: int, since: str) -> Counter[str]:
        """Count the live sessions of a shard with a call since that minute by app. Reads one page of the index."""
        table, minutes = self._dynamodb.tables.sessions, (LIVE_MINUTE, minute_of(since), LAST_MINUTE)
        query = key_query(table, {LIVE_SHARD: str(shard)}, index=LIVE, between=minutes, attributes=(LIVE_MINUTE,))
        return Counter(
            entry[LIVE_MINUTE]["S"].partition("#")[2] for entry in self._dynamodb.client.query(**query)["Items"]
        )

    def put(self, change: Put[Session]) -> list[Operation]:
        """Return the operation that stores a session, live or about to expire."""
        session = change.after
        minute = f"{minute_of(session.last_call_at)}#{session.app_id}"
        live = {LIVE_SHARD: {"S": str(session.shard)}, LIVE_MINUTE: {"S": minute}}
        marks = self._marks_of_ended(session) if session.ended else live
        return [put_entity(self._dynamodb.tables.sessions, SESSIONS, change, marks, key=SESSION_ID)]

    @staticmethod
    def _marks_of_ended(session: Session) -> Item:
        """Return the expiry and the keys of the history. A session of an older release has no time of its beginning."""
        history = {keys.CONNECTION_ID: {"S": session.connection_id}, BEGAN_AT: {"S": session.began_at}}
        return keys.expiry(session.expires_at) | (history if session.began_at else {})
