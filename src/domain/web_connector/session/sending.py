"""`sendRequestXML`: what a session sends, decided without side effects.

`service` reads what these functions need, one after the other: whether the request may be sent now, whether the right
company file is open, and the QBXML to send. It commits their decision.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import chain
from typing import TYPE_CHECKING, Any

from domain import qbxml
from domain.errors import InvalidRequest
from domain.records.request import ErrorCode, MessageSet, State, message_set_id
from domain.records.session import HeldRequest, InFlight
from domain.storage.changes import ChangeRequest, Put
from domain.timestamps import timestamp
from domain.web_connector.outcomes.attribution import is_sent_as_set, label_in_set
from domain.web_connector.outcomes.error_reasons import Reason, reason_details
from domain.web_connector.outcomes.lost_response import after_ignored_responses, iterator_not_falling
from domain.web_connector.outcomes.message_sets import outgoing, outgoing_set, status_check
from domain.web_connector.outcomes.outcome import RequestUpdate
from domain.web_connector.outcomes.pages import as_sent, page_size
from domain.web_connector.protocol.methods import Reply
from domain.web_connector.session import lingering, pacing, sets
from domain.web_connector.session.decision import Claiming, Decision
from domain.web_connector.session.end import end_of_session
from domain.web_connector.session.polling import reason_to_hold

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
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
    """A call of a session that has requests to send.

    `held` are the requests as they are stored. `records` are the same records, or the claimed ones if the session
    claims queued requests and sends them in one commit.
    """

    session: Session
    now: datetime
    held: tuple[HeldRequest, ...]
    records: tuple[QueuedRequest, ...]

    @property
    def record(self) -> QueuedRequest:
        """The first request."""
        return self.records[0]

    @property
    def is_new_page(self) -> bool:
        """Whether the request is a page after the first that was not sent. Such a page counts as a new request."""
        return self.record.state is State.TICKETED and self.record.paging.page > 1

    def with_queued(self, queued: Sequence[HeldRequest]) -> Turn:
        """Return the turn with the claims of further requests, in the order of their message set if it was sent."""
        pairs = [*zip(self.held, self.records, strict=True)]
        pairs += [(request, request.record.claimed(self.session.id, self.now)) for request in queued]
        pairs.sort(key=lambda pair: pair[1].message_set.position if pair[1].message_set else 0)
        return replace(self, held=tuple(held for held, _ in pairs), records=tuple(record for _, record in pairs))

    def with_bodies(self, read: Sequence[HeldRequest]) -> Turn:
        """Return the turn with the bodies that were read."""
        by_id = {request.record.id: request for request in read}
        return replace(self, held=tuple(by_id.get(held.record.id, held) for held in self.held))

    def asking_if_incomplete(self) -> Turn:
        """Return the turn so that it asks for the stored responses if a request of the message set is missing.

        A set that was sent is never sent again without one of its requests.
        """
        message_set = self.record.message_set
        if message_set is None or len(self.records) == message_set.size:
            return self
        recovery = replace(self.record.recovery, begun=True, active=True)
        return replace(self, records=tuple(replace(record, recovery=recovery) for record in self.records))

    def paced(self, calls_per_second: float | None) -> Turn:
        """Return the turn of a session that may make so many calls a second. None means any number."""
        paced_to = None if calls_per_second is None else pacing.paced_to(self.session, self.now, calls_per_second)
        return replace(self, session=replace(self.session, paced_to=paced_to))

    def beginning(self, number: int) -> Turn:
        """Return the turn with the first `number` requests."""
        return replace(self, held=self.held[:number], records=self.records[:number])


def turn(
    session: Session, held: Sequence[HeldRequest], queue: Sequence[QueuedRequest], now: datetime
) -> Turn | Decision:
    """Return the turn of the requests in flight, or of the first request of `queue`, which a lingering session claims.

    Without a request, return the reply: `NoOp` while the session lingers, otherwise ''.
    """
    if held:
        return Turn(session, now, tuple(held), tuple(request.record for request in held))
    for first in queue:
        return Turn(session, now, (HeldRequest(first),), (first.claimed(session.id, now),))
    return Decision(Reply(lingering.NO_OP if lingering.continues(session, now) else "", session.connection_id))


def not_sent(turn: Turn, *, page_is_allowed: bool) -> Decision | Claiming | None:
    """Return the decision if the request must not be sent now, or None if it may be sent.

    `page_is_allowed` is whether the quotas of the app allow a new page.
    """
    session, record, now = turn.session, turn.record, turn.now
    if session.in_flight and session.in_flight.repeated_remaining is not None:
        # The Web Connector asks for the next request, so it has no other response to this page.
        return _released(turn, [iterator_not_falling(record, now, session.in_flight.repeated_remaining)])
    if record.state is State.SENT:
        if record.is_read or record.recovering:
            return _sent_again(turn)
        # Our last reply or its response was lost. A write is never sent twice. It stays in flight, because its
        # response may still arrive; otherwise the end of the session decides.
        return _refused(turn, RESPONSE_MISSING.format(record.request_name, record.id))
    if turn.is_new_page:
        waits = not page_is_allowed and record.inserted_at > timestamp(now - MAX_PAGE_DELAY)
    elif reason := reason_to_hold(session, now):
        limits = replace(session.limits, linger_seconds=0)
        requeued = [ChangeRequest(record, record.requeued(now)) for record in turn.records]
        return _refused(turn, reason, *requeued, in_flight=None, limits=limits)
    else:
        waits = pacing.waits(session, now)
    return Decision(Reply(lingering.NO_OP, session.connection_id, record.id)) if waits else None


def _sent_again(turn: Turn) -> Claiming | None:
    """Return None if requests that were sent are sent again, because the Web Connector asks without a response.

    If it delivered only responses that name other requests, they are divided, or left to a later session.
    """
    ignored = turn.session.in_flight.ignored if turn.session.in_flight else 0
    if not ignored:
        return None
    in_set = is_sent_as_set(turn.records)
    after = [after_ignored_responses(record, ignored, turn.now, in_set=in_set) for record in turn.records]
    released = [record for record in after if record is not None]
    return _released(turn, released) if released else None


def wrong_company_file(turn: Turn, check: CompanyFileCheck) -> Decision:
    """Return the decision to end the session, because the open company file is not the connection's."""
    session, now = turn.session, turn.now
    changes = end_of_session(session, turn.held, check.connection, now, check.mismatch_message, **check.mismatch(now))
    return Decision(Reply("", session.connection_id, problem=check.problem), changes)


def sent(turn: Turn, check: CompanyFileCheck | None, new_id: str) -> Decision | Claiming:
    """Return the decision to send the requests, or as many of them as are sent together.

    `check` is the successful company file check of this call, or None if an earlier call made it. `new_id` becomes the
    ID of a new message set of several writes. A request that cannot be written as QBXML ends in an error, and the
    session claims the next one.
    """
    session, now = turn.session, turn.now
    company_file, to_forget = session.company_file, session.message_set_to_forget
    changes: list[Change] = []
    if check:
        company_file = replace(company_file, key=check.key)
        if check.has_other_mark:
            to_forget = None  # The message set is stored in another company file.
        if check.connection is not session.connection and (fields := check.learned()):
            changes.append(Put(check.connection, check.connection.changed(timestamp(now), **fields)))
    message = _message(turn, to_forget, new_id)
    if isinstance(message, str):
        if turn.record.message_set is None and turn.record.state is State.TICKETED:
            turn = turn.beginning(1)  # The others can still be sent.
        problem, details = f"The request was not sent: {message}", reason_details(Reason.REQUEST_NOT_WRITABLE)
        code = ErrorCode.QBXML_PARSE_ERROR
        return _released(turn, [record.failed(now, code, problem, details) for record in turn.records])
    turn = turn.beginning(message.number)
    for position, (held, record) in enumerate(zip(turn.held, turn.records, strict=True), 1):
        if record.state is State.TICKETED:
            message_set = message.set_id and MessageSet(message.set_id, position, message.number)
            after = record.sent(
                now,
                company_file_key=company_file.key,
                page_size=message.page_size,
                message_set=message_set or None,
            )
            changes.append(ChangeRequest(held.record, after.as_change_of(held.record)))
    in_flight = session.in_flight or InFlight(())
    tells_to_forget = not (turn.record.is_read or turn.record.recovering)
    session_after = session.called(
        now,
        in_flight=replace(in_flight, request_ids=tuple(record.id for record in turn.records), is_next_page=False),
        connection=None,
        company_file=company_file,
        # A write has told QuickBooks to forget the message set.
        message_set_to_forget=None if tells_to_forget else to_forget,
    )
    return Decision(Reply(message.text, session.connection_id, turn.record.id), [Put(session, session_after), *changes])


@dataclass(frozen=True, slots=True)
class _Message:
    """The QBXML for the first `number` requests of a turn.

    `page_size` is that of a page, and `set_id` the ID of a new message set of several writes.
    """

    text: str
    number: int
    page_size: int | None = None
    set_id: str | None = None


def _message(turn: Turn, message_set_to_forget: str | None, new_id: str) -> _Message | str:
    """Return the message for the requests of a turn, or the problem if the first one cannot be written as QBXML."""
    record = turn.record
    if record.recovering:
        # QuickBooks can be asked even if the request itself can no longer be read.
        return _Message(status_check(record), len(turn.records))
    first = _request(turn.held[0])
    if isinstance(first, str):
        return first
    requests: Sequence[qbxml.Request] = [first]
    if record.message_set or record.state is State.SENT:
        # All requests in flight were sent together before, so none is left out when they are sent again.
        others = [_request(held) for held in turn.held[1:]]
        if problem := next((other for other in others if isinstance(other, str)), None):
            return problem
        requests = [first, *(other for other in others if not isinstance(other, str))]
    elif len(turn.held) > 1:
        requests = sets.fitting(chain(requests, _writable(turn.held[1:])))
    if len(requests) == 1 and record.message_set is None:
        return _Message(outgoing(record, first, message_set_to_forget), 1, page_size(record, first))
    pairs = zip(requests, turn.records, strict=False)
    labelled = [request.with_request_label(label_in_set(record)) for request, record in pairs]
    set_id = None
    if not record.is_read:
        set_id = record.message_set_id if record.message_set else message_set_id(new_id)
    text = outgoing_set(labelled, set_id, message_set_to_forget)
    return _Message(text, len(requests), set_id=None if record.message_set else set_id)


def _writable(held: Sequence[HeldRequest]) -> Iterator[qbxml.Request]:
    """Yield the requests up to the first one that cannot be written as QBXML."""
    for request in map(_request, held):
        if isinstance(request, str):
            return
        yield request


def may_have_company(held: HeldRequest) -> bool:
    """Whether other requests may be sent with a request, as far as its body shows."""
    if held.request_xml is None:
        return True
    request = _request(held)
    return not isinstance(request, str) and len(request.to_wire()) < sets.MAX_REQUEST_BYTES and sets.fits(request)


def _request(held: HeldRequest) -> qbxml.Request | str:
    """Return the request to send, or the problem if it cannot be written as QBXML."""
    if held.request_xml is None:
        return "its body is missing"
    try:
        request = as_sent(held.record, qbxml.stored_request(held.request_xml, held.record.qbxml_version))
        request.to_wire()
    except InvalidRequest as error:
        return error.message
    except Exception as error:  # noqa: BLE001 - an error in one request must not block the requests behind it
        return f"unexpected {type(error).__name__}"
    return request


def _refused(turn: Turn, reason: str, *changes: Change, **fields: Any) -> Decision:
    """Return the decision to send nothing and to change `fields` of the session. `getLastError` returns `reason`."""
    session = turn.session
    after = session.called(turn.now, last_error=reason, **fields)
    return Decision(Reply("", session.connection_id), [Put(session, after), *changes])


def _released(turn: Turn, released: Sequence[QueuedRequest]) -> Claiming:
    """Return the decision to end the requests with an error, or to queue them again, so that the queue goes on."""
    session, error = turn.session, released[0].error

    def decide(following: QueuedRequest | None, _waiting: int) -> Decision:
        in_flight = InFlight((following.id,)) if following else None
        after = session.called(turn.now, in_flight=in_flight)
        if error:
            after = replace(after, last_error=error.message)
        else:
            # While this session lingers, it must not claim a request that is left to a later session.
            after = replace(after, limits=replace(session.limits, linger_seconds=0), set_size=1)
        return Decision(Reply("", session.connection_id), [Put(session, after)])

    changes = [
        RequestUpdate(after.as_change_of(held.record)).change(held)
        for held, after in zip(turn.held, released, strict=True)
    ]
    return Claiming(decide, changes)
