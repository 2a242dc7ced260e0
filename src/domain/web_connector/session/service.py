"""A running session: each call reads the stored session, decides, and commits once.

If two calls conflict, one of them starts again, so a call that is delivered twice takes effect once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from domain.apps.quotas import Quotas
from domain.qbxml.codes.hresults import describe_hresult
from domain.records.request import QueuedRequest, State
from domain.records.session import OpenCompanyFile, session_id
from domain.storage.changes import ChangeRequest, Put
from domain.storage.retry import commit_with_retry
from domain.web_connector.outcomes.error_reasons import connection_error, error_message
from domain.web_connector.outcomes.lost_response import Ending
from domain.web_connector.protocol.methods import Reply
from domain.web_connector.session import lingering
from domain.web_connector.session.end import end_of_session
from domain.web_connector.session.login import CURRENT_COMPANY_FILE, company_file
from domain.web_connector.session.polling import reason_to_hold
from domain.web_connector.session.receiving import SESSION_OVER, Receiving
from domain.web_connector.session.sending import Sending

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from domain.errors import Conflict
    from domain.ports import Clock, IdSource
    from domain.records.session import Session
    from domain.storage.ports import Database
    from domain.web_connector.protocol.methods import Result
    from domain.web_connector.protocol.soap import Call

R = TypeVar("R")

MAX_UNWRITABLE = 5
"""Maximum number of requests in a row that one call ends because they can no longer be written as QBXML."""

DONE = "done"
CLOSED = "OK"
OVER = "This session has ended. The next update begins a new one."
REVOKED = "The password of this connection was changed. Enter the new one in the Web Connector."
CONTENDED = "This session is being used by another call."


class SessionService:
    """The use cases of a Web Connector session."""

    def __init__(self, store: Database, clock: Clock, new_id: IdSource) -> None:
        self._store = store
        self._clock = clock
        self._sending = Sending(store, Quotas(store, clock, lambda: 0.0))
        self._receiving = Receiving(store, new_id)

    def send_request_xml(self, call: Call) -> Reply:
        """Send the request in flight.

        Makes three calls to the store, and a fourth if QuickBooks reports new facts about itself. While the session
        lingers, it makes two without work and four with work.
        """
        for _ in range(MAX_UNWRITABLE):
            reply = self._in_session(call, "", self._sending.send)
            if reply:
                return reply
        return Reply("")

    def receive_response_xml(self, call: Call) -> Reply:
        """Store the response and claim the next request. Makes three calls to the store.

        Replies 1-99 while the session continues, 100 if nothing is left, and -1 if the session has ended.
        """
        return self._in_session(call, SESSION_OVER, self._receiving.receive)

    def connection_error(self, call: Call) -> Reply:
        """Record that QuickBooks could not be reached. The open file is tried once; otherwise the session ends.

        Nothing was sent, so a claimed request waits again. A `closeConnection` does not always follow.
        """

        def step(session: Session, call: Call, now: datetime) -> Reply:
            error = connection_error(call["hresult"], call["message"], now)
            if _may_use_open_file(session, error["hresult"]):
                file = OpenCompanyFile(is_fallback=True)
                after = session.called(now, company_file=file, last_error=error_message(error))
                self._store.commit(Put(session, after))
                return Reply(CURRENT_COMPANY_FILE, session.connection_id)
            connection = self._store.connection(session.connection_id)
            self._store.commit(*end_of_session(session, connection, now, error_message(error), last_error=error))
            return Reply(DONE, session.connection_id)

        return self._in_session(call, DONE, step)

    def get_last_error(self, call: Call) -> Reply:
        """Return the reason why the session does not continue. It is never '', which has no documented meaning."""
        session = self._store.session(session_id(call["ticket"]))
        if session is None:
            return Reply("This session has expired. The next update begins a new one.")
        if session.is_revoked:
            return Reply(REVOKED, session.connection_id)
        now = self._clock()
        if lingering.continues(session, now) or session.has_page_to_send:
            return Reply(lingering.NO_OP, session.connection_id)
        reason = session.last_error or reason_to_hold(session, now) or lingering.end_message(session)
        return Reply(reason or (OVER if session.ended else "No more requests."), session.connection_id)

    def close_connection(self, call: Call) -> Reply:
        """End the session. The call can arrive twice or never. Unknown and ended sessions get the same reply."""

        def step(session: Session, _call: Call, now: datetime) -> Reply:
            connection = self._store.connection(session.connection_id)
            changes = end_of_session(session, connection, now, ending=Ending.CLOSED)
            self._store.commit(*changes, *self._returned_write(session, now))
            return Reply(CLOSED, session.connection_id)

        return self._in_session(call, CLOSED, step)

    def _returned_write(self, session: Session, now: datetime) -> list[ChangeRequest]:
        """Return the change of a write of this session that QuickBooks may still have been executing until now."""
        record = self._store.request(session.returned_write) if session.returned_write else None
        if not isinstance(record, QueuedRequest) or record.state is not State.RETRYABLE:
            return []
        if record.last_session_id != session.id or not record.recovery.running_until:
            return []
        return [ChangeRequest(record, record.changed(now, recovery=replace(record.recovery, running_until=None)))]

    def _in_session(
        self, call: Call, without_session: Result, step: Callable[[Session, Call, datetime], R]
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


def _may_use_open_file(session: Session, hresult: str) -> bool:
    """Whether the Web Connector should try the open company file instead of the connection's path.

    This is allowed once in a session, and only for errors about the path. The FileID mark then tells whether it is the
    right file.
    """
    if session.company_file.is_fallback or session.connection is None:
        return False
    return describe_hresult(hresult).other_file_may_help and company_file(session.connection) != CURRENT_COMPANY_FILE
