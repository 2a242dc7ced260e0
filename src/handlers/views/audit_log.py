"""The view of the audit log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typing_extensions import TypedDict

from domain.records.audit import Action, ActorType
from handlers.views.schema import Moment, Schema, Uuid

if TYPE_CHECKING:
    from domain.records.audit import AuditEntry


class ActorView(TypedDict):
    """Who did it."""

    type: ActorType
    id: Annotated[
        str | None,
        Schema(
            "The id of the API key or of the onboarding link. Null for the operator", examples=["key_3b1f0c9d5e7a2468"]
        ),
    ]


class AuditEntryView(TypedDict):
    """An action. It names things by their ids and has none of their content."""

    id: str
    at: Moment
    action: Action
    actor: ActorView
    connection_id: Uuid | None
    request_id: Uuid | None
    credential_id: Annotated[
        str | None, Schema("The id of the API key or the onboarding link that was created or revoked")
    ]
    settings: Annotated[list[str], Schema("The names of the settings or limits that were changed")]
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


def audit_entry_view(entry: AuditEntry) -> AuditEntryView:
    """Return the view of an entry."""
    return {
        "id": entry.position,
        "at": entry.at,
        "action": entry.action,
        "actor": {"type": entry.actor.type, "id": entry.actor.id},
        "connection_id": entry.connection_id,
        "request_id": entry.request_id,
        "credential_id": entry.credential_id,
        "settings": list(entry.settings),
        "completed_at": entry.completed_at,
        "counts": entry.counts,
    }
