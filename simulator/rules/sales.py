"""Forms with sales lines: estimates, sales orders, invoices, sales receipts, credit memos."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from simulator.basics.errors import RequestError
from simulator.books.costing import Role
from simulator.books.kinds import KINDS
from simulator.books.ledger import NOTHING, ZERO, Effects, Posting
from simulator.books.records import reference_id
from simulator.rules.common import (
    TransactionRules,
    decimal,
    early_payment,
    flat_lines,
    group_lines,
    inner_line_name,
    percent_of,
    rounded,
    special_account,
)
from simulator.rules.items import (
    UNIT_PRICE,
    complete_site,
    forget_computed,
    group_members,
    is_stock,
    item_of,
    note_computed,
    price_with_level,
    sales_facts,
    stock_move,
    stock_of,
    unit_of,
)
from simulator.rules.lists import default_tax_codes
from simulator.rules.orders import fulfilled, is_fulfilled, link_lines, order_links
from simulator.rules.settling import CREDITS, check_credits, credit_links, open_state
from simulator.rules.tax import compute_tax, default_tax_item, is_taxable, tax_postings, tax_rate
from simulator.schema.values import money, number_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from simulator.books.costing import StockMove
    from simulator.books.records import Draft, Fields, Record
    from simulator.books.store import Books

    Pairs: TypeAlias = tuple[tuple[str, str], ...]

_FLAGS = {
    "IsActive": "true",
    "IsManuallyClosed": "false",
    "IsPending": "false",
    "IsFinanceCharge": "false",
    "IsToBePrinted": "true",
    "IsToBeEmailed": "false",
}
_FROM_CUSTOMER = {
    "BillAddress": "BillAddress",
    "ShipAddress": "ShipAddress",
    "TermsRef": "TermsRef",
    "SalesRepRef": "SalesRepRef",
    "PaymentMethodRef": "PreferredPaymentMethodRef",
    "CustomerSalesTaxCodeRef": "SalesTaxCodeRef",
}
"""The fields that a form copies from its customer, by their names on the form."""


@cache
def _defaults(kind_name: str) -> tuple[Pairs, Pairs]:
    """Return the flags of a form and the fields that it copies from its customer."""
    model = KINDS[kind_name].fields
    flags, copied = (
        tuple((name, value) for name, value in table.items() if name in model) for table in (_FLAGS, _FROM_CUSTOMER)
    )
    return flags, copied


@cache
def _has_open_lines(kind_name: str) -> bool:
    """Return whether a user can close a line of a form."""
    return "IsManuallyClosed" in KINDS[kind_name].fields[f"{kind_name}LineRet"].content


@dataclass(slots=True)
class Sums:
    """The running sums while the lines of a form are completed, from the first to the last."""

    above: Decimal = ZERO
    since_subtotal: Decimal = ZERO

    def enter(self, amount: Decimal) -> None:
        """Count the amount of a line."""
        self.above = amount
        self.since_subtotal += amount


class SalesRules(TransactionRules):
    """Forms with sales lines."""

    sign: ClassVar[int] = 0
    """1 when the form increases income, -1 when it decreases income, 0 when it posts nothing."""

    def complete(self, books: Books, draft: Draft) -> None:
        """Complete the form from its customer, the lines from their items, and add up."""
        super().complete(books, draft)
        self.complete_header(books, draft)
        line_name = f"{draft.kind.name}LineRet"
        link_lines(books, draft, ("SalesOrder", "Estimate"), line_name)
        sums = Sums()
        for name, line in draft.lines():
            line.setdefault("TxnLineID", books.new_line_id())
            inner = group_lines(name, line)
            if inner is not None:
                self.complete_group(books, draft, name, line, sums)
            elif name == line_name:
                self.complete_line(books, draft, line, sums)
        self.complete_totals(books, draft)

    def complete_header(self, books: Books, draft: Draft) -> None:
        """Fill in the fields that depend on the customer, and QuickBooks' defaults."""
        fields, model = draft.fields, draft.kind.fields
        customer = books.lists.get(draft.reference("CustomerRef"))
        if draft.before is None:
            flags, copied = _defaults(draft.kind.name)
            for name, value in flags:
                fields.setdefault(name, value)
            for name, source in copied:
                if customer is not None and name not in fields and customer.fields.get(source):
                    fields[name] = customer.fields[source]
            tax_item = default_tax_item(books, customer.fields if customer is not None else {})
            if tax_item:
                fields.setdefault("ItemSalesTaxRef", tax_item)
            if "ShipDate" in model:
                fields.setdefault("ShipDate", fields["TxnDate"])
        if "DueDate" in model:
            self.complete_due_date(books, draft)

    def complete_group(self, books: Books, draft: Draft, name: str, line: Fields, sums: Sums) -> None:
        """Expand a group line to the items of its group, and add them up."""
        group = books.lists.get(reference_id(line, "ItemGroupRef"))
        inner = group_lines(name, line) or []
        if group is None:
            raise RequestError(3150, 'There is a missing element: "ItemGroupRef".')
        line.setdefault("Desc", group.fields.get("ItemDesc", ""))
        line["IsPrintItemsInGroup"] = group.fields.get("IsPrintItemsInGroup", "false")
        expanded = (line["ItemGroupRef"], line.get("Quantity"))
        if not inner or line.get("Expanded") not in (None, list(expanded)):
            inner[:] = [
                {"TxnLineID": books.new_line_id(), **member}
                for member in group_members(group, decimal(line, "Quantity") if "Quantity" in line else Decimal(1))
            ]
        line["Expanded"] = list(expanded)
        line[inner_line_name(name)] = inner
        for member_line in inner:
            member_line.setdefault("TxnLineID", books.new_line_id())
            self.complete_line(books, draft, member_line, sums)
        line["TotalAmount"] = money(sum((decimal(inner_line, "Amount") for inner_line in inner), ZERO))

    def complete_line(self, books: Books, draft: Draft, line: Fields, sums: Sums) -> None:
        """Fill in a line from its item: description, rate, amount, tax code, account and stock."""
        forget_computed(line)
        item = item_of(books, line)
        if item is None:
            if "Amount" in line or "Rate" in line:
                line.setdefault("Amount", money(times(line, decimal(line, "Rate"))))
                line["AccountRef"] = line.get("OverrideItemAccountRef") or special_account(books, "UncategorizedIncome")
                sums.enter(decimal(line, "Amount"))
            return
        kind = item.kind.name
        former = set(line)
        facts = sales_facts(item)
        if facts.get("Desc"):
            line.setdefault("Desc", facts["Desc"])
        if kind == "ItemSubtotal":
            line["Amount"] = money(sums.since_subtotal)
            sums.above, sums.since_subtotal = sums.since_subtotal, ZERO
        elif kind == "ItemPayment":
            line["Amount"] = money(-abs(decimal(line, "Amount")))
            line["AccountRef"] = facts.get("AccountRef") or special_account(books, "UndepositedFunds")
        else:
            self.price(books, draft, line, item, sums.above)
            line["AccountRef"] = (
                line.get("OverrideItemAccountRef")
                or facts.get("AccountRef")
                or special_account(books, "SalesTaxPayable" if kind == "ItemSalesTax" else "UncategorizedIncome")
            )
            self._set_tax_code(books, draft, line, item)
            sums.enter(decimal(line, "Amount"))
        if self.sign and is_stock(item):
            self.take_stock(books, line, item)
        else:
            line.pop("Stock", None)
        note_computed(line, former)
        if _has_open_lines(draft.kind.name):
            line.setdefault("IsManuallyClosed", "false")

    def price(self, books: Books, draft: Draft, line: Fields, item: Record, above: Decimal) -> None:
        """Compute rate and amount: from the request, the price level, the item's price or its percentage."""
        facts = sales_facts(item)
        is_discount = item.kind.name == "ItemDiscount"
        percent = line.get("RatePercent") or ("" if "Rate" in line or "Amount" in line else facts.get("PricePercent"))
        if item.kind.name == "ItemSalesTax" and not {"Rate", "Amount"} & line.keys():
            percent = number_text(tax_rate(books, item.id), 2)
        if percent:
            rate = Decimal(percent)
            rate = -abs(rate) if is_discount else rate
            line["RatePercent"] = number_text(rate, 2)
            line.setdefault("Amount", money(percent_of(above, rate)))
            return
        if "UnitOfMeasureSetRef" in item.fields or "UnitOfMeasure" in line:
            unit = unit_of(books, item, line, "Sales")
            line.setdefault("UnitOfMeasure", unit.name)
            ratio = unit.ratio
        else:
            ratio = Decimal(1)
        if "Rate" not in line:
            if "Amount" in line:
                quantity = decimal(line, "Quantity") if "Quantity" in line else Decimal(1)
                if quantity:
                    line["Rate"] = number_text((decimal(line, "Amount") / quantity).quantize(UNIT_PRICE), 2)
            else:
                price = decimal(facts, "Price")
                level = reference_id(line, "PriceLevelRef") or self._customer_level(books, draft)
                if level and not is_discount:
                    price = price_with_level(books, item, price, level)
                line["Rate"] = number_text(-abs(price) if is_discount else price * ratio, 2)
        line.setdefault("Amount", money(self._with_markup(line, times(line, decimal(line, "Rate")))))
        if is_discount:
            line["Amount"] = money(-abs(decimal(line, "Amount")))

    def _with_markup(self, line: Fields, amount: Decimal) -> Decimal:
        if "MarkupRate" not in line and "MarkupRatePercent" not in line:
            return amount
        return amount + decimal(line, "MarkupRate") + percent_of(amount, decimal(line, "MarkupRatePercent"))

    def _customer_level(self, books: Books, draft: Draft) -> str:
        customer = books.lists.get(draft.reference("CustomerRef"))
        return reference_id(customer.fields, "PriceLevelRef") if customer is not None else ""

    def _set_tax_code(self, books: Books, draft: Draft, line: Fields, item: Record) -> None:
        """Use the tax code of the item, unless the customer pays no tax."""
        customer_code = draft.reference("CustomerSalesTaxCodeRef")
        if customer_code and not is_taxable(books, customer_code):
            line.setdefault("SalesTaxCodeRef", {"ListID": customer_code})
        elif item.fields.get("SalesTaxCodeRef"):
            line.setdefault("SalesTaxCodeRef", item.fields["SalesTaxCodeRef"])
        elif "SalesTaxCodeRef" not in line:
            _, exempt = default_tax_codes(books)
            if exempt:
                line["SalesTaxCodeRef"] = exempt

    def take_stock(self, books: Books, line: Fields, item: Record) -> None:
        """Record the quantity that the line takes from the stock, and the accounts for its cost.

        A line with the same item and quantity as before keeps its accounts.
        """
        complete_site(books, line)
        quantity = decimal(line, "Quantity") if "Quantity" in line else Decimal(1)
        if line.get("UnitOfMeasure"):
            quantity *= unit_of(books, item, line, "Sales").ratio
        text = number_text(quantity, 0)
        former = line.get("Stock", {})
        if (former.get("ItemRef"), former.get("Quantity")) == (line["ItemRef"], text):
            return
        line["Stock"] = stock_of(books, item, text)

    def complete_totals(self, books: Books, draft: Draft) -> None:
        """Add up the lines and the tax."""
        fields, model = draft.fields, draft.kind.fields
        lines = list(flat_lines(draft))
        subtotal = ZERO
        for line in lines:
            if "AccountRef" in line:
                subtotal += decimal(line, "Amount")
        tax = compute_tax(books, draft, lines)
        fields["Subtotal"] = money(subtotal)
        fields["SalesTaxTotal"] = money(tax)
        fields["TotalAmount"] = money(subtotal + tax)
        if "SalesTaxPercentage" in model:
            rate = tax_rate(books, draft.reference("ItemSalesTaxRef"))
            fields["SalesTaxPercentage"] = number_text(rate, 2)

    def income(self, record: Record, lines: Iterable[Fields]) -> Iterator[Posting]:
        """Yield the postings of the lines and the tax."""
        fields, sign = record.fields, self.sign
        customer, class_id = reference_id(fields, "CustomerRef"), reference_id(fields, "ClassRef")
        for line in lines:
            if "AccountRef" not in line:
                continue
            yield Posting(
                reference_id(line, "AccountRef"),
                -sign * decimal(line, "Amount"),
                customer,
                reference_id(line, "ItemRef"),
                sign * decimal(line, "Quantity") if "Quantity" in line else ZERO,
                reference_id(line, "ClassRef") or class_id,
                line.get("Desc", ""),
                line.get("TxnLineID", ""),
            )
        yield from tax_postings(record, sign)

    def stock(self, record: Record, lines: Iterable[Fields]) -> tuple[StockMove, ...]:
        """Return the stock moves of the lines."""
        customer, class_id = reference_id(record.fields, "CustomerRef"), reference_id(record.fields, "ClassRef")
        return tuple(
            stock_move(
                Role.SALE,
                line["Stock"],
                -self.sign * decimal(line["Stock"], "Quantity"),
                entity=customer,
                class_id=reference_id(line, "ClassRef") or class_id,
            )
            for line in lines
            if "Stock" in line
        )


def times(line: Fields, rate: Decimal) -> Decimal:
    """Return quantity times rate, in cents. A line without a quantity has the quantity 1."""
    return rounded(rate * decimal(line, "Quantity")) if "Quantity" in line else rounded(rate)


class EstimateRules(SalesRules):
    """Estimates post nothing."""


class SalesOrderRules(SalesRules):
    """Sales orders post nothing. Invoices fulfil them."""

    def derived(self, books: Books, record: Record) -> Fields:
        """Return the invoiced quantity of each line, and whether the order is fully invoiced."""
        quantities = fulfilled(books, record)

        def invoiced(line: Fields) -> Fields:
            if "ItemRef" not in line:
                return line
            return {**line, "Invoiced": number_text(quantities.get(line["TxnLineID"], ZERO), 0)}

        key = "SalesOrderLineRet|SalesOrderLineGroupRet"
        return {
            **super().derived(books, record),
            "IsFullyInvoiced": "true" if is_fulfilled(books, record) else "false",
            key: shown_lines(record.fields.get(key, ()), invoiced),
        }


def shown_lines(lines: list[Any], change: Callable[[Fields], Fields]) -> list[Any]:
    """Return the lines with `change` applied to each, including those in groups."""
    result = []
    for name, line in lines:
        inner = group_lines(name, line)
        if inner is None:
            result.append([name, change(line)])
        else:
            result.append([name, {**line, inner_line_name(name): [change(member_line) for member_line in inner]}])
    return result


class InvoiceRules(SalesRules):
    """Invoices debit accounts receivable. Payments and credits settle them."""

    sign = 1

    def complete(self, books: Books, draft: Draft) -> None:
        """Choose the receivables account, and check the credits that the request applies."""
        super().complete(books, draft)
        if "SetCredit" in draft.extra:
            draft.fields["SetCredit"] = draft.extra["SetCredit"]
            check_credits(books, draft.fields["SetCredit"], CREDITS, decimal(draft.fields, "TotalAmount"), draft)
        draft.fields.setdefault("ARAccountRef", special_account(books, "AccountsReceivable"))

    def effects(self, books: Books, record: Record) -> Effects:  # noqa: ARG002 - all that posts stands in the record
        """Debit receivables with the total, credit income with each line, and move the stock."""
        if record.fields.get("IsPending") == "true":
            return NOTHING
        lines = list(flat_lines(record))
        return Effects(
            (receivable(record, 1), *self.income(record, lines)),
            (*order_links(record, lines), *credit_links(record)),
            self.stock(record, lines),
        )

    def derived(self, books: Books, record: Record) -> Fields:
        """Return what was paid and what is open."""
        return {**super().derived(books, record), **open_state(books, record), **self._discount(books, record)}

    def _discount(self, books: Books, record: Record) -> Fields:
        last_day, percent = early_payment(books, reference_id(record.fields, "TermsRef"), record.fields["TxnDate"])
        if not last_day:
            return {}
        discount = percent_of(decimal(record.fields, "TotalAmount"), percent)
        return {"SuggestedDiscountAmount": money(discount), "SuggestedDiscountDate": last_day}


def receivable(record: Record, sign: int) -> Posting:
    """Return the posting of a form's total to accounts receivable."""
    fields = record.fields
    return Posting(
        reference_id(fields, "ARAccountRef"),
        sign * decimal(fields, "TotalAmount"),
        reference_id(fields, "CustomerRef"),
        class_id=reference_id(fields, "ClassRef"),
        memo=fields.get("Memo", ""),
        is_open=True,
    )


class SalesReceiptRules(SalesRules):
    """Sales receipts debit the account that the money goes to."""

    sign = 1

    def complete(self, books: Books, draft: Draft) -> None:
        """Deposit the money to undeposited funds unless the request names an account."""
        super().complete(books, draft)
        draft.fields.setdefault("DepositToAccountRef", special_account(books, "UndepositedFunds"))

    def effects(self, books: Books, record: Record) -> Effects:  # noqa: ARG002
        """Debit the account for deposits with the total, credit income with each line, and move the stock."""
        fields = record.fields
        if fields.get("IsPending") == "true":
            return NOTHING
        total, customer = decimal(fields, "TotalAmount"), reference_id(fields, "CustomerRef")
        money_in = Posting(reference_id(fields, "DepositToAccountRef"), total, customer, memo=fields.get("Memo", ""))
        lines = list(flat_lines(record))
        return Effects((money_in, *self.income(record, lines)), (), self.stock(record, lines))


class CreditMemoRules(SalesRules):
    """Credit memos reverse the postings of an invoice. Their unused amount can settle invoices."""

    sign = -1

    def complete(self, books: Books, draft: Draft) -> None:
        """Choose the receivables account."""
        super().complete(books, draft)
        draft.fields.setdefault("ARAccountRef", special_account(books, "AccountsReceivable"))

    def effects(self, books: Books, record: Record) -> Effects:  # noqa: ARG002
        """Credit receivables with the total, debit income with each line, and put the stock back."""
        if record.fields.get("IsPending") == "true":
            return NOTHING
        lines = list(flat_lines(record))
        return Effects((receivable(record, -1), *self.income(record, lines)), (), self.stock(record, lines))

    def derived(self, books: Books, record: Record) -> Fields:
        """Return what is left of the credit."""
        return {**super().derived(books, record), "CreditRemaining": money(books.ledger.open_amount(record.id))}
