"""What the domain needs from outside, named for the business. `adapters/` and the tests' fakes implement it.

One writer, `Store.commit`; the rest reads. Reads by id and of the queue are consistent. Reads of an index
(`index_entries`, `search_hits`, `silent_sessions`, `connections_of`, `deleted_connections`) are eventually
consistent: an entry may be late or already wrong, and whoever acts on one names the revision that it saw.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from domain.apps.record import ApiKey, App
    from domain.connections.record import Connection
    from domain.requests.record import QueuedRequest, State, StoredRequest, Tombstone, WebhookState
    from domain.storage.changes import Change
    from domain.storage.counts import CountKey, DayCounts
    from domain.web_connector.session.record import Session


class Store(Protocol):
    """The only way to change anything."""

    def commit(self, *changes: Change) -> None:
        """Do all `changes` or none, and keep the counts exact.

        Raises Conflict, naming the first change that does not hold; TooManyRequests when
        others kept changing the same things through every retry.
        """


@dataclass(frozen=True, slots=True)
class RequestDetail:
    """A record with its connection; of one that waits, how many requests are sent before it."""

    stored: StoredRequest
    connection: Connection
    ahead: int = 0


class Requests(Protocol):
    """Queued requests by id, and the front of a connection's queue."""

    def request(self, request_id: str) -> QueuedRequest | Tombstone | None:
        """Return the record alone."""

    def stored_request(self, request_id: str, connection_id: str | None = None) -> StoredRequest | Tombstone | None:
        """Return the record with its bodies, whole.

        None also when its connection was deleted, or is another one than `connection_id`: one read
        tells when it is given, else two.
        """

    def request_detail(self, request_id: str, connection_id: str | None, most: int) -> RequestDetail | Tombstone | None:
        """Return all that is told of a record, None as `stored_request` does: two round trips at most.

        Requests ahead of one that waits are counted up to `most`.
        """

    def stored_requests(self, request_ids: Sequence[str], *, largest_response: int) -> Mapping[str, StoredRequest]:
        """Return the records that exist, by id; a response of more than `largest_response` bytes is None."""

    def request_xml(self, request_id: str) -> str:
        """Return the request's text. Raises NotFound when there is none."""

    def queue_front(self, connection_id: str, limit: int) -> Sequence[QueuedRequest]:
        """Return what is sent next (waiting or retryable), at most `limit` records.

        Exact when it is read: whatever was stored before is in it (decision 0020).
        """


@dataclass(frozen=True, slots=True)
class Delivery:
    """What one webhook attempt needs. Bodies over the webhook's limit are left out (None)."""

    stored: StoredRequest
    secrets: tuple[str, ...]


class Deliveries(Protocol):
    """What a webhook attempt reads, in one round trip."""

    def delivery(
        self, request_id: str, app_id: str, *, response_parts: int, largest_response: int
    ) -> Delivery | Tombstone | None:
        """Return the record as it is now, its bodies and the app's active webhook secrets."""


class Connections(Protocol):
    """Connections by id and by app."""

    def connection(self, connection_id: str) -> Connection | None:
        """Return a connection; deleted ones too (`deleted_at`)."""

    def connections_of(self, app_id: str, offset: int, limit: int) -> tuple[Sequence[Connection], int]:
        """Return one page of an app's connections, oldest first, and how many there are in all."""

    def deleted_connections(self, limit: int) -> Sequence[Connection]:
        """Return connections whose records are still to be removed."""

    def remove_records(self, connection: Connection) -> Iterator[int]:
        """Remove the records of a deleted connection with their bodies, in steps of a second or so.

        Yields how many records each step removed. May be broken off after any step and begun anew,
        by several at a time. Raises TooManyRequests.
        """

    def remove_connection(self, connection: Connection) -> None:
        """Remove what a deleted connection without records has left, itself at last. Raises TooManyRequests."""


class Sessions(Protocol):
    """Web Connector sessions by the hash of their ticket."""

    def session(self, ticket: str) -> Session | None:
        """Return the session whose ticket has this hash."""

    def silent_sessions(self, before: str, limit: int) -> Sequence[Session]:
        """Return open sessions whose last call was before the timestamp, from an index."""


class Apps(Protocol):
    """Apps and their API keys."""

    def app(self, app_id: str) -> App | None:
        """Return an app."""

    def api_key(self, key_hash: str) -> ApiKey | None:
        """Return the key with this hash, revoked or not."""

    def api_keys_of(self, app_id: str) -> Sequence[ApiKey]:
        """Return an app's keys, oldest first."""


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """What a listing index knows of a record: its id and the moment it is sorted by."""

    id: str
    moment: str


@dataclass(frozen=True, slots=True)
class IndexDays:
    """What is read of a listing index: a connection's entries of the days `first_day` … `last_day` (inclusive).

    `sort` is `inserted_at` or `updated_at`. `use` names the index: `connection`, `state` or `webhook_state`; a
    filter that is not its key is applied to what it yields.
    """

    connection_id: str
    sort: str
    use: str
    first_day: str
    last_day: str
    state: State | None = None
    webhook_state: WebhookState | None = None


def unlimited() -> None:
    """Let what is read take as long as it takes."""


class Listing(Protocol):
    """What lists are made from."""

    def day_counts(self, connection_id: str) -> Sequence[DayCounts]:
        """Return the connection's counts, oldest day first. Raises NotFound when it was deleted."""

    def index_entries(self, days: IndexDays, *, descending: bool, skip: int, limit: int) -> Sequence[IndexEntry]:
        """Return entries `skip` … `skip + limit` of these days, in order; ties in order of id."""

    def all_index_entries(
        self, days: IndexDays, cuts: Sequence[str], in_time: Callable[[], None] = unlimited
    ) -> Iterable[IndexEntry]:
        """Return every entry of these days, in no order; the parts between the moments `cuts` are read side by side."""

    def search_hits(
        self, connection_id: str, needle: str, cuts: Sequence[str], in_time: Callable[[], None] = unlimited
    ) -> Collection[tuple[str, str]]:
        """Return (inserted_at, id) of every record whose search text holds `needle`, in no order.

        The parts between the moments `cuts` are read side by side. `in_time` is called before each answer
        of the database that is waited for, by several threads; what it raises ends the search.
        """


class Packing(Protocol):
    """What packs search texts, so that a search reads few large items (`domain.packing`)."""

    def quiet_days(self, before: str, limit: int) -> Sequence[tuple[str, str]]:
        """Return (connection, day) of up to `limit` days before `before` with texts that are not packed.

        Those in which something changed since this was asked last are left for the next time.
        """

    def pack(self, connection_id: str, day: str, after: tuple[str, str] | None) -> tuple[str, str] | None:
        """Do one step of packing; return where the next one begins (`after`), None when the day is through.

        A text is copied by one run and taken out of the index by the next: a day is through for good
        when a run finds nothing to do.
        """


class Recounts(Protocol):
    """What counts are compared with and mended by (`domain.recounting`)."""

    def recount(self, connection_id: str) -> Mapping[CountKey, int]:
        """Return the connection's records counted one by one, as the indexes have them."""

    def add_to_counts(self, changes: Mapping[CountKey, int]) -> None:
        """Add to counts. Raises TooManyRequests when others kept changing them through every retry."""


class Database(Store, Requests, Deliveries, Connections, Sessions, Apps, Listing, Packing, Recounts, Protocol):
    """Every port that the database serves: use cases that need several take it as one."""
