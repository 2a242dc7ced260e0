"""A person at the company file, and what QuickBooks does beside each edit, as a reader of changes sees it."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import defusedxml.ElementTree
import pytest

from simulator import Company, Edit, Person
from simulator.books import KINDS
from simulator.books.behaviours import BEHAVIOURS, SUMMER
from simulator.company_files.storage import read_books, write_books
from simulator.person import EDITS
from simulator.rules.problems import book_problems
from simulator.tests.bookkeeping import Bookkeeper
from simulator.tests.support import NOW, a_company, ask, contents_of
from simulator.tests.test_changes import ids, query

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

SEEDS = range(3)
ALL_TOUCHES = [name for name in BEHAVIOURS if name not in {SUMMER, "restore_is_reported", "fulfilment_touches_order"}]
OWNER = "<OwnerID>{4D0F2A56-0C2C-4A3D-9B7E-2F1E6A5C8B90}</OwnerID>"
READ = {
    "Customer": f"<ActiveStatus>All</ActiveStatus>TIMES{OWNER}",
    "Vendor": "<ActiveStatus>All</ActiveStatus>TIMES",
    "ItemService": "<ActiveStatus>All</ActiveStatus>TIMES",
    "Invoice": "TIMES<IncludeLineItems>true</IncludeLineItems>",
    "Bill": "TIMES<IncludeLineItems>true</IncludeLineItems>",
}


class Day:
    """A company, the clock of its machine, and a person who edits it every few seconds."""

    def __init__(self, seed: int, edits: Any = EDITS, *, empty: bool = False) -> None:
        self.now = NOW
        self.company = Company.empty(now=self.clock) if empty else a_company(now=self.clock)
        self.chance = random.Random(seed)
        self.person = Person(self.company, seed, edits)

    def clock(self) -> float:
        return self.now

    def edits(self, count: int) -> list[Edit]:
        return [self.edit() for _ in range(count)]

    def edit(self) -> Edit:
        self.now += self.chance.randint(1, 5)
        return self.person.edit()


def test_a_seed_gives_the_same_edits_and_the_same_books() -> None:
    first, second, other = Day(1), Day(1), Day(2)

    edits = first.edits(150)

    assert edits == second.edits(150) != other.edits(150)
    assert contents_of(write_books(first.company.books)) == contents_of(write_books(second.company.books))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("empty", [True, False])
def test_the_books_keep_their_laws_under_any_edits(seed: int, *, empty: bool) -> None:
    day = Day(seed, empty=empty)
    for _ in range(8):
        day.edits(25)

        books = day.company.books
        assert book_problems(books) == []
        assert book_problems(read_books(write_books(books), books.clock)) == []
        for kind in KINDS:
            since = day.now - 60
            assert {one.id for one in books.modified((kind,), (since, day.now))} == {
                one.id for one in books[kind] if one.modified >= since
            }


def test_every_edit_succeeds_often_and_is_no_request_of_an_application() -> None:
    day = Day(1)
    seen: list[Any] = []
    day.company.on_request = seen.append
    done = Counter(edit.name for edit in day.edits(700) if edit.status == 0)

    assert done.keys() == EDITS.keys()
    assert (day.company.executed, seen) == ([], [])


def test_a_person_says_what_cannot_be_done() -> None:
    with pytest.raises(ValueError, match="'dance' is not an edit"):
        Person(a_company(), 1, ["dance"])
    with pytest.raises(ValueError, match="nothing for any of the edits restore_backup"):
        Person(a_company(), 1, ["restore_backup"]).edit()


class Reader:
    """Keeps a copy by queries for what changed and what was deleted since the former read, as most programs do."""

    def __init__(self, day: Day) -> None:
        self.day, self.since = day, 0
        self.copy: dict[str, str] = {}

    def read(self) -> None:
        """Bring the copy up to date."""
        self.copy |= self.records(self.since)
        names = [f"<ListDelType>{kind}</ListDelType>" for kind in READ if KINDS[kind].is_list]
        forms = [f"<TxnDelType>{kind}</TxnDelType>" for kind in READ if not KINDS[kind].is_list]
        deleted = ask(
            self.day.company,
            f"<ListDeletedQueryRq>{''.join(names)}</ListDeletedQueryRq>"
            f"<TxnDeletedQueryRq>{''.join(forms)}</TxnDeletedQueryRq>",
        )
        for row in deleted.iter():
            if row.tag in {"ListID", "TxnID"}:
                self.copy.pop(row.text, None)
        self.since = self.day.now

    def records(self, since: int = 0) -> dict[str, str]:
        """Return the records that were changed since then, without the names in references."""
        start = self.day.company.clock.text(since)[:19] if since else "1970-01-02"
        found: dict[str, str] = {}
        for kind, filters in READ.items():
            times = f"<FromModifiedDate>{start}</FromModifiedDate>"
            times = times if KINDS[kind].is_list else f"<ModifiedDateRangeFilter>{times}</ModifiedDateRangeFilter>"
            for record in ask(self.day.company, f"<{kind}QueryRq>{filters.replace('TIMES', times)}</{kind}QueryRq>")[0]:
                found[record[0].text or ""] = _text(record)
        return found

    @property
    def is_right(self) -> bool:
        return self.copy == self.records()


def _text(record: Element) -> str:
    """Return a record as text, without the names in references: a program joins them by ListID."""
    for reference in record.iter():
        name = reference.find("FullName")
        if reference.tag.endswith("Ref") and name is not None:
            reference.remove(name)
    return str(defusedxml.ElementTree.tostring(record, encoding="unicode"))


def followed(seed: int, off: str = "") -> bool:
    """Let a reader follow a person, with all behaviours on but one. Return whether its copy was always right."""
    day = Day(seed, [*(name for name in EDITS if name != "restore_backup"), *["add_job", "rename"] * 3], empty=True)
    for name in ALL_TOUCHES:
        day.company.set_behaviour(name, "off" if name == off else "on")
    reader = Reader(day)
    for _ in range(12):
        day.edits(day.chance.randint(5, 20))
        reader.read()
        if not reader.is_right:
            return False
    return True


@pytest.mark.parametrize("seed", SEEDS)
def test_if_quickbooks_touches_all_that_an_edit_moves_a_simple_reader_is_right(seed: int) -> None:
    assert followed(seed)


@pytest.mark.parametrize("off", ALL_TOUCHES)
def test_without_any_one_of_the_behaviours_a_simple_reader_is_wrong(off: str) -> None:
    assert not all(followed(seed, off) for seed in range(20))


@pytest.mark.parametrize("group", ["Customer", "Entity", "Invoice", "Transaction"])
def test_an_iterator_returns_each_record_once_while_a_person_edits(group: str) -> None:
    """Also one that was deleted before its page: a reader applies deletions after the pages."""
    removals = ["merge", "delete_name", "delete_debt", "delete_payment"]
    day = Day(1, [*(name for name in EDITS if name != "restore_backup"), *removals * 20])
    day.edits(20)
    expected = ids(query(day.company, group))
    page = query(day.company, group, ' iterator="Start"', MaxReturned="5")
    found, iterator = ids(page), page.get("iteratorID")
    while page.get("iteratorRemainingCount") != "0":
        day.edits(4)
        page = query(day.company, group, f' iterator="Continue" iteratorID="{iterator}"', MaxReturned="5")
        found += ids(page)

    assert found == expected
    assert set(found) - set(ids(query(day.company, group))), "the person deleted some of them"


def test_a_restored_backup_brings_back_the_books_and_only_the_activity_of_the_company_tells() -> None:
    company = a_company(now=lambda: NOW)
    backup, before = company.snapshot(), contents_of(write_books(company.books))
    company.set_behaviour("payment_touches_paid", "on")
    ask(company, "<CustomerAddRq><CustomerAdd><Name>Lost</Name></CustomerAdd></CustomerAddRq>")
    assert ask(company, "<CompanyActivityQueryRq />")[0].find("CompanyActivityRet/LastRestoreTime") is None

    company.restore_backup(backup)

    assert len(company.writes) == 1, "what QuickBooks executed stays known to tests"
    assert company.behaviours["payment_touches_paid"] == "on"
    told = ask(company, "<CompanyActivityQueryRq />")[0].findtext("CompanyActivityRet/LastRestoreTime")
    assert told == company.clock.text(NOW)
    company.set_behaviour("restore_is_reported", "off")
    assert ask(company, "<CompanyActivityQueryRq />")[0].find("CompanyActivityRet/LastRestoreTime") is None
    company.books.behaviours, company.books.last_restore = {}, 0
    assert contents_of(write_books(company.books)) == before


@pytest.mark.parametrize("position", ["on", "off"])
def test_an_order_is_touched_when_it_is_invoiced_or_not(position: str) -> None:
    keeper = Bookkeeper()
    keeper.company.set_behaviour("fulfilment_touches_order", position)
    order = keeper.add("SalesOrder", CustomerRef="Ada", SalesOrderLineAdd=[{"ItemRef": "Work", "Quantity": 1}])

    keeper.add("Invoice", CustomerRef="Ada", LinkToTxnID=[order.findtext("TxnID")])

    now = keeper.get(order)
    assert now.findtext("IsFullyInvoiced") == "true"
    assert (now.findtext("EditSequence") != order.findtext("EditSequence")) == (position == "on")


def test_a_change_that_is_refused_touches_nothing() -> None:
    """An invoice below its payment is refused after the change was entered, and all of it is undone."""
    keeper = Bookkeeper()
    for name in ALL_TOUCHES:
        keeper.company.set_behaviour(name, "on")
    invoice = keeper.invoice()
    applied = {"TxnID": invoice.findtext("TxnID"), "PaymentAmount": "60.00"}
    keeper.add("ReceivePayment", CustomerRef="Ada", TotalAmount="60.00", AppliedToTxnAdd=[applied])
    before = write_books(keeper.books)["records"]
    invoice = keeper.get(invoice)
    line = {"TxnLineID": invoice.findtext("InvoiceLineRet/TxnLineID"), "Rate": "50"}
    identity = {name: invoice.findtext(name) for name in ("TxnID", "EditSequence")}

    response = keeper.ask("InvoiceModRq", {"InvoiceMod": {**identity, "InvoiceLineMod": [line]}})

    assert response.get("statusCode") == "3210"
    assert write_books(keeper.books)["records"] == before


def test_behaviours_are_kept_in_the_file_and_return_with_a_snapshot(tmp_path: Any) -> None:
    company = a_company(time_zone="America/New_York", now=lambda: NOW)
    before = company.snapshot()
    for name in (SUMMER, "payment_touches_paid"):
        company.set_behaviour(name, "on")
    company.save(tmp_path / "books.json")

    loaded = Company.load(tmp_path / "books.json", now=lambda: NOW)
    company.restore(before)

    assert {name for name, value in loaded.behaviours.items() if value == "on"} == {
        *(name for name, one in BEHAVIOURS.items() if one.default == "on"),
        SUMMER,
        "payment_touches_paid",
    }
    assert loaded.clock.text(NOW) == "2026-09-21T10:13:20-05:00"
    assert company.behaviours == {name: one.default for name, one in BEHAVIOURS.items()}
    assert company.clock.text(NOW) == "2026-09-21T10:13:20-04:00"


@pytest.mark.parametrize(("name", "value"), [("sings", "on"), (SUMMER, "maybe")])
def test_a_wrong_behaviour_is_an_error(name: str, value: str) -> None:
    with pytest.raises(ValueError, match=name):
        a_company().set_behaviour(name, value)
