"""`receiveResponseXML`: stores the response to the request in flight and claims the next request."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from domain import qbxml
from domain.records.request import State
from domain.records.session import InFlight, LastResponse
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
from domain.web_connector.session.claims import commit_and_claim
from domain.web_connector.session.polling import reason_to_hold

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from domain.ports import IdSource
    from domain.records.request import QueuedRequest
    from domain.records.session import Session
    from domain.storage.changes import AddRequest, Change
    from domain.storage.ports import Database
    from domain.web_connector.outcomes.outcome import Outcome
    from domain.web_connector.protocol.soap import Call

FINISHED = 100
SESSION_OVER = -1
"""The replies that end a session: nothing is left to do, or it cannot continue. `getLastError` returns the reason."""


@dataclass(frozen=True, slots=True)
class Receiving:
    """Stores responses."""

    store: Database
    new_id: IdSource

    def receive(self, session: Session, call: Call, now: datetime) -> Reply:
        """Store the call's result for the request in flight, and reply with the session's progress.

        If the call is too large, the session continues, and requests a page again with half its size. A duplicate call
        gets the same reply and changes nothing.
        """
        in_flight = session.in_flight
        if in_flight is None:
            return Reply(session.progress or FINISHED, session.connection_id)
        outcome = _outcome(session, in_flight.record, call, now) if in_flight.record.state is State.SENT else None
        if isinstance(outcome, NotFalling) and in_flight.repeated_remaining is None:
            in_flight = replace(in_flight, repeated_remaining=outcome.remaining)
            self.store.commit(Put(session, session.called(now, in_flight=in_flight)))
        if outcome is None or isinstance(outcome, NotFalling):
            return Reply(session.progress, session.connection_id)
        progress = self._commit(session, in_flight, outcome, now, exception=is_exception(call["hresult"]))
        return Reply(progress, session.connection_id, in_flight.record.id)

    def _commit(
        self, session: Session, in_flight: InFlight, outcome: Outcome, now: datetime, *, exception: bool
    ) -> int:
        """Commit the outcome together with the session's next request, or the next page. Return the progress."""
        outcome, page = self._with_next_page(in_flight.record, outcome, now)
        after = _after(session, in_flight.record, outcome, now, exception=exception)
        change = outcome.change(in_flight)

        def session_change(progress: int, following: InFlight | None) -> Put[Session]:
            last = after.last_response and replace(after.last_response, progress=progress)
            return Put(session, replace(after, in_flight=following, last_response=last))

        progress = _progress(session, 1)
        if isinstance(outcome, SentAgain):
            again = InFlight(outcome.after, parse_error=outcome.parse_error)
            self.store.commit(session_change(progress, again), change)
            return progress
        if page:
            # Do not read the queue. A page must not cost more calls than any other response.
            self.store.commit(session_change(progress, InFlight(page.record)), change, page)
            return progress
        finished = SESSION_OVER if after.last_error else FINISHED
        if gives_up(after, in_flight.record) or reason_to_hold(session, now):
            self.store.commit(session_change(finished, None), change)
            return finished
        if after.limits.linger_seconds:
            finished = lingering.PROGRESS
        progress = finished

        def changes(following: InFlight | None, waiting: int) -> Sequence[Change]:
            nonlocal progress
            progress = _progress(session, waiting) if following else finished
            return [session_change(progress, following)]

        commit_and_claim(self.store, session.connection_id, session.id, now, changes, release=change)
        return progress

    def _with_next_page(
        self, record: QueuedRequest, outcome: Outcome, now: datetime
    ) -> tuple[Outcome, AddRequest | None]:
        """Return the outcome, and the next page if QuickBooks has more objects."""
        if not (isinstance(outcome, PageReceived) and outcome.iterator_id and outcome.iterator_remaining):
            return outcome, None
        request_xml = self.store.request_xml(record.id)
        try:
            request = qbxml.stored_request(request_xml, record.qbxml_version)
            page = next_page(record, request, outcome.iterator_id, self.new_id, now)
        except Exception as error:  # noqa: BLE001 - as in `_outcome`
            return not_interpreted(record, outcome.response_xml, error, now), None
        if page is None:
            return outcome, None
        paging = replace(outcome.after.paging, continued=True)
        return replace(outcome, after=replace(outcome.after, paging=paging)), page


def _outcome(session: Session, record: QueuedRequest, call: Call, now: datetime) -> Outcome | NotFalling | None:
    try:
        if call.is_beginning:
            return of_oversized(record, call["response"], now)
        if is_exception(call["hresult"]):
            return of_exception(session, record, call, now)
        return of_response(session, record, call["response"], now)
    except Exception as error:  # noqa: BLE001 - an error in one request must not block the requests behind it
        return not_interpreted(record, call["response"] or None, error, now)


def _after(session: Session, record: QueuedRequest, outcome: Outcome, now: datetime, *, exception: bool) -> Session:
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
