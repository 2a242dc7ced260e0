"""The table of idempotency keys: key, item and change."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from adapters.dynamodb import keys
from adapters.dynamodb.codec import Codec
from adapters.dynamodb.operations import Operation, put_if
from domain.storage.changes import ClaimIdempotencyKey, IdempotencyClaim

if TYPE_CHECKING:
    from adapters.dynamodb.client import DynamoDB
    from adapters.dynamodb.keys import Item

IDEMPOTENCY_CLAIMS = Codec(IdempotencyClaim)


def idempotency_key(app_id: str, key: str) -> Item:
    """Return the key of a claim: a hash, so that the claims of one app are spread over all partitions."""
    return keys.id_key(hashlib.sha256(f"{app_id}#{key}".encode()).hexdigest())


class IdempotencyKeys:
    """Reads claims, and converts them into operations."""

    def __init__(self, dynamodb: DynamoDB) -> None:
        self._dynamodb = dynamodb

    def idempotency_claim(self, app_id: str, key: str) -> IdempotencyClaim | None:
        """Return the claim of a key, which may have expired. One read."""
        item = self._dynamodb.get(self._dynamodb.tables.idempotency_keys, idempotency_key(app_id, key))
        return IDEMPOTENCY_CLAIMS.entity(item) if item else None

    def claim(self, change: ClaimIdempotencyKey) -> list[Operation]:
        """Return the operation that claims a key."""
        # DynamoDB removes expired keys within days, not at once.
        condition = f"attribute_not_exists({keys.ID}) OR {keys.EXPIRES_AT} <= :now"
        values = {":now": {"N": str(change.now)}}
        if change.released:
            condition += " OR record_id = :released"
            values[":released"] = {"S": change.released}
        operation = put_if(
            self._dynamodb.tables.idempotency_keys,
            IDEMPOTENCY_CLAIMS.item(change.claim) | idempotency_key(change.app_id, change.key),
            condition,
            change,
            IDEMPOTENCY_CLAIMS.entity,
            values=values,
        )
        return [operation]
