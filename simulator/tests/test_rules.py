"""The rules of the books that integrations often violate: a table of requests and QuickBooks' statuses."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.books import KINDS
from simulator.schema import schema
from simulator.tests.bookkeeping import Bookkeeper, Content

ENTITIES = ("Customer", "Employee", "OtherName", "Vendor")
PAIRS = [(first, second) for first in ENTITIES for second in ENTITIES]
RENT = [{"AccountRef": "Rent", "Amount": "5.00"}]


@pytest.fixture
def keeper() -> Bookkeeper:
    """Return a company with an inactive class, an employee, five levels of jobs and a closed period."""
    keeper = Bookkeeper()
    keeper.add("Class", Name="Old", IsActive=False)
    keeper.add("Employee", FirstName="Eve", LastName="Long")
    parent = "Bruno"
    for name in "bcde":
        keeper.add("Customer", Name=name, ParentRef=parent)
        parent = f"{parent}:{name}"
    keeper.invoice(TxnDate="2025-06-01", RefNumber="OLD")
    keeper.company.set_preference("closing_date", "2025-12-31")
    return keeper


def name_of(kind: str, name: str) -> Content:
    """Return the fields of an Add request that name an entity. The name of an employee consists of two of them."""
    return (
        {"FirstName": name.split(maxsplit=1)[0], "LastName": name.split()[1]} if kind == "Employee" else {"Name": name}
    )


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_a_name_is_unique_among_all_kinds_of_entities(first: str, second: str) -> None:
    keeper = Bookkeeper()
    keeper.add(first, **name_of(first, "Kim Park"))

    status, message = keeper.refusal(second, **name_of(second, "KIM park"))

    assert (status, message.lower()) == ("3100", 'the name "kim park" of the list element is already in use.')


REQUIRED: dict[str, Content] = {
    "Account": {"AccountType": "Expense"},
    "BillingRate": {"FixedBillingRate": "5.00"},
    "CustomerMsg": {},
    "Class": {},
    "CustomerType": {},
    "DateDrivenTerms": {"DayOfMonthDue": "5"},
    "ItemDiscount": {"AccountRef": "Discounts"},
    "ItemNonInventory": {"SalesOrPurchase": {"AccountRef": "Sales"}},
    "ItemOtherCharge": {"SalesOrPurchase": {"AccountRef": "Sales"}},
    "ItemService": {"SalesOrPurchase": {"AccountRef": "Sales"}},
    "ItemSubtotal": {},
    "JobType": {},
    "PaymentMethod": {},
    "SalesTaxCode": {"IsTaxable": False},
    "ShipMethod": {},
    "StandardTerms": {},
    "Vehicle": {},
    "VendorType": {},
}
"""The kinds of lists, and the fields that an Add request needs in addition to the name."""


@pytest.mark.parametrize("kind", REQUIRED)
def test_a_name_is_unique_in_each_list(kind: str) -> None:
    keeper = Bookkeeper()
    keeper.add(kind, Name="Ab", **REQUIRED[kind])

    assert keeper.refusal(kind, Name="aB", **REQUIRED[kind])[0] == "3100"


@pytest.mark.parametrize(
    ("first", "second"), [("ItemService", "ItemDiscount"), ("StandardTerms", "DateDrivenTerms")]
)  # fmt: skip
def test_items_share_their_names_and_so_do_terms(first: str, second: str) -> None:
    keeper = Bookkeeper()
    keeper.add(first, Name="Ab", **REQUIRED[first])

    assert keeper.refusal(second, Name="Ab", **REQUIRED[second])[0] == "3100"


def test_the_name_of_an_employee_is_built_from_its_parts(keeper: Bookkeeper) -> None:
    employee = keeper.add("Employee", FirstName="x" * 25, MiddleName="M", LastName="y" * 25)
    to_do = keeper.add("ToDo", Notes="Call", EmployeeRef=employee.findtext("ListID"))

    assert employee.findtext("Name") == f"{'x' * 25} M {'y' * 13}"
    assert to_do.findtext("EmployeeRef/FullName") == f"{'x' * 25} M {'y' * 3}"


def test_two_parents_can_have_children_of_the_same_name(keeper: Bookkeeper) -> None:
    assert keeper.add("Customer", Name="Kitchen", ParentRef="Bruno").findtext("FullName") == "Bruno:Kitchen"


def id_of(keeper: Bookkeeper, kind: str, full_name: str) -> str:
    record = keeper.books.named(full_name, (kind,))
    assert record is not None
    return record.id


REFUSALS: dict[str, tuple[str, Content, str]] = {
    "a name without text": ("Customer", {"Name": ""}, "3210"),
    "a name with a colon": ("Customer", {"Name": "a:b"}, "3210"),
    "a name that is too long": ("Customer", {"Name": "x" * 42}, "3070"),
    "a parent that does not exist": ("Customer", {"Name": "a", "ParentRef": "nobody"}, "3130"),
    "a sixth level": ("Customer", {"Name": "f", "ParentRef": "Bruno:b:c:d:e"}, "3210"),
    "a customer that does not exist": ("Invoice", {"CustomerRef": "nobody"}, "3140"),
    "a customer that is a vendor": ("Invoice", {"CustomerRef": "Supplier"}, "3140"),
    "a vendor that is a customer": ("Bill", {"VendorRef": "Ada"}, "3140"),
    "a customer id that is a vendor's": ("Invoice", {"CustomerRef": "{vendor}"}, "3120"),
    "an id that does not exist": ("Invoice", {"CustomerRef": "8FFFFFFF-1"}, "3120"),
    "an id with another creation time": ("Invoice", {"CustomerRef": "{customer}9"}, "3240"),
    "a class that is inactive": ("Invoice", {"CustomerRef": "Ada", "ClassRef": "Old"}, "3140"),
    "terms that do not exist": ("Invoice", {"CustomerRef": "Ada", "TermsRef": "Net 31"}, "3140"),
    "an item that does not exist": ("Invoice", {"CustomerRef": "Ada", "InvoiceLineAdd": [{"ItemRef": "None"}]}, "3140"),
    "an item in place of a customer": ("Invoice", {"CustomerRef": "Work"}, "3140"),
    "an account of the wrong type": ("Invoice", {"CustomerRef": "Ada", "ARAccountRef": "Checking"}, "3210"),
    "an amount with one decimal": (
        "Bill",
        {"VendorRef": "Supplier", "ExpenseLineAdd": [{"AccountRef": "Rent", "Amount": "5.0"}]},
        "3040",
    ),
    "a price that is not a number": (
        "Invoice",
        {"CustomerRef": "Ada", "InvoiceLineAdd": [{"ItemRef": "Work", "Rate": "x"}]},
        "3045",
    ),
    "a percentage that is not a number": (
        "Invoice",
        {"CustomerRef": "Ada", "InvoiceLineAdd": [{"ItemRef": "Work", "RatePercent": "x"}]},
        "3050",
    ),
    "a quantity that is not a number": (
        "Invoice",
        {"CustomerRef": "Ada", "InvoiceLineAdd": [{"ItemRef": "Work", "Quantity": "x"}]},
        "3060",
    ),
    "a date that is not a day": ("Invoice", {"CustomerRef": "Ada", "TxnDate": "2026-02-30"}, "3020"),
    "a number that is too long": ("Invoice", {"CustomerRef": "Ada", "RefNumber": "x" * 12}, "3070"),
    "a memo that is too long": ("Invoice", {"CustomerRef": "Ada", "Memo": "x" * 4096}, "3070"),
    "an id that is too long": ("Invoice", {"CustomerRef": f"8{'0' * 36}-1"}, "3000"),
    "a boolean that is not one": ("Invoice", {"CustomerRef": "Ada", "IsPending": "yes"}, "3010"),
    "a time interval that is not one": (
        "TimeTracking",
        {"EntityRef": "Supplier", "Duration": "90 minutes"},
        "3035",
    ),
    "an entry that does not balance": (
        "JournalEntry",
        {"JournalDebitLine": RENT, "JournalCreditLine": [{"AccountRef": "Sales", "Amount": "6.00"}]},
        "3180",
    ),
    "a transaction in a closed period": ("Invoice", {"CustomerRef": "Ada", "TxnDate": "2025-12-31"}, "3171"),
    "a payment of an invoice that does not exist": (
        "ReceivePayment",
        {"CustomerRef": "Ada", "AppliedToTxnAdd": [{"TxnID": "1-1", "PaymentAmount": "1.00"}]},
        "3120",
    ),
    "a payment above the open amount": (
        "ReceivePayment",
        {"CustomerRef": "Ada", "AppliedToTxnAdd": [{"TxnID": "{invoice}", "PaymentAmount": "100.01"}]},
        "3210",
    ),
}
"""For each mistake: the kind that is added, its fields and the status."""


@pytest.mark.parametrize("wrong", REFUSALS)
def test_quickbooks_refuses(keeper: Bookkeeper, wrong: str) -> None:
    kind, fields, expected = REFUSALS[wrong]
    invoice = keeper.books.numbered("OLD", ("Invoice",))[0]
    ids = {
        "vendor": id_of(keeper, "Vendor", "Supplier"),
        "customer": id_of(keeper, "Customer", "Ada"),
        "invoice": invoice.id,
    }

    assert keeper.refusal(kind, **with_ids(fields, ids))[0] == expected


def with_ids(value: Any, ids: dict[str, str]) -> Any:
    """Fill in the ids that the fields of a request name in braces."""
    if isinstance(value, dict):
        return {name: with_ids(member, ids) for name, member in value.items()}
    if isinstance(value, list):
        return [with_ids(member, ids) for member in value]
    return value.format(**ids) if isinstance(value, str) else value


def test_a_transaction_of_a_closed_period_is_neither_changed_nor_deleted_nor_voided(keeper: Bookkeeper) -> None:
    record = keeper.books.numbered("OLD", ("Invoice",))[0]
    change = {"TxnID": record.id, "EditSequence": str(record.edit_sequence), "Memo": "x"}
    identity = {"TxnID": record.id}

    statuses = [
        keeper.ask("InvoiceModRq", {"InvoiceMod": change}).get("statusCode"),
        keeper.ask("TxnDelRq", {"TxnDelType": "Invoice", **identity}).get("statusCode"),
        keeper.ask("TxnVoidRq", {"TxnVoidType": "Invoice", **identity}).get("statusCode"),
    ]

    assert statuses == ["3171", "3161", "3171"]


def needs_only_an_id(request_name: str) -> bool:
    """Return whether an id and an EditSequence are a valid Mod of a kind."""
    content = schema().requests[request_name].content[request_name.removesuffix("Rq")].content
    return all(
        not particle.least or getattr(particle, "name", "") in {"ListID", "TxnID", "EditSequence"}
        for particle in content.group.particles
    )


MODS = [
    name
    for name in schema().requests
    if name.endswith("ModRq") and name.removesuffix("ModRq") in KINDS and needs_only_an_id(name)
]


@pytest.mark.parametrize("request_name", MODS)
def test_every_mod_checks_the_edit_sequence(keeper: Bookkeeper, request_name: str) -> None:
    kind = KINDS[request_name.removesuffix("ModRq")]
    for preference in ("multi_currency", "sites"):
        keeper.company.set_preference(preference, "on")
    assembly = keeper.books.named("Hinge", ("ItemInventory",))
    assert assembly is not None
    fields = {"TxnDate": "2026-01-02", "ItemInventoryAssemblyRef": assembly.reference()}
    record = keeper.books.add(kind, {kind.name_field: "Ab"} if kind.name_field else fields)
    content = {f"{kind.name}Mod": {kind.id_field: record.id, "EditSequence": "1"}}

    response = keeper.ask(request_name, content)

    assert response.get("statusCode") == "3200"
    assert (response.get("statusMessage") or "").endswith("is out-of-date. ")


IN_USE = {
    "a customer with an invoice": ("Customer", "Ada"),
    "a parent": ("Customer", "Bruno"),
    "an item of an invoice": ("ItemService", "Work"),
    "an account with postings": ("Account", "Sales"),
    "terms of a customer": ("StandardTerms", "Net 30"),
    "a tax agency": ("Vendor", "Tax Agency"),
    "a member of a group": ("ItemInventory", "Hinge"),
}


@pytest.mark.parametrize("what", IN_USE)
def test_an_object_in_use_is_not_deleted(keeper: Bookkeeper, what: str) -> None:
    kind, name = IN_USE[what]

    response = keeper.ask("ListDelRq", {"ListDelType": kind, "ListID": id_of(keeper, kind, name)})

    assert response.get("statusCode") == "3160"
    assert keeper.books.named(name, (kind,)) is not None


def test_transactions_are_numbered(keeper: Bookkeeper) -> None:
    first = keeper.invoice()
    second = keeper.invoice()

    assert int(second.findtext("TxnNumber") or 0) == int(first.findtext("TxnNumber") or 0) + 1
    assert int(second.findtext("RefNumber") or 0) == int(first.findtext("RefNumber") or 0) + 1


def test_times_have_the_offset_of_the_machine(keeper: Bookkeeper) -> None:
    invoice = keeper.invoice()

    for name in ("TimeCreated", "TimeModified"):
        assert (invoice.findtext(name) or "").endswith("-05:00")


def test_full_names_and_sublevels_follow_from_the_parents(keeper: Bookkeeper) -> None:
    customer = keeper.get("Bruno:b:c:d:e", "Customer")

    assert (customer.findtext("Name"), customer.findtext("Sublevel")) == ("e", "4")
    assert customer.findtext("ParentRef/FullName") == "Bruno:b:c:d"
