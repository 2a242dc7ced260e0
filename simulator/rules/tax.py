"""Sales tax of the US edition: the tax on a form's taxable lines, for each tax agency.

A taxable discount reduces what is taxed. If it is an amount, QuickBooks applies it to the lines above it
"proportionally (item amount as a fraction of the overall invoice total)"; below a subtotal, to the lines of the
subtotal (Intuit, "Use discount and subtotal items on an invoice"). A percentage applies to the line above it or to the
subtotal, and no document says how it is taxed if only a part of them is. Here it is in proportion, too. Strict mode
names each such form, because other sources say that a discount of any kind applies to the line above it alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from simulator.books.ledger import ZERO, Posting
from simulator.books.records import reference_id
from simulator.rules.common import decimal, percent_of, rounded, special_account
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
    taxable = _taxable_amount(books, lines)
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


class _Base(NamedTuple):
    """Lines that a discount applies to: their sum, and the taxable part of it."""

    amount: Decimal = ZERO
    taxable: Decimal = ZERO

    def plus(self, other: _Base) -> _Base:
        return _Base(self.amount + other.amount, self.taxable + other.taxable)


_NOTHING = _Base()


def _taxable_amount(books: Books, lines: Iterable[Fields]) -> Decimal:
    """Return the part of a form's lines that is taxed."""
    codes: dict[str, bool] = {}
    total = since_subtotal = _NOTHING
    discounted: _Base | None = None
    """The lines that a discount on the next line applies to: None for all lines above, if it is an amount."""
    above = _NOTHING
    for line in lines:
        item = books.lists.get(reference_id(line, "ItemRef"))
        kind = item.kind.name if item is not None else ""
        if kind == "ItemSubtotal":
            discounted = above = since_subtotal
            since_subtotal = _NOTHING
            continue
        if kind == "ItemPayment":
            continue
        code = reference_id(line, "SalesTaxCodeRef")
        if code not in codes:
            codes[code] = is_taxable(books, code)
        amount = decimal(line, "Amount")
        part = _Base(amount, amount if codes[code] else ZERO)
        if kind == "ItemDiscount" and codes[code]:
            base = above if "RatePercent" in line else discounted or total
            part = _Base(amount, _taxable_part(books, amount, base))
        total, since_subtotal, above, discounted = total.plus(part), since_subtotal.plus(part), part, None
    return total.taxable


def _taxable_part(books: Books, discount: Decimal, base: _Base) -> Decimal:
    """Return the part of a taxable discount that reduces what is taxed."""
    if base.taxable == base.amount:
        return discount
    books.assume("discount_over_mixed_tax")
    return rounded(discount * base.taxable / base.amount) if base.amount else ZERO


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
