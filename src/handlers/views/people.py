"""The views of members and invitations."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

from typing_extensions import TypedDict

from domain.records.permissions import Role
from domain.timestamps import timestamp
from handlers.views.schema import Moment, Schema, Uuid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.people.members import Member
    from domain.records.person import Invitation


class MemberView(TypedDict):
    """A member of the app."""

    id: Uuid
    name: Annotated[str | None, Schema("The name that the identity provider gave at the last sign-in")]
    email: Annotated[str | None, Schema("The email address that it gave then")]
    role: Role
    joined_at: Moment
    last_signed_in_at: Moment


class InvitationView(TypedDict):
    """An invitation that can still be redeemed: by a person who signs in with this email address, once."""

    id: Uuid
    email: str
    role: Role
    invited_at: Moment
    invited_by: Annotated[Uuid | None, Schema("The id of the person who invited. Null for the operator")]
    expires_at: Moment


class PeopleView(TypedDict):
    """The members of the app and its open invitations."""

    data: list[MemberView]
    invitations: list[InvitationView]


def member_view(member: Member) -> MemberView:
    """Return the view of a member."""
    return {
        "id": member.person.id,
        "name": member.person.name,
        "email": member.person.email,
        "role": member.membership.role,
        "joined_at": member.membership.joined_at,
        "last_signed_in_at": member.person.signed_in_at,
    }


def invitation_view(invitation: Invitation) -> InvitationView:
    """Return the view of an invitation."""
    return {
        "id": invitation.id,
        "email": invitation.email,
        "role": invitation.role,
        "invited_at": invitation.inserted_at,
        "invited_by": invitation.invited_by,
        "expires_at": timestamp(datetime.fromtimestamp(invitation.expires_at, UTC)),
    }


def people_view(members: Sequence[Member], invitations: Sequence[Invitation]) -> PeopleView:
    """Return the view of the members and invitations of an app."""
    return {"data": list(map(member_view, members)), "invitations": list(map(invitation_view, invitations))}
