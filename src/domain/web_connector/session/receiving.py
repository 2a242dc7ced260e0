"""`receiveResponseXML`: what happens after a response, decided without side effects.

`service` reads the stored request if the response is a page that others follow, and commits the decision.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from domain import qbxml
from domain.records.request import State
from domain.records.session import HeldRequest, InFlight, LastResponse
from domain.storage.changes import Put
from domain.web_connector.outcomes.error_reasons import error_message
from domain.web_connector.outcomes.outcome import (
    NotExecuted,
    NotFalling,
    PageReceived,
    Requeued,
    SentAgain,
    can_be_forgotten,
    has_response,
    not_interpreted,
    of_oversized,
    of_response,
)
from domain.web_connector.outcomes.pages import next_page
from domain.web_connector.outcomes.processor_exception import is_exception, of_exception
from domain.web_connector.protocol.methods import Reply
from domain.web_connector.session import lingering
from domain.web_connector.session.backoff import after_failure, gives_up
from domain.web_connector.session.decision import Claiming, Decision
from domain.web_connector.session.polling import reason_to_hold

if TYPE_CHECKING:
    from datetime import datetime

    from domain.records.request import QueuedRequest
    from domain.records.session import Session
    from domain.storage.changes import Change
    from domain.web_connector.outcomes.outcome import Outcome
    from domain.web_connector.protocol.soap import Call

FINISHED = 100
SESSION_OVER = -1
"""The replies that end a session: nothing is left to do, or it cannot continue. `getLastError` returns the reason."""


def outcome(session: Session, held: HeldRequest, call: Call, now: datetime) -> Outcome | NotFalling | None:
    """Return the outcome of the call for the request in flight, or None if the call is not about this request."""
    record = held.record
    if record.state is not State.SENT:
        return None
    try:
        if call.is_beginning:
            return of_oversized(record, call["response"], now)
        if is_exception(call["hresult"]):
            return of_exception(session, record, call, now)
        return of_response(session, record, call["response"], now)
    except Exception as error:  # noqa: BLE001 - an error in one request must not block the requests behind it
        return not_interpreted(record, call["response"] or None, error, now)


def with_next_page(page: PageReceived, held: HeldRequest, page_id: str, now: datetime) -> Outcome:
    """Return the outcome of a page that others follow, with the next page. The new record gets the id `page_id`."""
    record = held.record
    try:
        request = qbxml.stored_request(held.request_xml or "", record.qbxml_version)
        following = next_page(record, request, page.iterator_id, page_id, now, metadata=held.metadata)
    except Exception as error:  # noqa: BLE001 - as in `outcome`
        return not_interpreted(record, page.response_xml, error, now)
    if following is None:
        return page
    paging = replace(page.after.paging, continued=True)
    return replace(page, after=replace(page.after, paging=paging), next_page=following)


def nothing_in_flight(session: Session) -> Reply:
    """Return the reply if no request is in flight: a duplicate call gets the same reply as before."""
    return Reply(session.progress or FINISHED, session.connection_id)


def decision(
    session: Session, held: HeldRequest, call: Call, outcome: Outcome | NotFalling | None, now: datetime
) -> Decision | Claiming:
    """Return the decision after `outcome`. A duplicate call gets the same reply as before and changes nothing."""
    if outcome is None:
        return Decision(Reply(session.progress, session.connection_id))
    if isinstance(outcome, NotFalling):
        return _wait(session, outcome, now)
    return _continue(session, held, outcome, now, exception=is_exception(call["hresult"]))


def _wait(session: Session, outcome: NotFalling, now: datetime) -> Decision:
    """Return the decision to wait for another response. The first such response is recorded."""
    reply = Reply(session.progress, session.connection_id)
    if session.in_flight is None or session.in_flight.repeated_remaining is not None:
        return Decision(reply)
    in_flight = replace(session.in_flight, repeated_remaining=outcome.remaining)
    return Decision(reply, [Put(session, session.called(now, in_flight=in_flight))])


def _continue(
    session: Session, held: HeldRequest, outcome: Outcome, now: datetime, *, exception: bool
) -> Decision | Claiming:
    """Return the decision how the session continues.

    It sends the same request again, continues with the next page, claims nothing more, or claims the next request.
    """
    record = held.record
    after = _session_after(session, record, outcome, now, exception=exception)
    change = outcome.change(held)

    def with_request(following: InFlight | None, progress: int, *changes: Change) -> Decision:
        last = after.last_response and replace(after.last_response, progress=progress)
        session_change = Put(session, replace(after, in_flight=following, last_response=last))
        return Decision(Reply(progress, session.connection_id, record.id), [session_change, *changes])

    if isinstance(outcome, SentAgain):
        again = InFlight((record.id,), parse_error=outcome.parse_error)
        return with_request(again, _progress(session, 1), change)
    if isinstance(outcome, PageReceived) and outcome.next_page:
        # Do not read the queue. A page must not cost more calls than any other response.
        page = outcome.next_page
        following = InFlight((page.record.id,), is_next_page=True)
        return with_request(following, _progress(session, 1), change, page)
    finished = SESSION_OVER if after.last_error else FINISHED
    if gives_up(after, record) or reason_to_hold(session, now):
        return with_request(None, finished, change)
    if after.limits.linger_seconds:
        finished = lingering.PROGRESS

    def decide(following: QueuedRequest | None, waiting: int) -> Decision:
        if following is None:
            return with_request(None, finished)
        return with_request(InFlight((following.id,)), _progress(session, waiting))

    return Claiming(decide, [change])


def _session_after(
    session: Session, record: QueuedRequest, outcome: Outcome, now: datetime, *, exception: bool
) -> Session:
    """Return the session after an outcome, before its next request is known."""
    last = LastResponse(record.request_name, record.request_label, number=session.responses + 1)
    if isinstance(outcome, PageReceived):
        last = replace(last, iterator_id=outcome.iterator_id, iterator_remaining=outcome.iterator_remaining)
    error = outcome.connection_error if isinstance(outcome, NotExecuted) else None
    held = outcome.held if isinstance(outcome, Requeued) else None
    failures, backoff = 0, None
    if error:
        failures, backoff = session.failures + 1, after_failure(session, now, error["hresult"])
    elif record.recovering and not has_response(outcome.after):
        # QuickBooks has answered a status check, which does not show whether it executes requests.
        failures, backoff = session.failures, session.backoff
    # While this session lingers, it must not claim a request that is left to a later session.
    ends = isinstance(outcome, (NotExecuted, Requeued))
    return session.called(
        now,
        last_response=last,
        limits=replace(session.limits, linger_seconds=0) if ends else session.limits,
        exception_reported=session.exception_reported or exception,
        message_set_to_forget=record.message_set_id
        if can_be_forgotten(outcome.after)
        else session.message_set_to_forget,
        failures=failures,
        backoff=backoff,
        returned_write=record.id if isinstance(outcome, NotExecuted) and outcome.returns else session.returned_write,
        last_error=error_message(error) if error else held,
        connection_error=error,
    )


def _progress(session: Session, waiting: int) -> int:
    """Return the value of the Web Connector's progress bar, from 1 to 99. The value never falls during a session."""
    number = session.responses + 1
    return max(1, session.progress, min(99, 100 * number // (number + waiting)))
