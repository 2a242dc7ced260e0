"""Operations: the entries of a transaction, with the conditions that they check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adapters.dynamodb import keys

if TYPE_CHECKING:
    from collections.abc import Callable

    from adapters.dynamodb.codec import Codec, CompressedCodec
    from adapters.dynamodb.keys import Item
    from domain.storage.changes import Change, Put


@dataclass(frozen=True, slots=True)
class Operation:
    """One entry of a transaction.

    The entry checks the condition of `change`, which is None if there is no condition. `decode` converts the stored
    item to the `current` of a Conflict. `is_new` means that it stores a new entity.
    """

    entry: dict[str, Any]
    change: Change | None = None
    decode: Callable[[Item], object | None] = lambda _: None
    is_new: bool = False

    def entry_of(self, commit_id: str) -> dict[str, Any]:
        """Return the entry. An item that is stored on a condition gets the id of the commit."""
        put = self.entry.get("Put", {})
        if "ConditionExpression" not in put:
            return self.entry
        return {"Put": put | {"Item": put["Item"] | {keys.COMMIT_ID: {"S": commit_id}}}}

    @staticmethod
    def is_own(item: Item, commit_id: str) -> bool:
        """Whether a stored item is from this commit."""
        return item.get(keys.COMMIT_ID) == {"S": commit_id}

    def may_be_own_later(self, item: Item) -> bool:
        """Whether a stored item may be the new entity of this operation, after others have changed it.

        Most ids are random, so they prove it. The id of a request that queues another one again does not: several calls
        may store it, each with its own time of insertion.
        """
        if not self.is_new:
            return False
        own: Item | None = self.entry["Put"]["Item"].get(keys.INSERTED_AT)
        return bool(item.get(keys.INSERTED_AT, own) == own)


def put(table: str, item: Item) -> Operation:
    """Store an item without a condition."""
    return Operation({"Put": {"TableName": table, "Item": item}})


def delete(table: str, key: Item) -> Operation:
    """Delete an item without a condition."""
    return Operation({"Delete": {"TableName": table, "Key": key}})


def put_if(
    table: str,
    item: Item,
    condition: str,
    change: Change,
    decode: Callable[[Item], object | None] = lambda _: None,
    *,
    values: Item | None = None,
    is_new: bool = False,
) -> Operation:
    """Store an item if a condition on the stored item holds. `values` are the values of the placeholders."""
    entry: dict[str, Any] = {
        "TableName": table,
        "Item": item,
        "ConditionExpression": condition,
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    if values:
        entry["ExpressionAttributeValues"] = values
    return Operation({"Put": entry}, change, decode, is_new)


def put_revision(
    table: str,
    item: Item,
    before: int | None,
    change: Change,
    decode: Callable[[Item], object | None],
    *,
    key: str = keys.ID,
) -> Operation:
    """Store an entity if the stored one has the revision `before`, or if `before` is None and none is stored."""
    if before is None:
        return put_if(table, item, f"attribute_not_exists({key})", change, decode, is_new=True)
    return put_if(table, item, f"{keys.REVISION} = :before", change, decode, values={":before": {"N": str(before)}})


def put_entity(
    table: str,
    codec: Codec[Any] | CompressedCodec[Any],
    change: Put[Any],
    marks: Item | None = None,
    *,
    key: str = keys.ID,
) -> Operation:
    """Store an entity with `marks`, which are attributes that are not fields. `key` is the key of the table."""
    before = change.before.revision if change.before else None
    item = codec.item(change.after) | (marks or {})
    return put_revision(table, item, before, change, codec.entity, key=key)
