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
from domain.timestamps import ANY_TIME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.records.audit import Action
    from domain.storage.changes import Put
    from domain.timestamps import TimeRange

POSITION = "position"
ACTION = "action"

OF_CONNECTION = Index("of_connection")

AUDIT_ENTRIES = Codec(AuditEntry)


class AuditLog:
    """Reads audit logs, and converts new entries into operations."""

    def __init__(self, dynamodb: DynamoDB) -> None:
        self._dynamodb = dynamodb

    def audit_entries(
        self,
        app_id: str,
        connection_id: str | None,
        before: str | None,
        limit: int,
        *,
        action: Action | None = None,
        within: TimeRange = ANY_TIME,
    ) -> tuple[Sequence[AuditEntry], str | None]:
        """Look at the newest entries of an app or a connection, newest first, with one query.

        Return those that are meant, and the position before which there may be more, or None.
        """
        # A connection belongs to one app, so its entries do too.
        equal = {keys.APP_ID: app_id} if connection_id is None else {keys.CONNECTION_ID: connection_id}
        query = key_query(
            self._dynamodb.tables.audit_log,
            equal,
            index=None if connection_id is None else OF_CONNECTION,
            # A position begins with its time.
            below=(POSITION, upper) if (upper := min(filter(None, (before, within.end)), default=None)) else None,
            consistent=connection_id is None,
        )
        if action:
            query["FilterExpression"] = f"#{ACTION} = :{ACTION}"
            query["ExpressionAttributeNames"][f"#{ACTION}"] = ACTION
            query["ExpressionAttributeValues"][f":{ACTION}"] = {"S": action}
        page = self._dynamodb.client.query(**query, ScanIndexForward=False, Limit=limit)
        entries = [AUDIT_ENTRIES.entity(item) for item in page["Items"]]
        last = page["LastEvaluatedKey"][POSITION]["S"] if "LastEvaluatedKey" in page else ""
        return [entry for entry in entries if entry.at in within], last if last > within.first else None

    def put(self, change: Put[AuditEntry]) -> list[Operation]:
        """Return the operation that stores an entry."""
        return [put_entity(self._dynamodb.tables.audit_log, AUDIT_ENTRIES, change, key=keys.APP_ID)]
