"""Writes that need approval wait outside the queue, and their authors cannot approve them. Copies wait anew."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from domain.errors import Forbidden, Gone, HasDependants, InvalidState
from domain.listing.filters import RequestFilter
from domain.queueing.continuation import ContinueBatch, Continuing
from domain.queueing.new_request import IDEMPOTENCY_SECONDS
from domain.queueing.queue_again import QueueAgain
from domain.records.approval import MAX_SECONDS, UNKNOWN_AUTHOR, Author
from domain.records.audit import Action
from domain.records.batch import batch_id
from domain.records.event import EventOutcome, changes_of
from domain.records.lookup import IfExists
from domain.records.request import ENDED, State
from domain.records.successor import id_again, may_be_queued_again
from domain.send_by import SendBy
from domain.storage.changes import ChangeRequest
from domain.timestamps import timestamp
from local.rebuild import continued
from tests.support.approvals import ANNE, BOB, ROBOT, Desk, actor_of, customer
from tests.support.builders import APP_ID, CONNECTION_ID
from tests.support.queueing import new_request
from tests.support.web_connector.quickbooks import labels_in, nothing_stored, response_to

if TYPE_CHECKING:
    from domain.queueing.new_request import NewRequest

DAY = 86_400


@pytest.fixture
def desk() -> Desk:
    """Return a desk with an empty queue."""
    return Desk()


def seconds_ahead(desk: Desk, request_id: str) -> int:
    """Return in how many seconds the request ends, from when it was queued."""
    record = desk.record(request_id)
    assert record.send_by is not None
    return record.send_by - int(desk.clock.now.timestamp())


# --- Where it waits


@pytest.mark.parametrize(("author", "needs_approval"), [(ANNE, True), (ROBOT, False)])
def test_a_write_waits_outside_of_the_queue(desk: Desk, author: Author, *, needs_approval: bool) -> None:
    queued = desk.queue(author, customer(needs_approval=needs_approval))
    record = queued.stored.record

    assert record.awaits_approval
    assert desk.store.queue_front(record.connection_id, 10) == []
    assert queued.waiting
    assert queued.waiting.code == "approval"
    assert desk.qbwc.authenticate() == "none"


def test_a_write_of_a_full_key_needs_no_approval_unless_it_is_asked_for(desk: Desk) -> None:
    assert desk.queue(ANNE, customer()).stored.record.approval is None
    assert desk.qbwc.authenticate() == ""


@pytest.mark.parametrize("author", [ANNE, ROBOT])
def test_a_query_never_waits_for_approval(desk: Desk, author: Author) -> None:
    query = new_request({"CustomerQueryRq": {}}, needs_approval=True)

    assert desk.queue(author, query).stored.record.approval is None


def test_an_approved_write_enters_the_queue_behind_those_that_wait_there(desk: Desk) -> None:
    first = desk.waiting()
    other = desk.queue(BOB, customer("Bea")).stored.record.id
    desk.clock.advance(seconds=1)

    approved = desk.approve(BOB, first)

    assert [record.id for record in desk.store.queue_front(approved.connection_id, 10)] == [other, first]
    assert approved.approval
    assert (approved.approval.decided_by, approved.approval.revision) == (BOB.id, 1)


# --- Who decides


@pytest.mark.parametrize("decide", [Desk.approve, Desk.reject])
@pytest.mark.parametrize("author", [ANNE, ROBOT, UNKNOWN_AUTHOR])
def test_an_author_never_decides_about_their_own_request(desk: Desk, author: Author, decide: Any) -> None:
    request = desk.waiting(author)

    with pytest.raises(Forbidden):
        decide(desk, author, request)

    assert desk.record(request).awaits_approval


def test_somebody_unknown_decides_about_nothing(desk: Desk) -> None:
    with pytest.raises(Forbidden):
        desk.approve(UNKNOWN_AUTHOR, desk.waiting())


def test_an_approval_of_another_revision_is_refused(desk: Desk) -> None:
    request = desk.waiting()

    with pytest.raises(InvalidState) as error:
        desk.approve(BOB, request, 2)

    assert error.value.details == {"revision": 1}
    assert desk.record(request).awaits_approval


def test_a_repeated_decision_changes_nothing(desk: Desk) -> None:
    approved, rejected = desk.waiting(), desk.waiting()
    desk.approve(BOB, approved, 1)
    desk.reject(BOB, rejected)
    before = [desk.record(request) for request in (approved, rejected)]

    assert [desk.approve(BOB, approved, 1), desk.reject(BOB, rejected, "Another reason.")] == before
    for decide, request in ((desk.approve, rejected), (desk.reject, approved)):
        with pytest.raises(InvalidState):
            decide(BOB, request)
    actions = Counter(entry.action for entry in desk.store.audit_log.values())
    assert actions == {Action.REQUEST_APPROVED: 1, Action.REQUEST_REJECTED: 1}


def test_a_request_that_needs_no_approval_cannot_get_one(desk: Desk) -> None:
    request = desk.queue(ANNE, customer()).stored.record.id

    for decide in (desk.approve, desk.reject):
        with pytest.raises(InvalidState):
            decide(BOB, request)


def test_a_rejected_request_ends_with_its_reason_and_is_never_copied(desk: Desk) -> None:
    request = desk.waiting()

    record = desk.reject(BOB, request, "It is a duplicate.")

    assert record.state is State.DISCARDED
    assert record.approval
    assert record.approval.reason == "It is a duplicate."
    assert not may_be_queued_again(record)
    with pytest.raises(InvalidState):
        desk.queue_again(BOB, request)


# --- Without a decision


@pytest.mark.parametrize(("given", "seconds"), [(None, MAX_SECONDS), (DAY, DAY), (30 * DAY, MAX_SECONDS)])
def test_it_ends_after_seven_days_or_at_its_own_time(desk: Desk, given: int | None, seconds: int) -> None:
    request = desk.waiting(send_by=SendBy(within=given))
    assert seconds_ahead(desk, request) == seconds

    desk.clock.advance(seconds=seconds - 1)
    assert desk.sweep() == 0
    desk.clock.advance(seconds=1)
    with pytest.raises(InvalidState):
        desk.approve(BOB, request)
    assert desk.sweep() == 1

    error = desk.record(request).error
    assert error
    assert (error.code, error.message[:25]) == ("not_sent_in_time", "It was not approved by 20")


@pytest.mark.parametrize("given", [None, 30 * DAY])
def test_an_approved_write_has_the_time_that_its_author_gave(desk: Desk, given: int | None) -> None:
    request = desk.waiting(send_by=SendBy(within=given))

    record = desk.approve(BOB, request)

    assert record.send_by == (None if given is None else int(desk.clock.now.timestamp()) + given)


# --- Copies


def test_each_copy_waits_for_approval_anew(desk: Desk) -> None:
    first = desk.waiting(send_by=SendBy(within=30 * DAY))
    desk.approve(BOB, first)
    desk.discard(first)

    second = desk.queue_again(BOB, first)
    assert desk.record(second).awaits_approval
    desk.discard(second)
    third = desk.queue(ANNE, customer("Corrected"), replaces=second).stored.record

    assert third.awaits_approval
    with pytest.raises(Forbidden):
        desk.approve(ANNE, third.id)
    assert desk.record(second).given_send_by == desk.record(first).given_send_by


def copied_alone(desk: Desk, request_id: str) -> None:
    """Queue a request again with a call of its own."""
    desk.queue_again(BOB, request_id)


def copied_in_bulk(desk: Desk, _request_id: str) -> None:
    """Queue all ended requests of the connection again with one call."""
    everything = RequestFilter(to=timestamp(desk.clock() + timedelta(days=1)))
    use = QueueAgain(desk.store, desk.clock, lambda: None)
    use.queue_again(APP_ID, CONNECTION_ID, everything, lambda _: None, actor=actor_of(BOB))


def copied_by_continuing(desk: Desk, request_id: str) -> None:
    """Continue the batch of a request."""
    batch = batch_id(request_id)
    assert batch
    command = ContinueBatch(APP_ID, CONNECTION_ID, batch, actor_of(BOB), BOB)
    Continuing(desk.store, desk.queueing).continue_batch(command)


@pytest.mark.parametrize("copied", [copied_alone, copied_in_bulk, copied_by_continuing])
def test_a_copy_by_any_route_keeps_what_its_author_asked_for_and_waits_for_approval(desk: Desk, copied: Any) -> None:
    new = customer(needs_approval=True, if_exists=IfExists.RETURN, is_low=True, send_by=SendBy(within=60))
    (first,) = desk.batch(ANNE, new)
    desk.approve(BOB, first)
    desk.clock.advance(seconds=90)
    assert desk.sweep() == 1

    copied(desk, first)

    copy = desk.record(id_again(first))
    assert copy.lookup
    assert (copy.awaits_approval, copy.is_low, copy.lookup.if_exists) == (True, True, IfExists.RETURN)


# --- Batches


def with_invoice(**fields: Any) -> list[NewRequest]:
    """Return a customer, and an invoice that needs approval and the id of the customer."""
    reference = {"ListID": {"$from": "c", "path": "CustomerRet/ListID"}}
    invoice = {"InvoiceAddRq": {"InvoiceAdd": {"CustomerRef": reference, "RefNumber": "W7"}}}
    return [customer(ref="c"), new_request(invoice, **fields)]


def answer(desk: Desk, request: str) -> None:
    """Answer a customer that was sent."""
    desk.qbwc.receive(response_to(request, content="<CustomerRet><ListID>80000001-1</ListID></CustomerRet>"))


def test_values_that_nobody_has_seen_must_be_accepted(desk: Desk) -> None:
    _, invoice = desk.batch(ANNE, *with_invoice(needs_approval=True))
    with pytest.raises(InvalidState):
        desk.approve(BOB, invoice)

    desk.approve(BOB, invoice, accept_values=True)

    assert not desk.record(invoice).is_in_queue
    answer(desk, desk.qbwc.begin())
    assert labels_in(desk.qbwc.send()) == [invoice]


def test_a_request_waits_for_its_approval_when_its_values_are_there(desk: Desk) -> None:
    _, invoice = desk.batch(ANNE, *with_invoice(needs_approval=True))
    answer(desk, desk.qbwc.begin())
    assert desk.qbwc.send() == ""
    assert desk.record(invoice).awaits_approval
    with pytest.raises(InvalidState, match="has changed since revision 1"):
        desk.approve(BOB, invoice, 1)

    desk.approve(BOB, invoice)

    assert labels_in(desk.qbwc.begin()) == [invoice]


def test_the_dependants_of_a_rejected_request_end_with_it(desk: Desk) -> None:
    first, invoice = desk.batch(ROBOT, *with_invoice())
    with pytest.raises(HasDependants):
        desk.reject(BOB, first)

    desk.reject(BOB, first, dependants=True)

    error = desk.record(invoice).error
    assert error
    assert error.code == "dependency_failed"


# --- Its idempotency key


@pytest.mark.parametrize("is_approved", [True, False])
def test_its_key_lives_until_a_day_after_its_end(desk: Desk, *, is_approved: bool) -> None:
    new = customer(needs_approval=True)
    first = desk.queue(ANNE, new, "key").stored.record.id
    if is_approved:
        desk.approve(BOB, first)
    desk.clock.advance(days=6)
    if is_approved:
        desk.clock.advance(days=40)
        desk.qbwc.receive(response_to(desk.qbwc.begin()))
    else:
        desk.clock.advance(days=1)
        desk.sweep()
    assert desk.record(first).state in ENDED

    desk.clock.advance(seconds=IDEMPOTENCY_SECONDS - 10)
    assert desk.queue(ANNE, new, "key").stored.record.id == first
    desk.clock.advance(seconds=30)
    second = desk.queue(ANNE, new, "key").stored.record.id
    assert second != first
    assert desk.queue(ANNE, new, "key").stored.record.id == second


def test_the_key_of_a_deleted_request_lives_for_a_day(desk: Desk) -> None:
    new = customer(needs_approval=True)
    first = desk.queue(ANNE, new, "key").stored.record.id
    desk.clock.advance(days=3)
    desk.requests.delete(APP_ID, first, actor=actor_of(ANNE), force=True)

    desk.clock.advance(seconds=IDEMPOTENCY_SECONDS - 10)
    with pytest.raises(Gone):
        desk.queue(ANNE, new, "key")
    desk.clock.advance(seconds=30)
    assert desk.queue(ANNE, new, "key").stored.record.id != first


# --- After a restore


@pytest.mark.parametrize("is_approved", [True, False])
def test_a_restored_write_is_recovered_and_never_sent_by_its_earlier_approval(desk: Desk, *, is_approved: bool) -> None:
    request = desk.waiting()
    if is_approved:
        desk.approve(BOB, request)
    before = desk.record(request)
    restored = continued(before, desk.clock.now, has_request=True, has_response=False)
    # Without a known company file the write ends as outcome_unknown. With one, it would be sent again.
    recovery = replace(restored.recovery, company_file_key="{90A44FB5-33D9-4815-AC85-BC87A7E7D1EB}", running_until=None)
    desk.store.commit(ChangeRequest(before, replace(restored, recovery=recovery)))
    assert not desk.record(request).awaits_approval

    check = desk.qbwc.begin()
    assert "CustomerAddRq" not in check
    open_key = desk.qbwc.session.company_file.key
    desk.qbwc.change(request, recovery=replace(desk.record(request).recovery, company_file_key=open_key))
    sent = desk.record(request)
    desk.qbwc.receive(nothing_stored(check))

    assert desk.record(request).awaits_approval
    assert changes_of(sent, desk.record(request)) == (EventOutcome.APPROVAL_REQUIRED,)
    assert desk.qbwc.send() == ""
    desk.qbwc.close()
    desk.approve(BOB, request)
    assert labels_in(desk.qbwc.begin()) == [request]


def test_a_decision_about_a_request_that_is_no_longer_open_says_what_it_is(desk: Desk) -> None:
    rejected, discarded = desk.waiting(), desk.waiting()
    desk.reject(BOB, rejected)
    desk.discard(discarded)

    for request, message in ((rejected, "was rejected"), (discarded, "is discarded")):
        with pytest.raises(InvalidState, match=message):
            desk.approve(BOB, request)


def test_a_deletion_has_an_entry_of_its_own_in_the_audit_log_at_the_moment_of_earlier_changes(desk: Desk) -> None:
    request = desk.waiting()
    desk.approve(BOB, request)
    desk.discard(request)
    desk.requests.delete(APP_ID, request, actor=actor_of(ANNE))

    actions = [entry.action for entry in desk.store.audit_log.values()]
    assert actions == [Action.REQUEST_APPROVED, Action.REQUEST_DISCARDED, Action.REQUEST_DELETED]
