"""A company to play with, made from a seed: the same seed gives the same company, down to the ids.

Every name is invented. Text stays within Windows-1252, as in QuickBooks, and is not all ASCII.
"""

# ruff: noqa: SIM905 - a list of words is read as a line of text, not as a page of literals
from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from simulator.books import KINDS, Books, Draft, Fields, Record, rules
from simulator.schema.values import money

if TYPE_CHECKING:
    from simulator.clock import MachineClock

FOUNDED = int(datetime(2024, 1, 2, 9, tzinfo=UTC).timestamp())
"""Creation times run from here over `HISTORY_SECONDS`: fixed, so that a seed gives the same company every day."""
HISTORY_SECONDS = 2 * 365 * 86_400

_FIRST = (
    "Ada Bruno Chloé Dagmar Emil Françoise Georg Håkon Inès José Kateri Lotte Márta Nuño Olga Pål Quentin Renée "
    "Søren Tomás Ülkü Vera Wanda Xaver Yvonne Zoë"
).split()
_LAST = (
    "Abend Brückner Castaño Dupré Eskola Føllesdal Grünwald Hjärne Ibáñez Jansen Krüger Lefèvre Müller Nygård "
    "Österlund Peña Quist Rößler Sánchez Thévenot Ünal Vance Weiß Ýmir Zeller"
).split()
_BUSINESS = (
    "Bakery;Bicycles;Brewing Co.;Café;Carpentry & Sons;Dental;Electric;Fabrics;Garden Centre;Hardware;Imports;"
    "Joinery;Kitchens;Landscaping;Marine Supply;Nursery;Opticians;Printing;Quilts;Roofing"
).split(";")
_JOBS = "Kitchen;Bathroom;Roof;Terrace;Workshop;Phase 1;Phase 2;Garage".split(";")
_CITIES = (
    ("Bayfield", "CA", "94001"),
    ("Middletown", "CA", "94482"),
    ("Östhammar", "WA", "98101"),
    ("Saint-Jérôme", "VT", "05401"),
    ("Lakeside", "OR", "97449"),
)
_STREETS = "Mill Lane;Harbor Street;Señora Avenue;Station Road;Chapel Hill".split(";")
_ACCOUNTS = (
    ("Checking", "Bank"),
    ("Undeposited Funds", "OtherCurrentAsset"),
    ("Accounts Receivable", "AccountsReceivable"),
    ("Inventory Asset", "OtherCurrentAsset"),
    ("Accounts Payable", "AccountsPayable"),
    ("Sales Tax Payable", "OtherCurrentLiability"),
    ("Opening Balance Equity", "Equity"),
    ("Sales", "Income"),
    ("Cost of Goods Sold", "CostOfGoodsSold"),
    ("Office Supplies", "Expense"),
)
_LISTS: dict[str, tuple[str, ...]] = {
    "StandardTerms": ("Due on receipt", "Net 15", "Net 30"),
    "Class": ("Retail", "Retail:Web", "Wholesale"),
    "CustomerType": ("Commercial", "Residential"),
    "ShipMethod": ("Courier", "Freight", "Pick-up"),
    "SalesTaxCode": ("Tax", "Non"),
    "ItemSalesTax": ("County Tax", "Out of State"),
    "PaymentMethod": ("Cash", "Check", "Visa"),
    "PriceLevel": ("Friends", "Trade"),
    "JobType": ("New work", "Repair"),
    "CustomerMsg": ("Thank you for your business.",),
    "Template": ("Custom Sales Order", "Intuit Product Invoice"),
    "OtherName": ("Ada Brandt", "Carl Zeller"),
}
_SALES_REPS = (("AB", "Ada Brandt"), ("CZ", "Carl Zeller"))
_DUE_DAYS = {"Due on receipt": "0", "Net 15": "15", "Net 30": "30"}
_ITEMS = (
    ("ItemService", "Consulting", "120.00"),
    ("ItemService", "Consulting:On site", "150.00"),
    ("ItemService", "Installation", "85.00"),
    ("ItemService", "Délivery", "25.00"),
    ("ItemInventory", "Cabinet", "340.00"),
    ("ItemInventory", "Cabinet:Light Pine", "1799.00"),
    ("ItemInventory", "Hardware", "12.50"),
    ("ItemInventory", "Hardware:Brass hinges", "3.00"),
    ("ItemInventory", "Hardware:Doorknobs Std", "30.00"),
    ("ItemInventory", "T-shirt", "19.90"),
    ("ItemNonInventory", "Timber ½ inch", "7.45"),
    ("ItemNonInventory", "Rußfilter", "44.10"),
)

OWNER_OF_CUSTOM_FIELDS = "0"


def generate(seed: int, customers: int, sales_orders: int, clock: MachineClock) -> Books:
    """Make the books of a company with so many customers and sales orders."""
    maker = _Maker(seed, clock)
    maker.lists()
    maker.transactions(maker.customers(customers), sales_orders)
    return maker.books


class _Maker:
    def __init__(self, seed: int, clock: MachineClock) -> None:
        self.books = Books(clock)
        self._random = random.Random(seed)  # noqa: S311 - sample data, and it has to repeat
        self._clock = clock
        self._items: list[Record] = []

    def lists(self) -> None:
        self.books.custom_fields = [
            {
                "OwnerID": OWNER_OF_CUSTOM_FIELDS,
                "DataExtID": str(number),
                "DataExtName": name,
                "DataExtType": "STR255TYPE",
                "AssignToObject": [carrier],
                "DataExtListRequire": "false",
                "DataExtTxnRequire": "false",
                "DataExtFormatString": "",
            }
            for number, (name, carrier) in enumerate((("Region", "Customer"), ("Color", "Item")))
        ]
        for name, account_type in _ACCOUNTS:
            self._add("Account", {"Name": name, "AccountType": account_type}, FOUNDED)
        for kind, names in _LISTS.items():
            for full_name in names:
                parent, _, name = full_name.rpartition(":")
                fields: Fields = {"Name": name}
                if parent:
                    fields["ParentRef"] = self._ref(kind, parent)
                if kind == "StandardTerms":
                    fields["StdDueDays"] = _DUE_DAYS[name]
                if kind == "SalesTaxCode":
                    fields["IsTaxable"] = _bool(name == "Tax")
                self._add(kind, fields, FOUNDED)
        for initial, name in _SALES_REPS:
            self._add("SalesRep", {"Initial": initial, "SalesRepEntityRef": self._ref("OtherName", name)}, FOUNDED)
        self._items = [self._item(number, *item) for number, item in enumerate(_ITEMS, 1)]

    def customers(self, count: int) -> list[Record]:
        for number in range(1, max(count // 8, 3) + 1):
            self._vendor(number)
        made: list[Record] = []
        parents: list[Record] = []
        while len(made) < count:
            number = len(made) + 1
            # One in six is a job below a customer, as in most companies that use jobs.
            if parents and self._random.random() < 1 / 6:
                parent = self._random.choice(parents)
                made.append(self._customer(number, count, f"{self._random.choice(_JOBS)} {number}", parent))
                continue
            record = self._customer(number, count, "", None)
            parents.append(record)
            made.append(record)
        return made

    def transactions(self, customers: list[Record], count: int) -> None:
        invoices = 0
        for number in range(1, count + 1):
            order = self._order(number, self._random.choice(customers))
            # Two of five orders were invoiced, and most invoices were paid.
            if self._random.random() < 0.4:  # noqa: PLR2004 - chance
                invoices += 1
                invoice = self._invoice(invoices, order)
                if self._random.random() < 0.6:  # noqa: PLR2004 - chance
                    self._payment(invoices, invoice)

    def _add(self, kind_name: str, fields: Fields, created: int, modified: int | None = None) -> Record:
        kind = KINDS[kind_name]
        draft = Draft(kind, fields)
        rules.of(kind).complete(self.books, draft)
        record = self.books.add(kind, draft.fields, at=created)
        record.modified = record.edit_sequence = modified or created
        return record

    def _ref(self, kind: str, full_name: str) -> Fields:
        record = self.books.named(full_name, (kind,))
        if record is None:
            raise KeyError(full_name)
        return record.reference()

    def _times(self, share: float) -> tuple[int, int]:
        """Return times of creation and of the last change, in Unix seconds."""
        created = FOUNDED + int(share * HISTORY_SECONDS)
        return created, created + self._random.choice((0, 0, 60, 86_400, 30 * 86_400))

    def _customer(self, number: int, count: int, job: str, parent: Record | None) -> Record:
        first, last = self._random.choice(_FIRST), self._random.choice(_LAST)
        company = f"{last} {self._random.choice(_BUSINESS)}" if self._random.random() < 0.5 else ""  # noqa: PLR2004 - chance
        name = job or (f"{company} {number}" if company else f"{last}, {first} {number}")
        created, modified = self._times(number / count)
        city, state, postal_code = self._random.choice(_CITIES)
        address = {
            "Addr1": company or f"{first} {last}",
            "Addr2": f"{self._random.randint(1, 199)} {self._random.choice(_STREETS)}",
            "City": city,
            "State": state,
            "PostalCode": postal_code,
        }
        fields: Fields = {
            "Name": name,
            "IsActive": _bool(self._random.random() >= 0.07),  # noqa: PLR2004 - a few are inactive
            "ClassRef": self._ref("Class", self._random.choice(_LISTS["Class"])) if number % 5 == 0 else "",
            "ParentRef": parent.reference() if parent else "",
            "CompanyName": company,
            "FirstName": first,
            "LastName": last,
            "BillAddress": address,
            "Phone": f"555-{number % 10_000:04d}",
            "Email": f"customer{number}@example.com",
            "TermsRef": self._ref("StandardTerms", self._random.choice(_LISTS["StandardTerms"])),
            "SalesTaxCodeRef": self._ref("SalesTaxCode", "Tax"),
            "AccountNumber": f"C-{number:05d}",
            "JobStatus": self._random.choice(("InProgress", "Awarded", "Closed")) if parent else "None",
            "PreferredDeliveryMethod": "None",
            "DataExtRet": [_custom_field("Region", self._random.choice(("North", "South", "Übersee")))]
            if number % 3 == 0
            else [],
        }
        return self._add("Customer", {key: value for key, value in fields.items() if value}, created, modified)

    def _vendor(self, number: int) -> Record:
        created, modified = self._times(self._random.random())
        name = f"{self._random.choice(_LAST)} {self._random.choice(_BUSINESS)} Supply {number}"
        fields = {
            "Name": name,
            "IsActive": _bool(number % 9 != 0),
            "CompanyName": name,
            "Phone": f"555-{9000 + number % 1000}",
        }
        return self._add("Vendor", fields, created, modified)

    def _item(self, number: int, kind: str, full_name: str, price: str) -> Record:
        parent, _, name = full_name.rpartition(":")
        income = self._ref("Account", "Sales")
        priced: Fields = (
            {
                "SalesDesc": name,
                "SalesPrice": price,
                "IncomeAccountRef": income,
                "COGSAccountRef": self._ref("Account", "Cost of Goods Sold"),
                "AssetAccountRef": self._ref("Account", "Inventory Asset"),
                "QuantityOnHand": str(number * 7),
                "QuantityOnSalesOrder": "0",
            }
            if kind == "ItemInventory"
            else {"SalesOrPurchase": {"Desc": name, "Price": price, "AccountRef": income}}
        )
        fields = {
            "Name": name,
            "IsActive": _bool(full_name != "T-shirt"),
            **({"ParentRef": self._ref(kind, parent)} if parent else {}),
            "SalesTaxCodeRef": self._ref("SalesTaxCode", "Tax"),
            **priced,
        }
        return self._add(kind, fields, *self._times(0))

    def _order(self, number: int, customer: Record) -> Record:
        created, modified = self._times(self._random.random())
        day = date.fromisoformat(self._clock.text(created)[:10])
        lines = [
            self._line("SalesOrderLineRet", self._random.choice(self._items), created)
            for _ in range(self._random.randint(1, 4))
        ]
        fields = {
            "CustomerRef": customer.reference(),
            "TxnDate": day.isoformat(),
            # Every tenth number has letters, because RefNumber filters treat those differently.
            "RefNumber": f"SO-{number}" if number % 10 == 0 else str(1000 + number),
            "BillAddress": customer.fields["BillAddress"],
            "TermsRef": customer.fields["TermsRef"],
            "DueDate": (day + timedelta(days=30)).isoformat(),
            "ShipDate": (day + timedelta(days=7)).isoformat(),
            "SalesOrderLineRet|SalesOrderLineGroupRet": lines,
        }
        return self._add("SalesOrder", fields, created, modified)

    def _line(self, name: str, item: Record, created: int) -> list[object]:
        line_id = self.books.new_line_id(created)
        return [
            name,
            {"TxnLineID": line_id, "ItemRef": item.reference(), "Quantity": str(self._random.randint(1, 12))},
        ]

    def _invoice(self, number: int, order: Record) -> Record:
        created, modified = self._times(self._random.random())
        day = date.fromisoformat(order.fields["ShipDate"])
        lines = [
            [
                "InvoiceLineRet",
                {
                    "TxnLineID": self.books.new_line_id(created),
                    **{key: line[key] for key in ("ItemRef", "Desc", "Quantity", "Rate", "Amount", "SalesTaxCodeRef")},
                },
            ]
            for _, line in order.lines()
        ]
        order.fields["IsFullyInvoiced"] = "true"
        fields = {
            "CustomerRef": order.fields["CustomerRef"],
            "TxnDate": day.isoformat(),
            "RefNumber": str(5000 + number),
            "BillAddress": order.fields["BillAddress"],
            "TermsRef": order.fields["TermsRef"],
            "DueDate": (day + timedelta(days=30)).isoformat(),
            "IsToBePrinted": "false",
            "LinkToTxnID": [order.id],
            "InvoiceLineRet|InvoiceLineGroupRet": lines,
        }
        return self._add("Invoice", fields, created, modified)

    def _payment(self, number: int, invoice: Record) -> Record:
        created, modified = self._times(self._random.random())
        amount = money(sum((Decimal(line["Amount"]) for _, line in invoice.lines()), Decimal()))
        fields = {
            "CustomerRef": invoice.fields["CustomerRef"],
            "ARAccountRef": invoice.fields["ARAccountRef"],
            "TxnDate": invoice.fields["DueDate"],
            "RefNumber": str(7000 + number),
            "TotalAmount": amount,
            "PaymentMethodRef": self._ref("PaymentMethod", "Check"),
            "DepositToAccountRef": self._ref("Account", "Undeposited Funds"),
            "AppliedToTxnRet": [{"TxnID": invoice.id, "PaymentAmount": amount}],
        }
        return self._add("ReceivePayment", fields, created, modified)


def _custom_field(name: str, value: str) -> Fields:
    return {
        "OwnerID": OWNER_OF_CUSTOM_FIELDS,
        "DataExtName": name,
        "DataExtType": "STR255TYPE",
        "DataExtValue": value,
    }


def _bool(value: bool) -> str:
    return "true" if value else "false"
