"""`authenticate`: who calls, whether there is work, and how soon to come again (`web_connector_protocol.md` §2.4)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from domain.connections import passwords
from domain.errors import Conflict, TooManyRequests
from domain.requests.record import timestamp
from domain.storage.changes import AddSession, ChangeConnection
from domain.web_connector.protocol.methods import Reply
from domain.web_connector.session import polling
from domain.web_connector.session.claims import Candidate
from domain.web_connector.session.end import ended, released
from domain.web_connector.session.record import KEPT_SECONDS, Session, ticket_hash

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from domain.connections.record import Connection
    from domain.ports import Clock, SecretSource
    from domain.requests.record import QueuedRequest
    from domain.storage.changes import Change
    from domain.storage.ports import Database
    from domain.web_connector.protocol.soap import Call
    from domain.web_connector.session.claims import Claims

TICKET_BYTES = 16
"""128 random bits: a ticket is all that a caller shows (§7)."""

TRIES = 5
"""How often a login that met another change of its connection is done anew."""

INVALID_USER = "nvu"
NOTHING_TO_DO = "none"
BUSY = "busy"
CURRENT_COMPANY_FILE = ""
"""What stands beside the ticket (§2.4)."""

_CONNECTION_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_COMPANY_FILE_PATH = re.compile(r"(?:[A-Za-z]:\\|\\\\).+\.qbw", re.IGNORECASE)


class Login:
    """Opens sessions."""

    def __init__(self, store: Database, claims: Claims, clock: Clock, secrets: SecretSource) -> None:
        self._store = store
        self._claims = claims
        self._clock = clock
        self._secrets = secrets
        self._passwords = passwords.Checks(secrets)

    def authenticate(self, call: Call) -> Reply:
        """Open a session when the password is right and there is work for it. Three calls of the store.

        There is none while the connection is paused or outside its sync window. A former session of
        the connection is over in any case. An unknown user takes as long as a wrong password.
        """
        username, ticket = call["strUserName"], self._new_ticket()
        if not _CONNECTION_ID.fullmatch(username):
            return Reply((ticket, INVALID_USER))
        for _ in range(TRIES):
            connection = self._store.connection(username)
            if connection and connection.deleted_at:
                connection = None
            right = self._passwords.matches(call["strPassword"], connection.password_hash if connection else None)
            if not right or connection is None:
                return Reply((ticket, INVALID_USER), username)
            now = self._clock()
            try:
                claimed = self._open(connection, ticket, now)
            except Conflict:
                # Another ticket: should our own commit be what was met, its session is a former one now.
                ticket = self._new_ticket()
                continue
            except TooManyRequests:
                break
            if claimed is None:
                return Reply((ticket, NOTHING_TO_DO, *polling.without_work(connection, now)), username)
            return Reply((ticket, company_file(connection), *polling.with_work()), username, claimed.id)
        return Reply((ticket, BUSY), username)

    def _open(self, connection: Connection, ticket: str, now: datetime) -> QueuedRequest | None:
        """Commit the new session with its first request, or only that the Web Connector was here."""
        hashed, moment = ticket_hash(ticket), timestamp(now)
        former = self._former_session(connection)
        release = released(former, now) if former else None
        answered_message_set = (former and former.answered_message_set) or connection.answered_message_set

        def changes(claimed: QueuedRequest | None, _waiting: int) -> Sequence[Change]:
            after = connection.changed(
                moment,
                last_connected_at=moment,
                last_worked_at=moment if claimed else connection.last_worked_at,
                session_ticket=hashed if claimed else None,
                answered_message_set=None if claimed else answered_message_set,
            )
            made: list[Change] = [ChangeConnection(connection, after)]
            if former:
                made.append(ended(former, now, "Another session of this user has begun."))
            if release and (claimed is None or release.before.id != claimed.id):
                made.append(release)
            if claimed:
                session = Session(
                    ticket=hashed,
                    connection_id=connection.id,
                    app_id=connection.app_id,
                    opened_at=moment,
                    last_call_at=moment,
                    expires_at=int(now.timestamp()) + KEPT_SECONDS,
                    in_flight=claimed,
                    connection=after,
                    answered_message_set=answered_message_set,
                    work_until=polling.work_until(connection, now),
                    linger_seconds=connection.linger_seconds,
                )
                made.append(AddSession(session))
            return made

        if polling.is_held(connection, now):
            self._store.commit(*changes(None, 0))
            return None
        given_back = Candidate(release.before, release.after) if release and release.after.error is None else None
        return self._claims.commit_and_claim(
            connection.id,
            hashed,
            now,
            changes,
            held=release.before.id if release and given_back is None else None,
            given_back=given_back,
        )

    def _former_session(self, connection: Connection) -> Session | None:
        if connection.session_ticket is None:
            return None
        former = self._store.session(connection.session_ticket)
        return None if former is None or former.ended else former

    def _new_ticket(self) -> str:
        return self._secrets(TICKET_BYTES).hex()


def company_file(connection: Connection) -> str:
    """Return the path to open, or '' for the file that is open: also for a mere name, which is no path."""
    path = (connection.company_file or "").strip()
    return path if _COMPANY_FILE_PATH.fullmatch(path) else CURRENT_COMPANY_FILE
