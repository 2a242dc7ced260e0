"""The ports of the database: one for each use case, made of the reads that several share.

`DynamoDBStore` and the fake store of the tests implement all of them (decision 0059).

Reads by id and of the queue are consistent. Reads of an index (`index_entries`, `in_flight_ids`, `search_matches`,
`silent_sessions`, `connections_of`, `deleted_connections`, `unsettled_ids`) are eventually consistent: an entry may be
late or outdated. Therefore a change that is based on an entry names the revision that was read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias

from domain.records.request import Pair
from domain.timestamps import AFTER_ALL, ANY_TIME, TimeRange

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from domain.records.app import ApiKey, App
    from domain.records.audit import Action, AuditEntry
    from domain.records.connection import Connection
    from domain.records.event import EventGroup
    from domain.records.person import Invitation, Membership, Person, SignedIn, SignIn
    from domain.records.request import ListedRequest, QueuedRequest, StoredRequest, Tombstone
    from domain.records.session import RequestInFlight, Session
    from domain.records.subscription import ChangePage, CopyState, Subscription
    from domain.storage.changes import Change, IdempotencyClaim
    from domain.storage.counts import CountKey, DayCounts
    from domain.storage.statistics import MonthTotals
    from domain.whole_values import MatchedAs

    TextWithValue: TypeAlias = tuple[tuple[str, str], Sequence[MatchedAs]]
    """A search text, by the (inserted_at, id) of its record, and what the value is in it."""


@dataclass(frozen=True, slots=True)
class RequestDetail:
    """A record with its bodies and its connection. `ahead` is the number of requests before a queued one."""

    stored: StoredRequest
    connection: Connection
    ahead: int = 0


class RequestBatch(Protocol):
    """Records that were read together. Their bodies are still compressed, because only those of a page are needed."""

    @property
    def records(self) -> Collection[QueuedRequest]:
        """The records, in no particular order."""

    def has_stray_response(self, record: QueuedRequest) -> bool:
        """Whether a response is stored beside this record of the batch that the record does not have."""

    def with_bodies(
        self, records: Sequence[QueuedRequest], *, max_response_bytes: int, max_total_bytes: int
    ) -> Sequence[ListedRequest]:
        """Return records of the batch with their bodies. Sizes are in bytes of UTF-8.

        Leaves out responses over `max_response_bytes`, and bodies that no longer fit into `max_total_bytes`. The
        requests come first, then the Mods that wait for approval, then the responses.
        """

    def whole(self, record: QueuedRequest, *, max_response_bytes: int) -> StoredRequest | None:
        """Return a record of the batch with its bodies and metadata. Leaves out a response over `max_response_bytes`.

        Returns None if a part is missing, because the request is being deleted.
        """


@dataclass(frozen=True, slots=True)
class Delivery:
    """A request and the webhook secrets of its app, for one webhook attempt. A response that is too large is None."""

    stored: StoredRequest
    secrets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Usage:
    """A counter of an app. `counted_at` is when its total was last counted, in Unix seconds, or 0."""

    total: int
    counted_at: int = 0


@dataclass(frozen=True, slots=True)
class Canaries:
    """When canaries were last sent, and since when each consumer has processed none, if it has not."""

    sent_at: str | None
    missing_since: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to a place, which has one holder until `expires_at` (Unix seconds).

    Waiting calls have numbered places. A place with a name is that of a job that must not run twice at once.
    """

    place: int | str
    holder: str
    expires_at: int


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """An entry of a list: a record's id and the timestamp that it is sorted by."""

    id: str
    moment: str


@dataclass(frozen=True, slots=True)
class Group:
    """The requests of a connection with the same label, or the pages of a query after its first one."""

    by: Literal["label", "query_id"]
    value: str


Partition: TypeAlias = Pair | Group
"""The entries of a listing index that are read together. Those of groups are sorted by `inserted_at`."""


@dataclass(frozen=True, slots=True)
class IndexDays:
    """The entries of a listing index that belong to a connection and to the days `first_day` to `last_day` (inclusive).

    Only those `within` a range of time are meant. `sort` is `inserted_at` or `updated_at`. `counts` has the number of
    these entries for each partition to read.
    """

    connection_id: str
    sort: str
    first_day: str
    last_day: str
    counts: Mapping[Pair, int] | Mapping[Group, int]
    within: TimeRange = ANY_TIME

    @property
    def first(self) -> str:
        """The first text that the times of the entries can have."""
        return max(self.first_day, self.within.first)

    @property
    def last(self) -> str:
        """A text that sorts after the times of the entries. If it sorts before `first`, the range is empty."""
        return min(self.last_day + AFTER_ALL, self.within.last)


@dataclass(frozen=True, slots=True)
class IndexStretch:
    """The entries of a listing index with these pairs, from the timestamp `first` to `last` (inclusive).

    With `after`, only those behind that entry, which need not exist any more.
    """

    connection_id: str
    sort: str
    pairs: Collection[Pair]
    first: str
    last: str
    after: IndexEntry | None = None


class Committing(Protocol):
    """The one way to write entities."""

    def commit(self, *changes: Change) -> None:
        """Apply all `changes` or none, and keep the counts exact.

        Raises Conflict with the first change that has an unmet condition. Raises TooManyRequests if other commits
        changed the same items during every retry. Raises Unavailable if it is unknown whether the changes were made.
        """


class ConnectionReads(Protocol):
    """Reads of a connection."""

    def connection(self, connection_id: str) -> Connection | None:
        """Return a connection, even if it was deleted (`deleted_at`)."""


class OwnerReads(Protocol):
    """Reads of an app and a page of its connections."""

    def app(self, app_id: str) -> App | None:
        """Return an app."""

    def connections_of(self, app_id: str, offset: int, limit: int) -> tuple[Sequence[Connection], int]:
        """Return one page of an app's connections, oldest first, and their total number."""


class RequestReads(Protocol):
    """Reads of one record, and of the ids of those in flight."""

    def request(self, request_id: str) -> QueuedRequest | Tombstone | None:
        """Return the record without its bodies."""

    def in_flight_ids(self, connection_id: str) -> Sequence[str]:
        """Return the ids of a connection's records in flight, in no particular order. Reads an index."""


class RecordReads(Protocol):
    """Reads of several records by their ids."""

    def records_by_id(self, request_ids: Sequence[str], *, may_lag: bool = False) -> Sequence[QueuedRequest]:
        """Return the existing records without their bodies, in no particular order.

        Records that may lag, as entries of an index do, cost half the read units.
        """

    def request_batch(self, request_ids: Sequence[str]) -> RequestBatch:
        """Read the existing records with their compressed bodies."""


class SuccessorReads(Protocol):
    """Reads that tell which requests were queued again."""

    def ids_in_use(self, request_ids: Sequence[str], *, may_lag: bool = False) -> Collection[str]:
        """Return the ids of records that exist or were deleted. `may_lag` is as in `records_by_id`."""


class InFlightReads(Protocol):
    """Reads of a session and its requests in flight."""

    def session(self, session_id: str) -> Session | None:
        """Return a session, open or ended."""

    def requests_in_flight(
        self, session: Session, front: int = 0
    ) -> tuple[Sequence[RequestInFlight], Sequence[QueuedRequest]]:
        """Return the requests in flight of a session, and the first `front` records of its queue, in one round trip.

        A request that the session names but no longer has in flight is left out.
        """


class RequestXmlReads(Protocol):
    """Reads of requests for QuickBooks."""

    def with_request_xml(self, records: Sequence[QueuedRequest]) -> Sequence[RequestInFlight]:
        """Return records with their request XML, in one round trip, or two if a request is large."""


class SubscriptionReads(Protocol):
    """Reads of subscriptions and of what they have read."""

    def copy_state(self, connection_id: str, remembered: Iterable[str] = ()) -> CopyState:
        """Return what is stored about the subscriptions of a connection. The read is consistent.

        The parts of what the feed has said are read for the objects `remembered` only.
        """


class PageReads(Protocol):
    """Reads of pages of changes."""

    def change_pages(self, places: Collection[tuple[str, int]]) -> Sequence[ChangePage]:
        """Return the pages at these places (connection, sequence) that exist, in no particular order."""

    def change_pages_before(self, connection_id: str, sequence: int | None) -> Iterator[ChangePage]:
        """Yield the pages of a connection with a lower sequence, or all, newest first. Some are read at a time."""


class EntryReads(Protocol):
    """Reads of the entries of lists."""

    def index_entries(self, days: IndexDays, *, descending: bool, skip: int, limit: int) -> Sequence[IndexEntry]:
        """Return the entries `skip` to `skip + limit` of these days, in order of time and id."""

    def all_index_entries(
        self, days: IndexDays, split_points: Sequence[str], check_deadline: Callable[[], None] = lambda: None
    ) -> Iterable[IndexEntry]:
        """Return every entry of these days, in no particular order."""


class StretchReads(Protocol):
    """Reads of the first entries of a part of a list."""

    def next_index_entries(self, stretch: IndexStretch, limit: int) -> Sequence[IndexEntry]:
        """Return the first `limit` entries of a stretch, in order of time and id."""


class CountReads(Protocol):
    """Reads of counts, and of the connections that have them."""

    def day_counts(self, connection_id: str, first_day: str = "", sort: str | None = None) -> Sequence[DayCounts]:
        """Return the connection's counts from `first_day` on, oldest day first. Raises NotFound if it was deleted.

        With `sort`, the counts by the other time and the statistics are left out.
        """

    def connection_ids_of(self, app_id: str) -> Sequence[str]:
        """Return the ids of an app's connections, oldest first."""


class UsageCounters(Protocol):
    """Counters of an app (`domain.apps.quotas`)."""

    def add_usage(self, app_id: str, counter: str, number: int, expires_at: int | None = None) -> Usage:
        """Add to a counter and return it. After `expires_at` (Unix seconds), the counter may be removed.

        If the answer of the database is lost, the number may be added twice.
        """

    def set_usage(self, app_id: str, counter: str, usage: Usage) -> None:
        """Replace a counter."""


class Leases(Protocol):
    """Leases of waiting calls (`domain.queueing.waiting_calls`) and of recounts."""

    def take_lease(self, lease: Lease, now: int) -> bool:
        """Store a lease if its place is free or its former lease has expired at `now` (Unix seconds).

        Return whether it is stored. A repeated call of the same holder succeeds again.
        """

    def release_lease(self, lease: Lease) -> None:
        """Free the place, unless another call has taken it after the lease expired."""


class EventReads(Protocol):
    """Reads of the logs of events (`domain.events`). They are consistent."""

    def newest_event_groups(self, app_id: str, limit: int) -> Sequence[EventGroup]:
        """Return the newest groups of an app's log, newest first."""

    def event_groups_from(self, app_id: str, position: int, page_size: int) -> Iterator[EventGroup]:
        """Yield the groups of an app's log from a position on, in order. `page_size` groups are read at a time.

        This is not a snapshot: a group that was appended during a read can be missing before a later one.
        """


class DetailReads(Protocol):
    """Reads of a record with its bodies."""

    def request_detail(
        self, request_id: str, connection_id: str | None = None, max_ahead: int = 0
    ) -> RequestDetail | Tombstone | None:
        """Return a record with its bodies and its connection in at most two round trips.

        Also returns None if its connection was deleted or is not `connection_id`. The requests ahead of a queued one
        are counted up to `max_ahead`. Raises Unavailable if the record and its bodies do not match in several reads.
        """


class NewRequestStore(Committing, ConnectionReads, RequestReads, RecordReads, InFlightReads, DetailReads, Protocol):
    """What queueing new requests needs."""

    def idempotency_claim(self, app_id: str, key: str) -> IdempotencyClaim | None:
        """Return the claim of an app's idempotency key, which may have expired, or None."""


class QueueStore(
    Committing,
    ConnectionReads,
    RequestReads,
    RecordReads,
    SuccessorReads,
    InFlightReads,
    StretchReads,
    DetailReads,
    Protocol,
):
    """What discarding and queueing again need."""

    def queued_after(
        self, connection_id: str, after: IndexEntry, last: str, limit: int, *, low_lane: bool = False
    ) -> Sequence[QueuedRequest]:
        """Return the first `limit` queued records in turn behind an entry by time, up to the timestamp `last`.

        Those of the low lane, or those of the normal one. An entry without an id is before all of its time. The read is
        consistent.
        """


class SettlingStore(Committing, RequestReads, RecordReads, RequestXmlReads, StretchReads, DetailReads, Protocol):
    """What settling needs."""

    def count_queued(self, connection_id: str, priority: int, limit: int) -> int:
        """Return the number of requests in the queue with a priority, at most `limit`. The read is consistent."""

    def unsettled_ids(self) -> Sequence[str]:
        """Return the ids of all writes that are unsettled, in no particular order. Reads an index."""


class WaitingStore(RequestReads, EntryReads, Leases, Protocol):
    """What waiting calls need."""


class ClaimStore(Committing, ConnectionReads, RequestReads, RecordReads, InFlightReads, Protocol):
    """What the claim of requests for a session needs."""

    def queue_front(self, connection_id: str, limit: int, *, low_lane: bool = False) -> Sequence[QueuedRequest]:
        """Return the first `limit` records of the queue, in the order of sending, or those of the low lane only.

        A write of the low lane that is recovered is not among the latter, because it is in front of all others.
        The read is consistent: it returns every request that was stored before it (decision 0020).
        """

    def remove_from_queue(self, entry: QueuedRequest) -> None:
        """Remove an entry of the queue whose request has ended or does not exist."""


class LoginStore(ClaimStore, UsageCounters, Protocol):
    """What a login of the Web Connector needs."""


class SessionStore(ClaimStore, RequestXmlReads, SubscriptionReads, Protocol):
    """What the other calls of a session need."""


class AdmissionStore(UsageCounters, Protocol):
    """What admission at login needs."""

    def live_sessions(self, shard: int, since: str) -> Mapping[str, int]:
        """Return the numbers of live sessions of a shard by app. Reads an index.

        A session counts if its last recorded call was in the minute of the timestamp or later.
        """


class ListStore(ConnectionReads, RequestReads, RecordReads, EntryReads, StretchReads, CountReads, Protocol):
    """What lists and searches need.

    Large reads are split at `split_points` (timestamps or their prefixes) into parts that are read in parallel. Several
    threads call `check_deadline` before each call of the database. If it raises an exception, the read ends.
    """

    def count_index_entries(
        self, days: IndexDays, split_points: Sequence[str], check_deadline: Callable[[], None] = lambda: None
    ) -> Mapping[Partition, int]:
        """Return the number of entries of these days in each partition."""

    def search_matches(
        self,
        connection_id: str,
        texts: tuple[str, ...],
        split_points: Sequence[str],
        check_deadline: Callable[[], None] = lambda: None,
        within: TimeRange = ANY_TIME,
    ) -> Collection[tuple[str, str]]:
        """Return (inserted_at, id) of every record whose search text `has_all` of `texts`, in no particular order.

        Only records that were inserted `within` a range of time are meant.
        """


class OverviewStore(ConnectionReads, OwnerReads, RequestReads, RecordReads, EntryReads, CountReads, Protocol):
    """What the statistics of an app and of a connection need."""

    def oldest_queued(self, connection_id: str) -> QueuedRequest | None:
        """Return the request that has been in the queue for the longest time, by `inserted_at`, or None.

        Of the requests with the same priority, this looks only at the one that is sent first.
        """


class FailureStore(OwnerReads, RecordReads, SuccessorReads, EntryReads, CountReads, Protocol):
    """What the report of failures needs."""


class UnpackedText(NamedTuple):
    """A text that is not packed, by the (inserted_at, id) of its record, and what the value is in it.

    A text that is not readable has no marks (`domain.whole_values`).
    """

    place: tuple[str, str]
    kinds: Sequence[MatchedAs]
    is_readable: bool


@dataclass(frozen=True, slots=True)
class BlockEntry:
    """What an index tells about a search block. Its records were inserted from `since` to `until` (timestamps).

    `may_match` is False if none of them has the value that was looked for. A block that is not readable has texts
    without marks (`domain.whole_values`), and `until` is after all times.
    """

    part: str
    since: str
    until: str
    may_match: bool
    is_readable: bool = True


class ValueStore(OwnerReads, RequestReads, RecordReads, Protocol):
    """What the search for a whole value needs. Every text is unpacked, in a search block, or in both.

    The unpacked texts must be read first, the entries of blocks next, and the blocks last. The text that is unpacked
    takes precedence. `value` is folded. `until` is a timestamp: later ones are not read.
    """

    def unpacked_values(self, connection_id: str, value: str, until: str) -> Iterator[Sequence[UnpackedText]]:
        """Yield the unpacked texts in pages, also those of removed records and those without the value."""

    def block_entries(self, connection_id: str, value: str, until: str) -> Iterator[Sequence[BlockEntry]]:
        """Yield the entries of all search blocks in pages, the newest block first."""

    def values_in_block(self, connection_id: str, block: BlockEntry, value: str) -> Sequence[TextWithValue]:
        """Return the texts of a block that have the value. The read is consistent."""


class UsageStore(OwnerReads, CountReads, Protocol):
    """What the report of usage needs."""

    def month_totals(self, connection_id: str, first_month: str) -> Sequence[MonthTotals]:
        """Return the totals of a connection from a month on, oldest first. The read is consistent."""


class SubscriptionStore(Committing, ConnectionReads, SubscriptionReads, Protocol):
    """What the use cases of subscriptions need."""


class HistoryStore(ConnectionReads, PageReads, Protocol):
    """What the history of records needs."""


class SessionHistoryStore(ConnectionReads, Protocol):
    """What the history of the sessions of a connection needs."""

    def session(self, session_id: str) -> Session | None:
        """Return a session, open or ended."""

    def ended_sessions(self, connection_id: str, since: str, limit: int) -> Sequence[Session]:
        """Return the newest `limit` ended sessions of a connection that began at `since` or later, newest first.

        Reads an index.
        """


class ConnectionStore(Committing, ConnectionReads, OwnerReads, RecordReads, InFlightReads, Protocol):
    """What the use cases of a connection need."""


class WebhookStore(Committing, ConnectionReads, OwnerReads, PageReads, Protocol):
    """What deliveries of webhooks need."""

    def subscription(self, connection_id: str, subscription_id: str) -> Subscription | None:
        """Return a subscription of a connection, or None. The read is consistent."""

    def delivery(
        self, request_id: str, app_id: str, *, response_chunks: str, max_response_bytes: int
    ) -> Delivery | Tombstone | None:
        """Return the current record, its bodies and the app's active webhook secrets, in one round trip.

        `response_chunks` is the expected name of the chunks of the response. If the record names others, they are read.
        Raises Unavailable like `request_detail`.
        """


class FeedStore(ConnectionReads, RecordReads, EventReads, SubscriptionReads, PageReads, Protocol):
    """What the feed needs."""


class LogStore(Committing, OwnerReads, EventReads, Protocol):
    """What appending to the log of events needs."""

    def log_beginning(self, app_id: str) -> int | None:
        """Return the position at which the app's log began, or None if no log of it has begun.

        The log at this position may have been lost since.
        """

    def let_event_group_expire(self, group: EventGroup) -> None:
        """Store the `expires_at` of a group, if the group still exists."""


class QuotaStore(OwnerReads, RequestReads, CountReads, UsageCounters, Protocol):
    """What quotas need."""


class KeyUseStore(Protocol):
    """What the last uses of API keys need."""

    def last_use(self, app_id: str, key_id: str) -> str | None:
        """Return the last use of an API key, as `set_last_use` stored it."""

    def set_last_use(self, app_id: str, key_id: str, hour: str, expires_at: int) -> None:
        """Store the hour (a timestamp) of the last use of an API key, unless a later one is stored.

        It can be removed from `expires_at` (Unix) on.
        """


class AppStore(Committing, OwnerReads, CountReads, KeyUseStore, Protocol):
    """What the operator needs."""

    def last_uses(self, app_id: str) -> Mapping[str, str]:
        """Return the last use of each API key of an app that has one, by the public id of the key."""

    def apps_by_age(self) -> Sequence[App]:
        """Return every app, oldest first. Reads an index."""

    def api_key(self, key_hash: str) -> ApiKey | None:
        """Return the key with this hash, revoked or not."""

    def api_keys_of(self, app_id: str) -> Sequence[ApiKey]:
        """Return an app's keys, oldest first."""

    def remove_app(self, app_id: str) -> None:
        """Remove the log of events, the counters, the API keys with their uses and then the app, as far as they exist.

        May be interrupted and repeated. The audit log stays until it expires.
        """


class PeopleStore(Committing, Protocol):
    """What sign-ins and members need."""

    def apps_by_id(self, app_ids: Collection[str]) -> Sequence[App]:
        """Return the apps that exist, in no particular order."""

    def person(self, person_id: str) -> Person | None:
        """Return a person."""

    def people(self, person_ids: Collection[str]) -> Sequence[Person]:
        """Return the people who exist, in no particular order."""

    def person_of(self, identity: str) -> str | None:
        """Return the id of the person with an identity."""

    def signed_in(self, person_id: str, sign_in_id: str, app_id: str | None) -> SignedIn | None:
        """Return what a credential names, or None if the person or the sign-in does not exist."""

    def sign_ins_of(self, person_id: str) -> Sequence[SignIn]:
        """Return the sign-ins of a person."""

    def membership(self, person_id: str, app_id: str) -> Membership | None:
        """Return the membership of a person in an app."""

    def memberships_of(self, person_id: str) -> Sequence[Membership]:
        """Return the memberships of a person."""

    def members_of(self, app_id: str) -> tuple[Sequence[Membership], Sequence[Invitation]]:
        """Return the memberships in an app, and the invitations to it. Reads an index."""

    def invitations_to(self, address: str) -> Sequence[Invitation]:
        """Return the invitations of an email address (`address_of`)."""


class AuditStore(Protocol):
    """What the audit log needs."""

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
        """Look at the newest `limit` entries of the audit log of an app, or of a connection, newest first.

        With `before`, only those at a lower position. Return the entries with this action in this range of time, and
        the position before which there may be more, or None. The entries of a connection are read from an index.
        """


class SweepStore(Committing, ConnectionReads, RecordReads, InFlightReads, Protocol):
    """What the release of silent sessions and the removal of deleted connections need."""

    def silent_sessions(self, before: str, limit: int) -> Sequence[Session]:
        """Return live sessions with a last call before the timestamp, oldest call first. Reads an index."""

    def deleted_connections(self, limit: int) -> Sequence[Connection]:
        """Return the deleted connections that have not been removed yet."""

    def remove_records(self, connection: Connection) -> Iterator[int]:
        """Remove the records of a deleted connection with their bodies, and its sessions, in steps of about a second.

        Yields the number of records that each step removed, which is 0 for sessions. The removal may stop after any
        step and start again. Several removals may run at the same time. Raises TooManyRequests.
        """

    def remove_connection(self, connection: Connection) -> None:
        """Remove a deleted connection without records and sessions, and all its other data. Raises TooManyRequests.

        Its events are removed from the log of its app.
        """

    def remove_late_responses(self, before: str) -> int:
        """Remove what was stored of responses after their request was removed, and return the number of removals.

        Looks at the requests that were removed before the timestamp.
        """


class LateStore(Committing, RecordReads, InFlightReads, RequestXmlReads, Protocol):
    """What the end of requests that were not sent in time needs."""

    def late_requests(self, now: datetime) -> Iterator[QueuedRequest]:
        """Yield the requests that miss their `send_by`, in no particular order. Reads an index, which may lag."""


class OverdueStore(Committing, RequestReads, EntryReads, CountReads, Protocol):
    """What planning of overdue webhooks needs."""

    def app_ids(self) -> Sequence[str]:
        """Return the id of every app, in no particular order. Reads an index."""


class RecountStore(ConnectionReads, CountReads, Leases, Protocol):
    """What a recount and the move of old statistics need (`domain.maintenance.recount`)."""

    def recount(self, connection_id: str) -> Mapping[CountKey, int]:
        """Count the entries of a connection's listing indexes, and return these counts."""

    def add_to_counts(self, changes: Mapping[CountKey, int]) -> None:
        """Add `changes` to the counts. Raises TooManyRequests and Unavailable like `commit`."""

    def move_statistics(self, connection_id: str, day: str) -> None:
        """Move the statistics of a past day to the totals of its month, once. Its counts stay."""


class PackingStore(Protocol):
    """What the packing of search texts needs (`domain.maintenance.search_packing`)."""

    def days_to_pack(self, before: str) -> Iterator[tuple[str, str]]:
        """Yield (connection, day) for the days before `before` that have not changed since `settle_days`.

        The oldest day comes first. A day may appear twice.
        """

    def settle_days(self, before: str, is_chosen: Callable[[str], bool]) -> Iterator[int]:
        """Let the next run pack the changed days of the chosen connections, unless they change again.

        `is_chosen` gets the id of a connection. Each step yields the number of days.
        """

    def pack(self, connection_id: str, day: str, after: tuple[str, str] | None) -> tuple[str, str] | None:
        """Do one step of packing a day. Return `after` for the next step, or None if the day is done for this run.

        One run copies a text into a search block, and the next run removes it from the index. A day is done if a run
        has nothing to do.
        """


class CanaryStore(Protocol):
    """What the canaries of the streams need (`domain.maintenance.canaries`)."""

    def canaries(self) -> Canaries:
        """Return what is known about the canaries."""

    def send_canaries(self, streams: Collection[str], consumers: Collection[str], now: str) -> None:
        """Change one item in each of these tables. These consumers miss a canary from now on."""

    def note_canary(self, consumer: str) -> None:
        """Note that a consumer has processed a canary, and misses none."""


class Database(
    QueueStore,
    NewRequestStore,
    SettlingStore,
    WaitingStore,
    LoginStore,
    SessionStore,
    AdmissionStore,
    ListStore,
    OverviewStore,
    ValueStore,
    UsageStore,
    ConnectionStore,
    WebhookStore,
    FeedStore,
    LogStore,
    QuotaStore,
    AppStore,
    AuditStore,
    PeopleStore,
    SubscriptionStore,
    SessionHistoryStore,
    SweepStore,
    LateStore,
    OverdueStore,
    RecountStore,
    PackingStore,
    CanaryStore,
    Protocol,
):
    """The whole database: what starts the services needs it, and no service."""
