"""Sales tax of the US edition: the tax on a form's taxable lines, for each tax agency."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.books.ledger import ZERO, Posting
from simulator.books.records import reference_id
from simulator.rules.common import decimal, percent_of, special_account
from simulator.rules.lists import default_tax_codes
from simulator.rules.preferences import is_on
from simulator.schema.values import money

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from decimal import Decimal

    from simulator.books.records import Draft, Fields, Record
    from simulator.books.store import Books


def is_taxable(books: Books, code_id: str) -> bool:
    """Return whether a sales tax code is taxable."""
    code = books.lists.get(code_id)
    return code is not None and code.fields.get("IsTaxable") == "true"


def tax_items(books: Books, item_id: str) -> list[Record]:
    """Return the tax items of a tax item or group: the item itself, or the members of the group."""
    item = books.lists.get(item_id)
    if item is None:
        return []
    if item.kind.name == "ItemSalesTax":
        return [item]
    members = (books.lists.get(reference.get("ListID", "")) for reference in item.fields.get("ItemSalesTaxRef", ()))
    return [tax_item for tax_item in members if tax_item is not None]


def tax_rate(books: Books, item_id: str) -> Decimal:
    """Return the percentage of a tax item or group."""
    return sum((decimal(tax_item.fields, "TaxRate") for tax_item in tax_items(books, item_id)), ZERO)


def tax_preferences(books: Books) -> Fields:
    """Return SalesTaxPreferences, empty without a tax item or codes that could be the defaults."""
    taxable, exempt = default_tax_codes(books)
    item = default_tax_item(books, {})
    if not (item and taxable and exempt):
        return {}
    return {
        "DefaultItemSalesTaxRef": item,
        "PaySalesTax": "Monthly",
        "DefaultTaxableSalesTaxCodeRef": taxable,
        "DefaultNonTaxableSalesTaxCodeRef": exempt,
    }


def default_tax_item(books: Books, customer: Fields) -> Fields:
    """Return a reference to the tax item of a customer, else the company's, or an empty one if there is none."""
    if not is_on(books, "sales_tax"):
        return {}
    return customer.get("ItemSalesTaxRef") or books.preferences.get("DefaultItemSalesTaxRef") or {}


def compute_tax(books: Books, draft: Draft, lines: Iterable[Fields]) -> Decimal:
    """Compute the tax of a form and store it in `Taxes`, one amount for each tax item. Returns the sum."""
    item_id, customer_code = draft.reference("ItemSalesTaxRef"), draft.reference("CustomerSalesTaxCodeRef")
    if not item_id or (customer_code and not is_taxable(books, customer_code)):
        draft.fields["Taxes"] = []
        return ZERO
    codes: dict[str, bool] = {}
    taxable = ZERO
    for line in lines:
        code = reference_id(line, "SalesTaxCodeRef")
        if code not in codes:
            codes[code] = is_taxable(books, code)
        if codes[code]:
            taxable += decimal(line, "Amount")
    taxes = []
    for item in tax_items(books, item_id):
        amount = percent_of(taxable, decimal(item.fields, "TaxRate"))
        if amount:
            tax: Fields = {
                "ItemSalesTaxRef": item.reference(),
                "AccountRef": special_account(books, "SalesTaxPayable"),
                "Taxable": money(taxable),
                "Amount": money(amount),
            }
            if "TaxVendorRef" in item.fields:
                tax["VendorRef"] = item.fields["TaxVendorRef"]
            taxes.append(tax)
    draft.fields["Taxes"] = taxes
    return sum((decimal(tax, "Amount") for tax in taxes), ZERO)


def tax_postings(record: Record, sign: int) -> Iterator[Posting]:
    """Yield the postings of the tax: a credit for sign 1."""
    for tax in record.fields.get("Taxes", ()):
        yield Posting(
            reference_id(tax, "AccountRef"),
            -sign * decimal(tax, "Amount"),
            reference_id(tax, "VendorRef"),
            reference_id(tax, "ItemSalesTaxRef"),
            memo="Sales Tax",
        )
