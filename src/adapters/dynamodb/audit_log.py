"""The table of audit logs: keys, index, items, reads and changes.

An item is replaced only to complete the entry of a call on many requests. No function may update or delete items.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.dynamodb import keys
from adapters.dynamodb.client import DynamoDB, Index, key_query
from adapters.dynamodb.codec import Codec
from adapters.dynamodb.operations import Operation, put_entity
from domain.records.audit import AuditEntry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.storage.changes import Put

POSITION = "position"

OF_CONNECTION = Index("of_connection")

AUDIT_ENTRIES = Codec(AuditEntry)


class AuditLog:
    """Reads audit logs, and converts new entries into operations."""

    def __init__(self, dynamodb: DynamoDB) -> None:
        self._dynamodb = dynamodb

    def audit_entries(
        self, app_id: str, connection_id: str | None, before: str | None, limit: int
    ) -> tuple[Sequence[AuditEntry], bool]:
        """Return the newest entries of an app or a connection, newest first, with one query.

        The second value tells whether there may be more.
        """
        # A connection belongs to one app, so its entries do too.
        equal = {keys.APP_ID: app_id} if connection_id is None else {keys.CONNECTION_ID: connection_id}
        query = key_query(
            self._dynamodb.tables.audit_log,
            equal,
            index=None if connection_id is None else OF_CONNECTION,
            below=(POSITION, before) if before else None,
            consistent=connection_id is None,
        )
        page = self._dynamodb.client.query(**query, ScanIndexForward=False, Limit=limit)
        return [AUDIT_ENTRIES.entity(item) for item in page["Items"]], "LastEvaluatedKey" in page

    def put(self, change: Put[AuditEntry]) -> list[Operation]:
        """Return the operation that stores an entry."""
        return [put_entity(self._dynamodb.tables.audit_log, AUDIT_ENTRIES, change, key=keys.APP_ID)]
