"""`receiveResponseXML`: what happens after a response, decided without side effects.

`service` reads the requests in flight and commits the decision.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from domain import qbxml
from domain.qbxml.codes.hresults import describe_hresult
from domain.records.request import ErrorCode, State
from domain.records.session import InFlight, LastResponse, RequestInFlight
from domain.storage.changes import Put
from domain.timestamps import timestamp
from domain.web_connector.outcomes import looking
from domain.web_connector.outcomes.error_reasons import error_message
from domain.web_connector.outcomes.lookup_messages import in_flight
from domain.web_connector.outcomes.lost_response import MAX_IGNORED
from domain.web_connector.outcomes.outcome import (
    Answered,
    Ended,
    Ignored,
    NotExecuted,
    PageReceived,
    Repeated,
    Requeued,
    SentAgain,
    believed,
    can_be_forgotten,
    combined,
    has_response,
    not_interpreted,
    of_oversized,
    of_response,
    stored_once,
)
from domain.web_connector.outcomes.pages import next_page
from domain.web_connector.outcomes.processor_exception import is_exception, is_parse_error, of_exception
from domain.web_connector.protocol.methods import Reply
from domain.web_connector.session import lingering, runs, sets
from domain.web_connector.session.backoff import after_failure, gives_up
from domain.web_connector.session.decision import Claiming, Decision, Finishing, GivingBack
from domain.web_connector.session.end import freed, session_end
from domain.web_connector.session.polling import reason_to_hold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.records.connection import Connection
    from domain.records.request import QueuedRequest
    from domain.records.session import Session
    from domain.storage.changes import AddRequest, Change
    from domain.web_connector.outcomes.outcome import Answer, Outcome
    from domain.web_connector.protocol.soap import Call

FINISHED = 100
SESSION_OVER = -1
"""The replies that end a session: nothing is left to do, or it cannot continue. `getLastError` returns the reason."""


MAX_AGE_OF_ANSWERS = timedelta(minutes=5)
"""How long after a set of queries its requests still write what follows from the answers. Then the others ask again,
because QuickBooks lets two people use a number twice."""

FOUND_OTHERWISE = frozenset({ErrorCode.AMBIGUOUS_MATCH, ErrorCode.NAME_IN_USE})
"""The errors of requests whose query QuickBooks has answered."""


def may_claim(session: Session, now: datetime) -> bool:
    """Whether the session may continue with a request of the queue."""
    return reason_to_hold(session, now) is None


def after_end(session: Session) -> int:
    """Return the reply after the end of the session: a duplicate of the call that ended it gets the same reply."""
    return FINISHED if session.progress == FINISHED else SESSION_OVER


def nothing_in_flight(session: Session) -> Decision:
    """Return the decision if no request is in flight: a duplicate call gets the same reply as before."""
    return Decision(Reply(session.progress or FINISHED, session.connection_id))


def decision(
    session: Session, requests: Sequence[RequestInFlight], call: Call, page_id: str, now: datetime
) -> Decision | Claiming | Finishing | GivingBack:
    """Return the decision after a call. A duplicate call gets the same reply as before and changes no request.

    If the call has a page that others follow, the record of the next page gets the id `page_id`.
    """
    in_flight = session.in_flight or InFlight(())
    match answer(session, requests, call, now):
        case Ignored():
            return _unanswered(session, _after_ignored(in_flight, requests[0].record, call), now)
        case Repeated() if in_flight.repeated_remaining is not None:
            return _unanswered(session, in_flight, now)
        case Repeated(remaining):
            return _unanswered(session, replace(in_flight, repeated_remaining=remaining), now)
        case Answered([PageReceived(has_next_page=True) as page]):
            return _continue(session, requests, [_with_next_page(page, requests[0], page_id, now)], call, now)
        case Answered(outcomes):
            return _continue(session, requests, outcomes, call, now)


def answer(session: Session, requests: Sequence[RequestInFlight], call: Call, now: datetime) -> Answer:
    """Return what a call says about the requests in flight."""
    records = [request.record for request in requests]
    if any(record.state is not State.SENT for record in records):
        return Ignored()
    asked = list(map(in_flight, records))
    try:
        found = _answer(session, asked, call, now)
    except Exception as error:  # noqa: BLE001 - an error in these requests must not block the requests behind them
        parts = stored_once(asked, call["response"] or None)
        found = combined(asked, [not_interpreted(record, part, error, now) for record, part in parts], now)
    if not isinstance(found, Answered):
        return found
    pairs = zip(believed(found.outcomes, asked, now), requests, strict=True)
    continued = [_continued(outcome, request, session.company_file.key, now) for outcome, request in pairs]
    return Answered(looking.in_turn(continued, now))


def _continued(outcome: Outcome, request: RequestInFlight, open_key: str | None, now: datetime) -> Outcome:
    """Return the outcome of a request, given that of what it had in flight."""
    try:
        return looking.continued(outcome, request, open_key, now)
    except Exception as error:  # noqa: BLE001 - an error in one request must not block the others
        ended = not_interpreted(request.record, outcome.response_xml, error, now)
        return believed([ended], [request.record], now)[0]


def _answer(session: Session, records: Sequence[QueuedRequest], call: Call, now: datetime) -> Answer:
    if call.is_beginning:
        return of_oversized(records, call["response"], now)
    if is_exception(call["hresult"]):
        return of_exception(session, records, call, now)
    return of_response(session, records, call["response"], now)


def _with_next_page(page: PageReceived, stored: RequestInFlight, page_id: str, now: datetime) -> Outcome:
    """Return the outcome of a page that others follow, with the next page. The new record gets the id `page_id`."""
    record = stored.record
    try:
        request = qbxml.stored_request(stored.request_xml or "", record.qbxml_version)
        following = next_page(
            record, request, page.iterator_id, page_id, now, metadata=stored.metadata, queued_by=stored.queued_by
        )
    except Exception as error:  # noqa: BLE001 - as in `answer`
        return not_interpreted(record, page.response_xml, error, now)
    if following is None:
        return page
    paging = replace(page.after.paging, continued=True)
    return replace(page, after=replace(page.after, paging=paging), next_page=following)


def _unanswered(session: Session, in_flight: InFlight, now: datetime) -> Decision:
    """Return the decision to wait for another call, with the same reply as before."""
    after = replace(session, in_flight=in_flight)
    return Decision(
        Reply(session.progress, session.connection_id), [Put(session, after.called(now))] if after != session else ()
    )


def _after_ignored(in_flight: InFlight, record: QueuedRequest, call: Call) -> InFlight:
    """Return the requests in flight after an ignored call. `record` is the first of them.

    If the call is another exception after QuickBooks could not parse the requests, the parse error was a repetition of
    an earlier one. QuickBooks may have failed within these requests, so the parse error is forgotten. Responses are
    counted while QuickBooks has a request that is sent again if the Web Connector asks.
    """
    if is_exception(call["hresult"]):
        return in_flight if is_parse_error(call["hresult"]) else replace(in_flight, parse_error=None)
    if record.state is not State.SENT or not record.asks:
        return in_flight
    return replace(in_flight, ignored=min(in_flight.ignored + 1, MAX_IGNORED))


def _continue(  # noqa: PLR0917 - the parts of one call
    session: Session,
    requests: Sequence[RequestInFlight],
    outcomes: Sequence[Outcome],
    call: Call,
    now: datetime,
    given_back: Sequence[QueuedRequest] | None = None,
) -> Decision | Claiming | Finishing | GivingBack:
    """Return the decision how the session continues.

    It sends the same requests again, continues with those that are claimed behind them or with the next page, claims
    nothing more, or claims the next request. If nothing is left to send or to be found out, the session ends in this
    commit, and `closeConnection` finds it ended. After a failure, what is claimed behind is `given_back` first.
    """
    record = requests[0].record
    after = _session_after(session, [request.record for request in requests], outcomes, call, now)
    releases = [
        outcome.change(request, position)
        for position, (outcome, request) in enumerate(zip(outcomes, requests, strict=True))
    ]

    def next_session(following: InFlight | None, progress: int) -> Session:
        last = after.last_response and replace(after.last_response, progress=progress)
        return replace(after, in_flight=following, last_response=last)

    def with_request(following: InFlight, progress: int, *changes: Change) -> Decision:
        reply = Reply(progress, session.connection_id, record.id)
        return Decision(reply, [Put(session, next_session(following, progress)), *changes])

    def without_request(progress: int, *changes: Change) -> Decision | Finishing:
        last = next_session(None, progress)
        decision = Decision(Reply(progress, session.connection_id, record.id), [Put(session, last), *changes])
        # After a failure, `closeConnection` shows that QuickBooks has finished the requests (`end.returned`).
        is_over = progress == FINISHED and not last.returned_writes and _all_have_responses(outcomes)
        return _ending(decision, session, last, now) if is_over else decision

    is_held = gives_up(after, record) or bool(reason_to_hold(session, now))
    in_flight = session.in_flight or InFlight(())
    behind = in_flight.behind if given_back is None else ()
    if behind and (is_held or not all(map(_goes_on, outcomes)) or _is_too_old(in_flight, now)):
        return GivingBack(behind, partial(_continue, session, requests, outcomes, call, now))
    releases += looking.given_back(given_back or (), now)
    pages = _next_pages(outcomes)
    if following := _sent_next(outcomes, pages, behind):
        asked_at = (in_flight.asked_at or timestamp(now)) if following.behind else None
        following = replace(following, asked_at=asked_at)
        return with_request(following, _progress(session, 1 + len(following.behind)), *releases, *pages)
    finished = SESSION_OVER if after.last_error else FINISHED
    if is_held:
        return without_request(finished, *releases)
    after = runs.begun(after, now)
    if after.limits.linger_seconds or after.run:
        finished = lingering.PROGRESS

    def decide(following: QueuedRequest | None, behind: Sequence[QueuedRequest]) -> Decision | Finishing:
        if following is None:
            return without_request(finished)
        return with_request(sets.claimed(after, following, behind), _progress(session, 1 + len(behind)))

    # Only the first exception of a session is believed, so a write that met the same dialog box would be held.
    error = after.connection_error
    repeatable = error is not None and describe_hresult(error["hresult"]).fails_every_request
    return Claiming(decide, releases, repeatable, after.low_is_due, after.run is not None and not after.low_is_due)


def _next_pages(outcomes: Sequence[Outcome]) -> Sequence[AddRequest]:
    return [outcome.next_page for outcome in outcomes if isinstance(outcome, PageReceived) and outcome.next_page]


def _sent_next(outcomes: Sequence[Outcome], pages: Sequence[AddRequest], behind: Sequence[str]) -> InFlight | None:
    """Return the requests that the session sends next without a claim, or None if there are none.

    They are requests that are sent again, those `behind` them, or the next page.
    """
    again = [outcome for outcome in outcomes if isinstance(outcome, SentAgain)]
    ids = [*(outcome.after.id for outcome in again), *behind]
    # After their queries, requests with `if_exists` are sent one after the other.
    one_by_one = bool(behind) or any(outcome.after.lookup for outcome in again)
    sent, later = (ids[:1], ids[1:]) if one_by_one else (ids, [])
    sent += [page.record.id for page in pages]
    parse_error = again[0].parse_error if again else None
    following = InFlight(tuple(sent), tuple(later), is_next_page=bool(pages), parse_error=parse_error)
    return following if sent else None


def _is_too_old(in_flight: InFlight, now: datetime) -> bool:
    """Whether the requests behind have to ask again, because somebody may have added the same objects meanwhile."""
    return in_flight.asked_at is not None and in_flight.asked_at < timestamp(now - MAX_AGE_OF_ANSWERS)


def _goes_on(outcome: Outcome) -> bool:
    """Whether the requests that were claimed behind a request can be sent after this outcome.

    A write that waits for its approval does not hold them. One that was not executed, or is recovered later, does.
    """
    return outcome.is_step or isinstance(outcome, Ended | SentAgain)


def _all_have_responses(outcomes: Sequence[Outcome]) -> bool:
    return all(has_response(outcome.after) for outcome in outcomes)


def _ending(decision: Decision, session: Session, last: Session, now: datetime) -> Finishing:
    """Return the decision with the end of the session, unless its connection has another one.

    `last` is the session after the decision.
    """

    def ended(connection: Connection | None) -> Decision:
        if connection is None or connection.session_id != session.id:
            return decision
        # A session that must not claim does not know whether other requests wait.
        end = replace(session_end(last, now, reason_to_hold(last, now)).after, revision=last.revision)
        free = freed(connection, last, now).changed(timestamp(now))
        return replace(decision, changes=[Put(session, end), Put(connection, free), *decision.changes[1:]])

    return Finishing(ended)


def _session_after(
    session: Session, records: Sequence[QueuedRequest], outcomes: Sequence[Outcome], call: Call, now: datetime
) -> Session:
    """Return the session after the outcomes of its requests in flight, before its next request is known.

    An exception and a reason to hold concern all requests of a message set, so those of the first one count.
    """
    record, outcome = records[0], outcomes[0]
    answered = session.answered + sum(map(_ended_with_answer, outcomes))
    last = LastResponse(number=session.responses + len(records), answered=answered)
    if isinstance(outcome, PageReceived):
        last = replace(last, iterator_id=outcome.iterator_id, iterator_remaining=outcome.iterator_remaining)
    error = outcome.connection_error if isinstance(outcome, NotExecuted) else None
    held = outcome.held if isinstance(outcome, Requeued) else None
    failures, backoff = 0, None
    if error:
        failures, backoff = session.failures + 1, after_failure(session, now, error["hresult"])
    elif (record.recovering or record.looks) and not has_response(outcome.after):
        # QuickBooks has answered a question, which does not show whether it executes requests.
        failures, backoff = session.failures, session.backoff
    # Then this session must not linger or make a run: it would claim a request that is left to a later session.
    ends = any(
        isinstance(outcome, NotExecuted) or (isinstance(outcome, Requeued) and outcome.after.is_in_queue)
        for outcome in outcomes
    )
    can_forget = all(can_be_forgotten(outcome.after) for outcome in outcomes)
    returned = [
        record.id
        for record, outcome in zip(records, outcomes, strict=True)
        if isinstance(outcome, NotExecuted) and outcome.returns
    ]
    is_over = not any(isinstance(outcome, SentAgain) for outcome in outcomes)
    return replace(
        _with_set_size(session.without_run() if ends else session, records, outcomes, call, now),
        sends=session.after_send_of(records).sends if is_over else session.sends,
        last_response=last,
        limits=replace(session.limits, linger_seconds=0, run_due_at=None) if ends else session.limits,
        exception_reported=session.exception_reported or is_exception(call["hresult"]),
        message_set_to_forget=record.message_set_id if can_forget else session.message_set_to_forget,
        failures=failures,
        backoff=backoff,
        returned_writes=tuple(returned) or session.returned_writes,
        last_error=error_message(error) if error else held,
        connection_error=error,
    ).called(now)


def _with_set_size(
    session: Session, records: Sequence[QueuedRequest], outcomes: Sequence[Outcome], call: Call, now: datetime
) -> Session:
    """Return the session with the size of its next message sets. It falls unless QuickBooks answered every request."""
    if not all(map(_is_answered, records, outcomes)) or any(record.recovering for record in records):
        return sets.beginning_with_one(session)
    sent_at = max(session.last_call_at, records[-1].updated_at)
    seconds = (now - datetime.fromisoformat(sent_at)).total_seconds()
    after = sets.after_response(session, len(records), seconds, len(call["response"]))
    if records[0].lookup is None:
        return after
    if records[0].looks:
        # A query that took long says nothing about writes.
        return replace(after, write_set_size=max(after.write_set_size, session.write_set_size))
    # The time of a write says nothing about the size of the next set of queries.
    return replace(after, read_set_size=session.read_set_size)


def _is_answered(record: QueuedRequest, outcome: Outcome) -> bool:
    """Whether QuickBooks has answered a request, or the query for its object."""
    was_asked = record.looks and (outcome.is_step or _is_found_otherwise(outcome))
    looks_again = isinstance(outcome, SentAgain) and outcome.after.looks and not outcome.after.recovering
    return has_response(outcome.after) or was_asked or looks_again


def _is_found_otherwise(outcome: Outcome) -> bool:
    error = outcome.after.error
    return error is not None and error.code in FOUND_OTHERWISE


def _ended_with_answer(outcome: Outcome) -> bool:
    """Whether a request has ended with the answer of QuickBooks to it, or to the query for its object."""
    return has_response(outcome.after) or _is_found_otherwise(outcome)


def _progress(session: Session, waiting: int) -> int:
    """Return the value of the Web Connector's progress bar, from 1 to 99. The value never falls during a session."""
    number = session.responses + 1
    return max(1, session.progress, min(99, 100 * number // (number + waiting)))
