"""Money between the company's own accounts: deposits, transfers, and payments of sales tax."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.basics.errors import RequestError
from simulator.books.ledger import DEPOSITED, ZERO, Effects, Link, Posting
from simulator.books.records import reference_id
from simulator.rules.common import (
    OPEN_TYPES,
    TransactionRules,
    account_type,
    check_series,
    decimal,
    find_transaction,
    next_check_number,
    refused,
    special_account,
)
from simulator.rules.settling import received
from simulator.schema.values import money

if TYPE_CHECKING:
    from decimal import Decimal

    from simulator.books.kinds import Kind
    from simulator.books.records import Draft, Fields, Record
    from simulator.books.store import Books

DEPOSITABLE = ("ReceivePayment", "SalesReceipt")
"""The transactions that a deposit can contain."""

MAX_CHECK_NUMBER = 11
"""The length of a check number on a deposit. The number of a payment can be longer."""


def waiting_amount(books: Books, record: Record, *, own: str = "") -> Decimal:
    """Return the amount of a payment in undeposited funds, or zero if a deposit other than `own` contains it."""
    account = books.lists.get(reference_id(record.fields, "DepositToAccountRef"))
    if account is None or account.fields.get("AccountType") == "Bank":
        return ZERO
    for link in books.ledger.links(record.id):
        if link.kind == DEPOSITED and link.target == record.id and link.source != own:
            return ZERO
    return received(books, record)


class DepositRules(TransactionRules):
    """Deposits move payments from undeposited funds, and money from other accounts, to a bank account."""

    def complete(self, books: Books, draft: Draft) -> None:
        """Complete the lines from their payments. Raises `RequestError` 3120 or 3210."""
        super().complete(books, draft)
        fields = draft.fields
        total = ZERO
        for line in fields.get("DepositLineRet", ()):
            self._complete_line(books, draft, line)
            total += decimal(line, "Amount")
        total -= decimal(fields.get("CashBackInfoRet", {}), "Amount")
        if total < 0:
            raise refused("DepositTotal", money(total), "A deposit cannot be negative.")
        fields["DepositTotal"] = money(total)

    def _complete_line(self, books: Books, draft: Draft, line: Fields) -> None:
        payment_id = line.pop("PaymentTxnID", line.get("TxnID", ""))
        line["IsOpen"] = "false"
        if not payment_id:
            line.setdefault("Amount", "0.00")
            kind = account_type(books, reference_id(line, "AccountRef"))
            line["IsOpen"] = "true" if kind in OPEN_TYPES else "false"
            return
        payment = find_transaction(books, payment_id, DEPOSITABLE)
        amount = waiting_amount(books, payment, own=draft.before.id if draft.before is not None else "")
        if not amount:
            raise refused("PaymentTxnID", payment_id, "The payment has been deposited already.")
        paid = payment.fields
        line |= {
            "TxnType": payment.kind.name,
            "TxnID": payment.id,
            "AccountRef": paid["DepositToAccountRef"],
            "Amount": money(amount),
        }
        number = line.pop("OverrideCheckNumber", "") or paid.get("CheckNumber") or paid.get("RefNumber", "")
        for name, value in (
            ("EntityRef", paid.get("CustomerRef")),
            ("Memo", line.pop("OverrideMemo", "") or paid.get("Memo")),
            ("CheckNumber", number[:MAX_CHECK_NUMBER]),
            ("PaymentMethodRef", paid.get("PaymentMethodRef")),
            ("ClassRef", line.pop("OverrideClassRef", None)),
        ):
            if value:
                line[name] = value

    def effects(self, books: Books, record: Record) -> Effects:  # noqa: ARG002 - all that posts stands in the record
        """Debit the bank account and the cash back, credit the account of each line."""
        fields = record.fields
        bank = reference_id(fields, "DepositToAccountRef")
        postings = [Posting(bank, decimal(fields, "DepositTotal"), memo=fields.get("Memo", ""))]
        links = []
        for line in fields.get("DepositLineRet", ()):
            entity, memo = reference_id(line, "EntityRef"), line.get("Memo", "")
            postings.append(
                Posting(
                    reference_id(line, "AccountRef"),
                    -decimal(line, "Amount"),
                    entity,
                    class_id=reference_id(line, "ClassRef"),
                    memo=memo,
                    line_id=line.get("TxnLineID", ""),
                    is_open=line.get("IsOpen") == "true",
                )
            )
            if "TxnID" in line:
                links.append(Link(record.id, line["TxnID"], DEPOSITED, decimal(line, "Amount")))
        cash = fields.get("CashBackInfoRet")
        if cash:
            postings.append(
                Posting(reference_id(cash, "AccountRef"), decimal(cash, "Amount"), memo=cash.get("Memo", ""))
            )
        return Effects(tuple(postings), tuple(links))


class TransferRules(TransactionRules):
    """Transfers between two accounts."""

    def complete(self, books: Books, draft: Draft) -> None:
        """Check that there are two accounts. Raises `RequestError` 3150 or 3210."""
        super().complete(books, draft)
        fields = draft.fields
        for name in ("TransferFromAccountRef", "TransferToAccountRef", "Amount"):
            if name not in fields:
                raise RequestError(3150, f'There is a missing element: "{name}".')
        if fields["TransferFromAccountRef"] == fields["TransferToAccountRef"]:
            name = books.lists[draft.reference("TransferToAccountRef")].full_name
            raise refused("TransferToAccountRef", name, "The two accounts of a transfer must differ.")

    def effects(self, books: Books, record: Record) -> Effects:  # noqa: ARG002
        """Credit one account and debit the other."""
        fields = record.fields
        amount, class_id, memo = decimal(fields, "Amount"), reference_id(fields, "ClassRef"), fields.get("Memo", "")
        source, target = (reference_id(fields, f"Transfer{end}AccountRef") for end in ("From", "To"))
        return Effects(
            (
                Posting(source, -amount, class_id=class_id, memo=memo),
                Posting(target, amount, class_id=class_id, memo=memo),
            )
        )

    def derived(self, books: Books, record: Record) -> Fields:
        """Return the balances of the two accounts now."""
        return {
            f"{end}AccountBalance": money(
                books.ledger.accounts.get(reference_id(record.fields, f"Transfer{end}AccountRef"), ZERO)
            )
            for end in ("From", "To")
        }


class SalesTaxPaymentRules(TransactionRules):
    """Checks that pay sales tax to an agency."""

    def next_ref_number(self, books: Books, draft: Draft) -> str:
        """Return the number after the last check of the account, '' for a check that is to be printed."""
        return next_check_number(books, self.number_series(draft.kind, draft.fields), draft)

    def number_series(self, kind: Kind, fields: Fields) -> str:  # noqa: ARG002
        """Return the series of the bank account, which it shares with other checks."""
        return check_series(fields, "BankAccountRef")

    def complete(self, books: Books, draft: Draft) -> None:
        """Add up the lines. A tax is paid to its own agency. Raises `RequestError` 3150 or 3210.

        The payee "must match the tax vendor associated with the sales-tax items in the payment lines" (Conductor).
        """
        super().complete(books, draft)
        fields = draft.fields
        lines = fields.get("SalesTaxPaymentCheckLineRet", ())
        if not lines:
            raise RequestError(3150, 'There is a missing element: "SalesTaxPaymentCheckLineAdd".')
        for line in lines:
            line["AccountRef"] = special_account(books, "SalesTaxPayable")
            tax = books.lists.get(reference_id(line, "ItemSalesTaxRef"))
            if tax is not None and tax.fields.get("TaxVendorRef") != fields["PayeeEntityRef"]:
                raise refused("ItemSalesTaxRef", tax.full_name, "The tax is owed to another agency.")
        fields["Amount"] = money(sum((decimal(line, "Amount") for line in lines), ZERO))

    def effects(self, books: Books, record: Record) -> Effects:  # noqa: ARG002
        """Credit the bank account, debit sales tax payable."""
        fields = record.fields
        agency = reference_id(fields, "PayeeEntityRef")
        paid = Posting(
            reference_id(fields, "BankAccountRef"), -decimal(fields, "Amount"), agency, memo=fields.get("Memo", "")
        )
        taxes = (
            Posting(
                reference_id(line, "AccountRef"), decimal(line, "Amount"), agency, reference_id(line, "ItemSalesTaxRef")
            )
            for line in fields.get("SalesTaxPaymentCheckLineRet", ())
        )
        return Effects((paid, *taxes))
