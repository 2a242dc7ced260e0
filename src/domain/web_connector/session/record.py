"""The record of a Web Connector session, from `authenticate` to `closeConnection`.

The session ticket is a bearer credential. Only its SHA-256 is stored: it is the session's id.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from domain.requests.record import timestamp

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.connections.record import Connection
    from domain.requests.record import QueuedRequest

SILENCE_SECONDS = 30 * 60
"""A session without a call for this long is released. QuickBooks may need many minutes for one request, so a shorter
time would take work away from a live session."""

MAX_LINGER_SECONDS = 25 * 60
"""How long a session may linger. Lingering writes nothing, so it must end well before the session counts as silent."""

KEPT_SECONDS = 24 * 60 * 60
"""How long an ended session is kept to reply to late calls; then DynamoDB's TTL removes it."""


def session_id(ticket: str) -> str:
    """Return the id of the session with this ticket: the SHA-256 of the ticket, hexadecimal."""
    return hashlib.sha256(ticket.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class InFlight:
    """The request that a session has claimed or sent. No other caller changes a record in these states.

    `search_text` is the text by which the request is found, without its response; keeping it here saves a read.
    `parse_error` is a message that QuickBooks reported for a write, but that may belong to an earlier request:
    QuickBooks is asked for the stored response before the message is believed.
    """

    record: QueuedRequest
    search_text: str = ""
    parse_error: str | None = None


@dataclass(frozen=True, slots=True)
class LastResponse:
    """The response that a session stored last: identifies a duplicate delivery of it.

    `iterator_remaining` is the number of objects that remain in the iterator; it falls with each page. `progress` is
    the value that `receiveResponseXML` returned, `number` counts the responses of the session.
    """

    request_name: str
    request_label: str
    iterator_id: str | None = None
    iterator_remaining: int | None = None
    progress: int = 0
    number: int = 1


@dataclass(frozen=True, slots=True)
class OpenCompanyFile:
    """The company file that QuickBooks has open.

    `mark` is its FileID mark (no braces, upper case). `is_fallback`: the connection's path could not be opened, so
    that the Web Connector used the file that was open.
    """

    mark: str | None = None
    is_fallback: bool = False


@dataclass(frozen=True, slots=True)
class Limits:
    """What stops a session: a pause, the end of the sync window (a timestamp), the end of lingering."""

    paused: bool = False
    work_until: str | None = None
    linger_seconds: int = 0


@dataclass(frozen=True, slots=True)
class Session:
    """One Web Connector session.

    `connection` is the connection as `authenticate` stored it, until the company file check in the first
    `sendRequestXML`: keeping it here saves a read. `exception_reported` tells whether QuickBooks has reported a
    processor exception in this session. `connection_error` becomes the connection's `last_error` when the session
    ends here. `message_set_to_forget` is the ID of a message set whose response is stored in this service, so that
    QuickBooks can delete its copy. `last_error` is what `getLastError` returns. `is_revoked`: the password was changed,
    so that the ticket is no longer valid; the next login or the sweep releases the request in flight.
    """

    id: str
    connection_id: str
    last_call_at: str
    in_flight: InFlight | None = None
    last_response: LastResponse | None = None
    connection: Connection | None = None
    company_file: OpenCompanyFile = OpenCompanyFile()
    limits: Limits = Limits()
    exception_reported: bool = False
    message_set_to_forget: str | None = None
    last_error: str | None = None
    connection_error: Mapping[str, Any] | None = None
    is_revoked: bool = False
    ended: bool = False
    revision: int = 1

    @property
    def responses(self) -> int:
        """The number of responses stored."""
        return self.last_response.number if self.last_response else 0

    @property
    def progress(self) -> int:
        """The last value that `receiveResponseXML` returned."""
        return self.last_response.progress if self.last_response else 0

    @property
    def expires_at(self) -> int:
        """When the stored session is removed, in Unix seconds."""
        return int(datetime.fromisoformat(self.last_call_at).timestamp()) + KEPT_SECONDS

    def called(self, now: datetime, **fields: Any) -> Session:
        """Return the session after a call that changed `fields`."""
        return replace(self, **fields, last_call_at=timestamp(now), revision=self.revision + 1)

    def revoked(self) -> Session:
        """Return the session after the password was changed."""
        return replace(self, is_revoked=True, revision=self.revision + 1)

    def with_pause(self, *, paused: bool) -> Session:
        """Return the session after its connection was paused or resumed."""
        return replace(self, limits=replace(self.limits, paused=paused), revision=self.revision + 1)
