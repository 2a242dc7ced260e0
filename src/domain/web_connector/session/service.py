"""The conversation with a Web Connector: one method here for each of the protocol's (§2).

A session is what is stored of it; a call reads it, decides, and commits once. Two calls that meet
make one of them read again (`Conflict`), so that a call delivered twice does what it did once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from domain import qbxml
from domain.errors import Conflict, InvalidRequest, NotFound, TooManyRequests
from domain.requests.record import State
from domain.requests.search_text import searchable_text
from domain.storage.changes import ChangeConnection, ChangeRequest, ChangeSession
from domain.web_connector.protocol.methods import Reply
from domain.web_connector.protocol.soap import MAX_BODY_BYTES
from domain.web_connector.recovery.lost_response import settled
from domain.web_connector.recovery.message_sets import status_check, written
from domain.web_connector.responses.outcome import may_be_forgotten, of_answer, of_oversized, unsendable
from domain.web_connector.responses.pages import next_page, page_size
from domain.web_connector.responses.processor_exception import is_exception, of_exception
from domain.web_connector.responses.search_text import search_text_of
from domain.web_connector.session import lingering
from domain.web_connector.session.claims import Claims
from domain.web_connector.session.company_file_check import CompanyFileCheck
from domain.web_connector.session.connection_error import DONE, TRY_THE_OPEN_FILE, NoQuickBooks
from domain.web_connector.session.end import end_of_session, give_back, moved_on
from domain.web_connector.session.login import Login
from domain.web_connector.session.polling import reason_to_hold
from domain.web_connector.session.record import Answered, ticket_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from domain.ports import Clock, IdSource, SecretSource
    from domain.requests.record import QueuedRequest
    from domain.storage.changes import Change
    from domain.storage.ports import Database
    from domain.web_connector.protocol.soap import Call
    from domain.web_connector.responses.outcome import Outcome
    from domain.web_connector.session.record import Session

SERVER_VERSION = "qbxml-queue"

TRIES = 5
"""How often a call that met another one is done anew."""

NOT_COME = "The answer to {} {} has not come. The next update asks QuickBooks for it."
OVER = "This session is over. The next update begins a new one."

FINISHED = 100
SESSION_OVER = -1
"""What `receiveResponseXML` answers when all is done, and when `getLastError` says why it ends (§2.8)."""


class SessionService:
    """The use cases of a Web Connector session."""

    def __init__(
        self,
        store: Database,
        clock: Clock,
        new_id: IdSource,
        secrets: SecretSource,
    ) -> None:
        self._store = store
        self._clock = clock
        self._new_id = new_id
        self._claims = Claims(store)
        self._login = Login(store, self._claims, clock, secrets)

    # --- before a session

    def server_version(self, _call: Call) -> Reply:
        """Say who answers; shown under "More information"."""
        return Reply(SERVER_VERSION)

    def client_version(self, _call: Call) -> Reply:
        """Accept every Web Connector: nothing here needs a newer one, and a warning would stop unattended runs."""
        return Reply("")

    # --- authenticate

    def authenticate(self, call: Call) -> Reply:
        """Open a session when the password is right and there is work for it (`Login`)."""
        return self._login.authenticate(call)

    # --- sendRequestXML

    def send_request_xml(self, call: Call) -> Reply:
        """Hand out the request that the session holds. Three calls of the store.

        '' when there is none, or none may go out: `getLastError` says why. A session that lingers looks for what
        came meanwhile: that costs a call more, and `NoOp` when there is nothing one less.
        """
        reread = False
        for _ in range(TRIES):
            session = self._live_session(call["ticket"])
            if session is None:
                return Reply("")
            now = self._clock()
            stored = record = session.in_flight
            if record is None:
                stored = self._queued_meanwhile(session, now)
                if stored is None:
                    return Reply(lingering.NO_OP if lingering.goes_on(session, now) else "", session.connection_id)
                record = stored.claimed(session.ticket, now)
            try:
                held = reason_to_hold(session, now)
                if held and record.state is State.TICKETED and record.paging.page == 1:
                    return self._keep_back(session, record, held, now)
                text = self._hand_out(session, record, call, stored=stored, reread=reread)
            except Conflict as conflict:
                reread = reread or isinstance(conflict.change, ChangeConnection)
                continue
            if text is not None:
                return Reply(text, session.connection_id, record.id)
        return Reply("")

    def _queued_meanwhile(self, session: Session, now: datetime) -> QueuedRequest | None:
        """Return what a session that lingers finds in the queue."""
        if not lingering.may_look(session, now):
            return None
        return self._claims.next_in_line(session.connection_id, session.ticket)

    def _keep_back(self, session: Session, record: QueuedRequest, reason: str, now: datetime) -> Reply:
        """Give back what was claimed before nothing more was to be sent; what stays is for a later session."""
        after = moved_on(session, now, in_flight=None, linger_seconds=0, last_error=reason)
        self._store.commit(ChangeSession(session, after), give_back(session, record, settled(record, now)))
        return Reply("", session.connection_id)

    def _hand_out(
        self, session: Session, record: QueuedRequest, call: Call, *, stored: QueuedRequest | None, reread: bool
    ) -> str | None:
        """Return what goes to QuickBooks, '' when nothing may, None when the session holds another request now.

        `stored` is the record as it is stored: one that lay in the queue is claimed with that.
        """
        now = self._clock()
        if record.state is State.SENT and not record.is_read and not record.recovering:
            # Our last answer, or the response to it, was lost. A write never goes out twice; it stays in
            # flight, because its response may still come. If it does not, the session's end decides.
            return self._refuse(session, now, NOT_COME.format(record.request_name, record.id))
        facts: dict[str, Any] = {"facts_read": True, "connection": None}
        learned: list[Change] = []
        file_mark, forget = session.company_file_mark, session.answered_message_set
        if not session.facts_read:
            connection = session.connection
            if connection is None or reread:
                connection = self._store.connection(session.connection_id)
            if connection:
                first = CompanyFileCheck(call, connection, must_be_marked=session.tried_open_file)
                if first.is_other_company_file:
                    return self._hold_back(session, first, now)
                learned.append(first.learned(now))
                facts["company_file_mark"] = file_mark = first.file_mark
                if first.is_new_company_file:
                    # What there is to forget was kept by another one.
                    facts["answered_message_set"] = forget = None
        try:
            text, search_text, size = self._outgoing(record, forget)
        except (InvalidRequest, NotFound) as error:
            self._pass_over(session, stored or record, unsendable(record, error.message, now), error.message, now)
            return None
        if record.state is State.TICKETED:
            sent = record.handed_out(now, company_file_mark=file_mark, page_size=size).as_change_of(stored or record)
            learned.append(ChangeRequest(stored or record, sent))
            facts |= {"in_flight": sent, "search_text": search_text}
        if not record.is_read and not record.recovering:
            facts["answered_message_set"] = None
        self._store.commit(ChangeSession(session, moved_on(session, now, **facts)), *learned)
        return text

    def _outgoing(self, record: QueuedRequest, forget: str | None) -> tuple[str, str, int | None]:
        """Return what is handed out for `record`, the text to search for it, and the size of a page.

        With a write, QuickBooks is told to `forget` a message set.
        Raises InvalidRequest or NotFound for a request that can no longer be written. The answer of
        one that went out before can be asked for all the same.
        """
        try:
            request = qbxml.stored_request(self._store.request_xml(record.id), record.qbxml_version)
        except (InvalidRequest, NotFound):
            if record.recovering:
                return status_check(record), "", None
            raise
        if record.recovering:
            return status_check(record), searchable_text(record, request), None
        text = written(record, request, forget)
        return text, searchable_text(record, request), page_size(record, request)

    def _refuse(self, session: Session, now: datetime, reason: str) -> str:
        self._store.commit(ChangeSession(session, moved_on(session, now, last_error=reason)))
        return ""

    def _hold_back(self, session: Session, first: CompanyFileCheck, now: datetime) -> str:
        """End the session: what is queued is meant for another company file."""
        reason = first.company_file_mismatch
        self._store.commit(*end_of_session(session, first.connection, now, reason, **first.mismatch(now)))
        return ""

    def _pass_over(
        self, session: Session, record: QueuedRequest, after: QueuedRequest, reason: str, now: datetime
    ) -> None:
        """End the request that cannot go out and claim the next one, so that it blocks nobody."""
        change = give_back(session, record, after)

        def changes(claimed: QueuedRequest | None, _waiting: int) -> Sequence[Change]:
            after = moved_on(session, now, in_flight=claimed, search_text="", last_error=reason)
            return [ChangeSession(session, after), change]

        self._claims.commit_and_claim(session.connection_id, session.ticket, now, changes, held=record.id)

    # --- receiveResponseXML

    def receive_response_xml(self, call: Call) -> Reply:
        """Store the answer to the request in flight and claim the next one. Three calls of the store.

        Answers how far the queue is done (1-99), 100 when nothing is left, -1 when the session is
        over, also because QuickBooks left the last request undone. The same answer once more is
        acknowledged and stored once.
        """
        return self._receive(call, _meaning)

    def receive_oversized(self, call: Call) -> Reply:
        """Note that the answer is too large to be taken; of the call only the beginning was read.

        The session goes on, where a refusal would end it: a page is asked for again with half its size.
        """
        return self._receive(call, _meaning_of_oversized)

    def _receive(self, call: Call, meaning: Meaning) -> Reply:
        for _ in range(TRIES):
            session = self._live_session(call["ticket"])
            if session is None:
                return Reply(SESSION_OVER)
            record = session.in_flight
            if record is None:
                return Reply(session.last_progress or FINISHED, session.connection_id)
            if record.state is not State.SENT:
                return Reply(session.last_progress, session.connection_id)
            now = self._clock()
            outcome = meaning(session, record, call, now)
            if outcome is None:
                return Reply(session.last_progress, session.connection_id)
            try:
                progress = self._store_answer(session, record, outcome, now)
            except Conflict:
                continue
            return Reply(progress, session.connection_id, record.id)
        raise TooManyRequests("This session is being used by another call.")

    def _store_answer(self, session: Session, record: QueuedRequest, outcome: Outcome, now: datetime) -> int:
        """Commit the outcome and what comes next; return the progress to answer."""
        search_text = search_text_of(session, outcome.response_xml, outcome.after)
        answered = ChangeRequest(record, outcome.after, outcome.response_xml, search_text)
        progress = FINISHED

        def moved(progress: int, in_flight: QueuedRequest | None) -> ChangeSession:
            after = moved_on(
                session,
                now,
                in_flight=in_flight,
                last_answered=outcome.answered or Answered(record.request_name, record.request_label),
                last_progress=progress,
                answered=session.answered + 1,
                last_error=outcome.trouble,
                reported=outcome.reported,
                met_exception=session.met_exception or outcome.by_exception,
                suspicion=outcome.suspicion,
                search_text="",
                linger_seconds=lingering.seconds_left(session, outcome),
                answered_message_set=record.message_set_id
                if may_be_forgotten(outcome.after)
                else session.answered_message_set,
            )
            return ChangeSession(session, after)

        if outcome.iterator_id:
            # The queue is not read then, so that a page costs no more calls than any other answer.
            request = qbxml.stored_request(self._store.request_xml(record.id), record.qbxml_version)
            page = next_page(record, request, outcome.iterator_id, ticket=session.ticket, new_id=self._new_id, now=now)
            if page:
                progress = _progress(session, 1)
                self._store.commit(moved(progress, page.record), answered, page)
                return progress
        if outcome.after.state is State.TICKETED:
            # A write that was never executed, a smaller page, or a question that need not wait: it goes out now.
            progress = _progress(session, 1)
            self._store.commit(moved(progress, outcome.after), answered)
            return progress
        if outcome.trouble and session.last_error:
            # One exception may be one request's doing. Two in a row are QuickBooks': what is queued is left
            # to a later session instead of failing in turn.
            self._store.commit(moved(SESSION_OVER, None), answered)
            return SESSION_OVER

        finished = SESSION_OVER if outcome.trouble else FINISHED
        if reason_to_hold(session, now):
            self._store.commit(moved(finished, None), answered)
            return finished

        def changes(claimed: QueuedRequest | None, waiting: int) -> Sequence[Change]:
            nonlocal progress
            if claimed:
                progress = _progress(session, waiting)
            else:
                progress = lingering.WAITING if lingering.seconds_left(session, outcome) else finished
            return [moved(progress, claimed), answered]

        self._claims.commit_and_claim(session.connection_id, session.ticket, now, changes, held=record.id)
        return progress

    # --- when something is wrong

    def connection_error(self, call: Call) -> Reply:
        """Note that QuickBooks could not be reached, and end the session, unless another attempt may help.

        Nothing was handed out; what was claimed is given back. `closeConnection` may not follow (§2.6).
        """
        failure = NoQuickBooks(call)
        for _ in range(TRIES):
            session = self._live_session(call["ticket"])
            if session is None:
                return Reply(DONE)
            now = self._clock()
            try:
                if failure.may_try_the_open_file(session):
                    after = moved_on(session, now, tried_open_file=True, last_error=failure.words)
                    self._store.commit(ChangeSession(session, after))
                    return Reply(TRY_THE_OPEN_FILE, session.connection_id)
                connection = self._store.connection(session.connection_id)
                told = failure.last_error(now)
                self._store.commit(*end_of_session(session, connection, now, failure.words, last_error=told))
            except Conflict:
                continue
            return Reply(DONE, session.connection_id)
        return Reply(DONE)

    def get_last_error(self, call: Call) -> Reply:
        """Say why the session does not go on; never '', whose meaning is not documented (§2.9)."""
        session = self._store.session(ticket_hash(call["ticket"]))
        if session is None:
            return Reply("This session has expired. The next update begins a new one.")
        now = self._clock()
        if lingering.goes_on(session, now):
            return Reply(lingering.NO_OP, session.connection_id)
        reason = session.last_error or reason_to_hold(session, now) or lingering.over(session)
        return Reply(reason or (OVER if session.ended else "No more requests."), session.connection_id)

    # --- the end

    def close_connection(self, call: Call) -> Reply:
        """End the session. Unknown and ended ones are answered alike; it may come twice or never (§2.10)."""
        for _ in range(TRIES):
            session = self._live_session(call["ticket"])
            if session is None:
                break
            connection = self._store.connection(session.connection_id)
            try:
                self._store.commit(*end_of_session(session, connection, self._clock()))
            except Conflict:
                continue
            return Reply("OK", session.connection_id)
        return Reply("OK")

    # --- interactive mode, which the service does not use (§2.11)

    def get_interactive_url(self, _call: Call) -> Reply:
        """Offer no page: nothing here needs the user."""
        return Reply("")

    def interactive_rejected(self, _call: Call) -> Reply:
        """Answer the text that the user sees."""
        return Reply("There is no interactive mode.")

    def interactive_done(self, _call: Call) -> Reply:
        """End the interactive mode at once."""
        return Reply("Done")

    def _live_session(self, ticket: str) -> Session | None:
        if not ticket:
            return None
        session = self._store.session(ticket_hash(ticket))
        return None if session is None or session.ended else session


Meaning: TypeAlias = "Callable[[Session, QueuedRequest, Call, datetime], Outcome | None]"
"""What a call means for the record that the session holds; None when it says nothing about that."""


def _meaning(session: Session, record: QueuedRequest, call: Call, now: datetime) -> Outcome | None:
    response, hresult = call["response"], call["hresult"]
    if is_exception(hresult):
        return of_exception(session, record, response, hresult, call["message"], now)
    return of_answer(session, record, response, now)


def _meaning_of_oversized(_session: Session, record: QueuedRequest, call: Call, now: datetime) -> Outcome | None:
    return of_oversized(record, call["response"], MAX_BODY_BYTES, now)


def _progress(session: Session, waiting: int) -> int:
    """Return 1-99 for the Web Connector's progress bar: it never goes back while the session lasts."""
    answered = session.answered + 1
    return max(1, session.last_progress, min(99, 100 * answered // (answered + waiting)))
