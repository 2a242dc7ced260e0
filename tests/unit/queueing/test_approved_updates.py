"""Updates that need approval: QuickBooks is asked first, and nothing is sent but the write that somebody approved."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import seed as hypothesis_seed
from hypothesis import strategies as st

from domain.errors import InvalidState
from domain.records.approval import MAX_SECONDS
from domain.records.event import EventOutcome, changes_of
from domain.records.lookup import FieldChange, IfExists
from domain.records.request import ENDED, State, WhetherExecuted
from domain.records.session import MAX_EXECUTION_SECONDS
from domain.send_by import SendBy
from domain.storage.changes import ChangeRequest
from domain.storage.ports import RequestDetail
from domain.web_connector.session.lingering import NO_OP
from local.rebuild import continued
from simulator import Company
from tests.support.approvals import ANNE, BOB, ROBOT, Desk
from tests.support.queueing import new_request
from tests.support.web_connector.quickbooks import hcp, nothing_stored, response_to

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.queueing.new_request import NewRequest
    from domain.records.request import StoredRequest

ADDITION = {"Name": "Ada", "BillAddress": {"City": "Bonn"}, "Phone": "1"}


def update(**fields: Any) -> NewRequest:
    """Return an addition that changes its object if it exists, and needs approval."""
    tree = {"CustomerAddRq": {"CustomerAdd": ADDITION}}
    return new_request(tree, needs_approval=True, if_exists=IfExists.UPDATE, **fields)


def there(sequence: int, phone: str = "9", city: str = "Ulm") -> str:
    """Return the customer as QuickBooks returns it."""
    return (
        f"<CustomerRet><ListID>80-1</ListID><EditSequence>{sequence}</EditSequence><Name>Ada</Name><FullName>Ada</FullName>"
        f"<BillAddress><Addr1>Street</Addr1><City>{city}</City></BillAddress><Phone>{phone}</Phone></CustomerRet>"
    )


@pytest.fixture
def desk() -> Desk:
    """Return a desk with an empty queue."""
    return Desk()


def queued(desk: Desk, **fields: Any) -> str:
    """Queue an update, and return its id."""
    return desk.queue(ANNE, update(**fields)).stored.record.id


def stored(desk: Desk, request_id: str) -> StoredRequest:
    """Return a request with its bodies."""
    detail = desk.store.request_detail(request_id)
    assert isinstance(detail, RequestDetail)
    return detail.stored


def asked(desk: Desk, *, found: str = "") -> str:
    """Let a session ask for the object, and return what it sends then."""
    query = desk.qbwc.begin()
    assert "<CustomerQueryRq" in query
    desk.qbwc.receive(response_to(query, content=found) if found else response_to(query, code=500, severity="Warn"))
    return desk.qbwc.send()


def proposed(desk: Desk, *, found: str = "", **fields: Any) -> str:
    """Queue an update, let it ask for its object, and return its id."""
    request = queued(desk, **fields)
    assert asked(desk, found=found) == ""
    desk.qbwc.close()
    return request


# --- What waits for approval


def test_a_query_needs_no_approval_and_nothing_is_sent_after_it(desk: Desk) -> None:
    request = queued(desk)
    assert not desk.record(request).awaits_approval
    query = desk.qbwc.begin()
    sent = desk.record(request)
    desk.qbwc.receive(response_to(query, content=there(5)))

    record = desk.record(request)
    assert (record.state, record.awaits_approval, record.is_in_queue) == (State.RETRYABLE, True, False)
    assert changes_of(sent, record) == (EventOutcome.APPROVAL_REQUIRED,)
    assert desk.qbwc.send() == ""
    assert desk.store.counts == desk.store.recount()


def test_what_waits_is_the_mod_with_the_old_and_the_new_values(desk: Desk) -> None:
    shown = stored(desk, proposed(desk, found=there(5)))

    assert shown.field_changes == (FieldChange("BillAddress/City", "Ulm", "Bonn"), FieldChange("Phone", "9", "1"))
    assert shown.modification_xml
    assert "<ListID>80-1</ListID><EditSequence>5</EditSequence>" in shown.modification_xml
    assert "<Addr1>Street</Addr1><City>Bonn</City>" in shown.modification_xml


def test_nothing_waits_if_nothing_differs(desk: Desk) -> None:
    request = queued(desk)
    assert asked(desk, found=there(5, "1", "Bonn")) == ""

    assert (desk.record(request).outcome, desk.record(request).executed) == ("unchanged", WhetherExecuted.NO)


def test_an_addition_of_an_object_that_does_not_exist_waits(desk: Desk) -> None:
    request = proposed(desk)

    assert desk.record(request).awaits_approval
    assert stored(desk, request).modification_xml is None


@pytest.mark.parametrize("decide", [Desk.approve, Desk.reject])
def test_nobody_decides_before_quickbooks_was_asked(desk: Desk, decide: Any) -> None:
    request = queued(desk)

    with pytest.raises(InvalidState, match="QuickBooks is asked first"):
        decide(desk, BOB, request)


def test_its_seven_days_begin_when_it_waits_for_approval(desk: Desk) -> None:
    request = queued(desk)
    assert desk.record(request).send_by is None
    desk.clock.advance(days=8)
    assert desk.sweep() == 0
    since = int(desk.clock.now.timestamp())
    asked(desk, found=there(5))
    desk.qbwc.close()
    asked_at = (desk.record(request).send_by or 0) - MAX_SECONDS
    assert since <= asked_at <= int(desk.clock.now.timestamp())

    desk.clock.advance(seconds=MAX_SECONDS)
    assert desk.sweep() == 1
    error = desk.record(request).error
    assert error
    assert (error.code, desk.record(request).executed) == ("not_sent_in_time", WhetherExecuted.NO)
    assert error.message.startswith("It was not approved by")


def test_the_time_of_its_author_holds_before_and_after_its_approval(desk: Desk) -> None:
    moment = int(desk.clock.now.timestamp()) + 3600
    request = queued(desk, send_by=SendBy(kept=moment))
    assert desk.record(request).send_by == moment
    asked(desk, found=there(5))
    assert desk.record(request).send_by == moment
    desk.approve(BOB, request)
    assert desk.record(request).send_by == moment


def test_the_query_does_not_count_as_a_failure_in_the_size_of_the_next_set(desk: Desk) -> None:
    queued(desk)
    query = desk.qbwc.begin()
    session = desk.qbwc.session
    desk.store.sessions[session.id] = replace(session, read_set_size=4, write_set_size=3)
    desk.qbwc.receive(response_to(query, content=there(5)))

    assert (desk.qbwc.session.read_set_size, desk.qbwc.session.write_set_size) == (4, 3)


# --- What is sent


def test_exactly_the_mod_that_was_approved_is_sent_after_the_object_was_read_again(desk: Desk) -> None:
    request = proposed(desk, found=there(5))
    desk.approve(BOB, request)
    mod = asked(desk, found=there(5))

    assert "<CustomerMod><ListID>80-1</ListID><EditSequence>5</EditSequence>" in mod
    text = stored(desk, request).modification_xml or ""
    assert _content(text) == _content(mod)
    desk.qbwc.receive(response_to(mod, content=there(6, "1", "Bonn")))
    assert desk.record(request).outcome == "updated"


@pytest.mark.parametrize("found", [there(6), there(5).replace("80-1", "80-2"), ""])
def test_another_write_than_the_approved_one_waits_for_approval_anew(desk: Desk, found: str) -> None:
    request = proposed(desk, found=there(5))
    revision = desk.record(request).revision
    desk.approve(BOB, request)
    assert asked(desk, found=found) == ""
    desk.qbwc.close()

    record = desk.record(request)
    assert (record.awaits_approval, record.approval and record.approval.decided_by) == (True, None)
    with pytest.raises(InvalidState, match="has changed since"):
        desk.approve(BOB, request, revision)
    desk.approve(BOB, request)
    assert asked(desk, found=found) != ""


def test_an_approved_addition_is_not_sent_if_the_object_exists_by_then(desk: Desk) -> None:
    request = proposed(desk)
    desk.approve(BOB, request)
    assert asked(desk, found=there(5)) == ""

    assert desk.record(request).awaits_approval


def test_an_approved_addition_is_sent_if_the_object_still_does_not_exist(desk: Desk) -> None:
    request = proposed(desk)
    desk.approve(BOB, request)
    addition = asked(desk)

    assert "<CustomerAddRq" in addition
    desk.qbwc.receive(response_to(addition, content=there(5, "1", "Bonn")))
    assert desk.record(request).outcome == "created"


def test_after_status_3200_the_new_mod_waits_for_approval(desk: Desk) -> None:
    request = proposed(desk, found=there(5))
    desk.approve(BOB, request)
    mod = asked(desk, found=there(5))
    desk.qbwc.receive(response_to(mod, code=3200, severity="Error", message="Out of date."))
    query = desk.qbwc.send()
    desk.qbwc.receive(response_to(query, content=there(6)))

    assert desk.qbwc.send() == ""
    assert desk.record(request).awaits_approval
    desk.reject(BOB, request)
    assert desk.record(request).executed is WhetherExecuted.NO


def test_the_session_that_asked_may_send_it_after_its_approval(desk: Desk) -> None:
    request, other = queued(desk), desk.queue(ROBOT, new_request({"CustomerQueryRq": {}})).stored.record.id
    assert f'requestID="{other}"' in (second := asked(desk, found=there(5)))
    desk.approve(BOB, request)
    assert desk.qbwc.receive(response_to(second, code=1)) < 100

    assert "<CustomerQueryRq" in desk.qbwc.send()


def test_a_session_lingers_while_an_update_waits_for_approval_and_sends_it_then() -> None:
    desk = Desk(linger_seconds=60)
    request = queued(desk)
    assert asked(desk, found=there(5)) == NO_OP
    desk.approve(BOB, request)

    query = desk.qbwc.send()
    assert "<CustomerQueryRq" in query
    desk.qbwc.receive(response_to(query, content=there(5)))
    assert "<CustomerModRq" in desk.qbwc.send()


# --- What is lost


def test_a_lost_mod_that_was_never_executed_is_sent_again_only_if_it_is_the_approved_one(desk: Desk) -> None:
    request = proposed(desk, found=there(5))
    desk.approve(BOB, request)
    mod = asked(desk, found=there(5))
    desk.qbwc.close_and_wait()
    desk.qbwc.receive(nothing_stored(desk.qbwc.begin()))
    desk.qbwc.receive(response_to(desk.qbwc.send(), content=there(5)))
    again = desk.qbwc.send()
    assert _content(again) == _content(mod)
    desk.qbwc.close_and_wait()
    desk.qbwc.receive(nothing_stored(desk.qbwc.begin()))
    desk.qbwc.receive(response_to(desk.qbwc.send(), content=there(7)))

    assert desk.qbwc.send() == ""
    assert (desk.record(request).awaits_approval, desk.record(request).recovering) == (True, False)


@pytest.mark.parametrize("found", [there(5), ""])
def test_after_a_restore_it_waits_for_approval_again(desk: Desk, found: str) -> None:
    request = proposed(desk, found=found)
    desk.approve(BOB, request)
    before = desk.record(request)
    restored = continued(before, desk.clock.now, has_request=True, has_response=False)
    desk.store.commit(ChangeRequest(before, restored))
    check = desk.qbwc.begin()
    assert "<Customer" not in check
    # Without the key of the company file, it would end as outcome_unknown.
    key = desk.qbwc.session.company_file.key
    recovery = replace(desk.record(request).recovery, company_file_key=key, running_until=None)
    desk.qbwc.change(request, recovery=recovery)
    desk.qbwc.receive(nothing_stored(check))

    assert desk.record(request).awaits_approval
    assert desk.qbwc.send() == ""


# --- The property, in the simulator's books


class Story:
    """A company, a person who works in it, people who decide, and a Web Connector that loses messages."""

    def __init__(self) -> None:
        self.desk, self.company = Desk(), Company.empty()
        self.ours, self.person = self.company.begin_session("qbxml-queue"), self.company.begin_session("A person")
        self.approved: set[tuple[str, str]] = set()
        self.ids = [queued(self.desk), queued(self.desk)]

    def do(self, step: str, which: int) -> None:
        """Take a step."""
        request_id = self.ids[which]
        match step:
            case "approve" if self.desk.record(request_id).awaits_approval:
                shown = stored(self.desk, request_id)
                self.approved.add((request_id, _content(shown.modification_xml or shown.request_xml)))
                self.desk.approve(BOB, request_id)
            case "reject" if self.desk.record(request_id).awaits_approval:
                self.desk.reject(BOB, request_id)
            case "poll" | "lose":
                self.poll(lost_at=which if step == "lose" else None)
            case "add" | "edit" | "delete":
                self.act(step)

    def poll(self, lost_at: int | None) -> None:
        """Run a session. The response to one of its messages may get lost."""
        qbwc = self.desk.qbwc
        if qbwc.authenticate():
            return
        facts, number = hcp(), 0
        while "<QBXML" in (text := qbwc.send(facts)):
            facts = ""
            self.check(text)
            response = self.ours.process_request(text)
            if number == lost_at:
                break
            number += 1
            qbwc.receive(response)
        qbwc.close()
        self.desk.clock.advance(seconds=2 * MAX_EXECUTION_SECONDS)

    def check(self, text: str) -> None:
        """Check that a write that is handed to QuickBooks is one that somebody approved."""
        if re.search("<Customer(Add|Mod)Rq", text):
            (sent,) = [record.id for record in self.desk.qbwc.records if record.state is State.SENT]
            assert (sent, _content(text)) in self.approved, text

    def act(self, act: str) -> None:
        """Let the person change the books."""
        rows = self.person.process_request(_document("<CustomerQueryRq><FullName>Ada</FullName></CustomerQueryRq>"))
        found = re.search("<ListID>(.*?)</ListID>.*?<EditSequence>(.*?)</EditSequence>", rows, re.DOTALL)
        keys = f"<ListID>{found[1]}</ListID><EditSequence>{found[2]}</EditSequence>" if found else ""
        if act == "add":
            self.person.process_request(
                _document("<CustomerAddRq><CustomerAdd><Name>Ada</Name><Phone>0</Phone></CustomerAdd></CustomerAddRq>")
            )
        elif act == "edit" and found:
            mod = f"<CustomerModRq><CustomerMod>{keys}<Notes>{found[2]}</Notes></CustomerMod></CustomerModRq>"
            self.person.process_request(_document(mod))
        elif found:
            deletion = f"<ListDelType>Customer</ListDelType><ListID>{found[1]}</ListID>"
            self.person.process_request(_document(f"<ListDelRq>{deletion}</ListDelRq>"))


STEPS = ["poll", "poll", "approve", "approve", "reject", "lose", "add", "edit", "delete"]
steps = st.tuples(st.sampled_from(STEPS), st.sampled_from([0, 1]))


@hypothesis_seed(38)
@settings(max_examples=60, deadline=None)
@given(st.lists(steps, min_size=4, max_size=14))
def test_whatever_happens_only_what_was_approved_is_sent_and_everything_ends(story: Sequence[tuple[str, int]]) -> None:
    world = Story()
    for step in story:
        world.do(*step)
    for _ in range(12):
        world.do("approve", 0)
        world.do("approve", 1)
        world.poll(None)
    states = [world.desk.record(request_id).state for request_id in world.ids]
    assert set(states) <= ENDED, states
    assert world.desk.store.counts == world.desk.store.recount()


def _document(request: str) -> str:
    return (
        '<?xml version="1.0"?><?qbxml version="16.0"?><QBXML><QBXMLMsgsRq onError="stopOnError">'
        f"{request}</QBXMLMsgsRq></QBXML>"
    )


def _content(text: str) -> str:
    """Return the content of a write, without its declarations and its IDs."""
    found = re.search(r"<Customer(?:Add|Mod)>.*</Customer(?:Add|Mod)>", text, re.DOTALL)
    assert found
    return found[0]
