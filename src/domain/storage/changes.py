"""What can be stored, as values: a commit is a list of these, all done or none.

Every change is conditional. One that was made `before` → `after` holds only while the stored
entity has `before.revision`; an `Add…` only while there is none. The counts of a connection
follow from the changes of its records (`domain.counts`); nobody writes them by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from domain.apps.record import ApiKey, App
    from domain.connections.record import Connection
    from domain.requests.record import QueuedRequest
    from domain.web_connector.session.record import Session


@dataclass(frozen=True, slots=True)
class AddRequest:
    """Store a new record, its request (XML text) and the text that a search looks in."""

    record: QueuedRequest
    request_xml: str
    search_text: str


@dataclass(frozen=True, slots=True)
class ChangeRequest:
    """Change a record; with `response_xml` store the response, with `search_text` replace that text.

    The store sets `response_size` and `response_parts` of what it writes: they describe its storage.
    """

    before: QueuedRequest
    after: QueuedRequest
    response_xml: str | None = None
    search_text: str | None = None


@dataclass(frozen=True, slots=True)
class RemoveRequest:
    """Delete a record and its bodies; a tombstone stays."""

    before: QueuedRequest
    deleted_at: str


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """Remove what an expired record left when the database removed it: its bodies; a tombstone stays.

    `before` is the record as it was last. Holds while its bodies are there, so that it is done once.
    """

    before: QueuedRequest
    deleted_at: str


@dataclass(frozen=True, slots=True)
class RequireConnection:
    """Hold only while the connection exists, belongs to the app and has this default webhook URL.

    The `Conflict` carries the stored connection (None when there is none or it is another app's).
    """

    connection_id: str
    app_id: str
    webhook_url: str | None


@dataclass(frozen=True, slots=True)
class AddConnection:
    """Store a new connection."""

    connection: Connection


@dataclass(frozen=True, slots=True)
class ChangeConnection:
    """Change a connection."""

    before: Connection
    after: Connection


@dataclass(frozen=True, slots=True)
class RemoveConnection:
    """Delete a connection: nobody can log in with it, and from now on neither it nor its lists are found.

    It stays, marked, until its records and counts have been removed (`domain.sweeping`).
    """

    before: Connection
    deleted_at: str

    @property
    def after(self) -> Connection:
        """The connection as it stays."""
        return self.before.changed(self.deleted_at, deleted_at=self.deleted_at, password_hash=None, session_id=None)


@dataclass(frozen=True, slots=True)
class AddSession:
    """Store a new session."""

    session: Session


@dataclass(frozen=True, slots=True)
class ChangeSession:
    """Change a session; one that has `ended` is no longer found by the sweeper."""

    before: Session
    after: Session


@dataclass(frozen=True, slots=True)
class IdempotencyClaim:
    """An idempotency key as it is stored: the hash of the first body and the record that it made."""

    body_hash: str
    record_id: str
    expires_at: int


@dataclass(frozen=True, slots=True)
class ClaimIdempotencyKey:
    """Bind an app's idempotency key to a record and the hash of its body for 24 hours.

    Holds when the key is free or expired (`now` and `expires_at` in Unix seconds).
    The `Conflict` carries the stored `IdempotencyClaim`.
    """

    app_id: str
    key: str
    body_hash: str
    record_id: str
    now: int
    expires_at: int


@dataclass(frozen=True, slots=True)
class PutApp:
    """Store an app; `before` is None for a new one."""

    before: App | None
    after: App


@dataclass(frozen=True, slots=True)
class PutApiKey:
    """Store an API key; `before` is None for a new one."""

    before: ApiKey | None
    after: ApiKey


Change: TypeAlias = (
    AddRequest
    | ChangeRequest
    | RemoveRequest
    | ForgetRequest
    | RequireConnection
    | AddConnection
    | ChangeConnection
    | RemoveConnection
    | AddSession
    | ChangeSession
    | ClaimIdempotencyKey
    | PutApp
    | PutApiKey
)
