"""Runs of subscriptions in sessions of the Web Connector, over SOAP and a store in memory."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.errors import InvalidRequest
from domain.records.app import App, AppLimits
from domain.records.audit import Action, Actor, ActorType
from domain.records.request import State
from domain.records.subscription import ChangePage, CopyPhase, PageKind, Subscription
from domain.storage.changes import Put, RemoveCopy
from domain.subscriptions.objects import books_objects
from domain.subscriptions.service import SubscriptionService, checked_start
from domain.timestamps import timestamp
from domain.web_connector.session import runs
from domain.web_connector.session.login import BUSY_SECONDS_OF_A_WRITE
from domain.web_connector.session.runs import AGAIN_AFTER_FAILURE, MAX_TRIES
from tests.support.books import Books
from tests.support.builders import APP_ID, CONNECTION_ID
from tests.support.copies import Reader, events_of
from tests.support.web_connector.connector import Connector
from tests.support.web_connector.interruptions import RandomIds
from tests.support.web_connector.quickbooks import hcp, response_to

if TYPE_CHECKING:
    from collections.abc import Callable

PARSE_ERROR, A_DIALOG = "0x80040400", "0x80040414"
KINDS = ("Customer", "Account", "Invoice")


def subscribed(*objects: str, size: int = 3, start: str = "all", **fields: Any) -> tuple[Connector, Books]:
    """Return a Web Connector whose connection has a subscription, and its books."""
    qbwc = Connector(new_id=RandomIds())
    moment = timestamp(qbwc.clock.now)
    qbwc.connect(**({"run_due_at": moment} | fields))
    one = Subscription("s", CONNECTION_ID, APP_ID, moment, moment, objects or KINDS, 15, start, moment)
    qbwc.store.commit(Put(None, one))
    books = Books(clock=qbwc.clock.now)
    for number in range(size):
        for kind in objects or KINDS:
            books.add(kind, f"N{number:03}")
    return qbwc, books


def pages(qbwc: Connector) -> list[ChangePage]:
    """Return the stored pages in their order."""
    found = [one for one in qbwc.store.copies.values() if isinstance(one, ChangePage)]
    return sorted(found, key=lambda page: page.sequence)


def reader_of(qbwc: Connector) -> Reader:
    """Return a reader of the events."""
    reader = Reader()
    for event in events_of(pages(qbwc)):
        reader.read(event)
    return reader


def copy_of(qbwc: Connector) -> dict[tuple[str, str], int]:
    """Return what a reader of the events has."""
    return {key: int(row["edit_sequence"]) for key, row in reader_of(qbwc).rows.items()}


def own(books: Books) -> dict[tuple[str, str], int]:
    """Return what the books have."""
    return {(record.kind, record.id): record.edit_sequence for record in books.records.values()}


def phases(qbwc: Connector) -> dict[str, CopyPhase]:
    """Return the phases of all objects."""
    return {one.name: one.phase for one in qbwc.store.copy_state(CONNECTION_ID).objects}


def update(qbwc: Connector, books: Books) -> list[str]:
    """Make one update of the Web Connector. Return the messages that it fetched."""
    if qbwc.authenticate() != "":
        return []
    sent: list[str] = []
    for _ in range(200):
        message = qbwc.send(hcp() if not sent else "")
        if not message:
            qbwc.last_error()
            break
        sent.append(message)
        books.clock = qbwc.clock.now
        answer = books.answer(message)
        if qbwc.receive(answer) in {100, -1}:
            break
    qbwc.close()
    books.end_session()
    return sent


def test_an_empty_queue_and_a_due_run_open_a_session_that_reads_everything() -> None:
    qbwc, books = subscribed()

    update(qbwc, books)

    assert copy_of(qbwc) == own(books)
    assert qbwc.connection.session_id is None
    assert set(phases(qbwc).values()) == {CopyPhase.CHANGES}
    assert not qbwc.records


def test_the_next_run_is_made_when_it_is_due_and_not_before() -> None:
    qbwc, books = subscribed()
    update(qbwc, books)

    qbwc.clock.advance(seconds=600)
    assert qbwc.authenticate() == "none"
    qbwc.clock.advance(seconds=600)
    record = next(iter(books.records.values()))
    books.clock = qbwc.clock.now
    books.change(record)

    assert len(update(qbwc, books)) == 2, "the changes, and the invoices that are not paid"
    assert copy_of(qbwc) == own(books)


def test_requests_of_the_normal_lane_come_first_and_those_of_the_low_lane_after_the_run() -> None:
    qbwc, books = subscribed()
    first = qbwc.queue("VendorQueryRq")

    message = qbwc.begin()
    assert first in message
    later = qbwc.queue("AccountQueryRq")
    assert qbwc.receive(response_to(message)) != 100
    assert later in (message := qbwc.send())
    assert qbwc.receive(response_to(message)) == 99
    message = qbwc.send()

    assert "<AccountQueryRq" in message
    assert 'requestID="1.' in message
    added = qbwc.write()
    books.clock = qbwc.clock.now
    assert qbwc.receive(books.answer(message)) == 99
    message = qbwc.send()
    assert "CustomerAddRq" in message
    assert qbwc.receive(response_to(message)) == 99
    assert qbwc.record(added).state is State.RESPONSE_RECEIVED


def test_nothing_is_read_while_the_connection_is_paused() -> None:
    qbwc, _ = subscribed(paused_at="2026-03-14T11:00:00.000000Z")

    assert qbwc.authenticate() == "none"


def test_a_session_that_waits_for_an_answer_is_not_taken_over_at_once() -> None:
    qbwc, books = subscribed()
    qbwc.begin()

    assert qbwc.authenticate() == "busy"
    qbwc.clock.advance(seconds=BUSY_SECONDS_OF_A_WRITE)
    update(qbwc, books)

    assert copy_of(qbwc) == own(books)


def test_a_message_whose_answer_never_arrives_fails_the_run_which_is_reported_after_three() -> None:
    qbwc, books = subscribed()
    for _ in range(3):
        qbwc.begin()
        for _ in range(MAX_TRIES - 1):
            assert qbwc.send()
        assert not qbwc.send()
        assert qbwc.connection.session_id is None
        assert qbwc.authenticate() == "none"
        qbwc.clock.advance(seconds=AGAIN_AFTER_FAILURE.total_seconds() + 60)

    assert [page.kind for page in pages(qbwc)] == [PageKind.FAILED]
    update(qbwc, books)
    assert PageKind.RECOVERED in {page.kind for page in pages(qbwc)}
    assert copy_of(qbwc) == own(books)


def test_an_object_that_quickbooks_cannot_parse_is_unsupported_and_the_others_are_read() -> None:
    qbwc, books = subscribed()
    for _ in range(2):
        assert qbwc.authenticate() == ""
        progress = 0
        while progress != 100:
            message = qbwc.send()
            books.clock = qbwc.clock.now
            fails = "<AccountQueryRq" in message
            progress = qbwc.receive("", PARSE_ERROR, "?") if fails else qbwc.receive(books.answer(message))

    assert phases(qbwc) == {
        "Account": CopyPhase.UNSUPPORTED,
        "Customer": CopyPhase.CHANGES,
        "Invoice": CopyPhase.CHANGES,
    }
    assert {key for key in copy_of(qbwc) if key[0] != "Account"} == {key for key in own(books) if key[0] != "Account"}


def test_a_dialog_box_fails_the_run_and_ends_the_session() -> None:
    qbwc, _ = subscribed()
    qbwc.begin()

    assert qbwc.receive("", A_DIALOG, "A dialog is open.") == -1
    assert "A dialog is open." in qbwc.last_error()
    assert qbwc.connection.session_id is None


def test_an_answer_that_is_too_large_is_asked_for_in_smaller_pages() -> None:
    qbwc, _ = subscribed("Customer", size=150)
    message = qbwc.begin()

    assert qbwc.receive_oversized("<QBXML>{padding}") == 99
    message = qbwc.send()

    assert "<MaxReturned>100</MaxReturned>" in message


def test_a_page_waits_once_while_its_app_is_over_its_quota() -> None:
    qbwc, books = subscribed("Customer", size=450)
    app = App(APP_ID, "Shop", timestamp(qbwc.clock.now), limits=AppLimits(creates_per_second=0))
    qbwc.store.commit(Put(None, app))
    replies = []
    assert qbwc.authenticate() == ""
    progress = 0
    while progress != 100:
        replies.append(message := qbwc.send())
        if message == "NoOp":
            assert qbwc.last_error() == "NoOp"
            qbwc.clock.advance(seconds=5)
            continue
        books.clock = qbwc.clock.now
        progress = qbwc.receive(books.answer(message))

    assert ["NoOp" if reply == "NoOp" else "page" for reply in replies][:5] == ["page", "NoOp", "page", "NoOp", "page"]
    assert copy_of(qbwc) == own(books)


def resyncs(qbwc: Connector) -> None:
    """Ask for a snapshot of everything."""
    [one] = qbwc.store.copy_state(CONNECTION_ID).subscriptions
    moment = timestamp(qbwc.clock.now)
    qbwc.store.commit(Put(one, replace(one, began_at=moment).changed(moment)))


def unsubscribes(qbwc: Connector) -> None:
    """Delete the subscription, and what was read for it."""
    state = qbwc.store.copy_state(CONNECTION_ID)
    subscriptions, objects = map(RemoveCopy, state.subscriptions), map(RemoveCopy, state.objects)
    qbwc.store.commit(*subscriptions, *objects)


@pytest.mark.parametrize("change", [resyncs, unsubscribes])
@pytest.mark.parametrize("trouble", ["parse error", "too large", "again", "closed", "answer"])
@pytest.mark.parametrize("sweeps", [True, False])
def test_what_was_asked_before_a_change_of_the_subscription_counts_no_more(
    change: Callable[[Connector], None], trouble: str, *, sweeps: bool
) -> None:
    """It is neither wrong nor in the copy afterwards."""
    qbwc, books = subscribed("Customer")
    if sweeps:
        update(qbwc, books)
        qbwc.clock.advance(seconds=1_000)
    message = qbwc.begin()
    change(qbwc)
    before = copy_of(qbwc)

    match trouble:
        case "parse error":
            qbwc.receive("", PARSE_ERROR, "?")
        case "too large":
            qbwc.receive_oversized("<QBXML>{padding}")
        case "again":
            assert "Rq" not in qbwc.send() or change is resyncs
        case "closed":
            qbwc.close()
        case _:
            qbwc.receive(books.answer(message))
    assert copy_of(qbwc) == before
    assert set(phases(qbwc).values()) <= {CopyPhase.CHANGES, CopyPhase.SNAPSHOT}
    qbwc.close()
    books.end_session()
    for _ in range(3):
        qbwc.clock.advance(seconds=BUSY_SECONDS_OF_A_WRITE + 1_800)
        update(qbwc, books)

    assert copy_of(qbwc) == (own(books) if change is resyncs else before)


@settings(deadline=None, max_examples=12)
@given(data=st.data(), size=st.integers(0, 120))
def test_a_web_connector_that_dies_at_any_step_loses_nothing_and_repeats_no_write(  # noqa: C901, PLR0912
    data: st.DataObject, size: int
) -> None:
    qbwc, books = subscribed(size=size)
    writes: dict[str, int] = {}
    troubles = data.draw(
        st.lists(st.sampled_from(["", "", "", "die", "lost", "copy", "again", "write", "edit", "close"]), max_size=40)
    )
    steps = iter(troubles)
    answer = ""
    for _ in range(400):
        if qbwc.authenticate() != "":
            rests = qbwc.connection.session_id is None and (qbwc.connection.run_due_at or "") > timestamp(
                qbwc.clock.now
            )
            if rests and next(steps, None) is None:
                break
            qbwc.clock.advance(seconds=BUSY_SECONDS_OF_A_WRITE + 1_800)
            continue
        while True:
            trouble = next(steps, "")
            if trouble == "write":
                qbwc.write(f"W{len(qbwc.records)}")
            if trouble == "edit" and books.records:
                record = sorted(books.records.values(), key=lambda one: one.id)[len(answer) % len(books.records)]
                books.clock = qbwc.clock.now
                books.change(record)
            message = qbwc.send()
            if trouble == "again":
                message = qbwc.send() or message
            if not message:
                qbwc.last_error()
                qbwc.close()
                break
            books.clock = qbwc.clock.now
            if "AddRq" in message:
                name = message.partition("<Name>")[2].partition("<")[0]
                writes[name] = writes.get(name, 0) + 1
                answer = response_to(message)
            else:
                answer = books.answer(message)
            if trouble in {"die", "lost", "close"}:
                if trouble == "close":
                    qbwc.close()
                qbwc.clock.advance(seconds=BUSY_SECONDS_OF_A_WRITE + 1_800)
                break
            progress = qbwc.receive(answer)
            if trouble == "copy":
                assert qbwc.receive(answer) == progress
            if progress in {100, -1}:
                qbwc.close()
                break
        books.end_session()
    qbwc.clock.advance(seconds=3600)
    for _ in range(30):
        update(qbwc, books)
        qbwc.clock.advance(seconds=1000)

    assert copy_of(qbwc) == own(books)
    assert all(number == 1 for number in writes.values())


@pytest.mark.parametrize(("bound", "value"), [("MAX_SECONDS", 0), ("MAX_RECEIVED_BYTES", 1_000)])
def test_a_long_run_goes_on_in_the_next_sessions(monkeypatch: pytest.MonkeyPatch, bound: str, value: int) -> None:
    monkeypatch.setattr(runs, bound, value)
    qbwc, books = subscribed(size=30)

    first = update(qbwc, books)
    copied = len(copy_of(qbwc))
    while update(qbwc, books):
        qbwc.clock.advance(seconds=1)

    assert len(first) == 1
    assert 0 < copied < len(books.records)
    assert copy_of(qbwc) == own(books)


def test_a_copy_of_a_parse_error_of_a_run_does_not_end_a_write() -> None:
    qbwc, _ = subscribed()
    qbwc.begin()
    progress = qbwc.receive("", PARSE_ERROR, "?")
    write = qbwc.write("Ada")

    qbwc.send()
    assert qbwc.receive("", PARSE_ERROR, "?") == progress == 100
    assert qbwc.record(write).state is State.WAITING
    message = qbwc.begin()
    assert "CustomerAddRq" in message
    qbwc.receive(response_to(message))
    assert qbwc.record(write).state is State.RESPONSE_RECEIVED


def test_a_copy_of_a_parse_error_of_a_request_does_not_make_an_object_unsupported() -> None:
    qbwc, books = subscribed("Invoice")
    broken = qbwc.queue("VendorQueryRq")
    assert "VendorQueryRq" in qbwc.begin()
    assert qbwc.receive("", PARSE_ERROR, "?") == 99
    assert qbwc.record(broken).state is State.ERROR
    assert "InvoiceQueryRq" in qbwc.send()

    assert qbwc.receive("", PARSE_ERROR, "?") == -1
    assert phases(qbwc).get("Invoice") is not CopyPhase.UNSUPPORTED
    qbwc.clock.advance(seconds=AGAIN_AFTER_FAILURE.total_seconds())
    update(qbwc, books)
    assert copy_of(qbwc) == own(books)


@pytest.mark.parametrize("is_due", [True, False])
@pytest.mark.parametrize("exception", [A_DIALOG, "0x80040402"])
def test_a_write_that_met_an_error_ends_the_session_whether_a_run_is_due_or_not(
    exception: str, *, is_due: bool
) -> None:
    moment = timestamp(Connector().clock.now) if is_due else None
    qbwc, _ = subscribed("Invoice", run_due_at=moment)
    read, first, second = qbwc.queue("VendorQueryRq"), qbwc.write("Ada"), qbwc.write("Bob")
    qbwc.receive(response_to(qbwc.begin()))
    assert qbwc.record(read).state is State.RESPONSE_RECEIVED
    assert "CustomerAddRq" in qbwc.send()

    assert qbwc.receive("", exception, "?") == -1
    qbwc.last_error()
    qbwc.close()

    assert qbwc.record(second).state is State.WAITING
    assert qbwc.record(first).recovery.running_until is None
    assert qbwc.connection.run_due_at == moment


def takes_over(qbwc: Connector) -> None:
    """Let the Web Connector die, so that its next login ends the session."""
    qbwc.clock.advance(seconds=BUSY_SECONDS_OF_A_WRITE + 60)


@pytest.mark.parametrize("end", [takes_over, Connector.close], ids=["a new login", "closeConnection"])
def test_a_page_that_is_never_answered_becomes_smaller_and_fails_the_run(end: Callable[[Connector], object]) -> None:
    qbwc, books = subscribed("Customer", size=30)
    sizes = []
    for _ in range(4):
        sizes.append(int(qbwc.begin().partition("<MaxReturned>")[2].partition("<")[0]))
        end(qbwc)

    assert sizes == [200, 100, 50, 25]
    assert [page.kind for page in pages(qbwc)] == [PageKind.FAILED]
    takes_over(qbwc)
    update(qbwc, books)
    assert copy_of(qbwc) == own(books)


def test_a_company_file_that_cannot_be_opened_fails_the_run() -> None:
    qbwc, _ = subscribed()
    for _ in range(3):
        assert qbwc.authenticate() == ""
        qbwc.call("connectionError", qbwc.ticket, "0x8004040A", "Another company file is open.")
        qbwc.clock.advance(seconds=60)

    [page] = pages(qbwc)
    assert page.kind is PageKind.FAILED
    assert "Another company file is open." in page.changes


def test_the_first_run_asks_with_the_version_that_quickbooks_supports() -> None:
    qbwc, _ = subscribed("Customer", "Transfer")
    qbwc.authenticate()
    newest = "<SupportedQBXMLVersion>{}</SupportedQBXMLVersion>".format

    message = qbwc.send(hcp().replace(newest("16.0"), "").replace(newest("9.0"), newest("7.0")))

    assert 'version="7.0"' in message
    assert "TransferQueryRq" not in message


def test_the_low_lane_has_its_share_of_the_messages_of_a_long_run() -> None:
    qbwc, books = subscribed("Account", "Class", "CustomerType", "Employee", "JobType", size=450, has_low_lane=True)
    low = [qbwc.queue("VendorQueryRq", is_low=True) for _ in range(2)]
    assert qbwc.authenticate() == ""
    sent = []
    progress = 0
    while progress not in {100, -1}:
        message = qbwc.send()
        sent.append("VendorQueryRq" in message)
        books.clock = qbwc.clock.now
        progress = qbwc.receive(response_to(message) if sent[-1] else books.answer(message))

    assert [number for number, is_low in enumerate(sent) if is_low] == [9, 19][: sum(sent)]
    assert sum(sent) == min(len(low), len(sent) // 10)


def test_a_run_ends_a_session_that_lingers() -> None:
    qbwc, books = subscribed("Customer", linger_seconds=1_500)
    qbwc.queue("VendorQueryRq")
    progress = qbwc.receive(response_to(qbwc.begin()))

    assert progress == 99
    assert [qbwc.receive(books.answer(qbwc.send())) for _ in range(2)] == [99, 100]
    assert qbwc.connection.session_id is None


def test_the_run_of_a_deleted_connection_ends() -> None:
    qbwc, _ = subscribed()
    qbwc.authenticate()
    moment = timestamp(qbwc.clock.now)
    qbwc.store.commit(Put(qbwc.connection, replace(qbwc.connection, deleted_at=moment).changed(moment)))

    assert not qbwc.send()
    assert "deleted" in qbwc.last_error()


def test_the_connection_knows_how_old_its_copy_is_when_a_run_ends() -> None:
    qbwc, books = subscribed()
    assert qbwc.connection.copied_at is None

    for _ in range(3):
        update(qbwc, books)
        stored = qbwc.store.copy_state(CONNECTION_ID).copy
        assert stored
        assert qbwc.connection.copied_at == min(stored.read.values())
        qbwc.clock.advance(minutes=16)


def test_a_long_snapshot_that_goes_on_does_not_fail_however_often_it_is_interrupted() -> None:
    qbwc, books = subscribed("Customer", size=500)
    for _ in range(4):
        books.clock = qbwc.clock.now
        qbwc.receive(books.answer(qbwc.begin()))
        assert qbwc.send()
        qbwc.close()
        books.end_session()
        qbwc.clock.advance(seconds=BUSY_SECONDS_OF_A_WRITE + 1_800)
    assert PageKind.FAILED not in {page.kind for page in pages(qbwc)}

    while set(phases(qbwc).values()) != {CopyPhase.CHANGES}:
        update(qbwc, books)
        qbwc.clock.advance(seconds=1_000)
    assert copy_of(qbwc) == own(books)


@pytest.mark.parametrize("copies", [True, False])
def test_an_answer_that_is_always_too_large_fails_the_run_and_names_the_object(*, copies: bool) -> None:
    qbwc, books = subscribed("Customer", "Invoice")
    if copies:
        update(qbwc, books)
        qbwc.clock.advance(seconds=1_000)
    losses = 0
    for _ in range(3):
        qbwc.begin()
        while qbwc.receive_oversized("<QBXML>{padding}") == 99:
            losses += 1
            assert qbwc.send()
        assert "Customer" in qbwc.last_error()
        qbwc.close()
        qbwc.clock.advance(seconds=AGAIN_AFTER_FAILURE.total_seconds())

    assert losses < 10
    assert [page.kind for page in pages(qbwc)][-1] is PageKind.FAILED


def subscribed_to_many(number: int) -> tuple[Connector, Books]:
    """Return a Web Connector whose connection has copied so many objects, and its books."""
    kinds = tuple(known.name for known in books_objects())[:number]
    qbwc, books = subscribed(*kinds, size=0)
    books.lists = frozenset(known.name for known in books_objects() if known.is_list)
    for _ in range(3):
        update(qbwc, books)
        qbwc.clock.advance(seconds=10)
    assert set(phases(qbwc).values()) == {CopyPhase.CHANGES}
    return qbwc, books


def test_all_objects_can_need_a_resync_at_once() -> None:
    qbwc, books = subscribed_to_many(60)
    qbwc.clock.advance(seconds=86 * 86_400)

    for _ in range(10):
        assert update(qbwc, books) == []
        qbwc.clock.advance(seconds=1_000)

    assert set(phases(qbwc).values()) == {CopyPhase.RESYNC_REQUIRED}
    required = [page.object for page in pages(qbwc) if page.kind is PageKind.RESYNC_REQUIRED]
    assert sorted(required) == sorted(phases(qbwc))
    assert qbwc.connection.run_due_at is None


@pytest.mark.parametrize("action", [Action.SUBSCRIPTION_RESUMED, Action.SUBSCRIPTION_RUN])
def test_what_needs_a_resync_after_a_long_pause_is_reported_by_the_next_run(action: Action) -> None:
    qbwc, books = subscribed("Customer")
    update(qbwc, books)
    use, actor = SubscriptionService(qbwc.store, qbwc.clock, RandomIds()), Actor(ActorType.OPERATOR)
    if action is Action.SUBSCRIPTION_RESUMED:
        use.act(APP_ID, CONNECTION_ID, "s", Action.SUBSCRIPTION_PAUSED, actor=actor)
    qbwc.clock.advance(seconds=86 * 86_400)

    use.act(APP_ID, CONNECTION_ID, "s", action, actor=actor)
    update(qbwc, books)

    assert set(phases(qbwc).values()) == {CopyPhase.RESYNC_REQUIRED}
    assert pages(qbwc)[-1].kind is PageKind.RESYNC_REQUIRED
    assert qbwc.connection.run_due_at is None
    use.act(APP_ID, CONNECTION_ID, "s", Action.SUBSCRIPTION_RESYNCED, actor=actor)
    update(qbwc, books)
    assert set(phases(qbwc).values()) == {CopyPhase.CHANGES}


def test_an_object_that_is_in_use_does_not_keep_the_others_from_being_read() -> None:
    qbwc, books = subscribed("Customer", "Vendor")
    update(qbwc, books)
    qbwc.clock.advance(seconds=1_000)
    books.clock = qbwc.clock.now
    for record in books.records.values():
        books.change(record)
    before = copy_of(qbwc)

    answer = books.answer(qbwc.begin())
    in_use = 'statusCode="3176" statusSeverity="Error" statusMessage="in use"/>'
    answer = re.sub(r'(<VendorQueryRs requestID="[^"]*").*?</VendorQueryRs>', rf"\1 {in_use}", answer, flags=re.DOTALL)

    assert qbwc.receive(answer) == -1
    assert "in use" in qbwc.last_error()
    after = copy_of(qbwc)
    assert {key[0] for key in after if after[key] != before[key]} == {"Customer"}
    qbwc.close()
    qbwc.clock.advance(seconds=AGAIN_AFTER_FAILURE.total_seconds())
    update(qbwc, books)
    assert copy_of(qbwc) == own(books)


def test_an_object_that_is_removed_needs_no_change_of_what_is_included() -> None:
    qbwc, _ = subscribed("Customer", "Invoice")
    use, actor = SubscriptionService(qbwc.store, qbwc.clock, RandomIds()), Actor(ActorType.OPERATOR)
    lines = ("lines",)
    use.update(APP_ID, CONNECTION_ID, "s", actor=actor, include={"Invoice": lines})

    _, one = use.update(APP_ID, CONNECTION_ID, "s", actor=actor, objects=("Customer",))

    assert (one.objects, one.include) == (("Customer",), {})
    with pytest.raises(InvalidRequest):
        use.update(APP_ID, CONNECTION_ID, "s", actor=actor, include={"Invoice": lines})


@pytest.mark.parametrize("start", ["all", "now", "2026-03-01T00:00:00.000000Z"])
def test_what_was_paused_before_its_first_run_is_read_after_it_is_resumed(start: str) -> None:
    """Another subscription has begun later with the same object, so the object has been read without it."""
    qbwc, books = subscribed("Customer", start=start)
    use, actor = SubscriptionService(qbwc.store, qbwc.clock, RandomIds()), Actor(ActorType.OPERATOR)
    use.act(APP_ID, CONNECTION_ID, "s", Action.SUBSCRIPTION_PAUSED, actor=actor)
    qbwc.clock.advance(seconds=60)
    use.create(APP_ID, CONNECTION_ID, actor=actor, objects=("Customer",), every_minutes=15, start="now")
    for record in books.records.values():
        record.modified -= timedelta(days=5)
    update(qbwc, books)
    assert copy_of(qbwc) == {}

    use.act(APP_ID, CONNECTION_ID, "s", Action.SUBSCRIPTION_RESUMED, actor=actor)
    qbwc.clock.advance(seconds=1_000)
    update(qbwc, books)

    assert copy_of(qbwc) == ({} if start == "now" else own(books))


def test_a_subscription_that_was_read_goes_on_where_it_had_stopped_when_it_is_resumed() -> None:
    qbwc, books = subscribed("Customer")
    update(qbwc, books)
    use, actor = SubscriptionService(qbwc.store, qbwc.clock, RandomIds()), Actor(ActorType.OPERATOR)
    use.act(APP_ID, CONNECTION_ID, "s", Action.SUBSCRIPTION_PAUSED, actor=actor)
    qbwc.clock.advance(seconds=60)
    use.create(APP_ID, CONNECTION_ID, actor=actor, objects=("Customer",), every_minutes=15, start="now")
    update(qbwc, books)

    use.act(APP_ID, CONNECTION_ID, "s", Action.SUBSCRIPTION_RESUMED, actor=actor)
    update(qbwc, books)

    assert [page.kind for page in pages(qbwc)].count(PageKind.SNAPSHOT_STARTED) == 1


@pytest.mark.parametrize("start", ["2026-03-14T12:00:01.000000Z", "9999-12-31T23:59:59.000000Z"])
def test_a_start_in_the_future_is_refused(start: str) -> None:
    qbwc, _ = subscribed("Customer")
    use, actor = SubscriptionService(qbwc.store, qbwc.clock, RandomIds()), Actor(ActorType.OPERATOR)

    with pytest.raises(InvalidRequest, match="in the future"):
        use.create(APP_ID, CONNECTION_ID, actor=actor, objects=("Vendor",), every_minutes=15, start=start)


def test_a_start_before_all_books_is_refused() -> None:
    with pytest.raises(ValueError, match="a time after 1980"):
        checked_start("1970-01-01T00:00:00Z")


def test_deletions_that_quickbooks_never_tells_of_one_object_do_not_keep_the_others_from_being_read() -> None:
    qbwc, books = subscribed("Customer", "Vendor")
    update(qbwc, books)
    qbwc.clock.advance(seconds=1_000)
    books.clock = qbwc.clock.now
    books.delete(next(record for record in books.records.values() if record.kind == "Customer"))
    for record in books.records.values():
        books.change(record)
    answered = books.answer

    def refusing(text: str) -> str:
        answer = answered(text)
        if "<ListDelType>Vendor</ListDelType>" not in text:
            return answer
        refused = 'statusCode="3250" statusSeverity="Error" statusMessage="not in this edition"/>'
        query = r'(<ListDeletedQueryRs requestID="[^"]*").*?(?:/>|</ListDeletedQueryRs>)'
        return re.sub(query, rf"\1 {refused}", answer, flags=re.DOTALL)

    books.answer = refusing  # type: ignore[method-assign]
    update(qbwc, books)

    assert copy_of(qbwc) == own(books)
    objects = {one.name: one for one in qbwc.store.copy_state(CONNECTION_ID).objects}
    assert {one.phase for one in objects.values()} == {CopyPhase.CHANGES}
    assert "not in this edition" in (objects["Vendor"].gap or "")
    assert objects["Customer"].gap is None
    books.answer = answered  # type: ignore[method-assign]
    qbwc.clock.advance(seconds=1_000)
    update(qbwc, books)
    assert {one.gap for one in qbwc.store.copy_state(CONNECTION_ID).objects} == {None}
