"""The queue of a connection, and the place of a record in it."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from threading import Event, Semaphore, Timer
from typing import TYPE_CHECKING

import pytest

from adapters.dynamodb.requests import Requests
from domain.records.audit import Actor, ActorType
from domain.records.lookup import IfExists, ObjectLookup
from domain.records.request import (
    BEHIND_OTHERS,
    FIRST_IN_LINE,
    IN_TURN,
    LAST_IN_LINE,
    Claim,
    MessageSet,
    QueuedRequest,
    Recovery,
    State,
    StoredRequest,
    Tombstone,
)
from domain.records.session import InFlight, RequestInFlight
from domain.storage.changes import AddRequest, ChangeRequest, Put, RemoveRequest
from domain.storage.ports import IndexEntry, RequestDetail
from domain.timestamps import AFTER_ALL, timestamp
from local.tables import table_names
from tests.contract.stores import LATER, add, stored_request
from tests.contract.test_every_field import filled_entity
from tests.support.builders import CONNECTION_ID, NOON, REQUEST_XML, a_connection, a_record, a_session

if TYPE_CHECKING:
    from tests.contract.stores import AnyStore


def test_requests_are_first_in_first_out_after_open_iterators(store: AnyStore) -> None:
    second = a_record(inserted_at=timestamp(LATER))
    first = a_record(state=State.RETRYABLE)
    page = a_record(inserted_at=timestamp(LATER), queue_priority=FIRST_IN_LINE)
    for record in (second, first, page, a_record(connection_id="c0000000-0000-4000-8000-000000000009")):
        add(store, record)

    assert list(store.queue_front(CONNECTION_ID, 10)) == [page, first, second]
    assert list(store.queue_front(CONNECTION_ID, 1)) == [page]


@pytest.mark.parametrize("state", [State.TICKETED, State.DISCARDED])
def test_only_waiting_and_retryable_requests_are_queued(store: AnyStore, state: State) -> None:
    record = a_record()
    add(store, record)

    store.commit(ChangeRequest(record, record.moved(state, LATER)))

    assert list(store.queue_front(CONNECTION_ID, 10)) == []


def test_a_deleted_request_is_not_queued(store: AnyStore) -> None:
    record = a_record()
    add(store, record)

    store.commit(RemoveRequest(record, timestamp(LATER)))

    assert list(store.queue_front(CONNECTION_ID, 10)) == []


def test_the_requests_in_flight_of_a_session_are_read_with_their_xml_and_the_front_of_the_queue(
    store: AnyStore,
) -> None:
    sent = a_record(state=State.SENT, claim=Claim(a_session().id))
    of_another_session = a_record(state=State.SENT, claim=Claim("another"))
    returned = a_record()
    for record in (sent, of_another_session, returned):
        add(store, record)
    session = a_session(in_flight=InFlight((sent.id, of_another_session.id, returned.id, "missing")))

    assert store.requests_in_flight(session) == ([RequestInFlight(sent, REQUEST_XML)], ())
    requests, queue = store.requests_in_flight(session, 10)
    assert ([request.record for request in requests], list(queue)) == ([sent], [returned])


def test_requests_in_flight_are_read_with_all_that_is_stored_of_them(store: AnyStore) -> None:
    claim = Claim(a_session().id)
    record = filled_entity(
        QueuedRequest, state=State.SENT, claim=claim, lookup=None, response_attempt="", response_chunks=""
    )
    queued_by = Actor(ActorType.API_KEY, "key_1", "Shop")
    store.commit(AddRequest(record, REQUEST_XML, "ann", metadata={"order": "17"}, queued_by=queued_by))
    removed, large, answered = (a_record(state=State.SENT, claim=claim) for _ in range(3))
    looking = a_record(state=State.SENT, claim=claim, lookup=ObjectLookup(IfExists.UPDATE).modifying("a" * 20))
    large_xml = f"<!--{random.Random(1).randbytes(200_000).hex()}-->{REQUEST_XML}"
    add(store, removed)
    add(store, large, large_xml)
    for one in (answered, looking):
        add(store, one)
    mod = f'<CustomerModRq requestID="{looking.modification_label}"/>'
    store.commit(
        RemoveRequest(removed, timestamp(LATER)),
        ChangeRequest(answered, answered.changed(LATER), response_xml="<a/>"),
        ChangeRequest(looking, looking.changed(LATER), modification_xml=mod),
    )

    ids = (record.id, removed.id, large.id, answered.id, looking.id)
    requests, _ = store.requests_in_flight(a_session(in_flight=InFlight(ids)))

    assert requests == [
        RequestInFlight(record, REQUEST_XML, {"order": "17"}, None, queued_by),
        RequestInFlight(large, large_xml),
        RequestInFlight(store.records_by_id([answered.id])[0], REQUEST_XML),
        RequestInFlight(looking.changed(LATER), REQUEST_XML, {}, mod),
    ]


class ReadsInParallel:
    """A database whose queues are read until `released`, and whose batches fail."""

    def __init__(self) -> None:
        self.reading, self.released, self.ended = Semaphore(0), Event(), Event()
        self.requests = Requests(self, self)  # type: ignore[arg-type]
        self.tables = table_names("")

    def queue_front(self, _connection_id: str, number: int) -> list[QueuedRequest]:
        """Read a queue. That of one request is not slow."""
        self.reading.release()
        if number > 1:
            assert self.released.wait(10)
        self.ended.set()
        return []

    def batch_get(self, *_: object, **_attributes: object) -> dict[str, list[object]]:
        """Fail."""
        raise TimeoutError


def test_the_read_of_a_queue_has_ended_when_the_read_of_the_requests_fails() -> None:
    reads = ReadsInParallel()
    timer = Timer(0.05, reads.released.set)
    timer.start()

    with pytest.raises(TimeoutError):
        reads.requests.requests_in_flight(a_session(), 10)

    assert reads.ended.is_set()
    timer.join()


def test_slow_reads_of_queues_do_not_delay_that_of_another_session() -> None:
    reads = ReadsInParallel()
    with ThreadPoolExecutor(100) as sessions:
        slow = [sessions.submit(reads.requests.requests_in_flight, a_session(), 10) for _ in range(64)]
        for _ in slow:
            reads.reading.acquire(timeout=1)
        other = sessions.submit(reads.requests.requests_in_flight, a_session(), 1)

        done = reads.ended.wait(2)
        reads.released.set()

        assert done
        assert all(isinstance(one.exception(), TimeoutError) for one in (*slow, other))


def test_requests_behind_those_in_flight_are_read_without_their_xml(store: AnyStore) -> None:
    claim = Claim(a_session().id)
    first, second, third = (a_record(state=State.TICKETED, claim=claim) for _ in range(3))
    for record in (first, second, third):
        add(store, record)
    session = a_session(in_flight=InFlight((second.id,), (first.id, third.id)))

    requests, _ = store.requests_in_flight(session)

    assert requests == [RequestInFlight(second, REQUEST_XML), RequestInFlight(first), RequestInFlight(third)]


def test_a_request_returned_with_another_priority_is_queued_once(store: AnyStore) -> None:
    first, second = a_record(), a_record(inserted_at=timestamp(LATER))
    for record in (first, second):
        add(store, record)
    ticketed = second.moved(State.TICKETED, LATER)
    store.commit(ChangeRequest(second, ticketed))

    ahead = replace(ticketed, queue_priority=FIRST_IN_LINE).moved(State.WAITING, LATER)
    store.commit(ChangeRequest(ticketed, ahead))
    later = replace(ahead, queue_priority=IN_TURN, revision=ahead.revision + 1)
    assert list(store.queue_front(CONNECTION_ID, 10)) == [ahead, first]
    store.commit(ChangeRequest(ahead, later))

    assert list(store.queue_front(CONNECTION_ID, 10)) == [first, later]


def test_a_returned_request_is_queued_again(store: AnyStore) -> None:
    record = a_record()
    add(store, record)
    ticketed = record.moved(State.TICKETED, LATER)
    store.commit(ChangeRequest(record, ticketed))

    store.commit(ChangeRequest(ticketed, ticketed.moved(State.WAITING, LATER)))

    assert [record.id for record in store.queue_front(CONNECTION_ID, 10)] == [record.id]


def test_the_requests_ahead_are_counted_up_to_a_limit(store: AnyStore) -> None:
    connection = a_connection()
    store.commit(Put(None, connection))
    first, second = a_record(), a_record(inserted_at=timestamp(LATER))
    ahead = a_record(inserted_at=timestamp(LATER), queue_priority=FIRST_IN_LINE)
    elsewhere = a_record(connection_id="c0000000-0000-4000-8000-000000000009", queue_priority=FIRST_IN_LINE)
    discarded_record = a_record().moved(State.DISCARDED, NOON)
    for record in (second, first, ahead, elsewhere, discarded_record):
        add(store, record)

    details = [store.request_detail(record.id, None, 10) for record in (ahead, first, second, discarded_record)]

    texts = [StoredRequest(record, REQUEST_XML) for record in (ahead, first, second, discarded_record)]
    assert details == [RequestDetail(text, connection, n) for text, n in zip(texts, (0, 1, 2, 0), strict=True)]
    assert store.request_detail(second.id, CONNECTION_ID, 1) == RequestDetail(texts[2], connection, 1)


def test_a_record_is_removed_with_its_connection(store: AnyStore) -> None:
    store.commit(Put(None, a_connection()))
    waits, ended_record, deleted_record = a_record(), a_record(state=State.DISCARDED), a_record(state=State.ERROR)
    for record in (waits, ended_record, deleted_record):
        add(store, record)
    store.commit(RemoveRequest(deleted_record, timestamp(LATER)))
    other = "c0000000-0000-4000-8000-000000000099"
    assert stored_request(store, waits.id, other) is None
    for connection_id in (None, CONNECTION_ID):
        assert [
            type(stored_request(store, record.id, connection_id)) for record in (waits, ended_record, deleted_record)
        ] == [
            StoredRequest,
            StoredRequest,
            Tombstone,
        ]

    store.commit(Put(a_connection(), a_connection().removed(timestamp(LATER))))

    for connection_id in (None, CONNECTION_ID):
        assert [
            stored_request(store, record.id, connection_id) for record in (waits, ended_record, deleted_record)
        ] == [None] * 3
        assert [
            store.request_detail(record.id, connection_id, 9) for record in (waits, ended_record, deleted_record)
        ] == [None] * 3


def test_requests_behind_the_others_take_turns(store: AnyStore) -> None:
    times = [timestamp(LATER + timedelta(minutes=minutes)) for minutes in (2, 1, 3)]
    behind = [a_record(updated_at=time, queue_priority=BEHIND_OTHERS, state=State.RETRYABLE) for time in times]
    lost, new = a_record(queue_priority=LAST_IN_LINE), a_record(inserted_at=timestamp(LATER))
    for record in (*behind, lost, new):
        add(store, record)
    assert list(store.queue_front(CONNECTION_ID, 10)) == [new, lost, behind[1], behind[0], behind[2]]

    again = behind[1].changed(LATER + timedelta(minutes=4))
    store.commit(ChangeRequest(behind[1], again))

    assert list(store.queue_front(CONNECTION_ID, 10)) == [new, lost, behind[0], behind[2], again]


def test_a_front_of_over_a_megabyte_is_complete(store: AnyStore) -> None:
    """DynamoDB returns at most 1 MB in one call."""
    long = "x" * 200_000
    records = [a_record(inserted_at=timestamp(NOON + timedelta(seconds=n)), request_label=long) for n in range(8)]
    for record in records:
        add(store, record)

    assert list(store.queue_front(CONNECTION_ID, 8)) == records
    assert list(store.queue_front(CONNECTION_ID, 7)) == records[:7]


def test_the_queued_records_in_turn_behind_an_entry_are_read_by_insertion(store: AnyStore) -> None:
    moments = [timestamp(NOON + timedelta(seconds=second)) for second in (1, 2, 2, 3, 4)]
    records = sorted((a_record(inserted_at=moment) for moment in moments), key=lambda r: (r.inserted_at, r.id))
    others = [
        a_record(inserted_at=moments[1], queue_priority=LAST_IN_LINE),
        a_record(inserted_at=moments[1], state=State.SENT),
        a_record(inserted_at=moments[1], connection_id="c0000000-0000-4000-8000-000000000009"),
    ]
    for record in (*others, *records):
        add(store, record)

    def ids(after: IndexEntry, last: str, limit: int = 10) -> list[str]:
        return [record.id for record in store.queued_after(CONNECTION_ID, after, last, limit)]

    in_order = [record.id for record in records]
    assert ids(IndexEntry("", moments[0]), moments[4]) == in_order
    assert ids(IndexEntry("", moments[1]), moments[3]) == in_order[1:4]
    assert ids(IndexEntry(records[1].id, moments[1]), moments[4], 2) == in_order[2:4]
    assert ids(IndexEntry(records[4].id, moments[4]), moments[4]) == []


def test_late_requests_are_those_that_have_not_been_sent_by_their_time(store: AnyStore) -> None:
    seconds = int(LATER.timestamp())
    late = [a_record(send_by=seconds - number) for number in range(3)]
    claimed = a_record(send_by=seconds).claimed("session", NOON)
    waits_for_another = a_record(send_by=seconds, dependencies=(0,))
    proven = a_record(request_name="CustomerAddRq", state=State.RETRYABLE, sent_at=timestamp(NOON), send_by=seconds)
    others = [
        a_record(),
        a_record(send_by=seconds + 1),
        a_record(send_by=seconds).claimed("session", NOON).sent(NOON),
        a_record(send_by=seconds).moved(State.DISCARDED, NOON),
        a_record(state=State.RETRYABLE, sent_at=timestamp(NOON), send_by=seconds),
        replace(proven, id="00000000-0000-4000-8000-00000000abcd", recovery=Recovery(begun=True, active=True)),
        replace(proven, id="00000000-0000-4000-8000-00000000abce", message_set=MessageSet("set", 1, 2)),
    ]
    for record in (*late, claimed, waits_for_another, proven, *others):
        add(store, record)

    found = [record.id for record in store.late_requests(LATER)]

    assert sorted(found) == sorted(record.id for record in (*late, claimed, waits_for_another, proven))
    assert list(store.late_requests(NOON - timedelta(days=1))) == []


def test_a_late_request_is_not_found_after_its_end(store: AnyStore) -> None:
    record = a_record(send_by=int(NOON.timestamp()))
    add(store, record)

    store.commit(ChangeRequest(record, record.not_sent_in_time(LATER)))

    assert list(store.late_requests(LATER)) == []
    assert list(store.queue_front(CONNECTION_ID, 10)) == []


def test_more_late_requests_than_one_read_returns_are_found(store: AnyStore) -> None:
    records = [a_record(send_by=int(NOON.timestamp()) - number) for number in range(230)]
    for record in records:
        add(store, record)

    assert {record.id for record in store.late_requests(LATER)} == {record.id for record in records}


def test_queued_requests_with_a_priority_are_counted_up_to_a_limit(store: AnyStore) -> None:
    for priority in (IN_TURN, LAST_IN_LINE, LAST_IN_LINE, BEHIND_OTHERS):
        add(store, a_record(queue_priority=priority))
    add(store, a_record(queue_priority=LAST_IN_LINE, state=State.TICKETED))
    add(store, a_record(queue_priority=LAST_IN_LINE, connection_id="c0000000-0000-4000-8000-000000000009"))

    for limit, expected in ((1, 1), (2, 2), (9, 2)):
        assert store.count_queued(CONNECTION_ID, LAST_IN_LINE, limit) == expected


def test_the_low_lane_is_behind_the_normal_one_and_has_the_same_order(store: AnyStore) -> None:
    store.commit(Put(None, a_connection()))
    times = [timestamp(NOON + timedelta(seconds=second)) for second in range(4)]
    low = [
        a_record(inserted_at=times[1], is_low=True),
        a_record(inserted_at=times[2], is_low=True),
        a_record(inserted_at=timestamp(NOON - timedelta(hours=1)), is_low=True, queue_priority=LAST_IN_LINE),
        a_record(updated_at=times[3], is_low=True, queue_priority=BEHIND_OTHERS, state=State.RETRYABLE),
    ]
    normal = [
        a_record(inserted_at=times[3]),
        a_record(updated_at=times[3], queue_priority=BEHIND_OTHERS, state=State.RETRYABLE),
    ]
    recovered = a_record(is_low=True, request_name="CustomerAddRq", recovery=Recovery(begun=True, active=True))
    for record in [*low, *normal, recovered]:
        add(store, record)

    assert list(store.queue_front(CONNECTION_ID, 10)) == [recovered, *normal, *low]
    assert list(store.queue_front(CONNECTION_ID, 10, low_lane=True)) == low
    assert list(store.queue_front(CONNECTION_ID, 2, low_lane=True)) == low[:2]
    assert store.oldest_queued(CONNECTION_ID) == low[2]
    after = IndexEntry("", timestamp(NOON))
    assert list(store.queued_after(CONNECTION_ID, after, AFTER_ALL, 10, low_lane=True)) == low[:2]
    assert list(store.queued_after(CONNECTION_ID, after, AFTER_ALL, 10)) == normal[:1]
