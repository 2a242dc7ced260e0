"""State that a stack with an external database keeps there: queued messages and positions in streams.

In AWS, queues and event sources keep both. Here they are in memory. Without this table, planned webhook attempts would
be lost at the end of a run, and each stream would start again at its oldest record. A message is written before its
sender gets a reply, and a position after its records were handled. A message or record that is read twice after a crash
does no harm, because the stored request decides.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from moto.sqs.models import Queue

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

TABLE = "LocalRun"

DEFINITION: Mapping[str, Any] = {
    "TableName": TABLE,
    "AttributeDefinitions": [
        {"AttributeName": "kind", "AttributeType": "S"},
        {"AttributeName": "id", "AttributeType": "S"},
    ],
    "KeySchema": [
        {"AttributeName": "kind", "KeyType": "HASH"},
        {"AttributeName": "id", "KeyType": "RANGE"},
    ],
    "BillingMode": "PAY_PER_REQUEST",
}

MAX_DELAY_SECONDS = 900
"""SQS: DelaySeconds is at most 900."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message in a queue (by logical id), visible from `due` (Unix seconds) on. Attributes are not kept."""

    id: str
    queue: str
    body: str
    due: float


class KeptState:
    """Reads and writes the table; `dynamodb` is a boto3 client."""

    def __init__(self, dynamodb: Any) -> None:
        self._dynamodb = dynamodb

    def put_message(self, message: Message) -> None:
        """Store a message, or its new position."""
        facts = {"queue": message.queue, "body": message.body}
        self._put("message", message.id, {**{k: {"S": v} for k, v in facts.items()}, "due": {"N": str(message.due)}})

    def delete_message(self, message_id: str) -> None:
        """Delete a message."""
        self._dynamodb.delete_item(TableName=TABLE, Key=_key("message", message_id))

    def messages(self) -> list[Message]:
        """Return the messages that were sent and not deleted, oldest first."""
        pages = self._dynamodb.get_paginator("query").paginate(
            TableName=TABLE,
            KeyConditionExpression="kind = :kind",
            ExpressionAttributeValues={":kind": {"S": "message"}},
            ConsistentRead=True,
        )
        messages = [
            Message(item["id"]["S"], item["queue"]["S"], item["body"]["S"], float(item["due"]["N"]))
            for page in pages
            for item in page["Items"]
        ]
        return sorted(messages, key=lambda message: message.due)

    def put_position(self, reader: str, shard: str, sequence_number: str) -> None:
        """Store the position of a reader in a shard."""
        self._put("place", f"{reader} {shard}", {"sequence_number": {"S": sequence_number}})

    def position(self, reader: str, shard: str) -> str | None:
        """Return the sequence number of the last record that a reader handled, or None."""
        response = self._dynamodb.get_item(TableName=TABLE, Key=_key("place", f"{reader} {shard}"), ConsistentRead=True)
        return response["Item"]["sequence_number"]["S"] if "Item" in response else None

    def _put(self, kind: str, item_id: str, facts: dict[str, Any]) -> None:
        self._dynamodb.put_item(TableName=TABLE, Item={**_key(kind, item_id), **facts})

    @contextmanager
    def keeping_messages(self) -> Iterator[None]:
        """Store the messages of moto's queues while the block runs, from sending to deletion."""
        add, delete = Queue.add_message, Queue.delete_message

        def add_and_keep(queue: Any, message: Any) -> None:
            # A message that moves to a dead-letter queue keeps its ID, and so its row.
            if queue.fifo_queue:  # the sweep sends what wakes test connections again
                add(queue, message)
                return
            self.put_message(Message(message.id, queue.name, message.body, message.delayed_until / 1000))
            add(queue, message)

        def delete_and_forget(queue: Any, receipt_handle: str) -> None:
            ids = [message.id for message in list(queue._messages) if message.had_receipt_handle(receipt_handle)]  # noqa: SLF001 - moto's only list of them
            delete(queue, receipt_handle)
            for message_id in ids:
                self.delete_message(message_id)

        replacements = {"add_message": (add, add_and_keep), "delete_message": (delete, delete_and_forget)}
        for name, (_, replacement) in replacements.items():
            setattr(Queue, name, replacement)
        try:
            yield
        finally:
            for name, (plain, _) in replacements.items():
                setattr(Queue, name, plain)

    def restore_messages(self, sqs: Any, urls: Mapping[str, str]) -> int:
        """Send the stored messages of an earlier run to the queues; return their number. Needs `keeping_messages`.

        `urls` has the URLs of the queues by logical ID.
        """
        messages = [message for message in self.messages() if message.queue in urls]
        for message in messages:
            delay = min(max(round(message.due - time.time()), 0), MAX_DELAY_SECONDS)
            # Store the new message first. If the run ends in between, there are two, and the second attempt is dropped.
            sqs.send_message(QueueUrl=urls[message.queue], MessageBody=message.body, DelaySeconds=delay)
            self.delete_message(message.id)
        return len(messages)


def _key(kind: str, item_id: str) -> dict[str, Any]:
    return {"kind": {"S": kind}, "id": {"S": item_id}}
