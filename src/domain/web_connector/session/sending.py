"""`sendRequestXML`: what a session sends, decided without side effects.

`service` reads what these functions need, one after the other: whether the request may be sent now, whether the right
company file is open, and the QBXML to send. It commits their decision.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from domain import qbxml
from domain.errors import InvalidRequest
from domain.records.request import State
from domain.records.session import HeldRequest, InFlight
from domain.storage.changes import ChangeRequest, Put
from domain.timestamps import timestamp
from domain.web_connector.outcomes.error_reasons import Reason, reason_details
from domain.web_connector.outcomes.lost_response import iterator_not_falling
from domain.web_connector.outcomes.message_sets import outgoing, status_check
from domain.web_connector.outcomes.outcome import Ended
from domain.web_connector.outcomes.pages import as_sent, page_size
from domain.web_connector.protocol.methods import Reply
from domain.web_connector.session import lingering
from domain.web_connector.session.decision import Claiming, Decision
from domain.web_connector.session.end import end_of_session
from domain.web_connector.session.polling import reason_to_hold

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from domain.records.request import QueuedRequest
    from domain.records.session import Session
    from domain.storage.changes import Change
    from domain.web_connector.session.company_file_check import CompanyFileCheck

MAX_PAGE_DELAY = timedelta(seconds=5)
"""How long a page waits if its app is over a quota. It is the time after which the Web Connector calls again after
`NoOp`, so a page costs one `NoOp` at most. A page is never refused, because its iterator ends with the session."""

RESPONSE_MISSING = "The response to {} {} has not arrived. The next update asks QuickBooks for it."


@dataclass(frozen=True, slots=True)
class Turn:
    """A call of a session that has a request to send.

    `held` contains the record as it is stored. `record` is the same record, or the claimed one if a lingering session
    claims a queued request and sends it in one commit.
    """

    session: Session
    now: datetime
    held: HeldRequest
    record: QueuedRequest

    @property
    def is_new_page(self) -> bool:
        """Whether the request is a page after the first that was not sent. Such a page counts as a new request."""
        return self.record.state is State.TICKETED and self.record.paging.page > 1


def turn(session: Session, held: Sequence[HeldRequest], queued: HeldRequest | None, now: datetime) -> Turn | Decision:
    """Return the turn of the request in flight or of the `queued` request, which a lingering session claims.

    Without a request, return the reply: `NoOp` while the session lingers, otherwise ''.
    """
    for request in held:
        return Turn(session, now, request, request.record)
    if queued:
        return Turn(session, now, queued, queued.record.claimed(session.id, now))
    return Decision(Reply(lingering.NO_OP if lingering.continues(session, now) else "", session.connection_id))


def not_sent(turn: Turn, *, page_is_allowed: bool) -> Decision | Claiming | None:
    """Return the decision if the request must not be sent now, or None if it may be sent.

    `page_is_allowed` is whether the quotas of the app allow a new page.
    """
    session, record, now = turn.session, turn.record, turn.now
    if session.in_flight and session.in_flight.repeated_remaining is not None:
        # The Web Connector asks for the next request, so it has no other response to this page.
        return _ended(turn, iterator_not_falling(record, now, session.in_flight.repeated_remaining))
    if record.state is State.SENT:
        if record.is_read or record.recovering:
            return None
        # Our last reply or its response was lost. A write is never sent twice. It stays in flight, because its
        # response may still arrive; otherwise the end of the session decides.
        return _refused(turn, RESPONSE_MISSING.format(record.request_name, record.id))
    if turn.is_new_page:
        waits = not page_is_allowed and record.inserted_at > timestamp(now - MAX_PAGE_DELAY)
        return Decision(Reply(lingering.NO_OP, session.connection_id, record.id)) if waits else None
    if reason := reason_to_hold(session, now):
        limits = replace(session.limits, linger_seconds=0)
        return _refused(turn, reason, ChangeRequest(record, record.requeued(now)), in_flight=None, limits=limits)
    return None


def wrong_company_file(turn: Turn, check: CompanyFileCheck) -> Decision:
    """Return the decision to end the session, because the open company file is not the connection's."""
    session, now = turn.session, turn.now
    changes = end_of_session(session, [turn.held], check.connection, now, check.mismatch_message, **check.mismatch(now))
    return Decision(Reply("", session.connection_id, problem=check.problem), changes)


def sent(turn: Turn, check: CompanyFileCheck | None) -> Decision | Claiming:
    """Return the decision to send the request.

    `check` is the successful company file check of this call, or None if an earlier call made it. A request that cannot
    be written as QBXML ends in an error, and the session claims the next one.
    """
    session, record, now = turn.session, turn.record, turn.now
    company_file, to_forget = session.company_file, session.message_set_to_forget
    changes: list[Change] = []
    if check:
        company_file = replace(company_file, key=check.key)
        if check.has_other_mark:
            to_forget = None  # The message set is stored in another company file.
        if check.connection is not session.connection and (fields := check.learned()):
            changes.append(Put(check.connection, check.connection.changed(timestamp(now), **fields)))
    message = _message(record, turn.held.request_xml, to_forget)
    if isinstance(message, str):
        details = reason_details(Reason.REQUEST_NOT_WRITABLE)
        return _ended(turn, record.failed(now, "qbxml_parse_error", f"The request was not sent: {message}", details))
    if record.state is State.TICKETED:
        after = record.sent(now, company_file_key=company_file.key, page_size=message.page_size)
        changes.append(ChangeRequest(turn.held.record, after.as_change_of(turn.held.record)))
    in_flight = session.in_flight or InFlight((record.id,))
    session_after = session.called(
        now,
        in_flight=replace(in_flight, is_next_page=False),
        connection=None,
        company_file=company_file,
        # A write has told QuickBooks to forget the message set.
        message_set_to_forget=to_forget if record.is_read or record.recovering else None,
    )
    return Decision(Reply(message.text, session.connection_id, record.id), [Put(session, session_after), *changes])


@dataclass(frozen=True, slots=True)
class _Message:
    """The QBXML that is sent for a request, and its page size."""

    text: str
    page_size: int | None = None


def _message(record: QueuedRequest, request_xml: str | None, message_set_to_forget: str | None) -> _Message | str:
    """Return the message for `record`, or the problem if the request cannot be written as QBXML."""
    if record.recovering:
        # QuickBooks can be asked even if the request itself can no longer be read.
        return _Message(status_check(record))
    if request_xml is None:
        return "its body is missing"
    try:
        request = as_sent(record, qbxml.stored_request(request_xml, record.qbxml_version))
        return _Message(outgoing(record, request, message_set_to_forget), page_size(record, request))
    except InvalidRequest as error:
        return error.message
    except Exception as error:  # noqa: BLE001 - an error in one request must not block the requests behind it
        return f"unexpected {type(error).__name__}"


def _refused(turn: Turn, reason: str, *changes: Change, **fields: Any) -> Decision:
    """Return the decision to send nothing and to change `fields` of the session. `getLastError` returns `reason`."""
    session = turn.session
    after = session.called(turn.now, last_error=reason, **fields)
    return Decision(Reply("", session.connection_id), [Put(session, after), *changes])


def _ended(turn: Turn, failed: QueuedRequest) -> Claiming:
    """Return the decision to end the request with an error, so that it does not block the queue."""
    session, reason = turn.session, failed.error and failed.error.message

    def decide(following: QueuedRequest | None, _waiting: int) -> Decision:
        in_flight = InFlight((following.id,)) if following else None
        after = session.called(turn.now, in_flight=in_flight, last_error=reason)
        return Decision(Reply("", session.connection_id), [Put(session, after)])

    return Claiming(decide, [Ended(failed.as_change_of(turn.held.record)).change(turn.held)])
