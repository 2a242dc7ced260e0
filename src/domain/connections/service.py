"""The operations of an app on its connections: create, list, read, change, pause and set the password.

`domain.maintenance.connection_removal` deletes them. It is separate because it imports three times as many modules.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from domain.apps.contacts import qwc_name
from domain.connections import passwords
from domain.connections.simulators import refuse_for_simulator
from domain.errors import Conflict, Gone, IdempotencyKeyReused, InvalidRequest, InvalidState
from domain.records.audit import Action, Actor, Subject, audit_entry
from domain.records.connection import (
    COMPANY_FILE_MOVED,
    HELD_BY_COMPANY_FILE,
    QWC_NAME,
    Connection,
    id_of_key,
)
from domain.records.ownership import owned_connection
from domain.records.request import State
from domain.records.session import Session
from domain.storage.changes import ChangeRequest, Put
from domain.storage.retry import commit_with_retry
from domain.timestamps import timestamp

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from domain.ports import Clock, IdSource, SecretSource
    from domain.records.audit import AuditEntry
    from domain.records.connection import OnboardingLink
    from domain.storage.changes import Change
    from domain.storage.ports import ConnectionStore, InFlightReads

    EntryOf = Callable[[Connection, Connection], AuditEntry]
    """Returns the entry of a change, from the connection before and after it."""

MIN_PASSWORD_LENGTH = 12
MAX_PASSWORD_LENGTH = 128
"""The allowed length of a password that the caller chooses (docs/limits.md)."""


SETTINGS = (
    "name",
    "company_file",
    "webhook_url",
    "webhook_events",
    "approval",
    "sync_window",
    "linger_seconds",
    "batch_size",
    "read_batch_size",
    "settles_on_call_only",
)
"""The members of a connection that a caller sets."""

_DEFAULTS: Mapping[str, Any] = {
    setting.name: setting.default for setting in fields(Connection) if setting.name in SETTINGS
}

MAX_PATHS = 10
"""Maximum number of paths at which a company file is accepted. The list is part of the connection and its sessions."""


class ConnectionService:
    """The use cases. They raise NotFound for another app's connection and for a deleted one.

    A change is stored together with its entry in the audit log, which names the `actor`.
    """

    def __init__(self, store: ConnectionStore, *, clock: Clock, new_id: IdSource, secrets: SecretSource) -> None:
        self._store = store
        self._clock = clock
        self._new_id = new_id
        self._secrets = secrets

    def create(
        self,
        app_id: str,
        *,
        actor: Actor,
        key: str | None = None,
        make_simulator: Callable[[Connection, str], object] | None = None,
        **settings: Any,
    ) -> Connection:
        """Store a new connection. No Web Connector can log in until a password is set.

        With an idempotency `key`, a call beside another one with the same key returns its connection (`created_with`).

        `make_simulator` makes it a test connection. It gets the connection and a password before they are stored, so
        that each stored test connection has a simulator. Nobody else gets the password.

        `settings` are validated members of `Connection`, by their names in SETTINGS.
        """
        now = timestamp(self._clock())
        connection = Connection(
            id=id_of_key(app_id, key) if key else self._new_id(),
            app_id=app_id,
            # All connections of an app have the same OwnerID. QuickBooks shows a FileID mark only to the owner that
            # wrote it, and a session uses the mark to recognise the company file of another connection.
            owner_id=app_id.upper(),
            file_id=self._new_id().upper(),
            qwc_name=self._qwc_name(app_id),
            inserted_at=now,
            updated_at=now,
            **settings,
        )
        if make_simulator:
            password, password_hash = self._generated_password()
            connection = replace(connection, simulated=True, password_hash=password_hash, password_changed_at=now)
            make_simulator(connection, password)
        given = tuple(sorted(name for name, value in settings.items() if value is not None))
        entry = _entry(Action.CONNECTION_CREATED, actor, connection, settings=given)
        try:
            self._store.commit(Put(None, connection), Put(None, entry))
        except Conflict:
            if key and (made := self.created_with(app_id, key, settings)):
                return made
            raise
        return connection

    def _qwc_name(self, app_id: str) -> str:
        app = self._store.app(app_id)
        return qwc_name(app.contact) if app else QWC_NAME

    def created_with(self, app_id: str, key: str, settings: Mapping[str, Any]) -> Connection | None:
        """Return the connection that an earlier call with this idempotency key has created, or None.

        Raises IdempotencyKeyReused if its settings differ, and Gone if it was deleted.
        """
        made = self._store.connection(id_of_key(app_id, key))
        if made is None:
            return None
        details = {"connection_id": made.id}
        if made.deleted_at:
            raise Gone(
                f"The connection {made.id}, which this Idempotency-Key created, was deleted. Use a new key for another"
                " one.",
                details,
            )
        if replace(made, **{**_DEFAULTS, **settings}) != made:
            raise IdempotencyKeyReused(
                f"This Idempotency-Key created the connection {made.id}, whose settings are not those of this call. Use"
                " that connection, or a new key for another one.",
                details,
            )
        return made

    def page(self, app_id: str, page: int, page_size: int) -> tuple[Sequence[Connection], int]:
        """Return the connections on a page, oldest first, and the number of pages. `page` counts from 1."""
        items, total = self._store.connections_of(app_id, (page - 1) * page_size, page_size)
        return items, -(-total // page_size)

    def get(self, app_id: str, connection_id: str) -> Connection:
        """Return a connection. Raises NotFound."""
        return owned_connection(self._store.connection(connection_id), app_id)

    def update(self, app_id: str, connection_id: str, *, actor: Actor, **settings: Any) -> Connection:
        """Change `settings` (see `create`). A running session keeps its old settings. Raises NotFound."""

        def entry_of(before: Connection, after: Connection) -> AuditEntry:
            changed = tuple(sorted(name for name in settings if getattr(before, name) != getattr(after, name)))
            return _entry(Action.CONNECTION_CHANGED, actor, after, settings=changed)

        return self._change(app_id, connection_id, entry_of, lambda before: replace(before, **settings))

    def set_onboarding_link(self, app_id: str, connection_id: str, link: OnboardingLink, *, actor: Actor) -> Connection:
        """Replace the onboarding link. Raises NotFound, and InvalidState for a test connection."""

        def entry_of(_: Connection, after: Connection) -> AuditEntry:
            return _entry(Action.ONBOARDING_LINK_CREATED, actor, after, credential_id=link.id)

        return self._change(
            app_id,
            connection_id,
            entry_of,
            lambda before: replace(refuse_for_simulator(before), onboarding=link),
        )

    def pause(self, app_id: str, connection_id: str, *, actor: Actor) -> Connection:
        """Stop sending requests, even in a running session. Raises NotFound."""
        now = timestamp(self._clock())
        return self._change(
            app_id,
            connection_id,
            _entries(Action.CONNECTION_PAUSED, actor),
            lambda before: replace(before, paused_at=before.paused_at or now),
            change_session=lambda live: live.with_pause(paused=True),
        )

    def resume(self, app_id: str, connection_id: str, *, actor: Actor) -> Connection:
        """Send requests again. Ends the pause of a backoff, but not the backoff itself. Raises NotFound."""
        now = timestamp(self._clock())

        def active(before: Connection) -> Connection:
            backoff = before.backoff
            return replace(before, paused_at=None, backoff=backoff and replace(backoff, until=min(now, backoff.until)))

        return self._change(
            app_id,
            connection_id,
            _entries(Action.CONNECTION_RESUMED, actor),
            active,
            change_session=lambda live: live.with_pause(paused=False),
        )

    def reset_company_file(self, app_id: str, connection_id: str, *, actor: Actor) -> Connection:
        """Remove the pin to the company file. The next session pins the file that is open then.

        A live session continues with its open file (decision 0015). Raises NotFound.
        """

        def without_pin(before: Connection) -> Connection:
            error = before.last_error
            held = error is not None and error["code"] in HELD_BY_COMPANY_FILE
            return replace(
                before,
                file_pinned=False,
                company_file_paths=(),
                company_name=None,
                quickbooks_answered_at=None,
                last_error=None if held else error,
            )

        return self._change(app_id, connection_id, _entries(Action.COMPANY_FILE_RESET, actor), without_pin)

    def accept_company_file(self, app_id: str, connection_id: str, *, actor: Actor) -> Connection:
        """Accept the path at which the last session found the connection's company file.

        Raises NotFound. Raises InvalidState if the last session did not report another path, or if MAX_PATHS paths are
        accepted.
        """

        def with_path(before: Connection) -> Connection:
            error = before.last_error or {}
            if error.get("code") != COMPANY_FILE_MOVED:
                raise InvalidState(
                    "The last session did not report another path of the company file, so you cannot accept one. "
                    "Open the file in QuickBooks, choose Update Selected in the Web Connector, and try again.",
                    {"last_error": error.get("code"), "company_file_paths": list(before.company_file_paths)},
                )
            if len(before.company_file_paths) >= MAX_PATHS:
                raise InvalidState(
                    f"A company file is accepted at {MAX_PATHS} paths at most. To accept only the open file: "
                    "POST …/reset_company_file.",
                    {"company_file_paths": list(before.company_file_paths)},
                )
            return replace(before, company_file_paths=(*before.company_file_paths, error["path"]), last_error=None)

        return self._change(app_id, connection_id, _entries(Action.COMPANY_FILE_ACCEPTED, actor), with_path)

    def set_password(
        self,
        app_id: str,
        connection_id: str,
        password: str | None = None,
        *,
        actor: Actor,
        change: Callable[[Connection], Connection] = lambda before: before,
    ) -> str:
        """Set the Web Connector's password and return it. Generates one when `password` is None.

        A live session gets no more requests; the next login, or the sweep, releases its request. `change` changes
        the stored connection further. If it raises an error, nothing is changed.

        Raises NotFound, and InvalidState for a test connection. Raises InvalidRequest if the password is weak or its
        length is not 12 to 128 characters.
        """
        if password is not None and not MIN_PASSWORD_LENGTH <= len(password) <= MAX_PASSWORD_LENGTH:
            raise InvalidRequest.of(
                "password", f"must have {MIN_PASSWORD_LENGTH} to {MAX_PASSWORD_LENGTH} characters, not {len(password)}"
            )
        if password is not None and (weakness := passwords.weakness(password)):
            raise InvalidRequest.of("password", f"{weakness}. Leave it out to generate one")
        password, password_hash = self._hashed(password) if password else self._generated_password()
        now = timestamp(self._clock())

        def with_password(before: Connection) -> Connection:
            allowed = refuse_for_simulator(before)
            return replace(
                change(allowed),
                password_hash=password_hash,
                password_changed_at=now,
                login_failed_at=None,
                failed_beside=None,
            )

        self._change(
            app_id,
            connection_id,
            _entries(Action.PASSWORD_SET, actor),
            with_password,
            change_session=Session.revoked,
        )
        return password

    def _generated_password(self) -> tuple[str, str]:
        """Return a new password and its hash."""
        return self._hashed(passwords.generate(self._secrets))

    def _hashed(self, password: str) -> tuple[str, str]:
        """Return a password and its hash."""
        return password, passwords.hash_password(password, self._secrets(passwords.SALT_BYTES))

    def _change(
        self,
        app_id: str,
        connection_id: str,
        entry_of: EntryOf,
        change: Callable[[Connection], Connection],
        *,
        change_session: Callable[[Session], Session] | None = None,
    ) -> Connection:
        """Store what `change` returns, unless it is equal, and return the stored connection.

        `change_session` is applied to the live session, which does not read its connection while it runs. The request
        that it is about to send changes too, so that a call that has read the former session cannot send it.
        """

        def attempt(_: Conflict | None) -> Connection:
            before = self.get(app_id, connection_id)
            if (changed := change(before)) == before:
                return before
            after = changed.changed(timestamp(self._clock()))
            changes: list[Change] = [Put(before, after), Put(None, entry_of(before, after))]
            if change_session and (session := live_session(self._store, before)):
                changes.append(Put(session, change_session(session)))
                claimed = self._store.records_by_id(session.ids_in_flight) if session.in_flight else ()
                changes += [
                    ChangeRequest(record, record.as_change_of(record))
                    for record in claimed
                    if record.state is State.TICKETED and session.has_in_flight(record)
                ]
            self._store.commit(*changes)
            return after

        return commit_with_retry(attempt, "The connection is being changed. Try again in a moment.")


def _entry(action: Action, actor: Actor, after: Connection, **details: Any) -> AuditEntry:
    """Return the entry of a change of a connection."""
    subject = Subject(after.app_id, after.id, after.revision, after.id)
    return audit_entry(action, actor, subject, after.updated_at, **details)


def _entries(action: Action, actor: Actor) -> EntryOf:
    """Return the function that makes the entry of a change."""
    return lambda _, after: _entry(action, actor, after)


def live_session(store: InFlightReads, connection: Connection) -> Session | None:
    """Return the session of the connection, or None if there is none or it has ended."""
    session = store.session(connection.session_id) if connection.session_id else None
    return session if session and not session.ended else None
