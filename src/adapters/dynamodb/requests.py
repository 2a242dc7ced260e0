"""Reads of queued requests: records with their bodies. `request_changes.py` writes them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from adapters.dynamodb import keys
from adapters.dynamodb.apps import APPS
from adapters.dynamodb.bodies import BODY_IN_FLIGHT, Bodies, StoredBatch, lacks_values
from adapters.dynamodb.client import MAX_BATCH_KEYS, Index, key_query
from adapters.dynamodb.connections import CONNECTIONS
from adapters.dynamodb.records import RECORD_ATTRIBUTES, UNSENT, UNSENT_SHARDS, request_from_item
from adapters.dynamodb.torn_reads import TORN_READ, PartMissing, consistently
from domain.errors import TooManyRequests
from domain.records.request import QueuedRequest, Tombstone
from domain.records.session import RequestInFlight
from domain.storage.ports import Delivery, RequestDetail

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from adapters.dynamodb.client import DynamoDB
    from adapters.dynamodb.keys import Item
    from adapters.dynamodb.queue import Queue
    from domain.records.connection import Connection
    from domain.records.session import Session
    from domain.storage.ports import RequestBatch

TO_SEND = Index("to_send")


@dataclass(frozen=True, slots=True)
class _Parts:
    """The parts of a request's detail that have been read."""

    request: QueuedRequest | Tombstone
    bodies: Bodies | None
    connection: Connection | None
    ahead: int = 0

    def missing_chunks(self) -> list[Item]:
        """Return the keys of the chunks that have not been read yet."""
        if self.bodies is None or isinstance(self.request, Tombstone):
            return []
        return self.bodies.missing_chunks(self.request.id, self.request.response_chunks)

    def detail(self) -> RequestDetail | Tombstone | None:
        """Return the detail, or None if the connection was deleted. Raises PartMissing if a body was not read."""
        if self.connection is None or self.connection.deleted_at:
            return None
        if isinstance(self.request, Tombstone):
            return self.request
        if self.bodies is None:
            raise PartMissing(self.request.id)
        return RequestDetail(self.bodies.stored_request(self.request), self.connection, self.ahead)


class Requests:
    """Reads requests."""

    def __init__(self, dynamodb: DynamoDB, queue: Queue) -> None:
        self._dynamodb = dynamodb
        self._queue = queue

    def request(self, request_id: str) -> QueuedRequest | Tombstone | None:
        """Return the record without its bodies, with one read."""
        item = self._dynamodb.get(self._dynamodb.tables.queued_requests, keys.id_key(request_id))
        return request_from_item(item) if item else None

    def request_detail(
        self, request_id: str, connection_id: str | None = None, max_ahead: int = 0
    ) -> RequestDetail | Tombstone | None:
        """Return a record with one read. If that does not return everything, a second round of reads follows.

        The second round reads the connection if `connection_id` is None, the chunks of large bodies, and the number of
        requests ahead.
        """

        def read() -> RequestDetail | Tombstone | None:
            return self._read_detail(request_id, connection_id, max_ahead)

        return consistently(read, self._dynamodb.backoff(TORN_READ), _lacks_parts)

    def _read_detail(
        self, request_id: str, connection_id: str | None, max_ahead: int
    ) -> RequestDetail | Tombstone | None:
        """Read a record with its bodies, then the parts that this read did not return."""
        first = self._first_round(request_id, connection_id)
        if first is None or connection_id not in {None, first.request.connection_id}:
            return None
        return self._second_round(first, max_ahead, with_connection=connection_id is None).detail()

    def _first_round(self, request_id: str, connection_id: str | None) -> _Parts | None:
        """Read the record, the body and, if its id is known, the connection. Returns None without a record."""
        tables = self._dynamodb.tables
        items = self._dynamodb.batch_get(
            {
                tables.queued_requests: [keys.id_key(request_id)],
                tables.payloads: [keys.payload_key(request_id)],
                tables.connections: [keys.id_key(connection_id)] if connection_id else [],
            }
        )
        if not items[tables.queued_requests]:
            return None
        request = request_from_item(items[tables.queued_requests][0])
        bodies = Bodies.of(items[tables.payloads]) if isinstance(request, QueuedRequest) else None
        return _Parts(request, bodies, _connection(items[tables.connections]))

    def _second_round(self, first: _Parts, max_ahead: int, *, with_connection: bool) -> _Parts:
        """Add the missing chunks, the connection if asked for, and the number of requests ahead of a queued one."""
        tables, request = self._dynamodb.tables, first.request
        needed = {
            tables.connections: [keys.id_key(request.connection_id)] if with_connection else [],
            tables.payloads: first.missing_chunks(),
        }
        ahead = 0
        if max_ahead and isinstance(request, QueuedRequest) and request.is_in_queue:
            with ThreadPoolExecutor(2) as readers:
                items_read = readers.submit(self._dynamodb.batch_get, needed)
                ahead_read = readers.submit(self._queue.count_ahead, request, max_ahead)
                items, ahead = items_read.result(), ahead_read.result()
        else:
            items = self._dynamodb.batch_get(needed)
        bodies = first.bodies | items[tables.payloads] if first.bodies else None
        return _Parts(request, bodies, first.connection or _connection(items[tables.connections]), ahead)

    def request_batch(self, request_ids: Sequence[str]) -> RequestBatch:
        """Read the existing records with their compressed bodies. Each needs two keys, so one read returns 50.

        A torn read is repeated. If a record still has no body then, it is left out. If a response is still missing, it
        is not in the list. If a value is still missing, its reference is in the request.
        """
        tables, backoff = self._dynamodb.tables, self._dynamodb.backoff(TORN_READ)
        records: dict[str, QueuedRequest] = {}
        bodies: dict[str, Bodies] = {}
        to_read = list(request_ids)
        with suppress(TooManyRequests):
            while to_read:
                items = self._read_with_bodies(to_read)
                for request_id in to_read:
                    records.pop(request_id, None)
                    bodies.pop(request_id, None)
                for record in map(request_from_item, items[tables.queued_requests]):
                    if isinstance(record, QueuedRequest):
                        records[record.id] = record
                bodies |= _bodies_by_id(items[tables.payloads])
                to_read = [
                    request_id
                    for request_id in to_read
                    if request_id in records and _cannot_be_shown(records[request_id], bodies.get(request_id))
                ]
                if to_read:
                    backoff.wait()
        with_bodies = [record for request_id, record in records.items() if request_id in bodies]
        return StoredBatch(with_bodies, bodies, self._payloads)

    def _read_with_bodies(self, request_ids: Sequence[str]) -> Mapping[str, Sequence[Item]]:
        """Return records and bodies by table. Each 50 requests are one call; several calls are made in parallel."""
        tables = self._dynamodb.tables

        def read(ids: Sequence[str]) -> Mapping[str, Sequence[Item]]:
            records, bodies = map(keys.id_key, ids), map(keys.payload_key, ids)
            return self._dynamodb.batch_get({tables.queued_requests: list(records), tables.payloads: list(bodies)})

        size = MAX_BATCH_KEYS // 2
        groups = [request_ids[start : start + size] for start in range(0, len(request_ids), size)]
        if len(groups) == 1:
            return read(request_ids)
        with ThreadPoolExecutor(max(len(groups), 1)) as readers:
            results = list(readers.map(read, groups))
        names = (tables.queued_requests, tables.payloads)
        return {name: [item for result in results for item in result[name]] for name in names}

    def records_by_id(self, request_ids: Sequence[str], *, may_lag: bool = False) -> Sequence[QueuedRequest]:
        """Return the existing records without their bodies, with one read for each 100."""
        found = map(request_from_item, self._items_by_id(request_ids, may_lag=may_lag))
        return [record for record in found if isinstance(record, QueuedRequest)]

    def ids_in_use(self, request_ids: Sequence[str], *, may_lag: bool = False) -> set[str]:
        """Return the ids of records and tombstones, with one read for each 100."""
        return {item[keys.ID]["S"] for item in self._items_by_id(request_ids, may_lag=may_lag)}

    def _items_by_id(self, request_ids: Sequence[str], *, may_lag: bool) -> Sequence[Item]:
        table = self._dynamodb.tables.queued_requests
        eventually = (table,) if may_lag else ()
        return self._dynamodb.batch_get({table: list(map(keys.id_key, request_ids))}, eventually)[table]

    def late_requests(self, now: datetime) -> Iterator[QueuedRequest]:
        """Yield the requests that miss their `send_by`. Reads each shard of an index, then the records in batches."""
        for shard in range(UNSENT_SHARDS):
            query = key_query(
                self._dynamodb.tables.queued_requests,
                {UNSENT: str(shard)},
                index=TO_SEND,
                below=(keys.SEND_BY, int(now.timestamp()) + 1),
            )
            ids = (entry[keys.ID]["S"] for entry in self._dynamodb.query(query))
            while batch := list(islice(ids, MAX_BATCH_KEYS)):
                # The index may lag behind the records.
                yield from (record for record in self.records_by_id(batch) if record.misses_send_by(now))

    def requests_in_flight(
        self, session: Session, front: int = 0
    ) -> tuple[Sequence[RequestInFlight], Sequence[QueuedRequest]]:
        """Return the requests in flight of a session with one read, and in parallel the front of its queue.

        Those behind them come last, without their bodies. Another read fetches the chunks of large requests.
        """
        if not front:
            return self._requests_in_flight(session), ()
        # A new thread takes 0.2 ms, and shared ones would let slow reads of one app delay the sessions of others.
        with ThreadPoolExecutor(1) as reader:
            queue_read = reader.submit(self._queue.queue_front, session.connection_id, front)
            return self._requests_in_flight(session), queue_read.result()

    def _requests_in_flight(self, session: Session) -> list[RequestInFlight]:
        tables, sent = self._dynamodb.tables, session.in_flight.request_ids if session.in_flight else ()
        items = self._dynamodb.batch_get(
            {
                tables.queued_requests: [keys.id_key(request_id) for request_id in session.ids_in_flight],
                tables.payloads: [keys.payload_key(request_id) for request_id in sent],
            },
            attributes={tables.queued_requests: RECORD_ATTRIBUTES, tables.payloads: BODY_IN_FLIGHT},
        )
        records = {record.id: record for record in map(request_from_item, items[tables.queued_requests])}
        records_in_flight = [
            record
            for request_id in session.ids_in_flight
            if isinstance(record := records.get(request_id), QueuedRequest) and session.has_in_flight(record)
        ]
        with_bodies = [record for record in records_in_flight if record.id in sent]
        behind = [RequestInFlight(record) for record in records_in_flight if record.id not in sent]
        return [*self._with_bodies(with_bodies, items[tables.payloads]), *behind]

    def with_request_xml(self, records: Sequence[QueuedRequest]) -> list[RequestInFlight]:
        """Return records with their request XML, with one read, or two reads if a request is in chunks."""
        return self._with_bodies(records, self._payloads([keys.payload_key(record.id) for record in records]))

    def _with_bodies(self, records: Sequence[QueuedRequest], items: Sequence[Item]) -> list[RequestInFlight]:
        """Return records with the requests in these body items. Reads torn ones again, and the chunks of large ones."""
        bodies, backoff = _bodies_by_id(items), self._dynamodb.backoff(TORN_READ)
        with suppress(TooManyRequests):
            while torn := [record for record in records if _cannot_be_sent(record, bodies.get(record.id))]:
                backoff.wait()
                bodies |= _bodies_by_id(self._payloads([keys.payload_key(record.id) for record in torn]))
        chunks = [key for request_id, body in bodies.items() for key in body.missing_chunks(request_id)]
        for chunk in self._payloads(chunks):
            bodies[chunk[keys.REQUEST_ID]["S"]] |= [chunk]
        return [_in_flight(record, bodies.get(record.id)) for record in records]

    def _complete(self, bodies: Bodies, request_id: str, response_chunks: str = "") -> Bodies:
        """Return the bodies with the chunks of the request and the response that are still missing."""
        return bodies | self._payloads(bodies.missing_chunks(request_id, response_chunks))

    def _payloads(self, item_keys: Sequence[Item]) -> list[Item]:
        return self._dynamodb.batch_get({self._dynamodb.tables.payloads: item_keys})[self._dynamodb.tables.payloads]

    def delivery(
        self, request_id: str, app_id: str, *, response_chunks: str, max_response_bytes: int
    ) -> Delivery | Tombstone | None:
        """Return the data for one webhook attempt, with one read of three tables."""

        def read() -> Delivery | Tombstone | None:
            return self._read_delivery(request_id, app_id, response_chunks, max_response_bytes)

        return consistently(read, self._dynamodb.backoff(TORN_READ))

    def _read_delivery(
        self, request_id: str, app_id: str, response_chunks: str, max_response_bytes: int
    ) -> Delivery | Tombstone | None:
        tables = self._dynamodb.tables
        items = self._dynamodb.batch_get(
            {
                tables.queued_requests: [keys.id_key(request_id)],
                tables.payloads: [
                    keys.payload_key(request_id),
                    *keys.response_chunk_keys(request_id, response_chunks),
                ],
                tables.apps: [keys.id_key(app_id)],
            },
            # Half the units, because all webhooks of an app read the same item.
            eventually={tables.apps},
        )
        record = next(map(request_from_item, items[tables.queued_requests]), None)
        if not isinstance(record, QueuedRequest):
            return record
        bodies = Bodies.of(items[tables.payloads])
        if bodies is None:
            raise PartMissing(request_id)
        secrets = APPS.entity(items[tables.apps][0]).webhook_secrets if items[tables.apps] else ()
        with_response = record.response_size <= max_response_bytes
        bodies = self._complete(bodies, record.id, record.response_chunks if with_response else "")
        return Delivery(bodies.stored_request(record, with_response=with_response), secrets)


def _is_torn(record: QueuedRequest, bodies: Bodies | None) -> bool:
    """Whether the body was read at another moment than the record: it is missing, or lacks a part of the record."""
    return bodies is None or bodies.is_older_than(record) or lacks_values(record, bodies.references)


def _cannot_be_shown(record: QueuedRequest, bodies: Bodies | None) -> bool:
    """Whether the body is torn, or lacks the Mod that waits for approval."""
    return _cannot_be_sent(record, bodies) if record.awaits_approval else _is_torn(record, bodies)


def _cannot_be_sent(record: QueuedRequest, bodies: Bodies | None) -> bool:
    """Whether the body is torn, or lacks the Mod of the record, which only a session needs."""
    return bodies is None or _is_torn(record, bodies) or _lacks_modification(record, bodies.modification_of(record))


def _lacks_modification(record: QueuedRequest, modification_xml: str | None) -> bool:
    """Whether a record sends a Mod, and was read without it."""
    return record.modification_label is not None and modification_xml is None


def _lacks_parts(detail: RequestDetail | Tombstone | None) -> bool:
    """Whether a record was read with the body of an earlier revision.

    Somebody who approves a revision must have seen the Mod that it sends.
    """
    if not isinstance(detail, RequestDetail):
        return False
    record, stored = detail.stored.record, detail.stored
    lacks_modification = _lacks_modification(record, stored.modification_xml)
    return lacks_values(record, stored.references) or (record.awaits_approval and lacks_modification)


def _bodies_by_id(items: Sequence[Item]) -> dict[str, Bodies]:
    return {item[keys.REQUEST_ID]["S"]: body for item in items if (body := Bodies.of([item]))}


def _in_flight(record: QueuedRequest, bodies: Bodies | None) -> RequestInFlight:
    """Return a record with the request in these bodies, which is None if it is missing.

    It also counts as missing while a reference in it has no value, so that such a request is never sent. A request in
    the queue has all its values, unless a table was restored alone.
    """
    if bodies is None:
        return RequestInFlight(record)
    if any(reference.value is None for reference in bodies.references):
        return RequestInFlight(record, None, bodies.metadata, queued_by=bodies.queued_by)
    try:
        modification_xml = bodies.modification_of(record)
        return RequestInFlight(record, bodies.request_xml, bodies.metadata, modification_xml, bodies.queued_by)
    except PartMissing:
        return RequestInFlight(record, None, bodies.metadata, queued_by=bodies.queued_by)


def _connection(items: Sequence[Item]) -> Connection | None:
    return next(map(CONNECTIONS.entity, items), None)
