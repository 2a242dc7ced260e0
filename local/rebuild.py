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
cursor from before gets `cursor_expired`. Subscriptions emit the changes of the books again that were in them
(`local/rewinding.py`).

Each table is read in full, which the service itself never does. The rebuild works in the parts of `local/parts.py`, so
it can stop anywhere and continue. No function may run meanwhile.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cache, partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from adapters.dynamodb import keys
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
from adapters.dynamodb.events import BEGAN_AT, BEGINNINGS
from adapters.dynamodb.queue import POSITION, queue_key
from adapters.dynamodb.records import RECORDS
from adapters.dynamodb.sessions import SESSION_ID
from adapters.dynamodb.statistics import summed_statistics
from adapters.dynamodb.subscriptions import ITEM
from domain.records.batch import id_at, is_id, position_of
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
from domain.records.session import MAX_EXECUTION_SECONDS, Limits
from domain.records.subscription import ObjectCopy
from domain.records.webhook import WebhookState
from domain.storage.changes import AddRequest, ChangeRequest, Put
from domain.storage.counts import count_changes
from domain.timestamps import timestamp
from domain.web_connector.outcomes.error_reasons import Reason, reason_details
from domain.web_connector.outcomes.lost_response import Ending, after_session_end
from local.parts import MAX_BATCH_WRITES, Row, digest, in_batches, key_text, write_rows
from local.rewinding import next_run, rewound_copy, rewound_parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from adapters.dynamodb import DynamoDBStore
    from adapters.dynamodb.keys import Item
    from domain.records.connection import Connection
    from local.parts import Database, Done, Work

PAGE_IS_LOST = "The response to this page was lost when the tables were restored."
DEPENDENCY_IS_LOST = "A request on which it depends was lost when the tables were restored."
REQUEST_IS_LOST = "The request was not sent: it was lost when the tables were restored."

UNREACHABLE = "requests stay without a connection"

RECORD, PART, CONNECTION = "record", "part", "connection"
WANTED, ENTRY = "wanted", "entry"
COUNT, COUNT_ROW = "count", "row"
"""Kinds of rows: a record and a part of a request or response by the id of the request, and connections and the records
of each; an entry that the queue should have, and one that it has; a count that a day should have, and a row that it
has."""

LOST = "lost"

_ALWAYS_NAMED = {"sessions removed", "connections freed", "writes to ask QuickBooks about"}

_ATTRIBUTES = (keys.REQUEST_ID, keys.PART, keys.REQUEST_CHUNKS, keys.RESPONSE_ATTEMPT, keys.REMOVED)
_PARTS_ONLY: Mapping[str, Any] = {
    "ProjectionExpression": ", ".join(f"#{name}" for name in _ATTRIBUTES),
    "ExpressionAttributeNames": {f"#{name}": name for name in _ATTRIBUTES},
}
"""DynamoDB reads the requests and responses, and does not send them."""


def prepare(work: Work, database: Database, now: datetime) -> Mapping[str, int]:
    """Make the copied tables agree with their records. Return the number of each change.

    A run that has nothing to do counts nothing.
    """
    names = database.names
    done = Counter({"sessions removed": 0, "connections freed": 0, "writes to ask QuickBooks about": 0})
    done.update(work.walk("remove events", database, names["events"], partial(_remove_events, database))[0])
    done.update(work.walk("remove sessions", database, names["sessions"], partial(_remove_sessions, database))[0])
    visit = partial(_free_connections, database, now)
    freed, connections = work.walk("free connections", database, names["connections"], visit)
    done.update(freed)
    visit = partial(_remove_copies, database)
    done.update(work.walk("remove subscriptions", database, names["subscriptions"], visit)[0])
    files = [
        *work.walk("read payloads", database, names["payloads"], _write_parts, **_PARTS_ONLY)[1],
        *work.walk("read records", database, names["queued_requests"], _write_records)[1],
    ]
    changed, outcomes = work.join("continue records", files, partial(_continue_records, database, now))
    done.update(changed)
    files = [
        *connections,
        *outcomes,
        *work.walk("read queue", database, names["queue"], _write_entries)[1],
        *work.walk("read counts", database, names["counts"], _write_counts)[1],
    ]
    done.update(work.join("rebuild queue and counts", files, partial(_rebuild_queue_and_counts, database))[0])
    if unreachable := done.pop(UNREACHABLE, 0):
        work.report(f"{unreachable} {UNREACHABLE}, so nobody can read them")
    return {what: number for what, number in done.items() if number or what in _ALWAYS_NAMED}


# --- Sessions and events


def _remove_events(database: Database, items: Iterator[Item], _file: Path) -> Done:
    """Remove the logs of events. Where they began stays, so that the next ones begin behind them."""
    store = database.store
    groups = (
        group
        for group in items
        if not (BEGAN_AT in group and store.app(group[keys.APP_ID]["S"].removeprefix(BEGINNINGS)))
    )
    return {"groups of events removed": _delete(database, database.names["events"], groups, (keys.APP_ID, POSITION))}


def _remove_sessions(database: Database, items: Iterator[Item], _file: Path) -> Done:
    return {"sessions removed": _delete(database, database.names["sessions"], items, (SESSION_ID,))}


def _delete(database: Database, table: str, items: Iterable[Item], key_names: Sequence[str]) -> int:
    number = 0
    for batch in in_batches(items, MAX_BATCH_WRITES):
        database.write(table, ({"DeleteRequest": {"Key": {name: item[name] for name in key_names}}} for item in batch))
        number += len(batch)
    return number


def _free_connections(database: Database, now: datetime, items: Iterator[Item], file: Path) -> Done:
    """Remove the sessions of connections, and rewind their subscriptions. The rows say that the connections exist."""
    done: Counter[str] = Counter()
    store = database.store

    def rows() -> Iterator[Row]:
        for item in items:
            if keys.CANARY in item:
                continue
            if connection := store.connection(item[keys.ID]["S"]):
                done.update(_freed(store, connection, now))
            yield Row(item[keys.ID]["S"], CONNECTION, None)

    write_rows(file, rows())
    return done


def _freed(store: DynamoDBStore, connection: Connection, now: datetime) -> Done:
    """Remove the session of a connection, and rewind its subscriptions."""
    stored = store.copy_state(connection.id)
    for change in rewound_parts(store.copy_state(connection.id, [one.name for one in stored.objects]).remembered):
        store.commit(change)
    state, changes = rewound_copy(stored, now)
    after = replace(connection, session_id=None, run_due_at=next_run(state, connection, now))
    if after != connection:
        changes.append(Put(connection, after.changed(timestamp(now))))
    if changes:
        store.commit(*changes)
    rewinds = sum(isinstance(change, Put) and isinstance(change.after, ObjectCopy) for change in changes)
    return {"connections freed": int(connection.session_id is not None), "objects of subscriptions rewound": rewinds}


def _remove_copies(database: Database, items: Iterator[Item], _file: Path) -> Done:
    """Remove the subscriptions of connections that do not exist: their table was restored to a later moment."""
    store = database.store
    exists = cache(lambda connection_id: store.connection(connection_id) is not None)
    orphans = (item for item in items if not exists(item[keys.CONNECTION_ID]["S"]))
    table = database.names["subscriptions"]
    return {"items of subscriptions removed": _delete(database, table, orphans, (keys.CONNECTION_ID, ITEM))}


# --- Records and their requests and responses


def _write_parts(items: Iterator[Item], file: Path) -> Done:
    return {"parts": write_rows(file, (row for item in items for row in _part_row(item)))}


def _part_row(item: Item) -> Iterator[Row]:
    """Yield the row of a part. Markers, notes and search blocks do not belong to a record."""
    request_id, part = item[keys.REQUEST_ID]["S"], item[keys.PART]["S"]
    is_note = request_id == keys.REMOVED_WITH_CHUNKS
    if is_note or part.startswith(keys.SEARCH_BLOCKS) or keys.REMOVED in item:
        return
    chunks = int(item[keys.REQUEST_CHUNKS]["N"]) if keys.REQUEST_CHUNKS in item else 0
    attempt = item[keys.RESPONSE_ATTEMPT]["S"] if keys.RESPONSE_ATTEMPT in item else ""
    yield Row(_batch_of(request_id), request_id, [PART, part, chunks, attempt])


def _write_records(items: Iterator[Item], file: Path) -> Done:
    records = (RECORDS.entity(item) for item in items if keys.STATE in item)  # others are tombstones
    return {"records": write_rows(file, map(_record_row, records))}


def _record_row(record: QueuedRequest) -> Row:
    """Return the row of a record. If the record has ended, the row has all that is needed unless the record changes."""
    value: list[Any] = [RECORD, [], []]
    if record.state in ENDED:
        value = [RECORD, response_parts(record), _facts(record)]
    return Row(_batch_of(record.id), record.id, value)


def _batch_of(request_id: str) -> str:
    """Return what the requests of a batch share, because they can depend on each other."""
    return id_at(request_id, 0) if is_id(request_id) else request_id


def response_parts(record: QueuedRequest) -> list[str]:
    """Return the stored parts that hold the response of a record. Nothing has the part `LOST`."""
    if not record.response_size:
        return [LOST] if record.state is State.RESPONSE_RECEIVED else []
    if record.response_chunks:
        return [key[keys.PART]["S"] for key in keys.response_chunk_keys(record.id, record.response_chunks)]
    return [_response_in_body(record.response_attempt)]


def _response_in_body(attempt: str) -> str:
    return f"{keys.BODY}@{attempt}" if attempt else LOST


@dataclass
class _Stored:
    """What is stored under the id of a request: the parts, the parts that its request needs, and its record."""

    parts: set[str] = field(default_factory=set)
    responses: set[str] = field(default_factory=set)
    of_request: set[str] = field(default_factory=lambda: {keys.BODY})
    record: list[Any] | None = None

    def add(self, kind: str, *facts: Any) -> None:
        """Add the value of a row."""
        if kind == RECORD:
            self.record = list(facts)
            return
        part, chunks, attempt = facts
        self.parts.add(part)
        self.responses |= {_response_in_body(attempt)} - {LOST}
        self.of_request |= {key[keys.PART]["S"] for key in keys.chunk_keys("", keys.REQUEST, chunks)}

    @property
    def has_request(self) -> bool:
        """Whether the request itself is stored."""
        return self.of_request <= self.parts

    def has(self, response: Sequence[str]) -> bool:
        """Whether these parts of a response are stored."""
        return set(response) <= self.parts | self.responses


def _continue_records(database: Database, now: datetime, rows: Sequence[Row], file: Path) -> Done:
    """Continue the records of some batches. The rows are the counts and the entries of the queue that follow."""
    batches = _Batches(database, now)
    write_rows(file, batches.rows(rows))
    return batches.done


class _Batches:
    """Continues records. `done` counts each kind of change."""

    def __init__(self, database: Database, now: datetime) -> None:
        self._database, self._now, self._store = database, now, database.store
        self.done: Counter[str] = Counter()

    def rows(self, rows: Sequence[Row]) -> Iterator[Row]:
        """Continue the records of all batches. Yield a row for each count of a day and entry of the queue."""
        counts: Counter[tuple[str, str, str]] = Counter()
        records: Counter[str] = Counter()
        for _, batch in groupby(rows, key=lambda row: row.group):
            for connection_id, of_days, entry in self._continued_batch(batch):
                counts.update({(connection_id, day, name): number for day, name, number in of_days})
                if entry:
                    yield Row(*entry)
                records[connection_id] += 1
        for (connection_id, day, name), number in counts.items():
            yield Row(f"{connection_id}/{day}", COUNT, [name, number])
        for connection_id, number in records.items():
            yield Row(connection_id, RECORD, number)

    def _continued_batch(self, rows: Iterable[Row]) -> Iterator[list[Any]]:
        """Yield the facts of the records of a batch, as they are afterwards."""
        open_ids: set[str] = set()
        dependants: list[QueuedRequest] = []
        for request_id, of_request in groupby(rows, key=lambda row: row.key):
            stored = _Stored()
            for row in of_request:
                stored.add(*row.value)
            if stored.record is None:
                self._remove(request_id, stored.parts)
                continue
            after = self._continued(request_id, stored)
            if after is None:
                continue
            if isinstance(after, list):
                yield after
            elif after.dependencies and after.state is State.WAITING:
                dependants.append(after)
            else:
                open_ids |= {after.id} if after.state not in ENDED else set()
                yield _facts(after)
        for record in sorted(dependants, key=lambda dependant: position_of(dependant.id)):
            after = self._continued_dependant(record, open_ids)
            open_ids |= {after.id} if after.state not in ENDED else set()
            yield _facts(after)

    def _continued(self, request_id: str, stored: _Stored) -> QueuedRequest | list[Any] | None:
        """Return a record as it is afterwards, or the facts of one that has ended and does not change.

        Return None if it has expired meanwhile.
        """
        response, facts = stored.record or ([], [])
        if facts and stored.has_request and stored.has(response):
            return list(facts)
        record = self._store.request(request_id)
        if not isinstance(record, QueuedRequest):
            return None
        if not stored.has_request:
            self._replace_request(record)
        has_response = stored.has(response_parts(record))
        after = continued(record, self._now, has_request=stored.has_request, has_response=has_response)
        return self._changed(record, after)

    def _continued_dependant(self, record: QueuedRequest, open_ids: set[str]) -> QueuedRequest:
        """Return a read that waits for other requests of its batch. It ends in an error if one of them was lost."""
        lost = [
            request_id for position in record.dependencies if (request_id := id_at(record.id, position)) not in open_ids
        ]
        if not lost:
            return record
        details = {"dependency_id": lost[0], "dependency_code": "deleted"}
        return self._changed(record, record.failed(self._now, ErrorCode.DEPENDENCY_FAILED, DEPENDENCY_IS_LOST, details))

    def _changed(self, record: QueuedRequest, after: QueuedRequest) -> QueuedRequest:
        if after is not record:
            self._store.commit(ChangeRequest(record, after))
            self.done[_what_happened(after)] += 1
        return after

    def _replace_request(self, record: QueuedRequest) -> None:
        """Store a request that shows only its name."""
        text = f'<QBXML><QBXMLMsgsRq onError="stopOnError"><{record.request_name}/></QBXMLMsgsRq></QBXML>'
        items = new_body_items(AddRequest(record, text, record.request_name.casefold()))
        self._database.write(self._database.names["payloads"], ({"PutRequest": {"Item": item}} for item in items))
        self.done["lost requests"] += 1

    def _remove(self, request_id: str, parts: Iterable[str]) -> None:
        """Remove a request and a response without a record."""
        removed = [{"DeleteRequest": {"Key": keys.payload_key(request_id, part)}} for part in sorted(parts)]
        self._database.write(self._database.names["payloads"], removed)
        self.done["requests and responses without a record removed"] += len(removed)


def _facts(record: QueuedRequest) -> list[Any]:
    """Return what follows from a record: its connection, its counts, and the row of its entry in the queue."""
    counts = count_changes([AddRequest(record, "", "")])
    of_days = [[key.day, count_attribute(key), number] for key, number in counts.items()]
    if not record.is_in_queue:
        return [record.connection_id, of_days, None]
    key = queue_key(record)
    entry = Row(key_text(key, list(key)), WANTED, [record.id, digest(RECORDS.item(record) | key)])
    return [record.connection_id, of_days, entry]


# --- The queue and the counts


def _write_entries(items: Iterator[Item], file: Path) -> Done:
    key_names = (keys.CONNECTION_ID, POSITION)
    return {"entries": write_rows(file, (Row(key_text(item, key_names), ENTRY, digest(item)) for item in items))}


def _write_counts(items: Iterator[Item], file: Path) -> Done:
    rows = (item for item in items if item[DAY] != {"S": DELETED_CONNECTION})
    of_days = (Row(f"{row[keys.CONNECTION_ID]['S']}/{day_of_row(row)}", COUNT_ROW, row) for row in rows)
    return {"rows": write_rows(file, of_days)}


def _rebuild_queue_and_counts(database: Database, rows: Sequence[Row], _file: Path) -> Done:
    done: Counter[str] = Counter()
    for group, of_group in groupby(rows, key=lambda row: row.group):
        values: dict[str, list[Any]] = defaultdict(list)
        for row in of_group:
            values[row.key].append(row.value)
        if RECORD in values or CONNECTION in values:
            done[UNREACHABLE] += 0 if CONNECTION in values else sum(values[RECORD])
        elif WANTED in values or ENTRY in values:
            done.update(_rebuild_entry(database, json.loads(group), values[WANTED], values[ENTRY]))
        else:
            done.update(_rebuild_day(database, group, values[COUNT], values[COUNT_ROW]))
    return done


def _rebuild_entry(database: Database, key: Item, wanted: Sequence[Any], stored: Sequence[str]) -> Done:
    table = database.names["queue"]
    if not wanted:
        database.write(table, [{"DeleteRequest": {"Key": key}}])
        return {"entries of the queue removed": 1}
    ((request_id, wanted_digest),) = wanted
    if stored == [wanted_digest]:
        return {}
    record = database.store.request(request_id)
    if not isinstance(record, QueuedRequest):
        return {}
    database.write(table, [{"PutRequest": {"Item": RECORDS.item(record) | queue_key(record)}}])
    return {"entries of the queue written": 1}


def _rebuild_day(database: Database, group: str, counts: Sequence[Any], rows: Sequence[Item]) -> Done:
    """Write the counts of a day in one row if they are wrong."""
    numbers: Counter[str] = Counter()
    for name, number in counts:
        numbers[name] += number
    sums = {name: sum(int(row[name]["N"]) for row in rows if name in row) for name in COUNT_ATTRIBUTES}
    if {name: number for name, number in sums.items() if number} == numbers:
        return {}
    connection_id, _, day = group.partition("/")
    values = {name: {"N": str(number)} for name, number in (numbers | summed_statistics(rows)).items()}
    item = day_key(connection_id, day) | values | {PACK: {"S": CHANGED}}
    others = [row_key(row) for row in rows if row_key(row) != day_key(connection_id, day)]
    deletes = [{"DeleteRequest": {"Key": key}} for key in others]
    database.write(database.names["counts"], [{"PutRequest": {"Item": item}}, *deletes])
    return {"days counted again": 1}


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
    running_until = Limits().running_until(record)
    is_in_flight = record.state in IN_FLIGHT
    return after_session_end(record, now, Ending.OTHER, running_until=running_until) if is_in_flight else record


def _recovering(record: QueuedRequest, now: datetime) -> QueuedRequest:
    # QuickBooks may have been executing any of these writes when the functions of the stack were stopped.
    running_until = timestamp(now + timedelta(seconds=MAX_EXECUTION_SECONDS))
    recovery = Recovery(begun=True, active=True, running_until=running_until)
    is_recovering = (
        record.state is State.RETRYABLE and replace(record.recovery, running_until=running_until) == recovery
    )
    if is_recovering and (record.approval is None or record.approval.decision is None):
        return record
    attempts = replace(record.attempts, sessions=max(record.attempts.sessions, 1))
    after = _without_response(record, now, state=State.RETRYABLE, attempts=attempts, queue_priority=FIRST_IN_LINE)
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
    cleared = replace(cleared, dependencies=(), queued_at=None).awaiting_approval_again(now)
    return replace(cleared, webhook=webhook, paging=paging, **fields).changed(now)
