"""A running session: each call reads the stored session and what it needs, decides, and commits once.

The decisions are functions without side effects in `sending`, `receiving` and `end`. If two calls conflict, one of them
starts again, so a call that is delivered twice takes effect once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from domain.records.session import NO_SESSION, RequestInFlight, session_id
from domain.storage.retry import commit_with_retry
from domain.web_connector.protocol.methods import Reply
from domain.web_connector.session import end, onboarding_check, receiving, runs, sending
from domain.web_connector.session.claims import FRONTS, Claims
from domain.web_connector.session.company_file_check import CompanyFileCheck
from domain.web_connector.session.decision import Claiming, Decision

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from domain.apps.quotas import Quotas
    from domain.ports import Clock, IdSource
    from domain.records.session import Session
    from domain.storage.ports import SessionStore
    from domain.web_connector.protocol.methods import Result
    from domain.web_connector.protocol.soap import Call
    from domain.web_connector.session.admission import Admission
    from domain.web_connector.session.sending import Dispatch

R = TypeVar("R")

MAX_UNWRITABLE = 5
"""Maximum number of requests in a row that one call ends because they can no longer be written as QBXML."""

CLOSED = "OK"
EXPIRED = "This session has expired. The next update begins a new one."
REVOKED = "The password of this connection was changed. Enter the new one in the Web Connector."
CONTENDED = "This session is being used by another call."


@dataclass(frozen=True, slots=True)
class Skipped:
    """The request was not sent: it ended, or is left to a later session. The next one is in flight."""


class SessionService:
    """The use cases of a Web Connector session. The pages of an iterated query count against the `quotas` of an app.

    `admission` paces sessions, and ends those that have run for long while others wait; None does neither.
    """

    def __init__(
        self, store: SessionStore, clock: Clock, new_id: IdSource, quotas: Quotas, admission: Admission | None = None
    ) -> None:
        self._store = store
        self._clock = clock
        self._new_id = new_id
        self._admission = admission
        self._quotas = quotas

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
            match self._in_session(call, "", self._send):
                case Reply() as reply:
                    return reply
                case Skipped():
                    pass
        return Reply("")

    def receive_response_xml(self, call: Call) -> Reply:
        """Store the response and claim the next request. Makes three calls to the store, or four if nothing is left.

        Replies 1-99 while the session continues, 100 if nothing is left, and -1 if the session was ended. If nothing is
        left to do for `closeConnection`, the session ends in the commit that stores the response. If the call
        is too large, the session continues, and requests a page again with half its size. A duplicate call gets the
        same reply and changes no request.
        """
        return self._in_session(call, receiving.SESSION_OVER, self._receive, receiving.after_end)

    def connection_error(self, call: Call) -> Reply:
        """Record that QuickBooks could not be reached. The open file is tried once; otherwise the session ends.

        Nothing was sent, so a claimed request waits again. A `closeConnection` does not always follow.
        """

        def step(session: Session, call: Call, claims: Claims) -> Reply:
            if end.may_use_open_file(session, call):
                return claims.commit(end.use_open_file(session, call, claims.now))
            requests, connection = self._in_flight(session), self._store.connection(session.connection_id)
            decision = end.after_connection_error(session, requests, connection, call, claims.now)
            problem = end.unreachable(call, claims.now)
            changes = runs.after_loss(self._store, session, connection, claims.now, problem)
            return claims.commit(replace(decision, changes=[*decision.changes, *changes]))

        return self._in_session(call, end.DONE, step)

    def get_last_error(self, call: Call) -> Reply:
        """Return the reason why the session does not continue."""
        session = self._session(call)
        if session is None:
            return Reply(EXPIRED)
        message = REVOKED if session.is_revoked else sending.last_error(session, self._clock())
        return Reply(message, session.connection_id)

    def close_connection(self, call: Call) -> Reply:
        """End the session. The call can arrive twice or never. Unknown and ended sessions get the same reply."""

        def step(session: Session, _call: Call, claims: Claims) -> Reply:
            connection = self._store.connection(session.connection_id)
            requests = self._in_flight(session)
            reason = end.closed_early(session, requests, claims.now)
            changes = end.end_of_session(session, requests, connection, claims.now, reason)
            changes += runs.after_loss(self._store, session, connection, claims.now)
            writes = self._store.records_by_id(session.returned_writes) if session.returned_writes else ()
            if returned := end.returned(session, writes, claims.now):
                # With a set in flight, one commit would be too large. The end is repeated if it fails.
                self._store.commit(*returned)
            return claims.commit(Decision(Reply(CLOSED, session.connection_id), changes))

        return self._in_session(call, CLOSED, step)

    # --- Sending

    def _send(self, session: Session, call: Call, claims: Claims) -> Reply | Skipped:
        """Return the reply, or that the request was skipped. Raises Conflict."""
        if session.onboarding_check:
            check = self._company_file_check(session, call, claims.now)
            return claims.commit(onboarding_check.sent(session, check, claims.now))
        if session.in_flight is None:
            session = runs.begun(session, claims.now)
        reading = self._admission.for_pace(session) if self._admission else None
        dispatch = self._dispatch(session, claims)
        if session.run and not dispatch.items:
            return self._send_run(session, call, claims)
        page_is_allowed = not dispatch.is_new_page or self._quotas.allow_page(dispatch.record.app_id)
        decision = sending.before_sending(dispatch, page_is_allowed=page_is_allowed)
        if isinstance(decision, sending.MaySend):
            decision = self._sent(dispatch.paced(reading), call, claims)
        reply = claims.commit(decision)
        return Skipped() if isinstance(decision, Claiming) else reply

    def _dispatch(self, session: Session, claims: Claims) -> Dispatch:
        """Return the requests in flight, or a claim of the first one in the queue if the session lingers."""
        may_be_joined = session.in_flight is not None and session.in_flight.may_be_joined
        front = max(FRONTS[0], session.read_set_size, session.write_set_size) if may_be_joined else 0
        requests, queue = self._store.requests_in_flight(session, front) if session.in_flight else ((), ())
        dispatch = sending.Dispatch.of(session, requests, queue, claims.now)
        if not dispatch.may_claim:
            return dispatch
        claimable = claims.front(low_first=session.low_is_due)
        comes_later = session.run and claimable and claimable[0].is_low and not claimable[0].recovering
        if comes_later and not session.low_is_due:
            return dispatch
        return replace(dispatch.joined_by(map(RequestInFlight, claimable[:1])), queue=claimable)

    def _send_run(self, session: Session, call: Call, claims: Claims) -> Reply:
        """Send the next message of a run. Makes two more calls to the store than the rest, for connection and copy."""
        check = self._company_file_check(session, call, claims.now)
        turn = self._turn(session, claims.now)
        if turn is None:
            return claims.commit(runs.without_connection(session, claims.now))
        page_is_allowed = not turn.is_new_page or self._quotas.allow_page(turn.connection.app_id)
        return claims.commit(turn.sent(check, page_is_allowed=page_is_allowed))

    def _turn(self, session: Session, now: datetime, remembered: Sequence[str] = ()) -> runs.Turn | None:
        """Return what a run needs, or None if the connection was deleted. An answer also needs what is remembered."""
        connection = self._store.connection(session.connection_id)
        if connection is None or connection.deleted_at:
            return None
        return runs.Turn(session, connection, self._store.copy_state(session.connection_id, remembered), now)

    def _sent(self, dispatch: Dispatch, call: Call, claims: Claims) -> Decision | Claiming:
        check = self._company_file_check(dispatch.session, call, claims.now)
        if check and check.is_other_company_file:
            return sending.wrong_company_file(dispatch, check)
        return sending.sent(self._completed(dispatch, claims), check, self._new_id())

    def _completed(self, dispatch: Dispatch, claims: Claims) -> Dispatch:
        """Return the dispatch with the queued requests of the same message set, and with their bodies."""
        if dispatch.was_sent:
            return dispatch
        first = dispatch.items[0].stored
        unread = [first.record] if first.request_xml is None else []
        if len(dispatch.items) > 1:
            return dispatch.joined_by(self._store.with_request_xml(unread) if unread else ()).asking_if_incomplete()
        if message_set := dispatch.record.message_set:
            others = claims.other_members(message_set)
        else:
            others = sending.companions(dispatch, claims.claimable(dispatch.queue))
        unread = [*unread, *others]
        return dispatch.joined_by(self._store.with_request_xml(unread) if unread else ()).asking_if_incomplete()

    def _company_file_check(self, session: Session, call: Call, now: datetime) -> CompanyFileCheck | None:
        """Return the check against the session's copy of the connection, or the stored one if it has to change.

        Return None if the session has made the check.
        """
        if session.connection is None:
            return None
        check = CompanyFileCheck.of_session(session, call, session.connection, now)
        if check.learned() == check.connection and not check.is_other_company_file:
            return check
        connection = self._store.connection(session.connection_id) or session.connection
        return CompanyFileCheck.of_session(session, call, connection, now)

    # --- Receiving

    def _receive(self, session: Session, call: Call, claims: Claims) -> Reply:
        now = claims.now
        if session.onboarding_check:
            connection = self._store.connection(session.connection_id)
            return claims.commit(onboarding_check.received(session, connection, call, now))
        if session.in_flight is None and session.run:
            limited = self._admission.limited(session, now) if self._admission else session
            turn = self._turn(limited, now, remembered=runs.compared(session.run))
            return claims.commit(turn.received(call)) if turn else Reply(receiving.SESSION_OVER)
        if session.in_flight is None:
            return claims.commit(receiving.nothing_in_flight(session))
        limited = self._admission.limited(session, now) if self._admission else session
        # Those that are claimed behind the one that was sent come first.
        claims_next = receiving.may_claim(limited, now) and not session.in_flight.behind
        requests, queue = self._store.requests_in_flight(limited.without_behind(), FRONTS[0] if claims_next else 0)
        if not requests:
            # A copy of this call may have been answered since the session was read.
            return claims.commit(receiving.nothing_in_flight(self._store.session(session.id) or session))
        decision = receiving.decision(limited, requests, call, self._new_id(), now)
        return claims.commit(decision, queue if claims_next else None)

    # --- All calls

    def _in_flight(self, session: Session) -> Sequence[RequestInFlight]:
        """Return the requests in flight."""
        return self._store.requests_in_flight(session)[0] if session.in_flight else ()

    def _in_session(
        self,
        call: Call,
        without_session: Result,
        step: Callable[[Session, Call, Claims], R],
        after_end: Callable[[Session], Result] | None = None,
    ) -> R | Reply:
        """Return the reply of `step` for the live session of the call. Repeats `step` after a conflict.

        `after_end` returns the reply if the session has ended, which is otherwise the one without a session.

        Raises TooManyRequests.
        """

        def attempt(_: object) -> R | Reply:
            session = self._session(call)
            if session is None or session.is_revoked:
                return Reply(without_session)
            if session.ended:
                return Reply(after_end(session) if after_end else without_session)
            return step(session, call, Claims(self._store, session.connection_id, session.id, self._clock()))

        return commit_with_retry(attempt, CONTENDED)

    def _session(self, call: Call) -> Session | None:
        ticket = call["ticket"]
        return None if ticket in {"", NO_SESSION} else self._store.session(session_id(ticket))
