"""What a caller may do: the scopes of API keys, the roles of people and the permissions that each of them has.

The endpoints name the permissions that they need. The documents and the console are made from this table too.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from domain.records.app import Scope

if TYPE_CHECKING:
    from collections.abc import Mapping


class Permission(StrEnum):
    """A group of calls.

    READ gets connections, requests and all that is stored about them. OPERATE keeps the queue going: pause, resume,
    discard, queue again, redeliver, settle, onboarding links. PROPOSE queues requests whose writes wait for approval.
    QUEUE queues writes that need no approval. DECIDE approves and rejects. ADMINISTER creates, changes and deletes
    connections, sets passwords and deletes requests. MANAGE changes who has access: API keys and people.
    """

    READ = "read"
    OPERATE = "operate"
    PROPOSE = "propose"
    QUEUE = "queue"
    DECIDE = "decide"
    ADMINISTER = "administer"
    MANAGE = "manage"


class Role(StrEnum):
    """The role of a person in an app."""

    VIEWER = "viewer"
    SUPPORT = "support"
    EDITOR = "editor"
    APPROVER = "approver"
    ADMIN = "admin"


Access: TypeAlias = Scope | Role
"""What a caller has: an API key has a scope, a person has a role."""

_READ = frozenset({Permission.READ})
_OPERATE = _READ | {Permission.OPERATE}
_QUEUE = _OPERATE | {Permission.PROPOSE, Permission.QUEUE}

PERMISSIONS: Mapping[Access, frozenset[Permission]] = {
    Scope.FULL: frozenset(Permission) - {Permission.MANAGE},
    Scope.READ_ONLY: _READ,
    Scope.PROPOSE: _READ | {Permission.PROPOSE},
    Scope.APPROVE: _READ | {Permission.DECIDE},
    Role.VIEWER: _READ,
    Role.SUPPORT: _OPERATE,
    Role.EDITOR: _QUEUE,
    Role.APPROVER: _READ | {Permission.DECIDE},
    Role.ADMIN: frozenset(Permission),
}
"""No API key may MANAGE, so that a key that is lost can neither make another one nor let a person in."""
