"""Reports for tax returns: the lines of the income tax form, and the payments that count for form 1099."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from simulator.books.accounts import BALANCE_TYPES
from simulator.books.ledger import ZERO
from simulator.books.records import reference_id
from simulator.reports.detail import posting_entries, write
from simulator.reports.table import LABEL, Table, amount_column
from simulator.requests.company import FORM_1099

if TYPE_CHECKING:
    from decimal import Decimal

    from simulator.books import Record
    from simulator.reports.detail import Entry
    from simulator.reports.selection import Selection

_CREDIT_TYPES = {
    "AccountsPayable",
    "CreditCard",
    "Equity",
    "Income",
    "LongTermLiability",
    "OtherCurrentLiability",
    "OtherIncome",
}
_NO_LINE = {True: "Tax Line Unassigned (balance sheet)", False: "Tax Line Unassigned (income/expense)"}
"""The heading of accounts without a tax line, by whether they belong to the balance sheet."""

_COLUMNS = ("TxnType", "Date", "RefNumber", "Name", "Memo", "Account", "Amount")


def _tax_line(account: Record) -> str:
    line = account.fields.get("TaxLineInfoRet", {}).get("TaxLineName", "")
    return str(line or _NO_LINE[account.fields.get("AccountType") in BALANCE_TYPES])


def income_tax_summary(selection: Selection) -> Table:
    """Return the sum of each line of the income tax form."""
    sums: dict[str, Decimal] = defaultdict(lambda: ZERO)
    for account_id, amount in selection.sums().items():
        account = selection.books.lists[account_id]
        sign = -1 if account.fields.get("AccountType") in _CREDIT_TYPES else 1
        sums[_tax_line(account)] += sign * amount
    table = Table("Income Tax Summary", selection.period.title(), [LABEL, amount_column("TOTAL", "Total")])
    for line in sorted(sums, key=lambda line: (line in _NO_LINE.values(), line)):
        table.data([line, sums[line]], "label", line)
    return table


def income_tax_detail(selection: Selection) -> Table:
    """Return the postings behind each line of the income tax form."""
    lists = selection.books.lists

    def line_of(entry: Entry) -> str:
        return _tax_line(lists[entry.posting.account]) if entry.posting is not None else ""

    entries = posting_entries(selection, lambda _record, _posting: True)
    return write(selection, "Income Tax Detail", entries, _COLUMNS, line_of)


def form_1099_detail(selection: Selection) -> Table:
    """Return the payments to vendors with form 1099 from the accounts of its boxes, always on a cash basis."""
    selection.use_cash_basis()
    books = selection.books
    boxes = books.preferences.get(FORM_1099, {}).get("Boxes", {})
    accounts = {reference["ListID"] for box in boxes.values() for reference in box["AccountRef"]}
    vendors = {
        vendor.id for vendor in books["Vendor"] if vendor.fields.get("IsVendorEligibleFor1099") == "true"
    }  # fmt: skip

    def vendor_of(entry: Entry) -> str:
        return books.lists[_vendor(entry.record)].full_name

    entries = posting_entries(
        selection, lambda record, posting: posting.account in accounts and _vendor(record) in vendors
    )
    return write(selection, "1099 Detail", entries, _COLUMNS, vendor_of)


def _vendor(record: Record) -> str:
    return reference_id(record.fields, "VendorRef") or reference_id(record.fields, "PayeeEntityRef")
