"""Decisions about several requests: each alone is left if it is refused, and a batch is decided about as a whole."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import Forbidden, HasDependants, InvalidState, NotFound
from domain.queueing.many_approvals import MAX_SECONDS, ManyApprovals
from domain.records.audit import Action
from domain.records.batch import batch_id
from domain.records.request import State
from tests.support.approvals import ANNE, BOB, ROBOT, Desk, actor_of, customer
from tests.support.builders import APP_ID, CONNECTION_ID
from tests.support.queueing import new_request
from tests.unit.queueing.test_approvals import with_invoice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.queueing.many_approvals import DecidedRequest
    from domain.records.approval import Author

NOBODY = "b0000000-0000-4000-8000-00000000dead"


class ManyDesk(Desk):
    """A desk at which several requests are decided about in a call."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.many = ManyApprovals(self.requests, self.approvals, self.clock)

    def approve_all(self, author: Author, revisions: dict[str, int], **how: Any) -> dict[str, str | None]:
        """Approve revisions, and return the codes of the refusals."""
        return codes(self.many.approve(APP_ID, CONNECTION_ID, revisions, actor=actor_of(author), author=author, **how))

    def reject_all(self, author: Author, ids: Sequence[str] = (), **how: Any) -> dict[str, str | None]:
        """Reject requests, and return the codes of the refusals."""
        call = self.many.reject
        return codes(call(APP_ID, CONNECTION_ID, ids, actor=actor_of(author), author=author, reason="No.", **how))

    def audited(self) -> Counter[str]:
        """Return how many entries of each action the audit log has."""
        return Counter(entry.action for entry in self.store.audit_log.values())


def codes(decided: Sequence[DecidedRequest]) -> dict[str, str | None]:
    """Return the code of each refusal, or None."""
    return {one.id: one.refusal.code if one.refusal else None for one in decided}


@pytest.fixture
def desk() -> ManyDesk:
    return ManyDesk()


KINDS = {
    "waiting": None,
    "another revision": "invalid_state",
    "of the decider": "forbidden",
    "discarded": "invalid_state",
    "without approval": "invalid_state",
    "approved": None,
    "rejected": "invalid_state",
    "unknown": "not_found",
}


def request_of(desk: ManyDesk, kind: str) -> str:
    """Queue a request of a kind, and return its id."""
    if kind == "unknown":
        return NOBODY
    if kind == "without approval":
        return desk.queue(ANNE, customer()).stored.record.id
    request = desk.waiting(BOB if kind == "of the decider" else ANNE)
    match kind:
        case "discarded":
            desk.discard(request)
        case "approved":
            desk.approve(BOB, request)
        case "rejected":
            desk.reject(BOB, request)
    return request


@given(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=6, unique=True))
def test_what_cannot_be_approved_is_left_with_the_reason_and_the_rest_is_approved(kinds: list[str]) -> None:
    desk = ManyDesk()
    ids = {kind: request_of(desk, kind) for kind in kinds}
    before = {kind: desk.store.records.get(request) for kind, request in ids.items()}
    revisions = {request: 2 if kind == "another revision" else 1 for kind, request in ids.items()}

    answers = [desk.approve_all(BOB, revisions) for _ in range(2)]

    assert answers[0] == answers[1] == {request: KINDS[kind] for kind, request in ids.items()}
    for kind, request in ids.items():
        if kind == "waiting":
            assert desk.record(request).is_in_queue
        else:
            assert desk.store.records.get(request) == before[kind]
    assert desk.audited()[Action.REQUEST_APPROVED] == len({"waiting", "approved"}.intersection(kinds))


@given(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=6, unique=True))
def test_what_cannot_be_rejected_is_left_with_the_reason_and_the_rest_is_rejected(kinds: list[str]) -> None:
    desk = ManyDesk()
    ids = {kind: request_of(desk, kind) for kind in kinds}
    expected = KINDS | {"another revision": None, "approved": "invalid_state", "rejected": None}

    answers = [desk.reject_all(BOB, list(ids.values())) for _ in range(2)]

    assert answers[0] == answers[1] == {request: expected[kind] for kind, request in ids.items()}
    for kind, request in ids.items():
        if expected[kind] is None:
            assert desk.record(request).was_rejected


def test_requests_and_those_that_wait_for_them_are_rejected_together(desk: ManyDesk) -> None:
    ids = desk.batch(ROBOT, *with_invoice())

    assert desk.reject_all(BOB, ids) == dict.fromkeys(ids)

    assert [desk.record(request).was_rejected for request in ids] == [True, True]


def test_a_call_that_takes_long_leaves_the_rest_for_a_repetition(desk: ManyDesk, monkeypatch: Any) -> None:
    ids = [desk.waiting() for _ in range(3)]
    approve = desk.approvals.approve

    def slowly(*args: Any, **how: Any) -> Any:
        desk.clock.advance(seconds=MAX_SECONDS / 2)
        return approve(*args, **how)

    with monkeypatch.context() as patch:
        patch.setattr(desk.approvals, "approve", slowly)
        first = desk.approve_all(BOB, dict.fromkeys(ids, 1))
    assert list(first.values()) == [None, None, "too_many_requests"]

    assert desk.approve_all(BOB, dict.fromkeys(ids, 1)) == dict.fromkeys(ids)
    assert desk.audited()[Action.REQUEST_APPROVED] == 3


class TestABatch:
    """It is approved or rejected as a whole."""

    def test_its_requests_enter_the_queue_in_their_order(self, desk: ManyDesk) -> None:
        ids = desk.batch(ROBOT, *(customer(name) for name in "abc"))

        for _ in range(2):
            assert desk.approve_all(BOB, dict.fromkeys(reversed(ids), 1), batch_id=ids[0]) == dict.fromkeys(ids)

        assert [record.id for record in desk.store.queue_front(CONNECTION_ID, 10)] == ids
        assert desk.audited() == {Action.REQUEST_APPROVED: 3}

    @pytest.mark.parametrize("fault", ["unnamed", "another one", "revision", "author", "values"])
    def test_nothing_is_approved_if_one_request_cannot_be(self, desk: ManyDesk, fault: str) -> None:
        ids = desk.batch(ROBOT, customer("Ann"), *with_invoice())
        revisions = dict.fromkeys(ids, 1)
        if fault == "unnamed":
            del revisions[ids[1]]
        if fault == "another one":
            revisions[desk.waiting()] = 1
        if fault == "revision":
            revisions[ids[2]] = 2
        before = [desk.record(request) for request in ids]

        with pytest.raises(Forbidden if fault == "author" else InvalidState):
            desk.approve_all(
                ROBOT if fault == "author" else BOB, revisions, batch_id=ids[0], accept_values=fault != "values"
            )

        assert [desk.record(request) for request in ids] == before
        assert desk.audited() == {}

    def test_it_needs_the_names_of_those_alone_that_wait_for_approval(self, desk: ManyDesk) -> None:
        query = new_request({"CustomerQueryRq": {}})
        ids = desk.batch(ANNE, customer("Ann", needs_approval=True), query, customer("Bea"))

        assert desk.approve_all(BOB, {ids[0]: 1}, batch_id=ids[0]) == {ids[0]: None}

    def test_it_is_rejected_with_what_waits_for_it(self, desk: ManyDesk) -> None:
        ids = desk.batch(ROBOT, *with_invoice())

        for _ in range(2):
            assert desk.reject_all(BOB, batch_id=ids[0]) == dict.fromkeys(ids)

        assert {desk.record(request).state for request in ids} == {State.DISCARDED}
        assert desk.audited() == {Action.REQUEST_REJECTED: 2}

    def test_nothing_is_rejected_if_a_request_that_needs_no_approval_waits_for_it(self, desk: ManyDesk) -> None:
        reference = {"$from": "c", "path": "CustomerRet/ListID"}
        query = new_request({"CustomerQueryRq": {"ListID": reference}})
        ids = desk.batch(ROBOT, customer("Ann"), customer(ref="c"), query)
        with pytest.raises(HasDependants):
            desk.reject_all(BOB, batch_id=ids[0])
        assert all(desk.record(request).awaits_approval for request in ids[:2])

        desk.reject_all(BOB, batch_id=ids[0], dependants=True)

        error = desk.record(ids[2]).error
        assert error
        assert error.code == "dependency_failed"

    @pytest.mark.parametrize("other", [NOBODY, "not of this connection"])
    def test_an_unknown_batch_is_not_found(self, desk: ManyDesk, other: str) -> None:
        ids = desk.batch(ROBOT, customer())
        connection, of = (CONNECTION_ID, other) if other == NOBODY else (NOBODY, batch_id(ids[0]) or "")

        with pytest.raises(NotFound):
            desk.many.reject(APP_ID, connection, (), actor=actor_of(BOB), author=BOB, reason="No.", batch_id=of)

    def test_a_batch_in_which_nothing_waits_for_approval_cannot_be_rejected(self, desk: ManyDesk) -> None:
        ids = desk.batch(ANNE, customer())

        with pytest.raises(InvalidState):
            desk.reject_all(BOB, batch_id=ids[0])
