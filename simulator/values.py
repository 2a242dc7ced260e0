"""Values in requests: their lexical forms, lengths and times. A bad value gets a status, not an HRESULT.

Sources: qbXML 13.0 types; maximum lengths of the US edition. Dates without an offset are the QuickBooks machine's
local time; a "to" date without a time means the end of that day.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from typing import TYPE_CHECKING

from simulator.grammar import parse_error

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


class RequestError(Exception):
    """A request fails with a status of severity Error."""

    def __init__(self, code: int, message: str) -> None:
        self.code = code
        self.message = message
        super().__init__(f"{code}: {message}")


MAX_LENGTHS = {
    "AccountNumber": 99,
    "AltContact": 41,
    "AltPhone": 21,
    "Addr1": 41,
    "Addr2": 41,
    "Addr3": 41,
    "Addr4": 41,
    "Addr5": 41,
    "Cc": 1023,
    "City": 31,
    "CompanyName": 41,
    "Contact": 41,
    "Country": 31,
    "Desc": 4095,
    "Email": 1023,
    "FOB": 13,
    "Fax": 21,
    "FirstName": 25,
    "FullName": 209,
    "IncludeRetElement": 50,
    "JobTitle": 41,
    "LastName": 25,
    "Memo": 4095,
    "MiddleName": 5,
    "Name": 41,
    "Notes": 4095,
    "Other": 29,
    "Other1": 29,
    "Other2": 29,
    "PONumber": 25,
    "Phone": 21,
    "PostalCode": 13,
    "RefNumber": 11,
    "ResaleNumber": 15,
    "Salutation": 15,
    "State": 21,
    "UnitOfMeasure": 31,
}
_ID_LENGTH = 36

_AMOUNT = re.compile(r"[+-]?\d{1,13}(\.\d{2})?")
_FIVE_DECIMALS = re.compile(r"[+-]?\d{1,10}(\.\d{1,5})?")
_BOOLEAN = re.compile(r"true|false|1|0|")
_GUID = re.compile(r"0|\{[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\}")
_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_TIME = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?:T(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:([+-])(\d\d):(\d\d))?)?)?)?")

_FORMS: dict[str, tuple[re.Pattern[str], int, str]] = {
    **dict.fromkeys(
        (
            "IncludeLineItems",
            "IncludeLinkedTxns",
            "IncludeMaxCapacity",
            "IsActive",
            "IsManuallyClosed",
            "IsToBePrinted",
            "IsToBeEmailed",
            "IsTaxIncluded",
            "IsStatementWithParent",
            "DefaultShipTo",
        ),
        (_BOOLEAN, 3010, "boolean value"),
    ),
    **dict.fromkeys(("Amount", "TaxAmount", "CreditLimit", "OpenBalance"), (_AMOUNT, 3040, "amount")),
    "Rate": (_FIVE_DECIMALS, 3045, "price"),
    "RatePercent": (_FIVE_DECIMALS, 3050, "percentage"),
    "Quantity": (_FIVE_DECIMALS, 3060, "quantity"),
}
_DATE_TIMES = {"FromModifiedDate", "ToModifiedDate"}
_DATES = {
    "FromTxnDate",
    "ToTxnDate",
    "TxnDate",
    "DueDate",
    "ShipDate",
    "OpenBalanceDate",
    "JobStartDate",
    "JobProjectedEndDate",
    "JobEndDate",
}
_IDS = {"ListID", "TxnID", "ListIDWithChildren"}
_INTEGERS = {"MaxReturned", "ExpirationYear"}
_GUIDS = {"OwnerID", "ExternalGUID"}
_LAST_MODIFIED_DATE = datetime(2038, 1, 19, 3, 14, 7, tzinfo=UTC)


def check_values(request: Element) -> None:
    """Check every value below `request`. Raises `RequestError`; `HresultError` for what the parser itself refuses."""
    for element in request.iter():
        if len(element) == 0:
            _check_value(element.tag, element.text or "")


def _check_value(name: str, text: str) -> None:
    if name in _FORMS:
        pattern, code, noun = _FORMS[name]
        if not pattern.fullmatch(text):
            raise RequestError(code, f'There was an error when converting the {noun} "{text}" in the field "{name}".')
    elif name in _DATE_TIMES:
        moment(name, text, UTC)
    elif name in _DATES:
        day(name, text)
    elif name in _IDS and len(text) > _ID_LENGTH:
        raise RequestError(3000, f'The given object ID "{text}" in the field "{name}" is invalid.')
    elif name in _INTEGERS and not (re.fullmatch(r"\d{1,9}", text) and int(text) > 0):
        raise parse_error(f"{name} must be a positive number, not {text!r}")
    elif name in _GUIDS and not _GUID.fullmatch(text):
        raise parse_error(f"{name} must be 0 or a GUID in braces, not {text!r}")
    elif len(text) > MAX_LENGTHS.get(name, len(text)):
        raise RequestError(3070, f'The string "{text}" in the field "{name}" is too long.')


def moment(name: str, text: str, zone: tzinfo) -> datetime | None:
    """Read a DATETIMETYPE; local time of `zone` when it has no offset. Empty is None.

    A `ToModifiedDate` without a time is 23:59:59 of its day. Raises `RequestError` 3020.
    """
    if not text:
        return None
    error = RequestError(3020, f'There was an error when converting the date value "{text}" in the field "{name}".')
    matched = _TIME.fullmatch(text)
    if matched is None:
        raise error
    year, month, number, hour, minute, second, sign, offset_hours, offset_minutes = matched.groups()
    if sign:
        offset = timedelta(hours=int(offset_hours), minutes=int(offset_minutes))
        zone = timezone(-offset if sign == "-" else offset)
    try:
        found = datetime(
            int(year), int(month), int(number), int(hour or 0), int(minute or 0), int(second or 0), tzinfo=zone
        )
    except ValueError:
        raise error from None
    if hour is None and name.startswith("To"):
        found = found.replace(hour=23, minute=59, second=59)
    # A zone in which 1970-01-01 begins before the epoch still means the first day that QuickBooks knows.
    if found.year < 1970 or found > _LAST_MODIFIED_DATE:  # noqa: PLR2004 - the epoch
        raise error
    return found


def day(name: str, text: str) -> date | None:
    """Read a DATETYPE; empty is None. Raises `RequestError` 3020."""
    if not text:
        return None
    matched = _DAY.fullmatch(text)
    try:
        return date(*map(int, matched.groups())) if matched else _bad_day(name, text)
    except ValueError:
        return _bad_day(name, text)


def _bad_day(name: str, text: str) -> date:
    raise RequestError(3020, f'There was an error when converting the date value "{text}" in the field "{name}".')


def is_true(text: str | None) -> bool:
    """Read a BOOLTYPE that was checked already."""
    return text in {"true", "1"}


def stored_text(text: str) -> str:
    """Return what QuickBooks keeps of a text: Windows-1252, anything else becomes "?"."""
    return text.encode("cp1252", "replace").decode("cp1252")
