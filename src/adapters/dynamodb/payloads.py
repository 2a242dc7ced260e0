"""Bodies as payload items: compressed, and in chunks where one item cannot hold them.

The `body` item of a request has its XML and, once there, a response that a list may show
(256 KiB); so that a list reads two items a record. A larger response lies in `response#0`, …
Items are at most 400 KB (DynamoDB), hence chunks of 350 KB.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adapters.dynamodb.items import BODY, Item, item_of, number, text
from domain.requests.record import StoredRequest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from domain.requests.record import QueuedRequest

CHUNK_BYTES = 350 * 1024
INLINE_RESPONSE_BYTES = 256 * 1024
"""The contract's limit for a response in a list item (§3), in bytes of UTF-8."""
INLINE_REQUEST_BYTES = 64 * 1024
"""Compressed. With a response of `INLINE_RESPONSE_BYTES` that does not compress, the item stays under 400 KB."""

REQUEST = "request"
RESPONSE = "response"
GONE = "gone"
HAS_BODY = f"attribute_exists(request_id) AND attribute_not_exists({GONE})"
"""The condition that the record was not removed."""


@dataclass(frozen=True, slots=True)
class Body:
    """What a body item holds; None for a form that lies in chunks or is not there."""

    request_xml: str | None
    request_parts: int
    response_xml: str | None


def new_body_items(record: QueuedRequest, request_xml: str, search_text: str) -> list[Item]:
    """Return the items of a new record: its body, and chunks when the request is too large for it."""
    packed = pack(request_xml)
    inline = len(packed) <= INLINE_REQUEST_BYTES
    chunks = [] if inline else chunk_items(record.id, REQUEST, packed)
    body = item_of(
        {
            "request_id": record.id,
            "part": BODY,
            "connection_id": record.connection_id,
            "inserted_at": record.inserted_at,
            "request": packed if inline else None,
            "request_parts": len(chunks) or None,
            "search_text": search_text,
        }
    )
    return [body, *chunks]


def gone_item(record: QueuedRequest) -> Item:
    """Return what stands for the body of a removed record until its text is out of the leaves (`search_texts.py`)."""
    return payload_key(record.id) | item_of(
        {"connection_id": record.connection_id, "inserted_at": record.inserted_at, GONE: True}
    )


def chunk_items(request_id: str, form: str, packed: bytes) -> list[Item]:
    """Return the chunks of a compressed request or response."""
    pieces = range(0, len(packed), CHUNK_BYTES)
    return [
        item_of({"request_id": request_id, "part": f"{form}#{index}", "data": packed[start : start + CHUNK_BYTES]})
        for index, start in enumerate(pieces)
    ]


def chunk_keys(request_id: str, form: str, parts: int) -> list[Item]:
    """Return the keys of a form's chunks, in order."""
    return [payload_key(request_id, f"{form}#{index}") for index in range(parts)]


def payload_key(request_id: str, part: str = BODY) -> Item:
    """Return the key of a payload item."""
    return {"request_id": {"S": request_id}, "part": {"S": part}}


def body_from_item(item: Item) -> Body:
    """Return what a body item holds."""
    return Body(
        unpack(_bytes(item, REQUEST)) if REQUEST in item else None,
        number(item, "request_parts"),
        unpack(_bytes(item, RESPONSE)) if RESPONSE in item else None,
    )


def join(chunks: Mapping[str, Item], form: str, parts: int) -> str:
    """Return the text of a form's chunks, given by their `part`."""
    return unpack(b"".join(_bytes(chunks[f"{form}#{index}"], "data") for index in range(parts)))


def keys_of_chunks(record: QueuedRequest, body: Body, *, with_response: bool = True) -> list[Item]:
    """Return the keys of the chunks that a record's texts lie in."""
    return [
        *chunk_keys(record.id, REQUEST, body.request_parts),
        *chunk_keys(record.id, RESPONSE, record.response_parts if with_response else 0),
    ]


def stored_request(
    record: QueuedRequest, body: Body, chunks: Mapping[str, Item], *, with_response: bool = True
) -> StoredRequest:
    """Return a record with its texts, out of its body and its chunks."""
    request_xml = body.request_xml
    if request_xml is None:
        request_xml = join(chunks, REQUEST, body.request_parts)
    response_xml = body.response_xml if with_response else None
    if with_response and record.response_parts:
        response_xml = join(chunks, RESPONSE, record.response_parts)
    return StoredRequest(record, request_xml, response_xml)


def by_part(items: Sequence[Item]) -> dict[str, Item]:
    """Return payload items by their sort key."""
    return {text(item, "part") or "": item for item in items}


def pack(xml: str) -> bytes:
    """Return a text compressed: QBXML shrinks to a tenth."""
    return zlib.compress(xml.encode())


def unpack(packed: bytes) -> str:
    """Return the text of `pack`."""
    return zlib.decompress(packed).decode()


def _bytes(item: Item, name: str) -> bytes:
    return bytes(item[name]["B"])
