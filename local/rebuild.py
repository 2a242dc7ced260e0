"""Rebuild what follows from the records, after the tables were restored: `local/restore.py` uses it.

Point-in-time recovery restores each table by itself, so the tables can be of different moments. The record decides:

| the record | restored with it | after the rebuild |
|---|---|---|
| a write that has not ended | | recovers: QuickBooks is asked for the response, and the write is never sent again |
| a read that has not ended | | is sent again |
| a write that has ended | without its response | recovers |
| a read that has ended | without its response | is sent again |
| a write | without its request | recovers; its request shows only its name |
| a read that has not ended | without its request | ends in an error, because it cannot be sent |
| a read that waits for a request of its batch | that was lost | ends in an error |
| none | a request or response | the request and the response are deleted |
| any | other counts, or another entry of the queue | both are written again; statistics stay |

The logs of events are deleted, because they name events after the moment of the restore. Their feeds begin again, and a
cursor from before gets `cursor_expired`.

Each table is read in full, once or twice, which the service itself never does. The rebuild can stop anywhere and start
again. No function may run meanwhile.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from adapters.dynamodb import DynamoDBStore, keys
from adapters.dynamodb.bodies import new_body_items
from adapters.dynamodb.counts import (
    CHANGED,
    COUNT_ATTRIBUTES,
    DAY,
    DELETED_CONNECTION,
    PACK,
    count_attribute,
    day_key,
    day_of_row,
    row_key,
)
from adapters.dynamodb.events import BEGAN_AT, BEGINNINGS, group_key
from adapters.dynamodb.queue import POSITION, queue_key
from adapters.dynamodb.records import RECORDS
from adapters.dynamodb.sessions import SESSION_ID
from adapters.dynamodb.statistics import summed_statistics
from domain.records.batch import id_at, position_of
from domain.records.request import (
    ENDED,
    FIRST_IN_LINE,
    IN_FLIGHT,
    IN_TURN,
    ErrorCode,
    QueuedRequest,
    Recovery,
    RequestError,
    State,
)
from domain.records.webhook import WebhookState
from domain.storage.changes import AddRequest, ChangeRequest, Put
from domain.storage.counts import CountKey, count_changes
from domain.timestamps import timestamp
from domain.web_connector.outcomes.error_reasons import Reason, reason_details
from domain.web_connector.outcomes.lost_response import after_session_end

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime

    from adapters.dynamodb import TableNames
    from adapters.dynamodb.keys import Item

A_REPORT = 10_000
"""The number of records after which the progress is reported again."""

PAGE_IS_LOST = "The response to this page was lost when the tables were restored."
DEPENDENCY_IS_LOST = "A request on which it depends was lost when the tables were restored."
REQUEST_IS_LOST = "The request was not sent: it was lost when the tables were restored."


@dataclass
class Parts:
    """The stored parts of requests and responses.

    `of`: the parts of each request. `attempts`: the attempts that stored the responses of bodies. `request_chunks`: how
    many chunks a body lists of its request.
    """

    of: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    attempts: dict[str, str] = field(default_factory=dict)
    request_chunks: dict[str, int] = field(default_factory=dict)

    def has_request(self, record: QueuedRequest) -> bool:
        """Whether the request itself is stored."""
        chunks = keys.chunk_keys(record.id, keys.REQUEST, self.request_chunks.get(record.id, 0))
        return {keys.BODY, *(key[keys.PART]["S"] for key in chunks)} <= self.of.get(record.id, set())

    def has_response(self, record: QueuedRequest) -> bool:
        """Whether the response that the record names is stored."""
        if not record.response_size:
            return record.state is not State.RESPONSE_RECEIVED
        if not record.response_chunks:
            return self.attempts.get(record.id) == record.response_attempt
        chunks = keys.response_chunk_keys(record.id, record.response_chunks)
        return {key[keys.PART]["S"] for key in chunks} <= self.of.get(record.id, set())


class Rebuild:
    """One run. `done` counts each kind of change; a run that has nothing to do counts nothing."""

    def __init__(self, client: Any, tables: TableNames, now: datetime, report: Callable[[str], None]) -> None:
        self._client = client
        self._tables = tables
        self._now = now
        self._report = report
        self._store = DynamoDBStore(client, tables, retention_days=lambda: 0)
        self.done = Counter({"sessions removed": 0, "connections freed": 0, "writes to ask QuickBooks about": 0})

    def run(self) -> Mapping[str, int]:
        """Rebuild everything and return the number of each change."""
        self._remove_events()
        connection_ids = self._remove_sessions()
        parts = self._parts()
        records = self._continue_records(parts)
        self._remove_orphans(parts, records.ids)
        if unreachable := sum(
            number for connection_id, number in records.of_connection.items() if connection_id not in connection_ids
        ):
            self._report(f"{unreachable} requests stay without a connection, so nobody can read them")
        self._rebuild_queue(records.queue)
        self._rebuild_counts(records.counts)
        return self.done

    def _remove_events(self) -> None:
        """Remove the logs of events. Where they began stays, so that the next ones begin behind them."""
        for group in self._items(self._tables.events):
            if BEGAN_AT in group and self._store.app(group[keys.APP_ID]["S"].removeprefix(BEGINNINGS)):
                continue
            key = group_key(group[keys.APP_ID]["S"], int(group[POSITION]["N"]))
            self._client.delete_item(TableName=self._tables.events, Key=key)
            self.done["groups of events removed"] += 1

    def _remove_sessions(self) -> set[str]:
        """Remove all sessions, also from their connections. Return the ids of the connections."""
        for session in self._items(self._tables.sessions):
            key = {SESSION_ID: session[SESSION_ID]}
            self._client.delete_item(TableName=self._tables.sessions, Key=key)
            self.done["sessions removed"] += 1
        items = self._items(self._tables.connections)
        connection_ids = {item[keys.ID]["S"] for item in items if keys.CANARY not in item}
        for connection_id in connection_ids:
            connection = self._store.connection(connection_id)
            if connection and connection.session_id:
                self._store.commit(Put(connection, connection.changed(timestamp(self._now), session_id=None)))
                self.done["connections freed"] += 1
        return connection_ids

    def _parts(self) -> Parts:
        """Return the stored parts. Markers, notes and search blocks do not belong to a record."""
        parts = Parts()
        for item in self._items(self._tables.payloads):
            request_id, part = item[keys.REQUEST_ID]["S"], item[keys.PART]["S"]
            is_note = request_id == keys.REMOVED_WITH_CHUNKS
            if is_note or part.startswith(keys.SEARCH_BLOCKS) or keys.REMOVED in item:
                continue
            parts.of[request_id].add(part)
            if keys.REQUEST_CHUNKS in item:
                parts.request_chunks[request_id] = int(item[keys.REQUEST_CHUNKS]["N"])
            if keys.RESPONSE in item:
                parts.attempts[request_id] = item[keys.RESPONSE_ATTEMPT]["S"]
        return parts

    def _continue_records(self, parts: Parts) -> _Records:
        records = _Records()
        dependants: list[QueuedRequest] = []
        for number, item in enumerate(self._items(self._tables.queued_requests), 1):
            if number % A_REPORT == 0:
                self._report(f"{number} records checked")
            if keys.STATE not in item:
                continue  # a tombstone
            record = RECORDS.entity(item)
            records.ids.add(record.id)
            has_request = parts.has_request(record)
            if not has_request:
                self._replace_request(record)
            after = continued(record, self._now, has_request=has_request, has_response=parts.has_response(record))
            if after is not record:
                self._store.commit(ChangeRequest(record, after))
                self.done[_what_happened(after)] += 1
            if after.dependencies and after.state is State.WAITING:
                dependants.append(after)
            else:
                records.add(after)
        for record in sorted(dependants, key=lambda dependant: position_of(dependant.id)):
            records.add(self._continue_dependant(record, records.open_ids))
        return records

    def _continue_dependant(self, record: QueuedRequest, open_ids: set[str]) -> QueuedRequest:
        """Return a read that waits for other requests of its batch. It ends in an error if one of them was lost."""
        lost = [
            request_id for position in record.dependencies if (request_id := id_at(record.id, position)) not in open_ids
        ]
        if not lost:
            return record
        details = {"dependency_id": lost[0], "dependency_code": "deleted"}
        after = record.failed(self._now, ErrorCode.DEPENDENCY_FAILED, DEPENDENCY_IS_LOST, details)
        self._store.commit(ChangeRequest(record, after))
        self.done[_what_happened(after)] += 1
        return after

    def _replace_request(self, record: QueuedRequest) -> None:
        """Store a request that shows only its name."""
        text = f'<QBXML><QBXMLMsgsRq onError="stopOnError"><{record.request_name}/></QBXMLMsgsRq></QBXML>'
        for item in new_body_items(record, text, record.request_name.casefold()):
            self._client.put_item(TableName=self._tables.payloads, Item=item)
        self.done["lost requests"] += 1

    def _remove_orphans(self, parts: Parts, ids: set[str]) -> None:
        for request_id in parts.of.keys() - ids:
            for part in parts.of[request_id]:
                self._client.delete_item(TableName=self._tables.payloads, Key=keys.payload_key(request_id, part))
            self.done["requests and responses without a record removed"] += 1

    def _rebuild_queue(self, queue: dict[tuple[str, str], Item]) -> None:
        table, missing = self._tables.queue, dict(queue)
        for item in self._items(table):
            key = {name: item[name] for name in (keys.CONNECTION_ID, POSITION)}
            wanted = missing.pop(_key(item), None)
            if wanted is None:
                self._client.delete_item(TableName=table, Key=key)
                self.done["entries of the queue removed"] += 1
            elif wanted != item:
                missing[_key(item)] = wanted
        for wanted in missing.values():
            self._client.put_item(TableName=table, Item=wanted)
            self.done["entries of the queue written"] += 1

    def _rebuild_counts(self, counts: Mapping[CountKey, int]) -> None:
        """Write the counts of each day that are wrong, in one row."""
        wanted: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
        for key, number in counts.items():
            wanted[key.connection_id, key.day][count_attribute(key)] = number
        stored: dict[tuple[str, str], list[Item]] = defaultdict(list)
        for row in self._items(self._tables.counts):
            if row[DAY] != {"S": DELETED_CONNECTION}:
                stored[row[keys.CONNECTION_ID]["S"], day_of_row(row)].append(row)
        for connection_id, day in wanted.keys() | stored.keys():
            rows, numbers = stored[connection_id, day], wanted[connection_id, day]
            sums = {name: sum(int(row[name]["N"]) for row in rows if name in row) for name in COUNT_ATTRIBUTES}
            if {name: number for name, number in sums.items() if number} == numbers:
                continue
            for row in rows:
                self._client.delete_item(TableName=self._tables.counts, Key=row_key(row))
            values = {name: {"N": str(number)} for name, number in (numbers | summed_statistics(rows)).items()}
            item = day_key(connection_id, day) | values | {PACK: {"S": CHANGED}}
            self._client.put_item(TableName=self._tables.counts, Item=item)
            self.done["days counted again"] += 1

    def _items(self, table: str, **options: Any) -> Iterator[Item]:
        for page in self._client.get_paginator("scan").paginate(TableName=table, ConsistentRead=True, **options):
            yield from page["Items"]


@dataclass
class _Records:
    """The values that the records determine: their ids, numbers by connection, entries of the queue and counts.

    `open_ids` are the ids of those that have not ended.
    """

    ids: set[str] = field(default_factory=set)
    open_ids: set[str] = field(default_factory=set)
    of_connection: Counter[str] = field(default_factory=Counter)
    queue: dict[tuple[str, str], Item] = field(default_factory=dict)
    counts: Counter[CountKey] = field(default_factory=Counter)

    def add(self, record: QueuedRequest) -> None:
        """Add a record."""
        self.of_connection[record.connection_id] += 1
        self.counts.update(count_changes([AddRequest(record, "", "")]))
        if record.state not in ENDED:
            self.open_ids.add(record.id)
        if record.is_in_queue:
            entry = RECORDS.item(record) | queue_key(record)
            self.queue[_key(entry)] = entry


def _key(entry: Item) -> tuple[str, str]:
    return entry[keys.CONNECTION_ID]["S"], entry[POSITION]["S"]


def _what_happened(after: QueuedRequest) -> str:
    if after.state in ENDED:
        return "reads that cannot be sent"
    return "reads to send again" if after.is_read else "writes to ask QuickBooks about"


def continued(record: QueuedRequest, now: datetime, *, has_request: bool, has_response: bool) -> QueuedRequest:
    """Return a record as it continues after a restore, or itself if nothing changes.

    The changes are not in the table of transitions, because the later changes of the request are unknown here.
    """
    if record.state in ENDED and has_response:
        return record
    if not record.is_read:
        return _recovering(record, now)
    if record.state in ENDED:
        if not has_request or record.paging.page > 1:
            return _lost(record, now)
        return _without_response(record, now, queue_priority=IN_TURN, state=State.RETRYABLE)
    if not has_request:
        return _lost(record, now)
    return after_session_end(record, now) if record.state in IN_FLIGHT else record


def _recovering(record: QueuedRequest, now: datetime) -> QueuedRequest:
    recovery = Recovery(begun=True, active=True)
    if record.state is State.RETRYABLE and record.recovery == recovery:
        return record
    sessions = max(record.sessions, 1)
    after = _without_response(record, now, state=State.RETRYABLE, sessions=sessions, queue_priority=FIRST_IN_LINE)
    return replace(after, recovery=recovery)


def _lost(record: QueuedRequest, now: datetime) -> QueuedRequest:
    error = RequestError("qbxml_parse_error", REQUEST_IS_LOST, reason_details(Reason.REQUEST_NOT_WRITABLE))
    if record.paging.page > 1:
        error = RequestError("iteration_interrupted", PAGE_IS_LOST, reason_details(Reason.ITERATOR_EXPIRED))
    return replace(_without_response(record, now, state=State.ERROR), error=error)


def _without_response(record: QueuedRequest, now: datetime, **fields: Any) -> QueuedRequest:
    """Return a record that goes on without its stored response. A pending webhook is sent when the record ends."""
    webhook, paging = replace(record.webhook, attempts_in_round=0), replace(record.paging, continued=False)
    if record.webhook.state is not WebhookState.PENDING:
        webhook = record.webhook
    cleared = replace(record, error=None, responded_at=None, response_size=0, response_attempt="", response_chunks="")
    cleared = replace(cleared, dependencies=(), queued_at=None)
    return cleared.changed(now, webhook=webhook, paging=paging, **fields)
