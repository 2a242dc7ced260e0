"""The store: each method is one access pattern of `docs/data-model.md`, in the order of `domain.ports`."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, islice, pairwise
from typing import TYPE_CHECKING, Any

from adapters.dynamodb import count_rows, items, payloads, showing
from adapters.dynamodb import tables as names
from adapters.dynamodb.purging import Purge
from adapters.dynamodb.reading import batch_get, query_all, skip_entries
from adapters.dynamodb.search_texts import AFTER_EVERYTHING, SearchTexts
from adapters.dynamodb.transactions import Transactions
from domain.errors import NotFound
from domain.requests.record import QueuedRequest, State, StoredRequest, Tombstone, WebhookState, day_of
from domain.storage.counts import INSERTED, UPDATED, CountKey
from domain.storage.ports import Delivery, IndexDays, IndexEntry, RequestDetail, unlimited

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from adapters.dynamodb.items import Item
    from adapters.dynamodb.tables import TableNames
    from domain.apps.record import ApiKey, App
    from domain.connections.record import Connection
    from domain.storage.changes import Change
    from domain.storage.counts import DayCounts
    from domain.web_connector.session.record import Session

MAX_SKIP_READ = 1_500
"""More entries than this (150 bytes each) are skipped by a count, one call more: below it, to send them is as quick.

Half a day's entries are skipped at most: 2,740 records a day, a million a year, stay below it.
"""


class DynamoDBStore:
    """Implements Store, Requests, Deliveries, Connections, Sessions, Apps, Listing, Packing and Recounts on DynamoDB.

    `client` is a boto3 DynamoDB client.
    """

    def __init__(self, client: Any, tables: TableNames, transactions: Transactions | None = None) -> None:
        self._client = client
        self._tables = tables
        self._transactions = transactions or Transactions(client, tables)
        self._texts = SearchTexts(client, tables)

    # --- Store

    def commit(self, *changes: Change) -> None:
        """Do all changes or none in one transaction."""
        self._transactions.commit(changes)

    # --- Requests

    def request(self, request_id: str) -> QueuedRequest | Tombstone | None:
        """Return the record alone: one read."""
        item = self._get(self._tables.queued_requests, {"id": {"S": request_id}})
        return items.request_from_item(item) if item else None

    def stored_request(self, request_id: str, connection_id: str | None = None) -> StoredRequest | Tombstone | None:
        """Return the record with its bodies: one read when its connection is named and no body lies in chunks."""
        found = self.request_detail(request_id, connection_id, 0)
        return found.stored if isinstance(found, RequestDetail) else found

    def request_detail(self, request_id: str, connection_id: str | None, most: int) -> RequestDetail | Tombstone | None:
        """Return all that is told of a record: one read, and a second round of them for what that left open."""
        return showing.request_detail(self._client, self._tables, request_id, connection_id, most)

    def stored_requests(self, request_ids: Sequence[str], *, largest_response: int) -> Mapping[str, StoredRequest]:
        """Return the records that exist: two keys each, so that 50 records are one read."""
        records, bodies = self._records_and_bodies(request_ids)
        return {
            request_id: self._whole(
                record,
                bodies[request_id],
                with_response=record.response_size <= largest_response,
            )
            for request_id, record in records.items()
            if isinstance(record, QueuedRequest) and request_id in bodies
        }

    def request_xml(self, request_id: str) -> str:
        """Return the request's text: one read, a second when it lies in chunks."""
        item = self._get(self._tables.payloads, payloads.payload_key(request_id))
        if item is None or payloads.GONE in item:
            raise NotFound("There is no such request.")
        return self._request_text(request_id, payloads.body_from_item(item))

    def queue_front(self, connection_id: str, limit: int) -> Sequence[QueuedRequest]:
        """Return what is sent next: one consistent query of a table that holds whole records."""
        answer = self._client.query(
            TableName=self._tables.queue,
            KeyConditionExpression="connection_id = :connection",
            ExpressionAttributeValues={":connection": {"S": connection_id}},
            ConsistentRead=True,
            Limit=limit,
        )
        return [items.record_from_item(item) for item in answer["Items"]]

    def _records_and_bodies(
        self, request_ids: Sequence[str]
    ) -> tuple[dict[str, QueuedRequest | Tombstone], dict[str, payloads.Body]]:
        tables = self._tables
        found = batch_get(
            self._client,
            {
                tables.queued_requests: [{"id": {"S": request_id}} for request_id in request_ids],
                tables.payloads: [payloads.payload_key(request_id) for request_id in request_ids],
            },
        )
        return (
            {item["id"]["S"]: items.request_from_item(item) for item in found[tables.queued_requests]},
            {item["request_id"]["S"]: payloads.body_from_item(item) for item in found[tables.payloads]},
        )

    def _whole(self, record: QueuedRequest, body: payloads.Body, *, with_response: bool) -> StoredRequest:
        """Return the record with its texts, reading the chunks that hold them."""
        chunks = self._chunks(payloads.keys_of_chunks(record, body, with_response=with_response))
        return payloads.stored_request(record, body, chunks, with_response=with_response)

    def _request_text(self, request_id: str, body: payloads.Body) -> str:
        if body.request_xml is not None:
            return body.request_xml
        chunks = self._chunks(payloads.chunk_keys(request_id, payloads.REQUEST, body.request_parts))
        return payloads.join(chunks, payloads.REQUEST, body.request_parts)

    def _chunks(self, keys: Sequence[Item]) -> Mapping[str, Item]:
        if not keys:
            return {}
        return payloads.by_part(batch_get(self._client, {self._tables.payloads: keys})[self._tables.payloads])

    # --- Deliveries

    def delivery(
        self, request_id: str, app_id: str, *, response_parts: int, largest_response: int
    ) -> Delivery | Tombstone | None:
        """Return what one webhook attempt needs: one read over three tables."""
        tables = self._tables
        found = batch_get(
            self._client,
            {
                tables.queued_requests: [{"id": {"S": request_id}}],
                tables.payloads: [
                    payloads.payload_key(request_id),
                    *payloads.chunk_keys(request_id, payloads.RESPONSE, response_parts),
                ],
                tables.apps: [{"id": {"S": app_id}}],
            },
        )
        if not found[tables.queued_requests]:
            return None
        record = items.request_from_item(found[tables.queued_requests][0])
        if isinstance(record, Tombstone):
            return record
        parts = payloads.by_part(found[tables.payloads])
        body = payloads.body_from_item(parts[items.BODY])
        request_xml = self._request_text(request_id, body)
        response_xml = body.response_xml
        if record.response_size > largest_response:
            response_xml = None
        elif record.response_parts:
            chunks = parts if record.response_parts <= response_parts else self._response_chunks(record)
            response_xml = payloads.join(chunks, payloads.RESPONSE, record.response_parts)
        secrets = items.app_from_item(found[tables.apps][0]).webhook_secrets if found[tables.apps] else ()
        return Delivery(StoredRequest(record, request_xml, response_xml), secrets)

    def _response_chunks(self, record: QueuedRequest) -> Mapping[str, Item]:
        return self._chunks(payloads.chunk_keys(record.id, payloads.RESPONSE, record.response_parts))

    # --- Connections

    def connection(self, connection_id: str) -> Connection | None:
        """Return a connection; deleted ones too: one read."""
        item = self._get(self._tables.connections, {"id": {"S": connection_id}})
        return items.connection_from_item(item) if item else None

    def connections_of(self, app_id: str, offset: int, limit: int) -> tuple[Sequence[Connection], int]:
        """Return one page of an app's connections and how many there are: the index, then one batch."""
        entries = query_all(
            self._client,
            TableName=self._tables.connections,
            IndexName=names.CONNECTIONS_BY_APP_INDEX,
            KeyConditionExpression="app_id = :app",
            FilterExpression="attribute_not_exists(deleted_at)",
            ExpressionAttributeValues={":app": {"S": app_id}},
        )
        ids = [entry["id"]["S"] for entry in entries]
        found = self._connections_by_id(ids[offset : offset + limit])
        return [found[one] for one in ids[offset : offset + limit] if one in found], len(ids)

    def deleted_connections(self, limit: int) -> Sequence[Connection]:
        """Return connections whose records are still to be removed, the longest deleted first."""
        answer = self._client.query(
            TableName=self._tables.connections,
            IndexName=names.CONNECTIONS_TO_PURGE_INDEX,
            KeyConditionExpression="purge = :purge",
            ExpressionAttributeValues={":purge": {"S": items.PURGE}},
            Limit=limit,
        )
        return list(self._connections_by_id([entry["id"]["S"] for entry in answer["Items"]]).values())

    def _connections_by_id(self, ids: Sequence[str]) -> dict[str, Connection]:
        if not ids:
            return {}
        table = self._tables.connections
        found = batch_get(self._client, {table: [{"id": {"S": one}} for one in ids]})[table]
        return {item["id"]["S"]: items.connection_from_item(item) for item in found}

    def remove_records(self, connection: Connection) -> Iterator[int]:
        """Remove the records of a deleted connection by batches; yield how many each step removed."""
        return Purge(self._client, self._tables).records(connection.id)

    def remove_connection(self, connection: Connection) -> None:
        """Remove the queue and the counts of a deleted connection, and then itself."""
        Purge(self._client, self._tables).rest(connection.id)

    # --- Sessions

    def session(self, ticket: str) -> Session | None:
        """Return the session whose ticket has this hash: one read."""
        item = self._get(self._tables.sessions, {"ticket": {"S": ticket}})
        return items.session_from_item(item) if item else None

    def silent_sessions(self, before: str, limit: int) -> Sequence[Session]:
        """Return open sessions whose last call was before the timestamp: the sparse index, then one batch."""
        answer = self._client.query(
            TableName=self._tables.sessions,
            IndexName=names.LIVE_SESSIONS_INDEX,
            KeyConditionExpression="live = :live AND last_call_at < :before",
            ExpressionAttributeValues={":live": {"S": items.LIVE}, ":before": {"S": before}},
            Limit=limit,
        )
        keys = [{"ticket": entry["ticket"]} for entry in answer["Items"]]
        if not keys:
            return []
        table = self._tables.sessions
        sessions = [items.session_from_item(item) for item in batch_get(self._client, {table: keys})[table]]
        return sorted(
            (session for session in sessions if not session.ended and session.last_call_at < before),
            key=lambda session: session.last_call_at,
        )

    # --- Apps

    def app(self, app_id: str) -> App | None:
        """Return an app: one read."""
        item = self._get(self._tables.apps, {"id": {"S": app_id}})
        return items.app_from_item(item) if item and "key_of" not in item else None

    def api_key(self, key_hash: str) -> ApiKey | None:
        """Return the key with this hash: one read."""
        item = self._get(self._tables.apps, {"id": {"S": key_hash}})
        return items.api_key_from_item(item) if item and "key_of" in item else None

    def api_keys_of(self, app_id: str) -> Sequence[ApiKey]:
        """Return an app's keys, oldest first: the sparse index, which holds them whole."""
        found = query_all(
            self._client,
            TableName=self._tables.apps,
            IndexName=names.KEYS_OF_APP_INDEX,
            KeyConditionExpression="key_of = :app",
            ExpressionAttributeValues={":app": {"S": app_id}},
        )
        return [items.api_key_from_item(item) for item in found]

    # --- Listing

    def day_counts(self, connection_id: str) -> Sequence[DayCounts]:
        """Return the connection's counts, oldest day first: one query, about 200 bytes a day."""
        return count_rows.day_counts(
            query_all(
                self._client,
                TableName=self._tables.counts,
                KeyConditionExpression="connection_id = :connection",
                ExpressionAttributeValues={":connection": {"S": connection_id}},
                ConsistentRead=True,
            )
        )

    def index_entries(self, days: IndexDays, *, descending: bool, skip: int, limit: int) -> Sequence[IndexEntry]:
        """Return entries of one index: a query that reads no more than `skip + limit` where nothing is filtered.

        What is skipped in the middle of a very full day is counted first, so that it is not sent.
        """
        query = self._index(days, days.first_day, days.last_day + AFTER_EVERYTHING)
        query["ScanIndexForward"] = not descending
        if "FilterExpression" not in query:
            if skip > MAX_SKIP_READ:
                start = skip_entries(self._client, skip, **query)
                if start is None:
                    return []
                query["ExclusiveStartKey"], skip = start, 0
            query["Limit"] = skip + limit
        entries = islice(query_all(self._client, **query), skip, skip + limit)
        return [_entry(item, days.sort) for item in entries]

    def all_index_entries(
        self, days: IndexDays, cuts: Sequence[str], in_time: Callable[[], None] = unlimited
    ) -> Iterable[IndexEntry]:
        """Return every entry of these days, read side by side: as many queries at once as there are parts."""
        parts = list(pairwise([days.first_day, *cuts, days.last_day + AFTER_EVERYTHING]))

        def read(part: tuple[str, str]) -> list[IndexEntry]:
            items_of_part = query_all(self._client, in_time, **self._index(days, *part))
            return [_entry(item, days.sort) for item in items_of_part]

        with ThreadPoolExecutor(len(parts)) as readers:
            return list(chain.from_iterable(readers.map(read, parts)))

    def _index(self, days: IndexDays, first: str, last: str) -> dict[str, Any]:
        """Return the query of these days' entries between two moments."""
        keys = {"connection_id": days.connection_id}
        filters: dict[str, str] = {}
        for name, value in (("state", days.state), ("webhook_state", days.webhook_state)):
            if value is not None:
                (keys if days.use == name else filters)[name] = value.value
        used = {**keys, **filters}
        query: dict[str, Any] = {
            "TableName": self._tables.queued_requests,
            "IndexName": names.LISTING_INDEXES[days.use, days.sort],
            "KeyConditionExpression": " AND ".join(
                [*(f"#{name} = :{name}" for name in keys), "#sort BETWEEN :first AND :last"]
            ),
            "ExpressionAttributeNames": {"#sort": days.sort} | {f"#{name}": name for name in used},
            "ExpressionAttributeValues": {":first": {"S": first}, ":last": {"S": last}}
            | {f":{name}": {"S": value} for name, value in used.items()},
        }
        if filters:
            query["FilterExpression"] = " AND ".join(f"#{name} = :{name}" for name in filters)
        return query

    def search_hits(
        self, connection_id: str, needle: str, cuts: Sequence[str], in_time: Callable[[], None] = unlimited
    ) -> Collection[tuple[str, str]]:
        """Return (inserted_at, id) of the records whose text holds `needle`; parts are read side by side."""
        return self._texts.hits(connection_id, needle, cuts, in_time)

    # --- Packing

    def quiet_days(self, before: str, limit: int) -> Sequence[tuple[str, str]]:
        """Return days whose search texts are to be packed."""
        return self._texts.quiet_days(before, limit)

    def pack(self, connection_id: str, day: str, after: tuple[str, str] | None) -> tuple[str, str] | None:
        """Do one step of a day's packing."""
        return self._texts.pack(connection_id, day, after)

    # --- Recounts

    def recount(self, connection_id: str) -> Mapping[CountKey, int]:
        """Return the records of each state counted, by either moment: every entry of the indexes by state."""
        counts: Counter[CountKey] = Counter()
        for sort in (INSERTED, UPDATED):
            for state in State:
                for item in query_all(
                    self._client,
                    TableName=self._tables.queued_requests,
                    IndexName=names.LISTING_INDEXES["state", sort],
                    KeyConditionExpression="connection_id = :connection AND #state = :state",
                    ExpressionAttributeNames={"#state": "state"},
                    ExpressionAttributeValues={":connection": {"S": connection_id}, ":state": {"S": state.value}},
                ):
                    webhook_state = WebhookState(item["webhook_state"]["S"])
                    counts[CountKey(connection_id, day_of(item[sort]["S"]), sort, state, webhook_state)] += 1
        return counts

    def add_to_counts(self, changes: Mapping[CountKey, int]) -> None:
        """Add to counts, a transaction a day: one that is sent twice adds once."""
        self._transactions.add_to_counts(changes)

    def _get(self, table: str, key: Item) -> Item | None:
        item: Item | None = self._client.get_item(TableName=table, Key=key, ConsistentRead=True).get("Item")
        return item


def _entry(item: Item, sort: str) -> IndexEntry:
    return IndexEntry(item["id"]["S"], item[sort]["S"])
