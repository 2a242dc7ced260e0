"""A search for a whole value finds what reading all requests finds, packed or not, or names what it has not read."""

from __future__ import annotations

import random
import re
import uuid
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from unittest.mock import patch
from xml.sax.saxutils import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.dynamodb.search_blocks import SearchBlock, block_from_item
from adapters.dynamodb.value_filters import filter_of, hashes_of, may_have
from domain import qbxml
from domain.listing import value_search
from domain.listing.overview import MAX_SECONDS
from domain.listing.value_search import NEWEST, Unsearched, ValueSearches
from domain.records.request import ErrorCode, RequestError, State
from domain.records.search_text import searchable_text
from domain.storage.changes import AddRequest, ChangeRequest, Put, RemoveRequest
from domain.timestamps import timestamp
from domain.whole_values import HAS_MARKS, MatchedAs
from tests.contract.conftest import sized
from tests.contract.test_packing import TODAY, PackedTables, a_past_record, database
from tests.support.builders import NOON, FixedClock, a_connection
from tests.support.cases import for_each
from tests.support.fake_store import FakeStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from domain.listing.value_search import ValueReport
    from domain.records.connection import Connection
    from domain.records.request import QueuedRequest
    from domain.storage.ports import Database

__all__ = ["database"]

_search_text = searchable_text

VALUES = ("Ann", "ANN", "Ann Lee", "Ann  Lee", "Änn", "Straße", "STRASSE", "10", "1042", "1042 ", "3140", "é", "e")
"""Values that differ only in case or white space, those that differ in an accent, and beginnings of others."""


@dataclass
class Shop:
    """The connections of some apps, and their requests with all their whole values."""

    store: Database
    chance: random.Random
    connections: list[Connection] = field(default_factory=list)
    alive: dict[str, tuple[QueuedRequest, set[tuple[MatchedAs, str]]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        apps = [str(uuid.uuid4()) for _ in range(2)]
        for number in range(5):
            connection = a_connection(id=str(uuid.uuid4()), app_id=apps[number % 2], name=f"Shop {number}")
            self.store.commit(Put(None, connection))
            self.connections.append(connection)

    @property
    def app_id(self) -> str:
        """The app that has three of the connections."""
        return self.connections[0].app_id

    def add(self) -> None:
        """Queue an invoice with values here and there."""
        connection, values = self.chance.choice(self.connections), self._values()
        moment = NOON + timedelta(days=self.chance.randrange(5), hours=self.chance.randrange(3))
        record = a_past_record(
            connection.id,
            app_id=connection.app_id,
            inserted_at=timestamp(moment),
            label=values.get(MatchedAs.LABEL),
        )
        self._store(AddRequest(record, *_texts(record, values)), values)

    def answer(self) -> None:
        """End a request, in an error or not."""
        if waiting := [record for record, _ in self.alive.values() if record.state is State.WAITING]:
            before, values = self.chance.choice(waiting), self._values()
            error = values.get(MatchedAs.ERROR)
            details = {"status_code": error}
            after = replace(
                before,
                label=values.get(MatchedAs.LABEL),
                error=RequestError(ErrorCode.QUICKBOOKS_ERROR, f"no {error}", details) if error else None,
                state=State.ERROR if error else State.RESPONSE_RECEIVED,
            ).changed(TODAY)
            self._store(ChangeRequest(before, after, search_text=_texts(after, values)[1]), values)

    def remove(self) -> None:
        """Remove a request."""
        if self.alive:
            record, _ = self.alive.pop(self.chance.choice(list(self.alive)))
            self.store.commit(RemoveRequest(record, timestamp(TODAY)))

    def expected(self, value: str) -> dict[str, set[MatchedAs]]:
        """Return the requests of the app that have a value, by reading all of them."""
        wanted = _normal(value)
        found = {
            record.id: {kind for kind, own in values if _normal(own) == wanted}
            for record, values in self.alive.values()
            if record.app_id == self.app_id
        }
        return {id_: kinds for id_, kinds in found.items() if kinds}

    def _values(self) -> dict[MatchedAs, str]:
        return {kind: self.chance.choice(VALUES) for kind in MatchedAs if self.chance.random() < 0.6}

    def _store(self, change: AddRequest | ChangeRequest, values: dict[MatchedAs, str]) -> None:
        self.store.commit(change)
        record = change.record if isinstance(change, AddRequest) else change.after
        own = {(kind, value) for kind, value in values.items() if kind is not MatchedAs.ERROR or record.error}
        if record.error:
            own |= {(MatchedAs.ERROR, record.error.code), (MatchedAs.ERROR, record.error.message)}
        self.alive[record.id] = record, own


def _normal(value: str) -> str:
    return " ".join(value.split()).casefold()


def _texts(record: QueuedRequest, values: dict[MatchedAs, str]) -> tuple[str, str]:
    """Return the QBXML of an invoice with these values, and its search text. Its memo has one that does not count."""
    name, number = (escape(values.get(kind, "")) for kind in (MatchedAs.NAME, MatchedAs.NUMBER))
    inner = f"<CustomerRef><FullName>{name}</FullName></CustomerRef><RefNumber>{number}</RefNumber><Memo>Ann</Memo>"
    xml = (
        '<QBXML><QBXMLMsgsRq onError="stopOnError"><InvoiceAddRq><InvoiceAdd>'
        f"{inner}</InvoiceAdd></InvoiceAddRq></QBXMLMsgsRq></QBXML>"
    )
    return xml, _search_text(record, qbxml.parse_request_xml(xml))


def without_marks(*args: Any, **kwargs: Any) -> str:
    """Return a search text as an earlier release made it."""
    return re.sub("[\x01-\x05]", "", searchable_text(*args, **kwargs))


class Ticking:
    """A clock that goes on by some seconds with each look at it."""

    def __init__(self, seconds: float) -> None:
        self._now, self._step = TODAY, timedelta(seconds=seconds)

    def __call__(self) -> datetime:
        self._now += self._step
        return self._now


def pages(shop: Shop, value: str, limit: int, clock: Ticking | FixedClock) -> Iterator[ValueReport]:
    """Yield all answers, from the newest to the last one."""
    before = NEWEST
    while True:
        yield (report := ValueSearches(shop.store, clock).of_app(shop.app_id, value, limit, before))
        if report.following is None:
            return
        before = report.following


def compare(shop: Shop, value: str, limit: int) -> None:
    """Compare all pages of a search with reading everything. It reads two blocks at once."""
    with patch.object(value_search, "PARALLEL_CONNECTIONS", 2):
        reports = list(pages(shop, value, limit, FixedClock(TODAY)))

    hits = [hit for report in reports for hit in report.hits]
    places = [(hit.record.inserted_at, hit.record.id) for hit in hits]
    assert places == sorted(places, reverse=True)
    assert all(len(report.hits) == limit for report in reports[:-1])
    assert all(hit.connection.app_id == shop.app_id for hit in hits)
    assert len(hits) == len(set(places))
    assert {hit.record.id: set(hit.kinds) for hit in hits} == shop.expected(value)
    assert not any(report.unsearched or report.omitted for report in reports)


@settings(max_examples=sized(12), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_search_finds_what_reading_everything_finds(database: PackedTables, seed: int) -> None:
    """Requests of several apps are queued, answered and removed in any order, and packed in between."""
    chance = random.Random(seed)
    shop = Shop(database.store, chance)
    for _ in range(chance.randrange(1, 70)):
        step = chance.choice([shop.add, shop.add, shop.add, shop.answer, shop.remove, database.run])
        step()
        if chance.random() < 0.2:
            compare(shop, chance.choice(["ann", "1042", *VALUES]), chance.choice([1, 2, 3, 100]))
    for _ in range(4):
        database.run()
    for value in (*chance.sample(VALUES, 3), "no 3140", "quickbooks_error", "nowhere"):
        compare(shop, value, chance.choice([3, 100]))


@settings(max_examples=sized(10), deadline=None)
@given(seed=st.integers(0, 2**32), seconds=st.sampled_from([0.3, 0.7, 1.2, 2.0, MAX_SECONDS + 1.0]))
def test_what_a_late_search_does_not_find_is_named(database: PackedTables, seed: int, seconds: float) -> None:
    chance = random.Random(seed)
    shop = Shop(database.store, chance)
    for _ in range(60):
        chance.choice([shop.add, shop.add, shop.answer, shop.remove, database.run])()

    for value in ("ann", "1042", "nowhere"):
        reports = list(pages(shop, value, 3, Ticking(seconds)))

        found = {hit.record.id for report in reports for hit in report.hits}
        missing = shop.expected(value).keys() - found
        named = {one.connection.id: one.complete_after for report in reports for one in report.unsearched}
        assert found <= shop.expected(value).keys()
        for record, _ in shop.alive.values():
            if record.id in missing:
                assert record.inserted_at <= (named[record.connection_id] or record.inserted_at)


@pytest.mark.parametrize("packed", [False, True])
def test_nothing_of_a_removed_connection_is_left(database: PackedTables, packed: bool) -> None:
    """Its filters are entries of its blocks, and go with them."""
    shop = Shop(database.store, random.Random(1))
    for _ in range(40):
        shop.add()
    for _ in range(4 * packed):
        database.run()
    connection = shop.connections[0]

    assert sum(database.store.remove_records(connection))
    database.store.remove_connection(connection)

    entries = [list(database.store.block_entries(one.id, "ann", "~")) for one in shop.connections]
    assert not any(entries[0])
    assert all(any(pages) == packed for pages in entries[1:])


def test_a_text_is_found_by_an_entry_that_is_older_than_the_split_of_its_block(database: PackedTables) -> None:
    """The index lags behind the table. A text that came after the entry is still among the unpacked ones."""
    shop = Shop(database.store, random.Random(4))
    connection = shop.connections[0]
    shop.connections = [connection]
    shop.add()
    for _ in range(4):
        database.run()
    ((entry,),) = database.store.block_entries(connection.id, "ann", "~")
    before = set(shop.alive)
    for _ in range(30):
        shop.add()
    for _ in range(2):
        database.run()

    unpacked = [place for page in database.store.unpacked_values(connection.id, "ann", "~") for place, *_ in page]
    texts = database.store.values_in_block(connection.id, replace(entry, until="~"), "ann")
    found = {id_ for (_, id_), _ in texts}

    assert len(next(iter(database.store.block_entries(connection.id, "ann", "~")))) > 1
    assert found == shop.expected("ann").keys()
    assert {id_ for _, id_ in unpacked} == shop.alive.keys() - before


def test_a_block_of_an_older_release_is_named(database: PackedTables) -> None:
    """It has no filter, and its texts have no marks."""
    shop = Shop(database.store, random.Random(2))
    for _ in range(60):
        shop.add()
    for _ in range(4):
        database.run()
    oldest = shop.connections[0]
    (block,) = [item for item in database.payloads(oldest.id) if item["part"]["S"] == "texts#"]
    database.client.update_item(
        TableName=database.tables.payloads,
        Key={"request_id": block["request_id"], "part": block["part"]},
        UpdateExpression="REMOVE whole_values, #until",
        ExpressionAttributeNames={"#until": "until"},
    )

    report = ValueSearches(shop.store, FixedClock(TODAY)).of_app(shop.app_id, "Ann", 100)

    (unsearched,) = report.unsearched
    assert (unsearched.connection.id, unsearched.reason) == (oldest.id, Unsearched.OLDER_RELEASE)
    missing = shop.expected("Ann").keys() - {hit.record.id for hit in report.hits}
    others = [shop.alive[id_][0] for id_ in missing]
    assert others
    assert all(record.connection_id == oldest.id for record in others)
    assert all(record.inserted_at <= (unsearched.complete_after or "~") for record in others)


@settings(max_examples=sized(12), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_texts_of_an_older_release_are_named_whatever_is_packed_beside_them(database: PackedTables, seed: int) -> None:
    """They have no marks. After an upgrade, the packer adds texts to the last block of the older release."""
    shop = Shop(database.store, random.Random(seed))
    with patch(f"{__name__}._search_text", without_marks):
        for _ in range(30):
            shop.chance.choice([shop.add, shop.add, shop.answer, database.run])()
    for _ in range(60):
        shop.chance.choice([shop.add, shop.add, shop.answer, shop.remove, database.run])()

    for value in ("ann", "1042"):
        report = ValueSearches(shop.store, FixedClock(TODAY)).of_app(shop.app_id, value, 100)
        named = {one.connection.id: one for one in report.unsearched}
        missing = shop.expected(value).keys() - {hit.record.id for hit in report.hits}
        for record, _ in map(shop.alive.__getitem__, missing):
            assert named[record.connection_id].reason is Unsearched.OLDER_RELEASE
            assert record.inserted_at <= (named[record.connection_id].complete_after or "~")


def test_an_unpacked_text_of_an_older_release_is_named(database: PackedTables) -> None:
    shop = Shop(database.store, random.Random(3))
    with patch(f"{__name__}._search_text", without_marks):
        shop.add()
    ((record, _),) = shop.alive.values()

    report = ValueSearches(shop.store, FixedClock(TODAY)).of_app(record.app_id, "Ann", 100)

    (unsearched,) = report.unsearched
    assert (unsearched.connection.id, unsearched.reason) == (record.connection_id, Unsearched.OLDER_RELEASE)
    assert unsearched.complete_after == record.inserted_at


def test_texts_after_those_of_an_older_release_get_a_block_with_a_filter() -> None:
    texts = [f"{HAS_MARKS}id\n\x01new" if number > 1 else "id\nold" for number in range(4)]
    block = SearchBlock(texts={(timestamp(NOON + timedelta(days=at)), str(at)): text for at, text in enumerate(texts)})

    first, second = block.items("c")

    assert list(block_from_item(first).texts.values()) == texts[:2]
    assert "whole_values" not in first
    assert list(block_from_item(second).texts.values()) == texts[2:]
    assert may_have(second["whole_values"]["B"], hashes_of("new"))


def test_connections_beyond_the_oldest_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(value_search, "MAX_CONNECTIONS", 2)
    shop = Shop(FakeStore(), random.Random(3))

    report = ValueSearches(shop.store, FixedClock(TODAY)).of_app(shop.app_id, "Ann", 100)

    assert report.omitted == 1


@settings(max_examples=sized(20), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_search_in_memory_finds_the_same(seed: int) -> None:
    shop = Shop(FakeStore(), random.Random(seed))
    for _ in range(40):
        shop.chance.choice([shop.add, shop.add, shop.answer, shop.remove])()

    for value in (*VALUES, "nowhere"):
        compare(shop, value, shop.chance.choice([1, 3, 100]))


@for_each("number", [0, 1, 7, 1000, 3000])
def test_a_filter_leaves_out_no_value_and_nearly_all_others(number: int) -> None:
    values = [f"value {index}" for index in range(number)]
    filter_ = filter_of(values)

    others = sum(may_have(filter_, hashes_of(f"other {index}")) for index in range(5000))

    assert all(may_have(filter_, hashes_of(value)) for value in values)
    assert others < (0.006 if number > 100 else 0.05) * 5000
    assert len(filter_) <= 12 * number / 8 + 1
