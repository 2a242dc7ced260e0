"""The companies that the simulator makes: their contents add up, and the same seed gives the same bytes."""

from __future__ import annotations

import gc
import hashlib
import json
import os
import re
import subprocess
import sys
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import simulator
from simulator import Company
from simulator.books.kinds import ITEMS
from simulator.books.ledger import ZERO
from simulator.company_files.generator import generate
from simulator.company_files.storage import write_books
from simulator.requests.facts import Product
from simulator.requests.shown import shown
from simulator.rules.entry import enter
from simulator.rules.items import STOCK_KINDS
from simulator.tests.support import NOW, ask

if TYPE_CHECKING:
    from simulator.books import Books, Draft, Record

FOLDER = Path(simulator.__file__ or "").parent
TRANSACTIONS = (  # noqa: SIM905 - a list of words
    "Estimate SalesOrder Invoice SalesReceipt ReceivePayment CreditMemo Charge PurchaseOrder ItemReceipt Bill "
    "BillPaymentCheck BillPaymentCreditCard VendorCredit Check CreditCardCharge Deposit Transfer JournalEntry "
    "SalesTaxPaymentCheck InventoryAdjustment BuildAssembly TimeTracking VehicleMileage"
).split()  # fmt: skip

_PRINT_DIGEST = """
import hashlib, sys
from simulator import Company
Company.generated(seed=7, customers=30, now=lambda: float(sys.argv[1])).save(sys.argv[2])
print(hashlib.sha256(open(sys.argv[2], "rb").read()).hexdigest())
"""


@pytest.fixture(scope="module")
def wholesale() -> Company:
    return Company.generated(now=lambda: NOW)


def open_balances(books: Books) -> Decimal:
    """Return what all customers owe, as queries for customers show it."""
    return sum((Decimal(shown(books, customer)["Balance"]) for customer in books["Customer"]), ZERO)


def account_balance(books: Books, name: str) -> Decimal:
    account = books.named(name, ("Account",))
    assert account is not None
    return Decimal(shown(books, account)["Balance"])


def test_the_default_company_has_every_kind_of_item_and_transaction(wholesale: Company) -> None:
    books = wholesale.books

    assert len(books["Customer"]) == 300
    assert sum(":" in customer.full_name for customer in books["Customer"]) > 30
    assert {kind for kind in ITEMS if not len(books[kind])} == set()
    assert {kind for kind in TRANSACTIONS if not len(books[kind])} == set()
    assert all(len(books[kind]) for kind in ("Vendor", "Employee", "StandardTerms", "DateDrivenTerms", "SalesTaxCode"))
    assert {invoice.fields["TxnDate"][:4] for invoice in books["Invoice"]} == {"2025"}


def test_the_transactions_add_up(wholesale: Company) -> None:
    books = wholesale.books
    ledger = books.ledger

    assert sum(ledger.accounts.values(), ZERO) == 0
    assert open_balances(books) == account_balance(books, "Accounts Receivable") > 0
    stocks = [ledger.stock(item.id) for kind in STOCK_KINDS for item in books[kind]]
    assert sum((stock.value for stock in stocks), ZERO) == account_balance(books, "Inventory Asset") > 0
    assert min(stock.quantity for stock in stocks) >= 0
    assert account_balance(books, "Checking") > 0
    income = sum((account_balance(books, name) for name in ("Sales:Goods", "Sales:Services", "Sales:Shipping")), ZERO)
    assert income > account_balance(books, "Cost of Goods Sold") > 0


def test_some_invoices_are_open_some_overdue_and_most_paid(wholesale: Company) -> None:
    books = wholesale.books
    paid = Counter(shown(books, invoice)["IsPaid"] for invoice in books["Invoice"])

    assert paid["true"] > paid["false"] > 10


def test_the_same_seed_gives_the_same_bytes_in_every_process_and_at_any_time(tmp_path: Path) -> None:
    digests = {
        subprocess.run(  # noqa: S603 - this very Python
            [sys.executable, "-c", _PRINT_DIGEST, str(now), str(tmp_path / "company.json")],
            cwd=FOLDER.parent,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for now, hash_seed in ((NOW, "1"), (NOW + 90_000, "2"))
    }

    assert len(digests) == 1


@pytest.mark.parametrize("country", ["US", "CA", "UK", "AU"])
def test_the_checks_of_requests_find_nothing_in_a_generated_company(country: str) -> None:
    company = Company.generated(customers=60, product=Product(country=country), now=lambda: NOW)

    entered = Counter[str]()

    def checked(books: Books, draft: Draft) -> Record:
        entered[draft.kind.name] += 1
        with books.atomic():
            return enter(books, draft)

    books = generate(1, 60, 60, company.clock, country, enter=checked)
    books.bring_up_to_date()

    assert entered["Invoice"] == len(company.books["Invoice"])
    assert write_books(books) == write_books(company.books)
    assert books.ledger.effects == company.books.ledger.effects
    assert books.ledger.accounts == company.books.ledger.accounts
    assert books.ledger.entities == company.books.ledger.entities


def test_the_users_of_a_record_are_the_records_that_refer_to_it(wholesale: Company) -> None:
    books = wholesale.books
    users: dict[str, list[str]] = {record_id: [] for record_id in books.lists}
    for record in (*books.lists.values(), *books.transactions.values()):
        for target in set(re.findall(r'{"ListID": "([^"]*)"}', json.dumps(record.fields))):
            users[target].append(record.id)

    assert {record_id: sorted(books.users(record_id)) for record_id in books.lists} == {
        record_id: sorted(ids) for record_id, ids in users.items()
    }


def test_making_a_company_leaves_garbage_collection_as_it_was() -> None:
    Company.generated(customers=5)
    assert (gc.isenabled(), gc.get_freeze_count()) == (True, 0)

    try:
        gc.disable()
        gc.freeze()
        frozen = gc.get_freeze_count()
        Company.generated(customers=5)
        assert not gc.isenabled()
        assert frozen - 1_000 < gc.get_freeze_count() <= frozen  # some of the frozen objects end meanwhile
    finally:
        gc.unfreeze()
        gc.enable()


def test_another_seed_gives_another_company() -> None:
    first, second = (write_books(Company.generated(seed=seed, customers=5).books) for seed in (1, 2))

    assert first != second


def test_a_company_is_saved_and_loaded_unchanged(tmp_path: Path, wholesale: Company) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.json"

    wholesale.save(first)
    company = Company.load(first)
    company.save(second)

    assert hashlib.sha256(first.read_bytes()).digest() == hashlib.sha256(second.read_bytes()).digest()
    assert company.books.ledger.accounts == wholesale.books.ledger.accounts


def test_later_changes_do_not_reach_a_copy_of_the_books() -> None:
    company = Company.generated(customers=5)
    books, before = company.books, write_books(company.books)

    copy = books.copy()
    books.change(next(iter(books["Customer"])), {"Name": "Changed"})
    books.remove(next(iter(books["Deposit"])))

    assert write_books(copy) == before != write_books(books)
    assert copy.ledger.accounts != books.ledger.accounts
    assert copy["Customer"] is not books["Customer"]


def test_an_empty_company_has_lists_but_no_names_items_or_transactions() -> None:
    books = Company.empty().books

    assert not books.transactions
    assert not len(books["Customer"])
    assert {kind for kind in ITEMS if len(books[kind])} == {"ItemSalesTax", "ItemSalesTaxGroup"}
    assert books.named("Accounts Receivable", ("Account",)) is not None


def test_an_invoice_can_be_written_in_an_empty_company() -> None:
    company = Company.empty()
    account = "<AccountRef><FullName>Sales</FullName></AccountRef>"
    item = f"<Name>Work</Name><SalesOrPurchase><Price>10.00</Price>{account}</SalesOrPurchase>"
    line = "<InvoiceLineAdd><ItemRef><FullName>Work</FullName></ItemRef></InvoiceLineAdd>"

    responses = ask(
        company,
        "<CustomerAddRq><CustomerAdd><Name>Ada</Name></CustomerAdd></CustomerAddRq>"
        f"<ItemServiceAddRq><ItemServiceAdd>{item}</ItemServiceAdd></ItemServiceAddRq>"
        "<InvoiceAddRq><InvoiceAdd><CustomerRef><FullName>Ada</FullName></CustomerRef>"
        f"{line}</InvoiceAdd></InvoiceAddRq>",
    )

    assert [response.get("statusCode") for response in responses] == ["0", "0", "0"]


@pytest.mark.parametrize(("country", "tax"), [("US", "7.25"), ("CA", "12.00"), ("UK", "20.00")])
def test_each_country_has_its_addresses_and_taxes(country: str, tax: str) -> None:
    company = Company.generated(customers=30, product=Product(country=country))
    fields_with_tax = [
        invoice.fields for invoice in company.books["Invoice"] if invoice.fields["SalesTaxTotal"] != "0.00"
    ]

    assert {fields["SalesTaxPercentage"] for fields in fields_with_tax} == {tax}
    assert ask(company, "<HostQueryRq/>")[0].findtext("HostRet/Country") == country
    cities = {customer.fields["BillAddress"]["City"] for customer in company.books["Customer"]}
    assert ("Bayfield" in cities) == (country != "CA")
    assert sum(company.books.ledger.accounts.values(), ZERO) == 0


def test_a_company_is_opened_by_the_word_for_it_or_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "books.json"
    company = Company.opened(str(file), customers=4)
    company.save(file)

    assert len(Company.opened("wholesale", customers=4).books["Customer"]) == 4
    assert not len(Company.opened("empty").books["Customer"])
    assert len(Company.opened(str(file)).books["Customer"]) == 4
    with pytest.raises(ValueError, match="is a company of the country US"):
        Company.opened(str(file), product=Product(country="UK"))
