"""What the status codes mean that QuickBooks answers with (`qbxml.md` §9): a stable name, and what to do.

QuickBooks' own message is always passed on beside it. Nothing is decided by these names but what is said.
`docs/quickbooks-errors.md` is made from this table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

UNKNOWN = "unknown_status"
"""Reason of a code that is not in the table."""

INVALID_ID = 3000
"""An id is not valid: of a page, the id of an iterator that has ended (`qbxml.md` §5)."""


@dataclass(frozen=True, slots=True)
class StatusFacts:
    """A status code: its stable name, what it means (for a developer), what to do (for a user).

    `retryable` tells that the same request may succeed later. `message` and `hint` of an unknown
    code are None.
    """

    code: int
    reason: str
    message: str | None = None
    hint: str | None = None
    retryable: bool = False


_CHANGED = "Somebody changed it at the same time. Queue the request again."
_IN_USE = "Somebody is working on it, or QuickBooks holds a lock on it. Queue the request again later."
_DATE_CLOSED = "The company file's books are closed up to a date. Use a later date, or let an administrator open them."
_ONLINE = "The request is for an online edition. Use a request that QuickBooks Desktop knows."
_CONFLICT = "Two elements of the request exclude each other. Leave one of them out."
_MACRO = "Queue requests without macros: each goes to QuickBooks alone."
_NUMBER = "Write a number with at most five decimals."
_QUERY_FIRST = "Query it first and use the ListID or TxnID returned."

_TABLE: Mapping[int, tuple[str, str, str]] = {
    0: ("ok", "QuickBooks did what was asked.", "Nothing has to be done."),
    1: ("no_match", "Nothing matches the query.", "This is an empty result, not an error."),
    500: (
        "some_not_found",
        "Some of the listed objects do not exist.",
        "Those that do were returned. Look up the others.",
    ),
    501: (
        "needs_higher_version",
        "The object cannot be expressed in this QBXML version.",
        "Use a higher version.",
    ),
    510: ("object_not_returned", "QuickBooks did what was asked and cannot return the object.", "Query the object."),
    530: ("field_not_supported", "A field is not supported by this QuickBooks.", "Remove the field."),
    531: (
        "value_not_supported",
        "A value of an enumeration is not supported by this QuickBooks.",
        "Use another value.",
    ),
    540: ("result_cut_off", "More objects match than the online edition returns.", "Ask for fewer objects."),
    550: ("notes_not_saved", "The object was saved without its notes.", "Write the notes by a request of their own."),
    560: ("field_deprecated", "A deprecated field was used.", "Look for the field that replaced it."),
    570: ("link_closed", "The transaction to link to is already closed.", "Link to one that is open."),
    600: (
        "nothing_stored",
        "QuickBooks has no stored answer under this message set id.",
        "It was most likely not executed. Look into the company file before you queue the request again.",
    ),
    1000: (
        "quickbooks_internal_error",
        "QuickBooks failed internally.",
        "Try again; if it stays so, verify the company file in QuickBooks.",
    ),
    1010: ("quickbooks_unavailable", "QuickBooks is not available at the moment.", "Queue the request again later."),
    1030: (
        "request_not_known",
        "This QuickBooks does not know the request.",
        "Check its name and the QBXML version.",
    ),
    1060: ("request_id_invalid", "The requestID is not valid.", "It may have at most 50 characters."),
    2000: ("online_sign_on_failed", "The sign-on to an online edition failed.", _ONLINE),
    2010: ("online_not_authorized", "The online edition does not authorize the application.", _ONLINE),
    2020: ("online_session_needed", "The online edition needs a signed-on session.", _ONLINE),
    2030: ("online_sign_on_version", "The online edition does not know the version of the sign-on.", _ONLINE),
    2040: ("online_internal_error", "The sign-on to an online edition failed internally.", _ONLINE),
    INVALID_ID: ("id_invalid", "An id in the request is not valid.", "Use a ListID or TxnID that QuickBooks returned."),
    3010: ("boolean_invalid", "A boolean is not valid.", "Write true or false."),
    3020: ("date_invalid", "A date is not valid.", "Write YYYY-MM-DD."),
    3030: ("date_range_invalid", "The date range begins after its end.", "Swap the two dates."),
    3031: ("range_invalid", "The range of names or numbers begins after its end.", "Swap the two."),
    3035: ("time_interval_invalid", "A time interval is not valid.", "Write PTnHnMnS."),
    3040: ("amount_invalid", "An amount is not valid.", "Write it with two decimals or none."),
    3045: ("price_invalid", "A price is not valid.", _NUMBER),
    3050: ("percentage_invalid", "A percentage is not valid.", _NUMBER),
    3060: ("quantity_invalid", "A quantity is not valid.", _NUMBER),
    3065: ("value_invalid", "A field has a value that is not valid.", "Correct the field that the message names."),
    3070: ("text_too_long", "A text is too long for its field.", "Shorten it."),
    3080: ("text_invalid", "A text is not valid.", "Correct the field that the message names."),
    3085: ("number_invalid", "A number is not valid.", "Correct the field that the message names."),
    3090: (
        "value_not_stored",
        "QuickBooks could not store a value.",
        "Correct the field that the message names.",
    ),
    3100: (
        "name_in_use",
        "The name is taken.",
        "Names are unique across customers, vendors, employees and other names. Use another.",
    ),
    3110: ("enum_invalid", "A value is none of its enumeration.", "Correct the field that the message names."),
    3120: ("not_found", "The object does not exist in this company file.", _QUERY_FIRST),
    3130: ("parent_not_found", "The parent does not exist.", "Create it first, or use its full name."),
    3140: (
        "reference_not_found",
        "The request refers to something that does not exist in this company file.",
        "Create it first.",
    ),
    3150: ("element_missing", "A required element is missing.", "Add the element that the message names."),
    3151: (
        "element_not_allowed",
        "An element is not allowed in this request.",
        "Remove the one that the message names.",
    ),
    3152: ("elements_conflict", "Elements exclude each other.", _CONFLICT),
    3153: ("elements_conflict", "Elements exclude each other.", _CONFLICT),
    3160: ("delete_refused", "The object cannot be deleted because it is in use.", "Make it inactive instead."),
    3161: ("date_closed", "The date is on or before the closing date.", _DATE_CLOSED),
    3162: (
        "not_in_multi_user_mode",
        "QuickBooks does not do this in multi-user mode.",
        "Switch QuickBooks to single-user mode and queue the request again.",
    ),
    3170: ("changed_meanwhile", "The list was changed by another user at the same time.", _CHANGED),
    3171: ("date_closed", "The date is on or before the closing date.", _DATE_CLOSED),
    3175: ("object_in_use", "The object is in use, or its lock was not acquired.", _IN_USE),
    3176: ("object_in_use", "A related object is in use, or its lock was not acquired.", _IN_USE),
    3180: ("changed_meanwhile", "The object could not be saved: the list was changed by another user.", _CHANGED),
    3185: ("void_failed", "The transaction could not be voided.", "Look at it in QuickBooks and at the message."),
    3190: ("clear_refused", "A field cannot be cleared.", "Give it a value, or leave it out."),
    3200: (
        "edit_sequence_out_of_date",
        "The object was changed since it was read.",
        "Query it again and use its new EditSequence.",
    ),
    3205: ("address_invalid", "An address is not valid.", "Correct the address: at most five lines of 41 characters."),
    3210: (
        "value_refused",
        "A field has a value that QuickBooks refuses.",
        "The message names field and value. Correct it.",
    ),
    3230: ("rolled_back", "The request was taken back with its message set.", "Correct the one that failed."),
    3231: (
        "not_processed",
        "An earlier request of the same message set failed, so that this one was not executed.",
        "Correct the one that failed and queue this one again.",
    ),
    3240: ("created_meanwhile", "The object is not the one that was meant: its creation time differs.", _QUERY_FIRST),
    3250: (
        "feature_off",
        "The feature is off, or this edition of QuickBooks lacks it.",
        "Turn it on in the company file's preferences.",
    ),
    3260: (
        "user_not_permitted",
        "The QuickBooks user may not do this.",
        "Let an administrator give the permission.",
    ),
    3261: (
        "application_not_permitted",
        "The application may not do this.",
        (
            "In QuickBooks, an administrator can change it: Edit, Preferences, Integrated Applications, Company"
            " Preferences, Properties."
        ),
    ),
    3262: (
        "personal_data_not_permitted",
        "The application may not read personal data.",
        (
            "In QuickBooks, an administrator can change it: Edit, Preferences, Integrated Applications, Company"
            " Preferences, Properties, Allow this application to access personal data."
        ),
    ),
    3263: (
        "application_read_only",
        "The application is registered as read-only.",
        "Add it to the Web Connector again without IsReadOnly.",
    ),
    3270: ("posting_account_missing", "An account to post to is missing.", "Name the account, or set it on the item."),
    9001: (
        "message_set_id_reused",
        "The message set id was used before with other content.",
        "Look into the company file before you queue the request again.",
    ),
    9002: (
        "nothing_stored",
        "QuickBooks has no usable stored answer under this message set id.",
        "It was most likely not executed. Look into the company file before you queue the request again.",
    ),
    9004: (
        "message_set_id_too_long",
        "The message set id is longer than 24 characters.",
        "Report this: the service makes the id.",
    ),
    9005: (
        "answer_not_stored",
        "QuickBooks could not store the answer under the message set id.",
        "Look into the company file before you queue the request again.",
    ),
}

_RETRYABLE = frozenset({1010, 3170, 3175, 3176, 3180})
"""QuickBooks answered, so that nothing was done; what stood in the way passes by itself (`qbxml.md` §9)."""

STATUSES: Mapping[int, StatusFacts] = {
    code: StatusFacts(code, *words, retryable=code in _RETRYABLE) for code, words in _TABLE.items()
}
"""Every code whose meaning is known."""

_MACRO_CODES = range(9100, 9200)


_SAYS_WHY = frozenset({3170, 3180})
"""Refusals to save for several reasons, which only the message tells apart: "already defined" does not pass."""

_PASSES = re.compile(r"modified by another user|\block", re.IGNORECASE)


def describe_status(code: int, message: str | None = None) -> StatusFacts:
    """Return what is known of a `statusCode` or `messageSetStatusCode`, given what QuickBooks says with it."""
    if code in _MACRO_CODES:
        return StatusFacts(code, "macro_error", "A macro of the request failed.", _MACRO)
    if code in _SAYS_WHY and message and not _PASSES.search(message):
        return StatusFacts(code, "save_refused", hint="QuickBooks says why: correct what it names.")
    return STATUSES.get(code) or StatusFacts(code, UNKNOWN)
