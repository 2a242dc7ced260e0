"""What the HRESULTs mean that the Web Connector passes on from QuickBooks (`qbxml.md` §10): a name, and what to do.

`docs/quickbooks-errors.md` is made from this table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

Executed: TypeAlias = Literal["no", "unknown"]

PARSE_ERROR = "0x80040400"
"""QuickBooks could not parse the request: it will never do so."""


UNKNOWN = "unknown_hresult"
"""Reason of a code that is not in the table."""


@dataclass(frozen=True, slots=True)
class HresultFacts:
    """An HRESULT: its code in one form (`0x8004040D`), its stable name, what it says, what to do about it.

    `executed` is `no` when QuickBooks cannot have executed the request, else `unknown`.
    `other_file_may_help` tells that the failure was about the company file that was to be opened.
    """

    code: str
    reason: str
    message: str
    hint: str | None
    executed: Executed
    other_file_may_help: bool = False


_OPEN_FILE = "Open the company file in QuickBooks, or set the connection's company file to its full path."
_ADMINISTRATOR = "Open the company file as QuickBooks administrator and allow the application under Edit, Preferences,"
_ALLOW = f"{_ADMINISTRATOR} Integrated Applications, Company Preferences."
_RESTART = "Restart QuickBooks and the Web Connector, then update again."
_LATER = "This mostly passes by itself. Should it last, restart QuickBooks."
_INSTALL = "Repair or reinstall QuickBooks and the Web Connector on this machine."

_FACTS: Mapping[str, tuple[str, str, str, Executed]] = {
    PARSE_ERROR: (
        "request_not_parsed",
        "QuickBooks found an error when parsing the provided XML text stream.",
        "The request is not valid for this QuickBooks. Check element names, their order, values and the QBXML version.",
        "no",
    ),
    "0x80040401": ("quickbooks_not_accessible", "Could not access QuickBooks.", _RESTART, "no"),
    "0x80040402": (
        "quickbooks_unexpected_error",
        "An unexpected error occurred in QuickBooks.",
        "Look into qbsdklog.txt on the QuickBooks machine.",
        "unknown",
    ),
    "0x80040403": (
        "company_file_cannot_be_opened",
        "Could not open the company file.",
        "Check that the path of the company file is right and that the machine can read it.",
        "no",
    ),
    "0x80040406": (
        "company_file_not_found",
        "The company file is invalid or was not found.",
        "Check the path of the company file.",
        "no",
    ),
    "0x80040408": (
        "quickbooks_cannot_be_started",
        "Could not start QuickBooks.",
        "Start QuickBooks by hand and look at what it shows.",
        "no",
    ),
    "0x8004040A": (
        "other_company_file_open",
        "Another company file is open than the one requested.",
        "Close it in QuickBooks, or correct the connection's company file.",
        "no",
    ),
    "0x8004040D": ("quickbooks_session_lost", "The session with QuickBooks is not valid any more.", _RESTART, "no"),
    "0x80040410": (
        "company_file_in_other_mode",
        "The company file is open in another mode than the one requested.",
        "Switch QuickBooks between single-user and multi-user mode, or close the file.",
        "no",
    ),
    "0x80040411": ("session_misused", "A session was begun before the connection was open.", _RESTART, "no"),
    "0x80040412": ("session_misused", "A session was begun twice.", _RESTART, "no"),
    "0x80040413": ("session_misused", "The connection was closed before its session.", _RESTART, "no"),
    "0x80040414": (
        "modal_dialog",
        "A dialog box is open in QuickBooks.",
        "Answer the dialog on the QuickBooks machine, then update again.",
        "no",
    ),
    "0x80040415": ("component_missing", "A component of QuickBooks is missing or damaged.", _INSTALL, "no"),
    "0x80040416": (
        "quickbooks_not_running",
        "QuickBooks is not running and no company file was named.",
        _OPEN_FILE,
        "no",
    ),
    "0x80040417": (
        "company_file_not_open",
        "QuickBooks has no company file open and none was named.",
        _OPEN_FILE,
        "no",
    ),
    "0x80040418": ("access_never_granted", "The application has never accessed this company file.", _ALLOW, "no"),
    "0x8004041A": ("no_permission", "The application has no permission to access this company file.", _ALLOW, "no"),
    "0x8004041B": ("lock_not_acquired", "QuickBooks could not get the lock it needs.", _LATER, "no"),
    "0x8004041C": (
        "company_file_access_failed",
        "An internal QuickBooks error occurred while accessing the company file.",
        _RESTART,
        "unknown",
    ),
    "0x8004041D": (
        "no_automatic_login",
        "The application may not log into this company file automatically.",
        f"{_ALLOW} Tick that it may log in automatically.",
        "no",
    ),
    "0x8004041E": ("certificate_expired", "The application's certificate has expired.", _ALLOW, "no"),
    "0x8004041F": (
        "edition_not_supported",
        "QuickBooks Basic does not accept requests.",
        "Use QuickBooks Pro or higher.",
        "no",
    ),
    "0x80040420": ("access_denied", "The QuickBooks user has denied access.", _ALLOW, "no"),
    "0x80040422": (
        "single_user_mode_needed",
        "Another application shares the file, and single-user mode was asked for.",
        "Close the other application, or switch to multi-user mode.",
        "no",
    ),
    "0x80040423": (
        "qbxml_version_not_supported",
        "QuickBooks does not support the QBXML version of the request.",
        "Queue the request again with a lower version.",
        "no",
    ),
    "0x80040424": ("quickbooks_starting", "QuickBooks had not finished starting.", _LATER, "no"),
    "0x80040427": (
        "quickbooks_not_registered",
        "QuickBooks is not registered.",
        "Register QuickBooks on this machine.",
        "no",
    ),
    "0x8004042A": ("remote_access_not_allowed", "Remote access to QuickBooks is not allowed.", _ALLOW, "no"),
    "0x8004042C": ("certificate_revoked", "The application's certificate was revoked.", _ALLOW, "no"),
    "0x80040308": ("sdk_unreachable", "The Web Connector cannot talk to QuickBooks.", _INSTALL, "no"),
    "0x80040154": (
        "request_processor_missing",
        "The QuickBooks request processor is not registered on this machine.",
        _INSTALL,
        "no",
    ),
    "0x80010105": ("quickbooks_failed", "QuickBooks failed while it worked on the request.", _RESTART, "unknown"),
    "0x800706BA": ("quickbooks_unreachable", "QuickBooks cannot be reached any more.", _RESTART, "unknown"),
    "0x800706BE": ("quickbooks_ended", "QuickBooks ended while it worked on the request.", _RESTART, "unknown"),
    "0x80040421": ("told_by_quickbooks", "QuickBooks refused and says why.", "Read what it says.", "unknown"),
    "0x80040425": ("parameter_invalid", "A parameter of the call was not valid.", _RESTART, "unknown"),
    "0x80040426": ("scripts_not_allowed", "QuickBooks does not allow scripts.", _ALLOW, "unknown"),
    "0x80040428": (
        "request_not_supported",
        "The request processor does not support the request.",
        "Queue the request again in another QBXML version.",
        "unknown",
    ),
    "0x80040429": (
        "message_set_not_supported",
        "The request processor does not support this kind of message set.",
        "Queue the request again in another QBXML version.",
        "unknown",
    ),
    "0x8004042B": ("interface_not_supported", "The Web Connector and QuickBooks do not fit.", _INSTALL, "unknown"),
}


_ABOUT_THE_FILE = frozenset({"0x80040403", "0x80040406", "0x8004040A"})

HRESULTS: Mapping[str, HresultFacts] = {
    code: HresultFacts(code, *words, other_file_may_help=code in _ABOUT_THE_FILE) for code, words in _FACTS.items()
}
"""Every code whose meaning is known."""


def describe(hresult: str) -> HresultFacts:
    """Return what is known of an HRESULT in any notation (`0x8004040d`, ` 8004040D`).

    Of an unknown one the outcome is unknown too.
    """
    code = "0x" + hresult.strip().upper().removeprefix("0X")
    message = f"QuickBooks reported {hresult.strip() or 'an error'}."
    return HRESULTS.get(code) or HresultFacts(code, UNKNOWN, message, None, "unknown")
