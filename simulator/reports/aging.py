"""Aging reports: open amounts by the number of days since they were due."""

from __future__ import annotations

from collections import defaultdict
from datetime import date
from typing import TYPE_CHECKING

from simulator.books.ledger import SETTLES, ZERO
from simulator.reports.detail import Entry, write
from simulator.reports.selection import ALL_DAYS, Period, Selection
from simulator.reports.summary import write_tree
from simulator.reports.table import LABEL, Table, amount_column

if TYPE_CHECKING:
    from decimal import Decimal

    from simulator.books import Record

_BANDS = ("Current", "1 - 30", "31 - 60", "61 - 90", "> 90")
_DAYS_PER_BAND = 30


def _open_entries(selection: Selection, account_type: str, sign: int) -> list[Entry]:
    """Return the amounts that were open at the end of the period: debts are positive, credits negative."""
    books = selection.books
    accounts = {account.id for account in books["Account"] if account.fields.get("AccountType") == account_type}
    last = selection.period.last
    entries, seen = [], set()
    for record, posting in selection.accrual_postings(Period(ALL_DAYS.first, last)):
        if not posting.is_open or posting.account not in accounts or record.id in seen:
            continue
        seen.add(record.id)
        left = _open_on(selection, record, last)
        if left:
            due = sign * books.ledger.due(record.id)
            amount = left if due > 0 else -left
            entries.append(Entry(record, amount, posting, open_amount=amount))
    return entries


def _open_on(selection: Selection, record: Record, day: str) -> Decimal:
    """Return the amount that was open at the end of a day, before any later settlement."""
    books = selection.books
    left = books.ledger.open_amount(record.id)
    for link in books.ledger.links(record.id):
        if link.kind == SETTLES:
            other = books.transactions.get(link.target if link.source == record.id else link.source)
            by = books.transactions.get(link.owner)
            days = [transaction.fields.get("TxnDate", "") for transaction in (other, by) if transaction is not None]
            if other is not None and any(member > day for member in days):
                left += link.amount + link.discount
    return left


def _band(selection: Selection, entry: Entry) -> int:
    due = entry.record.fields.get("DueDate") or entry.day
    as_of = selection.books.clock.today().isoformat()
    if selection.request.findtext("ReportAgingAsOf") != "Today" and selection.period.last < "9999":
        as_of = selection.period.last
    days = (date.fromisoformat(as_of) - date.fromisoformat(due)).days
    if days <= 0 or entry.amount < 0:
        return 0
    return min((days - 1) // _DAYS_PER_BAND + 1, len(_BANDS) - 1)


def summary(selection: Selection, title: str, kind: str, account_type: str, sign: int) -> Table:
    """Return the open amount of each customer or vendor in each band of days."""
    width = len(_BANDS) + 1
    sums: dict[str, list[Decimal]] = defaultdict(lambda: [ZERO] * width)
    for entry in _open_entries(selection, account_type, sign):
        row = sums[entry.posting.entity if entry.posting is not None else ""]
        row[_band(selection, entry)] += entry.amount
        row[-1] += entry.amount
    table = Table(
        title, selection.period.as_of(), [LABEL, *map(amount_column, _BANDS), amount_column("TOTAL", "Total")]
    )
    total = write_tree(table, selection.books[kind], sums, kind.lower(), width)
    table.total(["TOTAL", *total])
    return table


def detail(selection: Selection, title: str, account_type: str, sign: int, *, by_customer: bool = False) -> Table:
    """Return the open items in bands of days, or the overdue items of each customer."""
    entries = _open_entries(selection, account_type, sign)
    columns = ("TxnType", "Date", "RefNumber", "PONumber", "Name", "Terms", "DueDate", "Aging", "OpenBalance")
    if by_customer:
        lists = selection.books.lists
        overdue = [entry for entry in entries if _band(selection, entry)]

        def customer(entry: Entry) -> str:
            return lists[entry.posting.entity].full_name if entry.posting is not None and entry.posting.entity else ""

        return write(selection, title, overdue, columns, customer, subtitle=selection.period.as_of())
    return write(
        selection,
        title,
        entries,
        columns,
        lambda entry: _BANDS[_band(selection, entry)],
        subtitle=selection.period.as_of(),
        order=_BANDS,
    )
