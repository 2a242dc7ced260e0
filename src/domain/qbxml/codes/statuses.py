"""The meanings of the status codes in responses. `docs/errors.md` lists them.

The reason only names a status. The severity that QuickBooks sends with it decides whether it is an error
(docs/reference/qbxml-rules.md, Status codes). QuickBooks' own message is always passed on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

UNKNOWN = "unknown_status"
"""The reason for a code without an entry."""

NO_MATCH = 1
"""A query has found nothing."""

SOME_NOT_FOUND = 500
"""A query for ids has found some of them, or none."""

INVALID_ID = 3000
"""An ID is not valid. For a page, it is the ID of an iterator that has ended."""

NAME_IN_USE = 3100
"""Another object has the name, in this list or in one that shares its names."""

OBJECT_NOT_FOUND = 3120
"""No object has an id in the request: its own, or that of a reference."""

EDIT_SEQUENCE_OUT_OF_DATE = 3200
"""The object was changed after it was read."""


@dataclass(frozen=True, slots=True)
class Status:
    """A status code: a stable name, its meaning and a hint.

    `retryable` is true if the same request may succeed later. `message` and `hint` are None for an unknown code.
    """

    code: int
    reason: str
    message: str | None = None
    hint: str | None = None
    retryable: bool = False


_SEE_MESSAGE = "Correct the field that the message names."
_QUEUE_LATER = "Another user or a lock is in the way. Queue the request again later."
_CHANGED = "Another user changed it at the same time. Queue the request again."
_CLOSED = "The books are closed up to a date. Use a later date, or ask an administrator to open them."
_ONLINE = "The request is for a former online edition. Use a request of QuickBooks Desktop."
_CONFLICT = "Two elements of the request exclude each other. Remove one of them."
_MACRO = "Queue requests without macros. Each request is sent on its own."
_NUMBER = "Write a number with at most five decimals."
_QUERY_FIRST = "Query the object and use the ListID or TxnID that QuickBooks returns."
_CHECK_FILE = "Check the company file before you queue the request again."
_NOT_EXECUTED = f"The request was most likely not executed. {_CHECK_FILE}"
_PREFERENCES = (
    "An administrator can change it in QuickBooks under Edit > Preferences > Integrated Applications > Company"
    " Preferences > Properties"
)

# fmt: off
_TABLE: Mapping[int, tuple[str, str, str]] = {
    0: ("ok", "QuickBooks executed the request.", "Nothing to do."),
    1: ("no_match", "No object matches the query.", "This is an empty result, not an error."),
    500: ("some_not_found", "Some of the listed objects do not exist.",
        "The others were returned. Check the ones that are missing."),
    501: ("needs_higher_version", "This QBXML version cannot represent the object.", "Use a higher version."),
    510: ("object_not_returned", "QuickBooks executed the request but cannot return the object.", "Query the object."),
    530: ("field_not_supported", "This version of QuickBooks does not support a field.", "Remove the field."),
    531: ("value_not_supported", "This version of QuickBooks does not support a value of an enumeration.",
          "Use another value."),
    540: ("result_cut_off", "More objects match than the former online edition returns.", "Request fewer objects."),
    550: ("notes_not_saved", "The object was saved without its notes.", "Add the notes with a separate request."),
    560: ("field_deprecated", "The request uses a deprecated field.", "Use the field that replaced it."),
    570: ("link_closed", "The transaction to link to is already closed.", "Link to an open transaction."),
    600: ("nothing_stored", "QuickBooks has no stored response for this message set ID.", _NOT_EXECUTED),
    1000: ("quickbooks_internal_error", "QuickBooks failed internally.",
        "Check whether it was executed. If the error continues, verify the company file in QuickBooks."),
    1010: ("quickbooks_unavailable", "QuickBooks is not available at the moment.", "Queue the request again later."),
    1030: ("request_not_known", "This version of QuickBooks does not support the request.",
        "Check its name and the QBXML version."),
    1060: ("request_id_invalid", "The requestID is not valid.", "It may have at most 50 characters."),
    2000: ("online_sign_on_failed", "The sign-on to a former online edition failed.", _ONLINE),
    2010: ("online_not_authorized", "A former online edition did not authorize the application.", _ONLINE),
    2020: ("online_session_needed", "A former online edition requires a signed-on session.", _ONLINE),
    2030: ("online_sign_on_version", "A former online edition does not support the version of the sign-on.", _ONLINE),
    2040: ("online_internal_error", "The sign-on to a former online edition failed internally.", _ONLINE),
    INVALID_ID: ("id_invalid", "An ID in the request is not valid.", "Use a ListID or TxnID that QuickBooks returned."),
    3010: ("boolean_invalid", "A boolean is not valid.", "Write true or false."),
    3020: ("date_invalid", "A date is not valid.", "Write YYYY-MM-DD."),
    3030: ("date_range_invalid", "A date range ends before it starts.", "Swap the two dates."),
    3031: ("range_invalid", "A range of names or numbers ends before it starts.", "Swap the two values."),
    3035: ("time_interval_invalid", "A time interval is not valid.", "Write PTnHnMnS."),
    3040: ("amount_invalid", "An amount is not valid.", "Write it with two decimals or none."),
    3045: ("price_invalid", "A price is not valid.", _NUMBER),
    3050: ("percentage_invalid", "A percentage is not valid.", _NUMBER),
    3060: ("quantity_invalid", "A quantity is not valid.", _NUMBER),
    3065: ("value_invalid", "The value of a field is not valid.", _SEE_MESSAGE),
    3070: ("text_too_long", "A text is too long for its field.", "Shorten it."),
    3080: ("text_invalid", "A text is not valid.", _SEE_MESSAGE),
    3085: ("number_invalid", "A number is not valid.", _SEE_MESSAGE),
    3090: ("value_not_stored", "QuickBooks could not store a value.", _SEE_MESSAGE),
    3100: ("name_in_use", "The name is already in use.",
        "If it is yours, query its FullName. If not, use another name. Customers, vendors and employees share names."),
    3110: ("enum_invalid", "A value is not in its enumeration.", _SEE_MESSAGE),
    3120: ("not_found", "The object does not exist in this company file.", _QUERY_FIRST),
    3130: ("parent_not_found", "The parent does not exist.", "Create it first, or use its full name."),
    3140: ("reference_not_found", "The request refers to an object that does not exist in this company file.",
        "Create the object first."),
    3150: ("element_missing", "A required element is missing.", "Add the element that the message names."),
    3151: ("element_not_allowed", "An element is not allowed in this request.",
        "Remove the element that the message names."),
    3152: ("elements_conflict", "Two elements exclude each other.", _CONFLICT),
    3153: ("elements_conflict", "Two elements exclude each other.", _CONFLICT),
    3160: ("delete_refused", "The object cannot be deleted because it is in use.", "Make it inactive instead."),
    3161: ("date_closed", "The date is on or before the closing date.", _CLOSED),
    3162: ("not_in_multi_user_mode", "QuickBooks cannot do this in multi-user mode.",
        "Switch QuickBooks to single-user mode and queue the request again."),
    3170: ("changed_meanwhile", "Another user changed the list at the same time.", _CHANGED),
    3171: ("date_closed", "The date is on or before the closing date.", _CLOSED),
    3175: ("object_in_use", "The object is in use, or it is locked.", _QUEUE_LATER),
    3176: ("object_in_use", "A related object is in use, or it is locked.", _QUEUE_LATER),
    3180: ("changed_meanwhile", "The object could not be saved because another user changed the list.", _CHANGED),
    3185: ("void_failed", "The transaction could not be voided.", "Read the message and check the transaction."),
    3190: ("clear_refused", "A field cannot be cleared.", "Give it a value, or leave it out."),
    3200: ("edit_sequence_out_of_date", "The object was changed after it was read.",
        "Query it again and use its new EditSequence."),
    3205: ("address_invalid", "An address is not valid.", "Write at most five lines of 41 characters each."),
    3210: ("value_refused", "QuickBooks refuses the value of a field.",
        "Correct the value. The message names it and its field."),
    3230: ("rolled_back", "The request was rolled back with its message set.", "Correct the request that failed."),
    3231: ("not_processed", "The request was not executed because an earlier one in its message set failed.",
        "Correct the request that failed, then queue this one again."),
    3240: ("created_meanwhile", "The object has a different creation time than expected.", _QUERY_FIRST),
    3250: ("feature_off", "The feature is turned off or not part of this edition of QuickBooks.",
        "Turn it on in the company file's preferences."),
    3260: ("user_not_permitted", "The QuickBooks user does not have permission for this.",
        "Ask an administrator to grant the permission."),
    3261: ("application_not_permitted", "The application does not have permission for this.", f"{_PREFERENCES}."),
    3262: ("personal_data_not_permitted", "The application may not read personal data.",
        f"{_PREFERENCES} > Allow this application to access personal data."),
    3263: ("application_read_only", "The application is registered as read-only.",
        "Add it to the Web Connector again without IsReadOnly."),
    3270: ("posting_account_missing", "An account to post to is missing.", "Name the account, or set it on the item."),
    9001: ("message_set_id_reused", "The message set ID was used before with other content.", _CHECK_FILE),
    9002: ("nothing_stored", "QuickBooks has no usable stored response for this message set ID.", _NOT_EXECUTED),
    9004: ("message_set_id_too_long", "The message set ID is too long.", "Report this to the operator."),
    9005: ("response_not_stored", "QuickBooks could not store the response under the message set ID.", _CHECK_FILE),
}
# fmt: on

_RETRYABLE = frozenset({1010, 3162, 3170, 3175, 3176, 3180, 3231})
"""Codes after which QuickBooks did not execute the request, and the same request may succeed later."""

STATUSES: Mapping[int, Status] = {
    code: Status(code, *entry, retryable=code in _RETRYABLE) for code, entry in _TABLE.items()
}
"""Every status code with a known meaning."""

_MACRO_CODES = range(9100, 9200)

_SAVE_REFUSED = frozenset({3170, 3180})
"""Refusals to save. Only the message shows the cause: for example, "already defined" does not resolve itself."""

_resolves_itself = re.compile(r"modified by another user|\block", re.IGNORECASE).search


def describe_status(code: int, message: str | None = None) -> Status:
    """Return the meaning of a `statusCode` or `messageSetStatusCode`. `message` is QuickBooks' message."""
    if code in _MACRO_CODES:
        return Status(code, "macro_error", "A macro of the request failed.", _MACRO)
    if code in _SAVE_REFUSED and message and not _resolves_itself(message):
        return Status(code, "save_refused", hint="Read QuickBooks' message and correct what it names.")
    return STATUSES.get(code) or Status(code, UNKNOWN)
