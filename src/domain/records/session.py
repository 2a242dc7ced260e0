"""The record of a Web Connector session, from `authenticate` to `closeConnection`.

The session ticket is a bearer credential. Only its SHA-256 is stored, as the session's id.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from domain import qbxml
from domain.records.connection import Backoff, Connection
from domain.records.request import IN_FLIGHT, QueuedRequest, State
from domain.records.search_text import searchable_text
from domain.records.subscription import RunMessage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.records.audit import Actor
from domain.timestamps import timestamp

SENDS_OF_A_CYCLE = 10
"""Of this many message sets in a row, at least one is of the low lane while a request waits there. After nine others
the next one is taken from there, and otherwise only if no request of the normal lane can be sent."""

SILENCE_SECONDS = 30 * 60
"""A session without a call for this long is released. QuickBooks can take many minutes for one request, so a shorter
time would release the request of a live session."""

MAX_EXECUTION_SECONDS = SILENCE_SECONDS
"""How long QuickBooks may execute one request. A write whose result never arrived may be executed for this long after
it was sent, however its session ended (docs/decisions/0035)."""

MAX_LINGER_SECONDS = 25 * 60
"""How long a session may linger. Lingering writes nothing, so it must end well before the session counts as silent."""

KEPT_SECONDS = 30 * 24 * 60 * 60
"""How long an ended session is kept, for the history of its connection. Then DynamoDB's TTL removes it. A live session
is never removed, because only the session shows which request it has in flight: the next login, the sweep or the
removal of its connection ends it."""


NO_SESSION = "0" * 32
"""The session ticket of a login that opens no session. Calls with it are answered without a read."""

LIVE_SHARDS = 16
"""The number of parts of the index of live sessions. Each part is a partition, which takes 1,000 writes a second. A
session of one request writes its entry twice, so the index takes 8,000 sessions a second."""


def session_id(ticket: str) -> str:
    """Return the id of the session with this ticket: the hexadecimal SHA-256 of the ticket."""
    return hashlib.sha256(ticket.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class RequestInFlight:
    """A request that a session has claimed or sent, as it is stored. No other caller changes it in these states.

    `request_xml` is None, and `metadata` empty, if the body is missing or was not read. `modification_xml` is the Mod
    that is sent next or was sent last in place of the request, or None. `queued_by` is as in `StoredRequest`.
    """

    record: QueuedRequest
    request_xml: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    modification_xml: str | None = None
    queued_by: Actor | None = None

    @property
    def search_text(self) -> str:
        """The search text of the request without its response, or '' if it cannot be made."""
        # An error in one request must not block the requests behind it.
        with suppress(Exception):
            if self.request_xml is not None:
                request = qbxml.stored_request(self.request_xml, self.record.qbxml_version)
                return searchable_text(self.record, request, queued_by=self.queued_by)
        return ""


@dataclass(frozen=True, slots=True)
class InFlight:
    """The ids of the requests that a session has claimed or sent, in the order of sending.

    `is_next_page` means that the request is the next page of an open iterator and was not sent. `parse_error` is
    a message that QuickBooks reported for a write. The message may belong to an earlier request, so QuickBooks is asked
    for the stored response before the message is accepted. `repeated_remaining` is the `iteratorRemainingCount` of a
    response to a later page that did not fall. That response may be a duplicate of an earlier page, so the session
    waits for another one until the Web Connector asks for the next request. `ignored` counts the responses that named
    other requests, up to MAX_IGNORED. `may_be_joined` means that requests behind the claimed one may be sent with it,
    as far as their records show. `behind` are the ids of further claimed requests. Their queries were answered in one
    message set, at `asked_at`. The session sends their additions and Mods one after the other.
    """

    request_ids: tuple[str, ...]
    behind: tuple[str, ...] = ()
    asked_at: str | None = None
    may_be_joined: bool = False
    is_next_page: bool = False
    parse_error: str | None = None
    repeated_remaining: int | None = None
    ignored: int = 0


@dataclass(frozen=True, slots=True)
class LastResponse:
    """The response that a session stored last.

    `iterator_remaining` is the number of objects that remain in the iterator. It falls with each page, so it tells
    copies of pages apart. `progress` is the value that `receiveResponseXML` returned. `number` counts the requests in
    the calls of the session that returned a response or an error: one that is sent again counts again. `answered`
    counts the requests that ended with an answer of QuickBooks.
    """

    iterator_id: str | None = None
    iterator_remaining: int | None = None
    progress: int = 0
    number: int = 1
    answered: int = 0


@dataclass(frozen=True, slots=True)
class OpenCompanyFile:
    """The company file that QuickBooks has open.

    `key` identifies it by its FileID mark and its path, and is None if it has no mark. `is_fallback` means that the
    connection's path could not be opened and the Web Connector used the open file. `path` is where it is open, and
    `product_name` and `version` are those of this QuickBooks. They are None until QuickBooks has told them.
    """

    key: str | None = None
    is_fallback: bool = False
    path: str | None = None
    product_name: str | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True)
class CallingWebConnector:
    """The Web Connector that logged in: its IP address and its version, as far as they are known."""

    address: str | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a session: a pause, the end of the sync window (a timestamp) and the end of lingering.

    `ends_for_others` means that the session ends before its next request because others wait for a place.
    `batch_size` is the largest number of writes in a message set, and `read_batch_size` that of reads.
    `run_due_at` is when a run of subscriptions is due, or None.
    `execution_seconds` is how long QuickBooks may execute one request. None means MAX_EXECUTION_SECONDS. `has_low_lane`
    is that of the connection.
    """

    paused: bool = False
    work_until: str | None = None
    linger_seconds: int = 0
    execution_seconds: int | None = None
    batch_size: int = 1
    read_batch_size: int = 1
    ends_for_others: bool = False
    has_low_lane: bool = False
    run_due_at: str | None = None

    def running_until(self, sent: QueuedRequest) -> str:
        """Return the time until which QuickBooks may be executing a request that is `sent`."""
        seconds = MAX_EXECUTION_SECONDS if self.execution_seconds is None else self.execution_seconds
        return timestamp(datetime.fromisoformat(sent.updated_at) + timedelta(seconds=seconds))


class OnboardingCheck(StrEnum):
    """The progress of an onboarding check: it is sent in the first `sendRequestXML`, and then QuickBooks answers."""

    DUE = "due"
    SENT = "sent"


def low_is_due(limits: Limits, sends: int) -> bool:
    """Return whether the next message set is taken from the low lane if a request waits there."""
    return limits.has_low_lane and sends == SENDS_OF_A_CYCLE - 1


@dataclass(frozen=True, slots=True)
class Session:
    """One Web Connector session.

    `connection` is the connection as `authenticate` stored it, without the password hash. It is kept until the company
    file check in the first `sendRequestXML`, which usually saves a read. `exception_reported` tells whether QuickBooks
    has reported a processor exception in this session, and `failures` counts those since the last response. `backoff`
    begins and `connection_error` becomes the connection's `last_error` if the session ends here.
    `message_set_to_forget` is the ID of a message set. This service has stored its response, so QuickBooks can delete
    its copy. `returned_writes` are the ids of the writes that ended in the last exception: when the session is closed,
    QuickBooks has finished them. `read_set_size` and `write_set_size` are the largest numbers of requests in the next
    message set of reads and of writes. `getLastError` returns `last_error`. `is_revoked` means that the password was
    changed, so the ticket is no longer valid. The next login or the sweep then releases the request in flight.
    `onboarding_check` is None in a session that sends requests, and after QuickBooks has answered the check. `shard` is
    the part of the index of live sessions that has the session, below LIVE_SHARDS. `app_id` is the app of its
    connection, by which live sessions are counted, and `began_at` when it began. Both are empty in a session of an
    older release. `paced_to` is the time that its requests so far would have taken at its pace, or None if it is not
    paced (`session/pacing.py`). `sends` is as in Connection. `run` is the last message of a run of subscriptions, or
    None if no run is due. Such a message is sent only while no request is in flight. `run_messages` is how many
    messages of runs were sent before `run` was removed. `web_connector` and `company_file` are kept for the history of
    the connection.
    """

    id: str
    connection_id: str
    last_call_at: str
    in_flight: InFlight | None = None
    last_response: LastResponse | None = None
    connection: Connection | None = None
    company_file: OpenCompanyFile = OpenCompanyFile()
    web_connector: CallingWebConnector = CallingWebConnector()
    limits: Limits = Limits()
    exception_reported: bool = False
    failures: int = 0
    backoff: Backoff | None = None
    message_set_to_forget: str | None = None
    returned_writes: tuple[str, ...] = ()
    read_set_size: int = 1
    write_set_size: int = 1
    last_error: str | None = None
    connection_error: dict[str, Any] | None = None
    is_revoked: bool = False
    onboarding_check: OnboardingCheck | None = None
    ended: bool = False
    shard: int = 0
    app_id: str = ""
    began_at: str = ""
    paced_to: str | None = None
    sends: int = 0
    run: RunMessage | None = None
    run_messages: int = 0
    revision: int = 1

    @property
    def low_is_due(self) -> bool:
        """Whether the next message set is taken from the low lane if a request waits there."""
        return low_is_due(self.limits, self.sends)

    @property
    def sends_before_low(self) -> int:
        """The number of message sets of the normal lane until the low lane is due, but at least one."""
        return max(1, SENDS_OF_A_CYCLE - 1 - self.sends)

    def after_send_of(self, records: Sequence[QueuedRequest]) -> Session:
        """Return the session after these requests in flight, a message set, have left it.

        A set that was not sent does not count. Later pages and writes in recovery do not either: they come first,
        whatever is due.
        """
        first = records[0] if records and self.limits.has_low_lane else None
        if first is None or first.state is not State.SENT or first.paging.page > 1 or first.recovery.begun:
            return self
        return replace(self, sends=0 if first.is_low else (self.sends + 1) % SENDS_OF_A_CYCLE)

    def after_run_message(self) -> Session:
        """Return the session after a message of a run, which counts as a message set of the normal lane."""
        return replace(self, sends=(self.sends + 1) % SENDS_OF_A_CYCLE) if self.limits.has_low_lane else self

    @property
    def subscription_messages(self) -> int:
        """The number of messages for subscriptions that were sent to QuickBooks. One that is sent again counts once."""
        return self.run_messages + (self.run.number if self.run else 0)

    def without_run(self) -> Session:
        """Return the session without its run. It keeps the number of its messages."""
        return replace(self, run=None, run_messages=self.subscription_messages)

    @property
    def responses(self) -> int:
        """The number of requests in the calls that returned a response or an error."""
        return self.last_response.number if self.last_response else 0

    @property
    def answered(self) -> int:
        """The number of requests that ended with an answer of QuickBooks. Each page of a query is one."""
        return self.last_response.answered if self.last_response else 0

    @property
    def progress(self) -> int:
        """The last value that `receiveResponseXML` returned."""
        return self.last_response.progress if self.last_response else 0

    @property
    def has_read_to_send(self) -> bool:
        """Whether a run of subscriptions goes on, whose next message may have to wait for the quotas of the app."""
        goes_on = self.run is not None and not self.run.is_sent
        return goes_on and self.in_flight is None and self.last_error is None and not self.ended

    @property
    def has_page_to_send(self) -> bool:
        """Whether the next page of an open iterator is in flight and was not sent. The session must not end now."""
        return self.in_flight is not None and self.in_flight.is_next_page and not self.ended

    @property
    def ids_in_flight(self) -> tuple[str, ...]:
        """The ids of the requests in flight, and of those that are claimed behind them."""
        return (*self.in_flight.request_ids, *self.in_flight.behind) if self.in_flight else ()

    def has_in_flight(self, record: QueuedRequest) -> bool:
        """Whether a stored record is in flight in this session.

        A record that the session names can be missing or different only after a table was changed from outside the
        service: a request was removed, or a table was restored alone.
        """
        return record.state in IN_FLIGHT and record.claim.session_id == self.id

    @property
    def expires_at(self) -> int:
        """The time at which the stored session is removed if it has ended, in Unix seconds."""
        return int(datetime.fromisoformat(self.last_call_at).timestamp()) + KEPT_SECONDS

    def called(self, now: datetime) -> Session:
        """Return the session after a call that changed it."""
        return replace(self, last_call_at=timestamp(now), revision=self.revision + 1)

    def revoked(self) -> Session:
        """Return the session after the password was changed."""
        return replace(self, is_revoked=True, revision=self.revision + 1)

    def without_behind(self) -> Session:
        """Return the session without the requests that are claimed behind those in flight."""
        return replace(self, in_flight=self.in_flight and replace(self.in_flight, behind=()))

    def without_request(self) -> Session:
        """Return the session after its request, which was not sent, ended."""
        return replace(self, in_flight=None, revision=self.revision + 1)

    def with_low_lane(self) -> Session:
        """Return the session after a request of the low lane was first queued."""
        return replace(self, limits=replace(self.limits, has_low_lane=True), revision=self.revision + 1)

    def with_pause(self, *, paused: bool) -> Session:
        """Return the session after its connection was paused or resumed."""
        return replace(self, limits=replace(self.limits, paused=paused), revision=self.revision + 1)
