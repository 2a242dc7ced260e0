"""Payments from customers and to vendors, the transactions that they settle, discounts, credits and refunds."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from simulator.basics.errors import RequestError
from simulator.books.ledger import SETTLES, ZERO, Effects, Link, Posting
from simulator.books.records import reference_id
from simulator.rules.common import (
    TransactionRules,
    check_series,
    decimal,
    find_transaction,
    next_check_number,
    no_transaction,
    refused,
    special_account,
)
from simulator.rules.requirements import not_saved
from simulator.rules.settling import (
    CREDITS,
    PAY_TOO_MUCH,
    check_credits,
    check_links,
    open_entity,
    open_transactions,
    top_of,
)
from simulator.schema.values import money

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal

    from simulator.books.kinds import Kind
    from simulator.books.records import Draft, Fields, Record
    from simulator.books.store import Books

RECEIVABLE = ("Invoice", "Charge", "JournalEntry", "Check")
PAYABLE = ("Bill", "JournalEntry")
_REDUCTIONS = ("DiscountAmount", "SetCredit")
"""What settles a debt without money."""


class SettlingRules(TransactionRules):
    """Payments: each settles other transactions of the same customer or vendor."""

    targets: ClassVar[tuple[str, ...]]
    credits: ClassVar[tuple[str, ...]]
    entity_field: ClassVar[str]
    total_field: ClassVar[str]
    sign: ClassVar[int]
    """1 if it settles debts of customers, -1 if it settles debts of the company."""

    def complete_applied(self, books: Books, draft: Draft) -> tuple[Decimal, Decimal]:
        """Complete and check the AppliedToTxn elements. Returns the paid amount, and all credits.

        "If none of these are specified, you will receive an error for an empty transaction" (Conductor's API reference
        on amount, discount and credits). Raises `RequestError` 3120, 3180 or 3210.
        """
        own = draft.before.id if draft.before is not None else ""
        paid = credited = ZERO
        seen: set[str] = set()
        for allocation in draft.fields.get("AppliedToTxnRet", ()):
            target = find_transaction(books, allocation["TxnID"], self.targets)
            if target.id in seen:
                raise refused("AppliedToTxnAdd TxnID", target.id, "A transaction can be named once only.")
            seen.add(target.id)
            if allocation.keys().isdisjoint({"Amount", "PaymentAmount", *_REDUCTIONS}):
                raise not_saved(draft, "The transaction is empty: it names no amount, discount or credit.")
            amount = decimal(allocation, "PaymentAmount" if "PaymentAmount" in allocation else "Amount")
            discount = decimal(allocation, "DiscountAmount")
            due = books.ledger.open_amount(target.id, without=own)
            if due <= 0 and not target.is_void:
                raise no_transaction(target.id)  # QuickBooks reports what is paid as "cannot be found" (Conductor)
            if self.sign * books.ledger.due(target.id) < 0:
                raise refused("AppliedToTxnAdd TxnID", target.id, "The transaction is a credit.")
            credit = check_credits(books, allocation.get("SetCredit", ()), self.credits, due, draft)
            if amount < 0 or discount < 0 or amount + discount + credit > due:
                raise refused("AppliedToTxnAdd payment amount", money(amount), PAY_TOO_MUCH)
            entity = open_entity(books, target)
            own_entity = draft.reference(self.entity_field)
            if entity and entity != own_entity and top_of(books, entity) != top_of(books, own_entity):
                raise refused("AppliedToTxnAdd TxnID", target.id, "It belongs to another customer or vendor.")
            allocation.pop("PaymentAmount", None)
            allocation["Amount"] = money(amount)
            allocation["EntityRef"] = {"ListID": entity or own_entity}
            if discount:
                allocation.setdefault("DiscountAccountRef", special_account(books, "UncategorizedIncome"))
            paid += amount
            credited += credit
        return paid, credited

    def add(self, books: Books, draft: Draft) -> Record:
        """Store the payment. Without an amount, link its credits to what they settle, and store nothing.

        Simplified: the response describes a payment with an id that no query finds.
        """
        rows = draft.fields.get("AppliedToTxnRet", ())
        is_paid = any(decimal(row, "Amount") or decimal(row, "DiscountAmount") for row in rows)
        if is_paid or decimal(draft.fields, self.total_field) or not any(row.get("SetCredit") for row in rows):
            return super().add(books, draft)
        for row in rows:
            target = books.transactions[row["TxnID"]]
            credits_ = [*target.fields.get("SetCredit", ()), *row.get("SetCredit", ())]
            books.change(target, {**target.fields, "SetCredit": credits_})
            check_links(books, target)
        return books.unsaved(draft.kind, draft.fields)

    def settlements(self, record: Record) -> Iterator[Link]:
        """Yield the links to the transactions that the payment, or a credit that it applies, settles."""
        for allocation in record.fields.get("AppliedToTxnRet", ()):
            yield Link(
                record.id,
                allocation["TxnID"],
                SETTLES,
                decimal(allocation, "Amount"),
                decimal(allocation, "DiscountAmount"),
                record.id,
            )
            for credit in allocation.get("SetCredit", ()):
                yield Link(
                    credit["CreditTxnID"], allocation["TxnID"], amount=decimal(credit, "AppliedAmount"), owner=record.id
                )

    def settling_postings(self, record: Record, account: str, total: Decimal) -> Iterator[Posting]:
        """Yield the postings to receivables or payables, and for discounts.

        Each transaction that is settled posts for its own customer, the rest for the customer of the payment.
        """
        rest = total
        for allocation in record.fields.get("AppliedToTxnRet", ()):
            amount, discount = decimal(allocation, "Amount"), decimal(allocation, "DiscountAmount")
            rest -= amount
            if amount or discount:
                entity = reference_id(allocation, "EntityRef")
                yield Posting(account, -self.sign * (amount + discount), entity, is_open=True)
            if discount:
                class_id = reference_id(allocation, "DiscountClassRef")
                yield Posting(reference_id(allocation, "DiscountAccountRef"), self.sign * discount, class_id=class_id)
        if rest:
            yield Posting(account, -self.sign * rest, reference_id(record.fields, self.entity_field), is_open=True)

    def shown_applied(self, books: Books, record: Record) -> list[Fields]:
        """Return the AppliedToTxnRet elements with the open amount of each transaction now."""
        shown = []
        for allocation in record.fields.get("AppliedToTxnRet", ()):
            target = books.transactions.get(allocation["TxnID"])
            if target is not None:
                linked = [
                    {
                        "TxnID": credit["CreditTxnID"],
                        "TxnType": credit_record.kind.name,
                        "TxnDate": credit_record.fields.get("TxnDate", ""),
                        "RefNumber": credit_record.fields.get("RefNumber", ""),
                        "LinkType": SETTLES,
                        "Amount": money(-decimal(credit, "AppliedAmount")),
                    }
                    for credit in allocation.get("SetCredit", ())
                    if (credit_record := books.transactions.get(credit["CreditTxnID"])) is not None
                ]
                shown.append({
                    **allocation,
                    "TxnType": target.kind.name,
                    "TxnDate": target.fields.get("TxnDate", ""),
                    "RefNumber": target.fields.get("RefNumber", ""),
                    "BalanceRemaining": money(books.ledger.open_amount(target.id)),
                    "LinkedTxn": linked,
                })  # fmt: skip
        return shown


class ReceivePaymentRules(SettlingRules):
    """Payments of customers."""

    targets = RECEIVABLE
    credits = CREDITS
    entity_field = "CustomerRef"
    total_field = "TotalAmount"
    sign = 1

    def complete(self, books: Books, draft: Draft) -> None:
        """Apply the payment to the invoices in the request, or to the oldest ones (IsAutoApply)."""
        super().complete(books, draft)
        fields = draft.fields
        if draft.extra.get("IsAutoApply") == "true" and "AppliedToTxnRet" not in draft.fields_set:
            fields["AppliedToTxnRet"] = self._oldest_first(books, draft, decimal(fields, "TotalAmount"))
        paid, _ = self.complete_applied(books, draft)
        fields.setdefault("TotalAmount", money(paid))
        if decimal(fields, "TotalAmount") < 0:
            raise refused("TotalAmount", fields["TotalAmount"], "The amount cannot be negative.")
        if paid > decimal(fields, "TotalAmount"):
            raise refused(
                "AppliedToTxnAdd payment amount",
                money(paid),
                "You cannot apply more than the amount of the payment.",
            )
        customer = books.lists.get(draft.reference("CustomerRef"))
        if customer is not None and draft.before is None and customer.fields.get("PreferredPaymentMethodRef"):
            fields.setdefault("PaymentMethodRef", customer.fields["PreferredPaymentMethodRef"])
        fields.setdefault("ARAccountRef", special_account(books, "AccountsReceivable"))
        fields.setdefault("DepositToAccountRef", special_account(books, "UndepositedFunds"))

    def next_ref_number(self, books: Books, draft: Draft) -> str:  # noqa: ARG002
        """Return an empty number, because a payment has the number of the customer's check."""
        return ""

    def _oldest_first(self, books: Books, draft: Draft, amount: Decimal) -> list[Fields]:
        """Choose the invoice of exactly this amount, else the oldest ones."""
        rows = open_transactions(books, draft.reference("CustomerRef"), ("Invoice", "Charge"))
        exact = [row for row in rows if row[1] == amount]
        applied = []
        for record, left in exact[:1] or rows:
            part = min(left, amount)
            if part > 0:
                applied.append({"TxnID": record.id, "PaymentAmount": money(part)})
                amount -= part
        return applied

    def effects(self, books: Books, record: Record) -> Effects:  # noqa: ARG002 - all that posts stands in the record
        """Debit undeposited funds, credit receivables, and settle the invoices that the payment names."""
        fields = record.fields
        total = decimal(fields, "TotalAmount")
        customer, account = reference_id(fields, "CustomerRef"), reference_id(fields, "ARAccountRef")
        received = Posting(
            reference_id(fields, "DepositToAccountRef"), total, customer, memo=fields.get("Memo", "")
        )  # fmt: skip
        return Effects(
            (received, *self.settling_postings(record, account, total)), tuple(self.settlements(record))
        )  # fmt: skip

    def derived(self, books: Books, record: Record) -> Fields:
        """Return the unused amounts of the payment and of the customer's credits."""
        return {
            "UnusedPayment": money(books.ledger.open_amount(record.id)),
            "UnusedCredits": money(self._unused_credits(books, record)),
            "AppliedToTxnRet": self.shown_applied(books, record),
        }

    def _unused_credits(self, books: Books, record: Record) -> Decimal:
        rows = open_transactions(books, reference_id(record.fields, "CustomerRef"), ("CreditMemo",))
        return sum((left for _, left in rows), ZERO)


class BillPaymentRules(SettlingRules):
    """Payments of bills."""

    targets = PAYABLE
    credits = ("VendorCredit", "JournalEntry")
    entity_field = "PayeeEntityRef"
    total_field = "Amount"
    sign = -1
    account_field: ClassVar[str]

    def complete(self, books: Books, draft: Draft) -> None:
        """Apply the payment to the bills in the request. After a discount or a credit alone, the rest is paid."""
        super().complete(books, draft)
        fields = draft.fields
        own = draft.before.id if draft.before is not None else ""
        for allocation in fields.get("AppliedToTxnRet", ()):
            is_reduced = not allocation.keys().isdisjoint(_REDUCTIONS)
            if is_reduced and "PaymentAmount" not in allocation and "Amount" not in allocation:
                credit = sum(
                    (decimal(set_credit, "AppliedAmount") for set_credit in allocation.get("SetCredit", ())), ZERO
                )
                due = (
                    books.ledger.open_amount(allocation["TxnID"], without=own)
                    - decimal(allocation, "DiscountAmount")
                    - credit
                )
                allocation["PaymentAmount"] = money(max(due, ZERO))
        paid, _ = self.complete_applied(books, draft)
        if not fields.get("AppliedToTxnRet") and draft.before is None:
            raise RequestError(3150, 'There is a missing element: "AppliedToTxnAdd".')
        fields["Amount"] = money(paid)
        fields.setdefault("APAccountRef", special_account(books, "AccountsPayable"))
        if "IsToBePrinted" in draft.kind.fields:
            fields.setdefault("IsToBePrinted", "false" if fields.get("RefNumber") else "true")
        vendor = books.lists.get(draft.reference("PayeeEntityRef"))
        if vendor is not None and "Address" in draft.kind.fields and vendor.fields.get("VendorAddress"):
            fields.setdefault("Address", vendor.fields["VendorAddress"])

    def next_ref_number(self, books: Books, draft: Draft) -> str:
        """Return an empty number for a check unless the request says that it is not to be printed."""
        if "IsToBePrinted" not in draft.kind.fields:
            return super().next_ref_number(books, draft)
        is_numbered = draft.fields.get("IsToBePrinted") == "false"
        return next_check_number(books, self.number_series(draft.kind, draft.fields), draft) if is_numbered else ""

    def effects(self, books: Books, record: Record) -> Effects:  # noqa: ARG002
        """Credit the account that pays, debit payables, and settle the bills."""
        fields = record.fields
        total, vendor = decimal(fields, "Amount"), reference_id(fields, "PayeeEntityRef")
        payable = reference_id(fields, "APAccountRef")
        paid = Posting(reference_id(fields, self.account_field), -total, vendor, memo=fields.get("Memo", ""))
        return Effects((paid, *self.settling_postings(record, payable, total)), tuple(self.settlements(record)))

    def derived(self, books: Books, record: Record) -> Fields:
        """Return the open amount of each bill."""
        return {"AppliedToTxnRet": self.shown_applied(books, record)}


class BillPaymentCheckRules(BillPaymentRules):
    """Bills paid by check."""

    account_field = "BankAccountRef"

    def number_series(self, kind: Kind, fields: Fields) -> str:  # noqa: ARG002
        """Return the series of the bank account, which it shares with other checks."""
        return check_series(fields, self.account_field)


class BillPaymentCreditCardRules(BillPaymentRules):
    """Bills paid by credit card."""

    account_field = "CreditCardAccountRef"


class RefundRules(TransactionRules):
    """Refunds of credits to a customer's credit card."""

    def complete(self, books: Books, draft: Draft) -> None:
        """Check that the credits have enough left. Raises `RequestError` 3120 or 3210."""
        super().complete(books, draft)
        fields = draft.fields
        own = draft.before.id if draft.before is not None else ""
        total = ZERO
        for allocation in fields.get("RefundAppliedToTxnRet", ()):
            credit = find_transaction(books, allocation["TxnID"], CREDITS)
            amount = decimal(allocation, "RefundAmount")
            if amount <= 0 or amount > books.ledger.open_amount(credit.id, without=own):
                raise refused("RefundAmount", money(amount), "You cannot refund more than the credit available.")
            total += amount
        fields["TotalAmount"] = money(total)
        fields.setdefault("ARAccountRef", special_account(books, "AccountsReceivable"))
        fields.setdefault("RefundFromAccountRef", special_account(books, "UndepositedFunds"))

    def effects(self, books: Books, record: Record) -> Effects:  # noqa: ARG002
        """Credit the account that pays, debit receivables, and use up the credits."""
        fields = record.fields
        total, customer = decimal(fields, "TotalAmount"), reference_id(fields, "CustomerRef")
        postings = (
            Posting(reference_id(fields, "RefundFromAccountRef"), -total, customer, memo=fields.get("Memo", "")),
            Posting(reference_id(fields, "ARAccountRef"), total, customer, is_open=True),
        )
        links = (
            Link(record.id, allocation["TxnID"], amount=decimal(allocation, "RefundAmount"), owner=record.id)
            for allocation in fields.get("RefundAppliedToTxnRet", ())
        )
        return Effects(postings, tuple(links))

    def derived(self, books: Books, record: Record) -> Fields:
        """Return the unused amount of each credit."""
        shown = []
        for allocation in record.fields.get("RefundAppliedToTxnRet", ()):
            credit = books.transactions.get(allocation["TxnID"])
            if credit is not None:
                shown.append({
                    **allocation,
                    "TxnType": credit.kind.name,
                    "TxnDate": credit.fields.get("TxnDate", ""),
                    "RefNumber": credit.fields.get("RefNumber", ""),
                    "CreditRemaining": money(books.ledger.open_amount(credit.id)),
                })  # fmt: skip
        return {"RefundAppliedToTxnRet": shown}
