"""The subject line of a request: what a person calls it, such as `Kristy Abercrombie · 1042 · 248.50`.

It has up to three parts that the request itself names (docs/reference/service-contract.md, Subjects). The verb at the
end of a request's name decides which ones.

Lists read no bodies, so the subject is stored with the record. A total is shown only if the request states it, or each
line has an amount and nothing else changes the sum: a wrong number is worse than none. The longest part is cut, so a
long name never hides a number. The names in the response are not used: a subject would change after the request was
sent.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

from domain.qbxml.request.placeholders import Placeholder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from xml.etree.ElementTree import Element

    from domain.qbxml.request.document import Request

MAX_SUBJECT_BYTES = 80
"""Of UTF-8. A record with a subject takes one write unit (docs/data-model.md, Size of a record)."""

MAX_VALUE_CHARACTERS = 200
"""A longer text never fits, so the rest of it is not read."""

BETWEEN_PARTS = " · "
ELLIPSIS = "…"

SubjectPart: TypeAlias = "Callable[[Element], str]"
"""Returns a part of the line, or an empty text if the request does not name it."""


# --- Texts of elements


def _text(element: Element | None) -> str:
    """Return a text as one line without control characters and characters that change the order of others.

    A value that comes from another request is not known yet, and has no text.
    """
    if element is None or isinstance(element.text, Placeholder):
        return ""
    return " ".join("".join(map(_shown, (element.text or "")[:MAX_VALUE_CHARACTERS])).split())


_JOINERS = "\u200c\u200d"
"""Persian words and some emoji contain these two format characters, which change no order."""


def _shown(character: str) -> str:
    match unicodedata.category(character):
        case "Cc" | "Zl" | "Zp":
            return " "
        case "Cf" | "Cs" if character not in _JOINERS:
            return ""
        case _:
            return character


def _first(*paths: str) -> SubjectPart:
    """Return the part that is the text of the first of these elements. A reference is its name, or its id."""
    places = [
        place for path in paths for place in ([f"{path}/FullName", f"{path}/ListID"] if _is_ref(path) else [path])
    ]

    def part(body: Element) -> str:
        return next(filter(None, (_text(body.find(place)) for place in places)), "")

    return part


def _is_ref(path: str) -> bool:
    return path.endswith("Ref")


def _ending(ending: str) -> SubjectPart:
    """Return the part that is the text of the first element whose name ends so."""

    def part(body: Element) -> str:
        return next((_text(child) for child in body if child.tag.endswith(ending)), "")

    return part


def _either(*parts: SubjectPart) -> SubjectPart:
    """Return the first of these parts that the request has."""

    def first(body: Element) -> str:
        return next(filter(None, (part(body) for part in parts)), "")

    return first


def _joined(between: str, *parts: SubjectPart) -> SubjectPart:
    """Return these parts as one."""

    def joined(body: Element) -> str:
        return between.join(filter(None, (part(body) for part in parts)))

    return joined


# --- Adds and changes


def _name(body: Element) -> str:
    """Return the name of a list object, below its parent."""
    names = (_text(body.find(f"{person}Name")) for person in ("First", "Last"))
    name = _text(body.find("Name")) or _text(body.find("FullName")) or " ".join(filter(None, names))
    parent = _text(body.find("ParentRef/FullName"))
    return f"{parent}:{name}" if parent and name else name


_AMOUNT = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,5})?")

_LINES: Mapping[str, str] = {
    "AppliedToTxnAdd": "PaymentAmount",
    "RefundAppliedToTxnAdd": "RefundAmount",
    "JournalDebitLine": "Amount",
} | {
    f"{kind}LineAdd": "Amount"
    for kind in (
        *("Invoice", "Estimate", "SalesOrder", "SalesReceipt", "CreditMemo", "PurchaseOrder"),
        *("Expense", "Item", "Deposit", "SalesTaxPaymentCheck"),
    )
}
"""The lines whose amounts make up the total of a new transaction, and the element with the amount."""

_INCOMPLETE = (
    "GroupAdd",
    "GroupLineAdd",
    "DiscountLineAdd",
    "SalesTaxLineAdd",
    "ShippingLineAdd",
    "CashBackInfoAdd",
    "LinkToTxnID",
    "ApplyCheckToTxnAdd",
)
"""The ends of the names of elements that also change the total, by an amount that the request does not tell, or tells
elsewhere."""


def _total(body: Element) -> str:
    """Return the sum of the lines, if each of them has an amount and nothing else changes the total."""
    total = Decimal()
    lines = 0
    for child in body:
        if child.tag.endswith(_INCOMPLETE):
            return ""
        if child.tag in _LINES:
            amount = _text(child.find(_LINES[child.tag]))
            if not _AMOUNT.fullmatch(amount):
                return ""
            total += Decimal(amount)
            lines += 1
    return f"{total:.2f}" if lines else ""


_PARTIES = ("EntityRef", "CustomerRef", "VendorRef", "PayeeEntityRef", "EmployeeRef", "LeadRef", "SalesRepEntityRef")
_PLACES = ("VehicleRef", "ItemInventoryAssemblyRef", "DepositToAccountRef", "AccountRef")

_WRITE: Sequence[SubjectPart] = (
    _either(
        _name,
        _first(*_PARTIES, "Initial", "CompanyName"),
        _joined(" → ", _first("TransferFromAccountRef"), _first("TransferToAccountRef")),
        _joined(" → ", _first("FromInventorySiteRef"), _first("ToInventorySiteRef")),
        _joined(" ", _first("DataExtName"), _first("ListObjRef", "TxnID", "OtherDataExtType")),
        _first(*_PLACES, "SpecialAccountType", "SpecialItemType", "FormType", "Notes"),
    ),
    _first("RefNumber", "CheckNumber", "TxnID", "ListID"),
    _either(_first("TotalAmount", "Amount"), _total, _first("Duration", "TotalMiles", "ClearedStatus", "Memo")),
)

# --- Queries


def _values(body: Element) -> str:
    """Return the first of the objects that a query names, and how many others it names."""
    for tag in ("FullName", "Name", "RefNumber", "RefNumberCaseSensitive", "BarCodeValue", "ListID", "TxnID"):
        if values := [text for child in body.iterfind(tag) if (text := _text(child))]:
            return f"{values[0]} and {len(values) - 1} more" if values[1:] else values[0]
    return ""


_CRITERIA = {"StartsWith": "starting with", "EndsWith": "ending with", "Contains": "containing"}


def _filter(what: str, path: str, value: str) -> SubjectPart:
    """Return the part for a filter with a criterion, such as `name containing Ab`."""

    def part(body: Element) -> str:
        text = _text(body.find(f"{path}/{value}"))
        criterion = _CRITERIA.get(_text(body.find(f"{path}/MatchCriterion")), "like")
        return f"{what} {criterion} {text}" if text else ""

    return part


def _span(what: str, *pairs: tuple[str, str]) -> SubjectPart:
    """Return the part for a range, such as `changed 2026-03-01 to 2026-03-14`. Of a time, it has the day."""

    def part(body: Element) -> str:
        for first, last in pairs:
            start, end = _day(_text(body.find(first))), _day(_text(body.find(last)))
            words = [start and end and f"{start} to {end}", start and f"from {start}", end and f"to {end}"]
            if span := next(filter(None, words), ""):
                return f"{what} {span}".strip()
        return ""

    return part


_TIME = re.compile(r"(\d{4}-\d\d-\d\d)T.*")


def _day(text: str) -> str:
    return _TIME.sub(r"\1", text)


def _dates(what: str, name: str, *filters: str) -> SubjectPart:
    """Return the part for a range of dates, which can be in one of these filters."""
    places = [f"{place}/" for place in filters] + [""]
    pairs = [(f"{place}From{name}", f"{place}To{name}") for place in places]
    return _either(_span(what, *pairs), *(_first(f"{place}/DateMacro") for place in filters))


_ENTITY_FILTERS = ("EntityFilter", "TransactionEntityFilter", "TimeTrackingEntityFilter", "ReportEntityFilter")
_ENTITY = _first(
    *(
        f"{place}/{value}"
        for place in _ENTITY_FILTERS
        for value in ("FullName", "ListID", "FullNameWithChildren", "ListIDWithChildren")
    ),
    "ItemRef",
    "ItemInventoryAssemblyRef",
    "PayeeEntityRef",
    "TaxAgencyVendorRef",
)

_READ: Sequence[SubjectPart] = (
    _either(
        _values,
        _filter("name", "NameFilter", "Name"),
        _span("name", ("NameRangeFilter/FromName", "NameRangeFilter/ToName")),
        _filter("number", "RefNumberFilter", "RefNumber"),
        _span("number", ("RefNumberRangeFilter/FromRefNumber", "RefNumberRangeFilter/ToRefNumber")),
        _first("TxnDelType", "ListDelType", "AssignToObject", "FormType", "TransactionTypeFilter/TxnTypeFilter"),
    ),
    _ENTITY,
    _either(
        _dates(
            "changed",
            "ModifiedDate",
            "ModifiedDateRangeFilter",
            "TransactionModifiedDateRangeFilter",
        ),
        _dates("dated", "TxnDate", "TxnDateRangeFilter", "TransactionDateRangeFilter"),
        _dates("deleted", "DeletedDate", "DeletedDateRangeFilter"),
        _first("PaidStatus", "AsOfDate", "TxnDate", "ActiveStatus"),
    ),
)

_REPORT: Sequence[SubjectPart] = (
    _ending("ReportType"),
    _ENTITY,
    _either(_span("", ("ReportPeriod/FromReportDate", "ReportPeriod/ToReportDate")), _first("ReportDateMacro")),
)

# --- The rest

_OF_TYPE: Sequence[SubjectPart] = (
    _either(_joined(" ", _first("DataExtName"), _first("ListObjRef")), _ending("Type")),
    _first("EntityRef", "TxnID", "ListID", "OwnerID", "SubscriberID"),
)
_MERGE: Sequence[SubjectPart] = (
    _first("ListMergeType"),
    _joined(" → ", _first("MergeFrom/ListID"), _first("MergeTo/ListID")),
)

_FAMILIES: Mapping[str, Sequence[SubjectPart]] = {
    "ReportQueryRq": _REPORT,
    "QueryRq": _READ,
    "DisplayAddRq": _OF_TYPE,
    "DisplayModRq": _OF_TYPE,
    "DelRq": _OF_TYPE,
    "VoidRq": _OF_TYPE,
    "MergeRq": _MERGE,
    "AddRq": _WRITE,
    "ModRq": _WRITE,
}
"""The parts of a subject, by the end of the request's name. The first end that fits decides."""


def subject(request: Request) -> str | None:
    """Return the subject line, at most MAX_SUBJECT_BYTES of UTF-8, or None if the request names nothing."""
    parts = next((parts for ending, parts in _FAMILIES.items() if request.name.endswith(ending)), _WRITE)
    inner = request.element.find(request.name.removesuffix("Rq"))
    body = request.element if inner is None else inner
    return _line(dict.fromkeys(filter(None, (part(body) for part in parts)))) or None


def _line(parts: Iterable[str]) -> str:
    """Return the parts as one line. The longest part is cut until the line fits, so a number behind it stays."""
    texts = list(parts)
    while (excess := len(BETWEEN_PARTS.join(texts).encode()) - MAX_SUBJECT_BYTES) > 0:
        longest = max(range(len(texts)), key=lambda index: len(texts[index].encode()))
        others = [len(text.encode()) for index, text in enumerate(texts) if index != longest]
        size = len(texts[longest].encode())
        texts[longest] = _cut(texts[longest], max(size - excess, min(size - 1, max(others, default=0))))
    return BETWEEN_PARTS.join(texts)


def _cut(text: str, max_bytes: int) -> str:
    """Return a text that is too long with at most this many bytes, cut at a character, with an ellipsis."""
    kept = text.removesuffix(ELLIPSIS).encode()[: max(max_bytes - len(ELLIPSIS.encode()), 0)].decode(errors="ignore")
    return f"{kept.rstrip()}{ELLIPSIS}"
