"""Every text that is stored in DynamoDB, as somebody with access to the tables could read it."""

from __future__ import annotations

import json
import zlib
from collections import defaultdict
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from adapters.dynamodb.compression import unpack
from adapters.dynamodb.records import RECORDS
from adapters.dynamodb.search_blocks import VALUES
from adapters.dynamodb.sessions import SESSIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.whole_service import WholeService

UNREADABLE = "(binary value that no known form of compression reads)"


class StoredText(NamedTuple):
    """A text, and where it is stored."""

    table: str
    attribute: str
    text: str


def stored_texts(service: WholeService) -> Iterator[StoredText]:
    """Yield the texts of every attribute of every table of the template. Indexes hold copies of the same attributes.

    The chunks of a large text are joined. A chunk that was left behind alone is unreadable.
    """
    for table in service.table_names:
        chunks: defaultdict[tuple[str, ...], dict[int, bytes]] = defaultdict(dict)
        for item in service.items(table):
            key, number = _place_of_chunk(item)
            if number is not None:
                chunks[key][number] = bytes(item["data"]["B"])
                item = {name: value for name, value in item.items() if name != "data"}  # noqa: PLW2901 - the rest of it
            for name, value in item.items():
                if name != VALUES:  # the bits of a filter are hashes of values
                    yield StoredText(table, name, _text(value))
        for pieces in chunks.values():
            data = b"".join(piece for _, piece in sorted(pieces.items()))
            yield StoredText(table, "chunks", _decompressed(data))


def _place_of_chunk(item: dict[str, Any]) -> tuple[tuple[str, ...], int | None]:
    """Return the text that a chunk belongs to, and its number. The number is None for all other items."""
    if "part" not in item or "data" not in item or "version" in item:
        return (), None
    name, _, number = item["part"]["S"].rpartition("#")
    return (item["request_id"]["S"], name), int(number)


def _text(value: dict[str, Any]) -> str:
    ((kind, stored),) = value.items()
    if kind == "B":
        return _decompressed(bytes(stored))
    return stored if isinstance(stored, str) else json.dumps(stored, default=list, ensure_ascii=False)


def _decompressed(data: bytes) -> str:
    with suppress(zlib.error, UnicodeDecodeError):
        return unpack(data)
    for codec in (RECORDS, SESSIONS):
        with suppress(zlib.error, ValueError):
            fields = codec.decompressed({codec.compressed_name: {"B": data}})
            return json.dumps(fields, ensure_ascii=False)
    return UNREADABLE
