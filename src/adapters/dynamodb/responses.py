"""Responses, which are stored before the transaction that refers to them.

A transaction writes an item twice, and the body is the largest item of a request. So a response that fits the body item
is stored there by a plain write, and a larger one in chunks (`response_chunks.py`). The record, in the transaction,
names the attempt that stored its response.

The plain write is done only for a body that exists and that no other attempt has written to. Therefore nothing is
overwritten or stored after a removal, however late a call arrives. In every other case, the transaction stores the
response. A transaction in which a sent request ends otherwise, or is queued again, writes to the body as well: a
response that arrives later is not stored, and one that no transaction refers to is removed (decision 0065).
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from adapters.dynamodb import keys
from adapters.dynamodb.bodies import HAS_BODY, MAX_INLINE_RESPONSE_BYTES, body_update, pack
from adapters.dynamodb.response_chunks import index_attributes
from adapters.dynamodb.transactions import LOST_ANSWERS, new_commit_id, outcome_of
from domain.records.request import State

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from adapters.dynamodb.client import DynamoDB
    from adapters.dynamodb.keys import Item
    from adapters.dynamodb.response_chunks import ResponseChunks
    from domain.storage.changes import ChangeRequest

MAX_WRITERS = 10
"""The responses of a commit that are stored at the same time."""


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
        if len(changes) < 2:  # noqa: PLR2004 - no need for a thread
            return {change.after.id: self._store(change) for change in changes}
        with ThreadPoolExecutor(min(len(changes), MAX_WRITERS)) as writers:
            stored = writers.map(self._store, changes)
            return dict(zip((change.after.id for change in changes), stored, strict=True))

    def discard(self, stored: Mapping[str, StoredResponse]) -> None:
        """Remove the chunks of a commit that was not made. The removal of the request finds what is left."""
        with suppress(ClientError, *LOST_ANSWERS):
            for request_id, response in stored.items():
                if response.chunks:
                    self._chunks.discard(request_id, response.chunks)

    def _store(self, change: ChangeRequest) -> StoredResponse:
        attempt = new_commit_id()
        if len((change.response_xml or "").encode()) > MAX_INLINE_RESPONSE_BYTES:
            return StoredResponse(attempt, chunks=self._chunks.store(change, attempt))
        is_first = change.before.state is State.SENT
        return StoredResponse(attempt, in_body=is_first and self._store_in_body(change, attempt))

    def _store_in_body(self, change: ChangeRequest, attempt: str) -> bool:
        """Store a response with its search text. Return whether it is stored for certain."""
        update = body_update(self._dynamodb.tables.payloads, change.after.id, response_attributes(change, attempt))
        update["ConditionExpression"] = (
            f"{HAS_BODY} AND (attribute_not_exists({keys.RESPONSE_ATTEMPT}) OR "
            f"{keys.RESPONSE_ATTEMPT} = :{keys.RESPONSE_ATTEMPT})"
        )
        try:
            self._dynamodb.client.update_item(**update)
        except (ClientError, *LOST_ANSWERS) as error:
            outcome_of(error)  # raises an error that is not the database's
            return False
        return True


def response_attributes(change: ChangeRequest, attempt: str) -> Item:
    """Return the attributes of a body with the response of a change, which fits it, and with its search text."""
    response: Item = {keys.RESPONSE: {"B": pack(change.response_xml)}} if change.response_xml else {}
    return response | {keys.RESPONSE_ATTEMPT: {"S": attempt}} | search_attributes(change)


def search_attributes(change: ChangeRequest) -> Item:
    """Return the attributes of a body with the search text of a change, which put it into the index again."""
    if change.search_text is None:
        return {}
    return index_attributes(change.after) | {keys.SEARCH_TEXT: {"S": change.search_text}}
