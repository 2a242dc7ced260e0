"""Derived fields of lists: emitted when they differ, beside the records, and only if a subscription asks for them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.records.subscription import CopyPhase, DerivedEvery, RunMessageKind
from domain.subscriptions import derived
from domain.subscriptions.objects import DERIVED, Kind, books_objects
from domain.timestamps import timestamp
from local.rewinding import rewound_copy
from tests.support.books import Books
from tests.support.copies import Copying, Reader, events_of
from tests.unit.subscriptions.test_open_transactions import asked_for, money, refusal
from tests.unit.subscriptions.test_runs import copied, kinds_of, read, reader_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HOUR = 3_600


def subscribed(size: int, every: DerivedEvery | None = DerivedEvery.HOURLY, start: str = "all") -> Copying:
    """Return the runs of a subscription to customers and their balances."""
    books = Books()
    for number in range(size):
        books.add("Customer", f"C{number:05}")
    copying = Copying(books)
    copying.subscribe("Customer", derived=every, start=start)
    return copying


def balances(books: Books) -> dict[str, str]:
    """Return the balances in the books."""
    return {record.id: money(record.balance) for record in books.records.values() if record.kind == "Customer"}


def copied_balances(reader: Reader) -> dict[str, str]:
    """Return the balances that a reader has of the records that it has."""
    return {
        id_: event["derived"]["Balance"] for (name, id_), event in reader.derived.items() if (name, id_) in reader.rows
    }


def happens(copying: Copying, what: str, number: int, dies: Callable[[], bool]) -> None:
    """Change the books or the subscriptions, or make a run that may die."""
    books = copying.books
    records = list(books.records.values())
    record = records[number % len(records)] if records else None
    match what:
        case "owe" if record:
            record.balance = number
        case "change" if record:
            books.change(record, memo=str(number))
        case "delete" if record:
            books.delete(record)
        case "add":
            books.add("Customer", f"N{number}")
        case "resync":
            copying.subscriptions[0] = replace(copying.subscriptions[0], began_at=timestamp(copying.now), start="all")
        case "again":
            copying.subscribe("Customer", derived=DerivedEvery.DAILY, start="now")
        case "run":
            copying.tick(HOUR)
            copying.run(dies)


@settings(deadline=None, max_examples=40)
@given(
    size=st.integers(0, 60),
    history=st.lists(
        st.tuples(
            st.sampled_from(["owe", "owe", "change", "add", "delete", "run", "resync", "again"]), st.integers(0, 99)
        ),
        max_size=25,
    ),
    deaths=st.lists(st.booleans(), max_size=30),
    data=st.data(),
)
def test_after_the_read_at_rest_a_reader_has_the_balances_and_the_records_whatever_the_order(
    size: int, history: list[tuple[str, int]], deaths: list[bool], data: st.DataObject
) -> None:
    copying, ends = subscribed(size), iter(deaths)
    books = copying.books
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(derived, "MAX_PAGE", 7)
        for what, number in history:
            happens(copying, what, number, lambda: next(ends, False))
            copying.tick(number % 3)
        for record in list(books.records.values())[:2]:
            books.change(record, memo="last")
            record.balance = 77_700
        copying.tick(2 * HOUR)
        copying.run(lambda: next(ends, False))

    events = events_of(copying.pages)
    reader = reader_of(copying)
    assert copied_balances(reader) == balances(books)
    assert read(reader) == copied(books, ("Customer",))
    last = max((n for n, event in enumerate(events) if not event["type"].startswith("record.")), default=-1)
    tail = [*events[last + 1 :], *events[last + 1 :]]
    data.draw(st.randoms(use_true_random=False)).shuffle(tail)
    shuffled = Reader()
    for event in [*events[: last + 1], *tail]:
        shuffled.read(event)
    assert (shuffled.rows, shuffled.derived) == (reader.rows, reader.derived)


def derived_ids(copying: Copying, since: int = 0) -> Sequence[str]:
    """Return the entries whose derived fields were emitted in the pages from a number on."""
    return [event["id"] for event in events_of(copying.pages[since:]) if event["type"] == "record.derived"]


@pytest.mark.parametrize(("every", "reads"), [(DerivedEvery.HOURLY, 24), (DerivedEvery.DAILY, 1), (None, 0)])
def test_derived_fields_are_read_as_often_as_the_subscription_asks(every: DerivedEvery | None, reads: int) -> None:
    copying = subscribed(3, every)
    copying.run()
    found: list[str] = []
    for number in range(4 * 24):
        customer = next(iter(copying.books.records.values()))
        customer.balance = number + 1
        copying.tick(900)
        before = len(copying.pages)
        copying.run()
        found += derived_ids(copying, before)

    assert reads <= len(found) <= reads * 1.4
    assert set(found) <= {customer.id}


def test_only_what_differs_is_emitted_and_a_quiet_read_stores_no_part() -> None:
    copying = subscribed(2_300)
    copying.run()
    assert len(derived_ids(copying)) == 2_300
    copying.tick(24 * HOUR)
    copying.books.add("Customer", "New")
    for _ in range(2):
        copying.tick(HOUR)
        copying.run()
    before, number = copying.state.remembered, len(copying.pages)
    copying.tick(HOUR)

    assert copying.run() == 1 + 3, "the changes, and three pages of a thousand"
    assert (copying.state.remembered, len(copying.pages)) == (before, number)

    customer = list(copying.books.records.values())[1_234]
    customer.balance = 12_345
    copying.tick(HOUR)
    asked_at = timestamp(copying.now)
    copying.run()
    (event,) = events_of(copying.pages[number:])
    assert event["derived"] == {"Balance": "123.45"}
    assert event["as_of"] >= asked_at
    assert "record" not in event
    assert sum(part not in before for part in copying.state.remembered) == 1


def test_a_record_never_has_derived_fields_of_lists() -> None:
    copying = subscribed(3)
    copying.run()

    records = [event["record"] for event in events_of(copying.pages) if event["type"] == "record.changed"]
    assert len(records) == 3
    assert not any(DERIVED[Kind.LIST].intersection(record) for record in records)


def test_all_derived_fields_are_emitted_again_after_a_resync_a_restore_and_for_a_new_subscription() -> None:
    copying = subscribed(3)
    copying.run()
    for again in ("resync", "restore", "subscription", "nothing"):
        before = len(copying.pages)
        copying.tick(HOUR)
        match again:
            case "resync":
                copying.subscriptions[0] = replace(
                    copying.subscriptions[0], began_at=timestamp(copying.now), start="all"
                )
            case "restore":
                copying.state, _ = rewound_copy(copying.state, copying.now)
            case "subscription":
                copying.subscribe("Customer", derived=DerivedEvery.DAILY, start="now")
        copying.run()
        assert len(derived_ids(copying, before)) == (0 if again == "nothing" else 3)


def test_a_list_with_more_entries_than_are_kept_has_a_gap_and_says_nothing_of_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(derived, "MAX_DERIVED", 10)
    copying = subscribed(12)
    copying.run()
    copying.tick(HOUR)
    copying.run()

    assert len(derived_ids(copying)) == 10
    assert "more than" in (copying.state.objects[0].gap or "")
    assert copying.state.objects[0].phase is CopyPhase.CHANGES
    for record in list(copying.books.records.values())[:3]:
        copying.books.delete(record)
    copying.subscriptions[0] = replace(copying.subscriptions[0], began_at=timestamp(copying.now), start="all")
    copying.tick(HOUR)
    copying.run()
    assert copying.state.objects[0].gap is None


def test_quickbooks_that_cannot_read_them_is_a_gap_until_they_are_due_again() -> None:
    copying = subscribed(3)
    asked = asked_for(copying, RunMessageKind.DERIVED)

    run = copying.run_state()
    copying.asked = run.answered(asked, refusal(asked, 3260))
    copying.commit(run)

    assert "3260" in (copying.state.objects[0].gap or "")
    number = len(copying.messages)
    copying.run()
    assert not any("Balance" in message for message in copying.messages[number:])
    copying.tick(HOUR)
    copying.run()
    assert (copying.state.objects[0].gap, len(derived_ids(copying))) == (None, 3)


def test_a_message_about_them_that_cannot_be_parsed_is_a_gap() -> None:
    copying = subscribed(3)
    asked = asked_for(copying, RunMessageKind.DERIVED)

    run = copying.run_state()
    run.not_parsed(asked, "QuickBooks cannot parse it.")
    copying.commit(run)

    assert (copying.state.objects[0].phase, copying.state.objects[0].gap) == (
        CopyPhase.CHANGES,
        "QuickBooks cannot parse it.",
    )


def test_an_iterator_that_is_gone_begins_again_and_repeats_no_event(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derived, "MAX_PAGE", 2)
    copying = subscribed(5)
    asked_for(copying, RunMessageKind.DERIVED)
    copying.step()
    copying.books.end_session()
    copying.run()

    assert sorted(derived_ids(copying)) == sorted(balances(copying.books))
    assert kinds_of(copying)[-1] == "DERIVED"


def test_the_lists_with_derived_fields() -> None:
    found = {known.name: set(known.derived_fields) for known in books_objects() if known.derived_fields}

    stock = {"AverageCost", "QuantityOnHand", "QuantityOnOrder", "QuantityOnSalesOrder"}
    assert found == {
        "Account": {"Balance", "TotalBalance"},
        "Customer": {"Balance", "TotalBalance"},
        "ItemInventory": stock,
        "ItemInventoryAssembly": stock,
        "Vendor": {"Balance"},
    }
