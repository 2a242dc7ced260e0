"""The view of the audit log."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, TypeAlias

from typing_extensions import TypedDict

from domain.records.audit import Action, ActorType
from handlers.views.schema import Moment, Schema, Uuid

if TYPE_CHECKING:
    from domain.records.audit import Actor, AuditEntry


Names: TypeAlias = Mapping[str, str | None]
"""The names of people by their ids. A person who was deleted, or whose name is not known, has none."""

NO_NAMES: Names = MappingProxyType({})


class ActorView(TypedDict):
    """Who did something."""

    type: ActorType
    id: Annotated[
        str | None,
        Schema(
            "The id of the API key, the person or the onboarding link. Null for the operator",
            examples=["key_3b1f0c9d5e7a2468"],
        ),
    ]
    name: Annotated[
        str | None,
        Schema(
            "The name that the API key had then, or that the person has now. Null without one, or after a deletion",
            examples=["Nightly sync"],
        ),
    ]


class AuditEntryView(TypedDict):
    """An action. Its only content are names: those of people, of API keys and of deleted connections."""

    id: str
    at: Moment
    action: Action
    actor: ActorView
    connection_id: Uuid | None
    request_id: Uuid | None
    credential_id: Annotated[
        str | None,
        Schema("The id of the API key, the onboarding link or the invitation that was created, renamed or revoked"),
    ]
    settings: Annotated[list[str], Schema("The names of the settings or limits that were changed")]
    name: Annotated[
        str | None,
        Schema("The name of the connection that was deleted, or of the API key that was created, renamed or revoked"),
    ]
    person_id: Annotated[Uuid | None, Schema("The member who joined, was changed or was removed")]
    role: Annotated[str | None, Schema("The role of the member, or of the invitation")]
    completed_at: Annotated[
        Moment | None,
        Schema("When it was done. Null if a call on many requests ended early, and may have changed some of them"),
    ]
    counts: Annotated[
        dict[str, int] | None, Schema("The numbers that a call on many requests returned. Null for other actions")
    ]


class AuditLogView(TypedDict):
    """A part of the audit log, newest first."""

    data: list[AuditEntryView]
    next: Annotated[str | None, Schema("The `cursor` of the call that continues, or null at the end")]


def actor_view(actor: Actor, names: Names = NO_NAMES) -> ActorView:
    """Return the view of an actor. `names` are those of people by their ids."""
    return {"type": actor.type, "id": actor.id, "name": actor.name or names.get(actor.id or "")}


def audit_entry_view(entry: AuditEntry, names: Names = NO_NAMES) -> AuditEntryView:
    """Return the view of an entry. `names` are those of people by their ids."""
    return {
        "id": entry.position,
        "at": entry.at,
        "action": entry.action,
        "actor": actor_view(entry.actor, names),
        "connection_id": entry.connection_id,
        "request_id": entry.request_id,
        "credential_id": entry.credential_id,
        "settings": list(entry.settings),
        "name": entry.name,
        "person_id": entry.person_id,
        "role": entry.role,
        "completed_at": entry.completed_at,
        "counts": entry.counts,
    }
