"""The members of an app: invitations, roles and removal. An admin of the app, or the operator, changes them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from domain.errors import Conflict, Forbidden, InvalidRequest, InvalidState, NotFound
from domain.records.audit import OPERATOR, Action, Actor, ActorType, Subject, audit_entry
from domain.records.ownership import not_found
from domain.records.permissions import Role
from domain.records.person import INVITED, Invitation, Membership, Person, PersonIdentity, address_of, is_address
from domain.storage.changes import Put, RemovePersonal, RequireMember
from domain.storage.retry import commit_with_retry
from domain.timestamps import timestamp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.ports import Clock, IdSource
    from domain.records.audit import AuditEntry
    from domain.records.person import SignIn
    from domain.storage.ports import PeopleStore

MAX_MEMBERS = 200
"""The members and the invitations of an app, together. They are read and shown at once."""

_CONTENDED = "The members of the app are being changed. Try again in a moment."


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an app: the membership and the person."""

    membership: Membership
    person: Person


class Members:
    """The use cases of the members of an app. Those that take an id can raise NotFound."""

    def __init__(self, store: PeopleStore, clock: Clock, new_id: IdSource) -> None:
        self._store = store
        self._clock = clock
        self._new_id = new_id

    def members(self, app_id: str) -> tuple[Sequence[Member], Sequence[Invitation]]:
        """Return the members of an app by name, and the invitations that can still be redeemed, oldest first."""
        memberships, invitations = self._store.members_of(app_id)
        people = {person.id: person for person in self._store.people([one.person_id for one in memberships])}
        members = [Member(one, people[one.person_id]) for one in memberships if one.person_id in people]
        now = self._clock().timestamp()
        return (
            sorted(members, key=lambda member: (member.person.name or "", member.person.email or "")),
            sorted((one for one in invitations if one.expires_at > now), key=lambda one: one.inserted_at),
        )

    def invite(self, app_id: str, email: str, role: Role, actor: Actor = OPERATOR) -> tuple[Invitation, bool]:
        """Invite an email address, and return the invitation and whether it replaces an earlier one.

        Raises InvalidRequest for what is not an email address, and InvalidState if the app has too many members.
        """
        if not is_address(email):
            raise InvalidRequest.of("email", "must be an email address in ASCII")
        now = self._clock()

        def attempt(_: Conflict | None) -> tuple[Invitation, bool]:
            memberships, invitations = self._store.members_of(app_id)
            before = next((one for one in self._store.invitations_to(address_of(email)) if one.app_id == app_id), None)
            if not before and len(memberships) + len(invitations) >= MAX_MEMBERS:
                raise InvalidState(
                    f"The app has {MAX_MEMBERS} members and invitations, and cannot have more. Remove some of them."
                )
            after = Invitation(
                before.id if before else self._new_id(),
                app_id,
                email,
                role,
                timestamp(now),
                int((now + INVITED).timestamp()),
                actor.id if actor.type is ActorType.PERSON else None,
                before.revision + 1 if before else 1,
            )
            subject = Subject(app_id, after.id, after.revision)
            entry = audit_entry(
                Action.MEMBER_INVITED, actor, subject, timestamp(now), credential_id=after.id, role=role
            )
            self._store.commit(Put(before, after), Put(None, entry))
            return after, before is not None

        return commit_with_retry(attempt, _CONTENDED)

    def withdraw(self, app_id: str, invitation_id: str, actor: Actor) -> None:
        """Withdraw an invitation."""

        def attempt(_: Conflict | None) -> None:
            invitations = self._store.members_of(app_id)[1]
            listed = next((one for one in invitations if one.id == invitation_id), None)
            stored = self._store.invitations_to(listed.address) if listed else []
            invitation = next((one for one in stored if one.id == invitation_id), None)
            if not invitation:
                raise not_found("invitation")
            subject = Subject(app_id, invitation.id, invitation.revision + 1)
            entry = audit_entry(Action.INVITATION_WITHDRAWN, actor, subject, self._now(), credential_id=invitation.id)
            self._store.commit(RemovePersonal(invitation), Put(None, entry))

        commit_with_retry(attempt, _CONTENDED)

    def require_admin(self, app_id: str, actor: Actor) -> Membership:
        """Return the membership of an admin of an app. Raises Forbidden for anybody else.

        API Gateway may pass on the role that a person had before, for as long as it caches a credential. What changes
        the access of others must not rely on that.
        """
        found = self._store.membership(actor.id or "", app_id)
        if not found or found.role is not Role.ADMIN:
            raise Forbidden("You are not an admin of this app any more.")
        return found

    def change_role(self, app_id: str, person_id: str, role: Role, actor: Actor) -> Member:
        """Change the role of a member. Raises InvalidState if the app would have no admin."""

        def attempt(_: Conflict | None) -> Member:
            before = self._membership(app_id, person_id)
            if before.role is role:
                return self._member(before)
            keeping = self._keeping_an_admin(before, actor)
            after = replace(before, role=role, revision=before.revision + 1)
            self._store.commit(Put(before, after), self._entry(Action.MEMBER_CHANGED, after, actor), *keeping)
            return self._member(after)

        return commit_with_retry(attempt, _CONTENDED)

    def remove(self, app_id: str, person_id: str, actor: Actor = OPERATOR) -> None:
        """Remove a member from an app, with the invitations of the member's address to it.

        Raises InvalidState if the app would have no admin, unless the operator does it. Session tokens of the person
        end within the time for which API Gateway caches a credential.
        """

        def attempt(_: Conflict | None) -> None:
            before = self._membership(app_id, person_id)
            keeping = [] if actor is OPERATOR else self._keeping_an_admin(before, actor)
            gone = replace(before, revision=before.revision + 1)
            invitations = [RemovePersonal(one) for one in self._invitations_of(person_id) if one.app_id == app_id]
            entry = self._entry(Action.MEMBER_REMOVED, gone, actor)
            self._store.commit(RemovePersonal(before), entry, *invitations, *keeping)

        commit_with_retry(attempt, _CONTENDED)

    def forget(self, person_id: str) -> None:
        """Delete all that is stored of a person. Entries of the audit log keep the id, which then names nobody.

        The person goes before the sign-ins, so that no sign-in can be added meanwhile. An interrupted deletion can be
        repeated.
        """
        person = self._store.person(person_id)
        invitations = self._invitations_of(person_id)
        for membership in self._store.memberships_of(person_id):
            self.remove(membership.app_id, person_id)
        if person:
            self._remove_entity(PersonIdentity(person.identity, person_id))
            self._remove_entity(person)
        rest: list[Membership | SignIn | Invitation] = [
            *self._store.sign_ins_of(person_id),
            *self._store.memberships_of(person_id),
            *invitations,
        ]
        if not person and not rest:
            raise not_found("person")
        for entity in rest:
            self._remove_entity(entity)

    def _invitations_of(self, person_id: str) -> Sequence[Invitation]:
        """Return the invitations of the email address that a person had at the last sign-in."""
        person = self._store.person(person_id)
        return self._store.invitations_to(address_of(person.email)) if person and person.email else ()

    def _remove_entity(self, entity: Person | PersonIdentity | Membership | Invitation | SignIn) -> None:
        def attempt(conflict: Conflict | None) -> None:
            current = conflict.current if conflict else entity
            if isinstance(current, type(entity)):
                self._store.commit(RemovePersonal(current))

        commit_with_retry(attempt, _CONTENDED)

    def _membership(self, app_id: str, person_id: str) -> Membership:
        found = self._store.membership(person_id, app_id)
        if not found:
            raise not_found("member")
        return found

    def _member(self, membership: Membership) -> Member:
        person = self._store.person(membership.person_id)
        if not person:
            raise NotFound("The person was deleted.")
        return Member(membership, person)

    def _keeping_an_admin(self, membership: Membership, actor: Actor) -> list[RequireMember]:
        """Return the requirement that an admin of the app stays one while another one is changed.

        That is the actor. If the actor changes the own membership, it is another admin. Otherwise two admins who remove
        each other at once would leave none. Raises Forbidden unless the actor is an admin, and InvalidState if there is
        no other one.
        """
        acting = self.require_admin(membership.app_id, actor)
        if actor.id != membership.person_id:
            return [RequireMember(acting)]
        memberships, _ = self._store.members_of(membership.app_id)
        others = [one for one in memberships if one.role is Role.ADMIN and one.person_id != membership.person_id]
        if not others:
            raise InvalidState("This is the only admin of the app. Give another person the role admin first.")
        return [RequireMember(others[0])]

    def _entry(self, action: Action, membership: Membership, actor: Actor) -> Put[AuditEntry]:
        subject = Subject(membership.app_id, membership.person_id, membership.revision)
        entry = audit_entry(action, actor, subject, self._now(), person_id=membership.person_id, role=membership.role)
        return Put(None, entry)

    def _now(self) -> str:
        return timestamp(self._clock())
