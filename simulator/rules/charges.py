"""Statement charges: invoices of one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.books.costing import Role
from simulator.books.ledger import ZERO, Effects, Posting
from simulator.books.records import reference_id
from simulator.rules.common import TransactionRules, decimal, special_account
from simulator.rules.items import forget_computed, is_stock, item_of, note_computed, sales_facts, stock_move
from simulator.rules.sales import SalesRules, receivable, times
from simulator.rules.settling import credit_links, open_state
from simulator.schema.values import money

if TYPE_CHECKING:
    from simulator.books.costing import StockMove
    from simulator.books.records import Draft, Fields, Record
    from simulator.books.store import Books


class ChargeRules(SalesRules):
    """Statement charges: invoices of one line."""

    sign = 1

    def complete(self, books: Books, draft: Draft) -> None:
        """Price the item and choose the accounts."""
        TransactionRules.complete(self, books, draft)
        fields = draft.fields
        forget_computed(fields)
        item = item_of(books, fields)
        former = set(fields)
        if item is not None:
            facts = sales_facts(item)
            if facts.get("Desc"):
                fields.setdefault("Desc", facts["Desc"])
            self.price(books, draft, fields, item, ZERO)
            note_computed(fields, former)
            if is_stock(item):
                self.take_stock(books, fields, item)
            else:
                fields.pop("Stock", None)
        fields.setdefault("Amount", money(times(fields, decimal(fields, "Rate"))))
        account = fields.get("OverrideItemAccountRef") or draft.extra.get("OverrideItemAccountRef")
        if account is None and item is not None:
            account = sales_facts(item).get("AccountRef")
        fields["AccountRef"] = account or special_account(books, "UncategorizedIncome")
        fields["TotalAmount"] = fields["Amount"]
        fields.setdefault("ARAccountRef", special_account(books, "AccountsReceivable"))
        fields.setdefault("DueDate", fields["TxnDate"])

    def effects(self, books: Books, record: Record) -> Effects:  # noqa: ARG002
        """Debit receivables, credit income."""
        fields = record.fields
        customer, amount = reference_id(fields, "CustomerRef"), decimal(fields, "Amount")
        item, class_id = reference_id(fields, "ItemRef"), reference_id(fields, "ClassRef")
        quantity = decimal(fields, "Quantity")
        postings = (
            receivable(record, 1),
            Posting(
                reference_id(fields, "AccountRef"), -amount, customer, item, quantity, class_id, fields.get("Desc", "")
            ),
        )
        moves: tuple[StockMove, ...] = ()
        if "Stock" in fields:
            sold = -decimal(fields["Stock"], "Quantity")
            moves = (stock_move(Role.SALE, fields["Stock"], sold, entity=customer, class_id=class_id),)
        return Effects(postings, tuple(credit_links(record)), moves)

    def derived(self, books: Books, record: Record) -> Fields:
        """Return the paid and the open amount."""
        return {**TransactionRules.derived(self, books, record), **open_state(books, record)}
