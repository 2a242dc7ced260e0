"""The Web Connector session: one method for each method of the protocol.

A call reads the stored session, decides, and commits once. If two calls conflict, one of them starts again, so a
call that is delivered twice takes effect once.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeVar

from domain.storage.changes import Put
from domain.storage.retry import commit_with_retry
from domain.web_connector.protocol.methods import Reply
from domain.web_connector.session import lingering
from domain.web_connector.session.claims import Claims
from domain.web_connector.session.connection_error import DONE, connection_error, may_use_open_file
from domain.web_connector.session.end import end_of_session
from domain.web_connector.session.handing_out import HandingOut
from domain.web_connector.session.login import CURRENT_COMPANY_FILE, Login
from domain.web_connector.session.polling import reason_to_hold
from domain.web_connector.session.receiving import SESSION_OVER, Receiving
from domain.web_connector.session.record import OpenCompanyFile, session_id

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from domain.errors import Conflict
    from domain.ports import Clock, IdSource, SecretSource
    from domain.storage.ports import Database
    from domain.web_connector.protocol.methods import Result
    from domain.web_connector.protocol.soap import Call
    from domain.web_connector.session.record import Session

R = TypeVar("R")

SERVER_VERSION = "qbxml-queue"

MAX_UNWRITABLE = 5
"""Maximum number of requests in a row that one call ends because they can no longer be written as QBXML."""

CLOSED = "OK"
OVER = "This session has ended. The next update begins a new one."
REVOKED = "The password of this connection was changed. Enter the new one in the Web Connector."
CONTENDED = "This session is being used by another call."


class SessionService:
    """The use cases of a Web Connector session."""

    def __init__(self, store: Database, clock: Clock, new_id: IdSource, secrets: SecretSource) -> None:
        self._store = store
        self._clock = clock
        claims = Claims(store)
        self._login = Login(store, claims, clock, secrets)
        self._handing_out = HandingOut(store, claims)
        self._receiving = Receiving(store, claims, new_id)

    def server_version(self, _call: Call) -> Reply:
        """Return the name that the Web Connector shows under "More information"."""
        return Reply(SERVER_VERSION)

    def client_version(self, _call: Call) -> Reply:
        """Accept every Web Connector. A newer version is never needed, and a warning would stop unattended runs."""
        return Reply("")

    def authenticate(self, call: Call) -> Reply:
        """Open a session if the password is correct and there is work."""
        return self._login.authenticate(call)

    def send_request_xml(self, call: Call) -> Reply:
        """Hand out the request in flight.

        Makes three calls to the store, and a fourth if QuickBooks reports new facts about itself. While the session
        lingers, it makes two without work and four with work.
        """
        for _ in range(MAX_UNWRITABLE):
            reply = self._in_session(call, "", self._handing_out.hand_out)
            if reply:
                return reply
        return Reply("")

    def receive_response_xml(self, call: Call) -> Reply:
        """Store the response and claim the next request. Makes three calls to the store.

        Replies 1-99 while the session continues, 100 if nothing is left, and -1 if the session has ended.
        """
        return self._in_session(call, SESSION_OVER, self._receiving.receive)

    def receive_oversized(self, call: Call) -> Reply:
        """Record that the response is too large for a call. Only the beginning of the call was read."""
        return self._in_session(call, SESSION_OVER, partial(self._receiving.receive, oversized=True))

    def connection_error(self, call: Call) -> Reply:
        """Record that QuickBooks could not be reached. The open file is tried once; otherwise the session ends.

        Nothing was sent, so a claimed request waits again. A `closeConnection` does not always follow.
        """
        return self._in_session(call, DONE, self._connection_error)

    def get_last_error(self, call: Call) -> Reply:
        """Return the reason why the session does not continue. It is never '', which has no documented meaning."""
        session = self._store.session(session_id(call["ticket"]))
        if session is None:
            return Reply("This session has expired. The next update begins a new one.")
        if session.is_revoked:
            return Reply(REVOKED, session.connection_id)
        now = self._clock()
        if lingering.continues(session, now):
            return Reply(lingering.NO_OP, session.connection_id)
        reason = session.last_error or reason_to_hold(session, now) or lingering.end_message(session)
        return Reply(reason or (OVER if session.ended else "No more requests."), session.connection_id)

    def close_connection(self, call: Call) -> Reply:
        """End the session. The call can come twice or never. Unknown and ended sessions get the same reply."""
        return self._in_session(call, CLOSED, self._close)

    # The service does not use the interactive mode.

    def get_interactive_url(self, _call: Call) -> Reply:
        """Return '', because there is no page."""
        return Reply("")

    def interactive_rejected(self, _call: Call) -> Reply:
        """Return the text to show to the user."""
        return Reply("Interactive mode is not supported.")

    def interactive_done(self, _call: Call) -> Reply:
        """End the interactive mode at once."""
        return Reply("Done")

    def _in_session(
        self,
        call: Call,
        without_session: Result,
        step: Callable[[Session, Call, datetime], R],
    ) -> R | Reply:
        """Return the reply of `step` for the live session of the call. Repeats `step` after a conflict.

        Raises TooManyRequests.
        """

        def attempt(_: Conflict | None) -> R | Reply:
            session = self._store.session(session_id(call["ticket"])) if call["ticket"] else None
            if session is None or session.ended or session.is_revoked:
                return Reply(without_session)
            return step(session, call, self._clock())

        return commit_with_retry(attempt, CONTENDED)

    def _connection_error(self, session: Session, call: Call, now: datetime) -> Reply:
        error = connection_error(call["hresult"], call["message"], now)
        message = f"{error['hresult']}: {error['message']}"
        if may_use_open_file(session, error["hresult"]):
            after = session.called(now, company_file=OpenCompanyFile(is_fallback=True), last_error=message)
            self._store.commit(Put(session, after))
            return Reply(CURRENT_COMPANY_FILE, session.connection_id)
        connection = self._store.connection(session.connection_id)
        self._store.commit(*end_of_session(session, connection, now, message, last_error=error))
        return Reply(DONE, session.connection_id)

    def _close(self, session: Session, _call: Call, now: datetime) -> Reply:
        connection = self._store.connection(session.connection_id)
        self._store.commit(*end_of_session(session, connection, now))
        return Reply(CLOSED, session.connection_id)
