"""Records and their bodies, in every implementation of the ports."""

from __future__ import annotations

import base64
import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from domain.errors import Conflict
from domain.records.request import QueuedRequest, State, StoredRequest, Tombstone
from domain.storage.changes import AddRequest, ChangeRequest, Put, RemoveRequest
from domain.timestamps import timestamp
from tests.contract.stores import LATER, add, counts_of, recount, stored_request
from tests.support.builders import APP_ID, CONNECTION_ID, REQUEST_XML, RESPONSE_XML, a_connection, a_record, a_session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.contract.stores import AnyStore


@pytest.fixture
def store(store: AnyStore) -> AnyStore:
    """Return each implementation with the records' connection."""
    store.commit(Put(None, a_connection()))
    return store


def test_a_missing_entity_is_none(store: AnyStore) -> None:
    assert store.request("b0000000-0000-4000-8000-000000000001") is None
    assert stored_request(store, "b0000000-0000-4000-8000-000000000001") is None
    assert store.with_request_xml([a_record()])[0].request_xml is None


def test_an_id_is_used_once(store: AnyStore) -> None:
    record = a_record()
    add(store, record)

    with pytest.raises(Conflict) as conflict:
        add(store, replace(record, request_label="other"))

    assert conflict.value.current == record
    assert store.request(record.id) == record


def test_a_response_is_kept_beside_the_request(store: AnyStore) -> None:
    record = a_record(state=State.SENT)
    add(store, record)

    store.commit(ChangeRequest(record, record.moved(State.RESPONSE_RECEIVED, LATER), response_xml=RESPONSE_XML))

    after = stored_request(store, record.id)
    assert isinstance(after, StoredRequest)
    assert (after.request_xml, after.response_xml) == (REQUEST_XML, RESPONSE_XML)
    assert after.record.state == State.RESPONSE_RECEIVED
    assert after.record.response_size == len(RESPONSE_XML.encode())
    assert after.record.revision == 2


@pytest.mark.parametrize("alphabet", ["ab", None], ids=["compressible", "incompressible"])
def test_a_response_of_5_mb_is_read_back_whole(store: AnyStore, alphabet: str | None) -> None:
    chance = random.Random(5)
    response = "".join(chance.choices(alphabet, k=5_000_000)) if alphabet else chance.randbytes(2_500_000).hex() + "é"
    record = a_record(state=State.SENT)
    add(store, record)

    store.commit(ChangeRequest(record, record.moved(State.RESPONSE_RECEIVED, LATER), response_xml=response))

    after = stored_request(store, record.id)
    assert isinstance(after, StoredRequest)
    assert after.response_xml == response
    assert after.record.response_size == len(response.encode())


def test_a_request_of_1_mb_that_does_not_compress_is_read_back_whole(store: AnyStore) -> None:
    request = random.Random(6).randbytes(500_000).hex()
    record = a_record()

    add(store, record, request)

    assert store.with_request_xml([record])[0].request_xml == request
    after = stored_request(store, record.id)
    assert isinstance(after, StoredRequest)
    assert after.request_xml == request


def test_a_change_of_a_request_from_an_old_revision_conflicts(store: AnyStore) -> None:
    record = a_record()
    add(store, record)
    discarded_record = record.moved(State.DISCARDED, LATER)
    store.commit(ChangeRequest(record, discarded_record))

    with pytest.raises(Conflict) as conflict:
        store.commit(ChangeRequest(record, record.moved(State.TICKETED, LATER)))

    assert conflict.value.current == discarded_record
    assert store.request(record.id) == discarded_record


def test_a_commit_is_done_whole_or_not_at_all(store: AnyStore) -> None:
    first, second, third = a_record(), a_record(), a_record()
    add(store, first)
    add(store, second)
    store.commit(ChangeRequest(second, second.moved(State.DISCARDED, LATER)))
    stale = ChangeRequest(second, second.moved(State.TICKETED, LATER))

    with pytest.raises(Conflict) as conflict:
        store.commit(
            AddRequest(third, REQUEST_XML, ""),
            ChangeRequest(first, first.moved(State.TICKETED, LATER)),
            stale,
            Put(None, a_session()),
        )

    assert conflict.value.change == stale
    assert store.request(first.id) == first
    assert store.request(third.id) is None
    assert store.session(a_session().id) is None
    assert recount(store, [first.id, second.id]) == counts_of(store)


def test_a_deleted_record_leaves_a_tombstone_and_no_bodies(store: AnyStore) -> None:
    record = a_record(state=State.SENT)
    add(store, record)
    store.commit(ChangeRequest(record, record.moved(State.ERROR, LATER), response_xml=RESPONSE_XML))
    ended_record = store.request(record.id)
    assert isinstance(ended_record, QueuedRequest)

    store.commit(RemoveRequest(ended_record, timestamp(LATER)))

    tombstone = Tombstone(record.id, CONNECTION_ID, APP_ID, timestamp(LATER))
    assert store.request(record.id) == tombstone
    assert stored_request(store, record.id) == tombstone
    assert not store.request_batch([record.id]).records
    assert store.with_request_xml([record])[0].request_xml is None
    assert counts_of(store) == {}


def test_many_records_are_read_at_once(store: AnyStore) -> None:
    records = [a_record() for _ in range(60)]
    for record in records:
        add(store, record)
    missing = "b0000000-0000-4000-8000-000000000001"

    batch = store.request_batch([*(record.id for record in records), missing])

    assert sorted(record.id for record in batch.records) == sorted(record.id for record in records)
    assert all(record in records for record in batch.records)


def forms_in_list(store: AnyStore, records: Sequence[QueuedRequest], max_total_bytes: int) -> list[tuple[bool, bool]]:
    """Return whether each record is listed with its request and with its response."""
    by_id = {record.id: record for record in store.request_batch([record.id for record in records]).records}
    batch = store.request_batch(list(by_id))
    items = batch.with_bodies(
        [by_id[record.id] for record in records], max_response_bytes=256 * 1024, max_total_bytes=max_total_bytes
    )
    assert [item.record.id for item in items] == [record.id for record in records]
    for item in items:
        with_bodies = stored_request(store, item.record.id)
        assert isinstance(with_bodies, StoredRequest)
        assert item.request_xml in {None, with_bodies.request_xml}
        assert item.response_xml in {None, with_bodies.response_xml}
    return [(item.request_xml is not None, item.response_xml is not None) for item in items]


def ended_record(store: AnyStore, request_xml: str, response_xml: str) -> QueuedRequest:
    """Store a request with its response."""
    record = a_record(state=State.SENT)
    add(store, record, request_xml)
    store.commit(ChangeRequest(record, record.moved(State.RESPONSE_RECEIVED, LATER), response_xml=response_xml))
    return record


def test_a_list_leaves_large_responses_out(store: AnyStore) -> None:
    small = ended_record(store, REQUEST_XML, "<a/>")
    large = ended_record(store, REQUEST_XML, "<a>" + "x" * 300_000 + "</a>")

    assert forms_in_list(store, [small, large], 2**20) == [(True, True), (True, False)]


def test_a_list_shows_requests_before_responses_until_its_limit(store: AnyStore) -> None:
    records = [ended_record(store, f"<r>{'é' * 100}</r>", "<a>" + "x" * 93 + "</a>") for _ in range(3)]

    # A request has 207 bytes of UTF-8, and a response 100.
    assert forms_in_list(store, records, 3 * 207 + 2 * 100) == [(True, True), (True, True), (True, False)]
    assert forms_in_list(store, records, 3 * 207 + 99) == [(True, False)] * 3
    assert forms_in_list(store, records, 2 * 207) == [(True, False), (True, False), (False, False)]
    assert forms_in_list(store, records, 0) == [(False, False)] * 3


def test_a_list_shows_large_requests_until_its_limit(store: AnyStore) -> None:
    requests = [base64.b64encode(random.Random(seed).randbytes(500_000)).decode() for seed in range(4)]
    records = [ended_record(store, f"<r>{text}</r>", "<a/>") for text in requests]

    assert forms_in_list(store, records, 2**20 + 2**19) == [(True, True), (True, True), (False, True), (False, True)]
    assert forms_in_list(store, records, 2**23) == [(True, True)] * 4
