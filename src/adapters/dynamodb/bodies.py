"""Request and response bodies: compressed, and in chunks where one item cannot hold them.

The body item of a record holds the request XML and a response that a list may show, so that a list reads two items
for each record. A larger response is stored in chunks. DynamoDB limits an item to 400 KB.

One item for each body would need two batches for 50 records, and an index of the parts that exist. Bodies in the record
would be written again with each of its changes. Storing a small response costs no more than adding an item: DynamoDB
bills the larger of the old and the new size. QBXML shrinks to about a tenth.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from adapters.dynamodb import keys
from adapters.dynamodb.compression import beginning, pack, packed_text, unpack
from adapters.dynamodb.torn_reads import PartMissing
from domain import qbxml
from domain.records.audit import Actor, ActorType
from domain.records.batch import position_of
from domain.records.lookup import FieldChange
from domain.records.request import ListedRequest, State, StoredRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from adapters.dynamodb.keys import Item
    from domain.records.request import QueuedRequest
    from domain.storage.changes import AddRequest

CHUNK_BYTES = 350 * 1024
MAX_INLINE_RESPONSE_BYTES = 256 * 1024
"""The largest response that a list item shows, in bytes of UTF-8."""
MAX_INLINE_REQUEST_BYTES = 64 * 1024
"""A compressed size. With a response of `MAX_INLINE_RESPONSE_BYTES` that does not compress, the item is under 400
KB."""

HAS_BODY = f"attribute_exists({keys.REQUEST_ID}) AND attribute_not_exists({keys.REMOVED})"
"""The condition that the record was not removed."""

BODY_IN_FLIGHT = (
    keys.REQUEST_ID,
    keys.PART,
    keys.REMOVED,
    keys.REQUEST,
    keys.REQUEST_CHUNKS,
    keys.REFERENCES,
    keys.METADATA,
    keys.QUEUED_BY,
    keys.MODIFICATION,
    keys.RESPONSE,
    keys.RESPONSE_ATTEMPT,
)
"""The attributes of a body that a session needs. The search text is the longest of the others."""


def unpack_within(bodies: Iterable[bytes | None], max_bytes: int) -> Iterator[str | None]:
    """Yield the texts that `pack` compressed, and None for None and for each text that does not fit.

    The texts that are yielded have at most `max_bytes` of UTF-8. Not more than that is decompressed of any text.
    """
    for packed in bodies:
        data = b"" if packed is None else beginning(packed, max_bytes + 1)
        fits = packed is not None and len(data) <= max_bytes
        max_bytes -= len(data) if fits else 0
        yield data.decode() if fits else None


def new_body_items(change: AddRequest) -> list[Item]:
    """Return the body item of a new record, and the chunks of a request that is too large for it."""
    record, packed = change.record, pack(change.request_xml)
    body = _body_key(record) | {keys.SEARCH_TEXT: packed_text(change.search_text)}
    body |= reference_attributes(change.references)
    if change.metadata:
        body[keys.METADATA] = {"B": pack(json.dumps(change.metadata, ensure_ascii=False, separators=(",", ":")))}
    if change.replaces:
        body[keys.REPLACES] = {"S": change.replaces}
    if change.queued_by:
        parts = change.queued_by.type, change.queued_by.id, change.queued_by.name
        body[keys.QUEUED_BY] = {"L": [{"S": part or ""} for part in parts]}
    if len(packed) <= MAX_INLINE_REQUEST_BYTES:
        return [body | {keys.REQUEST: {"B": packed}}]
    chunks = _request_chunk_items(record.id, packed)
    return [body | {keys.REQUEST_CHUNKS: {"N": str(len(chunks))}}, *chunks]


def reference_attributes(references: Sequence[qbxml.Reference]) -> Item:
    """Return the attribute of a body with the references of its request, or none without references."""
    if not references:
        return {}
    members = [[reference.source, reference.path, reference.place, reference.value] for reference in references]
    return {keys.REFERENCES: {"B": pack(json.dumps(members, ensure_ascii=False, separators=(",", ":")))}}


def lacks_values(record: QueuedRequest, references: Sequence[qbxml.Reference]) -> bool:
    """Whether a reference has no value although the record no longer waits for it.

    The commit that ends the wait stores the value, unless the record ends without its values in that commit.
    """
    if record.lacks_values and record.state is not State.WAITING:
        return False
    return any(
        reference.value is None and position_of(reference.source) not in record.dependencies for reference in references
    )


def removed_item(record: QueuedRequest) -> Item:
    """Return the marker that replaces the body of a removed record until no search block contains its text."""
    return _body_key(record) | {keys.REMOVED: {"BOOL": True}}


def _body_key(record: QueuedRequest) -> Item:
    return keys.search_index_key(record.connection_id, record.inserted_at, record.id)


def _request_chunk_items(request_id: str, packed: bytes) -> list[Item]:
    """Return the chunks of a compressed request."""
    pieces = [packed[start : start + CHUNK_BYTES] for start in range(0, len(packed), CHUNK_BYTES)]
    item_keys = keys.chunk_keys(request_id, keys.REQUEST, len(pieces))
    return [key | {keys.DATA: {"B": piece}} for key, piece in zip(item_keys, pieces, strict=True)]


def body_update(table: str, request_id: str, attributes: Item, removed: Sequence[str] = ()) -> dict[str, Any]:
    """Return the parameters of an update that sets attributes of a body item and removes others."""
    expression = "SET " + ", ".join(f"#{name} = :{name}" for name in attributes)
    if removed:
        expression += " REMOVE " + ", ".join(f"#{name}" for name in removed)
    return {
        "TableName": table,
        "Key": keys.payload_key(request_id),
        "UpdateExpression": expression,
        "ExpressionAttributeNames": {f"#{name}": name for name in (*attributes, *removed)},
        "ExpressionAttributeValues": {f":{name}": value for name, value in attributes.items()},
    }


def modification_attributes(modification_xml: str | None, changes: Sequence[FieldChange]) -> Item:
    """Return the attributes of a body with a Mod and the fields that it changes, or none without one."""
    if not modification_xml:
        return {}
    members = [[change.field, change.old, change.new] for change in changes]
    packed = pack(json.dumps(members, ensure_ascii=False, separators=(",", ":")))
    return {keys.MODIFICATION: {"B": pack(modification_xml)}, keys.FIELD_CHANGES: {"B": packed}}


class Bodies:
    """The bodies of one record, from its payload items."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._items = {item[keys.PART]["S"]: item for item in items}

    @classmethod
    def of(cls, items: Sequence[Item]) -> Bodies | None:
        """Return the bodies in these items, or None if the record was removed."""
        has_body = any(item[keys.PART] == {"S": keys.BODY} and keys.REMOVED not in item for item in items)
        return cls(items) if has_body else None

    def __or__(self, chunks: Sequence[Item]) -> Bodies:
        """Return these bodies with chunks."""
        return Bodies([*self._items.values(), *chunks])

    def missing_chunks(self, request_id: str, response_chunks: str = "") -> list[Item]:
        """Return the keys of the chunks of the request and the response that have not been read yet."""
        needed = [
            *keys.chunk_keys(request_id, keys.REQUEST, self._request_chunks),
            *keys.response_chunk_keys(request_id, response_chunks),
        ]
        return [key for key in needed if key[keys.PART]["S"] not in self._items]

    @property
    def packed_request(self) -> bytes:
        """The compressed request. Raises PartMissing if one of its chunks was not read."""
        return self._packed(keys.REQUEST, keys.chunk_keys("", keys.REQUEST, self._request_chunks))

    def is_older_than(self, record: QueuedRequest) -> bool:
        """Whether the record has a response in the body item, but the body was read before that was stored there."""
        return bool(record.response_attempt and not self._has_response_of(record))

    def packed_response(self, record: QueuedRequest) -> bytes | None:
        """Return the compressed response, or None if the record has none. Raises PartMissing if a part was not read."""
        if not record.response_size:
            return None
        if self.is_older_than(record):
            raise PartMissing(record.id)
        return self._packed(keys.RESPONSE, keys.response_chunk_keys(record.id, record.response_chunks))

    def stored_request(self, record: QueuedRequest, *, with_response: bool = True) -> StoredRequest:
        """Return the record with its bodies. Raises PartMissing if a part was not read."""
        response = self.packed_response(record) if with_response else None
        response_xml = None if response is None else unpack(response)
        modification = self.modification_of(record)
        texts = (self.request_xml, response_xml, self.metadata, self.references, modification)
        changes = self.field_changes if modification else ()
        return StoredRequest(record, *texts, changes, self.replaces, self.queued_by)

    def modification_of(self, record: QueuedRequest) -> str | None:
        """Return the Mod that a record sends or has sent last, or None if it has none, or the body has another one."""
        packed = self.packed_modification
        text = unpack(packed) if packed and record.modification_label else None
        return text if text and f'"{record.modification_label}"' in text else None

    @property
    def packed_modification(self) -> bytes | None:
        """The compressed Mod that was made last, or None."""
        stored = self._items[keys.BODY].get(keys.MODIFICATION)
        return bytes(stored["B"]) if stored else None

    @property
    def field_changes(self) -> tuple[FieldChange, ...]:
        """The fields that the Mod changes."""
        stored = self._items[keys.BODY].get(keys.FIELD_CHANGES)
        members = json.loads(unpack(bytes(stored["B"]))) if stored else []
        return tuple(FieldChange(*values) for values in members)

    @property
    def request_xml(self) -> str:
        """The request with the values of its references. Raises PartMissing if a part was not read."""
        return qbxml.filled(unpack(self.packed_request), self.references)

    @property
    def references(self) -> tuple[qbxml.Reference, ...]:
        """The references of the request."""
        stored = self._items[keys.BODY].get(keys.REFERENCES)
        members = json.loads(unpack(bytes(stored["B"]))) if stored else []
        return tuple(qbxml.Reference(*values) for values in members)

    @property
    def metadata(self) -> Mapping[str, str]:
        """The caller's metadata."""
        stored = self._items[keys.BODY].get(keys.METADATA)
        metadata: Mapping[str, str] = json.loads(unpack(bytes(stored["B"]))) if stored else {}
        return metadata

    @property
    def replaces(self) -> str | None:
        """The id of the request in whose place this one was queued, or None."""
        stored = self._items[keys.BODY].get(keys.REPLACES)
        return stored["S"] if stored else None

    @property
    def queued_by(self) -> Actor | None:
        """Who queued the request. None if the service did, or before this was stored."""
        stored = self._items[keys.BODY].get(keys.QUEUED_BY)
        if stored is None:
            return None
        actor_type, actor_id, name = (part["S"] for part in stored["L"])
        return Actor(ActorType(actor_type), actor_id or None, name or None)

    def has_stray_response(self, record: QueuedRequest) -> bool:
        """Whether the body has a response, and the record none."""
        return keys.RESPONSE in self._items[keys.BODY] and not record.response_size

    def _has_response_of(self, record: QueuedRequest) -> bool:
        body = self._items[keys.BODY]
        return keys.RESPONSE in body and body.get(keys.RESPONSE_ATTEMPT) == {"S": record.response_attempt}

    @property
    def _request_chunks(self) -> int:
        body = self._items[keys.BODY]
        return int(body[keys.REQUEST_CHUNKS]["N"]) if keys.REQUEST_CHUNKS in body else 0

    def _packed(self, body: str, chunks: Sequence[Item]) -> bytes:
        try:
            if chunks:
                return b"".join(bytes(self._items[key[keys.PART]["S"]][keys.DATA]["B"]) for key in chunks)
            return bytes(self._items[keys.BODY][body]["B"])
        except KeyError as missing:
            raise PartMissing(missing) from None


@dataclass(frozen=True, slots=True)
class StoredBatch:
    """Implements `RequestBatch`. Only the bodies that a page shows are decompressed.

    `bodies` are by record id, without chunks. `read_chunks` returns the chunks with these keys.
    """

    records: Collection[QueuedRequest]
    bodies: Mapping[str, Bodies]
    read_chunks: Callable[[Sequence[Item]], Sequence[Item]]

    def has_stray_response(self, record: QueuedRequest) -> bool:
        """Whether the body has a response that no transaction has made the record's."""
        return self.bodies[record.id].has_stray_response(record)

    def with_bodies(
        self, records: Sequence[QueuedRequest], *, max_response_bytes: int, max_total_bytes: int
    ) -> Sequence[ListedRequest]:
        """Return records with their bodies, as `RequestBatch` describes. Large requests take one more read.

        Responses in chunks are never in a batch, because they are larger than a list shows.

        That read fetches the first chunks, as many as `max_total_bytes` can hold.
        """
        bodies = {record.id: self.bodies[record.id] for record in records}
        missing = [key for request_id, stored in bodies.items() for key in stored.missing_chunks(request_id)]
        for chunk in self.read_chunks(missing[: max_total_bytes // CHUNK_BYTES + 1]):
            bodies[chunk[keys.REQUEST_ID]["S"]] |= [chunk]
        requests = (
            None if bodies[record.id].missing_chunks(record.id) else bodies[record.id].packed_request
            for record in records
        )
        responses = (
            None
            if record.response_size > max_response_bytes
            or record.response_chunks
            or bodies[record.id].is_older_than(record)
            else bodies[record.id].packed_response(record)
            for record in records
        )
        # Somebody who approves a record must have seen the Mod that it sends, and not an earlier one.
        modifications = (
            bodies[record.id].packed_modification
            if record.awaits_approval and bodies[record.id].modification_of(record)
            else None
            for record in records
        )
        number = len(records)
        texts = list(unpack_within(chain(requests, modifications, responses), max_total_bytes))
        references = [bodies[record.id].references for record in records]
        request_texts = (
            None if text is None else qbxml.filled(text, known)
            for text, known in zip(texts[:number], references, strict=True)
        )
        mods = texts[number : 2 * number]
        changes = [bodies[record.id].field_changes if mod else () for record, mod in zip(records, mods, strict=True)]
        authors = [bodies[record.id].queued_by for record in records]
        return list(map(ListedRequest, records, request_texts, texts[2 * number :], references, mods, changes, authors))

    def whole(self, record: QueuedRequest, *, max_response_bytes: int) -> StoredRequest | None:
        """Return a record of the batch with its bodies, as `RequestBatch` describes. Chunks take one more read."""
        with_response = record.response_size <= max_response_bytes
        bodies = self.bodies[record.id]
        missing = bodies.missing_chunks(record.id, record.response_chunks if with_response else "")
        try:
            return (bodies | self.read_chunks(missing)).stored_request(record, with_response=with_response)
        except PartMissing:
            return None
