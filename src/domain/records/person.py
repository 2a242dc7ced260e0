"""People who sign in: who they are, the apps that they belong to, their sessions and invitations.

A person is identified by the issuer and the subject of the identity provider. An email address is only shown, and only
redeems an invitation: it may be given to another person later. The rules are in docs/security.md, People.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import timedelta

from domain.records.app import App
from domain.records.permissions import Role

IDLE = timedelta(hours=12)
"""How long a sign-in lasts without use."""

LASTS = timedelta(days=7)
"""How long a sign-in lasts in all."""

INVITED = timedelta(days=14)
"""How long an invitation can be redeemed."""

EMAIL = re.compile(r"[^\s@<>,;?&%]{1,64}@[^\s@<>,;?&%]{1,186}\.[^\s@<>,;?&%.]{2,63}")
"""The form of an email address."""


@dataclass(frozen=True, slots=True)
class Person:
    """A person. `identity` is the `identity_of` the person. Names and email addresses are stored nowhere else.

    `name` and `email` are those that the provider gave at the last sign-in, at `signed_in_at`.
    """

    id: str
    identity: str
    inserted_at: str
    signed_in_at: str
    name: str | None = None
    email: str | None = None
    revision: int = 1


@dataclass(frozen=True, slots=True)
class PersonIdentity:
    """The person to whom an identity belongs. `hash` is `identity_of` the issuer and the subject."""

    hash: str
    person_id: str
    revision: int = 1


@dataclass(frozen=True, slots=True)
class Membership:
    """The role of a person in an app."""

    person_id: str
    app_id: str
    role: Role
    joined_at: str
    revision: int = 1


@dataclass(frozen=True, slots=True)
class SignIn:
    """A person who is signed in with one browser.

    The cookie of the browser has a secret, whose hash is `secret_hash`. The MACs of session tokens are made with
    `token_key`, in hexadecimal digits. `used_at` is when the browser last got a token, to a quarter of an hour, and
    `app_id` the app that the token was for. `expires_at` is in Unix seconds.
    """

    person_id: str
    id: str
    secret_hash: str
    token_key: str
    inserted_at: str
    used_at: str
    expires_at: int
    app_id: str | None = None
    revision: int = 1


@dataclass(frozen=True, slots=True)
class Invitation:
    """An invitation of an email address to an app. `invited_by` is a person, or None if the operator invited.

    `expires_at` is in Unix seconds.
    """

    id: str
    app_id: str
    email: str
    role: Role
    inserted_at: str
    expires_at: int
    invited_by: str | None = None
    revision: int = 1

    @property
    def address(self) -> str:
        """The part of the key that is the same for all spellings of the email address."""
        return address_of(self.email)


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A person, the sign-in that a credential names, and the membership and the app, as far as they exist."""

    person: Person
    sign_in: SignIn
    membership: Membership | None
    app: App | None


def is_address(text: str) -> bool:
    """Whether a text is an email address that can be invited.

    Only ASCII, because two addresses that look alike, or fold to the same letters, can belong to two people.
    """
    return text.isascii() and EMAIL.fullmatch(text) is not None


def identity_of(issuer: str, subject: str) -> str:
    """Return the stored form of an identity. A subject is unique for its issuer only."""
    return hashlib.sha256(f"{issuer}\n{subject}".encode()).hexdigest()


def address_of(email: str) -> str:
    """Return the stored form of an email address, which ignores case, as providers do."""
    return hashlib.sha256(email.strip().lower().encode()).hexdigest()
