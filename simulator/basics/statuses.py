"""The status codes of responses: their texts, where the texts come from, and what gets a request each of them.

FIDELITY.md shows this table, and a test sends a request for each row. A code without a cause is answered only by the
fault `status`, because QuickBooks' reason for it is not documented or lies outside of the simulator.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from simulator.basics.sources import CAPTURED, INTUIT, NOT_VERIFIED, REPORTED, Source

LINK_CLOSED = 570
"""A link to a closed order. The number is that of a warning, but QuickBooks stores nothing."""
NOT_RETURNED, NOTES_LOST = 510, 550
_FIRST_WARNING, _FIRST_ERROR = 500, 1000


@dataclass(frozen=True, slots=True)
class Status:
    """One status code.

    `text` is QuickBooks' message with `{object}`, `{field}` and `{value}`. After it, and after "QuickBooks error
    message:", a reason of our own wording can follow. `cause` says what gets the status, and `why_not` why nothing but
    the fault does.
    """

    text: str
    source: Source
    cause: str = ""
    why_not: str = ""
    reason: str = ""
    """The end of the message that the fault answers."""


def severity_of(code: int) -> str:
    """Return the statusSeverity of a code."""
    if code >= _FIRST_ERROR or code == LINK_CLOSED:
        return "Error"
    return "Warn" if code >= _FIRST_WARNING else "Info"


def example_of(code: int, kind: str) -> str:
    """Return QuickBooks' message of a status for a kind of record, with words in place of the values."""
    status = STATUSES.get(code)
    text = status.text if status is not None else "An error that was ordered from the simulator."
    reason = f"  QuickBooks error message: {status.reason}" if status is not None and status.reason else ""
    return text.format_map(defaultdict(lambda: "…", object=kind)) + reason


def _same(text: str, source: Source, cause: str = "", why_not: str = "", reason: str = "") -> Status:
    return Status(text, source, cause, why_not, reason)


def _own(text: str, cause: str = "", why_not: str = "") -> Status:
    return Status(text, NOT_VERIFIED, cause, why_not)


_CONVERTING = 'There was an error when converting the {kind} "{{value}}" in the field "{{field}}".'
_OUTSIDE = "It comes from QuickBooks as a program, not from the books."
_LOCKED = "The books have one user at a time."
_MODIFIED = "This list has been modified by another user."
_NOT_KNOWN = "Its meaning is not documented well enough for a rule."

STATUSES: dict[int, Status] = {
    0: _same("Status OK", INTUIT, "A request that is executed."),
    1: _same(
        "A query request did not find a matching object in QuickBooks", INTUIT, "A query whose filters match nothing."
    ),
    500: _same(
        'The query request has not been fully completed. There was a required element ("{value}") that could not be'
        " found in QuickBooks.",
        INTUIT,
        "A query for an id, name or number that does not exist, alone or among others.",
    ),
    501: _same(
        'Unable to represent {object} "{value}" in this version of the qbXML spec.',
        INTUIT,
        "A query whose result has objects that the version of the request does not have.",
    ),
    510: _same("Unable to return object.", INTUIT, why_not="The simulator can return every object that it stores."),
    530: _same(
        'The field "{field}" is not supported by this implementation.',
        INTUIT,
        "A field that the edition does not have. The request is executed without it.",
    ),
    531: _same(
        'The enum value "{value}" in the field "{field}" is not supported by this implementation.',
        INTUIT,
        why_not="No document lists values that an edition does not have.",
    ),
    550: _same(
        "The {object} object was saved successfully, but its corresponding Notes record could not be saved.",
        INTUIT,
        why_not=_OUTSIDE,
    ),
    560: _same(
        "Use of this field is no longer recommended.", INTUIT, why_not="No list of the deprecated fields is at hand."
    ),
    570: _same(
        'Unable to link to transaction "{value}" because it has already been closed.',
        INTUIT,
        "A link to an order that is closed or fully invoiced. The severity is Error, because nothing is stored.",
    ),
    1000: _same("There has been an internal error when processing the request.", INTUIT, why_not=_OUTSIDE),
    1010: _same("System not available", INTUIT, why_not=_OUTSIDE),
    1030: _same(
        "This request is not supported by this implementation.",
        INTUIT,
        why_not="A request that the schema does not have is an HRESULT, and one that an edition does not have is 3250.",
    ),
    1060: _same(
        'The request ID "{value}" is invalid, possibly too long, max 50 chars.',
        INTUIT,
        "A `requestID` with more than 50 characters.",
    ),
    3000: _same(
        'The given object ID "{value}" in the field "{field}" is invalid. ',
        CAPTURED,
        "An id in another form than `80000001-1234567890`, or with more than 36 characters; an iterator that ended.",
    ),
    3010: _same(_CONVERTING.format(kind="boolean value"), INTUIT, "A boolean that is not true, false, 1 or 0."),
    3020: _same(_CONVERTING.format(kind="date value"), INTUIT, "A date that does not exist or has another form."),
    3030: _same(
        "Invalid date range: From date is greater than To date.", INTUIT, "A range of dates from later to earlier."
    ),
    3031: _own(
        'Invalid string range: the "From" value is greater than the "To" value.',
        "A range of names or numbers from later to earlier.",
    ),
    3035: _own(_CONVERTING.format(kind="time interval"), "A duration that is not PTnHnMnS."),
    3040: _own(_CONVERTING.format(kind="amount"), "An amount with one decimal, or with three."),
    3045: _own(_CONVERTING.format(kind="price"), "A price with six decimals."),
    3050: _own(_CONVERTING.format(kind="percentage"), "A percentage with six decimals."),
    3060: _own(_CONVERTING.format(kind="quantity"), "A quantity with six decimals."),
    3070: _same('The string "{value}" in the field "{field}" is too long.', REPORTED, "A text longer than its field."),
    3085: _own(_CONVERTING.format(kind="number"), "An exchange rate that is not a number."),
    3100: _same(
        'The name "{value}" of the list element is already in use.',
        CAPTURED,
        "A name that is in use, by a vendor, employee or other name too.",
    ),
    3120: _same(
        'Object "{value}" specified in the request cannot be found.',
        CAPTURED,
        "A reference by an id that does not exist; a payment of what is paid.",
    ),
    3130: _same(
        'There is an invalid reference to a parent "{value}" in the {object}s list.',
        REPORTED,
        "A parent that does not exist or cannot be one.",
    ),
    3140: _same(
        'There is an invalid reference to QuickBooks {field} "{value}" in the {object}.',
        REPORTED,
        "A reference by a name that does not exist or is inactive.",
    ),
    3150: _same('There is a missing element: "{field}".', REPORTED, "An iterator without MaxReturned."),
    3151: _own("An element is not allowed in the request.", why_not=_NOT_KNOWN),
    3152: _own("Two elements of the request exclude each other.", why_not=_NOT_KNOWN),
    3153: _own("Two elements of the request exclude each other.", why_not=_NOT_KNOWN),
    3160: _own(
        'Cannot delete the object specified by the id = "{value}".',
        "The deletion of an object in use or of a payment that is deposited.",
    ),
    3161: _own(
        "An attempt was made to delete a transaction with a date that is on or before the closing date of the company.",
        "The deletion of a transaction on or before `closing_date`.",
    ),
    3162: _same(
        "Operation not allowed while in multi-user mode.", REPORTED, "ListMerge while `single_user_mode` is off."
    ),
    3170: _same(
        "There was an error when modifying a {object}.",
        REPORTED,
        "A change that QuickBooks does not save, such as one to a negative total.",
        reason=_MODIFIED,
    ),
    3171: _own(
        "An attempt was made to modify a transaction with a date that is on or before the closing date of the company.",
        "Adding, changing or voiding a transaction on or before `closing_date`.",
    ),
    3175: _same(
        "There was an error adding, modifying or deleting an object because it is already in use.",
        REPORTED,
        why_not=_LOCKED,
        reason="The internals could not be locked.  They are in use by another user.",
    ),
    3176: _same(
        "There was an error when saving because a related object is in use.",
        REPORTED,
        why_not=_LOCKED,
        reason="QuickBooks failed to acquire the lock for the object: the list element is in use.",
    ),
    3180: _same(
        "There was an error when saving a {object}.",
        REPORTED,
        "A new record that QuickBooks does not save, such as a journal entry out of balance.",
        reason=_MODIFIED,
    ),
    3185: _own("There was an error when voiding a {object}.", "Voiding a payment that is deposited."),
    3190: _same(
        "Cannot clear the element in the {field} field.",
        REPORTED,
        "An empty element for a field that must have a value.",
    ),
    3200: _same(
        'The provided edit sequence "{value}" is out-of-date. ',
        CAPTURED,
        "A Mod with another EditSequence than the record's. The fault `user-edits` changes it before the Mod.",
    ),
    3205: _own("An address is not valid.", why_not=_NOT_KNOWN),
    3210: _same('The "{field}" field has an invalid value "{value}".', REPORTED, "A value that a rule refuses."),
    3220: _own("The number is not valid, or it is in use.", why_not="Sources contradict each other about its meaning."),
    3231: _same("The request has not been processed.", CAPTURED, "A request after one that failed, with stopOnError."),
    3240: _own(
        'The creation time in the object ID "{value}" is not the one of the object in QuickBooks.',
        "An id with the number of an object and another creation time.",
    ),
    3250: _same(
        "This feature is not enabled or not available in this version of QuickBooks.",
        REPORTED,
        "What a preference that is off covers; a request that the edition does not have.",
    ),
    3260: _same(
        "Insufficient permission level to perform this action.", REPORTED, "A report while `reports_permitted` is off."
    ),
    3261: _own(
        "The integrated application has no permission to access the data.",
        why_not="The Web Connector asks for access to the whole company when it registers an application.",
    ),
    3262: _own(
        "The integrated application has no permission to access personal data.",
        "A request with SSN while `personal_data_permitted` is off.",
    ),
    3263: _own(
        "The integrated application has read-only access to the company.",
        "Any request but a query while `writes_permitted` is off.",
    ),
    3270: _same(
        "Missing posting account.", REPORTED, "A line with an amount and nothing that says which account it posts to."
    ),
    9100: _own(
        'The macro "{value}" is not defined in this message set.', "A `useMacro` without a `defMacro` before it."
    ),
    9101: _own('The macro "{value}" is already defined in this message set.', "A `defMacro` that is defined already."),
}
"""The statuses by code."""

NOT_AVAILABLE = STATUSES[3250].text.removesuffix(".")
"""The beginning of the message of every status 3250."""

OTHER_TEXTS = {3180: ("You do not have sufficient quantities to build this assembly.",)}
"""Further texts of QuickBooks, from captured responses."""
