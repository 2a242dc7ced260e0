"""Responses, which are stored before the transaction that refers to them.

A transaction writes an item twice, and the body is the largest item of a request. So a response that fits the body item
is stored there by a plain write, and a larger one in chunks (`response_chunks.py`). The record, in the transaction,
names the attempt that stored its response. The responses of a message set are written with one call, because a call
takes more processor time than what it writes.

The plain write is done only for a body that exists and that no other attempt has written to. Therefore nothing is
overwritten or stored after a removal, however late a call arrives. In every other case, the transaction stores the
response. A transaction in which a sent request ends otherwise, or is queued again, writes to the body as well: a
response that arrives later is not stored, and one that no transaction refers to is removed (decision 0065).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from adapters.dynamodb import keys
from adapters.dynamodb.bodies import HAS_BODY, MAX_INLINE_RESPONSE_BYTES, body_update
from adapters.dynamodb.compression import pack, packed_text, utf8_size
from adapters.dynamodb.response_chunks import index_attributes
from adapters.dynamodb.transactions import LOST_ANSWERS, new_commit_id, outcome_of
from domain.records.request import State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from adapters.dynamodb.client import DynamoDB
    from adapters.dynamodb.keys import Item
    from adapters.dynamodb.response_chunks import ResponseChunks
    from domain.storage.changes import ChangeRequest

MAX_WRITERS = 10
"""The calls that store responses of a commit at the same time."""

MAX_STATEMENTS = 25
"""DynamoDB: BatchExecuteStatement takes at most 25 statements."""

MAX_BATCH_BYTES = 1024 * 1024
"""The attributes of one batch. A repetition after a lost answer sends all of them again."""

_ATTEMPT = keys.RESPONSE_ATTEMPT

_CONDITION = f"{HAS_BODY} AND (attribute_not_exists({_ATTEMPT}) OR {_ATTEMPT} = :{_ATTEMPT})"
"""The body exists, and no other attempt has written to it."""

_CONDITION_OF_STATEMENT = (
    f'"{keys.REQUEST_ID}" = ? AND "{keys.PART}" = ? '
    f'AND ("{keys.REQUEST}" IS NOT MISSING OR "{keys.REQUEST_CHUNKS}" IS NOT MISSING) AND "{keys.REMOVED}" IS MISSING '
    f'AND ("{_ATTEMPT}" IS MISSING OR "{_ATTEMPT}" = ?)'
)
"""The same in PartiQL. Every body has its request or the number of its chunks, so the condition does not rely on the
rule that an update in PartiQL fails if the item is missing."""


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """Where the response of a change is: in the chunks of this name, or in the body.

    If it is not `in_body` yet, the transaction stores it there.
    """

    attempt: str
    chunks: str = ""
    in_body: bool = False


class Responses:
    """Stores the responses of changes before their transaction."""

    def __init__(self, dynamodb: DynamoDB, chunks: ResponseChunks) -> None:
        self._dynamodb = dynamodb
        self._chunks = chunks

    def store(self, changes: Sequence[ChangeRequest]) -> Mapping[str, StoredResponse]:
        """Store the responses of changes. Return where they are, by request.

        Raises Conflict if the record of a large response was removed.
        """
        attempts = [_Attempt(change, new_commit_id()) for change in changes]
        stored = {attempt.request_id: StoredResponse(attempt.name) for attempt in attempts}
        first = [attempt for attempt in attempts if not attempt.is_large and attempt.change.before.state is State.SENT]
        writes: list[Callable[[], Mapping[str, StoredResponse]]] = [
            *(partial(self._store_in_chunks, attempt) for attempt in attempts if attempt.is_large),
            *(partial(self._store_in_bodies, batch) for batch in _batches(first)),
        ]
        for found in self._at_once(writes):
            stored |= found
        return stored

    @staticmethod
    def _at_once(
        writes: Sequence[Callable[[], Mapping[str, StoredResponse]]],
    ) -> Sequence[Mapping[str, StoredResponse]]:
        if len(writes) < 2:  # noqa: PLR2004 - no need for a thread
            return [write() for write in writes]
        with ThreadPoolExecutor(min(len(writes), MAX_WRITERS)) as writers:
            return list(writers.map(lambda write: write(), writes))

    def discard(self, stored: Mapping[str, StoredResponse]) -> None:
        """Remove the chunks of a commit that was not made. The removal of the request finds what is left."""
        with suppress(ClientError, *LOST_ANSWERS):
            for request_id, response in stored.items():
                if response.chunks:
                    self._chunks.discard(request_id, response.chunks)

    def _store_in_chunks(self, attempt: _Attempt) -> Mapping[str, StoredResponse]:
        chunks = self._chunks.store(attempt.change, attempt.name)
        return {attempt.request_id: StoredResponse(attempt.name, chunks=chunks)}

    def _store_in_bodies(self, batch: Sequence[_Attempt]) -> Mapping[str, StoredResponse]:
        """Store responses with their search texts. Return those that are stored for certain."""
        try:
            done = self._write_all(batch) if len(batch) > 1 else self._write_one(*batch)
        except (ClientError, *LOST_ANSWERS) as error:
            outcome_of(error)  # raises an error that is not the database's
            return {}
        return {attempt.request_id: StoredResponse(attempt.name, in_body=True) for attempt in done}

    def _write_one(self, attempt: _Attempt) -> Sequence[_Attempt]:
        update = body_update(self._dynamodb.tables.payloads, attempt.request_id, attempt.attributes)
        self._dynamodb.client.update_item(**update, ConditionExpression=_CONDITION)
        return [attempt]

    def _write_all(self, batch: Sequence[_Attempt]) -> Sequence[_Attempt]:
        """Write each on its own condition, and return those that DynamoDB has stored."""
        statements = [attempt.statement(self._dynamodb.tables.payloads) for attempt in batch]
        results = self._dynamodb.client.batch_execute_statement(Statements=statements)["Responses"]
        return [attempt for attempt, result in zip(batch, results, strict=True) if "Error" not in result]


class _Attempt:
    """An attempt to store the response of a change."""

    def __init__(self, change: ChangeRequest, name: str) -> None:
        self.change = change
        self.request_id = change.after.id
        self.name = name
        self.is_large = utf8_size(change.response_xml or "") > MAX_INLINE_RESPONSE_BYTES

    @cached_property
    def attributes(self) -> Item:
        """The attributes of the body with the response."""
        return response_attributes(self.change, self.name)

    @property
    def size(self) -> int:
        """The size of the attributes, in bytes and characters."""
        return sum(len(content) for value in self.attributes.values() for content in value.values())

    def statement(self, table: str) -> dict[str, Any]:
        """Return the statement of a batch that stores the response."""
        sets = "".join(f' SET "{name}" = ?' for name in self.attributes)
        key = keys.payload_key(self.request_id)
        return {
            "Statement": f'UPDATE "{table}"{sets} WHERE {_CONDITION_OF_STATEMENT}',
            "Parameters": [*self.attributes.values(), key[keys.REQUEST_ID], key[keys.PART], {"S": self.name}],
        }


def _batches(attempts: Sequence[_Attempt]) -> Iterator[list[_Attempt]]:
    """Yield attempts in groups, each of which fits one call."""
    batch: list[_Attempt] = []
    free_bytes = MAX_BATCH_BYTES
    for attempt in attempts:
        if batch and (len(batch) == MAX_STATEMENTS or attempt.size > free_bytes):
            yield batch
            batch, free_bytes = [], MAX_BATCH_BYTES
        batch.append(attempt)
        free_bytes -= attempt.size
    if batch:
        yield batch


def response_attributes(change: ChangeRequest, attempt: str) -> Item:
    """Return the attributes of a body with the response of a change, which fits it, and with its search text."""
    response: Item = {keys.RESPONSE: {"B": pack(change.response_xml)}} if change.response_xml else {}
    return response | {keys.RESPONSE_ATTEMPT: {"S": attempt}} | search_attributes(change)


def search_attributes(change: ChangeRequest) -> Item:
    """Return the attributes of a body with the search text of a change, which put it into the index again."""
    if change.search_text is None:
        return {}
    return index_attributes(change.after) | {keys.SEARCH_TEXT: packed_text(change.search_text)}
