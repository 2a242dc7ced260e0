"""Apps, their API keys and webhook secrets (docs/reference/service-contract.md, Authentication)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from domain.records.audit import public_id


class Scope(StrEnum):
    """The scope of a key. Each allows to read stored requests and connections.

    A key that may PROPOSE also queues requests, whose writes need approval. A key that may APPROVE also approves and
    rejects them. A FULL key may do everything.
    """

    FULL = "full"
    READ_ONLY = "read_only"
    PROPOSE = "propose"
    APPROVE = "approve"


class Environment(StrEnum):
    """What an app works on. The console shows it in another colour, so that nobody takes one for the other."""

    PRODUCTION = "production"
    TEST = "test"


@dataclass(frozen=True, slots=True)
class AppLimits:
    """The limits of an app (docs/limits.md). `waiting` is the number of requests that may wait, in all `connections`.

    `written_bytes_per_minute` counts the QBXML of queued requests. `search_seconds_per_minute` counts the time of all
    searches, including those that run.
    """

    creates_per_second: int = 100
    waiting: int = 100_000
    redeliveries_per_minute: int = 300
    written_bytes_per_minute: int = 60_000_000
    reads_per_second: int = 50
    searches_per_minute: int = 60
    search_seconds_per_minute: int = 240
    connections: int = 10_000


@dataclass(frozen=True, slots=True)
class Contact:
    """The contact of an app on the onboarding page: name, logo, phone number and email address."""

    name: str | None = None
    logo_url: str | None = None
    phone: str | None = None
    email: str | None = None


@dataclass(frozen=True, slots=True)
class App:
    """An API consumer. `webhook_secrets` are the active secrets, newest first. There are two during a rotation.

    `name` is the operator's name for the app. Customers see that of `contact`.
    """

    id: str
    name: str
    inserted_at: str
    webhook_secrets: tuple[str, ...] = ()
    limits: AppLimits = AppLimits()
    contact: Contact = Contact()
    environment: Environment = Environment.PRODUCTION
    revision: int = 1


@dataclass(frozen=True, slots=True)
class ApiKey:
    """An API key. `hash` is the `api_key_hash` of its text. `label` is the first characters of its text.

    `name` is the operator's name for it, which tells what uses the key, or None.

    `first_key_id` is the public id of the first key, if this one was rotated from it. From `expires_at` on, the key is
    refused. `rotated_to` is the hash of the key that was rotated from it last.
    """

    hash: str
    app_id: str
    scope: Scope
    label: str
    inserted_at: str
    revoked_at: str | None = None
    first_key_id: str | None = None
    name: str | None = None
    expires_at: str | None = None
    rotated_to: str | None = None
    revision: int = 1

    def is_active(self, now: str) -> bool:
        """Whether the key is accepted at this time (a timestamp)."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    @property
    def family(self) -> str:
        """The id that a key shares with its rotations. They are one actor."""
        return self.first_key_id or self.id

    @property
    def id(self) -> str:
        """The public id of the key, which the audit log shows."""
        return public_id("key", self.hash)


def api_key_hash(key: str) -> str:
    """Return the stored form of a key. A plain SHA-256 is enough, because keys have 256 random bits."""
    return hashlib.sha256(key.encode()).hexdigest()
