"""Sign-ins: from the claims of the identity provider to session tokens, and their end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from domain.errors import Conflict, Forbidden, Unauthorized
from domain.people.tokens import SECRET_BYTES, TOKEN_SECONDS, Cookie, SessionToken, secret_hash
from domain.records.audit import Action, Actor, ActorType, Subject, audit_entry
from domain.records.permissions import Role
from domain.records.person import (
    IDLE,
    LASTS,
    Membership,
    Person,
    PersonIdentity,
    SignIn,
    address_of,
    identity_of,
    is_address,
)
from domain.storage.changes import Put, RemovePersonal
from domain.storage.retry import commit_with_retry
from domain.timestamps import timestamp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.people.provider import IdentityClaims
    from domain.ports import Clock, IdSource, SecretSource
    from domain.records.app import App
    from domain.records.person import Invitation, SignedIn
    from domain.storage.changes import Change
    from domain.storage.ports import PeopleStore

MAX_SIGN_INS = 20
"""The number of browsers with which a person is signed in at once. Another one ends the oldest."""

MAX_REDEEMED = 20
"""The number of invitations that one sign-in redeems. Each needs two entries of a commit and one of the audit log."""

USE_NOTED = timedelta(minutes=15)
"""The use of a sign-in is noted at most this often, with one write."""

_CONTENDED = "The sign-in is being changed. Try again in a moment."
_SIGN_IN_AGAIN = "You are not signed in, or your sign-in has ended. Sign in again."


class NotInvited(Exception):
    """The person belongs to no app, and no invitation can be redeemed. `is_unverified` tells why one cannot be."""

    def __init__(self, *, is_unverified: bool) -> None:
        super().__init__()
        self.is_unverified = is_unverified


@dataclass(frozen=True, slots=True)
class OpenSession:
    """What a browser gets for its cookie: the person, the memberships with their apps, and a token for one of them."""

    person: Person
    memberships: Sequence[tuple[Membership, App]]
    chosen: tuple[Membership, App] | None
    token: str | None


class SignIns:
    """The sign-ins of people."""

    def __init__(self, store: PeopleStore, clock: Clock, new_id: IdSource, secrets: SecretSource) -> None:
        self._store = store
        self._clock = clock
        self._new_id = new_id
        self._secrets = secrets

    def sign_in(self, claims: IdentityClaims) -> Cookie:
        """Sign a person in and return the cookie. Redeems the invitations of a verified email address.

        Raises NotInvited if the person belongs to no app.
        """
        identity = identity_of(claims.issuer, claims.subject)
        secret = self._secrets(SECRET_BYTES).hex()

        def attempt(_: Conflict | None) -> tuple[SignIn, Sequence[SignIn]]:
            person_id = self._store.person_of(identity)
            before = self._store.person(person_id) if person_id else None
            person, changes = self._person(before, identity, claims)
            memberships = self._store.memberships_of(person.id) if before else []
            joined = self._joined(person, claims, memberships)
            if not joined and not memberships:
                has_invitation = bool(self._invitations(claims.email)) and not claims.email_verified
                raise NotInvited(is_unverified=has_invitation)
            former = sorted(self._store.sign_ins_of(person.id) if before else [], key=lambda one: one.inserted_at)
            # Another browser begins in the app that was used last.
            newest = max(former, key=lambda one: one.used_at, default=None)
            sign_in = self._new_sign_in(person, secret, newest.app_id if newest else None)
            self._store.commit(*changes, *joined, Put(None, sign_in))
            return sign_in, former

        made, former = commit_with_retry(attempt, _CONTENDED)
        for oldest in former[: max(0, len(former) + 1 - MAX_SIGN_INS)]:
            self._remove(oldest)
        return Cookie(made.person_id, made.id, secret)

    def open(self, cookie: Cookie | None, app_id: str | None = None) -> OpenSession:
        """Return the session of a browser with a token for an app, by default the one that was used last.

        Raises Unauthorized, and Forbidden if the person does not belong to the app.
        """
        found = self._found(cookie)
        memberships = self._memberships(found.person.id)
        wanted = app_id or found.sign_in.app_id
        chosen = next((one for one in memberships if one[1].id == wanted), None)
        if app_id and not chosen:
            raise Forbidden("You do not belong to this app. Ask an admin of the app to invite you.")
        chosen = chosen or next(iter(memberships), None)
        if not chosen:
            return OpenSession(found.person, [], None, None)
        self._note_use(found.sign_in, chosen[1].id)
        expires = min(int(self._clock().timestamp()) + TOKEN_SECONDS, found.sign_in.expires_at)
        token = SessionToken.made(found.sign_in, chosen[1].id, expires)
        return OpenSession(found.person, memberships, chosen, token.text)

    def end(self, cookie: Cookie | None, *, everywhere: bool) -> None:
        """End the sign-in of a browser, or all of the person's. Its tokens end with it. Raises Unauthorized."""
        found = self._found(cookie)
        ended = self._store.sign_ins_of(found.person.id) if everywhere else [found.sign_in]
        for sign_in in ended:
            self._remove(sign_in)

    def signed_in(self, token: SessionToken) -> SignedIn | None:
        """Return the person, the membership and the app of a session token, or None if it has ended or is forged."""
        if token.expires <= self._clock().timestamp():
            return None
        found = self._store.signed_in(token.person_id, token.sign_in_id, token.app_id)
        if not found or not token.is_of(found.sign_in) or not self._lasts(found.sign_in):
            return None
        return found if found.membership and found.app else None

    def _found(self, cookie: Cookie | None) -> SignedIn:
        found = self._store.signed_in(cookie.person_id, cookie.sign_in_id, None) if cookie else None
        if not cookie or not found or not cookie.is_of(found.sign_in) or not self._lasts(found.sign_in):
            raise Unauthorized(_SIGN_IN_AGAIN)
        return found

    def _lasts(self, sign_in: SignIn) -> bool:
        """Whether a sign-in has not ended. DynamoDB removes it days after that."""
        now = self._clock()
        return now.timestamp() < sign_in.expires_at and now < datetime.fromisoformat(sign_in.used_at) + IDLE + USE_NOTED

    def _person(self, before: Person | None, identity: str, claims: IdentityClaims) -> tuple[Person, list[Change]]:
        """Return the person with what the provider says, and the changes that store it."""
        now = timestamp(self._clock())
        if before:
            after = replace(
                before, signed_in_at=now, name=claims.name, email=claims.email, revision=before.revision + 1
            )
            return after, [Put(before, after)]
        person = Person(self._new_id(), identity, now, now, claims.name, claims.email)
        return person, [Put(None, person), Put(None, PersonIdentity(identity, person.id))]

    def _joined(self, person: Person, claims: IdentityClaims, memberships: Sequence[Membership]) -> list[Change]:
        """Return the changes that redeem the invitations of the person."""
        if not claims.email_verified:
            return []
        roles = {membership.app_id: membership for membership in memberships}
        now = timestamp(self._clock())
        changes: list[Change] = []
        for invitation in self._invitations(claims.email)[:MAX_REDEEMED]:
            before = roles.get(invitation.app_id)
            if before and before.role is Role.ADMIN:  # it may be the only one
                changes.append(RemovePersonal(invitation))
                continue
            revision = before.revision + 1 if before else 1
            after = Membership(person.id, invitation.app_id, invitation.role, now, revision)
            actor = Actor(ActorType.PERSON, person.id)
            subject = Subject(invitation.app_id, invitation.id, invitation.revision + 1)
            entry = audit_entry(Action.MEMBER_JOINED, actor, subject, now, person_id=person.id, role=invitation.role)
            changes += [RemovePersonal(invitation), Put(before, after), Put(None, entry)]
        return changes

    def _invitations(self, email: str | None) -> list[Invitation]:
        """Return the invitations of an email address that can still be redeemed."""
        now = self._clock().timestamp()
        found = self._store.invitations_to(address_of(email)) if email and is_address(email) else []
        return [invitation for invitation in found if invitation.expires_at > now]

    def _new_sign_in(self, person: Person, secret: str, app_id: str | None) -> SignIn:
        now = self._clock()
        return SignIn(
            person.id,
            self._new_id(),
            secret_hash(secret),
            self._secrets(SECRET_BYTES).hex(),
            timestamp(now),
            timestamp(now),
            int((now + LASTS).timestamp()),
            app_id,
        )

    def _memberships(self, person_id: str) -> list[tuple[Membership, App]]:
        """Return the memberships of a person whose app exists, the oldest first.

        A later invitation of somebody else must not change where a person lands.
        """
        memberships = self._store.memberships_of(person_id)
        apps = {app.id: app for app in self._store.apps_by_id([one.app_id for one in memberships])}
        pairs = [(one, apps[one.app_id]) for one in memberships if one.app_id in apps]
        return sorted(pairs, key=lambda pair: (pair[0].joined_at, pair[1].id))

    def _note_use(self, before: SignIn, app_id: str) -> None:
        """Note that a sign-in is used. If another call notes it at the same time, one of them is enough."""
        now = self._clock()
        if before.app_id == app_id and now < datetime.fromisoformat(before.used_at) + USE_NOTED:
            return
        try:
            after = replace(before, used_at=timestamp(now), app_id=app_id, revision=before.revision + 1)
            self._store.commit(Put(before, after))
        except Conflict:
            return

    def _remove(self, sign_in: SignIn) -> None:
        """Remove a sign-in, also if another call changes it at the same time."""
        person_id, sign_in_id = sign_in.person_id, sign_in.id

        def attempt(conflict: Conflict | None) -> None:
            current = conflict.current if conflict else sign_in
            if isinstance(current, SignIn) and (current.person_id, current.id) == (person_id, sign_in_id):
                self._store.commit(RemovePersonal(current))

        commit_with_retry(attempt, _CONTENDED)
