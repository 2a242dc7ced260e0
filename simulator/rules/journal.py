"""Journal entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.books.ledger import ZERO, Effects, Posting
from simulator.books.records import reference_id
from simulator.rules.common import OPEN_TYPES, TransactionRules, account_type, decimal
from simulator.rules.requirements import not_saved
from simulator.rules.settling import credit_links

if TYPE_CHECKING:
    from simulator.books.records import Draft, Record
    from simulator.books.store import Books

_SIGNS = {"JournalDebitLine": 1, "JournalCreditLine": -1}


class JournalEntryRules(TransactionRules):
    """Journal entries: their debits equal their credits."""

    def complete(self, books: Books, draft: Draft) -> None:
        """Check that the entry balances. Raises `RequestError` 3180."""
        super().complete(books, draft)
        for flag in ("IsAdjustment", "IsHomeCurrencyAdjustment", "IsAmountsEnteredInHomeCurrency"):
            draft.fields.setdefault(flag, "false")
        total = ZERO
        open_lines = 0
        for name, line in draft.lines():
            if decimal(line, "Amount") < 0:
                raise not_saved(draft, "The amounts of debits and credits cannot be negative.")
            if "AccountRef" not in line:
                continue
            kind = account_type(books, reference_id(line, "AccountRef"))
            line["IsOpen"] = "true" if kind in OPEN_TYPES else "false"
            open_lines += kind in OPEN_TYPES
            total += _SIGNS[name] * decimal(line, "Amount")
        if open_lines > 1:
            raise not_saved(draft, "Only one line can be to accounts receivable or accounts payable.")
        if total:
            raise not_saved(draft, "The transaction is not in balance: its debits must equal its credits.")

    def effects(self, books: Books, record: Record) -> Effects:  # noqa: ARG002 - all that posts stands in the record
        """Debit and credit the accounts of the lines."""
        return Effects(
            tuple(
                Posting(
                    reference_id(line, "AccountRef"),
                    _SIGNS[name] * decimal(line, "Amount"),
                    reference_id(line, "EntityRef"),
                    class_id=reference_id(line, "ClassRef"),
                    memo=line.get("Memo", ""),
                    line_id=line.get("TxnLineID", ""),
                    is_open=line.get("IsOpen") == "true",
                )
                for name, line in record.lines()
                if "AccountRef" in line
            ),
            tuple(credit_links(record)),
        )
