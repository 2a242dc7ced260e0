"""`sendRequestXML`: what a session sends, decided without side effects.

`service` reads what these functions need, one after the other: whether the requests may be sent now, whether the right
company file is open, and the QBXML to send. It commits their decision.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING

from domain import qbxml
from domain.errors import InvalidRequest
from domain.records.request import ErrorCode, MessageSet, State, message_set_id
from domain.records.session import InFlight, RequestInFlight
from domain.storage.changes import ChangeRequest, Put
from domain.timestamps import timestamp
from domain.web_connector.outcomes import looking
from domain.web_connector.outcomes.attribution import is_sent_as_set, label_in_set
from domain.web_connector.outcomes.error_reasons import Reason, reason_details
from domain.web_connector.outcomes.lookup_messages import in_flight, query_of
from domain.web_connector.outcomes.lost_response import after_ignored_responses, iterator_not_falling
from domain.web_connector.outcomes.message_sets import outgoing, status_check
from domain.web_connector.outcomes.outcome import RequestUpdate
from domain.web_connector.outcomes.pages import as_sent, page_size
from domain.web_connector.protocol.methods import Reply
from domain.web_connector.session import lingering, pacing, sets
from domain.web_connector.session.decision import Claiming, Decision
from domain.web_connector.session.end import end_in_wrong_file
from domain.web_connector.session.polling import reason_to_hold

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from domain.records.request import QueuedRequest
    from domain.records.session import Session
    from domain.storage.changes import Change
    from domain.web_connector.session.admission import Reading
    from domain.web_connector.session.company_file_check import CompanyFileCheck

MAX_UNRECORDED = timedelta(seconds=5)
"""A session is written with the sending of its request if something else in it changes, or if its last call is not this
recent. A session that is written at most this late still counts as silent in time."""

MAX_PAGE_DELAY = timedelta(seconds=5)
"""How long a page waits if its app is over a quota. It is the time after which the Web Connector calls again after
`NoOp`, so a page costs one `NoOp` at most. A page is never refused, because its iterator ends with the session."""

RESPONSE_MISSING = "The response to {} {} has not arrived. The next update asks QuickBooks for it."
OVER = "This session has ended. The next update begins a new one."


@dataclass(frozen=True, slots=True)
class DispatchItem:
    """A selected request, as it is stored, and its record.

    The record is the stored one, or the claimed one if the session claims a queued request and sends it in one commit.
    """

    stored: RequestInFlight
    record: QueuedRequest

    @property
    def position(self) -> int:
        """The place in the message set, or 0 before it has one."""
        return self.record.message_set.position if self.record.message_set else 0

    @property
    def is_claimed(self) -> bool:
        """Whether the session has claimed the request in an earlier commit, and has not sent what it sends next."""
        return self.stored.record.state is State.TICKETED


@dataclass(frozen=True, slots=True)
class Dispatch:
    """The requests that a call of a session may send, in the order of their message set.

    `queue` is the front of the queue if requests of it may be sent with the first one. `has_new_pace` tells whether
    `session` has another pace than the stored session.
    """

    session: Session
    now: datetime
    items: tuple[DispatchItem, ...]
    queue: Sequence[QueuedRequest] = ()
    has_new_pace: bool = False

    @classmethod
    def of(
        cls, session: Session, stored: Sequence[RequestInFlight], queue: Sequence[QueuedRequest], now: datetime
    ) -> Dispatch:
        """Return the dispatch of the requests in flight. If there are none, the session has nothing in flight."""
        known = session if stored else replace(session, in_flight=None)
        return cls(known, now, tuple(DispatchItem(request, request.record) for request in stored), queue)

    @property
    def record(self) -> QueuedRequest:
        """The first request."""
        return self.items[0].record

    @property
    def records(self) -> Sequence[QueuedRequest]:
        """All requests."""
        return [item.record for item in self.items]

    @property
    def was_sent(self) -> bool:
        """Whether the requests were sent before in this session."""
        return self.record.state is State.SENT

    @property
    def may_claim(self) -> bool:
        """Whether the session has nothing to send, and may claim a queued request: it lingers, or makes a run."""
        if self.items:
            return False
        if run := self.session.run:
            return not run.is_sent and reason_to_hold(self.session, self.now) is None
        return lingering.may_claim(self.session, self.now)

    @property
    def is_new_page(self) -> bool:
        """Whether the request is a page after the first that was not sent. Such a page counts as a new request."""
        return bool(self.items) and self.record.state is State.TICKETED and self.record.paging.page > 1

    def joined_by(self, read: Iterable[RequestInFlight]) -> Dispatch:
        """Return the dispatch with requests as they were read, in the order of their message set if it was sent.

        Those that the dispatch does not have are claimed.
        """
        items = {item.record.id: item for item in self.items}
        for stored in read:
            known = items.get(stored.record.id)
            record = known.record if known else stored.record.claimed(self.session.id, self.now)
            items[record.id] = DispatchItem(stored, record)
        return replace(self, items=tuple(sorted(items.values(), key=attrgetter("position"))))

    def asking_if_incomplete(self) -> Dispatch:
        """Return the dispatch so that it asks for the stored responses if a request of the message set is missing.

        A set that was sent is never sent again without one of its requests.
        """
        message_set = self.record.message_set
        if message_set is None or len(self.items) == message_set.size:
            return self
        recovery = replace(self.record.recovery, begun=True, active=True)
        items = (replace(item, record=replace(item.record, recovery=recovery)) for item in self.items)
        return replace(self, items=tuple(items))

    def paced(self, reading: Reading | None) -> Dispatch:
        """Return the dispatch with the pace that follows from the live sessions of the shard. None means any pace."""
        calls_per_second = reading.calls_of_a_session() if reading else None
        paced_to = None if calls_per_second is None else pacing.paced_to(self.session, self.now, calls_per_second)
        session = replace(self.session, paced_to=paced_to)
        return replace(self, session=session, has_new_pace=session != self.session)

    def beginning(self, number: int) -> Dispatch:
        """Return the dispatch with the first `number` requests."""
        return replace(self, items=self.items[:number])

    def claimed_behind(self, number: int) -> Sequence[QueuedRequest]:
        """Return the claimed requests behind the first `number`. They wait to write what their queries have shown."""
        return [item.stored.record for item in self.items[number:] if item.is_claimed]

    @property
    def together(self) -> Sequence[DispatchItem]:
        """The requests that may be in the next message set, as far as their records show.

        Requests that were sent together are sent again together. What a request with `if_exists` writes is sent alone.
        """
        first = self.record
        if self.was_sent or first.message_set:
            return [item for item in self.items if item.record.state is first.state]
        goes_alone = first.recovering or (first.lookup is not None and not first.looks)
        return self.items[:1] if goes_alone else [item for item in self.items if item.record.looks == first.looks]


@dataclass(frozen=True, slots=True)
class MaySend:
    """Nothing prevents the requests of a dispatch from being sent."""


def before_sending(dispatch: Dispatch, *, page_is_allowed: bool) -> Decision | Claiming | MaySend:
    """Return the decision if nothing is sent now. `page_is_allowed` is whether the quotas of the app allow a new page.

    Without a request, the reply is `NoOp` while the session lingers, otherwise ''.
    """
    session, now = dispatch.session, dispatch.now
    if not dispatch.items:
        return Decision(Reply(lingering.NO_OP if lingering.continues(session, now) else "", session.connection_id))
    record = dispatch.record
    if session.in_flight and session.in_flight.repeated_remaining is not None:
        # The Web Connector asks for the next request, so it has no other response to this page.
        return _released(dispatch, [iterator_not_falling(record, now, session.in_flight.repeated_remaining)])
    if dispatch.was_sent:
        return _before_sending_again(dispatch)
    if record.misses_send_by(now):
        return _released(dispatch, [record.not_sent_in_time(now)])
    if dispatch.is_new_page:
        waits = not page_is_allowed and record.inserted_at > timestamp(now - MAX_PAGE_DELAY)
    elif reason := reason_to_hold(session, now):
        limits = replace(session.limits, linger_seconds=0)
        requeued = [ChangeRequest(claimed, claimed.requeued(now)) for claimed in dispatch.records]
        return _refused(dispatch, reason, replace(session, in_flight=None, limits=limits), *requeued)
    else:
        waits = pacing.waits(session, now)
    return Decision(Reply(lingering.NO_OP, session.connection_id, record.id)) if waits else MaySend()


def _before_sending_again(dispatch: Dispatch) -> Decision | Claiming | MaySend:
    """Return the decision about requests that were sent, because the Web Connector asks without a response.

    Reads and status checks are sent again. If it delivered only responses that name other requests, they are divided,
    or left to a later session.
    """
    record = dispatch.record
    if not record.asks:
        # Our last reply or its response was lost. A write is never sent twice. It stays in flight, because its
        # response may still arrive; otherwise the end of the session decides.
        return _refused(dispatch, RESPONSE_MISSING.format(record.request_name, record.id), dispatch.session)
    ignored = dispatch.session.in_flight.ignored if dispatch.session.in_flight else 0
    in_set = is_sent_as_set(dispatch.records)
    released = []
    for other in (item.record for item in dispatch.together) if ignored else ():
        after = after_ignored_responses(in_flight(other), ignored, dispatch.now, in_set=in_set)
        if after is not None:
            released.append(looking.after_session(other, after, dispatch.now))
    return _released(dispatch, released) if released else MaySend()


def wrong_company_file(dispatch: Dispatch, check: CompanyFileCheck) -> Decision:
    """Return the decision to end the session, because the open company file is not the connection's."""
    session, now, stored = dispatch.session, dispatch.now, [item.stored for item in dispatch.items]
    changes = end_in_wrong_file(session, stored, check, now)
    return Decision(Reply("", session.connection_id, problem=check.problem), changes)


def companions(dispatch: Dispatch, claimable: Sequence[QueuedRequest]) -> Sequence[QueuedRequest]:
    """Return the queued requests that may be sent with the first one, as far as their records and its body show."""
    session, record, first = dispatch.session, dispatch.record, dispatch.items[0]
    limit = sets.max_size(session, record)
    if limit == 1 or (first.stored.request_xml and not any(map(sets.may_have_company, _writable([first])))):
        return ()
    return sets.companions(session, record, [other for other in claimable if other.id != record.id])


def sent(dispatch: Dispatch, check: CompanyFileCheck | None, new_id: str) -> Decision | Claiming:
    """Return the decision to send the requests, or as many of them as are sent together.

    `check` is the successful company file check of this call, or None if an earlier call made it. `new_id` becomes the
    ID of a new message set of several writes. A request that cannot be written as QBXML ends in an error, and the
    session claims the next one.
    """
    session = dispatch.session
    # With another mark, the message set to forget is stored in another company file.
    to_forget = None if check and check.has_other_mark else session.message_set_to_forget
    try:
        message = _message(dispatch, to_forget, new_id)
    except _NotWritable as problem:
        return _not_writable(dispatch, problem)
    company_file = check.opened(session) if check else session.company_file
    sent_now = dispatch.beginning(message.number)
    changes = [] if check is None else check.changes(session, dispatch.now)
    changes += _records_sent(sent_now, message, company_file.key)
    ids = tuple(record.id for record in sent_now.records)
    in_flight = replace(session.in_flight or InFlight(()), request_ids=ids, is_next_page=False)
    # If the record of an id is missing, one from behind it is sent.
    in_flight = replace(in_flight, behind=tuple(other for other in in_flight.behind if other not in ids))
    after = replace(
        session,
        in_flight=replace(in_flight, may_be_joined=in_flight.may_be_joined and len(ids) == 1),
        connection=None,
        company_file=company_file,
        # The reason why the open file was tried is over, because that file is the right one.
        last_error=None if check else session.last_error,
        # A write has told QuickBooks to forget the message set.
        message_set_to_forget=to_forget if dispatch.record.asks else None,
    )
    if after != session or dispatch.was_sent or not _is_recorded(dispatch):
        changes = [Put(session, after.called(dispatch.now)), *changes]
    return Decision(Reply(message.text, session.connection_id, dispatch.record.id), changes)


def _is_recorded(dispatch: Dispatch) -> bool:
    """Whether the stored session tells nothing else than before the sending of its request.

    A commit of the record alone costs a quarter of one with the session. The revision of the record prevents that two
    calls send it, or that one sends it after the end of the session. A pause and a new password change the session and
    the record that it may send (`connections.service`), so nothing is sent after them.
    """
    return not dispatch.has_new_pace and dispatch.session.last_call_at > timestamp(dispatch.now - MAX_UNRECORDED)


def _records_sent(dispatch: Dispatch, message: _Message, company_file_key: str | None) -> list[Change]:
    """Return the changes of the records that were not sent before. Those of several writes get their new place."""
    return [
        ChangeRequest(
            item.stored.record,
            item.record.sent(
                dispatch.now,
                company_file_key=company_file_key,
                page_size=message.page_size,
                message_set=MessageSet(message.set_id, position, message.number) if message.set_id else None,
            ).as_change_of(item.stored.record),
        )
        for position, item in enumerate(dispatch.items, 1)
        if item.record.state is State.TICKETED
    ]


@dataclass(frozen=True, slots=True)
class _Message:
    """The QBXML for the first `number` requests of a dispatch.

    `page_size` is that of a page, and `set_id` the ID of a new message set of several writes.
    """

    text: str
    number: int
    page_size: int | None = None
    set_id: str | None = None


class _NotWritable(Exception):
    """A request cannot be written as QBXML."""


def _message(dispatch: Dispatch, message_set_to_forget: str | None, new_id: str) -> _Message:
    """Return the message for the requests of a dispatch. Raises _NotWritable."""
    first, items = dispatch.record, dispatch.together
    if first.recovering and not first.looks:
        # QuickBooks can be asked even if the request itself can no longer be read.
        return _Message(status_check(first), len(items))
    requests = _requests(dispatch)
    in_set = len(requests) > 1 or first.message_set is not None
    set_id = message_set_id(new_id) if in_set and first.message_set is None else first.message_set_id
    if in_set:
        pairs = zip(requests, items, strict=False)
        requests = [request.with_request_label(label_in_set(in_flight(item.record))) for request, item in pairs]
    is_read = in_flight(first).is_read
    text = outgoing(requests, None if is_read else set_id, message_set_to_forget, in_set=in_set)
    is_new_set = in_set and not (is_read or first.message_set)
    return _Message(text, len(requests), page_size(first, requests[0]), set_id if is_new_set else None)


def _requests(dispatch: Dispatch) -> Sequence[qbxml.Request]:
    """Return the requests of the next message set. Raises _NotWritable if the first one cannot be written."""
    first, *others = dispatch.together
    if dispatch.was_sent or first.record.message_set:
        # All requests that were sent together before are sent again, so none is left out.
        return list(map(_request, dispatch.together))
    requests = chain([_request(first)], _writable(others))
    return sets.fitting(sets.until_repeated(requests) if first.record.looks else requests)


def _not_writable(dispatch: Dispatch, problem: _NotWritable) -> Claiming:
    """Return the decision to end the requests. Those that were only claimed with the first one can still be sent."""
    first = dispatch.record
    is_alone = first.message_set is None and first.state is State.TICKETED
    ended = [first] if is_alone else [item.record for item in dispatch.together]
    message, details = f"The request was not sent: {problem}", reason_details(Reason.REQUEST_NOT_WRITABLE)
    code = ErrorCode.QBXML_PARSE_ERROR
    return _released(dispatch, [record.failed(dispatch.now, code, message, details) for record in ended])


def _writable(items: Iterable[DispatchItem]) -> Iterator[qbxml.Request]:
    """Yield the requests to send, up to the first one that cannot be written as QBXML."""
    with suppress(_NotWritable):
        yield from map(_request, items)


def _request(item: DispatchItem) -> qbxml.Request:
    """Return what is sent for a request: the query for its object, the Mod in its place, or the request itself.

    Raises _NotWritable if its body is missing or cannot be written as QBXML.
    """
    record, stored = item.record, item.stored
    text = stored.modification_xml if record.modifies else stored.request_xml
    if text is None:
        raise _NotWritable("its body is missing")
    try:
        request = as_sent(record, qbxml.stored_request(text, record.qbxml_version))
        if record.looks:
            request = query_of(record, request)
        request.to_wire()
    except InvalidRequest as error:
        raise _NotWritable(error.message) from error
    except Exception as error:
        # An error in one request must not block the requests behind it.
        raise _NotWritable(f"unexpected {type(error).__name__}") from error
    return request


def _refused(dispatch: Dispatch, reason: str, session: Session, *changes: Change) -> Decision:
    """Return the decision to send nothing. `session` has its changes, and `getLastError` returns `reason`."""
    after = replace(session, last_error=reason).called(dispatch.now)
    return Decision(Reply("", session.connection_id), [Put(dispatch.session, after), *changes])


def _released(dispatch: Dispatch, released: Sequence[QueuedRequest]) -> Claiming:
    """Return the decision to end the first requests with an error, or to queue them again, so that the queue goes on.

    What was claimed behind them is queued again as well. The session may claim it at once.
    """
    session, error = dispatch.session, released[0].error

    if error:
        after = replace(session, last_error=error.message)
    else:
        # While this session lingers, it must not claim a request that is left to a later session.
        limits = replace(session.limits, linger_seconds=0)
        after = sets.beginning_with_one(replace(session, limits=limits))
    after = after.after_send_of(dispatch.records)

    def decide(following: QueuedRequest | None, behind: Sequence[QueuedRequest]) -> Decision:
        in_flight = sets.claimed(after, following, behind) if following else None
        return Decision(
            Reply("", session.connection_id), [Put(session, replace(after, in_flight=in_flight).called(dispatch.now))]
        )

    updates = [RequestUpdate(after) for after in released]
    changes = [update.change(item.stored) for update, item in zip(updates, dispatch.items, strict=False)]
    changes += looking.given_back(dispatch.claimed_behind(len(released)), dispatch.now)
    return Claiming(decide, changes, low_first=after.low_is_due)


def last_error(session: Session, now: datetime) -> str:
    """Return the reply of `getLastError`, which follows ''. It is never '', which has no documented meaning."""
    waits = session.has_page_to_send or session.has_read_to_send or pacing.is_waiting(session, now)
    if waits or lingering.continues(session, now):
        return lingering.NO_OP
    reason = session.last_error or reason_to_hold(session, now) or lingering.end_message(session)
    return reason or (OVER if session.ended else "No more requests.")
