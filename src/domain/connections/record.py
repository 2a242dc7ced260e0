"""The connection: one company file of one app, with its Web Connector credentials and facts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from domain.errors import NotFound

if TYPE_CHECKING:
    from domain.connections.sync_window import SyncWindow

COMPANY_FILE_MISMATCH = "company_file_mismatch"
"""Code of the `last_error` while another connection's company file is open: the queue is held."""


@dataclass(frozen=True, slots=True)
class Connection:
    """A company file that an app reaches through its own Web Connector user.

    The Web Connector's user name is the connection's id: one read finds it.
    `password_hash` is a scrypt string or None until a password was set. `owner_id` and `file_id`
    are the GUIDs (no braces, upper case) of the `.qwc` file. `file_id` is the mark of the company file
    that the connection is pinned to; without the pin (`file_pinned`) it becomes the mark of the next
    file that bears one. `file_id_seen` is the mark that a session found last, `company_file_seen` the path of
    the file that bore it. `session_ticket` is the hash of the live session's ticket, None when there is
    no session.
    `answered_message_set` is what the last session left for the next to clear (`domain.session`).
    `last_error` is `{"code", "message", "at", …}` as last reported by the Web Connector.

    How fast it works is set by three members: `sync_window` (None: around the clock), `linger_seconds`
    (how long a session waits for more after its last request; 0: not at all) and `paused_at` (None: it
    is not paused). `last_worked_at` tells when a session last had work.
    """

    id: str
    app_id: str
    owner_id: str
    file_id: str
    inserted_at: str
    updated_at: str
    name: str | None = None
    company_file: str | None = None
    webhook_url: str | None = None
    password_hash: str | None = None
    session_ticket: str | None = None
    answered_message_set: str | None = None
    last_connected_at: str | None = None
    qbxml_version: str | None = None
    quickbooks_product_name: str | None = None
    country: str | None = None
    company_file_seen: str | None = None
    file_id_seen: str | None = None
    file_pinned: bool = True
    last_error: dict[str, Any] | None = None
    sync_window: SyncWindow | None = None
    linger_seconds: int = 0
    paused_at: str | None = None
    last_worked_at: str | None = None
    deleted_at: str | None = None
    revision: int = 1

    @property
    def username(self) -> str:
        """The Web Connector user name."""
        return self.id

    @property
    def status(self) -> str:
        """`never_connected`, `connected` or `error` (contract §4)."""
        if self.last_error is not None:
            return "error"
        return "connected" if self.last_connected_at else "never_connected"

    def changed(self, now: str, **fields: Any) -> Connection:
        """Return the connection with `fields` changed, `updated_at` (a timestamp) and `revision` moved on."""
        return replace(self, **fields, updated_at=now, revision=self.revision + 1)


def owned(connection: Connection | None, app_id: str) -> Connection:
    """Return a connection that was found, if it is this app's and not deleted. Raises NotFound."""
    if connection is None or connection.app_id != app_id or connection.deleted_at:
        raise no_connection()
    return connection


def no_connection() -> NotFound:
    """Return the one error for what is not there, what was deleted and what is another app's."""
    return NotFound("There is no such connection.")
