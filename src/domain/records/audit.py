"""The audit log: who did what, and when. An entry names things by their ids and has none of their content."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

KEPT = timedelta(days=365)
"""How long an entry is kept. DynamoDB removes it within a few days after that."""

_ID_CHARACTERS = 16


class ActorType(StrEnum):
    """The credential with which something was done."""

    API_KEY = "api_key"
    ONBOARDING_LINK = "onboarding_link"
    PERSON = "person"
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class Actor:
    """Who did something. `id` is the id of the person, or the public id of the API key or the onboarding link.

    The operator has none. `name` is the name that the API key had at that time, or None without one. The name of a
    person is stored with the person only.
    """

    type: ActorType
    id: str | None = None
    name: str | None = None

    @staticmethod
    def of_id(actor_id: str | None) -> Actor | None:
        """Return the person or API key with an id that a record has, or None without one."""
        if actor_id is None:
            return None
        return Actor(ActorType.API_KEY if actor_id.startswith("key_") else ActorType.PERSON, actor_id)


OPERATOR = Actor(ActorType.OPERATOR)


class Action(StrEnum):
    """What was done."""

    CONNECTION_CREATED = "connection_created"
    CONNECTION_CHANGED = "connection_changed"
    CONNECTION_DELETED = "connection_deleted"
    CONNECTION_PAUSED = "connection_paused"
    CONNECTION_RESUMED = "connection_resumed"
    PASSWORD_SET = "password_set"  # noqa: S105 - the name of an action
    COMPANY_FILE_RESET = "company_file_reset"
    COMPANY_FILE_ACCEPTED = "company_file_accepted"
    ONBOARDING_LINK_CREATED = "onboarding_link_created"
    SUBSCRIPTION_CREATED = "subscription_created"
    SUBSCRIPTION_CHANGED = "subscription_changed"
    SUBSCRIPTION_DELETED = "subscription_deleted"
    SUBSCRIPTION_RUN = "subscription_run"
    SUBSCRIPTION_PAUSED = "subscription_paused"
    SUBSCRIPTION_RESUMED = "subscription_resumed"
    SUBSCRIPTION_RESYNCED = "subscription_resynced"
    REQUEST_DISCARDED = "request_discarded"
    REQUEST_DELETED = "request_deleted"
    REQUEST_QUEUED_AGAIN = "request_queued_again"
    REQUEST_APPROVED = "request_approved"
    REQUEST_REJECTED = "request_rejected"
    WEBHOOK_REDELIVERED = "webhook_redelivered"
    REQUESTS_DISCARDED = "requests_discarded"
    REQUESTS_QUEUED_AGAIN = "requests_queued_again"
    WEBHOOKS_REDELIVERED = "webhooks_redelivered"
    APP_CREATED = "app_created"
    APP_DELETED = "app_deleted"
    LIMITS_CHANGED = "limits_changed"
    CONTACT_CHANGED = "contact_changed"
    ENVIRONMENT_CHANGED = "environment_changed"
    API_KEY_CREATED = "api_key_created"
    API_KEY_RENAMED = "api_key_renamed"
    API_KEY_REVOKED = "api_key_revoked"
    MEMBER_INVITED = "member_invited"
    INVITATION_WITHDRAWN = "invitation_withdrawn"
    MEMBER_JOINED = "member_joined"
    MEMBER_CHANGED = "member_changed"
    MEMBER_REMOVED = "member_removed"
    WEBHOOK_SECRET_ROTATED = "webhook_secret_rotated"  # noqa: S105 - the name of an action
    OLD_WEBHOOK_SECRETS_RETIRED = "old_webhook_secrets_retired"


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One action. `position` is the place in the log of the app, and the id of the entry.

    `request_id` is the request that was changed. `credential_id` is the public id of the API key, the onboarding link
    or the invitation that was created, renamed or revoked. `person_id` is the member who joined, was changed or was
    removed, and `role` the role of the member or of the invitation. `settings` are the names of the settings that were
    changed. `name` is the name of the connection that was deleted, because nothing else has it then, or of the API key
    that was created, renamed or revoked.

    A call that changes many requests stores its entry before the first change. `completed_at` and `counts` are stored
    when it has ended. They are missing if the call ended early: then some of the requests may have been changed.

    `expires_at` is in Unix seconds.
    """

    app_id: str
    position: str
    at: str
    action: Action
    actor: Actor
    expires_at: int
    connection_id: str | None = None
    request_id: str | None = None
    credential_id: str | None = None
    settings: tuple[str, ...] = ()
    name: str | None = None
    person_id: str | None = None
    role: str | None = None
    completed_at: str | None = None
    counts: dict[str, int] | None = None
    revision: int = 1

    def completed(self, at: str, counts: dict[str, int]) -> AuditEntry:
        """Return the entry of a call on many requests after the call has ended."""
        return replace(self, completed_at=at, counts=counts, revision=self.revision + 1)


@dataclass(frozen=True, slots=True)
class Subject:
    """What an action changed: an entity of an app by its public id, and the revision that the change made."""

    app_id: str
    id: str
    revision: int
    connection_id: str | None = None


def begun_entry(action: Action, actor: Actor, subject: Subject, at: str) -> AuditEntry:
    """Return the entry of an action that takes several commits. `at` is a timestamp.

    Each revision of an entity is made once. The position contains it, so no two actions have the same position.
    """
    return AuditEntry(
        subject.app_id,
        f"{at}~{subject.id}~{subject.revision}",
        at,
        action,
        actor,
        int((datetime.fromisoformat(at) + KEPT).timestamp()),
        subject.connection_id,
    )


def audit_entry(
    action: Action,
    actor: Actor,
    subject: Subject,
    at: str,
    *,
    request_id: str | None = None,
    credential_id: str | None = None,
    settings: tuple[str, ...] = (),
    name: str | None = None,
    person_id: str | None = None,
    role: str | None = None,
) -> AuditEntry:
    """Return the entry of an action that is one commit. It is stored in this commit."""
    return replace(
        begun_entry(action, actor, subject, at),
        request_id=request_id,
        credential_id=credential_id,
        settings=settings,
        name=name,
        person_id=person_id,
        role=role,
        completed_at=at,
    )


KEY_ID = f"key_[0-9a-f]{{{_ID_CHARACTERS}}}"
"""The form of the public id of an API key, as a regular expression."""


def public_id(prefix: str, stored_hash: str) -> str:
    """Return an id of a credential that may be shown: it leads neither to the credential nor to its stored hash."""
    return f"{prefix}_{hashlib.sha256(f'{prefix} {stored_hash}'.encode()).hexdigest()[:_ID_CHARACTERS]}"
