"""The operations of the operator: create apps, and manage their API keys, webhook secrets and contacts.

The rules are in docs/reference/service-contract.md, Authentication.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from domain.apps.contacts import changed_contact
from domain.errors import Conflict, InvalidRequest, TooManyRequests
from domain.labels import MAX_LABEL_CHARACTERS, checked_label
from domain.records.app import ApiKey, App, Scope, api_key_hash
from domain.records.audit import OPERATOR, Action, Actor, Subject, audit_entry
from domain.records.ownership import not_found
from domain.storage.changes import Put, RemoveApp
from domain.storage.retry import commit_with_retry
from domain.timestamps import timestamp, timestamp_from

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from domain.ports import Clock, IdSource, SecretSource
    from domain.records.app import Environment
    from domain.records.audit import AuditEntry
    from domain.storage.changes import Change
    from domain.storage.ports import AppStore

KEY_PREFIX = "sk_"
KEY_BYTES = 32
LABEL_LENGTH = 11
"""The number of characters of a key that stay readable. The prefix and 8 more characters identify a key.
208 bits stay secret."""

MAX_KEY_LIFETIME = timedelta(days=3653)
"""Ten years."""

SECRET_PREFIX = "whsec_"  # noqa: S105 - the prefix that Standard Webhooks defines
SECRET_BYTES = 32

MAX_ACTIVE_SECRETS = 2
"""The new secret and the previous one. During a rotation, webhooks are signed with both."""

_CONTENDED = "The app or its key is being changed. Try again in a moment."


@dataclass(frozen=True, slots=True)
class NewKey:
    """A new API key and its text, which is shown once."""

    key: ApiKey
    text: str


class Administration:
    """The operator's use cases. Those that take an id can raise NotFound. The contact can also be changed with a key.

    A change is stored together with its entry in the audit log.
    """

    def __init__(self, store: AppStore, clock: Clock, new_id: IdSource, secrets: SecretSource) -> None:
        self._store = store
        self._clock = clock
        self._new_id = new_id
        self._secrets = secrets

    def create_app(self, name: str) -> App:
        """Store a new app with its first webhook secret."""
        app = App(self._new_id(), name, timestamp(self._clock()), (self._new_secret(),))
        self._store.commit(Put(None, app), self._entry(Action.APP_CREATED, app))
        return app

    def app(self, app_id: str) -> App:
        """Return an app."""
        app = self._store.app(app_id)
        if app is None:
            raise not_found("app")
        return app

    def delete_app(self, app_id: str) -> None:
        """Delete an app with its API keys and webhook secrets. Raises InvalidRequest if it has connections.

        A key that the index does not show yet stays, and is refused because its app does not exist. If a deletion was
        interrupted after the app was gone, the next one removes the rest and raises NotFound.
        """
        app = self._store.app(app_id)
        if app is None:
            self._store.remove_app(app_id)
            raise not_found("app")
        if connection_ids := self._store.connection_ids_of(app_id):
            raise InvalidRequest.of("app_id", f"has {len(connection_ids)} connection(s). Delete them first.")
        try:
            self._store.commit(RemoveApp(app), self._entry(Action.APP_DELETED, app, app.revision + 1))
        except Conflict:
            raise TooManyRequests(_CONTENDED) from None
        self._store.remove_app(app_id)

    def set_limits(self, app_id: str, **limits: int) -> App:
        """Change the given limits of an app and return the app."""
        return self._change(
            app_id,
            Action.LIMITS_CHANGED,
            lambda app: replace(app, limits=replace(app.limits, **limits)),
            settings=tuple(sorted(limits)),
        )

    def set_contact(self, app_id: str, texts: Mapping[str, str], *, actor: Actor = OPERATOR) -> App:
        """Change fields of the contact of an app, and return the app. An empty text removes a field.

        `actor` is the operator, or an API key with full scope. Raises InvalidRequest.
        """
        return self._change(
            app_id,
            Action.CONTACT_CHANGED,
            lambda app: replace(app, contact=changed_contact(app.contact, texts)),
            settings=tuple(sorted(texts)),
            actor=actor,
        )

    def set_environment(self, app_id: str, environment: Environment) -> App:
        """Say what an app works on, and return the app."""
        return self._change(app_id, Action.ENVIRONMENT_CHANGED, lambda app: replace(app, environment=environment))

    def create_key(
        self,
        app_id: str,
        scope: Scope = Scope.FULL,
        *,
        rotates: str | None = None,
        name: str | None = None,
        expires_at: str | None = None,
        actor: Actor = OPERATOR,
        check: Callable[[ApiKey], None] = lambda _: None,
    ) -> NewKey:
        """Store a new API key of an app. It is one actor with the key that it `rotates`, which has this hash.

        Without a `name`, it has that of the key that it rotates. From `expires_at` on (a time with a zone), it is
        refused. `check` gets the key that it rotates, and may raise. Of two rotations of a key at the same time, the
        second one is checked again. Raises InvalidRequest for a name that is not a line of text, and for a time that is
        past or more than ten years away.
        """
        self.app(app_id)

        def attempt(_: Conflict | None) -> NewKey:
            former = self._store.api_key(rotates) if rotates else None
            if rotates and (former is None or former.app_id != app_id):
                raise not_found("API key")
            if former:
                check(former)
            new = self._new_key(app_id, scope, former, name, expires_at)
            changes: list[Change] = [Put(None, new.key), self._key_entry(Action.API_KEY_CREATED, new.key, actor)]
            if former:
                linked = replace(former, rotated_to=new.key.hash, revision=former.revision + 1)
                changes.append(Put(former, linked))
            self._store.commit(*changes)
            return new

        return commit_with_retry(attempt, _CONTENDED)

    def _new_key(
        self, app_id: str, scope: Scope, former: ApiKey | None, name: str | None, expires_at: str | None
    ) -> NewKey:
        text = KEY_PREFIX + base64.urlsafe_b64encode(self._secrets(KEY_BYTES)).decode().rstrip("=")
        key = ApiKey(
            api_key_hash(text),
            app_id,
            scope,
            text[:LABEL_LENGTH],
            self._now(),
            first_key_id=former.family if former else None,
            name=_checked_name(name) or (former.name if former else None),
            expires_at=self._checked_expiry(expires_at),
        )
        return NewKey(key, text)

    def keys(self, app_id: str) -> Sequence[ApiKey]:
        """Return an app's keys, oldest first. The result includes revoked keys."""
        self.app(app_id)
        return self._store.api_keys_of(app_id)

    def rename_key(self, key_hash: str, name: str, *, actor: Actor = OPERATOR) -> ApiKey:
        """Give the key with this hash another name. Raises InvalidRequest for a name that is not a line of text."""
        checked = _checked_name(name)
        return self._change_key(key_hash, Action.API_KEY_RENAMED, lambda key: replace(key, name=checked), actor)

    def revoke_key(self, key_hash: str, *, actor: Actor = OPERATOR) -> ApiKey:
        """Revoke the key with this hash. Revoking it again changes nothing."""
        now = timestamp(self._clock())
        return self._change_key(
            key_hash, Action.API_KEY_REVOKED, lambda key: replace(key, revoked_at=key.revoked_at or now), actor
        )

    def rotate_webhook_secret(self, app_id: str) -> str:
        """Give an app a new webhook secret and return it. The previous secret stays active."""
        new = self._new_secret()
        former = MAX_ACTIVE_SECRETS - 1
        self._change(
            app_id,
            Action.WEBHOOK_SECRET_ROTATED,
            lambda app: replace(app, webhook_secrets=(new, *app.webhook_secrets[:former])),
        )
        return new

    def retire_old_webhook_secrets(self, app_id: str) -> None:
        """End a rotation: only the newest secret stays active."""
        self._change(
            app_id,
            Action.OLD_WEBHOOK_SECRETS_RETIRED,
            lambda app: replace(app, webhook_secrets=app.webhook_secrets[:1]),
        )

    def _change(
        self,
        app_id: str,
        action: Action,
        change: Callable[[App], App],
        *,
        settings: tuple[str, ...] = (),
        actor: Actor = OPERATOR,
    ) -> App:
        """Change an app and return it. If nothing changes, store nothing."""

        def attempt(_: Conflict | None) -> App:
            before = self.app(app_id)
            changed = change(before)
            if changed == before:
                return before
            after = replace(changed, revision=before.revision + 1)
            self._store.commit(Put(before, after), self._entry(action, after, settings=settings, actor=actor))
            return after

        return commit_with_retry(attempt, _CONTENDED)

    def _change_key(self, key_hash: str, action: Action, change: Callable[[ApiKey], ApiKey], actor: Actor) -> ApiKey:
        """Change an API key and return it. If nothing changes, store nothing."""

        def attempt(_: Conflict | None) -> ApiKey:
            before = self._store.api_key(key_hash)
            if before is None:
                raise not_found("API key")
            changed = change(before)
            if changed == before:
                return before
            after = replace(changed, revision=before.revision + 1)
            self._store.commit(Put(before, after), self._key_entry(action, after, actor))
            return after

        return commit_with_retry(attempt, _CONTENDED)

    def _entry(
        self,
        action: Action,
        app: App,
        revision: int | None = None,
        *,
        settings: tuple[str, ...] = (),
        actor: Actor = OPERATOR,
    ) -> Put[AuditEntry]:
        """Return the entry of the change that made a revision of an app, by default the one that it has."""
        subject = Subject(app.id, app.id, revision or app.revision)
        return Put(None, audit_entry(action, actor, subject, self._now(), settings=settings))

    def _key_entry(self, action: Action, key: ApiKey, actor: Actor) -> Put[AuditEntry]:
        subject = Subject(key.app_id, key.id, key.revision)
        return Put(None, audit_entry(action, actor, subject, self._now(), credential_id=key.id, name=key.name))

    def _checked_expiry(self, text: str | None) -> str | None:
        """Return the time from which on a key is refused, as a timestamp. Raises InvalidRequest."""
        if text is None:
            return None
        try:
            expires_at = timestamp_from(text)
        except ValueError as error:
            raise InvalidRequest.of("expires_at", str(error)) from None
        if not self._now() < expires_at <= timestamp(self._clock() + MAX_KEY_LIFETIME):
            raise InvalidRequest.of("expires_at", "must be in the future, and at most 10 years from now")
        return expires_at

    def _now(self) -> str:
        return timestamp(self._clock())

    def _new_secret(self) -> str:
        return SECRET_PREFIX + base64.b64encode(self._secrets(SECRET_BYTES)).decode()


def _checked_name(name: str | None) -> str | None:
    """Return the name of a key. Raises InvalidRequest unless it is None or a line of text."""
    if name is None:
        return None
    try:
        return checked_label(name)
    except ValueError:
        raise InvalidRequest.of("name", f"must be one line of 1 to {MAX_LABEL_CHARACTERS} characters") from None
