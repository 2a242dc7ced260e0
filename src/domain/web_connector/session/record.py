"""A Web Connector session: from `authenticate` to `closeConnection`, known by its ticket.

The ticket is a bearer credential, so only its SHA-256 is stored.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from domain.connections.record import Connection
    from domain.requests.record import QueuedRequest

SILENCE_SECONDS = 30 * 60
"""A session without a call for this long is released: QuickBooks may need many minutes for one request
(`web_connector_protocol.md` §4), so that less would take work away from a live session."""

MAX_LINGER_SECONDS = 25 * 60
"""How long a session may wait for more. Waiting writes nothing, so that it must end well before the session counts
as silent."""

KEPT_SECONDS = 24 * 60 * 60
"""How long an ended session is kept, to answer late calls; then DynamoDB's TTL removes it."""


def ticket_hash(ticket: str) -> str:
    """Return the stored form of a ticket: SHA-256, hexadecimal."""
    return hashlib.sha256(ticket.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Answered:
    """Whose answer was stored last: a response names no more of its request than this.

    Of an iterated query it also names the iterator and how many objects remain in it, which gets less with each page.
    """

    request_name: str
    request_label: str
    iterator_id: str | None = None
    remaining: int | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """One Web Connector session.

    `in_flight` is the record this session holds, as it is stored: `ticketed` until it is handed
    out, then `sent`; nobody else changes a record in these states. `last_answered` tells the
    response that was stored last: when it comes again it is acknowledged. `answered` counts the
    responses stored. `facts_read` tells whether the first `sendRequestXML` was seen.
    `last_call_at` is a timestamp, `expires_at` in Unix seconds.

    `paused` tells that the connection was paused meanwhile, `work_until` (a timestamp; None: no end)
    when its sync window closes: nothing new is handed out then. `linger_seconds` is how long this
    session waits for more after its last answer.

    `company_file_mark` is the FileID that the open company file bears (no braces, upper case), None
    when it bears none or the first `sendRequestXML` was not seen. `tried_open_file` tells that the
    connection's path could not be opened, and the Web Connector tried the file that was open.
    `reported` is the `last_error` that the connection gets should the session end here: QuickBooks left
    the last request undone. `met_exception` tells that QuickBooks reported one in this session.
    `suspicion` is a parse error told of the write in flight that may be a former one's, delivered twice.
    `answered_message_set` is the id of a message set whose answer is stored here: QuickBooks may
    forget it.

    Two members spare a call a read. `connection` is the connection as `authenticate` stored it,
    until the first `sendRequestXML` writes its facts onto it. `search_text` is what the request in
    flight is found by, known since it was handed out: what its response adds is appended to it.
    """

    ticket: str
    connection_id: str
    app_id: str
    opened_at: str
    last_call_at: str
    expires_at: int
    in_flight: QueuedRequest | None = None
    last_answered: Answered | None = None
    last_progress: int = 0
    answered: int = 0
    facts_read: bool = False
    company_file_mark: str | None = None
    tried_open_file: bool = False
    met_exception: bool = False
    suspicion: str | None = None
    answered_message_set: str | None = None
    last_error: str | None = None
    reported: dict[str, Any] | None = None
    connection: Connection | None = None
    search_text: str = ""
    paused: bool = False
    work_until: str | None = None
    linger_seconds: int = 0
    ended: bool = False
    revision: int = 1

    def changed(self, now: str, **fields: Any) -> Session:
        """Return the session with `fields` changed; the call that did it was at `now` (a timestamp)."""
        return replace(self, **fields, last_call_at=now, revision=self.revision + 1)
