"""A running session: each call reads the stored session and what it needs, decides, and commits once.

The decisions are functions without side effects in `sending`, `receiving` and `end`. If two calls conflict, one of them
starts again, so a call that is delivered twice takes effect once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from domain.apps.quotas import Quotas
from domain.errors import Conflict
from domain.qbxml.codes.hresults import describe_hresult
from domain.records.request import QUEUED, State
from domain.records.session import NO_SESSION, HeldRequest, OpenCompanyFile, session_id
from domain.storage.changes import ChangeRequest, Put
from domain.storage.retry import commit_with_retry
from domain.timestamps import timestamp
from domain.web_connector.outcomes.error_reasons import connection_error, error_message
from domain.web_connector.outcomes.outcome import PageReceived
from domain.web_connector.protocol.methods import Reply
from domain.web_connector.session import lingering, onboarding_check, pacing, receiving, sending, sets
from domain.web_connector.session.claims import FRONTS, claimable, commit, front, has_not_ended, other_members
from domain.web_connector.session.company_file_check import CompanyFileCheck
from domain.web_connector.session.decision import Claiming, Decision
from domain.web_connector.session.dependants import with_dependants
from domain.web_connector.session.end import end_of_session, returned_write
from domain.web_connector.session.login import CURRENT_COMPANY_FILE, company_file
from domain.web_connector.session.polling import reason_to_hold

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from domain.ports import Clock, IdSource
    from domain.records.connection import Connection
    from domain.records.request import QueuedRequest
    from domain.records.session import Session
    from domain.storage.ports import Database
    from domain.web_connector.protocol.methods import Result
    from domain.web_connector.protocol.soap import Call
    from domain.web_connector.session.admission import Admission
    from domain.web_connector.session.sending import Turn

R = TypeVar("R")

MAX_UNWRITABLE = 5
"""Maximum number of requests in a row that one call ends because they can no longer be written as QBXML."""

DONE = "done"
CLOSED = "OK"
OVER = "This session has ended. The next update begins a new one."
REVOKED = "The password of this connection was changed. Enter the new one in the Web Connector."
CONTENDED = "This session is being used by another call."


class SessionService:
    """The use cases of a Web Connector session. The pages of an iterated query count against the quotas of an app.

    `admission` paces sessions, and ends those that have run for long while others wait; None does neither.
    """

    def __init__(self, store: Database, clock: Clock, new_id: IdSource, admission: Admission | None = None) -> None:
        self._store = store
        self._clock = clock
        self._new_id = new_id
        self._admission = admission
        self._quotas = Quotas(store, clock, lambda: 0.0)

    def send_request_xml(self, call: Call) -> Reply:
        """Reply with the QBXML of the request in flight, '' if there is none or none may be sent, or `NoOp`.

        After '', `getLastError` returns the reason. A lingering session claims a request that was queued meanwhile, or
        replies `NoOp` if there is none. The reply is also `NoOp` if the request is a page that has to wait, or if the
        session is faster than its pace.

        Makes three calls to the store, and a fourth if QuickBooks reports new facts about itself. While the session
        lingers, it makes two without work and four with work. After the first requests of a session, the live sessions
        are counted beside these calls, at most once a second.
        """
        for _ in range(MAX_UNWRITABLE):
            reply = self._in_session(call, "", self._send)
            if reply:
                return reply
        return Reply("")

    def receive_response_xml(self, call: Call) -> Reply:
        """Store the response and claim the next request. Makes three calls to the store.

        Replies 1-99 while the session continues, 100 if nothing is left, and -1 if the session has ended. If the call
        is too large, the session continues, and requests a page again with half its size. A duplicate call gets the
        same reply and changes no request.
        """
        return self._in_session(call, receiving.SESSION_OVER, self._receive)

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
            held, connection = self._held(session), self._store.connection(session.connection_id)
            changes = end_of_session(session, held, connection, now, error_message(error), last_error=error)
            self._store.commit(*with_dependants(self._store, changes, now))
            return Reply(DONE, session.connection_id)

        return self._in_session(call, DONE, step)

    def get_last_error(self, call: Call) -> Reply:
        """Return the reason why the session does not continue. It is never '', which has no documented meaning."""
        session = self._session(call)
        if session is None:
            return Reply("This session has expired. The next update begins a new one.")
        if session.is_revoked:
            return Reply(REVOKED, session.connection_id)
        now = self._clock()
        if lingering.continues(session, now) or session.has_page_to_send or pacing.is_waiting(session, now):
            return Reply(lingering.NO_OP, session.connection_id)
        reason = session.last_error or reason_to_hold(session, now) or lingering.end_message(session)
        return Reply(reason or (OVER if session.ended else "No more requests."), session.connection_id)

    def close_connection(self, call: Call) -> Reply:
        """End the session. The call can arrive twice or never. Unknown and ended sessions get the same reply."""

        def step(session: Session, _call: Call, now: datetime) -> Reply:
            connection = self._store.connection(session.connection_id)
            changes = end_of_session(session, self._held(session), connection, now)
            returned = self._store.records_by_id(session.returned_writes) if session.returned_writes else ()
            if released := [change for record in returned for change in returned_write(session, record, now)]:
                # With a set in flight, one commit would be too large. The end is repeated if it fails.
                self._store.commit(*released)
            self._store.commit(*with_dependants(self._store, changes, now))
            return Reply(CLOSED, session.connection_id)

        return self._in_session(call, CLOSED, step)

    # --- Sending

    def _send(self, session: Session, call: Call, now: datetime) -> Reply | None:
        """Return the reply, or None if the request ended and the next one is in flight. Raises Conflict."""
        if session.onboarding_check:
            check = self._company_file_check(session, call, now)
            return commit(
                self._store, onboarding_check.sent(session, check, now), session.connection_id, session.id, now
            )
        reading = self._admission.of(session) if self._admission and pacing.has_pace(session) else None
        held, queue = self._in_flight_with_queue(session)
        if not held:
            session = replace(session, in_flight=None)
            queue = (
                front(self._store, session.connection_id, session.id, now) if lingering.may_claim(session, now) else ()
            )
        turn = sending.turn(session, held, queue, now)
        if isinstance(turn, Decision):
            return turn.reply
        page_is_allowed = not turn.is_new_page or self._quotas.allow_page(turn.record.app_id)
        decision = sending.not_sent(turn, page_is_allowed=page_is_allowed)
        if decision is None:
            turn = turn.paced(reading.calls_of_a_session() if reading else None)
            check = self._company_file_check(session, call, now)
            if check and check.is_other_company_file:
                decision = sending.wrong_company_file(turn, check)
            else:
                decision = sending.sent(self._with_others(turn, queue), check, self._new_id())
        if isinstance(decision, Claiming):
            commit(self._store, decision, session.connection_id, session.id, now)
            return None
        self._commit_turn(turn, decision)
        return decision.reply

    def _in_flight_with_queue(self, session: Session) -> tuple[Sequence[HeldRequest], Sequence[QueuedRequest]]:
        """Return the requests in flight, and the front of the queue if others may be sent with the first."""
        if session.in_flight is None:
            return (), ()
        is_extensible = len(session.held_ids) == 1 and session.set_size > 1 and not session.in_flight.is_next_page
        return self._store.held_requests(session, max(FRONTS[0], session.set_size) if is_extensible else 0)

    def _with_others(self, turn: Turn, queue: Sequence[QueuedRequest]) -> Turn:
        """Return the turn with the queued requests that are sent in the same message set, and with their bodies."""
        session, first = turn.session, turn.record
        if first.state is not State.TICKETED:
            return turn
        if len(turn.held) > 1:
            return turn.asking_if_incomplete()
        others: Sequence[QueuedRequest] = ()
        if first.message_set:
            others = other_members(self._store, first.connection_id, first.message_set)
        elif session.set_size > 1 and sending.may_have_company(turn.held[0]):
            behind = [record for record in claimable(queue, session.id, turn.now) if record.id != first.id]
            others = sets.companions(session, first, behind)
        turn = turn.with_queued([HeldRequest(record) for record in others])
        unread = [held.record for held in turn.held if held.request_xml is None]
        turn = turn.with_bodies(self._store.with_request_xml(unread)) if unread else turn
        return turn.asking_if_incomplete()

    def _company_file_check(self, session: Session, call: Call, now: datetime) -> CompanyFileCheck | None:
        """Return the check against the session's copy of the connection, or the stored one if it has to change.

        Return None if the session has made the check.
        """
        if session.connection is None:
            return None

        def against(connection: Connection) -> CompanyFileCheck:
            # An onboarding check waits for the answer to its own question.
            answered_at = None if session.onboarding_check else timestamp(now)
            is_fallback = session.company_file.is_fallback
            return CompanyFileCheck(call, connection, must_be_marked=is_fallback, answered_at=answered_at)

        check = against(session.connection)
        if check.learned() or check.is_other_company_file:
            return against(self._store.connection(session.connection.id) or session.connection)
        return check

    def _commit_turn(self, turn: Turn, decision: Decision) -> None:
        """Commit a decision. An entry of the queue that the session cannot claim leaves the queue."""
        try:
            commit(self._store, decision, turn.session.connection_id, turn.session.id, turn.now)
        except Conflict as conflict:
            claim = conflict.change
            if (
                isinstance(claim, ChangeRequest)
                and claim.before.state in QUEUED
                and not has_not_ended(conflict.current)
            ):
                self._store.remove_from_queue(claim.before)
            raise

    # --- Receiving

    def _receive(self, session: Session, call: Call, now: datetime) -> Reply:
        if session.onboarding_check:
            connection = self._store.connection(session.connection_id)
            answer = onboarding_check.received(session, connection, call, now)
            return commit(self._store, answer, session.connection_id, session.id, now)
        if session.in_flight is None:
            return receiving.nothing_in_flight(session)
        if self._admission and self._admission.ends(session, now):
            session = replace(session, limits=replace(session.limits, ends_for_others=True))
        may_claim = reason_to_hold(session, now) is None
        held, queue = self._store.held_requests(session, FRONTS[0] if may_claim else 0)
        if not held:
            # A copy of this call may have been answered since the session was read.
            return receiving.nothing_in_flight(self._store.session(session.id) or session)
        outcomes = receiving.outcomes(session, held, call, now)
        if isinstance(outcomes, Sequence) and isinstance(outcomes[0], PageReceived) and outcomes[0].has_next_page:
            outcomes = [receiving.with_next_page(outcomes[0], held[0], self._new_id(), now)]
        decision = receiving.decision(session, held, call, outcomes, now)
        return commit(self._store, decision, session.connection_id, session.id, now, queue)

    # --- All calls

    def _held(self, session: Session) -> Sequence[HeldRequest]:
        """Return the requests in flight."""
        return self._store.held_requests(session)[0] if session.in_flight else ()

    def _in_session(
        self, call: Call, without_session: Result, step: Callable[[Session, Call, datetime], R]
    ) -> R | Reply:
        """Return the reply of `step` for the live session of the call. Repeats `step` after a conflict.

        Raises TooManyRequests.
        """

        def attempt(_: Conflict | None) -> R | Reply:
            session = self._session(call)
            if session is None or session.ended or session.is_revoked:
                return Reply(without_session)
            return step(session, call, self._clock())

        return commit_with_retry(attempt, CONTENDED)

    def _session(self, call: Call) -> Session | None:
        ticket = call["ticket"]
        return None if ticket in {"", NO_SESSION} else self._store.session(session_id(ticket))


def _may_use_open_file(session: Session, hresult: str) -> bool:
    """Whether the Web Connector should try the open company file instead of the connection's path.

    This is allowed once in a session, and only for errors about the path. The FileID mark then tells whether it is the
    right file.
    """
    if session.company_file.is_fallback or session.connection is None:
        return False
    return describe_hresult(hresult).other_file_may_help and company_file(session.connection) != CURRENT_COMPANY_FILE
