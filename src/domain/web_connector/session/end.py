"""The end of a session: the request in flight is requeued or ends, and the connection is free again.

It is used by `closeConnection`, `connectionError`, the next `authenticate`, the sweep and the removal of a connection.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from domain.qbxml.codes.hresults import describe_hresult
from domain.records.request import State
from domain.records.session import OnboardingCheck, OpenCompanyFile
from domain.storage.changes import ChangeRequest, Put
from domain.timestamps import timestamp
from domain.web_connector.outcomes import looking
from domain.web_connector.outcomes.attribution import is_sent_as_set
from domain.web_connector.outcomes.error_reasons import connection_error, error_message
from domain.web_connector.outcomes.lookup_messages import in_flight
from domain.web_connector.outcomes.lost_response import Ending, after_session_end
from domain.web_connector.outcomes.outcome import RequestUpdate
from domain.web_connector.protocol.methods import Reply
from domain.web_connector.session.backoff import at_end
from domain.web_connector.session.company_file_check import CURRENT_COMPANY_FILE, company_file
from domain.web_connector.session.decision import Decision
from domain.web_connector.session.polling import reason_to_hold
from domain.web_connector.session.sets import size_at_end

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from domain.records.connection import Connection
    from domain.records.request import QueuedRequest
    from domain.records.session import Limits, RequestInFlight, Session
    from domain.storage.changes import Change
    from domain.web_connector.protocol.soap import Call
    from domain.web_connector.session.company_file_check import CompanyFileCheck

DONE = "done"
"""The reply of `connectionError` if the session ends."""


NOT_RETURNED = (
    "The Web Connector closed this session before it returned the answer of QuickBooks. "
    "The next update begins a new one."
)
NOT_FETCHED = (
    "The Web Connector closed this session before it fetched everything that was ready. "
    "The next update begins a new one."
)


def closed_early(session: Session, requests: Sequence[RequestInFlight], now: datetime) -> str | None:
    """Return why a session stops that the Web Connector closes now, or None if the session is complete or has a reason.

    `requests` are those in flight. One that was only claimed never reached QuickBooks.
    """
    if session.last_error:
        return None
    run, check = session.run, session.onboarding_check
    is_run_sent = run is not None and run.is_sent
    if is_run_sent or check is OnboardingCheck.SENT or any(one.record.state is State.SENT for one in requests):
        return NOT_RETURNED
    return reason_to_hold(session, now) or (NOT_FETCHED if run or check or requests else None)


def session_end(session: Session, now: datetime, reason: str | None) -> Put[Session]:
    """Return the change that ends a session. A late `getLastError` returns `reason`.

    An ended session outlives its requests, so it has none of their content. It has what the history of the connection
    shows, and is removed with the connection.
    """
    last_response = session.last_response and replace(session.last_response, iterator_id=None)
    ended = replace(session, ended=True, in_flight=None, connection=None, last_response=last_response)
    after = ended.without_run().called(now)
    return Put(session, replace(after, connection_error=None, last_error=reason or session.last_error))


def released(requests: Sequence[RequestInFlight], now: datetime, ending: Ending, limits: Limits) -> list[ChangeRequest]:
    """Return the changes that requeue or end the requests in flight of a session with these limits."""
    in_set = is_sent_as_set([request.record for request in requests])

    def after(record: QueuedRequest) -> QueuedRequest:
        running_until = limits.running_until(record)
        ended = after_session_end(in_flight(record), now, ending, running_until=running_until, in_set=in_set)
        return looking.after_session(record, ended, now)

    return [RequestUpdate(after(request.record)).change(request) for request in requests]


def freed(
    connection: Connection, session: Session, now: datetime, requests: Sequence[RequestInFlight] = ()
) -> Connection:
    """Return the connection after the end of its session now, with these requests in flight."""
    return replace(
        connection,
        session_id=None,
        message_set_to_forget=session.message_set_to_forget,
        backoff=at_end(session),
        read_set_size=size_at_end(session),
        last_error=session.connection_error or connection.last_error,
        last_worked_at=session.last_call_at if session.responses else connection.last_worked_at,
        session_ended_at=timestamp(now),
        sends=session.after_send_of([request.record for request in requests]).sends,
    )


def end_of_session(
    session: Session,
    requests: Sequence[RequestInFlight],
    connection: Connection | None,
    now: datetime,
    reason: str | None = None,
    *,
    change: Callable[[Connection], Connection] | None = None,
) -> list[Change]:
    """Return the changes that end a session, release its requests in flight and free its connection.

    `change` changes the connection further in the same commit.
    """
    changes: list[Change] = [session_end(session, now, reason)]
    changes += released(requests, now, Ending.OTHER, session.limits)
    if connection:
        after = freed(connection, session, now, requests) if connection.session_id == session.id else connection
        if change:
            after = change(after)
        if after is not connection:
            changes.append(Put(connection, after.changed(timestamp(now))))
    return changes


def end_in_wrong_file(
    session: Session, requests: Sequence[RequestInFlight], check: CompanyFileCheck, now: datetime
) -> list[Change]:
    """Return the changes that end a session because the open company file is not the connection's."""
    seen = replace(session, company_file=check.opened(session))
    change = partial(check.mismatched, now=now)
    return end_of_session(seen, requests, check.connection, now, check.mismatch_message, change=change)


def may_use_open_file(session: Session, call: Call) -> bool:
    """Whether the Web Connector should try the open company file instead of the connection's path.

    This is allowed once in a session, and only for errors about the path. The FileID mark then tells whether it is the
    right file.
    """
    if session.company_file.is_fallback or session.connection is None:
        return False
    may_help = describe_hresult(call["hresult"]).other_file_may_help
    return may_help and company_file(session.connection) != CURRENT_COMPANY_FILE


def use_open_file(session: Session, call: Call, now: datetime) -> Decision:
    """Return the decision to try the open company file after a connection error."""
    message = unreachable(call, now)
    after = replace(session, company_file=OpenCompanyFile(is_fallback=True), last_error=message).called(now)
    return Decision(Reply(CURRENT_COMPANY_FILE, session.connection_id), [Put(session, after)])


def unreachable(call: Call, now: datetime) -> str:
    """Return why QuickBooks could not be reached, for people."""
    return error_message(connection_error(call["hresult"], call["message"], now))


def after_connection_error(
    session: Session, requests: Sequence[RequestInFlight], connection: Connection | None, call: Call, now: datetime
) -> Decision:
    """Return the decision to end the session because QuickBooks could not be reached."""
    error = connection_error(call["hresult"], call["message"], now)
    changes = end_of_session(
        session, requests, connection, now, error_message(error), change=lambda after: replace(after, last_error=error)
    )
    return Decision(Reply(DONE, session.connection_id), changes)


def returned(session: Session, writes: Sequence[QueuedRequest], now: datetime) -> list[ChangeRequest]:
    """Return the changes of the session's returned writes, which QuickBooks may have been executing until now."""
    return [
        ChangeRequest(record, replace(record, recovery=replace(record.recovery, running_until=None)).changed(now))
        for record in writes
        if record.state is State.RETRYABLE and record.claim.session_id == session.id and record.recovery.running_until
    ]
