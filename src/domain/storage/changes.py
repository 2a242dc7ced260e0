"""All possible changes of stored data, as values. A commit applies a list of changes, either all or none.

Every change has a condition. A change from `before` to `after` requires that the stored entity has the revision of
`before`. Adding an entity requires that it does not exist. The counts of a connection follow from the changes of its
records (`domain.storage.counts`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Self, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.qbxml import Reference
    from domain.records.app import ApiKey, App
    from domain.records.audit import Actor, AuditEntry
    from domain.records.connection import Connection
    from domain.records.event import EventGroup
    from domain.records.lookup import FieldChange
    from domain.records.person import Invitation, Membership, Person, PersonIdentity, SignIn
    from domain.records.request import QueuedRequest
    from domain.records.session import Session
    from domain.records.subscription import BooksCopy, ChangePage, ObjectCopy, RememberedPart, Subscription

Entity = TypeVar(
    "Entity",
    "App",
    "ApiKey",
    "AuditEntry",
    "Connection",
    "Session",
    "Person",
    "PersonIdentity",
    "Membership",
    "SignIn",
    "Invitation",
    "Subscription",
    "ObjectCopy",
    "RememberedPart",
    "BooksCopy",
    "ChangePage",
)


@dataclass(frozen=True, slots=True)
class AddRequest:
    """Store a new record with its request XML, its search text, its metadata and its references.

    The request XML has marks in place of the references (`domain.qbxml.references`). `replaces` is the id of the
    request in whose place it is queued, or None. `queued_by` is None if the service queues it.
    """

    record: QueuedRequest
    request_xml: str
    search_text: str
    metadata: Mapping[str, str] = field(default_factory=dict)
    references: tuple[Reference, ...] = ()
    replaces: str | None = None
    queued_by: Actor | None = None


@dataclass(frozen=True, slots=True)
class ChangeRequest:
    """Change a record. `response_xml` stores a response unless it is empty, and `search_text` replaces the search text.

    `references` replaces the references, after values for them have arrived. `modification_xml` replaces the Mod that
    is sent in place of the request, and then `field_changes` the fields that it changes.

    The store sets `response_size`, `response_attempt` and `response_chunks` of the record, which describe the stored
    response.
    """

    before: QueuedRequest
    after: QueuedRequest
    response_xml: str | None = None
    search_text: str | None = None
    references: tuple[Reference, ...] | None = None
    modification_xml: str | None = None
    field_changes: tuple[FieldChange, ...] = ()


@dataclass(frozen=True, slots=True)
class RemoveRequest:
    """Replace a record and its bodies with a tombstone."""

    before: QueuedRequest
    deleted_at: str


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """Remove the bodies of a record that the database has removed because it expired, and store a tombstone.

    `before` is the last state of the record. The change requires that the bodies exist, so it is applied once.
    """

    before: QueuedRequest
    deleted_at: str


@dataclass(frozen=True, slots=True)
class RequireConnection:
    """Require that the connection exists, belongs to the app and has these settings, on which its requests depend.

    The Conflict contains the stored connection, or None if it does not exist or belongs to another app.
    """

    connection_id: str
    app_id: str
    webhook_url: str | None
    approval: str | None = None

    @classmethod
    def of(cls, connection: Connection) -> Self:
        """Return the requirement that the stored connection is like this one."""
        return cls(connection.id, connection.app_id, connection.webhook_url, connection.approval)


@dataclass(frozen=True, slots=True)
class IdempotencyClaim:
    """A stored idempotency key: the hash of the first body, the record it created and the expiry in Unix seconds.

    If the call queued a batch, `record_id` is its first record, and `batch_size` the number of its records.
    """

    body_hash: str
    record_id: str
    expires_at: int
    batch_size: int = 0


@dataclass(frozen=True, slots=True)
class ClaimIdempotencyKey:
    """Store the claim of an app's idempotency key. The key must be free or have expired at `now` (Unix seconds).

    A claim whose first record is `released` is replaced too.

    The Conflict contains the stored `IdempotencyClaim`.
    """

    app_id: str
    key: str
    claim: IdempotencyClaim
    now: int
    released: str | None = None


@dataclass(frozen=True, slots=True)
class CountBeginning:
    """Count a session among those of its shard that begin in the same period.

    Fewer than `limit` must have begun, and fewer than `limit_of_app` of its app. `period` and `expires_at` are in Unix
    seconds. The Conflict contains nothing. A session whose commit then fails for
    another reason may stay counted (docs/decisions/0069).
    """

    shard: int
    period: int
    limit: int
    app_id: str
    limit_of_app: int
    expires_at: int


@dataclass(frozen=True, slots=True)
class AppendEvents:
    """Append a group to the log of an app. Its position must be free. The Conflict contains nothing."""

    group: EventGroup


@dataclass(frozen=True, slots=True)
class BeginLog:
    """Append the first group of the log of an app. No other log of the app may have begun since `former` was read.

    `former` is what `log_beginning` returned. The position of the group is higher. The Conflict contains nothing.
    """

    group: EventGroup
    former: int | None


@dataclass(frozen=True, slots=True)
class RemoveApp:
    """Remove an app. Its API keys and its log of events are removed afterwards (`Database.remove_app`)."""

    before: App


@dataclass(frozen=True, slots=True)
class RequireMember:
    """Require that a membership is as it was read. The Conflict contains the stored one, or None."""

    before: Membership


@dataclass(frozen=True, slots=True)
class RemovePersonal:
    """Remove what is stored of a person, or an invitation."""

    before: Person | PersonIdentity | Membership | SignIn | Invitation


@dataclass(frozen=True, slots=True)
class RemoveCopy:
    """Remove a subscription, or what was read of an object that no subscription wants any more."""

    before: Subscription | ObjectCopy | RememberedPart


@dataclass(frozen=True, slots=True)
class Put(Generic[Entity]):
    """Store an entity that is not a request. `before` is None for a new one.

    After a deleted connection is stored, logins fail, and the connection and its lists are not found. The sweep removes
    it after its records and counts (`domain.maintenance.sweep`).
    """

    before: Entity | None
    after: Entity


Change: TypeAlias = (
    AddRequest
    | ChangeRequest
    | RemoveRequest
    | ForgetRequest
    | RequireConnection
    | ClaimIdempotencyKey
    | CountBeginning
    | AppendEvents
    | BeginLog
    | RemoveApp
    | RemovePersonal
    | RequireMember
    | RemoveCopy
    | Put["App"]
    | Put["ApiKey"]
    | Put["AuditEntry"]
    | Put["Connection"]
    | Put["Session"]
    | Put["Person"]
    | Put["PersonIdentity"]
    | Put["Membership"]
    | Put["SignIn"]
    | Put["Invitation"]
    | Put["Subscription"]
    | Put["ObjectCopy"]
    | Put["RememberedPart"]
    | Put["BooksCopy"]
    | Put["ChangePage"]
)
