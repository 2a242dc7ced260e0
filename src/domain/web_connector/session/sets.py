"""Message sets of several requests: which requests are sent together, and how many (docs/decisions/0064).

A set is a run of consecutive requests from the front of the queue, and ends before the first one that does not fit.
The end of a session puts all requests of a set back into the queue in one commit, so a set also ends where that commit
would be too large (`can_be_released`).
"""

from __future__ import annotations

from itertools import islice, takewhile
from typing import TYPE_CHECKING

from domain import qbxml
from domain.records.request import IN_TURN
from domain.storage.commit_size import MAX_ENTRIES
from domain.timestamps import day_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from domain.records.request import QueuedRequest
    from domain.records.session import Session

MAX_REQUEST_BYTES = 256 * 1024
"""Maximum size of the requests of a set, as they are sent. A larger request is sent alone."""

MAX_SECONDS = 10.0
MAX_RESPONSE_BYTES = 1_000_000
"""How long a set takes and how large its response is, about, judged by the last response. A pause, a discard and the
end of a session wait for the set in flight."""

ENTRIES_OF_A_RELEASE = 3
"""The entries of the commit that releases a request of a set: its record, its body, and its place in the queue."""

OTHER_ENTRIES = 6
"""The other entries of such a commit, besides the counts of the days of its requests. A login has the most: the former
session, the new one, the connection, the claim of another request (two), and the counts of today."""

_BOUNDS = ("MaxReturned", "ListID", "TxnID", "FullName", "RefNumber")
"""A read with one of these elements has a response of limited size."""

_MACROS = frozenset({"defMacro", "useMacro"})
"""Attributes whose values are valid in the whole message set."""


def companions(session: Session, first: QueuedRequest, queue: Sequence[QueuedRequest]) -> Sequence[QueuedRequest]:
    """Return the requests of `queue`, which are behind `first`, that may be sent with it, by their records."""
    if not _may_be_sent_with_others(first):
        return ()
    run = takewhile(
        lambda record: (
            _may_be_sent_with_others(record)
            and record.is_read == first.is_read
            and record.qbxml_version == first.qbxml_version
        ),
        queue,
    )
    found = list(islice(run, session.set_size - 1))
    while found and not can_be_released([first, *found]):
        found.pop()
    return found


def can_be_released(records: Sequence[QueuedRequest]) -> bool:
    """Whether one commit can release all these requests, which are queued or claimed, after they were sent together.

    The same holds for every other commit about the set: none has more entries (`tests/contract/test_commit_sizes.py`).
    """
    days = {day_of(moment) for record in records for moment in (record.inserted_at, record.listed_updated_at)}
    return ENTRIES_OF_A_RELEASE * len(records) + len(days) + OTHER_ENTRIES <= MAX_ENTRIES


def _may_be_sent_with_others(record: QueuedRequest) -> bool:
    """Whether a request was never sent, is not a page, takes its turn in the queue, and has no dependants.

    A commit ends at most one request with dependants (docs/decisions/0083).
    """
    return (
        not record.dependants
        and record.attempts.sessions == 0
        and not record.recovery.begun
        and record.message_set is None
        and record.paging.page == 1
        and record.paging.page_size is None
        and not record.paging.may_begin
        and record.queue_priority == IN_TURN
    )


def fitting(requests: Iterable[qbxml.Request]) -> Sequence[qbxml.Request]:
    """Return the first of these requests and those that are sent with it. The rest is not made."""
    together: list[qbxml.Request] = []
    size = 0
    for request in requests:
        size += len(request.to_wire())
        goes_alone = size > MAX_REQUEST_BYTES or not fits(request)
        if not (goes_alone and together):
            together.append(request)
        if goes_alone:
            break
    return together


def may_have_company(request: qbxml.Request) -> bool:
    """Whether other requests may be sent with a request."""
    return len(request.to_wire()) < MAX_REQUEST_BYTES and fits(request)


def fits(request: qbxml.Request) -> bool:
    """Whether a request means the same in a set as alone, and has a response of limited size."""
    return (
        request.iterator is None
        and request.on_error != qbxml.ROLLBACK_ON_ERROR
        and request.response_data is None
        and all(_MACROS.isdisjoint(element.keys()) for element in request.element.iter())
        and (not request.is_read or any(request.element.find(name) is not None for name in _BOUNDS))
    )


def next_size(session: Session, sent: int, seconds: float, response_bytes: int) -> int:
    """Return the size of the next set after a clean one: `sent` requests with a response, without a loss or HRESULT.

    The size doubles while the next set is expected to take MAX_SECONDS and MAX_RESPONSE_BYTES at most.
    """
    by_time = sent * MAX_SECONDS / max(seconds, 0.001)
    by_size = sent * MAX_RESPONSE_BYTES / max(response_bytes, 1)
    return max(1, int(min(max(session.set_size, 2 * sent), session.limits.batch_size, by_time, by_size)))
