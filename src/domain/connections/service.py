"""What an API consumer does with its connections: create, list, read, change, pause, set the password.

To delete one is a room of its own (`domain.connection_removal`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from domain.connections import passwords
from domain.connections.record import COMPANY_FILE_MISMATCH, Connection, owned
from domain.errors import Conflict, InvalidRequest, TooManyRequests
from domain.requests.record import timestamp
from domain.storage.changes import AddConnection, ChangeConnection, ChangeSession

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from domain.ports import Clock, IdSource, SecretSource
    from domain.storage.changes import Change
    from domain.storage.ports import Database
    from domain.web_connector.session.record import Session

MIN_PASSWORD_LENGTH = 12
MAX_PASSWORD_LENGTH = 128
"""Characters of a password that the caller sets (contract §4)."""

TRIES = 5
"""How often a change is made again after the Web Connector changed the connection first."""


@dataclass(frozen=True, slots=True)
class ConnectionsPage:
    """One page of an app's connections, oldest first. `total_pages` is 0 when there are none."""

    items: Sequence[Connection]
    page: int
    total_pages: int


class ConnectionService:
    """The use cases. What belongs to another app, and what was deleted, is NotFound."""

    def __init__(
        self,
        store: Database,
        *,
        clock: Clock,
        new_id: IdSource,
        secrets: SecretSource,
    ) -> None:
        self._store = store
        self._clock = clock
        self._new_id = new_id
        self._secrets = secrets

    def create(self, app_id: str, **settings: Any) -> Connection:
        """Store a new connection; it has no password yet, so that no Web Connector can use it.

        `settings` are checked members of `Connection`: `name`, `company_file`, `webhook_url`, `sync_window`
        and `linger_seconds`.
        """
        moment = timestamp(self._clock())
        connection = Connection(
            id=self._new_id(),
            app_id=app_id,
            # GUIDs of the .qwc file: upper case without braces. OwnerID is one for all connections of an app:
            # QuickBooks shows a file's mark (FileID) only to the owner who left it there, and by that mark a
            # session sees that another connection's company file is open.
            owner_id=app_id.upper(),
            file_id=self._new_id().upper(),
            inserted_at=moment,
            updated_at=moment,
            **settings,
        )
        self._store.commit(AddConnection(connection))
        return connection

    def page(self, app_id: str, page: int, page_size: int) -> ConnectionsPage:
        """Return one page, counted from 1; one past the end is empty."""
        items, total = self._store.connections_of(app_id, (page - 1) * page_size, page_size)
        return ConnectionsPage(items, page, -(-total // page_size))

    def get(self, app_id: str, connection_id: str) -> Connection:
        """Return a connection. Raises NotFound."""
        return owned(self._store.connection(connection_id), app_id)

    def update(self, app_id: str, connection_id: str, **settings: Any) -> Connection:
        """Change the `settings` (see `create`) that are given; a session that runs keeps its own. Raises NotFound."""

        def updated(connection: Connection, now: str) -> Connection:
            same = all(getattr(connection, name) == value for name, value in settings.items())
            return connection if same else connection.changed(now, **settings)

        return self._change(app_id, connection_id, updated)

    def pause(self, app_id: str, connection_id: str) -> Connection:
        """Hand out nothing more, not in the session that runs either. Raises NotFound."""
        return self._set_paused(app_id, connection_id, paused=True)

    def resume(self, app_id: str, connection_id: str) -> Connection:
        """Let the queue be worked again. Raises NotFound."""
        return self._set_paused(app_id, connection_id, paused=False)

    def _set_paused(self, app_id: str, connection_id: str, *, paused: bool) -> Connection:
        """Tell the connection, and in the same commit the session that runs: it need not read the connection."""

        def changed(connection: Connection, now: str) -> Connection:
            if (connection.paused_at is not None) is paused:
                return connection
            return connection.changed(now, paused_at=now if paused else None)

        def told(session: Session) -> Session:
            return replace(session, paused=paused, revision=session.revision + 1)

        return self._change(app_id, connection_id, changed, told)

    def reset_company_file(self, app_id: str, connection_id: str) -> Connection:
        """Lift the pin to a company file: the next session's is taken as the right one. Return the connection.

        A live session goes on in the file that it has open (decision 0015). Raises NotFound.
        """

        def unpinned(connection: Connection, now: str) -> Connection:
            error = connection.last_error
            if error and error["code"] == COMPANY_FILE_MISMATCH:
                error = None
            if not connection.file_pinned and error == connection.last_error:
                return connection
            return connection.changed(now, file_pinned=False, last_error=error)

        return self._change(app_id, connection_id, unpinned)

    def set_password(self, app_id: str, connection_id: str, password: str | None = None) -> str:
        """Set the Web Connector's password, a new one without `password`, and return it.

        Raises NotFound, InvalidRequest (12 to 128 characters).
        """
        if password is not None and not MIN_PASSWORD_LENGTH <= len(password) <= MAX_PASSWORD_LENGTH:
            raise InvalidRequest.of(
                "password", f"must have {MIN_PASSWORD_LENGTH} to {MAX_PASSWORD_LENGTH} characters, not {len(password)}"
            )
        chosen = password or passwords.generate(self._secrets)
        password_hash = passwords.hash_password(chosen, self._secrets(passwords.SALT_BYTES))
        self._change(app_id, connection_id, lambda before, now: before.changed(now, password_hash=password_hash))
        return chosen

    def _change(
        self,
        app_id: str,
        connection_id: str,
        change: Callable[[Connection, str], Connection],
        change_session: Callable[[Session], Session] | None = None,
    ) -> Connection:
        """Read, change, commit; again from the start when the Web Connector was first. Return what is stored then.

        `change_session` is for the live session, if there is one; its last call stays as it is.
        """
        for _ in range(TRIES):
            before = self.get(app_id, connection_id)
            after = change(before, timestamp(self._clock()))
            if after == before:
                return before
            changes: list[Change] = [ChangeConnection(before, after)]
            if change_session and before.session_ticket:
                session = self._store.session(before.session_ticket)
                if session and not session.ended:
                    changes.append(ChangeSession(session, change_session(session)))
            try:
                self._store.commit(*changes)
            except Conflict:
                continue
            return after
        raise TooManyRequests("The connection is being changed. Try again in a moment.")
