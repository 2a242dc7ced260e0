"""A model of approval: whatever people, programs and the Web Connector do, nothing is sent that nobody approved."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import seed as hypothesis_seed
from hypothesis import strategies as st

from domain.errors import ServiceError
from domain.queueing import new_request
from domain.records.approval import MAX_SECONDS, Approval, Author
from domain.records.request import ENDED, QueuedRequest
from tests.support import approvals
from tests.support.approvals import ANNE, BOB, ROBOT, Desk, customer
from tests.support.web_connector.quickbooks import hcp, labels_in, nothing_stored, set_response
from tests.unit.queueing.test_approvals import with_invoice

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from domain.queueing.new_request import Queued

Step = tuple[str, str, int]

AUTHORS = {"anne": ANNE, "anne, rotated": Author(ANNE.id), "bob": BOB, "robot": ROBOT}

people, numbers = st.sampled_from(sorted(AUTHORS)), st.sampled_from([0, 0, 0, 1, 2])
POLL: Step = ("poll", "anne", 0)
DISCARD: Step = ("discard", "anne", 0)
EIGHT_DAYS: Step = ("sweep", "anne", 8)

single_steps = st.one_of(
    st.tuples(st.sampled_from(["queue", "batch"]), people, st.sampled_from([0, 1])),
    st.tuples(st.sampled_from(["approve", "reject", "again", "replace"]), people, numbers),
    st.tuples(st.sampled_from(["discard", "poll", "lose", "sweep"]), st.just("anne"), numbers),
)


def about_the_newest(*steps: str) -> st.SearchStrategy[Step]:
    """Return one of these steps, by anybody, about the newest request."""
    return st.tuples(st.sampled_from(steps), people, st.just(0))


waiting = st.tuples(st.sampled_from(["queue", "queue", "batch"]), people, st.just(1))
ended = st.one_of(st.just(DISCARD), st.just(EIGHT_DAYS), about_the_newest("reject"))
chapters = st.one_of(
    single_steps.map(lambda step: (step,)),
    # A rule shows only after several steps: a write that needs approval, and a session that must not send it, or must.
    st.tuples(waiting, about_the_newest("approve", "reject"), st.just(POLL)),
    people.map(lambda author: (("queue", author, 1), ("approve", author, 0), POLL)),
    # Each copy waits anew, whether or not the former request was approved.
    st.tuples(waiting, ended, about_the_newest("again", "replace"), st.just(POLL)),
    st.tuples(waiting, about_the_newest("approve"), st.just(DISCARD), about_the_newest("replace"), st.just(POLL)),
)
"""Steps that belong together. Single ones, in between, find what nobody has thought of."""

stories = st.lists(chapters, min_size=4, max_size=8).map(lambda parts: [step for part in parts for step in part])


class Office:
    """People and programs that queue, decide and look away, and what they must have decided before a write is sent."""

    def __init__(self) -> None:
        self.desk = Desk(batch_size=3)
        self.ids: list[str] = []
        self.authors: dict[str, Author] = {}
        self.approved: set[str] = set()
        self.needing: set[str] = set()

    def do(self, step: str, person: str, argument: int) -> None:
        """Take a step. What the service refuses changes nothing."""
        author = AUTHORS[person]
        try:
            match step:
                case "queue":
                    self.add(author, bool(argument), self.desk.queue(author, customer(needs_approval=bool(argument))))
                case "batch":
                    for request_id in self.desk.batch(author, *with_invoice(needs_approval=bool(argument))):
                        needs = bool(argument) and self.desk.record(request_id).request_name == "InvoiceAddRq"
                        self.know(author, request_id, needs=needs)
                case "poll" | "lose":
                    self.poll(is_lost=step == "lose")
                case "sweep":
                    self.desk.clock.advance(days=argument)
                    self.desk.sweep()
                case _ if self.ids:
                    self.change(step, author, self.ids[-1 - argument % len(self.ids)])
        except ServiceError:
            pass

    def change(self, step: str, author: Author, request_id: str) -> None:
        """Make a call about a request."""
        match step:
            case "approve":
                self.desk.approve(author, request_id, accept_values=True)
                if author.id != self.authors[request_id].id:
                    self.approved.add(request_id)
            case "reject":
                self.desk.reject(author, request_id, dependants=True)
            case "discard":
                self.desk.discard(request_id, dependants=True)
            case "again":
                self.know(author, self.desk.queue_again(author, request_id), needs=request_id in self.needing)
            case "replace":
                queued = self.desk.queue(author, customer("Corrected"), replaces=request_id)
                self.add(author, request_id in self.needing, queued)

    def add(self, author: Author, needs: bool, queued: Queued) -> None:
        """Remember a request that was queued."""
        self.know(author, queued.stored.record.id, needs=needs)

    def know(self, author: Author, request_id: str, *, needs: bool) -> None:
        """Remember a request that was queued, unless it was before."""
        if request_id not in self.authors:
            self.ids.append(request_id)
            self.authors[request_id] = author
            self.needing |= {request_id} if needs or author.proposes else set()

    def poll(self, *, is_lost: bool) -> None:
        """Run a session of up to ten message sets. The response to the first one may get lost."""
        if self.desk.qbwc.authenticate() != "":
            return
        for _ in range(10):
            request = self.desk.qbwc.send(hcp())
            if not request:
                break
            self.check(request)
            if is_lost:
                break
            self.desk.qbwc.receive(set_response(request) if labels_in(request) else nothing_stored(request))
        self.desk.qbwc.close_and_wait()

    def check(self, request: str) -> None:
        """Check what is handed to the Web Connector. A question for a stored response names no request."""
        for request_id in labels_in(request):
            if request_id in self.authors:
                assert request_id not in self.needing - self.approved, f"{request_id} was not approved"


def run(story: Sequence[Step]) -> None:
    """Take the steps of a story. Raises AssertionError if a write is sent without approval, or waits for ever."""
    office = Office()
    for step in story:
        office.do(*step)
    office.desk.clock.advance(seconds=MAX_SECONDS)
    office.desk.sweep()
    office.do(*POLL)
    waiting = [one.id for one in office.desk.qbwc.records if one.state not in ENDED and one.id in office.needing]
    assert [one for one in waiting if office.desk.record(one).awaits_approval] == [], "each wait ends"


@settings(max_examples=60, deadline=None)
@given(stories)
def test_no_write_is_sent_that_nobody_else_has_approved(story: list[Step]) -> None:
    run(story)


def authors_approve(patch: pytest.MonkeyPatch) -> None:
    """Let a key approve what it has queued."""
    patch.setattr(Approval, "is_by_its_author", lambda *_: False)


def proposals_are_sent(patch: pytest.MonkeyPatch) -> None:
    """Send the writes of a key that proposes without approval."""
    needed = new_request._approval  # noqa: SLF001 - the rule to break

    def approval(new: Any, *rest: Any) -> Any:
        return needed(replace(new, author=replace(new.author, proposes=False)), *rest)

    patch.setattr(new_request, "_approval", approval)


def copies_are_sent(patch: pytest.MonkeyPatch) -> None:
    """Send a request that is queued again without approval."""
    copy_of = new_request.copy_of
    patch.setattr(approvals, "copy_of", lambda stored: replace(copy_of(stored), needs_approval=False))
    forget_approvals_of_replaced_requests(patch)


def replacements_are_sent(patch: pytest.MonkeyPatch) -> None:
    """Send a request that replaces another one without approval."""
    forget_approvals_of_replaced_requests(patch)


def forget_approvals_of_replaced_requests(patch: pytest.MonkeyPatch) -> None:
    """Forget that the request needed approval that another one replaces."""
    replaced = new_request.Queueing._replaced  # noqa: SLF001 - the rule to break
    patch.setattr(new_request.Queueing, "_replaced", lambda *args: replace(replaced(*args), approval=None))


def waiting_writes_are_in_the_queue(patch: pytest.MonkeyPatch) -> None:
    """Let a request enter the queue when it no longer waits for others, approved or not."""
    patch.setattr(QueuedRequest, "awaits_approval", property(lambda _: False))


def waits_do_not_end(patch: pytest.MonkeyPatch) -> None:
    """Let a request without a decision wait for ever."""
    patch.setattr(Approval, "deadline", lambda *_: None)


@pytest.mark.parametrize(
    "broken_rule",
    [
        authors_approve,
        proposals_are_sent,
        copies_are_sent,
        replacements_are_sent,
        waiting_writes_are_in_the_queue,
        waits_do_not_end,
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_sixty_stories_find_each_broken_rule(
    monkeypatch: pytest.MonkeyPatch, broken_rule: Callable[[pytest.MonkeyPatch], None], seed: int
) -> None:
    broken_rule(monkeypatch)

    @settings(max_examples=60, deadline=None, phases=[Phase.generate], database=None)
    @given(stories)
    def model(story: list[Step]) -> None:
        run(story)

    with pytest.raises(AssertionError):
        hypothesis_seed(seed)(model)()
