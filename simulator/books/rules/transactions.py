"""Rules that all transactions share, and those of sales and of payments."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING

from simulator.books.ledger import ZERO, Effects, Link, Posting
from simulator.books.records import reference_id
from simulator.books.rules import Rules, rules_for
from simulator.schema.values import money, number_text

if TYPE_CHECKING:
    from simulator.books.records import Draft, Fields, Record
    from simulator.books.store import Books

CENT = Decimal("0.01")


def decimal(fields: Fields, name: str) -> Decimal:
    """Return a number of a record, 0 without one."""
    return Decimal(fields.get(name) or "0")


def rounded(amount: Decimal) -> Decimal:
    """Round to cents, half up, as QuickBooks does."""
    return amount.quantize(CENT, ROUND_HALF_UP)


def account_of_type(books: Books, account_type: str) -> str:
    """Return the id of the first account of a type; '' when there is none."""
    return next((each.id for each in books["Account"] if each.fields.get("AccountType") == account_type), "")


@rules_for("transaction")
class TransactionRules(Rules):
    """What all transactions have in common."""

    def complete(self, books: Books, draft: Draft) -> None:
        """Date the transaction today, number it and its lines."""
        if "TxnDate" in draft.kind.fields:
            draft.fields.setdefault("TxnDate", books.clock.today().isoformat())
        if "RefNumber" in draft.kind.fields and draft.before is None:
            draft.fields.setdefault("RefNumber", self.next_ref_number(books, draft))
        for _, line in draft.lines():
            line.setdefault("TxnLineID", books.new_line_id())

    def next_ref_number(self, books: Books, draft: Draft) -> str:
        """Return the number after the highest one of the kind."""
        return str(1001 + len(books[draft.kind.name]))

    def derived(self, books: Books, record: Record) -> Fields:
        """Return the links to other transactions."""
        if "LinkedTxn" not in record.kind.fields:
            return {}
        linked = []
        for link in books.ledger.links(record.id):
            other = books.transaction(link.target if link.source == record.id else link.source)
            if other is not None:
                linked.append({
                    "TxnID": other.id,
                    "TxnType": other.kind.name,
                    "TxnDate": other.fields.get("TxnDate", ""),
                    "RefNumber": other.fields.get("RefNumber", ""),
                    "LinkType": link.kind,
                    "Amount": money(-link.amount),
                })  # fmt: skip
        return {"LinkedTxn": linked}


def item_price(item: Record) -> Decimal:
    """Return the sales price of an item, 0 without one."""
    fields = item.fields
    for holder, name in (("SalesOrPurchase", "Price"), ("SalesAndPurchase", "SalesPrice")):
        if holder in fields:
            return decimal(fields[holder], name)
    return decimal(fields, "SalesPrice")


def item_description(item: Record) -> str:
    """Return the sales description of an item, '' without one."""
    fields = item.fields
    return str(
        fields.get("SalesDesc")
        or fields.get("SalesOrPurchase", {}).get("Desc")
        or fields.get("SalesAndPurchase", {}).get("SalesDesc")
        or fields.get("ItemDesc")
        or ""
    )


def income_account(books: Books, line: Fields) -> str:
    """Return the id of the account that a sales line posts to."""
    item = books.lists.get(reference_id(line, "ItemRef"))
    if item is not None:
        fields = item.fields
        for holder, name in (
            (fields.get("SalesOrPurchase", {}), "AccountRef"),
            (fields.get("SalesAndPurchase", {}), "IncomeAccountRef"),
            (fields, "IncomeAccountRef"),
        ):
            if name in holder:
                return reference_id(holder, name)
    return account_of_type(books, "Income")


@rules_for("SalesOrder", "Estimate")
class SalesRules(TransactionRules):
    """Forms with sales lines. Orders and estimates post nothing."""

    template = "Custom Sales Order"

    def complete(self, books: Books, draft: Draft) -> None:
        """Complete the lines from their items and add up."""
        super().complete(books, draft)
        fields = draft.fields
        for _, line in draft.lines():
            self.complete_line(books, draft, line)
        total = sum((decimal(line, "Amount") for _, line in draft.lines()), ZERO)
        template = books.named(self.template, ("Template",))
        if template is not None:
            fields.setdefault("TemplateRef", template.reference())
        for name, value in (
            ("Subtotal", money(total)),
            ("SalesTaxPercentage", "0.00"),
            ("SalesTaxTotal", "0.00"),
            ("TotalAmount", money(total)),
        ):
            if name in draft.kind.fields:
                fields[name] = value
        for name, value in (
            ("IsActive", "true"),
            ("IsManuallyClosed", "false"),
            ("IsFullyInvoiced", "false"),
            ("IsPending", "false"),
            ("IsToBePrinted", "true"),
            ("IsToBeEmailed", "false"),
        ):
            if name in draft.kind.fields:
                fields.setdefault(name, value)

    def complete_line(self, books: Books, draft: Draft, line: Fields) -> None:
        """Fill in a line from its item: description, rate, tax code; the amount is quantity times rate."""
        item = books.lists.get(reference_id(line, "ItemRef"))
        if item is None:
            return
        model = draft.kind.fields[f"{draft.kind.name}LineRet"].content
        line.setdefault("Desc", item_description(item))
        quantity = decimal(line, "Quantity") if "Quantity" in line else Decimal(1)
        line.setdefault("Quantity", "1")
        if "Amount" in line and "Rate" not in line and quantity:
            line["Rate"] = number_text((decimal(line, "Amount") / quantity).quantize(Decimal("0.00001")), 2)
        line.setdefault("Rate", number_text(item_price(item), 2))
        line.setdefault("Amount", money(rounded(quantity * decimal(line, "Rate"))))
        if "SalesTaxCodeRef" in item.fields:
            line.setdefault("SalesTaxCodeRef", item.fields["SalesTaxCodeRef"])
        for name, value in (("Invoiced", "0"), ("IsManuallyClosed", "false")):
            if name in model:
                line.setdefault(name, value)


@rules_for("Invoice")
class InvoiceRules(SalesRules):
    """Invoices post to accounts receivable and to income; payments and credits settle them."""

    template = "Intuit Product Invoice"

    def complete(self, books: Books, draft: Draft) -> None:
        """Choose the receivables account, and keep the links to orders: they are effects of the invoice."""
        super().complete(books, draft)
        if "LinkToTxnID" in draft.extra:
            draft.fields["LinkToTxnID"] = draft.extra["LinkToTxnID"]
        account = account_of_type(books, "AccountsReceivable")
        if account:
            draft.fields.setdefault("ARAccountRef", {"ListID": account})

    def effects(self, books: Books, record: Record) -> Effects:
        """Debit receivables with the total, credit income with each line."""
        customer = reference_id(record.fields, "CustomerRef")
        postings = []
        total = ZERO
        for _, line in record.lines():
            amount = decimal(line, "Amount")
            if amount:
                total += amount
                item = reference_id(line, "ItemRef")
                line_id = line.get("TxnLineID", "")
                account = income_account(books, line)
                postings.append(Posting(account, -amount, customer, item, decimal(line, "Quantity"), line_id=line_id))
        account = reference_id(record.fields, "ARAccountRef") or account_of_type(books, "AccountsReceivable")
        links = tuple(Link(record.id, order, "QUANTYPE", total) for order in record.fields.get("LinkToTxnID", ()))
        return Effects((Posting(account, total, customer), *postings), links)

    def derived(self, books: Books, record: Record) -> Fields:
        """Return what was paid and what is open."""
        total = sum((decimal(line, "Amount") for _, line in record.lines()), ZERO)
        settled = books.ledger.settled(record.id)
        return {
            **super().derived(books, record),
            "Subtotal": money(total),
            "AppliedAmount": money(-settled),
            "BalanceRemaining": money(total - settled),
            "IsPaid": "true" if settled >= total else "false",
        }


@rules_for("ReceivePayment")
class ReceivePaymentRules(TransactionRules):
    """Payments of customers."""

    def effects(self, books: Books, record: Record) -> Effects:
        """Debit undeposited funds, credit receivables; settle the invoices it is applied to."""
        fields = record.fields
        customer, amount = reference_id(fields, "CustomerRef"), decimal(fields, "TotalAmount")
        receivable = reference_id(fields, "ARAccountRef") or account_of_type(books, "AccountsReceivable")
        deposit = reference_id(fields, "DepositToAccountRef") or account_of_type(books, "OtherCurrentAsset")
        links = tuple(
            Link(record.id, each["TxnID"], "AMTTYPE", decimal(each, "PaymentAmount"), decimal(each, "DiscountAmount"))
            for each in fields.get("AppliedToTxnRet", ())
        )
        return Effects((Posting(deposit, amount), Posting(receivable, -amount, customer)), links)
