"""Search pages: the search texts of many records, in order of insertion, compressed into one item.

The search pages of a connection are in `Payloads` under its id. A page holds the records from the one in its key up to
the one in the key of the next page. The first page begins before all records. A page that grows over `MAX_PAGE_BYTES`
is split. Pages are never merged, so a record stays in its page or moves to a new one in the transaction that takes it
out of the old.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from adapters.dynamodb import keys

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from adapters.dynamodb.keys import Item

MAX_PAGE_BYTES = 48 * 1024
"""The compressed size. Larger pages hardly compress better, and adding one text writes the whole page."""

RecordKey: TypeAlias = tuple[str, str]
"""The order of the records in search pages and in the search index: (inserted_at, id)."""

_BETWEEN_ENTRIES = "\0"
_BETWEEN_FIELDS = " "


@dataclass(frozen=True, slots=True)
class SearchPage:
    """The search texts of a range of records. `version` is 0 for a page that is not stored yet."""

    part: str = keys.SEARCH_PAGES
    texts: Mapping[RecordKey, str] = field(default_factory=dict)
    version: int = 0

    def items(self, connection_id: str, max_bytes: int = MAX_PAGE_BYTES) -> list[Item]:
        """Return the items of the next version of the page and of the new pages that it is split into.

        The first item keeps the page's key and version.
        """
        item = self._item(connection_id)
        if len(item[keys.DATA]["B"]) <= max_bytes or len(self.texts) == 1:
            return [item]
        return [part for half in self._halves() for part in half.items(connection_id, max_bytes)]

    def _item(self, connection_id: str) -> Item:
        entries = (_BETWEEN_FIELDS.join([*record, text]) for record, text in sorted(self.texts.items()))
        packed = zlib.compress(_BETWEEN_ENTRIES.join(entries).encode(), 9)
        version = {"N": str(self.version + 1)}
        return keys.payload_key(connection_id, self.part) | {keys.DATA: {"B": packed}, keys.VERSION: version}

    def _halves(self) -> tuple[SearchPage, SearchPage]:
        records = sorted(self.texts)
        first, second = records[: len(records) // 2], records[len(records) // 2 :]
        return (
            SearchPage(self.part, {record: self.texts[record] for record in first}, self.version),
            SearchPage(keys.search_page_part(*second[0]), {record: self.texts[record] for record in second}),
        )


def storable(search_text: str) -> str:
    """Return a text without the character that separates the entries of a page. XML cannot contain this character."""
    return search_text.replace(_BETWEEN_ENTRIES, " ")


def page_from_item(item: Item) -> SearchPage:
    """Return the page of an item."""
    return SearchPage(item[keys.PART]["S"], dict(_entries(_unpacked(item))), int(item[keys.VERSION]["N"]))


def matches_in_page(item: Item, phrase: str) -> list[RecordKey]:
    """Return the records of a page whose text contains the phrase. A single test rules out most pages."""
    unpacked = _unpacked(item)
    return [record for record, text in _entries(unpacked) if phrase in text] if phrase in unpacked else []


def _entries(unpacked: str) -> Iterator[tuple[RecordKey, str]]:
    for entry in filter(None, unpacked.split(_BETWEEN_ENTRIES)):
        inserted_at, request_id, text = entry.split(_BETWEEN_FIELDS, 2)
        yield (inserted_at, request_id), text


def _unpacked(item: Item) -> str:
    return zlib.decompress(bytes(item[keys.DATA]["B"])).decode()
