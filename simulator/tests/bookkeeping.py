"""Helpers for tests of the books: an empty company, and a short way to write requests."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from simulator import Company
from simulator.basics.clock import MachineClock, zone_named
from simulator.books import Books
from simulator.rules.table import rules_of
from simulator.schema import schema
from simulator.tests.support import NOW, ask

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

REFERENCES_BY_ID = "8"
"""ListIDs begin with this digit. Everything else in a reference is a full name."""

Content = dict[str, Any]


def xml(content: Content) -> str:
    """Write elements: dicts nest, lists repeat, `…Ref` takes a ListID or a full name, True and False are booleans."""
    return "".join(
        _element(name, member)
        for name, value in content.items()
        for member in (value if isinstance(value, list) else [value])
    )


def _element(name: str, value: Any) -> str:
    if isinstance(value, bool):
        value = str(value).lower()
    if isinstance(value, dict):
        return f"<{name}>{xml(value)}</{name}>"
    if name.endswith("Ref"):
        tag = "ListID" if str(value).startswith(REFERENCES_BY_ID) and "-" in str(value) else "FullName"
        return f"<{name}><{tag}>{escape(str(value))}</{tag}></{name}>"
    return f"<{name}>{escape(str(value))}</{name}>"


class Bookkeeper:
    """Works on a company with one bank account, one customer with a job, a vendor, taxes and items of each kind."""

    def __init__(self) -> None:
        clock = MachineClock(lambda: NOW, zone_named("-05:00"))
        self.company = Company(Books(clock, rules_of), clock)
        self.books = self.company.books
        for name, account_type in (
            ("Checking", "Bank"),
            ("Card", "CreditCard"),
            ("Sales", "Income"),
            ("Discounts", "Income"),
            ("Cost of Goods Sold", "CostOfGoodsSold"),
            ("Inventory Asset", "OtherCurrentAsset"),
            ("Rent", "Expense"),
            ("Shrinkage", "Expense"),
        ):
            self.add("Account", Name=name, AccountType=account_type)
        self.add("StandardTerms", Name="Net 30", StdDueDays=30, StdDiscountDays=10, DiscountPct="2")
        self.add("SalesTaxCode", Name="Tax", IsTaxable=True)
        self.add("SalesTaxCode", Name="Non", IsTaxable=False)
        self.add("Vendor", Name="Tax Agency")
        self.add("Vendor", Name="Supplier", VendorAddress={"Addr1": "1 Quay"}, TermsRef="Net 30")
        self.add("ItemSalesTax", Name="State", TaxRate="6", TaxVendorRef="Tax Agency")
        self.add("ItemSalesTax", Name="County", TaxRate="1.25", TaxVendorRef="Tax Agency")
        self.add("ItemSalesTaxGroup", Name="Both", ItemSalesTaxRef=["State", "County"])
        address = {"Addr1": "Ada", "Addr2": "1 Street", "City": "Bayfield", "State": "CA", "PostalCode": "94001"}
        self.add("Customer", Name="Ada", BillAddress=address, TermsRef="Net 30", SalesTaxCodeRef="Tax")
        self.add("Customer", Name="Kitchen", ParentRef="Ada")
        self.add("Customer", Name="Bruno")
        self.add("ItemService", Name="Work", SalesTaxCodeRef="Non", SalesOrPurchase=_sale("Work", "80"))
        self.add("ItemNonInventory", Name="Paint", SalesTaxCodeRef="Tax", SalesOrPurchase=_sale("Paint", "12.50"))
        for name, price, cost in (("Hinge", "5", "2"), ("Door", "100", "40")):
            self.add(
                "ItemInventory",
                Name=name,
                SalesTaxCodeRef="Tax",
                SalesDesc=name,
                SalesPrice=price,
                IncomeAccountRef="Sales",
                PurchaseCost=cost,
                COGSAccountRef="Cost of Goods Sold",
                AssetAccountRef="Inventory Asset",
            )
        self.add("ItemSubtotal", Name="Subtotal")
        self.add(
            "ItemDiscount", Name="Ten off", SalesTaxCodeRef="Tax", DiscountRatePercent="10", AccountRef="Discounts"
        )
        self.add("ItemGroup", Name="Kit", ItemGroupLine=[_part("Door", 1), _part("Hinge", 3)])
        self.add("ItemPayment", Name="Cash paid")

    def ask(self, request: str, content: Content | str = "", **attributes: str) -> Element:
        """Send one request and return its Rs element."""
        body = content if isinstance(content, str) else xml(content)
        start = "".join(f' {name}="{value}"' for name, value in attributes.items())
        response: Element = ask(self.company, f"<{request}{start}>{body}</{request}>")[0]
        return response

    def try_to_add(self, kind: str, **fields: Any) -> Element:
        """Send an Add request, its elements in the order of the schema, and return its Rs element."""
        order = list(schema().requests[f"{kind}AddRq"].content[f"{kind}Add"].content.elements)
        content = {name: fields[name] for name in sorted(fields, key=order.index)}
        return self.ask(f"{kind}AddRq", {f"{kind}Add": content})

    def add(self, kind: str, **fields: Any) -> Element:
        """Add a record and return it as the response shows it."""
        response = self.try_to_add(kind, **fields)
        assert response.get("statusCode") == "0", response.get("statusMessage")
        return response[0]

    def refusal(self, kind: str, **fields: Any) -> tuple[str, str]:
        """Send an Add request that QuickBooks must refuse, and return status and message.

        Checks that nothing was stored.
        """
        before = self._state()
        response = self.try_to_add(kind, **fields)
        assert self._state() == before
        return response.get("statusCode", ""), response.get("statusMessage", "")

    def _state(self) -> tuple[int, dict[str, Decimal]]:
        accounts = self.books.ledger.accounts
        return len(self.books.transactions), {account: balance for account, balance in accounts.items() if balance}

    def get(self, record: Element | str, kind: str = "") -> Element:
        """Query a transaction, or a list object by its full name, and return it as it is now."""
        if isinstance(record, str):
            return self.ask(f"{kind}QueryRq", f"<FullName>{escape(record)}</FullName>")[0]
        kind = record.tag.removesuffix("Ret")
        query = f"<TxnID>{record.findtext('TxnID')}</TxnID>"
        has_lines = "IncludeLineItems" in schema().requests[f"{kind}QueryRq"].content
        lines = "<IncludeLineItems>true</IncludeLineItems>" if has_lines else ""
        links = "<IncludeLinkedTxns>true</IncludeLinkedTxns>" if record.find("LinkedTxn") is not None else ""
        return self.ask(f"{kind}QueryRq", query + lines + links)[0]

    def delete(self, record: Element) -> Element:
        """Delete a transaction and return the Rs element."""
        kind = record.tag.removesuffix("Ret")
        return self.ask("TxnDelRq", {"TxnDelType": kind, "TxnID": record.findtext("TxnID")})

    def balance(self, account: str) -> Decimal:
        """Return the balance of an account as its query shows it."""
        return Decimal(self.get(account, "Account").findtext("Balance", ""))

    def balance_of(self, customer: str) -> Decimal:
        """Return the balance of a customer without its jobs."""
        return Decimal(self.get(customer, "Customer").findtext("Balance", ""))

    def invoice(self, customer: str = "Ada", **fields: Any) -> Element:
        """Add an invoice. By default it has one line of work at 100.00."""
        fields.setdefault("InvoiceLineAdd", [{"ItemRef": "Work", "Rate": "100"}])
        return self.add("Invoice", CustomerRef=customer, **fields)


def _sale(description: str, price: str) -> Content:
    return {"Desc": description, "Price": price, "AccountRef": "Sales"}


def _part(item: str, quantity: int) -> Content:
    return {"ItemRef": item, "Quantity": quantity}


def amounts(record: Element) -> list[str | None]:
    """Return the amounts of a form's lines, those of groups included."""
    return [line.findtext("Amount") for line in record.iter() if line.tag.endswith("LineRet")]
