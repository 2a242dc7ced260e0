"""`sendRequestXML`: sends the request in flight to the Web Connector."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from domain import qbxml
from domain.errors import Conflict, InvalidRequest, NotFound
from domain.records.request import State
from domain.records.search_text import searchable_text
from domain.records.session import InFlight
from domain.storage.changes import ChangeRequest, Put
from domain.timestamps import timestamp
from domain.web_connector.outcomes.error_reasons import Reason, reason_details
from domain.web_connector.outcomes.lost_response import iterator_not_falling
from domain.web_connector.outcomes.message_sets import outgoing, status_check
from domain.web_connector.outcomes.outcome import Ended
from domain.web_connector.outcomes.pages import as_sent, page_size
from domain.web_connector.protocol.methods import Reply
from domain.web_connector.session import lingering
from domain.web_connector.session.claims import commit_and_claim, front, has_not_ended
from domain.web_connector.session.company_file_check import CompanyFileCheck
from domain.web_connector.session.end import end_of_session
from domain.web_connector.session.polling import reason_to_hold

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from domain.apps.quotas import Quotas
    from domain.records.connection import Connection
    from domain.records.request import QueuedRequest
    from domain.records.session import Session
    from domain.storage.changes import Change
    from domain.storage.ports import Database
    from domain.web_connector.protocol.soap import Call

MAX_PAGE_DELAY = timedelta(seconds=5)
"""How long a page waits if its app is over a quota. It is the time after which the Web Connector calls again after
`NoOp`, so a page costs one `NoOp` at most. A page is never refused, because its iterator ends with the session."""

RESPONSE_MISSING = "The response to {} {} has not arrived. The next update asks QuickBooks for it."


@dataclass(frozen=True, slots=True)
class Sending:
    """Sends requests. The pages of an iterated query count against the quotas of their app."""

    store: Database
    quotas: Quotas

    def send(self, session: Session, call: Call, now: datetime) -> Reply | None:
        """Reply with the QBXML of the request in flight, or return None if it ended and the next one is in flight.

        The reply is '' if there is no request or none may be sent; `getLastError` then returns the reason. A lingering
        session claims a request that was queued meanwhile, or replies `NoOp` if there is none. The reply is also `NoOp`
        if the request is a page that has to wait. Raises Conflict.
        """
        in_flight = session.in_flight or self._queued_meanwhile(session, now)
        if in_flight is None:
            return Reply(lingering.NO_OP if lingering.continues(session, now) else "", session.connection_id)
        stored = in_flight.record
        record = stored if session.in_flight else stored.claimed(session.id, now)
        if in_flight.repeated_remaining is not None:
            # The Web Connector asks for the next request, so it has no other response to this page.
            failed = iterator_not_falling(record, now, in_flight.repeated_remaining)
            self._end(session, in_flight, failed, now)
            return None
        if reply := self._reply_without_request(session, record, now):
            return reply
        after: Session = session
        changes: list[Change] = []
        if session.connection:
            check = self._company_file_check(session, session.connection, call)
            if check.is_other_company_file:
                ending = end_of_session(session, check.connection, now, check.mismatch_message, **check.mismatch(now))
                self.store.commit(*ending)
                return Reply("", session.connection_id, problem=check.problem)
            # Do not ask QuickBooks to forget a message set that is stored in another company file.
            to_forget = None if check.has_other_mark else session.message_set_to_forget
            company_file = replace(session.company_file, key=check.key)
            after = replace(session, company_file=company_file, message_set_to_forget=to_forget)
            if check.connection is not session.connection and (fields := check.learned()):
                changes.append(Put(check.connection, check.connection.changed(timestamp(now), **fields)))
        try:
            text, search_text, size = self._outgoing(record, after.message_set_to_forget)
        except _NotWritable as error:
            details = reason_details(Reason.REQUEST_NOT_WRITABLE)
            failed = record.failed(now, "qbxml_parse_error", f"The request was not sent: {error}", details)
            self._end(session, in_flight, failed, now)
            return None
        if record.state is State.TICKETED:
            sent = record.sent(now, company_file_key=after.company_file.key, page_size=size)
            sent = sent.as_change_of(stored)
            changes.append(ChangeRequest(stored, sent))
            in_flight = InFlight(sent, search_text, in_flight.parse_error)
        to_forget = after.message_set_to_forget if record.is_read or record.recovering else None
        after = after.called(now, connection=None, in_flight=in_flight, message_set_to_forget=to_forget)
        self._commit(session, stored, Put(session, after), *changes)
        return Reply(text, session.connection_id, record.id)

    def _commit(self, session: Session, stored: QueuedRequest, *changes: Change) -> None:
        """Commit a request that is sent. An entry that a lingering session claims in vain leaves the queue."""
        try:
            self.store.commit(*changes)
        except Conflict as conflict:
            if session.in_flight is None and conflict.change in changes[1:] and not has_not_ended(conflict.current):
                self.store.remove_from_queue(stored)
            raise

    def _queued_meanwhile(self, session: Session, now: datetime) -> InFlight | None:
        """Return the request that a lingering session can claim."""
        queue = front(self.store, session.connection_id, session.id, now) if lingering.may_claim(session, now) else ()
        return InFlight(queue[0]) if queue else None

    def _reply_without_request(self, session: Session, record: QueuedRequest, now: datetime) -> Reply | None:
        """Return the reply if `record` may not be sent now, or None if it may."""
        if record.state is State.TICKETED and record.paging.page == 1 and (reason := reason_to_hold(session, now)):
            limits = replace(session.limits, linger_seconds=0)
            requeue = ChangeRequest(record, record.requeued(now))
            return self._refuse(session, now, reason, requeue, in_flight=None, limits=limits)
        if self._has_to_wait(record, now):
            return Reply(lingering.NO_OP, session.connection_id, record.id)
        if record.state is State.SENT and not record.is_read and not record.recovering:
            # Our last reply or its response was lost. A write is never sent twice. It stays in flight, because its
            # response may still arrive; otherwise the end of the session decides.
            return self._refuse(session, now, RESPONSE_MISSING.format(record.request_name, record.id))
        return None

    def _has_to_wait(self, record: QueuedRequest, now: datetime) -> bool:
        """Whether a page is over a quota of its app and was created less than MAX_PAGE_DELAY ago."""
        if record.state is not State.TICKETED or record.paging.page == 1 or self.quotas.allow_page(record.app_id):
            return False
        return record.inserted_at > timestamp(now - MAX_PAGE_DELAY)

    def _company_file_check(self, session: Session, connection: Connection, call: Call) -> CompanyFileCheck:
        """Return the check against the session's copy of the connection, or the stored one if it has to change."""
        must_be_marked = session.company_file.is_fallback
        check = CompanyFileCheck(call, connection, must_be_marked=must_be_marked)
        if check.learned() or check.is_other_company_file:
            stored = self.store.connection(connection.id) or connection
            return CompanyFileCheck(call, stored, must_be_marked=must_be_marked)
        return check

    def _outgoing(self, record: QueuedRequest, message_set_to_forget: str | None) -> tuple[str, str, int | None]:
        """Return the QBXML to send for `record`, its search text, and its page size.

        Raises _NotWritable except during recovery, because QuickBooks can still be asked for the response.
        """
        missing: str | None = None
        try:
            request_xml = self.store.request_xml(record.id)
        except NotFound as error:
            request_xml, missing = "", error.message
        try:
            request = qbxml.stored_request(request_xml, record.qbxml_version)
            search_text = searchable_text(record, request)
            if record.recovering:
                return status_check(record), search_text, None
            request = as_sent(record, request)
            return outgoing(record, request, message_set_to_forget), search_text, page_size(record, request)
        except Exception as error:
            # An error in one request must not block the requests behind it.
            if record.recovering:
                return status_check(record), "", None
            problem = error.message if isinstance(error, InvalidRequest) else f"unexpected {type(error).__name__}"
            raise _NotWritable(missing or problem) from error

    def _refuse(self, session: Session, now: datetime, reason: str, *changes: Change, **fields: Any) -> Reply:
        """Send nothing. Change `fields` of the session; `getLastError` returns `reason`."""
        self.store.commit(Put(session, session.called(now, last_error=reason, **fields)), *changes)
        return Reply("", session.connection_id)

    def _end(self, session: Session, in_flight: InFlight, failed: QueuedRequest, now: datetime) -> None:
        """End the request in flight with an error and claim the next one, so that it does not block the queue."""
        release = Ended(failed.as_change_of(in_flight.record)).change(in_flight)

        def changes(following: InFlight | None, _waiting: int) -> Sequence[Change]:
            reason = failed.error and failed.error.message
            return [Put(session, session.called(now, in_flight=following, last_error=reason))]

        commit_and_claim(self.store, session.connection_id, session.id, now, changes, release=release)


class _NotWritable(Exception):
    """A request cannot be written as QBXML. The message gives the reason."""
