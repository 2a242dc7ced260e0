"""A company to play with, made from a seed: the same seed gives the same company, down to the ids.

Every name is invented. Text stays within Windows-1252, as in QuickBooks, and is not all ASCII.
"""

# ruff: noqa: SIM905 - a list of words is read as a line of text, not as a page of literals
from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from simulator.rows import Fields, Row, Table

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
_ITEMS = (
    ("ItemServiceRet", "Consulting", "120.00"),
    ("ItemServiceRet", "Consulting:On site", "150.00"),
    ("ItemServiceRet", "Installation", "85.00"),
    ("ItemServiceRet", "Délivery", "25.00"),
    ("ItemInventoryRet", "Cabinet", "340.00"),
    ("ItemInventoryRet", "Cabinet:Light Pine", "1799.00"),
    ("ItemInventoryRet", "Hardware", "12.50"),
    ("ItemInventoryRet", "Hardware:Brass hinges", "3.00"),
    ("ItemInventoryRet", "Hardware:Doorknobs Std", "30.00"),
    ("ItemInventoryRet", "T-shirt", "19.90"),
    ("ItemNonInventoryRet", "Timber ½ inch", "7.45"),
    ("ItemNonInventoryRet", "Rußfilter", "44.10"),
)

REFERENCES = {
    "TermsRef": ("Due on receipt", "Net 15", "Net 30"),
    "ClassRef": ("Retail", "Retail:Web", "Wholesale"),
    "CustomerTypeRef": ("Commercial", "Residential"),
    "SalesRepRef": ("AB", "CZ"),
    "ShipMethodRef": ("Courier", "Freight", "Pick-up"),
    "SalesTaxCodeRef": ("Tax", "Non"),
    "CustomerSalesTaxCodeRef": ("Tax", "Non"),
    "ItemSalesTaxRef": ("County Tax", "Out of State"),
    "PreferredPaymentMethodRef": ("Cash", "Check", "Visa"),
    "PriceLevelRef": ("Friends", "Trade"),
    "JobTypeRef": ("New work", "Repair"),
    "CustomerMsgRef": ("Thank you for your business.",),
    "TemplateRef": ("Custom Sales Order", "Intuit Product Invoice"),
    "ARAccountRef": ("Accounts Receivable",),
}
"""The small lists that others refer to, by the name of the reference."""

OWNER_OF_CUSTOM_FIELDS = "0"


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of a new company."""

    customers: Table
    vendors: Table
    items: Table
    sales_orders: Table
    invoices: Table


def reference(name: str, full_name: str) -> Fields:
    """Return the aggregate that refers to an entry of `REFERENCES[name]`."""
    return {"ListID": reference_id(name, full_name), "FullName": full_name}


def reference_id(name: str, full_name: str) -> str:
    """Return the ListID of an entry of `REFERENCES[name]`."""
    group = "SalesTaxCodeRef" if name == "CustomerSalesTaxCodeRef" else name
    number = sorted(REFERENCES).index(group) * 16 + REFERENCES[group].index(full_name) + 1
    return f"{number:X}0000-{FOUNDED}"


def generate(seed: int, customers: int, sales_orders: int, clock: MachineClock) -> Tables:
    """Make the tables of a company; `clock` is used for the zone of its times only."""
    return _Maker(seed, clock).tables(customers, sales_orders)


class _Maker:
    def __init__(self, seed: int, clock: MachineClock) -> None:
        self._random = random.Random(seed)  # noqa: S311 - sample data, and it has to repeat
        self._clock = clock

    def tables(self, customer_count: int, order_count: int) -> Tables:
        customers = self._customers(customer_count)
        items = [self._item(number, *item) for number, item in enumerate(_ITEMS, 1)]
        vendors = [self._vendor(number) for number in range(1, max(customer_count // 8, 3) + 1)]
        orders: list[Row] = []
        invoices: list[Row] = []
        for number in range(1, order_count + 1):
            order = self._order(number, self._random.choice(customers), items)
            # Two of five orders were invoiced, and each of the two documents names the other.
            if self._random.random() < 0.4:  # noqa: PLR2004 - chance
                invoices.append(self._invoice(len(invoices) + 1, order))
            orders.append(order)
        return Tables(Table(customers), Table(vendors), Table(items), Table(orders), Table(invoices))

    def _times(self, share: float) -> tuple[int, Fields]:
        created = FOUNDED + int(share * HISTORY_SECONDS)
        modified = created + self._random.choice((0, 0, 60, 86_400, 30 * 86_400))
        return created, {
            "TimeCreated": self._clock.text(created),
            "TimeModified": self._clock.text(modified),
            "EditSequence": str(modified),
        }

    def _customers(self, count: int) -> list[Row]:
        made: list[Row] = []
        parents: list[Row] = []
        while len(made) < count:
            number = len(made) + 1
            # One in six is a job below a customer, as most companies that use jobs have it.
            if parents and self._random.random() < 1 / 6:
                parent = self._random.choice(parents)
                made.append(self._customer(number, count, f"{self._random.choice(_JOBS)} {number}", parent))
                continue
            row = self._customer(number, count, "", None)
            parents.append(row)
            made.append(row)
        return made

    def _customer(self, number: int, count: int, job: str, parent: Row | None) -> Row:
        first, last = self._random.choice(_FIRST), self._random.choice(_LAST)
        company = f"{last} {self._random.choice(_BUSINESS)}" if self._random.random() < 0.5 else ""  # noqa: PLR2004 - chance
        name = job or (f"{company} {number}" if company else f"{last}, {first} {number}")
        created, times = self._times(number / count)
        balance = _money(Decimal(self._random.choice((0, 0, 0, self._random.randint(1, 900_000)))) / 100)
        city, state, postal_code = self._random.choice(_CITIES)
        address = {
            "Addr1": company or f"{first} {last}",
            "Addr2": f"{self._random.randint(1, 199)} {self._random.choice(_STREETS)}",
            "City": city,
            "State": state,
            "PostalCode": postal_code,
        }
        fields: Fields = {
            "ListID": f"{0x80000000 + number:X}-{created}",
            **times,
            "Name": name,
            "FullName": f"{parent.name}:{name}" if parent else name,
            "IsActive": _bool(self._random.random() >= 0.07),  # noqa: PLR2004 - a few are inactive
            "ClassRef": reference("ClassRef", self._random.choice(REFERENCES["ClassRef"])) if number % 5 == 0 else "",
            "ParentRef": parent.reference() if parent else "",
            "Sublevel": "1" if parent else "0",
            "CompanyName": company,
            "FirstName": first,
            "LastName": last,
            "BillAddress": address,
            "BillAddressBlock": {
                "Addr1": address["Addr1"],
                "Addr2": address["Addr2"],
                "Addr3": f"{city}, {state} {postal_code}",
            },
            "Phone": f"555-{number % 10_000:04d}",
            "Email": f"customer{number}@example.com",
            "TermsRef": reference("TermsRef", self._random.choice(REFERENCES["TermsRef"])),
            "Balance": balance,
            "TotalBalance": balance,
            "SalesTaxCodeRef": reference("SalesTaxCodeRef", "Tax"),
            "AccountNumber": f"C-{number:05d}",
            "JobStatus": self._random.choice(("InProgress", "Awarded", "Closed")) if parent else "None",
            "PreferredDeliveryMethod": "None",
            "DataExtRet": [_custom_field("Region", self._random.choice(("North", "South", "Übersee")))]
            if number % 3 == 0
            else [],
        }
        return Row("CustomerRet", {key: value for key, value in fields.items() if value})

    def _vendor(self, number: int) -> Row:
        created, times = self._times(self._random.random())
        name = f"{self._random.choice(_LAST)} {self._random.choice(_BUSINESS)} Supply {number}"
        return Row(
            "VendorRet",
            {
                "ListID": f"{0x90000000 + number:X}-{created}",
                **times,
                "Name": name,
                "IsActive": _bool(number % 9 != 0),
                "CompanyName": name,
                "Phone": f"555-{9000 + number % 1000}",
                "IsVendorEligibleFor1099": "false",
                "Balance": _money(Decimal(self._random.randint(0, 500_000)) / 100),
            },
        )

    def _item(self, number: int, element: str, full_name: str, price: str) -> Row:
        created, times = self._times(0)
        parent, _, name = full_name.rpartition(":")
        parent_number = next((at for at, (_, other, _) in enumerate(_ITEMS, 1) if other == parent), 0)
        priced: Fields = (
            {"SalesDesc": name, "SalesPrice": price, "QuantityOnHand": str(number * 7), "QuantityOnSalesOrder": "0"}
            if element == "ItemInventoryRet"
            else {"SalesOrPurchase": {"Desc": name, "Price": price}}
        )
        return Row(
            element,
            {
                "ListID": f"{0xA0000000 + number:X}-{created}",
                **times,
                "Name": name,
                "FullName": full_name,
                "IsActive": _bool(full_name != "T-shirt"),
                **({"ParentRef": {"ListID": f"{0xA0000000 + parent_number:X}-{created}", "FullName": parent}}
                   if parent else {}),
                "Sublevel": "1" if parent else "0",
                "SalesTaxCodeRef": reference("SalesTaxCodeRef", "Tax"),
                **priced,
            },
        )  # fmt: skip

    def _order(self, number: int, customer: Row, items: list[Row]) -> Row:
        created, times = self._times(self._random.random())
        lines = [
            order_line(f"{number * 16 + at:X}-{created}", self._random.choice(items), self._random.randint(1, 12))
            for at in range(1, self._random.randint(2, 5))
        ]
        total = sum((Decimal(line["Amount"]) for line in lines), Decimal())
        day = date.fromisoformat(times["TimeCreated"][:10])
        return Row(
            "SalesOrderRet",
            {
                "TxnID": f"{number:X}-{created}",
                **times,
                "TxnNumber": str(number),
                "CustomerRef": customer.reference(),
                "TemplateRef": reference("TemplateRef", "Custom Sales Order"),
                "TxnDate": day.isoformat(),
                # Every tenth number has letters, because RefNumber filters treat those differently.
                "RefNumber": f"SO-{number}" if number % 10 == 0 else str(1000 + number),
                "BillAddress": customer.fields["BillAddress"],
                "TermsRef": customer.fields["TermsRef"],
                "DueDate": (day + timedelta(days=30)).isoformat(),
                "ShipDate": (day + timedelta(days=7)).isoformat(),
                "Subtotal": _money(total),
                "SalesTaxPercentage": "0.00",
                "SalesTaxTotal": "0.00",
                "TotalAmount": _money(total),
                "IsManuallyClosed": "false",
                "IsFullyInvoiced": "false",
                "IsToBePrinted": "true",
                "IsToBeEmailed": "false",
                "LinkedTxn": [],
                "SalesOrderLineRet": lines,
            },
        )

    def _invoice(self, number: int, order: Row) -> Row:
        created, times = self._times(self._random.random())
        amount, paid = order.fields["TotalAmount"], self._random.random() < 0.6  # noqa: PLR2004 - chance
        day = date.fromisoformat(order.fields["ShipDate"])
        txn_id = f"{0x100000 + number:X}-{created}"
        order.fields["IsFullyInvoiced"] = "true"
        order.fields["LinkedTxn"].append(
            _link(txn_id, "Invoice", day.isoformat(), str(5000 + number), amount)
        )  # fmt: skip
        lines = [
            {key: value for key, value in line.items() if key not in {"Invoiced", "IsManuallyClosed", "TxnLineID"}}
            for line in order.fields["SalesOrderLineRet"]
        ]
        return Row(
            "InvoiceRet",
            {
                "TxnID": txn_id,
                **times,
                "TxnNumber": str(100_000 + number),
                "CustomerRef": order.fields["CustomerRef"],
                "ARAccountRef": reference("ARAccountRef", "Accounts Receivable"),
                "TemplateRef": reference("TemplateRef", "Intuit Product Invoice"),
                "TxnDate": day.isoformat(),
                "RefNumber": str(5000 + number),
                "BillAddress": order.fields["BillAddress"],
                "IsPending": "false",
                "TermsRef": order.fields["TermsRef"],
                "DueDate": (day + timedelta(days=30)).isoformat(),
                "Subtotal": amount,
                "SalesTaxPercentage": "0.00",
                "SalesTaxTotal": "0.00",
                "AppliedAmount": f"-{amount}" if paid else "0.00",
                "BalanceRemaining": "0.00" if paid else amount,
                "IsPaid": _bool(paid),
                "IsToBePrinted": "false",
                "LinkedTxn": [
                    _link(order.id, "SalesOrder", order.fields["TxnDate"], order.fields["RefNumber"], amount)
                ],
                "InvoiceLineRet": [
                    {"TxnLineID": f"{0x1000000 + number * 16 + at:X}-{created}", **line}
                    for at, line in enumerate(lines)
                ],
            },
        )


def order_line(line_id: str, item: Row, quantity: Decimal | int) -> Fields:
    """Return a sales order line for `quantity` of an item at its list price."""
    price = item_price(item)
    return {
        "TxnLineID": line_id,
        "ItemRef": item.reference(),
        "Desc": item.fields["Name"],
        "Quantity": str(quantity),
        "Rate": price,
        "Amount": _money(Decimal(price) * quantity),
        "SalesTaxCodeRef": reference("SalesTaxCodeRef", "Tax"),
        "Invoiced": "0",
        "IsManuallyClosed": "false",
    }


def item_price(item: Row) -> str:
    """Return an item's sales price as text with two decimals."""
    return str(item.fields.get("SalesPrice") or item.fields["SalesOrPurchase"]["Price"])


def _link(txn_id: str, kind: str, day: str, ref_number: str, amount: str) -> Fields:
    return {
        "TxnID": txn_id,
        "TxnType": kind,
        "TxnDate": day,
        "RefNumber": ref_number,
        "LinkType": "QUANTYPE",
        "Amount": f"-{amount}",
    }


def _custom_field(name: str, value: str) -> Fields:
    return {
        "OwnerID": OWNER_OF_CUSTOM_FIELDS,
        "DataExtName": name,
        "DataExtType": "STR255TYPE",
        "DataExtValue": value,
    }


def _money(amount: Decimal) -> str:
    return f"{amount:.2f}"


def _bool(value: bool) -> str:
    return "true" if value else "false"
