"""Message sets of several requests: which requests are sent together, and how many (docs/decisions/0064).

A set is a run of consecutive requests from the front of the queue, and ends before the first one that does not fit.
The end of a session puts all requests of a set back into the queue in one commit, so a set also ends where that commit
would be too large (`can_be_released`).

The queries of requests with `if_exists` are sent together, and have the limits of reads. Their additions and Mods are
sent alone. Between the queries of a set and these writes, only these writes are sent, and no two of the requests have
the same object: the later one asks after the earlier one has ended.

Reads and writes have limits of their own. A lost set of reads is read again, so a session begins with the size that
suited the last answers of its connection. A lost set of writes may need a person, so a session begins with one.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from domain import qbxml
from domain.existing.identity import asked_for
from domain.records.request import IN_TURN
from domain.records.session import InFlight
from domain.storage.commit_size import MAX_ENTRIES
from domain.timestamps import day_of
from domain.web_connector.outcomes.pages import SIZE, max_returned

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from domain.records.request import QueuedRequest
    from domain.records.session import Session

MAX_REQUEST_BYTES = 256 * 1024
"""Maximum size of the requests of a set, as they are sent. A larger request is sent alone."""

MAX_SECONDS = 10.0
MAX_RESPONSE_BYTES = 1_000_000
"""How long a set takes and how large its response is, about, judged by the last response. A pause, a discard and the
end of a session wait for the set in flight."""

MAX_OBJECTS = 400
"""The objects that the reads of a set ask for together. As many sales orders with their lines, the largest objects, fit
into a call of the Web Connector (docs/reference/service-contract.md, Large responses). A gateway refuses a larger one,
and then no response arrives."""

ENTRIES_OF_A_RELEASE = 3
"""The entries of the commit that releases a request of a set: its record, its body, and its place in the queue."""

OTHER_ENTRIES = 6
"""The other entries of such a commit, besides the counts of the days of its requests. A login has the most: the former
session, the new one, the connection, the claim of another request (two), and the counts of today."""

_NAMES = ("ListID", "TxnID", "FullName", "RefNumber")
"""Elements of a read that name one object each."""

_is_written_in_one_way = re.compile(r"[ !#-%(-;=?-~]*").fullmatch
"""Match a label that has the same text in each XML document: ASCII without characters that can be escaped."""

_MACROS = frozenset({"defMacro", "useMacro"})
"""Attributes whose values are valid in the whole message set."""


def max_size(session: Session, record: QueuedRequest) -> int:
    """Return the largest number of requests in a set that begins with a request."""
    if record.is_read or record.looks:
        size = min(session.read_set_size, session.limits.read_batch_size)
        # Each query may be followed by a write before the next request of the queue is claimed.
        return min(size, session.sends_before_low) if record.looks and session.limits.has_low_lane else size
    return min(session.write_set_size, session.limits.batch_size)


def companions(session: Session, first: QueuedRequest, queue: Sequence[QueuedRequest]) -> Sequence[QueuedRequest]:
    """Return the requests of `queue`, which are behind `first`, that may be sent with it, by their records."""
    if not _may_be_sent_with_others(first):
        return ()
    run = takewhile(
        lambda record: (
            _may_be_sent_with_others(record)
            and (record.is_read, record.looks) == (first.is_read, first.looks)
            and record.qbxml_version == first.qbxml_version
        ),
        queue,
    )
    found = list(islice(run, max_size(session, first) - 1))
    while found and not can_be_released([first, *found]):
        found.pop()
    return found


def claimed(session: Session, first: QueuedRequest, behind: Sequence[QueuedRequest]) -> InFlight:
    """Return what a session has in flight after it claimed a request. `behind` are those behind it in the queue."""
    return InFlight((first.id,), may_be_joined=bool(companions(session, first, behind)))


def can_be_released(records: Sequence[QueuedRequest]) -> bool:
    """Whether one commit can release all these requests, which are queued or claimed, after they were sent together.

    The same holds for every other commit about the set: none has more entries (`tests/contract/test_commit_sizes.py`).
    """
    days = {day_of(moment) for record in records for moment in (record.inserted_at, record.listed_updated_at)}
    return ENTRIES_OF_A_RELEASE * len(records) + len(days) + OTHER_ENTRIES <= MAX_ENTRIES


def _may_be_sent_with_others(record: QueuedRequest) -> bool:
    """Whether a request of the normal lane was never sent, is not a page, takes its turn, and has no dependants.

    Those of the low lane are sent alone, so that a request of the normal lane waits for one of them at most. A commit
    ends at most one request with dependants (docs/decisions/0083). The label of a read is replaced in a set, and
    restored in its response.
    """
    return (
        not record.dependants
        and not record.is_low
        and record.sent_at is None
        and record.paging.page == 1
        and record.paging.page_size is None
        and not record.paging.may_begin
        and record.queue_priority == IN_TURN
        and (not record.is_read or _is_written_in_one_way(record.request_label) is not None)
    )


def fitting(requests: Iterable[qbxml.Request]) -> Sequence[qbxml.Request]:
    """Return the first of these requests and those that are sent with it. The rest is not made."""
    together: list[qbxml.Request] = []
    size = objects = 0
    for request in requests:
        size += len(request.to_wire())
        objects += max_objects(request) or 0
        goes_alone = size > MAX_REQUEST_BYTES or objects > MAX_OBJECTS or not fits(request)
        if not (goes_alone and together):
            together.append(request)
        if goes_alone:
            break
    return together


def until_repeated(queries: Iterable[qbxml.Request]) -> Iterator[qbxml.Request]:
    """Yield the queries of requests with `if_exists`, up to the first one for the same object as one before it."""
    asked: set[str] = set()
    for query in queries:
        if (key := asked_for(query)) in asked:
            return
        asked.add(key)
        yield query


def may_have_company(request: qbxml.Request) -> bool:
    """Whether other requests may be sent with a request."""
    return len(request.to_wire()) < MAX_REQUEST_BYTES and fits(request)


def fits(request: qbxml.Request) -> bool:
    """Whether a request means the same in a set as alone, and has a response of limited size."""
    objects = max_objects(request)
    return (
        request.iterator is None
        and request.on_error != qbxml.ROLLBACK_ON_ERROR
        and request.response_data is None
        and all(_MACROS.isdisjoint(element.keys()) for element in request.element.iter())
        and objects is not None
        and objects <= MAX_OBJECTS
    )


def max_objects(request: qbxml.Request) -> int | None:
    """Return the number of objects that a read asks for at most: `MaxReturned`, or the number of names and ids.

    Return 0 for a write, and None if the response can have any size.
    """
    if not request.is_read:
        return 0
    if request.element.find(SIZE) is not None:
        return max_returned(request)
    return sum(len(request.element.findall(name)) for name in _NAMES) or None


def after_response(session: Session, number: int, seconds: float, response_bytes: int) -> Session:
    """Return the session with the sizes of its next sets, after QuickBooks answered each request of a set of `number`.

    The sizes double while the next set is expected to take MAX_SECONDS and MAX_RESPONSE_BYTES at most.
    """
    limits = session.limits
    by_time = number * MAX_SECONDS / max(seconds, 0.001)
    by_size = number * MAX_RESPONSE_BYTES / max(response_bytes, 1)

    def grown(former: int, limit: int) -> int:
        return max(1, int(min(max(former, 2 * number), limit, by_time, by_size)))

    return replace(
        session,
        read_set_size=grown(session.read_set_size, limits.read_batch_size),
        write_set_size=grown(session.write_set_size, limits.batch_size),
    )


def beginning_with_one(session: Session) -> Session:
    """Return the session whose next sets have one request, after a loss, an HRESULT or a request without a response."""
    return replace(session, read_set_size=1, write_set_size=1)


def size_at_end(session: Session) -> int:
    """Return the size of the first set of reads in the next session of the connection, when this one ends.

    If the response to several requests is missing, the loss may be due to their number. A gateway that refuses a large
    response tells the service nothing.
    """
    is_doubtful = session.exception_reported or (session.in_flight and len(session.in_flight.request_ids) > 1)
    return 1 if is_doubtful else session.read_set_size
