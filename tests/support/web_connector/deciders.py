"""The people who decide about writes that need approval, in the world of `if_exists`, and what they have approved."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree as ET

from domain.errors import Forbidden, InvalidState
from domain.maintenance.late_requests import end_late_requests
from domain.queueing.approvals import Approvals
from domain.queueing.service import RequestService
from domain.records.approval import MAX_SECONDS, Author
from domain.storage.ports import RequestDetail
from tests.support.builders import AN_ACTOR, APP_ID

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.records.request import QueuedRequest
    from tests.support.web_connector.connector import Connector

AUTHOR, APPROVER = Author("key_author"), Author("key_approver")

EXPIRY = "nobody decides for eight days"
DECISIONS = (
    "approve",
    "approve values",
    "approve what was shown first",
    "approve as the author",
    "reject",
    EXPIRY,
)
"""What happens to the writes that wait for approval. `reject` is about the first of them. The approval of values is
also for those that a write gets later, from the responses to others."""

ANY_VALUES = None
"""The content of a write that was approved with values that nobody had seen."""


class Shown(NamedTuple):
    """A write as a page showed it before a decision."""

    revision: int
    content: str


class Deciders:
    """Those who decide, and what counts as approved.

    `approved` is the content that was approved last, by the id of its request. `shown` is how each request was first
    shown: somebody may decide on a page that is old by then.
    """

    def __init__(self, qbwc: Connector) -> None:
        self._qbwc = qbwc
        self._approvals = Approvals(RequestService(qbwc.store, qbwc.clock), qbwc.clock)
        self.approved: dict[str, str | None] = {}
        self.shown: dict[str, Shown] = {}

    def look(self) -> Sequence[QueuedRequest]:
        """Return what waits for approval. No earlier approval of it counts any more."""
        waiting = [record for record in self._qbwc.records if record.awaits_approval]
        for record in waiting:
            self.approved.pop(record.id, None)
            self.shown.setdefault(record.id, Shown(record.revision, self._content(record)))
        return waiting

    def approve_all(self) -> None:
        """Approve everything whose values are known."""
        for record in self.look():
            if not record.dependencies:
                self._approve(record, Shown(record.revision, self._content(record)))

    def decide(self, decision: str) -> None:
        """Let somebody decide. Raises AssertionError if a decision counts that must not."""
        waiting = self.look()
        match decision:
            case "approve":
                self.approve_all()
            case "approve values":
                for record in waiting:
                    self._approve_values(record)
            case "approve what was shown first":
                for request_id, shown in self.shown.items():
                    with suppress(InvalidState):
                        self._approve(self._qbwc.record(request_id), shown)
            case "approve as the author":
                for record in waiting:
                    self._approve_as_the_author(record)
            case "reject":
                for record in waiting[:1]:
                    self._approvals.reject(
                        APP_ID, record.id, actor=AN_ACTOR, author=APPROVER, reason="No.", dependants=True
                    )
            case _:
                self._expire()

    def has_approved(self, record: QueuedRequest, sent: ET.Element) -> bool:
        """Whether a write may be sent with this content."""
        if record.approval is None:
            return True
        return record.id in self.approved and self.approved[record.id] in {ANY_VALUES, content_of(sent)}

    def _approve(self, record: QueuedRequest, shown: Shown) -> None:
        self._approvals.approve(APP_ID, record.id, actor=AN_ACTOR, author=APPROVER, revision=shown.revision)
        self.approved[record.id] = shown.content

    def _approve_values(self, record: QueuedRequest) -> None:
        content = ANY_VALUES if record.dependencies else self._content(record)
        self._approvals.approve(
            APP_ID, record.id, actor=AN_ACTOR, author=APPROVER, revision=record.revision, accept_values=True
        )
        self.approved[record.id] = content

    def _approve_as_the_author(self, record: QueuedRequest) -> None:
        try:
            self._approvals.approve(APP_ID, record.id, actor=AN_ACTOR, author=AUTHOR, revision=record.revision)
        except Forbidden:
            return
        raise AssertionError("an author approved their own write")

    def _expire(self) -> None:
        """Let more than seven days pass, with a sweep."""
        clock = self._qbwc.clock
        clock.advance(seconds=MAX_SECONDS + 60)
        end_late_requests(self._qbwc.store, clock, clock() + timedelta(minutes=5))
        assert not self.look(), "a write waits for approval for more than seven days"

    def _content(self, record: QueuedRequest) -> str:
        """Return the content of the write that waits."""
        detail = self._qbwc.store.request_detail(record.id)
        assert isinstance(detail, RequestDetail)
        stored = detail.stored
        document = ET.fromstring(stored.written_xml or "")  # noqa: S314 - our own text
        return content_of(next(document.iterfind("QBXMLMsgsRq/*")))


def content_of(request: ET.Element) -> str:
    """Return the content of a write, without the attributes of its request."""
    return "".join(ET.canonicalize(ET.tostring(child, encoding="unicode"), strip_text=True) for child in request)
