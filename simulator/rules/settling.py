"""Open amounts: the checks before a transaction settles others, and the amounts that are left.

The links are checked after each change, on the result: no transaction is settled by more than its amount, a link stays
within one customer or vendor and one account, and a deposit has its payment's amount. So one rule holds for every kind
and every way to change it. A change that breaks a link is refused with 3210, because a silent release would change
payments that the request does not name. A deletion or a void releases links. Simplified: QuickBooks releases some links
that are protected here, and asks its user.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.books.ledger import BY_QUANTITY, DEPOSITED, NOTHING, SETTLES, ZERO, Link
from simulator.books.records import reference_id
from simulator.rules.common import decimal, find_transaction, flat_lines, refused
from simulator.rules.orders import fulfilled
from simulator.schema.values import money

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from decimal import Decimal

    from simulator.books.records import Draft, Fields, Record
    from simulator.books.store import Books

CREDITS = ("CreditMemo", "ReceivePayment", "JournalEntry")
"""The transactions with which an invoice can be settled. A journal entry counts if it credits receivables."""

PAY_TOO_MUCH = "You cannot pay more than the amount due."


def open_state(books: Books, record: Record) -> Fields:
    """Return the paid and the open amount of an invoice or charge."""
    left = books.ledger.open_amount(record.id)
    return {
        "AppliedAmount": money(-books.ledger.settled(record.id)),
        "BalanceRemaining": money(left),
        "IsPaid": "true" if left <= 0 else "false",
    }


def check_credits(
    books: Books, applied: list[Fields], kinds: tuple[str, ...], limit: Decimal, draft: Draft | None
) -> Decimal:
    """Check the SetCredit elements of a request and return their sum. Raises `RequestError` 3120 or 3210.

    Each credit must have enough left, and their sum must not exceed `limit`, the amount to settle.
    """
    own = draft.before.id if draft is not None and draft.before is not None else ""
    total = ZERO
    used: dict[str, Decimal] = {}
    for set_credit in applied:
        amount = decimal(set_credit, "AppliedAmount")
        credit = find_transaction(books, set_credit["CreditTxnID"], kinds)
        used[credit.id] = used.get(credit.id, ZERO) + amount
        if amount < 0 or used[credit.id] > books.ledger.open_amount(credit.id, without=own):
            raise refused("SetCredit AppliedAmount", money(amount), "You cannot apply more than the credit available.")
        total += amount
    if total > limit:
        raise refused("SetCredit AppliedAmount", money(total), "You cannot apply more credit than the amount due.")
    return total


def credit_links(record: Record) -> Iterator[Link]:
    """Yield the links from the credits that settle a transaction without a payment."""
    for row in record.fields.get("SetCredit", ()):
        yield Link(row["CreditTxnID"], record.id, amount=decimal(row, "AppliedAmount"), owner=record.id)


def check_links(books: Books, record: Record, former: Fields | None = None) -> None:
    """Check that the links of a transaction that was added or changed are possible. Raises `RequestError` 3210.

    * No transaction is settled by more than its amount.
    * A credit settles a debt, of the same customer with its jobs or the same vendor, in the same account.
    * A deposit contains a payment with its whole amount.
    * An order keeps its customer or vendor and its fulfilled lines. `former` are the fields before the change.

    Simplified: QuickBooks releases some of these links after it has asked the user.
    """
    ledger = books.ledger
    own_links = ledger.effects[record.id].links if record.id in ledger.effects else ()
    links = {*ledger.links(record.id), *own_links}
    for link in links:
        check_link(books, link)
    for txn_id in {txn_id for link in links for txn_id in (link.source, link.target)}:
        check_settled(books, txn_id)
    if former is not None and any(link.kind == BY_QUANTITY and link.target == record.id for link in links):
        _check_order(books, record, former)


def _check_order(books: Books, order: Record, former: Fields) -> None:
    """Check that a changed order that is fulfilled in part still has its party and its fulfilled lines."""
    for name in ("CustomerRef", "VendorRef"):
        if order.fields.get(name) != former.get(name):
            raise refused(name, reference_id(order.fields, name), "The order is linked to other transactions.")
    ordered = {line["TxnLineID"]: decimal(line, "Quantity") for line in flat_lines(order)}
    for line_id, quantity in fulfilled(books, order).items():
        if line_id not in ordered:
            raise refused("TxnLineID", line_id, "Another transaction fulfils the line, so it cannot be removed.")
        if quantity > ordered[line_id]:
            books.assume("more_than_ordered")


def check_link(books: Books, link: Link) -> None:
    """Check that a link connects what it can connect. Raises `RequestError` 3210."""
    if not _is_live(books, link):
        return
    if link.kind == SETTLES:
        _check_parties(books, link)
    elif link.kind == DEPOSITED:
        _check_deposited(books, books.transactions[link.target], books.transactions[link.source])


def check_settled(books: Books, txn_id: str) -> None:
    """Check that the links of a transaction do not settle more than its amount. Raises `RequestError` 3210."""
    live = (link for link in books.ledger.links(txn_id) if link.kind == SETTLES and _is_live(books, link))
    settled = sum((link.amount + link.discount for link in live), ZERO)
    amount = abs(books.ledger.due(txn_id))
    if settled > amount:
        raise refused("Amount", money(amount), f"The transaction is linked to others with {money(settled)}.")


def _check_parties(books: Books, link: Link) -> None:
    """Check that the two transactions of a link have opposite open amounts of one party in one account."""
    ledger = books.ledger
    if (ledger.due(link.source) > 0) == (ledger.due(link.target) > 0):
        raise refused("TxnID", link.target, "A debt can be settled by a payment or a credit only.")
    source, target = (
        {(posting.account, top_of(books, posting.entity)) for posting in ledger.open_postings(txn_id)}
        for txn_id in (link.source, link.target)
    )
    if not source & target:
        raise refused("TxnID", link.source, "It belongs to another customer, vendor or account.")


def _is_posted(books: Books, txn_id: str) -> bool:
    """Return whether a transaction exists and is not void."""
    record = books.transactions.get(txn_id)
    return record is not None and not record.is_void


def _is_live(books: Books, link: Link) -> bool:
    return _is_posted(books, link.source) and _is_posted(books, link.target)


def _check_deposited(books: Books, record: Record, deposit: Record) -> None:
    """Check that a payment has the amount and the account with which a deposit contains it."""
    line = next((line for line in deposit.fields.get("DepositLineRet", ()) if line.get("TxnID") == record.id), None)
    if line is None:
        return
    account, amount = reference_id(record.fields, "DepositToAccountRef"), received(books, record)
    if (reference_id(line, "AccountRef"), decimal(line, "Amount")) != (account, amount):
        raise refused("TotalAmount", money(amount), "Remove the payment from its deposit first.")


def received(books: Books, record: Record) -> Decimal:
    """Return the amount that a payment brings into the account from which it is deposited.

    Costs of stock do not count, even if somebody keeps the stock in the same account.
    """
    account = reference_id(record.fields, "DepositToAccountRef")
    postings = books.ledger.effects.get(record.id, NOTHING).postings
    return sum((posting.amount for posting in postings if posting.account == account), ZERO)


_ROWS = {
    "AppliedToTxnRet": "TxnID",
    "ApplyCheckToTxnAdd": "TxnID",
    "RefundAppliedToTxnRet": "TxnID",
    "SetCredit": "CreditTxnID",
}
"""The fields with links that settle, and the field of a row that names the other transaction."""


def release_links(books: Books, record: Record) -> None:
    """Remove the links to a transaction that is about to be deleted or voided from the transactions that own them.

    A payment keeps its amount: what was applied to the transaction is unused again.
    """
    owners = {link.owner for link in books.ledger.links(record.id) if link.kind == SETTLES} - {record.id}
    for owner in (books.transactions[owner_id] for owner_id in sorted(owners) if owner_id in books.transactions):
        books.change(owner, _without(owner.fields, record.id))


def _without(fields: Fields, txn_id: str) -> Fields:
    """Return fields without the rows that link to a transaction, also within other rows."""
    kept = dict(fields)
    for name, key in _ROWS.items():
        if name in fields:
            kept[name] = [_without(row, txn_id) for row in fields[name] if row.get(key) != txn_id]
    return kept


def top_of(books: Books, entity: str) -> str:
    """Return the customer above all jobs, or the entity itself."""
    record = books.lists.get(entity)
    while record is not None and reference_id(record.fields, "ParentRef"):
        record = books.lists.get(reference_id(record.fields, "ParentRef"))
    return record.id if record is not None else entity


def open_entity(books: Books, record: Record) -> str:
    """Return the customer or vendor of a transaction's open amount."""
    return next((posting.entity for posting in books.ledger.open_postings(record.id)), "")


def open_transactions(books: Books, entity: str, kinds: tuple[str, ...], own: str = "") -> list[tuple[Record, Decimal]]:
    """Return the open transactions of a customer or vendor with their open amounts, oldest first."""
    records = [books.transactions[record_id] for record_id in books.users(entity) if record_id in books.transactions]
    records = [record for record in records if record.kind.name in kinds]
    rows = [(record, books.ledger.open_amount(record.id, without=own)) for record in records]
    return sorted(
        ((record, left) for record, left in rows if left > 0),
        key=lambda row: (row[0].fields.get("TxnDate", ""), row[0].number),
    )


def settle_any(books: Books, applied: Iterable[Fields], kinds: tuple[str, ...], own: str) -> Decimal:
    """Check that transactions have enough left for a check that is applied to them. Return the sum."""
    total = ZERO
    for allocation in applied:
        target = find_transaction(books, allocation["TxnID"], kinds)
        left = books.ledger.open_amount(target.id, without=own)
        allocation.setdefault("Amount", money(left))
        if decimal(allocation, "Amount") > left:
            raise refused("ApplyCheckToTxnAdd amount", allocation["Amount"], PAY_TOO_MUCH)
        total += decimal(allocation, "Amount")
    return total
