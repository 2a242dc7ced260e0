"""Stored texts are compressed with a dictionary, and those of older releases are still read."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.dynamodb import keys
from adapters.dynamodb.compression import beginning, pack, packed_text, text_of, unpack
from domain.storage.changes import AddRequest, Put
from tests.support.builders import CONNECTION_ID, REQUEST_XML, a_connection, a_record

if TYPE_CHECKING:
    from adapters.dynamodb import DynamoDBStore

MARKUP = st.lists(st.sampled_from(["<Name>", "</Name>\n", "ü", "x"])).map("".join)
TEXTS = st.text(st.characters(codec="utf-8")) | MARKUP


@given(TEXTS)
def test_a_text_is_the_same_after_it_was_stored(text: str) -> None:
    assert unpack(pack(text)) == text
    assert text_of(packed_text(text)) == text


@given(TEXTS)
def test_a_text_of_an_older_release_is_read(text: str) -> None:
    assert unpack(zlib.compress(text.encode())) == text
    assert text_of({"S": text}) == text


@given(TEXTS, st.integers(1, 50))
def test_no_more_of_a_text_is_decompressed_than_is_asked_for(text: str, max_bytes: int) -> None:
    assert beginning(pack(text), max_bytes) == text.encode()[:max_bytes]


@pytest.mark.parametrize("end", [1, 20, -1])
def test_an_incomplete_text_is_an_error_and_not_a_shorter_text(end: int) -> None:
    with pytest.raises(zlib.error):
        unpack(pack("<Name>Ann</Name>" * 20)[:end])


def test_the_dictionary_has_not_changed() -> None:
    """Zlib stores its checksum behind the header. Texts of other dictionaries could not be read."""
    assert pack("")[2:6].hex() == "134e6173"


def test_a_search_text_that_an_older_release_stored_is_found_and_replaced(emulated: DynamoDBStore) -> None:
    record = a_record()
    emulated.commit(Put(None, a_connection()))
    emulated.commit(AddRequest(record, REQUEST_XML, "new"))
    emulated.client.update_item(
        TableName=emulated.tables.payloads,
        Key=keys.payload_key(record.id),
        UpdateExpression="SET search_text = :old",
        ExpressionAttributeValues={":old": {"S": "an old text"}},
    )

    assert emulated.search_matches(CONNECTION_ID, ("old",), ()) == {(record.inserted_at, record.id)}
    emulated.pack(CONNECTION_ID, record.inserted_at[:10], None)
    assert emulated.search_matches(CONNECTION_ID, ("old",), ()) == {(record.inserted_at, record.id)}
