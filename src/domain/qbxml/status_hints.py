"""What to do about a status code of QuickBooks, in a user's words (`qbxml.md` §9).

Only codes whose meaning is documented or was seen in the field stand here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_MODIFIED = "Somebody changed the list at the same time. Queue the request again."
_LOCKED = "Somebody is working on this object, or QuickBooks holds a lock on it. Queue the request again later."

_HINTS: Mapping[int, str] = {
    1: "Nothing matches the query. This is an empty result, not an error.",
    500: "Some of the listed objects do not exist; those that do were returned.",
    501: "The object cannot be expressed in this QBXML version. Use a higher version.",
    530: "A field is not supported by this QuickBooks. Remove it.",
    531: "A value of an enumeration is not supported by this QuickBooks. Use another.",
    550: "The object was saved without its notes.",
    560: "A deprecated field was used. Look for the field that replaced it.",
    570: "The transaction to link to is already closed.",
    600: "QuickBooks has no stored answer under this message set id: the request was not executed in this file.",
    1000: "QuickBooks failed internally. Try again; if it stays so, verify the company file in QuickBooks.",
    1010: "QuickBooks is not available at the moment. Queue the request again later.",
    1030: "This QuickBooks does not know the request. Check its name and the QBXML version.",
    1060: "The requestID is not valid. It may have at most 50 characters.",
    3000: "An id in the request is not valid. Use a ListID or TxnID that QuickBooks returned.",
    3010: "A boolean is not valid. Write true or false.",
    3020: "A date is not valid. Write YYYY-MM-DD.",
    3030: "The date range begins after its end. Swap the two.",
    3031: "The range of names or numbers begins after its end. Swap the two.",
    3035: "A time interval is not valid. Write PTnHnMnS.",
    3070: "A text is too long for its field. Shorten it.",
    3100: "The name is taken. Names are unique across customers, vendors, employees and other names.",
    3120: "The object does not exist in this company file. Query it first and use the ListID or TxnID returned.",
    3130: "The parent does not exist. Create it first, or use its full name.",
    3140: "The request refers to something that does not exist in this company file. Create it first.",
    3160: "The object cannot be deleted because it is in use. Make it inactive instead.",
    3170: _MODIFIED,
    3175: _LOCKED,
    3176: _LOCKED,
    3180: _MODIFIED,
    3190: "This field cannot be cleared.",
    3200: "The object was changed since you read it. Query it again and use its new EditSequence.",
    3210: "A field has a value that QuickBooks refuses. The message names field and value.",
    3231: "An earlier request of the same message set failed, so that this one was not executed.",
    3250: "The feature is off in the company file's preferences, or this edition of QuickBooks lacks it.",
    3260: "The QuickBooks user may not do this. Let an administrator give the permission.",
    3261: "The application may not do this. In QuickBooks, an administrator can change it: Edit, Preferences,"
    " Integrated Applications, Company Preferences, Properties.",
    3263: "The application is registered as read-only. Add it to the Web Connector again without IsReadOnly.",
    9001: "The message set id was used before with other content.",
    9002: "QuickBooks has no usable stored answer under this message set id.",
    9004: "The message set id is longer than 24 characters.",
    9005: "QuickBooks could not store the answer under the message set id.",
}


def hint_for_status(code: int) -> str | None:
    """Return what to do about a `statusCode`; None when nothing reliable is known."""
    return _HINTS.get(code)
