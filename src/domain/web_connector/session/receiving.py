"""`receiveResponseXML`: stores the response to the request in flight and claims the next request."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from domain import qbxml
from domain.requests.record import MAX_FACT_CHARACTERS, State, shortened
from domain.storage.changes import ChangeRequest, Put
from domain.web_connector.protocol.methods import Reply
from domain.web_connector.responses.outcome import (
    Changed,
    Completed,
    Ignored,
    NotExecuted,
    Requeued,
    SendAgain,
    can_be_forgotten,
    not_interpreted,
    of_oversized,
    of_response,
)
from domain.web_connector.responses.pages import next_page
from domain.web_connector.responses.processor_exception import is_exception, of_exception
from domain.web_connector.responses.search_text import search_text_of
from domain.web_connector.session import lingering
from domain.web_connector.session.backoff import after_failure, gives_up
from domain.web_connector.session.polling import reason_to_hold
from domain.web_connector.session.record import InFlight, LastResponse

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from domain.ports import IdSource
    from domain.requests.record import QueuedRequest
    from domain.storage.changes import AddRequest, Change
    from domain.storage.ports import Database
    from domain.web_connector.protocol.soap import Call
    from domain.web_connector.session.claims import Claims
    from domain.web_connector.session.record import Session

FINISHED = 100
SESSION_OVER = -1
"""The replies that end a session: nothing is left to do, or it cannot continue. `getLastError` returns the reason."""


class Receiving:
    """Stores responses."""

    def __init__(self, store: Database, claims: Claims, new_id: IdSource) -> None:
        self._store = store
        self._claims = claims
        self._new_id = new_id

    def receive(self, session: Session, call: Call, now: datetime, *, oversized: bool = False) -> Reply:
        """Store the call's result for the request in flight, and reply with the session's progress.

        Only the beginning of an `oversized` call was read. The session continues, and requests a page again with half
        its size. A duplicate call gets the same reply and changes nothing.
        """
        if session.in_flight is None:
            return Reply(session.progress or FINISHED, session.connection_id)
        record = session.in_flight.record
        if record.state is not State.SENT:
            return Reply(session.progress, session.connection_id)
        exception = is_exception(call["hresult"])
        try:
            if oversized:
                outcome = of_oversized(record, call["response"], now)
            elif exception:
                outcome = of_exception(session, record, call, now)
            else:
                outcome = of_response(session, record, call["response"], now)
        except Exception as error:  # noqa: BLE001 - an error in one request must not block the requests behind it
            outcome = not_interpreted(record, call["response"] or None, error, now)
        if isinstance(outcome, Ignored):
            return Reply(session.progress, session.connection_id)
        changed, page = self._with_next_page(record, outcome, now)
        after = _after(session, record, changed, now, exception=exception)
        progress = self._commit(session, after, session.in_flight, changed, page, now)
        return Reply(progress, session.connection_id, record.id)

    def _commit(  # noqa: PLR0917 - the parts of one call
        self,
        session: Session,
        after: Session,
        in_flight: InFlight,
        outcome: Changed,
        page: AddRequest | None,
        now: datetime,
    ) -> int:
        """Commit the outcome together with the session's next request, or the next `page`. Return the progress."""
        record = in_flight.record
        search_text = search_text_of(in_flight, outcome.response_xml, outcome.after)
        changed = ChangeRequest(record, outcome.after, outcome.response_xml, search_text)

        def session_change(progress: int, following: InFlight | None) -> Put[Session]:
            last = after.last_response and replace(after.last_response, progress=progress)
            return Put(session, replace(after, in_flight=following, last_response=last))

        progress = _progress(session, 1)
        if isinstance(outcome, SendAgain):
            following = InFlight(outcome.after, parse_error=outcome.parse_error)
            self._store.commit(session_change(progress, following), changed)
            return progress
        if page:
            # Do not read the queue. A page must not cost more calls than any other response.
            self._store.commit(session_change(progress, InFlight(page.record)), changed, page)
            return progress
        finished = SESSION_OVER if isinstance(outcome, NotExecuted) else FINISHED
        if gives_up(after) or reason_to_hold(session, now):
            self._store.commit(session_change(finished, None), changed)
            return finished
        if after.limits.linger_seconds:
            finished = lingering.PROGRESS
        progress = finished

        def changes(claimed: QueuedRequest | None, waiting: int) -> Sequence[Change]:
            nonlocal progress
            progress = _progress(session, waiting) if claimed else finished
            return [session_change(progress, InFlight(claimed) if claimed else None)]

        self._claims.commit_and_claim(session.connection_id, session.id, now, changes, changed)
        return progress

    def _with_next_page(
        self, record: QueuedRequest, outcome: Changed, now: datetime
    ) -> tuple[Changed, AddRequest | None]:
        """Return the outcome, and the next page if QuickBooks has more objects."""
        if not isinstance(outcome, Completed) or not outcome.iterator_id or not outcome.iterator_remaining:
            return outcome, None
        request_xml = self._store.request_xml(record.id)
        try:
            request = qbxml.stored_request(request_xml, record.qbxml_version)
            page = next_page(record, request, outcome.iterator_id, self._new_id, now)
        except Exception as error:  # noqa: BLE001 - as above
            return not_interpreted(record, outcome.response_xml, error, now), None
        if page is None:
            return outcome, None
        paging = replace(outcome.after.paging, continued=True)
        return replace(outcome, after=replace(outcome.after, paging=paging)), page


def _after(session: Session, record: QueuedRequest, outcome: Changed, now: datetime, *, exception: bool) -> Session:
    """Return the session after an outcome, before its next request is known."""
    last = LastResponse(record.request_name, record.request_label, number=session.responses + 1)
    if isinstance(outcome, Completed):
        iterator_id = outcome.iterator_id and shortened(outcome.iterator_id, MAX_FACT_CHARACTERS)
        last = replace(last, iterator_id=iterator_id, iterator_remaining=outcome.iterator_remaining)
    failure = outcome if isinstance(outcome, NotExecuted) else None
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
        failures=session.failures + 1 if failure else 0,
        backoff=failure and after_failure(session, now, unavailable=failure.unavailable),
        last_error=failure and failure.message,
        connection_error=failure and failure.connection_error,
    )


def _progress(session: Session, waiting: int) -> int:
    """Return the value of the Web Connector's progress bar, from 1 to 99. The value never falls during a session."""
    number = session.responses + 1
    return max(1, session.progress, min(99, 100 * number // (number + waiting)))
