"""Runs: after a run during which the books rest, the copy equals the books, however often its sessions ended."""

from __future__ import annotations

import json
import random
import re
import string
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adapters.dynamodb.compression import pack
from domain import qbxml
from domain.qbxml.request.schema_check import schema_problems
from domain.records.subscription import (
    FIRST_PAGE_SIZE,
    BooksRange,
    ChangePage,
    CopyPhase,
    FoundIn,
    PageKind,
    RunMessage,
)
from domain.storage.commit_size import MAX_ENTRIES
from domain.subscriptions import entry_counts
from domain.subscriptions.asking import MAX_SWEPT, MAX_SWEPT_RECORDS, MIN_PAGE_SIZE
from domain.subscriptions.messages import Read, object_query
from domain.subscriptions.objects import INCLUDES, BooksObject, books_objects
from domain.subscriptions.run import RunState
from domain.subscriptions.stored import storable
from domain.timestamps import timestamp
from handlers.list_events import MAX_DATA_BYTES
from tests.support.books import Books, Record
from tests.support.copies import Copying, Reader, events_of

if TYPE_CHECKING:
    from collections.abc import Callable

KINDS = ("Customer", "Account", "Invoice")


def copied(books: Books, kinds: tuple[str, ...] = KINDS) -> dict[tuple[str, str], tuple[int, str]]:
    return {(r.kind, r.id): (r.edit_sequence, r.memo) for r in books.records.values() if r.kind in kinds}


def read(reader: Reader) -> dict[tuple[str, str], tuple[int, str]]:
    return {key: (int(row["edit_sequence"]), row["record"]["Memo"]) for key, row in reader.rows.items()}


def reader_of(copying: Copying) -> Reader:
    reader = Reader()
    for event in events_of(copying.pages):
        reader.read(event)
    return reader


def test_a_snapshot_has_every_record_and_names_its_generation() -> None:
    books = Books()
    for number in range(450):
        books.add("Customer", f"C{number:04}")
    copying = Copying(books)
    copying.subscribe("Customer")
    copying.tick(60)

    copying.run()

    events = events_of(copying.pages)
    assert read(reader_of(copying)) == copied(books)
    assert events[0]["type"] == "subscription.snapshot_started"
    assert events[-1]["type"] == "subscription.snapshot_completed"
    assert events[-1]["records"] == 450
    assert {event["generation"] for event in events} == {events[0]["generation"]}
    assert [event["sequence"] for event in events] == sorted({event["sequence"] for event in events})


def test_a_page_says_whether_a_query_for_changes_or_which_snapshot_has_found_it() -> None:
    books = Books()
    for number in range(450):
        books.add("Customer", f"C{number:04}")
    copying = Copying(books)
    copying.subscribe("Customer")
    copying.tick(60)
    first = pages_of_run(copying)
    copying.tick(3600)
    books.change(next(iter(books.records.values())), memo="x")
    changed = pages_of_run(copying)
    copying.tick(8 * 24 * 3600)
    verified = pages_of_run(copying)

    assert len(first) > 1
    assert {page.found_in for page in first} == {FoundIn.FIRST_SNAPSHOT}
    assert [page.found_in for page in changed] == [FoundIn.CHANGES]
    assert {page.found_in for page in verified} == {FoundIn.LATER_SNAPSHOT}


def pages_of_run(copying: Copying) -> list[ChangePage]:
    """Run, and return the pages of changed records that this has added."""
    before = len(copying.pages)
    copying.run()
    return [page for page in copying.pages[before:] if page.kind is PageKind.CHANGED]


def test_a_run_without_changes_is_one_message_and_stores_one_item() -> None:
    books = Books()
    kinds = ("Customer", "Account", "Invoice", "Bill", "Vendor")
    for kind in kinds:
        books.add(kind, "A")
    copying = Copying(books)
    copying.subscribe(*kinds)
    copying.run()
    copying.tick(24 * 3600)
    copying.run()
    before = copying.state.objects, len(copying.pages)
    copying.tick(900)

    run = copying.run_state()
    message = run.next_message(copying.asked)
    assert message
    asked = run.sent(message)
    answered = copying.run_state()
    answered.answered(asked, books.answer(run.text(asked)))

    assert answered.next_message(asked) is None
    answered.ended()
    assert len(answered.changes()) == 1
    assert copying.run() == 1
    assert (copying.state.objects, len(copying.pages)) == before


@pytest.mark.parametrize("deleted", [0, 900, 3_000, 40_000])
def test_the_changes_of_one_answer_fit_into_one_commit(deleted: int) -> None:
    """With the session and its connection. An object whose deletions do not fit needs a snapshot."""
    books = Books()
    kinds = [known.name for known in books_objects() if known.deleted_since][:MAX_SWEPT]
    books.lists = frozenset(known.name for known in books_objects() if known.is_list)
    last = [kind for kind in kinds if kind not in books.lists][-1]
    for kind in kinds:
        books.add(kind, "N")
    copying = Copying(books)
    copying.subscribe(*kinds)
    copying.run()
    copying.tick(3600)
    for kind in kinds:
        books.change(next(record for record in books.records.values() if record.kind == kind), memo="x")
    books.deleted = [(Record(last, f"{number}-9", "", "", books.clock), books.clock) for number in range(deleted)]
    copying.tick(3600)
    run = copying.run_state()
    asked = run.sent(run.next_message(copying.asked) or RunMessage())
    assert asked.names == tuple(sorted(kinds))

    answered = copying.run_state()
    answered.answered(asked, books.answer(run.text(asked)))

    assert len(answered.changes()) + 2 <= MAX_ENTRIES
    phases = {name: one.phase for name, one in answered.objects.items()}
    assert phases.pop(last) is (CopyPhase.CHANGES if deleted < 40_000 else CopyPhase.RESYNC_REQUIRED)
    assert set(phases.values()) == {CopyPhase.CHANGES}


def test_objects_that_were_read_at_different_times_are_soon_read_together() -> None:
    copying = Copying(Books())
    for kind in KINDS:
        copying.subscribe(kind)
        copying.run()
        copying.tick(40)
    copying.tick(900)
    copying.run()
    copying.tick(12 * 60)
    numbers = []
    for _ in range(20):
        numbers.append(copying.run())
        copying.tick(60)

    assert sorted(set(numbers)) == [0, 1]
    assert numbers.count(1) <= 2, "in twenty minutes"


def test_a_snapshot_heals_what_quickbooks_has_changed_without_notice() -> None:
    copying, books = a_copy("Invoice")
    records = list(books.records.values())
    records[0].memo = "changed without notice"
    del books.records[records[1].id]
    for _ in range(5):
        copying.tick(24 * 3600)
        copying.run()
        assert read(reader_of(copying)) != copied(books)

    for _ in range(2):
        copying.tick(24 * 3600)
        copying.run()

    assert read(reader_of(copying)) == copied(books)


def test_changes_without_a_snapshot_need_none_later() -> None:
    books = Books()
    books.add("Customer", "Ann")
    copying = Copying(books)
    copying.tick(30 * 24 * 3600)
    copying.subscribe("Customer", start="now")
    for _ in range(20):
        copying.run()
        copying.tick(24 * 3600)

    assert kinds_of(copying) == []


def test_messages_consist_of_queries() -> None:
    with pytest.raises(ValueError, match="queries only"):
        Read("1", Element("InvoiceAddRq"))


def kinds_of(copying: Copying, since: int = 0) -> list[str]:
    """Return the kinds of the pages from a number on."""
    return [page.kind.name for page in copying.pages[since:]]


def a_copy(*kinds: str, size: int = 3) -> tuple[Copying, Books]:
    """Return a copy after its snapshot, a day later."""
    books = Books()
    for kind in kinds:
        for number in range(size):
            books.add(kind, f"N{number}")
    copying = Copying(books)
    copying.subscribe(*kinds)
    copying.tick(60)
    copying.run()
    copying.tick(24 * 3600)
    copying.run()
    return copying, books


def test_another_company_file_is_reported_and_its_records_are_not_mixed_with_the_copy() -> None:
    copying, books = a_copy("Customer")
    before, number = reader_of(copying).rows.keys(), len(copying.pages)
    copying.file_id = "{OTHER}"
    books.records.clear()
    books.add("Customer", "Somebody else")
    copying.tick(3600)

    copying.run()

    assert kinds_of(copying, number) == ["RESYNC_REQUIRED"]
    assert reader_of(copying).rows.keys() == before
    copying.subscriptions[0] = replace(copying.subscriptions[0], began_at=timestamp(copying.now), start="all")
    copying.run()
    assert read(reader_of(copying)) == copied(books)


def test_a_backup_that_was_restored_is_reported() -> None:
    copying, books = a_copy("Invoice")
    backup = dict(books.records)
    added = books.add("Invoice", "Later")
    copying.tick(3600)
    copying.run()
    assert ("Invoice", added.id) in reader_of(copying).rows
    books.records = backup
    copying.tick(3600)

    copying.run()

    assert kinds_of(copying)[-1] == "RESYNC_REQUIRED"


def test_the_deletion_of_the_record_that_changed_last_is_no_reason_to_resync() -> None:
    copying, books = a_copy("Invoice")
    added = books.add("Invoice", "Later")
    copying.tick(3600)
    copying.run()
    books.delete(added)
    copying.tick(3600)

    copying.run()

    assert "RESYNC_REQUIRED" not in kinds_of(copying)
    assert read(reader_of(copying)) == copied(books)


def test_a_deletion_long_after_the_last_change_is_no_reason_to_resync() -> None:
    """It moves the watermark, so that the record that changed last is not read again."""
    copying, books = a_copy("Invoice")
    books.delete(next(iter(books.records.values())))
    for _ in range(3):
        copying.tick(3600)
        copying.run()

    assert "RESYNC_REQUIRED" not in kinds_of(copying)
    assert read(reader_of(copying)) == copied(books)


def test_books_that_were_not_read_for_long_may_lack_deletions() -> None:
    copying, _ = a_copy("Customer")
    copying.tick(90 * 24 * 3600)

    copying.run()

    assert kinds_of(copying)[-1] == "RESYNC_REQUIRED"


@pytest.mark.parametrize("trouble", ["a backup", "another company file"])
def test_after_a_resync_the_times_of_the_former_books_count_no_more(trouble: str) -> None:
    """The clock of the books of today may be behind their last change."""
    copying, books = a_copy("Customer")
    if trouble == "another company file":
        copying.file_id = "{OTHER}"
    books.clock -= timedelta(days=30)
    books.records.clear()
    record = books.add("Customer", "Somebody else")
    copying.tick(900)
    copying.run()
    copying.subscriptions[0] = replace(copying.subscriptions[0], began_at=timestamp(copying.now), start="all")
    copying.run()
    for number in range(3):
        copying.tick(7_200)
        books.change(record, memo=f"m{number}")
        copying.tick(900)
        copying.run()

        assert read(reader_of(copying)) == copied(books)
        assert kinds_of(copying)[-1] == "CHANGED"


def test_a_snapshot_that_is_interrupted_does_not_go_on_in_another_company_file() -> None:
    books = Books()
    for number in range(450):
        books.add("Customer", f"{number:04}")
    copying = Copying(books)
    copying.subscribe("Customer")
    copying.step()
    copying.end_session()
    copying.books, copying.file_id = Books(books.clock), "{OTHER}"

    copying.run()

    assert kinds_of(copying) == ["SNAPSHOT_STARTED", "CHANGED", "RESYNC_REQUIRED"]


@pytest.mark.parametrize("start", ["now", "2026-03-14T11:00:00.000000Z"])
def test_a_later_subscription_does_not_end_the_snapshot_of_an_earlier_one(start: str) -> None:
    """It gets its own start afterwards, with the deletions since then."""
    books = Books(lists=frozenset({"Customer"}))
    for number in range(450):
        books.add("Customer", f"{number:04}")
    gone = books.add("Customer", "Gone")
    copying = Copying(books)
    books.delete(gone)
    copying.tick(7_200)
    books.add("Customer", "Last")
    copying.subscribe("Customer")
    copying.step()
    copying.tick(60)
    copying.subscribe("Customer", start=start)

    copying.run()
    copying.tick(900)
    copying.run()

    kinds = kinds_of(copying)
    assert (kinds.count("SNAPSHOT_STARTED"), kinds.count("SNAPSHOT_COMPLETED")) == (1, 1)
    assert read(reader_of(copying)) == copied(books)
    assert ("DELETED" in kinds) == (start != "now")


@pytest.mark.parametrize("start", ["now", "2026-03-14T11:00:00.000000Z"])
def test_a_later_subscription_does_not_end_the_need_of_a_resync(start: str) -> None:
    copying, _ = a_copy("Customer")
    copying.tick(90 * 24 * 3600)
    if start != "now":
        copying.run()
    copying.subscribe("Customer", start=start)

    copying.run()

    assert [one.phase for one in copying.state.objects] == [CopyPhase.RESYNC_REQUIRED]
    assert kinds_of(copying).count("RESYNC_REQUIRED") == 1


@settings(max_examples=12)
@given(number=st.integers(1, 6), is_copied=st.booleans())
def test_each_loss_of_an_answer_is_followed_by_a_message_that_asks_for_less(number: int, *, is_copied: bool) -> None:
    """Until it asks for one object and as few records as possible."""
    kinds = sorted(known.name for known in books_objects() if known.deleted_since)[:number]
    copying = Copying(Books())
    copying.subscribe(*kinds)
    if is_copied:
        copying.run()
        copying.tick(3_600)
    sizes = []
    for _ in range(20):
        run = copying.run_state()
        asked = run.sent(run.next_message(copying.asked) or RunMessage())
        sizes.append((len(asked.names) * asked.limit, asked.names))
        lost = copying.run_state()
        asks_for_less = lost.lost(asked)
        copying.commit(lost)
        if not asks_for_less:
            break

    assert [size for size, _ in sizes] == sorted({size for size, _ in sizes}, reverse=True)
    least = MAX_SWEPT_RECORDS * MIN_PAGE_SIZE // FIRST_PAGE_SIZE if is_copied and number == 1 else MIN_PAGE_SIZE
    assert sizes[-1] == (least, (kinds[0],))


def test_an_object_of_a_later_version_is_unsupported_and_the_others_are_read() -> None:
    copying = Copying(Books())
    copying.books.add("Customer", "Ann")
    copying.subscribe("Customer", "Lead")
    run = RunState(
        replace(copying.state, subscriptions=tuple(copying.subscriptions)), "c", "a", version="6.0", now=copying.now
    )

    assert run.objects["Lead"].phase is CopyPhase.UNSUPPORTED
    assert "13.0" in (run.objects["Lead"].problem or "")
    message = run.next_message(RunMessage())
    assert message
    assert message.names == ("Customer",)


def test_subscriptions_share_the_reads_of_an_object() -> None:
    copying, books = a_copy("Customer")
    copying.subscribe("Customer", start="now", minutes=5)
    number = len(copying.pages)
    copying.tick(600)
    books.change(next(iter(books.records.values())), memo="x")

    assert copying.run() == 1
    assert kinds_of(copying, number) == ["CHANGED"]


def test_sequences_and_generations_begin_above_those_of_a_service_that_was_restored() -> None:
    copying, books = a_copy("Customer")
    restored = copying.state
    copying.tick(3600)
    books.change(next(iter(books.records.values())), memo="x")
    copying.run()
    last = events_of(copying.pages)[-1]["sequence"]
    copying.state = restored
    copying.tick(10)
    number = len(copying.pages)

    copying.run()

    assert all(page.sequence > last for page in copying.pages[number:])
    assert kinds_of(copying, number) == ["CHANGED"]


@given(st.sampled_from(books_objects()), st.sampled_from(["snapshot", "changes"]), st.data())
def test_every_query_is_valid_in_the_schema_and_only_reads(known: BooksObject, phase: str, data: st.DataObject) -> None:
    """Whatever a run asks for: each object, with everything that can be included, any range, any page."""
    bounds = (
        ["2026-01-01", "2026-02-01"]
        if phase == "snapshot"
        else ["2026-01-01T00:00:00+00:00", "2026-02-01T00:00:00-05:00"]
    )
    part = BooksRange(*data.draw(st.tuples(*(st.sampled_from([None, bound]) for bound in bounds))))
    read_ = object_query(
        known,
        CopyPhase(phase),
        part,
        label="1.x",
        version="16.0",
        include=data.draw(st.sets(st.sampled_from(sorted(INCLUDES)))),
        limit=data.draw(st.sampled_from([None, 10])),
        iterator={"iterator": "Start"} if known.has_iterator and data.draw(st.booleans()) else {},
    )
    request = qbxml.Request("16.0", "continueOnError", read_.element)

    assert request.is_read
    assert list(schema_problems(request, outside_us=False)) == []


def test_an_answer_from_before_a_resync_does_not_take_the_place_of_the_snapshot() -> None:
    copying, books = a_copy("Customer")
    copying.tick(900)
    run = copying.run_state()
    message = run.next_message(RunMessage())
    assert message
    copying.asked = run.sent(message)
    answer = books.answer(run.text(copying.asked))
    copying.subscriptions[0] = replace(copying.subscriptions[0], began_at=timestamp(copying.now), start="all")
    number = len(copying.pages)

    late = copying.run_state()
    copying.asked = late.answered(copying.asked, answer)
    copying.commit(late)
    copying.run()

    assert kinds_of(copying, number) == ["SNAPSHOT_STARTED", "CHANGED", "SNAPSHOT_COMPLETED"]


EDITS = st.lists(
    st.tuples(
        st.sampled_from(
            ["add", "change", "rename", "delete", "merge", "redate", "run", "read", "wait", "resync", "again"]
        ),
        st.sampled_from(KINDS),
        st.integers(0, 10_000),
    ),
    max_size=30,
)


def edit(books: Books, what: str, kind: str, number: int) -> None:
    own = [record for record in books.records.values() if record.kind == kind]
    record: Record | None = own[number % len(own)] if own else None
    if what == "add":
        books.add(kind, f"N{number}", date=f"20{number % 30 + 10}-0{number % 9 + 1}-11")
    elif record and what == "change":
        books.change(record, memo=f"m{number}")
    elif record and what == "rename":
        books.change(record, name=f"R{number}")
    elif record and what == "redate":
        books.change(record, date=f"20{number % 30 + 10}-0{number % 9 + 1}-12")
    elif record and what == "delete":
        books.delete(record)
    elif record and what == "merge" and kind in books.lists and len(own) > 1:
        books.merge(record, own[number % len(own) - 1])


@settings(deadline=None, max_examples=60)
@given(
    size=st.integers(0, 700),
    before=EDITS,
    meanwhile=EDITS,
    deaths=st.lists(st.booleans(), max_size=60),
    offset=st.integers(-50_000, 50_000),
    is_listed=st.booleans(),
    data=st.data(),
)
def test_after_a_run_at_rest_the_copy_equals_the_books(  # noqa: C901, PLR0917 - the draws of one history
    size: int,
    before: list[tuple[str, str, int]],
    meanwhile: list[tuple[str, str, int]],
    deaths: list[bool],
    offset: int,
    is_listed: bool,
    data: st.DataObject,
) -> None:
    books = Books()
    copying = Copying(books)
    books.clock += timedelta(seconds=offset)
    books.merge_lists_source = is_listed
    for number in range(size):
        books.add(KINDS[number % 3], f"C{number}", date=f"20{number % 30 + 10}-01-01")
        if number % 7 == 0:
            books.tick(60)
    copying.subscribe(*KINDS)
    ends = iter(deaths)

    def dies() -> bool:
        return next(ends, False)

    edits = iter(meanwhile)

    def between() -> None:
        one = next(edits, None)
        # A rename can hide a merge from the number of entries while a snapshot reads them.
        if one and (one[0] != "merge" or is_listed):
            edit(books, *one)
            books.tick(one[2] % 3)

    for what, kind, number in before:
        if what == "run":
            copying.run(dies, between)
        elif what == "wait":
            copying.tick(number)
        elif what == "again":
            copying.subscribe(kind, start=["all", "now"][number % 2])
        else:
            edit(books, what, kind, number)
        copying.tick(number % 3)
    copying.tick(3600)
    copying.run(dies, between)
    copying.tick(3600)
    copying.run(dies)

    events = events_of(copying.pages)
    assert read(reader_of(copying)) == copied(books)
    # Events are repeated and come in another order.
    reader = Reader()
    last = max((n for n, event in enumerate(events) if not event["type"].startswith("record.")), default=-1)
    tail = [*events[last + 1 :]]
    data.draw(st.randoms(use_true_random=False)).shuffle(tail)
    for event in [*events[: last + 1], *events[: last + 1], *tail, *tail]:
        reader.read(event)
    assert read(reader) == copied(books)


def test_an_interrupted_range_is_divided_until_it_fits() -> None:
    books = Books()
    for number in range(2_000):
        books.add("Customer", f"{number * 7919 % 2000:04}")
    copying = Copying(books)
    copying.subscribe("Customer")
    copying.tick(10)
    steps = iter(range(10_000))

    copying.run(dies=lambda: next(steps) % 8 == 7)

    assert read(reader_of(copying)) == copied(books)
    assert any(re.search("<FromName>", message) for message in copying.messages)
    assert len(copying.messages) < 400


def test_a_large_list_without_names_is_divided_by_times() -> None:
    """QuickBooks does not say what a range of names means for it."""
    books = Books()
    books.lists |= {"ToDo"}
    for number in range(2_300):
        books.add("ToDo", f"{number:04}")
        books.tick(5)
    copying = Copying(books)
    copying.subscribe("ToDo")

    copying.run()

    assert read(reader_of(copying)) == copied(books, ("ToDo",))
    assert len(copying.messages) > 2
    assert not any("NameRangeFilter" in message for message in copying.messages)
    assert [known.name for known in books_objects() if not known.has_range] == ["Lead", "SalesRep", "ToDo"]


@settings(deadline=None, max_examples=40)
@given(size=st.integers(0, 500), history=EDITS, deaths=st.lists(st.booleans(), max_size=40))
def test_while_the_books_change_each_event_is_a_state_of_this_run_and_the_next_run_has_every_change(
    size: int, history: list[tuple[str, str, int]], deaths: list[bool]
) -> None:
    copying, books = a_copy(*KINDS, size=size // 3)
    ends, edits = iter(deaths), iter(history)
    for _ in range(3):
        states: dict[tuple[str, str], set[tuple[str, str]]] = {}
        number = len(copying.pages)

        def note(states: dict[tuple[str, str], set[tuple[str, str]]] = states) -> None:
            for record in books.records.values():
                states.setdefault((record.kind, record.id), set()).add((str(record.edit_sequence), record.memo))

        def between(note: Callable[[], None] = note) -> None:
            note()
            if one := next(edits, None):
                edit(books, *one)
                note()
                books.tick(one[2] % 3)

        copying.tick(1_000)
        note()
        changed_before = dict(copied(books))
        copying.run(lambda: next(ends, False), between)

        reader = reader_of(copying)
        for event in events_of(copying.pages[number:]):
            if event["type"] == "record.changed":
                state = (event["edit_sequence"], event["record"]["Memo"])
                assert state in states[event["object"], event["id"]]
        for key, (edit_sequence, _) in changed_before.items():
            row = reader.rows.get(key)
            is_gone = key not in copied(books)
            assert is_gone or (row is not None and int(row["edit_sequence"]) >= edit_sequence)


# --- What is gone without a deletion


def merged(copying: Copying, books: Books) -> None:
    first, second, *_ = [record for record in books.records.values() if record.kind == "Customer"]
    books.merge(first, second)
    copying.tick(900)


def test_the_source_of_a_merge_is_gone_after_the_next_run_although_no_deletion_tells() -> None:
    copying, books = a_copy("Customer", "Invoice")
    number = len(copying.pages)
    merged(copying, books)

    copying.run()

    assert read(reader_of(copying)) == copied(books)
    assert set(kinds_of(copying, number)) == {"CHANGED", "SNAPSHOT_STARTED", "SNAPSHOT_COMPLETED"}
    assert {page.object for page in copying.pages[number:]} == {"Customer"}


def test_additions_changes_and_deletions_need_no_snapshot() -> None:
    copying, books = a_copy("Customer", size=30)
    number = len(copying.pages)
    for step in range(12):
        records = list(books.records.values())
        books.add("Customer", f"New {step}")
        books.change(records[step], memo="x")
        if step % 2:
            books.delete(records[-1])
            books.delete(books.add("Customer", f"Soon gone {step}"))
        copying.tick(900)
        copying.run()

    assert set(kinds_of(copying, number)) == {"CHANGED", "DELETED"}
    assert read(reader_of(copying)) == copied(books)


@settings(max_examples=15)
@given(error=st.integers(-3, 3).filter(bool))
def test_a_list_whose_entries_quickbooks_counts_otherwise_is_soon_counted_no_more(error: int) -> None:
    """At most two more snapshots are made for it, until the next one is due."""
    copying, books = a_copy("Customer", size=5)
    answered = books.answer
    books.answer = lambda text: re.sub(  # type: ignore[method-assign]
        r'retCount="(\d+)"', lambda found: f'retCount="{int(found[1]) + error}"', answered(text)
    )
    number = len(copying.pages)
    for _ in range(40):
        copying.tick(3_600)
        copying.run()

    assert 1 <= kinds_of(copying, number).count("SNAPSHOT_STARTED") <= 2
    assert [one.count for one in copying.state.objects] == [None]
    assert read(reader_of(copying)) == copied(books)


def test_a_list_of_which_too_much_has_changed_for_a_sweep_is_not_counted_after_its_snapshot() -> None:
    books = Books()
    for number in range(MAX_SWEPT_RECORDS + 100):
        books.add("Customer", f"C{number:04}").created -= timedelta(days=9)
    copying = Copying(books)
    copying.subscribe("Customer")

    messages = copying.run()

    assert messages < 20
    assert [one.count for one in copying.state.objects] == [None]
    copying.tick(3 * 3600)
    books.change(next(iter(books.records.values())), memo="x")
    copying.run()
    assert read(reader_of(copying)) == copied(books)


def test_a_quickbooks_that_cannot_tell_the_number_of_entries_is_read_without_it() -> None:
    copying, books = a_copy("Customer")
    copying.tick(3_600)
    run = copying.run_state()
    asked = run.sent(run.next_message(RunMessage()) or RunMessage())
    assert "metaData" in run.text(asked)
    after = copying.run_state()
    after.not_parsed(asked, "QuickBooks cannot parse the message.")
    copying.commit(after)
    books.change(next(iter(books.records.values())), memo="x")
    number = len(copying.messages)

    copying.run()

    assert [one.phase for one in copying.state.objects] == [CopyPhase.CHANGES]
    assert not any("metaData" in message for message in copying.messages[number:])
    assert read(reader_of(copying)) == copied(books)


def test_more_new_entries_than_are_told_apart_are_not_counted() -> None:
    copying, books = a_copy("Customer")
    for number in range(entry_counts.MAX_CREATED + 1):
        books.add("Customer", f"New {number:04}")
    copying.tick(900)

    copying.run()

    assert [one.count for one in copying.state.objects] == [None]
    assert read(reader_of(copying)) == copied(books)


BOUNDS = ("I", "9", "R", "4I", "DI", "MI", "VI")


@example(size=500, deaths=[False, True] * 2, kind="Customer")
@settings(max_examples=10)
@given(
    size=st.integers(0, 500), deaths=st.lists(st.booleans(), max_size=10), kind=st.sampled_from(["Customer", "ToDo"])
)
def test_a_snapshot_counts_each_record_once_however_often_its_sessions_end(
    size: int, deaths: list[bool], kind: str
) -> None:
    books = Books()
    books.lists |= {"ToDo"}
    for number in range(size):
        # The first names are those at which ranges are divided.
        books.add(kind, BOUNDS[number] if number < len(BOUNDS) else f"{number * 7919 % 997:03}{number:03}")
        books.tick(number % 2)
    copying = Copying(books)
    copying.subscribe(kind)
    ends = iter(deaths)

    copying.run(lambda: next(ends, False))

    completed = [event for event in events_of(copying.pages) if event["type"] == "subscription.snapshot_completed"]
    assert [event["records"] for event in completed] == [size]


def test_a_deletion_is_looked_for_only_as_long_as_quickbooks_keeps_it() -> None:
    books = Books()
    for name in ("Ann", "Bob"):
        books.add("Customer", name)
    copying = Copying(books)
    copying.subscribe("Customer", start="now")
    copying.run()
    books.delete(next(iter(books.records.values())))
    for _ in range(100):
        copying.tick(24 * 3600)
        books.deleted = [(record, at) for record, at in books.deleted if at > books.clock - timedelta(days=90)]
        copying.run()

    assert "RESYNC_REQUIRED" not in kinds_of(copying)


def test_a_backup_from_before_a_deletion_is_reported() -> None:
    copying, books = a_copy("Invoice")
    record = next(iter(books.records.values()))
    copying.tick(3600)
    books.delete(record)
    copying.run()
    books.deleted.clear()
    books.records[record.id] = record
    copying.tick(3600)

    copying.run()

    assert kinds_of(copying)[-1] == "RESYNC_REQUIRED"
    assert events_of(copying.pages)[-1]["reason"].endswith("Resync the subscription.")


def test_an_empty_list_does_not_let_each_run_ask_for_all_deletions() -> None:
    copying, _ = a_copy("Customer")
    copying.subscribe("Vendor")
    copying.run()
    copying.tick(3_600)
    number = len(copying.messages)

    copying.run()

    (message,) = copying.messages[number:]
    assert "<ListDelType>Customer</ListDelType><ListDelType>Vendor</ListDelType><DeletedDateRangeFilter>" in message


def test_what_quickbooks_could_not_read_for_long_may_lack_deletions() -> None:
    books = Books()
    books.add("Customer", "Ann")
    copying = Copying(books)
    copying.subscribe("Customer", start="now")
    copying.run()
    answered = books.answer

    def refusing(text: str) -> str:
        refused = 'statusCode="3250" statusSeverity="Error"'
        return answered(text).replace('statusCode="0" statusSeverity="Info"', refused)

    books.answer = refusing  # type: ignore[method-assign]
    for _ in range(30):
        copying.tick(3 * 24 * 3600)
        copying.run()
    books.answer = answered  # type: ignore[method-assign]
    copying.tick(3 * 24 * 3600)
    copying.run()

    assert [one.phase for one in copying.state.objects] == [CopyPhase.RESYNC_REQUIRED]


@settings(max_examples=20)
@given(
    kilobytes=st.integers(1, 3_000), letters=st.sampled_from(["a", string.ascii_letters + string.digits, '"\\\u00e9'])
)
def test_a_record_of_any_size_is_stored_and_fits_into_an_answer_of_the_feed(kilobytes: int, letters: str) -> None:
    memo = "".join(random.Random(kilobytes).choices(letters, k=kilobytes * 1_000))
    content = {"id": "1-1", "edit_sequence": "1", "time_modified": None, "record": {"Memo": memo}}

    stored = storable(content)

    text = json.dumps(stored)
    assert len(pack(text)) <= 400_000
    assert len(json.dumps(text)) < MAX_DATA_BYTES
    assert stored in (content, {**content, "record": None, "record_omitted": True})
    assert stored == content or kilobytes > 300
    assert stored != content or kilobytes < 2_000
