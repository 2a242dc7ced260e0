"""The filters of queries, as tests of records."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

from simulator.basics.date_macros import date_range
from simulator.basics.errors import RequestError
from simulator.basics.statuses import NOT_AVAILABLE, STATUSES
from simulator.books import GROUPS
from simulator.books.kinds import ITEMS
from simulator.books.records import reference_id
from simulator.books.store import ALWAYS
from simulator.books.uses import references
from simulator.rules.currency import currency_of
from simulator.schema import values
from simulator.schema.values import is_true

if TYPE_CHECKING:
    from datetime import tzinfo
    from xml.etree.ElementTree import Element as Node

    from simulator.books import Books, Record
    from simulator.books.store import Times
    from simulator.requests.context import Context

Test: TypeAlias = Callable[["Record"], bool]

_LARGEST_NUMBER = 2_147_483_647
"""A RefNumber range compares numbers up to this one, text beyond."""
_MODIFIED = ("ModifiedDateRangeFilter", "TransactionModifiedDateRangeFilter")
"""The filters by TimeModified of transactions. Queries of lists have FromModifiedDate and ToModifiedDate themselves."""
_ENTITY_FIELDS = ("CustomerRef", "VendorRef", "PayeeEntityRef", "EntityRef", "EmployeeRef", "ItemSalesTaxVendorRef")

ACCOUNT_TYPES: dict[str, tuple[str, ...]] = {
    "APAndSalesTax": ("AccountsPayable", "OtherCurrentLiability"),
    "APOrCreditCard": ("AccountsPayable", "CreditCard"),
    "ARAndAP": ("AccountsReceivable", "AccountsPayable"),
    "Asset": ("AccountsReceivable", "Bank", "FixedAsset", "OtherAsset", "OtherCurrentAsset"),
    "BankAndARAndAPAndUF": ("Bank", "AccountsReceivable", "AccountsPayable", "OtherCurrentAsset"),
    "BankAndUF": ("Bank", "OtherCurrentAsset"),
    "CostOfSales": ("CostOfGoodsSold",),
    "CurrentAsset": ("AccountsReceivable", "Bank", "OtherCurrentAsset"),
    "CurrentAssetAndExpense": (
        "AccountsReceivable",
        "Bank",
        "OtherCurrentAsset",
        "CostOfGoodsSold",
        "Expense",
        "OtherExpense",
    ),
    "CurrentLiability": ("AccountsPayable", "CreditCard", "OtherCurrentLiability"),
    "EquityAndIncomeAndExpense": (
        "Equity",
        "Income",
        "OtherIncome",
        "CostOfGoodsSold",
        "Expense",
        "OtherExpense",
    ),
    "ExpenseAndOtherExpense": ("CostOfGoodsSold", "Expense", "OtherExpense"),
    "IncomeAndExpense": ("Income", "OtherIncome", "CostOfGoodsSold", "Expense", "OtherExpense"),
    "IncomeAndOtherIncome": ("Income", "OtherIncome"),
    "Liability": ("AccountsPayable", "CreditCard", "LongTermLiability", "OtherCurrentLiability"),
    "OrdinaryExpense": ("CostOfGoodsSold", "Expense"),
    "OrdinaryIncome": ("Income",),
    "OrdinaryIncomeAndCOGS": ("Income", "CostOfGoodsSold"),
    "OrdinaryIncomeAndExpense": ("Income", "CostOfGoodsSold", "Expense"),
}
"""The AccountTypeFilter values that mean several types of accounts. Any other value is the name of a type."""
ACCOUNT_TYPES |= {
    "BalanceSheet": (*ACCOUNT_TYPES["Asset"], *ACCOUNT_TYPES["Liability"], "Equity"),
    "LiabilityAndEquity": (*ACCOUNT_TYPES["Liability"], "Equity"),
    "AllowedFor1099": (*ACCOUNT_TYPES["OrdinaryExpense"], "OtherExpense", *ACCOUNT_TYPES["Asset"]),
}

ITEM_TYPES: dict[str, tuple[str, ...]] = {
    "AllExceptFixedAsset": tuple(name for name in ITEMS if name != "ItemFixedAsset"),
    "Assembly": ("ItemInventoryAssembly",),
    "Discount": ("ItemDiscount",),
    "FixedAsset": ("ItemFixedAsset",),
    "Inventory": ("ItemInventory",),
    "InventoryAndAssembly": ("ItemInventory", "ItemInventoryAssembly"),
    "NonInventory": ("ItemNonInventory",),
    "OtherCharge": ("ItemOtherCharge",),
    "Payment": ("ItemPayment",),
    "Sales": tuple(name for name in ITEMS if name not in {"ItemSalesTax", "ItemSalesTaxGroup", "ItemFixedAsset"}),
    "SalesTax": ("ItemSalesTax", "ItemSalesTaxGroup"),
    "Service": ("ItemService",),
}
"""The kinds of items that an ItemTypeFilter means."""


class UnknownReference(Exception):
    """A filter names something that is not in the company file."""


def tests(context: Context, group: str) -> list[Test]:
    """Return the tests that a record must pass: one or more for each filter of the request, but `modified_times`.

    Raises `UnknownReference`, and `RequestError` for a range that ends before it starts.
    """
    request, model = context.node, context.model.content
    result: list[Test] = []
    for name, (default, make) in _STATUSES.items():
        if name in model:
            test = make(context.books, request.findtext(name) or model[name].default or default)
            result += [] if test is None else [test]
    types = {
        child.tag: {element.text for element in request.findall(child.tag)} for child in request if child.tag in _TYPES
    }
    for name, accepted in types.items():
        result.append(_has_value(name, accepted))
    result += _effective_dates(request)
    for child in request:
        make_tests = _FILTERS.get(child.tag)
        if make_tests is not None:
            result += make_tests(context, child)
        elif child.tag.endswith("Filter"):
            raise RequestError(
                3250, f"{NOT_AVAILABLE}: the simulated QuickBooks does not filter by {child.tag} in {group}Query."
            )
    return result


def modified_times(context: Context) -> Times:
    """Return the range of TimeModified that a query asks for. Raises `RequestError` if it ends before it starts."""
    request = context.node
    node = next((found for name in _MODIFIED if (found := request.find(name)) is not None), request)
    macro = node.findtext("DateMacro")
    if not macro or macro == "All":
        return times_of(node, "ModifiedDate", context.books.clock.zone)
    zone = context.books.clock.zone
    first, last = date_range(macro, context.books.clock.today(), context.facts.first_fiscal_month)
    return (
        datetime.combine(first, time.min, zone).timestamp(),
        datetime.combine(last, time.max, zone).timestamp(),
    )


def times_of(node: Node | None, field: str, zone: tzinfo) -> Times:
    """Return the range From… and To… of the DATETIMETYPE `field`. An end that is left out is open."""
    if node is None:
        return ALWAYS
    first = values.moment(f"From{field}", node.findtext(f"From{field}", ""), zone)
    last = values.moment(f"To{field}", node.findtext(f"To{field}", ""), zone)
    if first is not None and last is not None and first > last:
        raise RequestError(3030, STATUSES[3030].text)
    earliest, latest = ALWAYS
    return earliest if first is None else first.timestamp(), latest if last is None else last.timestamp()


def _txn_dates(context: Context, node: Node) -> list[Test]:
    macro = node.findtext("DateMacro")
    if macro:
        first, last = date_range(macro, context.books.clock.today(), context.facts.first_fiscal_month)
    else:
        first, last = _days(node, "FromTxnDate", "ToTxnDate")
    earliest, latest = first.isoformat(), last.isoformat()
    return [lambda record: earliest <= record.fields.get("TxnDate", "") <= latest]


def _effective_dates(request: Node) -> list[Test]:
    if request.find("FromEffectiveDate") is None and request.find("ToEffectiveDate") is None:
        return []
    first, last = (day.isoformat() for day in _days(request, "FromEffectiveDate", "ToEffectiveDate"))
    return [
        lambda record: any(
            first <= rate.get("EffectiveDate", "") <= last for rate in record.fields.get("RateHistory", ())
        )
    ]


def _days(node: Node, from_name: str, to_name: str) -> tuple[date, date]:
    first = values.day(from_name, node.findtext(from_name, "")) or date.min
    last = values.day(to_name, node.findtext(to_name, "")) or date.max
    if first > last:
        raise RequestError(3030, STATUSES[3030].text)
    return first, last


def _has_value(name: str, accepted: set[str | None]) -> Test:
    return lambda record: record.fields.get(name) in accepted


def _active(_books: Books, status: str) -> Test | None:
    return None if status == "All" else lambda record: record.is_active == (status == "ActiveOnly")


def _done(_books: Books, status: str) -> Test | None:
    value = "true" if status == "DoneOnly" else "false"
    return None if status == "All" else lambda record: record.fields.get("IsDone", "false") == value


def _pending(_books: Books, status: str) -> Test | None:
    value = "true" if status == "PendingOnly" else "false"
    return None if status == "All" else lambda record: record.fields.get("IsPending", "false") == value


def _paid(books: Books, status: str) -> Test | None:
    return None if status == "All" else lambda record: is_closed(books, record) == (status == "PaidOnly")


def _closed(books: Books, status: str) -> Test | None:
    return None if status == "Either" else lambda record: is_closed(books, record) == (status == "Closed")


def _posting(books: Books, status: str) -> Test | None:
    must_post = status == "Posting"
    return None if status == "Either" else lambda record: bool(books.ledger.postings(record.id)) == must_post


def is_closed(books: Books, record: Record) -> bool:
    """Return whether a transaction is paid, or an order is fulfilled or closed."""
    fields = {**record.fields, **books.rules_of(record.kind).derived(books, record)}
    return any(
        is_true(fields.get(name)) for name in ("IsPaid", "IsFullyInvoiced", "IsFullyReceived", "IsManuallyClosed")
    )


def _matches(criterion: str, text: str) -> Callable[[str], bool]:
    lower = text.lower()
    if criterion == "StartsWith":
        return lambda value: value.lower().startswith(lower)
    if criterion == "EndsWith":
        return lambda value: value.lower().endswith(lower)
    return lambda value: lower in value.lower()


def _name(record: Record) -> str:
    return str(record.fields.get(record.kind.name_field or "", ""))


def _name_filter(_context: Context, node: Node) -> list[Test]:
    matches = _matches(node.findtext("MatchCriterion", ""), node.findtext("Name", ""))
    return [lambda record: matches(_name(record))]


def _ref_number_filter(_context: Context, node: Node) -> list[Test]:
    matches = _matches(node.findtext("MatchCriterion", ""), node.findtext("RefNumber", ""))
    return [lambda record: matches(record.fields.get("RefNumber", ""))]


def _name_range(_context: Context, node: Node) -> list[Test]:
    first, last = node.findtext("FromName", "").lower(), node.findtext("ToName", "").lower()
    if last and first > last:
        raise RequestError(3031, 'Invalid string range: the "From" value is greater than the "To" value.')
    return [lambda record: first <= _name(record).lower() and (not last or _name(record).lower() <= last)]


def _ref_number_range(_context: Context, node: Node) -> list[Test]:
    """Compare as numbers when both ends are digits, else as text. An end that is left out is open."""
    first, last = node.findtext("FromRefNumber", ""), node.findtext("ToRefNumber", "")
    if all(re.fullmatch(r"\d+", end) and int(end) <= _LARGEST_NUMBER for end in (first, last)):

        def numeric(record: Record) -> bool:
            number = record.fields.get("RefNumber", "")
            return number.isdigit() and int(first) <= int(number) <= int(last)

        return [numeric]

    def textual(record: Record) -> bool:
        number = record.fields.get("RefNumber", "")
        return first <= number and (not last or number <= last)

    return [textual]


def _balance(context: Context, node: Node) -> list[Test]:
    amount, operator = Decimal(node.findtext("Amount") or "0"), node.findtext("Operator", "")

    def fulfils(record: Record) -> bool:
        fields = context.books.rules_of(record.kind).derived(context.books, record)
        balance = Decimal(fields.get("TotalBalance") or fields.get("Balance") or "0")
        return {
            "LessThan": balance < amount,
            "LessThanEqual": balance <= amount,
            "Equal": balance == amount,
            "GreaterThan": balance > amount,
            "GreaterThanEqual": balance >= amount,
        }[operator]

    return [fulfils]


def _currency(context: Context, node: Node) -> list[Test]:
    books = context.books
    ids = ids_of(books, node, ("Currency",))
    return [lambda record: currency_of(books, record.fields).get("ListID") in ids]


def ids_of(books: Books, node: Node, kinds: tuple[str, ...]) -> set[str]:
    """Return the ids that a filter by reference names. …WithChildren includes the objects below."""
    ids: set[str] = set()
    for child in node:
        text = child.text or ""
        record = books.list_object(text, kinds) if "ListID" in child.tag else books.named(text, kinds)
        if record is None:
            raise UnknownReference(text)
        ids.add(record.id)
        if child.tag.endswith("WithChildren"):
            pending = [record]
            while pending:
                below = books.children(pending.pop())
                ids |= {sub_record.id for sub_record in below}
                pending += below
    return ids


def _entity(context: Context, node: Node) -> list[Test]:
    """Find transactions by the customer, vendor, employee or other name of the form, or of a line of it."""
    kind = node.findtext("EntityTypeFilter")
    ids = {entity.id for entity in context.books[kind]} if kind else ids_of(context.books, node, GROUPS["Entity"])

    def is_of_entity(record: Record) -> bool:
        fields = record.fields
        return any(reference_id(fields, name) in ids for name in _ENTITY_FIELDS if name in fields) or any(
            reference_id(line, "EntityRef") in ids for _, line in record.lines() if "EntityRef" in line
        )

    return [is_of_entity]


def _class(context: Context, node: Node) -> list[Test]:
    ids = ids_of(context.books, node, ("Class",))
    return [
        lambda record: (
            reference_id(record.fields, "ClassRef") in ids
            or (not record.kind.is_list and any(reference_id(line, "ClassRef") in ids for _, line in record.lines()))
        )
    ]


def _account(context: Context, node: Node) -> list[Test]:
    """Find transactions by the accounts that they post to or name."""
    books, kind = context.books, node.findtext("AccountTypeFilter")
    if kind:
        types = ACCOUNT_TYPES.get(kind, (kind,))
        ids = {account.id for account in books["Account"] if account.fields.get("AccountType") in types}
    else:
        ids = ids_of(books, node, ("Account",))
    return [
        lambda record: (
            any(posting.account in ids for posting in books.ledger.postings(record.id))
            or any(reference in ids for reference in references(record.fields))
        )
    ]


def _item(context: Context, node: Node) -> list[Test]:
    """Find transactions by the items of their lines, and price levels by the items that they price."""
    kind = node.findtext("ItemTypeFilter")
    if kind:
        ids = {item.id for name in ITEM_TYPES[kind] for item in context.books[name]}
    else:
        ids = ids_of(context.books, node, ITEMS)
    return [lambda record: any(reference in ids for reference in references(record.fields))]


def _site(context: Context, node: Node) -> list[Test]:
    ids = ids_of(context.books, node, ("InventorySite",))
    return [lambda record: any(reference in ids for reference in references(record.fields))]


def _types(_context: Context, node: Node) -> list[Test]:
    accepted = {child.text for child in node}
    return [] if "All" in accepted else [lambda record: record.kind.name in accepted]


def _numbers(context: Context, node: Node) -> list[Test]:
    """Find transactions by the RefNumbers of a TransactionQuery, which are filters there."""
    exact = node.tag == "RefNumberCaseSensitive"
    numbers = {
        (number.text or "") if exact else (number.text or "").lower() for number in context.node.findall(node.tag)
    }

    def is_numbered(record: Record) -> bool:
        number = record.fields.get("RefNumber", "")
        return (number if exact else number.lower()) in numbers

    return [is_numbered]


_STATUSES: dict[str, tuple[str, Callable[[Books, str], Test | None]]] = {
    "ActiveStatus": ("ActiveOnly", _active),
    "DoneStatus": ("NotDoneOnly", _done),
    "PaidStatus": ("All", _paid),
    "PendingStatus": ("All", _pending),
    "TransactionPaidStatusFilter": ("Either", _closed),
    "TransactionPostingStatusFilter": ("Either", _posting),
}
"""The filters by one status: the value that a request without it means, and their tests."""

_TYPES = {"AccountType", "PaymentMethodType"}
"""The filters that repeat and compare a field of the same name."""

_FILTERS: dict[str, Callable[[Context, Node], list[Test]]] = {
    "NameFilter": _name_filter,
    "NameRangeFilter": _name_range,
    "TotalBalanceFilter": _balance,
    "CurrencyFilter": _currency,
    "ClassFilter": _class,
    "AccountFilter": _account,
    "EntityFilter": _entity,
    "TimeTrackingEntityFilter": _entity,
    "ItemFilter": _item,
    "ItemRef": _item,
    "SiteFilter": _site,
    "TxnDateRangeFilter": _txn_dates,
    "RefNumberFilter": _ref_number_filter,
    "RefNumberRangeFilter": _ref_number_range,
    "RefNumber": _numbers,
    "RefNumberCaseSensitive": _numbers,
    "TransactionDateRangeFilter": _txn_dates,
    "TransactionEntityFilter": _entity,
    "TransactionAccountFilter": _account,
    "TransactionItemFilter": _item,
    "TransactionClassFilter": _class,
    "TransactionTypeFilter": _types,
    **{name: lambda _context, _node: [] for name in (*_STATUSES, *_MODIFIED)},
    "TransactionDetailLevelFilter": lambda _context, _node: [],
}
