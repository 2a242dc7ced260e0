"""How far transactions are paid: after a run at rest, the copy equals the books, also if a payment touches nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain import qbxml
from domain.qbxml.request.schema_check import schema_problems
from domain.records.subscription import CopyPhase, FoundIn, PageKind, RunMessage, RunMessageKind
from domain.storage.commit_size import MAX_ENTRIES
from domain.subscriptions import open_transactions
from domain.subscriptions.answers import BooksChange
from domain.subscriptions.messages import activity_query, derived_query, open_query, query_by_id
from domain.subscriptions.objects import books_objects, known_object
from domain.subscriptions.open_transactions import LEFT, differing, forget_those_that_left, remember
from domain.subscriptions.remembered import MAX_PART, Remembered
from domain.timestamps import timestamp
from local.rewinding import rewound_copy, rewound_parts
from tests.support.books import PAID_FIELDS, Books
from tests.support.copies import Copying, events_of
from tests.unit.subscriptions.test_runs import a_copy, kinds_of, reader_of

if TYPE_CHECKING:
    from tests.support.books import Record
    from tests.support.copies import Reader

KINDS = ("Bill", "Charge", "Customer", "Invoice")
DEBTS = frozenset(PAID_FIELDS)
PAYMENTS = frozenset({"ReceivePayment", "BillPaymentCheck"})

Paid = dict[tuple[str, str], tuple[str, dict[str, Any]]]


def in_the_books(books: Books, kinds: tuple[str, ...] = KINDS) -> Paid:
    """Return what a query of everything shows now."""
    found: Paid = {}
    for record in books.records.values():
        if record.kind in kinds:
            left = books.left(record)
            values = {
                "AppliedAmount": money(left - record.amount),
                "BalanceRemaining": money(left),
                "OpenAmount": money(left),
                "IsPaid": left <= 0,
            }
            fields = {name: values[name] for name in PAID_FIELDS.get(record.kind, ())}
            found[record.kind, record.id] = (record.memo, fields)
    return found


def money(cents: int) -> str:
    """Return an amount as it is in a record."""
    return f"{cents // 100}.{cents % 100:02}"


def in_the_copy(reader: Reader) -> Paid:
    """Return the same of the copy of a reader."""
    return {
        key: (row["record"]["Memo"], {name: row["record"][name] for name in PAID_FIELDS.get(key[0], ())})
        for key, row in reader.rows.items()
    }


EDITS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                *("add", "change", "delete", "pay", "pay", "half", "half", "delete_payment", "apply", "void"),
                *("void_payment", "wait", "run", "run", "die"),
            ]
        ),
        st.integers(0, 10_000),
    ),
    max_size=30,
)


def some(books: Books, kinds: frozenset[str], number: int) -> Record | None:
    """Return a record of these kinds."""
    own = [record for record in books.records.values() if record.kind in kinds]
    return own[number % len(own)] if own else None


def edit(books: Books, what: str, number: int) -> None:
    """Let a person edit the books."""
    debt, payment = some(books, DEBTS, number), some(books, PAYMENTS, number // 7)
    match what:
        case "add":
            books.add(sorted(DEBTS)[number % 3], f"N{number}")
        case "change" if debt:
            books.change(debt, memo=str(number))
        case "delete" if debt:
            books.delete(debt)
        case "pay" if debt and books.left(debt) > 0:
            books.pay(debt, books.left(debt))
        case "half" if debt and books.left(debt) > 1:
            books.pay(debt, books.left(debt) // 2)
        case "delete_payment" if payment:
            books.delete(payment)
        case "apply" if payment and debt and books.left(debt) > 0:
            books.apply(payment, debt, min(payment.amount, books.left(debt)))
        case "void" if debt:
            books.void(debt)
        case "void_payment" if payment:
            books.void(payment)


def age(copying: Copying) -> None:
    """Let hours pass, and add something, so that no query for changes returns what was there before."""
    copying.tick(10_000)
    for kind in sorted(DEBTS):
        copying.books.add(kind, "new")
    copying.run()


def lived(copying: Copying, history: list[tuple[str, int]], meanwhile: list[tuple[str, int]]) -> None:
    """Let a history happen to the books, with runs during which the person goes on."""
    edits = iter(meanwhile)

    def between() -> None:
        if one := next(edits, None):
            edit(copying.books, *one)
            copying.books.tick(one[1] % 3)

    for what, number in history:
        if what == "wait":
            copying.tick(number)
        elif what in {"run", "die"}:
            if number % 2:
                age(copying)
            copying.tick(1_000)
            deaths = iter([True] * (number % 4) if what == "die" else [])
            copying.run(partial(next, deaths, False), between)
        else:
            edit(copying.books, what, number)
            copying.tick(number % 3)


@settings(deadline=None, max_examples=80)
@given(
    touches=st.tuples(st.booleans(), st.booleans()),
    size=st.integers(0, 40),
    history=EDITS,
    meanwhile=EDITS,
    again=st.sampled_from([2, 5_000]),
)
def test_after_a_run_at_rest_the_copy_says_what_is_paid(
    touches: tuple[bool, bool],
    size: int,
    history: list[tuple[str, int]],
    meanwhile: list[tuple[str, int]],
    again: int,
) -> None:
    """Whether a payment and its deletion touch what was paid or not, and however many differ at once."""
    books = Books(payment_touches=touches[0], deletion_touches=touches[1])
    for number in range(size):
        books.add(KINDS[number % 4], f"C{number}")
    copying = Copying(books)
    copying.subscribe(*KINDS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(open_transactions, "MAX_AGAIN", again)
        lived(copying, history, meanwhile)
        copying.tick(1_000)
        copying.run()

    assert in_the_copy(reader_of(copying)) == in_the_books(books)
    copying.tick(1_000)
    copying.run()
    number = len(copying.pages)
    copying.tick(1_000)
    assert copying.run() == 1
    assert len(copying.pages) == number


@settings(deadline=None, max_examples=20)
@given(
    touches=st.tuples(st.booleans(), st.booleans()),
    history=st.lists(
        st.tuples(st.sampled_from(["pay", "pay", "half", "delete_payment", "apply", "change"]), st.integers(0, 10_000)),
        min_size=1,
        max_size=8,
    ),
    restored=st.integers(0, 1 << 20),
    unread=st.integers(0, 1 << 20),
)
def test_after_a_restore_everything_is_said_again_of_what_was_paid_lately(
    touches: tuple[bool, bool], history: list[tuple[str, int]], restored: int, unread: int
) -> None:
    """A program has read the feed to any moment of the last seven days, and has the right copy after the next run."""
    books = Books(payment_touches=touches[0], deletion_touches=touches[1])
    for number in range(12):
        books.add(KINDS[number % 4], f"C{number}")
    copying = Copying(books)
    copying.subscriptions.append(replace(copying.subscribe(*KINDS), verify_days=90))
    del copying.subscriptions[0]  # otherwise a snapshot of the last days begins again
    copying.run()
    copying.tick(20 * 86_400)
    age(copying)
    moments = []
    for one in history:
        lived(copying, [one, ("run", 0)], [])
        copying.tick(6 * 3_600)
        moments.append(copying.state)
    state = moments[restored % len(moments)]
    old = [page for page in copying.pages if page.at < timestamp(copying.now - timedelta(days=7))]
    read = copying.pages[: len(old) + unread % (len(copying.pages) - len(old) + 1)]

    changes = rewound_parts(state.remembered)
    parts = {change.after.place: change.after for change in changes}
    assert rewound_parts(parts.values()) == []
    state = replace(state, remembered=tuple(parts.get(part.place, part) for part in state.remembered))
    copying.state, _ = rewound_copy(state, copying.now)
    copying.asked, lost = RunMessage(), len(copying.pages)
    copying.tick(86_400)
    copying.run()

    reader = reader_of(replace(copying, pages=[*read, *copying.pages[lost:]]))
    assert in_the_copy(reader) == in_the_books(books)


def an_old_copy(*kinds: str) -> tuple[Copying, Books]:
    """Return a copy of records that no query for changes returns any more, because something newer has changed."""
    copying, books = a_copy(*kinds)
    for kind in kinds:
        books.add(kind, "new")
    for _ in range(2):
        copying.tick(3_600)
        copying.run()
    return copying, books


def test_a_payment_that_touches_nothing_is_one_event() -> None:
    copying, books = an_old_copy("Customer", "Invoice", "Bill")
    invoice = next(record for record in books.records.values() if record.kind == "Invoice")
    before, number = copying.state.remembered, len(copying.pages)
    books.pay(invoice, 10_000)
    copying.tick(3_600)

    assert copying.run() == 4, "the changes, what is not paid of both, and the invoice"

    (event,) = events_of(copying.pages[number:])
    assert (event["type"], event["id"], event["record"]["IsPaid"]) == ("record.changed", invoice.id, True)
    assert (event["record"]["BalanceRemaining"], event["edit_sequence"]) == ("0.00", "1")
    assert [part.name for part in copying.state.remembered if part not in before] == ["Invoice"]


@pytest.mark.parametrize("kind", [RunMessageKind.SWEEP, RunMessageKind.AGAIN])
def test_a_change_is_not_of_a_snapshot_that_falls_due_before_the_answer(kind: RunMessageKind) -> None:
    """A sweep finds an invoice that was changed, and a query by id one that was paid. Both are queries for changes."""
    copying, books = an_old_copy("Invoice")
    [subscription] = copying.subscriptions
    copying.subscriptions = [replace(subscription, verify_days=7)]
    while copying.now < datetime.fromisoformat(subscription.began_at) + timedelta(days=6, hours=23):
        copying.tick(1_800)
        copying.run()
    invoice = next(record for record in books.records.values() if record.kind == "Invoice")
    if kind is RunMessageKind.AGAIN:
        books.pay(invoice, 10_000)
    else:
        books.change(invoice, memo="changed")
    number, records = len(copying.pages), copying.state.objects[0].records

    def wait() -> None:
        if copying.asked.kind is kind:
            copying.tick(86_400)

    copying.tick(1_000)
    while copying.asked.kind is not kind or copying.asked.is_sent:
        assert copying.step(between=wait)

    [page] = copying.pages[number:]
    assert (page.found_in, events_of([page])[0]["id"]) == (FoundIn.CHANGES, invoice.id)
    assert copying.state.objects[0].records == records
    assert copying.state.objects[0].changes_of_a_day(copying.now) == 1
    copying.run()
    assert PageKind.SNAPSHOT_COMPLETED in {page.kind for page in copying.pages[number:]}
    assert copying.state.objects[0].changes_of_a_day(copying.now) == 1


def test_the_deletion_of_a_payment_that_no_query_returns_any_more_is_noticed() -> None:
    copying, books = an_old_copy("Invoice")
    invoice = next(iter(books.records.values()))
    payment = books.pay(invoice, 10_000)
    for _ in range(2):
        copying.tick(2 * 86_400)
        copying.run()
        books.add("Check", "newer")
    copying.tick(86_400)
    copying.run()
    number = len(copying.pages)
    books.delete(payment)
    copying.tick(3_600)
    copying.run()

    (event,) = events_of(copying.pages[number:])
    assert (event["id"], event["record"]["IsPaid"]) == (invoice.id, False)


def test_a_payment_that_touches_the_invoice_is_one_event_as_well() -> None:
    copying, books = a_copy("Invoice")
    books.payment_touches = True
    invoice = next(iter(books.records.values()))
    number = len(copying.pages)
    books.pay(invoice, 2_000)
    copying.tick(3_600)

    assert copying.run() == 2, "the changes, and what is not paid"

    (event,) = events_of(copying.pages[number:])
    assert (event["record"]["BalanceRemaining"], event["edit_sequence"]) == ("80.00", "2")


def test_what_was_paid_and_is_not_any_more_is_said_again_although_the_same_was_said_before() -> None:
    """The invoice changes between two messages, and changes back. Nothing tells the first state from the third."""
    copying, books = a_copy("Invoice")
    invoice = next(iter(books.records.values()))
    books.add("Check", "x")
    copying.tick(3_600)
    asked_for(copying, RunMessageKind.OPEN)
    payment = books.pay(invoice, 5_000)
    copying.run()
    assert in_the_copy(reader_of(copying)) == in_the_books(books)
    books.delete(payment)
    copying.tick(3_600)
    copying.run()

    assert in_the_copy(reader_of(copying)) == in_the_books(books)


def test_all_that_differ_are_read_again_in_one_run_however_many_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_transactions, "MAX_AGAIN", 2)
    copying, books = a_copy("Invoice", size=7)
    age(copying)
    for invoice in list(books.records.values())[:7]:
        books.pay(invoice, 5_000)
    copying.tick(10_000)
    copying.run()

    assert in_the_copy(reader_of(copying)) == in_the_books(books, ("Invoice",))


def test_what_is_read_again_and_is_as_the_feed_has_said_is_no_event() -> None:
    copying, books = an_old_copy("Invoice")
    payment = books.pay(next(iter(books.records.values())), 5_000)
    copying.tick(3_600)
    asked_for(copying, RunMessageKind.AGAIN)
    books.delete(payment)
    number = len(copying.pages)
    copying.run()
    copying.tick(3_600)
    copying.run()

    assert len(copying.pages) == number


def test_a_subscription_that_starts_now_says_only_what_changes_from_then_on() -> None:
    books = Books()
    invoices = [books.add("Invoice", f"N{number}") for number in range(5)]
    copying = Copying(books)
    copying.tick(30 * 86_400)
    copying.subscribe("Invoice", start="now")
    copying.run()
    assert copying.pages == []
    books.pay(invoices[2], 10_000)
    copying.tick(3_600)

    copying.run()

    assert [event["id"] for event in events_of(copying.pages)] == [invoices[2].id]


def test_a_record_without_a_paid_filter_has_no_derived_field() -> None:
    copying, books = a_copy("Invoice", "ReceivePayment")
    books.pay(next(iter(books.records.values())), 5_000)
    copying.tick(3_600)
    copying.run()

    fields = {name for row in reader_of(copying).rows.values() for name in row["record"]}
    assert set(PAID_FIELDS["Invoice"]) <= fields
    kept = {name for known in books_objects() if known.has_paid_filter for name in known.paid_fields}
    assert kept == {"AppliedAmount", "BalanceRemaining", "BalanceRemainingInHomeCurrency", "IsPaid", "OpenAmount"}
    assert {known.name for known in books_objects() if known.has_paid_filter} == DEBTS


def test_more_open_transactions_than_are_kept_are_a_gap_and_the_changes_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    copying, books = a_copy("Invoice", size=6)
    monkeypatch.setattr(open_transactions, "MAX_OPEN", 5)
    invoices = list(books.records.values())
    books.change(invoices[0], memo="new")
    copying.tick(3_600)
    copying.run()

    (one,) = copying.state.objects
    assert one.phase is CopyPhase.CHANGES
    assert "not paid" in (one.gap or "")
    assert reader_of(copying).rows["Invoice", invoices[0].id]["record"]["Memo"] == "new"

    books.pay(invoices[1], 10_000)
    copying.tick(3_600)
    copying.run()

    assert copying.state.objects[0].gap is None
    assert in_the_copy(reader_of(copying)) == in_the_books(books)


def asked_for(copying: Copying, kind: RunMessageKind) -> RunMessage:
    """Make steps until a message of a kind is due. Return it as it is sent."""
    for _ in range(10):
        run = copying.run_state()
        message = run.next_message(copying.asked)
        assert message
        if message.kind is kind:
            copying.asked = run.sent(message)
            return copying.asked
        copying.step()
    raise AssertionError(kind)


def refusal(asked: RunMessage, code: int) -> str:
    """Return the answer with which QuickBooks refuses a message about one object."""
    name = asked.names[0]
    return (
        f'<QBXML><QBXMLMsgsRs><{name}QueryRs requestID="{asked.number}.{name}" statusCode="{code}" '
        f'statusSeverity="Error" statusMessage="No."/></QBXMLMsgsRs></QBXML>'
    )


def test_quickbooks_that_cannot_tell_what_is_not_paid_is_a_gap_and_the_changes_go_on() -> None:
    copying, books = a_copy("Invoice")
    books.pay(next(iter(books.records.values())), 5_000)
    copying.tick(3_600)
    asked = asked_for(copying, RunMessageKind.OPEN)

    run = copying.run_state()
    copying.asked = run.answered(asked, refusal(asked, 3260))
    copying.commit(run)
    copying.run()

    (one,) = copying.state.objects
    assert one.phase is CopyPhase.CHANGES
    assert "3260" in (one.gap or "")
    copying.tick(3_600)
    books.pay(next(iter(books.records.values())), 1_000)
    copying.run()
    assert in_the_copy(reader_of(copying)) == in_the_books(books)


def test_a_message_about_open_transactions_that_cannot_be_parsed_is_a_gap() -> None:
    copying, books = a_copy("Invoice")
    books.pay(next(iter(books.records.values())), 5_000)
    copying.tick(3_600)
    asked = asked_for(copying, RunMessageKind.OPEN)

    run = copying.run_state()
    run.not_parsed(asked, "QuickBooks cannot parse it.")
    copying.commit(run)

    (one,) = copying.state.objects
    assert (one.phase, one.gap) == (CopyPhase.CHANGES, "QuickBooks cannot parse it.")


def test_invoices_that_differ_and_are_deleted_before_they_are_read_again_are_deleted() -> None:
    copying, books = an_old_copy("Invoice")
    invoice = next(iter(books.records.values()))
    books.pay(invoice, 5_000)
    copying.tick(3_600)
    asked_for(copying, RunMessageKind.AGAIN)
    books.delete(invoice)
    copying.run()
    copying.tick(3_600)
    copying.run()

    assert in_the_copy(reader_of(copying)) == in_the_books(books)
    assert copying.state.objects[0].again == ()
    assert kinds_of(copying)[-1] == "DELETED"


def test_the_changes_of_one_answer_fit_into_one_commit_with_what_is_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also if invoices, bills and charges of all times change at once."""
    monkeypatch.setattr("domain.subscriptions.remembered.MAX_PART", 8)
    monkeypatch.setattr("domain.subscriptions.stored.MAX_PAGE_BYTES", 3_000)
    books = Books()
    for number in range(600):
        books.add(sorted(DEBTS)[number % 3], f"N{number}")
    copying = Copying(books)
    names = [known.name for known in books_objects() if known.deleted_since and known.name not in DEBTS][:17]
    books.lists = frozenset(known.name for known in books_objects() if known.is_list)
    copying.subscribe(*names, *DEBTS)
    copying.run()
    age(copying)
    copying.tick(10_000)
    copying.run()
    for number, record in enumerate([*books.records.values()][::10]):
        books.change(record, memo="x" * (2_000 if number // 3 % 3 == 2 else 1_000), amount=5_000)
    copying.tick(3_600)
    asked = asked_for(copying, RunMessageKind.SWEEP)

    run = copying.run_state()
    run.answered(asked, books.answer(run.text(asked)))

    assert len(run.changes()) + 2 <= MAX_ENTRIES


@given(
    st.lists(st.tuples(st.sampled_from(["put", "remove"]), st.integers(0, 3_000), st.integers(0, 9)), max_size=300),
    st.integers(0, 1_500),
)
@settings(deadline=None, max_examples=40)
def test_what_is_remembered_is_stored_in_parts_of_which_only_the_changed_ones_are_written(
    changes: list[tuple[str, int, int]], size: int
) -> None:
    def id_of(number: int) -> str:
        return f"{number:X}-1700000000"

    expected = {id_of(number): "a" for number in range(size)}
    remembered = Remembered("c", "Invoice", ())
    remembered.become(expected)
    stored = {change.after.first: change.after for change in remembered.changes()}
    again = Remembered("c", "Invoice", stored.values())
    assert again.changes() == []
    for what, number, text in changes:
        if what == "put":
            again.put(id_of(number), str(text))
            expected[id_of(number)] = str(text)
        else:
            again.remove(id_of(number))
            expected.pop(id_of(number), None)

    written = again.changes()

    after = stored | {change.after.first: change.after for change in written}
    assert dict(Remembered("c", "Invoice", after.values()).items()) == expected == dict(again.items())
    assert len(again) == len(expected)
    assert all(len(part.entries) <= MAX_PART for part in after.values())
    assert all(change.before == stored.get(change.after.first) for change in written)
    assert again.number_of_parts([id_of(1), id_of(1)]) == 1


def test_a_paid_transaction_is_forgotten_after_as_long_as_a_restore_goes_back() -> None:
    copying, _ = a_copy("Invoice")
    remembered = Remembered("c", "Invoice", ())
    remembered.become({"1-1": "x"})
    paid = BooksChange("1-1", None, {"record": {"IsPaid": True}})
    remember(remembered, paid, ("IsPaid",), copying.now)
    text = remembered.get("1-1") or ""
    assert text.startswith(LEFT)
    assert differing(remembered, {}) == []

    forget_those_that_left(remembered, copying.now + timedelta(days=7, hours=23))
    assert len(remembered) == 1
    forget_those_that_left(remembered, copying.now + timedelta(days=8, seconds=2))
    assert len(remembered) == 0


@pytest.mark.parametrize("version", ["4.0", "8.0", "13.0", "16.0"])
def test_every_narrow_query_is_valid_in_the_schema(version: str) -> None:
    reads = [activity_query(since, label="1.x", limit=500) for since in (None, "2026-01-01T00:00:00-05:00")]
    for known in books_objects():
        if not known.exists_in(version):
            continue
        if fields := known.paid_fields_in(version):
            reads.append(open_query(known, fields, label="1.x", limit=10))
            reads.append(query_by_id(known, ["1-1", "2-1"], label="1.x", version=version, include=("lines", "linked")))
        if fields := known.derived_fields_in(version):
            iterator = {"iterator": "Start"} if known.has_iterator and version != "4.0" else {}
            reads.append(derived_query(known, fields, label="1.x", limit=10, iterator=iterator))

    for read in reads:
        request = qbxml.Request(version, "continueOnError", read.element)
        assert request.is_read
        assert list(schema_problems(request, outside_us=False)) == []
    assert known_object("Invoice").paid_fields_in("3.0") == []
