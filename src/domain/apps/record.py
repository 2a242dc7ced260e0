"""Apps (API consumers), their API keys and webhook secrets (contract §1, §9)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum


class Scope(StrEnum):
    """What a key may do: everything, or only read what is stored."""

    FULL = "full"
    READ_ONLY = "read_only"


@dataclass(frozen=True, slots=True)
class App:
    """An API consumer. `webhook_secrets` are the active ones, the newest first; two while rotating."""

    id: str
    name: str
    inserted_at: str
    webhook_secrets: tuple[str, ...] = ()
    revision: int = 1


@dataclass(frozen=True, slots=True)
class ApiKey:
    """An API key without its text: `hash` is `api_key_hash` of it, `label` its first characters."""

    hash: str
    app_id: str
    scope: Scope
    label: str
    inserted_at: str
    revoked_at: str | None = None
    revision: int = 1


def api_key_hash(key: str) -> str:
    """Return the stored form of a key. Keys have 256 random bits: a plain SHA-256 is enough."""
    return hashlib.sha256(key.encode()).hexdigest()
