"""The store in memory: every condition of a commit is checked before anything is changed.

With an `IndexLag`, its indexes lag. Reads by id are still exact.
"""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from adapters.dynamodb.people import key_of
from domain import qbxml
from domain.errors import Conflict, NotFound
from domain.records.app import ApiKey, App
from domain.records.audit import Action, Actor, AuditEntry
from domain.records.connection import Connection
from domain.records.person import Invitation, Membership, Person, SignedIn, SignIn
from domain.records.request import (
    FIRST_LOW_PLACE,
    IN_FLIGHT,
    IN_TURN,
    ListedRequest,
    Pair,
    QueuedRequest,
    StoredRequest,
    Tombstone,
)
from domain.records.retention import expires_at
from domain.records.search_text import has_all
from domain.records.session import RequestInFlight, Session
from domain.records.subscription import BooksCopy, ChangePage, CopyState, ObjectCopy, RememberedPart, Subscription
from domain.storage.changes import (
    AddRequest,
    AppendEvents,
    BeginLog,
    Change,
    ChangeRequest,
    ClaimIdempotencyKey,
    CountBeginning,
    ForgetRequest,
    IdempotencyClaim,
    Put,
    RemoveApp,
    RemoveCopy,
    RemovePersonal,
    RemoveRequest,
    RequireConnection,
    RequireMember,
)
from domain.storage.commit_size import check_size, max_entries
from domain.storage.counts import INSERTED, CountKey, DayCounts, count_changes
from domain.storage.ports import (
    Canaries,
    Delivery,
    Group,
    IndexDays,
    IndexEntry,
    IndexStretch,
    Lease,
    Partition,
    RequestDetail,
    UnpackedText,
    Usage,
)
from domain.storage.statistics import Day, MonthTotals, Slot, month_of, statistic_changes, totals_of
from domain.timestamps import ANY_TIME, TimeRange, day_of, minute_of
from domain.whole_values import kinds_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from domain.records.event import EventGroup
    from domain.records.lookup import FieldChange
    from domain.storage.ports import BlockEntry, TextWithValue
    from tests.support.index_lag import IndexLag


@dataclass(frozen=True, slots=True)
class _Bodies:
    connection_id: str
    request_xml: str
    search_text: str
    metadata: Mapping[str, str]
    response_xml: str | None = None
    references: tuple[qbxml.Reference, ...] = ()
    modification_xml: str | None = None
    field_changes: tuple[FieldChange, ...] = ()
    replaces: str | None = None
    queued_by: Actor | None = None

    @property
    def filled(self) -> str:
        """The request with its values."""
        return qbxml.filled(self.request_xml, self.references)

    def modification_of(self, record: QueuedRequest) -> str | None:
        """Return the Mod that a record sends or has sent last."""
        return self.modification_xml if record.modification_label else None

    @property
    def request_to_send(self) -> str | None:
        """The request, or None while a value is missing."""
        return None if any(reference.value is None for reference in self.references) else self.filled


class FakeBatch:
    """Records that were read together."""

    def __init__(self, stored: Mapping[str, StoredRequest]) -> None:
        self._stored = stored

    @property
    def records(self) -> Collection[QueuedRequest]:
        """The records."""
        return [stored.record for stored in self._stored.values()]

    def has_stray_response(self, record: QueuedRequest) -> bool:
        """Whether a response is stored that the record does not have. In memory, both are stored together."""
        return self._stored[record.id].response_xml is not None and not record.response_size

    def with_bodies(
        self, records: Sequence[QueuedRequest], *, max_response_bytes: int, max_total_bytes: int
    ) -> Sequence[ListedRequest]:
        """Return records with the bodies that fit."""
        items = [self._stored[record.id] for record in records]
        small = [item.record.response_size <= max_response_bytes for item in items]
        texts: list[str | None] = [item.request_xml for item in items]
        texts += [item.modification_xml if item.record.awaits_approval else None for item in items]
        texts += [item.response_xml if fits else None for item, fits in zip(items, small, strict=True)]
        bodies: list[str | None] = []
        for text in texts:
            size = len((text or "").encode())
            bodies.append(text if size <= max_total_bytes else None)
            max_total_bytes -= size if size <= max_total_bytes else 0
        references = [item.references for item in items]
        number = len(records)
        requests, mods, responses = bodies[:number], bodies[number : 2 * number], bodies[2 * number :]
        changes = [item.field_changes if mod else () for item, mod in zip(items, mods, strict=True)]
        authors = [item.queued_by for item in items]
        return list(map(ListedRequest, records, requests, responses, references, mods, changes, authors))

    def whole(self, record: QueuedRequest, *, max_response_bytes: int) -> StoredRequest | None:
        """Return a record with its bodies, without a response that is too large."""
        stored = self._stored[record.id]
        return stored if record.response_size <= max_response_bytes else replace(stored, response_xml=None)


def _counters(change: CountBeginning) -> dict[tuple[str, str], int]:
    """Return the counters of all apps and of one app, with their limits."""
    shard, counter = f"sessions#{change.shard}", f"begun#{change.period}"
    return {(shard, counter): change.limit, (shard, f"{counter}#{change.app_id}"): change.limit_of_app}


def _is_at(record: QueuedRequest, days: IndexDays) -> bool:
    """Whether the entry of a record is on these days, and within their range of time."""
    moment = _listed_time(record, days.sort)
    return days.first_day <= day_of(moment) <= days.last_day and moment in days.within


def _is_in(record: QueuedRequest, partition: Partition) -> bool:
    match partition:
        case Group(by="label", value=label):
            return record.label == label
        case Group(value=query_id):
            return record.paging.first_page_id == query_id
    return record.listed_pair == partition


def _listed_time(record: QueuedRequest, sort: str) -> str:
    return record.inserted_at if sort == INSERTED else record.listed_updated_at


class FakeStore:
    """Implements `Database`."""

    def __init__(self, retention_days: int = 0, lag: IndexLag | None = None) -> None:
        self.retention_days = retention_days
        self.lag = lag
        self.records: dict[str, QueuedRequest | Tombstone] = {}
        self.bodies: dict[str, _Bodies] = {}
        self.connections: dict[str, Connection] = {}
        self.sessions: dict[str, Session] = {}
        self.apps: dict[str, App] = {}
        self.api_keys: dict[str, ApiKey] = {}
        self.personal: dict[tuple[str, str], Any] = {}
        self.claims: dict[tuple[str, str], IdempotencyClaim] = {}
        self.counts: Counter[CountKey] = Counter()
        self.statistics: dict[Day, Counter[Slot]] = {}
        self.months: dict[tuple[str, str], MonthTotals] = {}
        self.usages: dict[tuple[str, str], Usage] = {}
        self.key_uses: dict[tuple[str, str], str] = {}
        self.events: dict[tuple[str, int], EventGroup] = {}
        self.log_beginnings: dict[str, int] = {}
        self.audit_log: dict[tuple[str, str], AuditEntry] = {}
        self.leases: dict[int | str, Lease] = {}
        self.copies: dict[tuple[str, str, Any], Any] = {}
        self.known_canaries = Canaries(None, {})
        self._lock = threading.RLock()

    # --- Store

    def commit(self, *changes: Change) -> None:
        """Check every condition, then do every change. Raises CommitTooLarge, as the store on DynamoDB does."""
        check_size(changes, max_entries(changes))
        with self._lock:
            for change in changes:
                self._check(change)
            self.counts.update(count_changes(changes))
            self.counts = Counter({key: number for key, number in self.counts.items() if number})
            for day, slots in statistic_changes(changes).items():
                self.statistics.setdefault(day, Counter()).update(slots)
            for change in changes:
                self._do(change)
                self._note(change)

    def _check(self, change: Change) -> None:  # noqa: C901, PLR0912 - one case for each change
        """Raise Conflict if the condition of the change does not hold."""
        current: object | None
        match change:
            case AddRequest(record=record):
                current = self.records.get(record.id)
                holds = current is None
            case ChangeRequest(before=before) | RemoveRequest(before=before):
                current = self.records.get(before.id)
                holds = isinstance(current, QueuedRequest) and current.revision == before.revision
            case ForgetRequest(before=before):
                current = self.records.get(before.id)
                holds = current is None and before.id in self.bodies
            case RequireConnection():
                connection = self.connections.get(change.connection_id)
                if connection and (connection.app_id != change.app_id or connection.deleted_at):
                    connection = None
                current = connection
                holds = connection is not None and RequireConnection.of(connection) == change
            case ClaimIdempotencyKey():
                current = claim = self.claims.get((change.app_id, change.key))
                holds = claim is None or claim.expires_at <= change.now or claim.record_id == change.released
            case CountBeginning():
                current = None
                limits = _counters(change).items()
                holds = all(self.usages.get(counter, Usage(0)).total < limit for counter, limit in limits)
            case RemovePersonal(before=before) | RequireMember(before=before):
                current = stored = self.personal.get(_personal_key(before))
                holds = stored is not None and stored.revision == before.revision
            case RemoveApp(before=before):
                current = self.apps.get(before.id)
                holds = current is not None and current.revision == before.revision
            case AppendEvents(group=group):
                current = None
                holds = (group.app_id, group.position) not in self.events
            case BeginLog(group=group, former=former):
                current = None
                holds = self.log_beginnings.get(group.app_id) == former
                holds = holds and (group.app_id, group.position) not in self.events
            case RemoveCopy(before=before):
                entities, key = self._place_of(before)
                current = stored = entities.get(key)
                holds = stored is not None and stored.revision == before.revision
            case Put(before=before, after=after):
                entities, key = self._place_of(after)
                current = stored = entities.get(key)
                holds = (stored.revision if stored else None) == (before.revision if before else None)
        if not holds:
            raise Conflict(change, current)

    def _do(self, change: Change) -> None:  # noqa: C901, PLR0912 - one case for each change
        match change:
            case AddRequest(record=record):
                self.records[record.id] = record
                bodies = _Bodies(
                    record.connection_id,
                    change.request_xml,
                    change.search_text,
                    change.metadata,
                    references=change.references,
                    replaces=change.replaces,
                    queued_by=change.queued_by,
                )
                self.bodies[record.id] = bodies
            case ChangeRequest(before=before, after=after):
                # A revision of a request names one change, also if this is several transitions.
                assert after.revision == before.revision + 1, (before, after)
                bodies = self.bodies[after.id]
                if change.response_xml:
                    bodies = replace(bodies, response_xml=change.response_xml)
                    after = replace(after, response_size=len(change.response_xml.encode()))
                names = ["references", "modification_xml", "search_text"]
                names += ["field_changes"] if change.modification_xml else []
                for name in names:
                    if (value := getattr(change, name)) is not None:
                        bodies = replace(bodies, **{name: value})
                self.records[after.id], self.bodies[after.id] = after, bodies
            case RemoveRequest(before=before) | ForgetRequest(before=before):
                self.records[before.id] = Tombstone(before.id, before.connection_id, before.app_id, change.deleted_at)
                del self.bodies[before.id]
            case ClaimIdempotencyKey():
                self.claims[change.app_id, change.key] = change.claim
            case CountBeginning():
                counters = _counters(change)
                self.usages |= {counter: Usage(self.usages.get(counter, Usage(0)).total + 1) for counter in counters}
            case AppendEvents() | BeginLog():
                self._append(change)
            case RemovePersonal(before=before):
                del self.personal[_personal_key(before)]
            case RemoveApp(before=before):
                del self.apps[before.id]
            case RemoveCopy(before=before):
                entities, key = self._place_of(before)
                del entities[key]
            case Put(after=after):
                entities, key = self._place_of(after)
                entities[key] = after
            case RequireConnection() | RequireMember():
                pass

    def _append(self, change: AppendEvents | BeginLog) -> None:
        group = change.group
        self.events[group.app_id, group.position] = group
        if isinstance(change, BeginLog):
            self.log_beginnings[group.app_id] = group.position

    def _place_of(self, entity: Any) -> tuple[dict[Any, Any], Any]:  # noqa: PLR0911 - one case for each kind
        """Return the entities of the same kind, and the key of this one."""
        match entity:
            case Connection(id=key):
                return self.connections, key
            case Session(id=key):
                return self.sessions, key
            case App(id=key):
                return self.apps, key
            case AuditEntry():
                return self.audit_log, (entity.app_id, entity.position)
            case ApiKey():
                return self.api_keys, entity.hash
            case Subscription() | ObjectCopy() | BooksCopy() | ChangePage() | RememberedPart():
                places = {Subscription: "id", ObjectCopy: "name", ChangePage: "sequence", RememberedPart: "place"}
                place = places.get(type(entity))
                item = getattr(entity, place) if place else ""
                return self.copies, (type(entity).__name__, entity.connection_id, item)
            case _:
                return self.personal, _personal_key(entity)

    def expire(self, now: int) -> list[QueuedRequest]:
        """Remove and return only the records that expired before `now` (Unix seconds), as DynamoDB does."""
        with self._lock:
            expired_records = [
                record
                for record in self.records.values()
                if isinstance(record, QueuedRequest) and (expires_at(record, self.retention_days) or now) < now
            ]
            for record in expired_records:
                del self.records[record.id]
                self._note_request(record.id)
            return expired_records

    def lose_sessions(self) -> None:
        """Remove all sessions, as if the table were lost."""
        with self._lock:
            for session_id in self.sessions:
                if self.lag:
                    self.lag.note("sessions", session_id, None)
            self.sessions.clear()

    def _note(self, change: Change) -> None:
        """Update the indexes with the stored values."""
        if self.lag is None:
            return
        match change:
            case (
                AddRequest(record=record)
                | ChangeRequest(before=record)
                | RemoveRequest(before=record)
                | ForgetRequest(before=record)
            ):
                self._note_request(record.id)
            case Put(after=Session() as session):
                self.lag.note("sessions", session.id, session)
            case Put(after=Connection() as connection):
                self.lag.note("connections", connection.id, connection)
            case _:
                pass

    def _note_request(self, request_id: str) -> None:
        if self.lag:
            record, bodies = self.records.get(request_id), self.bodies.get(request_id)
            self.lag.note("records", request_id, record if isinstance(record, QueuedRequest) else None)
            self.lag.note("bodies", request_id, (request_id, bodies) if bodies else None)

    # --- Requests

    def request(self, request_id: str) -> QueuedRequest | Tombstone | None:
        """Return the record without its bodies."""
        return self.records.get(request_id)

    def request_detail(
        self, request_id: str, connection_id: str | None = None, max_ahead: int = 0
    ) -> RequestDetail | Tombstone | None:
        """Return all details of a record."""
        item = self._stored(request_id)
        if item is None:
            return None
        record = item.record if isinstance(item, StoredRequest) else item
        connection = self.connections.get(record.connection_id)
        if connection is None or connection.deleted_at or connection_id not in {None, connection.id}:
            return None
        return item if isinstance(item, Tombstone) else RequestDetail(item, connection, self._ahead(item, max_ahead))

    def _ahead(self, item: StoredRequest, max_ahead: int) -> int:
        record = item.record
        if not record.is_in_queue:
            return 0
        queue = self.queue_front(record.connection_id, len(self.records))
        return min(max_ahead, sum(other.place_in_queue < record.place_in_queue for other in queue))

    def _stored(self, request_id: str) -> StoredRequest | Tombstone | None:
        with self._lock:
            record = self.records.get(request_id)
            if not isinstance(record, QueuedRequest):
                return record
            bodies = self.bodies[request_id]
            mod = bodies.modification_of(record)
            changes = bodies.field_changes if mod else ()
            texts = (bodies.filled, bodies.response_xml, bodies.metadata, bodies.references, mod)
            return StoredRequest(record, *texts, changes, bodies.replaces, bodies.queued_by)

    def request_batch(self, request_ids: Sequence[str]) -> FakeBatch:
        """Return the records that exist."""
        items = map(self._stored, request_ids)
        return FakeBatch({item.record.id: item for item in items if isinstance(item, StoredRequest)})

    def records_by_id(self, request_ids: Sequence[str], *, may_lag: bool = False) -> Sequence[QueuedRequest]:
        """Return the records that exist."""
        del may_lag
        records = map(self.records.get, request_ids)
        return [record for record in records if isinstance(record, QueuedRequest)]

    def ids_in_use(self, request_ids: Sequence[str], *, may_lag: bool = False) -> set[str]:
        """Return the ids of records and tombstones."""
        del may_lag
        return set(request_ids) & self.records.keys()

    def in_flight_ids(self, connection_id: str) -> Sequence[str]:
        """Return the ids of the records in flight."""
        records = self._records_of(connection_id, "in_flight")
        return list(dict.fromkeys(record.id for record in records if record.state in IN_FLIGHT))

    def unsettled_ids(self) -> Sequence[str]:
        """Return the ids of unsettled writes."""
        entries = self.lag.entries("records", "in_flight") if self.lag else self.records.values()
        return [entry.id for entry in entries if isinstance(entry, QueuedRequest) and entry.is_unsettled]

    def idempotency_claim(self, app_id: str, key: str) -> IdempotencyClaim | None:
        """Return the claim of a key."""
        return self.claims.get((app_id, key))

    def late_requests(self, now: datetime) -> Iterator[QueuedRequest]:
        """Yield the requests that miss their `send_by`."""
        for entry in list(self.lag.entries("records", "to_send") if self.lag else self.records.values()):
            record = self.records.get(entry.id) if isinstance(entry, QueuedRequest) and entry.obeys_send_by else None
            if isinstance(record, QueuedRequest) and record.misses_send_by(now):
                yield record

    def with_request_xml(self, records: Sequence[QueuedRequest]) -> Sequence[RequestInFlight]:
        """Return records with their request XML."""
        return [
            RequestInFlight(
                record, bodies.request_to_send, bodies.metadata, bodies.modification_of(record), bodies.queued_by
            )
            if (bodies := self.bodies.get(record.id))
            else RequestInFlight(record)
            for record in records
        ]

    def requests_in_flight(
        self, session: Session, front: int = 0
    ) -> tuple[Sequence[RequestInFlight], Sequence[QueuedRequest]]:
        """Return the requests in flight of a session, and the front of its queue."""
        held = [
            record
            for request_id in session.ids_in_flight
            if isinstance(record := self.records.get(request_id), QueuedRequest) and session.has_in_flight(record)
        ]
        sent = session.in_flight.request_ids if session.in_flight else ()
        requests = [
            *self.with_request_xml([record for record in held if record.id in sent]),
            *(RequestInFlight(record) for record in held if record.id not in sent),
        ]
        return requests, self.queue_front(session.connection_id, front) if front else ()

    def queue_front(self, connection_id: str, limit: int, *, low_lane: bool = False) -> Sequence[QueuedRequest]:
        """Return the next requests to send."""
        with self._lock:
            index = "queue" if self.lag and self.lag.queue else None
            records = [record for record in self._records_of(connection_id, index) if record.is_in_queue]
        records.sort(key=attrgetter("place_in_queue"))
        if low_lane:
            records = [record for record in records if record.place_in_queue[0] >= FIRST_LOW_PLACE]
        return records[:limit]

    def count_queued(self, connection_id: str, priority: int, limit: int) -> int:
        """Return the number of queued records with a priority, at most `limit`."""
        queue = self.queue_front(connection_id, len(self.records))
        return min(limit, sum(record.place_in_queue[0] == priority for record in queue))

    def queued_after(
        self, connection_id: str, after: IndexEntry, last: str, limit: int, *, low_lane: bool = False
    ) -> Sequence[QueuedRequest]:
        """Return queued records in turn behind an entry."""
        queue = self.queue_front(connection_id, len(self.records))
        place_in_turn = FIRST_LOW_PLACE if low_lane else IN_TURN
        in_turn = [record for record in queue if record.place_in_queue[0] == place_in_turn]
        place = (after.moment, after.id)
        return [r for r in in_turn if place < r.place_in_queue[1:] and r.place_in_queue[1] <= last][:limit]

    def oldest_queued(self, connection_id: str) -> QueuedRequest | None:
        """Return the oldest of the requests that are first in their priority."""
        first: dict[int, QueuedRequest] = {}
        for record in self.queue_front(connection_id, len(self.records)):
            first.setdefault(record.place_in_queue[0], record)
        return min(first.values(), key=attrgetter("inserted_at"), default=None)

    def remove_from_queue(self, entry: QueuedRequest) -> None:
        """Do nothing: this queue is made from the records."""

    def _records_of(self, connection_id: str, index: str | None = None) -> list[QueuedRequest]:
        """Return a connection's records, as an index shows them or as they are stored."""
        return [
            record
            for record in (self.lag.entries("records", index) if self.lag and index else self.records.values())
            if isinstance(record, QueuedRequest) and record.connection_id == connection_id
        ]

    # --- Deliveries

    def delivery(
        self,
        request_id: str,
        app_id: str,
        *,
        response_chunks: str,  # noqa: ARG002 - a response in memory is not in chunks
        max_response_bytes: int,
    ) -> Delivery | Tombstone | None:
        """Return the data for one webhook attempt."""
        item = self._stored(request_id)
        if not isinstance(item, StoredRequest):
            return item
        if item.record.response_size > max_response_bytes:
            item = replace(item, response_xml=None)
        app = self.apps.get(app_id)
        return Delivery(item, app.webhook_secrets if app else ())

    # --- Connections

    def connection(self, connection_id: str) -> Connection | None:
        """Return a connection, even a deleted one."""
        return self.connections.get(connection_id)

    def connections_of(self, app_id: str, offset: int, limit: int) -> tuple[Sequence[Connection], int]:
        """Return one page of an app's connections and their number."""
        entries = self.lag.entries("connections", "by_app") if self.lag else self.connections.values()
        mine = [connection for connection in entries if connection.app_id == app_id and not connection.deleted_at]
        mine.sort(key=lambda connection: (connection.inserted_at, connection.id))
        page = [self.connections[connection.id] for connection in mine[offset : offset + limit]]
        return [connection for connection in page if not connection.deleted_at], len(mine)

    def connection_ids_of(self, app_id: str) -> Sequence[str]:
        """Return the ids of an app's connections."""
        return [connection.id for connection in self.connections_of(app_id, 0, len(self.connections))[0]]

    def deleted_connections(self, limit: int) -> Sequence[Connection]:
        """Return deleted connections with records to remove."""
        entries = self.lag.entries("connections", "to_purge") if self.lag else self.connections.values()
        unpurged = (connection for connection in entries if connection.deleted_at and connection.owner_id)
        connections = [self.connections.get(connection.id) for connection in unpurged]
        return [connection for connection in connections if connection is not None][:limit]

    def remove_records(self, connection: Connection) -> Iterator[int]:
        """Remove the records of a deleted connection, a few in each step, then its sessions."""
        removed_ids: set[str] = set()
        while True:
            with self._lock:
                entries = self.lag.entries("bodies", "search") if self.lag else self.bodies.items()
                mine = [
                    request_id
                    for request_id, bodies in entries
                    if bodies.connection_id == connection.id and request_id not in removed_ids
                ][:50]
                removed_ids.update(mine)
                for request_id in mine:
                    self.records.pop(request_id, None)
                    self.bodies.pop(request_id, None)
                    self._note_request(request_id)
            if not mine:
                self._remove_sessions(connection.id)
                return
            yield len(mine)

    def _remove_sessions(self, connection_id: str) -> None:
        with self._lock:
            self.sessions = {
                key: one for key, one in self.sessions.items() if not one.ended or one.connection_id != connection_id
            }

    def remove_late_responses(self, before: str) -> int:  # noqa: ARG002 - a response in memory is not in chunks
        """Do nothing."""
        return 0

    def remove_connection(self, connection: Connection) -> None:
        """Remove the remaining data of a deleted connection."""
        with self._lock:
            self.counts = Counter({k: n for k, n in self.counts.items() if k.connection_id != connection.id})
            self.statistics = {day: n for day, n in self.statistics.items() if day.connection_id != connection.id}
            self.months = {place: one for place, one in self.months.items() if place[0] != connection.id}
            self.events = {key: group.without(connection.id) for key, group in self.events.items()}
            self.copies = {key: one for key, one in self.copies.items() if key[1] != connection.id}
            self.connections.pop(connection.id, None)
            if connection.is_of_key:
                self.connections[connection.id] = connection.without_data()
            if self.lag:
                self.lag.note("connections", connection.id, self.connections.get(connection.id))

    # --- Sessions

    def session(self, session_id: str) -> Session | None:
        """Return the session whose ticket has this hash."""
        return self.sessions.get(session_id)

    def silent_sessions(self, before: str, limit: int) -> Sequence[Session]:
        """Return live sessions whose last call was before the timestamp."""
        entries = self.lag.entries("sessions", "live") if self.lag else self.sessions.values()
        sessions = [
            self.sessions.get(session.id) for session in entries if not session.ended and session.last_call_at < before
        ]
        silent = [session for session in sessions if session and not session.ended and session.last_call_at < before]
        return sorted(silent, key=lambda session: session.last_call_at)[:limit]

    def ended_sessions(self, connection_id: str, since: str, limit: int) -> Sequence[Session]:
        """Return the newest ended sessions of a connection that began at `since` or later, newest first."""
        entries = self.lag.entries("sessions", "of_connection") if self.lag else list(self.sessions.values())
        of_connection = (session for session in entries if session.ended and session.connection_id == connection_id)
        ended = [session for session in of_connection if session.began_at and session.began_at >= since]
        return sorted(ended, key=lambda session: session.began_at, reverse=True)[:limit]

    def live_sessions(self, shard: int, since: str) -> Mapping[str, int]:
        """Count the live sessions of a shard with a call since the minute of the timestamp by app."""
        entries = self.lag.entries("sessions", "live") if self.lag else list(self.sessions.values())
        live = (session for session in entries if not session.ended and session.shard == shard)
        return Counter(session.app_id for session in live if minute_of(session.last_call_at) >= minute_of(since))

    # --- Apps

    def app(self, app_id: str) -> App | None:
        """Return an app."""
        return self.apps.get(app_id)

    def app_ids(self) -> Sequence[str]:
        """Return the id of every app."""
        return list(self.apps)

    def apps_by_id(self, app_ids: Collection[str]) -> Sequence[App]:
        return [app for app_id, app in self.apps.items() if app_id in set(app_ids)]

    def apps_by_age(self) -> Sequence[App]:
        """Return every app, oldest first."""
        return sorted(self.apps.values(), key=lambda app: (app.inserted_at, app.id))

    def api_key(self, key_hash: str) -> ApiKey | None:
        """Return the key with this hash."""
        return self.api_keys.get(key_hash)

    def api_keys_of(self, app_id: str) -> Sequence[ApiKey]:
        """Return an app's keys, oldest first."""
        mine = [key for key in self.api_keys.values() if key.app_id == app_id]
        return sorted(mine, key=lambda key: (key.inserted_at, key.hash))

    def remove_app(self, app_id: str) -> None:
        """Remove an app after its API keys, its counters and its log of events."""
        self.usages = {key: usage for key, usage in self.usages.items() if key[0] != app_id}
        self.key_uses = {key: hour for key, hour in self.key_uses.items() if key[0] != app_id}
        self.events = {key: group for key, group in self.events.items() if group.app_id != app_id}
        self.log_beginnings.pop(app_id, None)
        for key in self.api_keys_of(app_id):
            del self.api_keys[key.hash]
        for entity in (*self.members_of(app_id)[0], *self.members_of(app_id)[1]):
            del self.personal[_personal_key(entity)]
        self.apps.pop(app_id, None)

    # --- Audit logs

    # --- People

    def person(self, person_id: str) -> Person | None:
        return self._personal(Person, person_id).get("person")

    def people(self, person_ids: Collection[str]) -> Sequence[Person]:
        found = [self.person(person_id) for person_id in set(person_ids)]
        return [person for person in found if person]

    def person_of(self, identity: str) -> str | None:
        found = self.personal.get((f"identity~{identity}", "identity"))
        return found.person_id if found else None

    def signed_in(self, person_id: str, sign_in_id: str, app_id: str | None) -> SignedIn | None:
        person, sign_in = self.person(person_id), self.personal.get((person_id, f"sign_in~{sign_in_id}"))
        membership = self.personal.get((person_id, f"member~{app_id}"))
        return SignedIn(person, sign_in, membership, self.apps.get(app_id or "")) if person and sign_in else None

    def sign_ins_of(self, person_id: str) -> Sequence[SignIn]:
        return list(self._personal(SignIn, person_id).values())

    def membership(self, person_id: str, app_id: str) -> Membership | None:
        found: Membership | None = self.personal.get((person_id, f"member~{app_id}"))
        return found

    def memberships_of(self, person_id: str) -> Sequence[Membership]:
        return list(self._personal(Membership, person_id).values())

    def members_of(self, app_id: str) -> tuple[Sequence[Membership], Sequence[Invitation]]:
        of_app = [one for one in self.personal.values() if getattr(one, "app_id", None) == app_id]
        return (
            [one for one in of_app if isinstance(one, Membership)],
            [one for one in of_app if isinstance(one, Invitation)],
        )

    def invitations_to(self, address: str) -> Sequence[Invitation]:
        return list(self._personal(Invitation, f"invited~{address}").values())

    def _personal(self, kind: type[Any], partition: str) -> dict[str, Any]:
        found = {key: one for key, one in self.personal.items() if key[0] == partition and isinstance(one, kind)}
        return {item: one for (_, item), one in sorted(found.items(), key=lambda pair: pair[0])}

    def audit_entries(
        self,
        app_id: str,
        connection_id: str | None,
        before: str | None,
        limit: int,
        *,
        action: Action | None = None,
        within: TimeRange = ANY_TIME,
    ) -> tuple[Sequence[AuditEntry], str | None]:
        """Look at the newest entries, and return those that are meant."""
        mine = [
            entry
            for entry in self.audit_log.values()
            if (entry.app_id == app_id if connection_id is None else entry.connection_id == connection_id)
            and (before is None or entry.position < before)
            and entry.at in within
        ]
        mine.sort(key=attrgetter("position"), reverse=True)
        found = [entry for entry in mine[:limit] if action in (None, entry.action)]
        return found, mine[limit - 1].position if len(mine) >= limit else None

    # --- Subscriptions

    def copy_state(self, connection_id: str, remembered: Iterable[str] = ()) -> CopyState:
        """Return what is stored about the subscriptions of a connection."""
        own = [one for (kind, *key), one in self.copies.items() if key[0] == connection_id and kind != "ChangePage"]
        wanted = set(remembered)
        return CopyState(
            next((one for one in own if isinstance(one, BooksCopy)), None),
            tuple(one for one in own if isinstance(one, ObjectCopy)),
            tuple(one for one in own if isinstance(one, Subscription)),
            tuple(one for one in own if isinstance(one, RememberedPart) and one.name in wanted),
        )

    def subscription(self, connection_id: str, subscription_id: str) -> Subscription | None:
        """Return a subscription, or None."""
        return self.copies.get(("Subscription", connection_id, subscription_id))

    def change_pages(self, places: Collection[tuple[str, int]]) -> Sequence[ChangePage]:
        """Return the pages at these places that exist."""
        found = [self.copies.get(("ChangePage", *place)) for place in places]
        return [page for page in found if page]

    def change_pages_before(self, connection_id: str, sequence: int | None) -> Iterator[ChangePage]:
        """Yield the pages of a connection with a lower sequence, or all, newest first."""
        own = [
            one for one in self.copies.values() if isinstance(one, ChangePage) and one.connection_id == connection_id
        ]
        yield from sorted(
            (page for page in own if sequence is None or page.sequence < sequence), key=lambda page: -page.sequence
        )

    # --- Logs of events

    def newest_event_groups(self, app_id: str, limit: int) -> Sequence[EventGroup]:
        """Return the newest groups of a log, newest first."""
        with self._lock:
            groups = [group for group in self.events.values() if group.app_id == app_id]
        return sorted(groups, key=attrgetter("position"), reverse=True)[:limit]

    def log_beginning(self, app_id: str) -> int | None:
        """Return the position at which a log began."""
        return self.log_beginnings.get(app_id)

    def event_groups_from(self, app_id: str, position: int, page_size: int) -> Iterator[EventGroup]:
        """Yield the groups of a log in order, a page at a time, as they are when each page is read."""
        while True:
            with self._lock:
                later = [g for g in self.events.values() if g.app_id == app_id and g.position >= position]
            page = sorted(later, key=attrgetter("position"))[:page_size]
            yield from page
            if len(page) < page_size:
                return
            position = page[-1].position + 1

    def let_event_group_expire(self, group: EventGroup) -> None:
        """Store the expiry of a group that exists."""
        with self._lock:
            if stored := self.events.get((group.app_id, group.position)):
                self.events[group.app_id, group.position] = replace(stored, expires_at=group.expires_at)

    # --- Usages

    def add_usage(self, app_id: str, counter: str, number: int, expires_at: int | None = None) -> Usage:  # noqa: ARG002
        """Add to a counter. It stays after it has expired."""
        with self._lock:
            usage = self.usages.get((app_id, counter), Usage(0))
            self.usages[app_id, counter] = replace(usage, total=usage.total + number)
            return self.usages[app_id, counter]

    def set_usage(self, app_id: str, counter: str, usage: Usage) -> None:
        """Replace a counter."""
        self.usages[app_id, counter] = usage

    # --- Last uses of API keys

    def last_use(self, app_id: str, key_id: str) -> str | None:
        """Return the last use of a key."""
        return self.key_uses.get((app_id, key_id))

    def last_uses(self, app_id: str) -> Mapping[str, str]:
        """Return the last uses of the keys of an app."""
        return {key_id: hour for (owner, key_id), hour in self.key_uses.items() if owner == app_id}

    def set_last_use(self, app_id: str, key_id: str, hour: str, expires_at: int) -> None:  # noqa: ARG002
        """Store a use. It stays after it has expired."""
        with self._lock:
            self.key_uses[app_id, key_id] = max(hour, self.key_uses.get((app_id, key_id), hour))

    # --- Canaries

    def canaries(self) -> Canaries:
        """Return what is known."""
        return self.known_canaries

    def send_canaries(self, streams: Collection[str], consumers: Collection[str], now: str) -> None:  # noqa: ARG002
        """Note the time. There are no streams."""
        missing = {**self.known_canaries.missing_since, **dict.fromkeys(consumers, now)}
        self.known_canaries = Canaries(now, missing)

    def note_canary(self, consumer: str) -> None:
        """Note that a consumer misses none."""
        missing = {name: since for name, since in self.known_canaries.missing_since.items() if name != consumer}
        self.known_canaries = replace(self.known_canaries, missing_since=missing)

    # --- Leases

    def take_lease(self, lease: Lease, now: int) -> bool:
        """Store a lease if its place is free."""
        with self._lock:
            former = self.leases.get(lease.place, lease)
            if former.holder != lease.holder and former.expires_at > now:
                return False
            self.leases[lease.place] = lease
            return True

    def release_lease(self, lease: Lease) -> None:
        """Free the place."""
        with self._lock:
            if self.leases.get(lease.place, lease).holder == lease.holder:
                self.leases.pop(lease.place, None)

    # --- Listing

    def day_counts(self, connection_id: str, first_day: str = "", sort: str | None = None) -> Sequence[DayCounts]:
        """Return the connection's counts from a day on, oldest day first. Raises NotFound if it was deleted."""
        connection = self.connections.get(connection_id)
        if connection and connection.deleted_at:
            raise NotFound("The connection does not exist.")
        inserted: dict[str, dict[Pair, int]] = {}
        updated: dict[str, dict[Pair, int]] = {}
        for key, number in self.counts.items():
            if key.connection_id == connection_id and key.day >= first_day and sort in (None, key.sort):
                by_day = inserted if key.sort == INSERTED else updated
                by_day.setdefault(key.day, {})[key.state, key.webhook_state] = number
        statistics = {
            day: slots
            for (id_, day), slots in self.statistics.items()
            if id_ == connection_id and day >= first_day and not sort
        }
        return [
            DayCounts(day, inserted.get(day, {}), updated.get(day, {}), statistics.get(day, {}))
            for day in sorted({*inserted, *updated, *statistics})
        ]

    def move_statistics(self, connection_id: str, day: str) -> None:
        """Move the statistics of a day to its month."""
        if slots := self.statistics.pop(Day(connection_id, day), None):
            place = connection_id, month_of(day)
            before = self.months.get(place, MonthTotals(month_of(day)))
            numbers = Counter(before.numbers) + Counter(totals_of(slots))
            self.months[place] = MonthTotals(before.month, numbers, before.days | {day})

    def month_totals(self, connection_id: str, first_month: str) -> Sequence[MonthTotals]:
        """Return the totals of months."""
        months = [one for (id_, month), one in self.months.items() if id_ == connection_id and month >= first_month]
        return sorted(months, key=lambda one: one.month)

    def index_entries(self, days: IndexDays, *, descending: bool, skip: int, limit: int) -> Sequence[IndexEntry]:
        """Return entries of these days."""
        entries = [
            IndexEntry(record.id, _listed_time(record, days.sort))
            for record in self._records_of(days.connection_id, days.sort)
            if any(_is_in(record, partition) for partition in days.counts) and _is_at(record, days)
        ]
        entries.sort(key=lambda entry: (entry.moment, entry.id), reverse=descending)
        return entries[skip : skip + limit]

    def next_index_entries(self, stretch: IndexStretch, limit: int) -> Sequence[IndexEntry]:
        """Return the first entries of a stretch."""
        entries = [
            IndexEntry(record.id, moment)
            for record in self._records_of(stretch.connection_id, stretch.sort)
            if record.listed_pair in stretch.pairs
            and stretch.first <= (moment := _listed_time(record, stretch.sort)) <= stretch.last
        ]
        after = (stretch.after.moment, stretch.after.id) if stretch.after else ("", "")
        behind = [entry for entry in entries if (entry.moment, entry.id) > after]
        return sorted(behind, key=lambda entry: (entry.moment, entry.id))[:limit]

    def all_index_entries(
        self,
        days: IndexDays,
        split_points: Sequence[str],  # noqa: ARG002 - a list in memory is read in one part
        check_deadline: Callable[[], None] = lambda: None,
    ) -> Iterable[IndexEntry]:
        """Return every entry of these days."""
        check_deadline()
        return self.index_entries(days, descending=False, skip=0, limit=10**9)

    def count_index_entries(
        self,
        days: IndexDays,
        split_points: Sequence[str],  # noqa: ARG002 - as above
        check_deadline: Callable[[], None] = lambda: None,
    ) -> Mapping[Partition, int]:
        """Return the number of entries of these days in each partition."""
        check_deadline()
        return Counter(
            partition
            for record in self._records_of(days.connection_id, days.sort)
            if _is_at(record, days)
            for partition in days.counts
            if _is_in(record, partition)
        )

    def search_matches(
        self,
        connection_id: str,
        texts: tuple[str, ...],
        split_points: Sequence[str],  # noqa: ARG002 - texts in memory are read in one part
        check_deadline: Callable[[], None] = lambda: None,
        within: TimeRange = ANY_TIME,
    ) -> Collection[tuple[str, str]]:
        """Return the records whose text contains all texts."""
        check_deadline()
        entries = list(self.lag.entries("bodies", "search")) if self.lag else list(self.bodies.items())
        matches = [
            (record.inserted_at, request_id)
            for request_id, bodies in entries
            if bodies.connection_id == connection_id
            and has_all(bodies.search_text, texts)
            and isinstance(record := self.records.get(request_id), QueuedRequest)
            and record.inserted_at in within
        ]
        return list(dict.fromkeys(matches))

    def unpacked_values(self, connection_id: str, value: str, until: str) -> Iterator[Sequence[UnpackedText]]:
        """Yield all texts of a connection in one page."""
        entries = list(self.lag.entries("bodies", "search")) if self.lag else list(self.bodies.items())
        yield [
            UnpackedText((record.inserted_at, request_id), kinds_of(value, bodies.search_text), is_readable=True)
            for request_id, bodies in entries
            if bodies.connection_id == connection_id
            and isinstance(record := self.records.get(request_id), QueuedRequest)
            and record.inserted_at <= until
        ]

    def block_entries(self, connection_id: str, value: str, until: str) -> Iterator[Sequence[BlockEntry]]:  # noqa: ARG002
        """Yield no block: texts in memory are not packed."""
        return iter(())

    def values_in_block(self, connection_id: str, block: BlockEntry, value: str) -> Sequence[TextWithValue]:  # noqa: ARG002
        """Return nothing, as above."""
        return ()

    # --- Packing: texts in memory do not need it

    def days_to_pack(self, before: str) -> Iterator[tuple[str, str]]:  # noqa: ARG002 - see above
        """Yield nothing to pack."""
        return iter(())

    def settle_days(self, before: str, is_chosen: Callable[[str], bool]) -> Iterator[int]:  # noqa: ARG002 - see above
        """Yield no step."""
        return iter(())

    def pack(self, connection_id: str, day: str, after: tuple[str, str] | None) -> tuple[str, str] | None:
        """Do nothing."""

    # --- Recounts

    def recount(self, connection_id: str) -> Mapping[CountKey, int]:
        """Count the records one by one, as an index shows them."""
        return count_changes([AddRequest(record, "", "") for record in self._records_of(connection_id, INSERTED)])

    def add_to_counts(self, changes: Mapping[CountKey, int]) -> None:
        """Add to counts."""
        with self._lock:
            self.counts.update(changes)
            self.counts = Counter({key: number for key, number in self.counts.items() if number})


def _personal_key(entity: Any) -> tuple[str, str]:
    """Return the key of an entity of people."""
    key = key_of(entity)
    return key["person"]["S"], key["item"]["S"]
