"""The columns of a summary report: periods, or the list objects that postings belong to."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

from simulator.basics.errors import RequestError
from simulator.basics.statuses import NOT_AVAILABLE
from simulator.books.records import reference_id
from simulator.reports.selection import Period

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator.books import Books, Record
    from simulator.books.ledger import Posting

_DAYS = {"Day": 1, "Week": 7, "TwoWeek": 14, "FourWeek": 28}
_MONTHS = {"Month": 1, "Quarter": 3, "Year": 12}
MAX_COLUMNS = 1000


def date_columns(unit: str, period: Period) -> list[Period]:
    """Return the period of each column. The first and the last one end with the report."""
    start, end = date.fromisoformat(period.first), date.fromisoformat(period.last)
    columns = []
    while start <= end:
        last = min(_last_day(unit, start), end)
        columns.append(Period(start.isoformat(), last.isoformat()))
        if len(columns) > MAX_COLUMNS:
            raise RequestError(3250, f"{NOT_AVAILABLE}: the report has too many columns: choose a shorter period.")
        start = last + timedelta(days=1)
    return columns


def _last_day(unit: str, day: date) -> date:
    if unit in _DAYS:
        offset = (day.weekday() + 1) % 7 if unit != "Day" else 0
        return day - timedelta(days=offset) + timedelta(days=_DAYS[unit] - 1)
    if unit == "HalfMonth" and day.day <= 15:  # noqa: PLR2004 - the middle of a month
        return day.replace(day=15)
    months = _MONTHS.get(unit, 1)
    index = (day.year * 12 + day.month - 1) // months * months + months
    return date(index // 12, index % 12 + 1, 1) - timedelta(days=1)


IS_DATE = frozenset({*_DAYS, *_MONTHS, "HalfMonth"})


def key_of(by: str, books: Books) -> Callable[[Record, Posting], str]:
    """Return the function that finds the list object that a posting counts for. Raises `RequestError` 3250."""
    lists = books.lists

    def through(entity_field: str) -> Callable[[Record, Posting], str]:
        def find(_record: Record, posting: Posting) -> str:
            entity = lists.get(posting.entity)
            return reference_id(entity.fields, entity_field) if entity is not None else ""

        return find

    def of_kind(*kinds: str) -> Callable[[Record, Posting], str]:
        def find(_record: Record, posting: Posting) -> str:
            entity = lists.get(posting.entity)
            return posting.entity if entity is not None and entity.kind.name in kinds else ""

        return find

    def on_form(field: str) -> Callable[[Record, Posting], str]:
        return lambda record, _posting: reference_id(record.fields, field)

    finders: dict[str, Callable[[Record, Posting], str]] = {
        "Account": lambda _record, posting: posting.account,
        "Class": lambda _record, posting: posting.class_id,
        "Customer": of_kind("Customer"),
        "Vendor": of_kind("Vendor"),
        "Employee": of_kind("Employee"),
        "Payee": lambda _record, posting: posting.entity,
        "ItemDetail": lambda _record, posting: posting.item,
        "CustomerType": through("CustomerTypeRef"),
        "VendorType": through("VendorTypeRef"),
        "SalesRep": on_form("SalesRepRef"),
        "Terms": on_form("TermsRef"),
        "PaymentMethod": on_form("PaymentMethodRef"),
        "ShipMethod": on_form("ShipMethodRef"),
        "SalesTaxCode": on_form("CustomerSalesTaxCodeRef"),
    }
    if by not in finders:
        raise RequestError(3250, f"{NOT_AVAILABLE}: the simulated QuickBooks does not summarize reports by {by}.")
    return finders[by]
