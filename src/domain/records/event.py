"""The log of events of an app: what happened to its requests and to its connections, in one order.

The log holds ids and outcomes. What a request returned is read from its record when the log is read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Self

from domain.records.approval import ApprovalDecision
from domain.records.connection import COMPANY_FILE_MISMATCH, COMPANY_FILE_MOVED
from domain.records.request import ENDED, QueuedRequest, State, WhetherExecuted
from domain.records.subscription import PageKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from domain.records.connection import Connection
    from domain.records.subscription import ChangePage


class EventOutcome(StrEnum):
    """What an event reports. Each is one letter, because a log has many."""

    COMPLETED = "c"
    FAILED = "f"
    DISCARDED = "d"
    QUERY_COMPLETED = "q"
    """The last page of an iterated query has ended, and so has the query."""
    QUERY_FAILED = "e"
    RESOLVED = "s"
    """It became known whether QuickBooks executed a write whose outcome was unknown. Each write has at most one."""
    UNREADABLE = "u"
    """The request ended, but its event could not be made."""
    APPROVAL_REQUIRED = "A"
    """The request waits for approval."""
    APPROVED = "a"
    REJECTED = "j"
    CONNECTED = "C"
    """The Web Connector of a connection has logged in for the first time."""
    STALLED = "S"
    """Requests wait, and the Web Connector has not called for a day."""
    CALLING_AGAIN = "R"
    """A Web Connector that had stalled has called again."""
    COMPANY_FILE_MISMATCH = "M"
    COMPANY_FILE_PATH_CHANGED = "P"
    PASSWORD_CHANGED = "W"  # noqa: S105 - the name of an event
    RECORD_CHANGED = "g"
    RECORD_DELETED = "x"
    RECORD_DERIVED = "v"
    SUBSCRIPTION_SNAPSHOT_STARTED = "b"
    SUBSCRIPTION_SNAPSHOT_COMPLETED = "z"
    SUBSCRIPTION_FAILED = "F"
    SUBSCRIPTION_RECOVERED = "V"
    SUBSCRIPTION_RESYNC_REQUIRED = "y"
    REMOVED = "r"
    """The event belonged to a connection that was deleted. Nothing else of it remains."""


_BEFORE_OBJECT = "~"

OUTCOMES: Mapping[State, EventOutcome] = {
    State.RESPONSE_RECEIVED: EventOutcome.COMPLETED,
    State.ERROR: EventOutcome.FAILED,
    State.DISCARDED: EventOutcome.DISCARDED,
}

CHANGE_OUTCOMES = frozenset({EventOutcome.APPROVAL_REQUIRED, EventOutcome.APPROVED, EventOutcome.REJECTED})
"""What is reported of the approval of a request. The stream knows such a change by a mark (`changes_of`)."""

_KNOWN = frozenset({WhetherExecuted.YES, WhetherExecuted.NO})

QUERY_OUTCOMES = frozenset({EventOutcome.QUERY_COMPLETED, EventOutcome.QUERY_FAILED})
CONNECTION_OUTCOMES = frozenset(
    {
        EventOutcome.CONNECTED,
        EventOutcome.STALLED,
        EventOutcome.CALLING_AGAIN,
        EventOutcome.COMPANY_FILE_MISMATCH,
        EventOutcome.COMPANY_FILE_PATH_CHANGED,
        EventOutcome.PASSWORD_CHANGED,
    }
)


PAGE_OUTCOMES = frozenset(EventOutcome(kind.value) for kind in PageKind)
"""What a page of changes contains (`domain.records.subscription`)."""


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """One event: the request, with the revision of its record at that moment.

    The event of an iterated query names the request of its last page. The event of a connection has no request, and the
    revision of the connection. The events of a page of changes are one: it has `<sequence>~<object>` in place of a
    request, and the number of changes in place of a revision.
    """

    outcome: EventOutcome
    request_id: str
    connection_id: str
    revision: int = 0

    @classmethod
    def of_page(cls, page: ChangePage) -> Self:
        """Return the events of a page."""
        place = f"{page.sequence}{_BEFORE_OBJECT}{page.object}"
        return cls(EventOutcome(page.kind.value), place, page.connection_id, page.number)

    @property
    def number(self) -> int:
        """How many events it stands for. A removed event keeps its number, so that cursors behind it stay valid."""
        return max(1, self.revision) if self.outcome in PAGE_OUTCOMES or self.outcome is EventOutcome.REMOVED else 1

    @property
    def sequence(self) -> int:
        """The number of the first change of a page."""
        return int(self.request_id.partition(_BEFORE_OBJECT)[0])

    @property
    def object(self) -> str:
        """The object of a page, or '' if it is about all of them."""
        return self.request_id.partition(_BEFORE_OBJECT)[2]

    def removed(self) -> Self:
        """Return what remains of the event when its connection is deleted."""
        number = self.revision if self.outcome in PAGE_OUTCOMES else 0
        return replace(self, outcome=EventOutcome.REMOVED, request_id="", connection_id="", revision=number)


@dataclass(frozen=True, slots=True)
class EventGroup:
    """Events that were appended together. Groups are never changed, except that events are removed from them.

    `position` is one more than that of the group before. `at` is when the group was appended; it never falls.
    `is_first` marks the group that began the log. The newest group has no `expires_at` (Unix seconds), because the next
    position follows from it.
    """

    app_id: str
    position: int
    at: str
    events: tuple[LoggedEvent, ...]
    is_first: bool = False
    expires_at: int | None = None

    def without(self, connection_id: str) -> EventGroup:
        """Return the group without the events of a connection. The other events keep their places."""
        kept = (event.removed() if event.connection_id == connection_id else event for event in self.events)
        return replace(self, events=tuple(kept))


def events_of(
    state_before: State | None, after: QueuedRequest, changes: Iterable[EventOutcome] = ()
) -> tuple[LoggedEvent, ...]:
    """Return the events of a change of a record: `changes`, one if the request ended, and one more for its query."""
    outcomes = list(changes)
    if after.state in ENDED and state_before not in ENDED:
        outcomes.append(OUTCOMES[after.state])
        if _iterates(after) and after.last_page:
            completed = after.state is State.RESPONSE_RECEIVED
            outcomes.append(EventOutcome.QUERY_COMPLETED if completed else EventOutcome.QUERY_FAILED)
    return tuple(LoggedEvent(outcome, after.id, after.connection_id, after.revision) for outcome in outcomes)


def changes_of(before: QueuedRequest | None, after: QueuedRequest) -> tuple[EventOutcome, ...]:
    """Return what a change of a record reports beside the end of the request."""
    decided = after.approval.decision if after.approval else None
    decided_before = before.approval.decision if before and before.approval else None
    executed_before = before.executed if before else None
    happened = {
        EventOutcome.RESOLVED: executed_before is WhetherExecuted.UNKNOWN and after.executed in _KNOWN,
        EventOutcome.APPROVAL_REQUIRED: after.awaits_approval and not (before and before.awaits_approval),
        EventOutcome.APPROVED: decided is ApprovalDecision.APPROVED is not decided_before,
        EventOutcome.REJECTED: decided is ApprovalDecision.REJECTED is not decided_before,
    }
    return tuple(outcome for outcome, is_true in happened.items() if is_true)


def _iterates(record: QueuedRequest) -> bool:
    """Whether the record is a page of an iterated query that was sent."""
    return record.paging.page > 1 or record.paging.page_size is not None


def connection_outcomes(before: Connection | None, after: Connection) -> tuple[EventOutcome, ...]:
    """Return what a change of a connection reports."""
    if before is None or after.deleted_at:
        return ()
    error_before, error = (before.last_error or {}).get("code"), (after.last_error or {}).get("code")
    happened = {
        EventOutcome.CONNECTED: before.last_connected_at is None and after.last_connected_at is not None,
        EventOutcome.STALLED: before.stalled_at is None and after.stalled_at is not None,
        EventOutcome.CALLING_AGAIN: before.stalled_at is not None and after.stalled_at is None,
        EventOutcome.COMPANY_FILE_MISMATCH: error == COMPANY_FILE_MISMATCH != error_before,
        EventOutcome.COMPANY_FILE_PATH_CHANGED: error == COMPANY_FILE_MOVED != error_before,
        EventOutcome.PASSWORD_CHANGED: before.password_changed_at != after.password_changed_at,
    }
    return tuple(outcome for outcome, is_true in happened.items() if is_true)
