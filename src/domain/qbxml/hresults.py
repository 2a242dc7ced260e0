"""What the HRESULTs mean that the Web Connector passes on from QuickBooks (`qbxml.md` §10)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

Executed: TypeAlias = Literal["no", "unknown"]

PARSE_ERROR = "0x80040400"
"""QuickBooks could not parse the request: it will never do so."""


@dataclass(frozen=True, slots=True)
class HresultFacts:
    """An HRESULT: its code in one form (`0x8004040D`), what it says, what to do about it.

    `executed` is `no` when QuickBooks cannot have executed the request, else `unknown`.
    """

    code: str
    message: str
    hint: str | None
    executed: Executed


_OPEN_FILE = "Open the company file in QuickBooks, or set the connection's company file to its full path."
_ADMINISTRATOR = "Open the company file as QuickBooks administrator and allow the application under Edit, Preferences,"
_ALLOW = f"{_ADMINISTRATOR} Integrated Applications, Company Preferences."
_RESTART = "Restart QuickBooks and the Web Connector, then update again."
_LATER = "Try again later."
_INSTALL = "Repair or reinstall QuickBooks and the Web Connector on this machine."

_FACTS: Mapping[str, tuple[str, str | None, Executed]] = {
    PARSE_ERROR: (
        "QuickBooks found an error when parsing the provided XML text stream.",
        "The request is not valid for this QuickBooks. Check element names, their order, values and the QBXML version.",
        "no",
    ),
    "0x80040401": ("Could not access QuickBooks.", _RESTART, "no"),
    "0x80040402": (
        "An unexpected error occurred in QuickBooks.",
        "Look into qbsdklog.txt on the QuickBooks machine.",
        "unknown",
    ),
    "0x80040403": (
        "Could not open the company file.",
        "Check that the path of the company file is right and that the machine can read it.",
        "no",
    ),
    "0x80040406": ("The company file is invalid or was not found.", "Check the path of the company file.", "no"),
    "0x80040408": ("Could not start QuickBooks.", "Start QuickBooks by hand and look at what it shows.", "no"),
    "0x8004040A": (
        "Another company file is open than the one requested.",
        "Close it in QuickBooks, or correct the connection's company file.",
        "no",
    ),
    "0x8004040D": ("The session with QuickBooks is not valid any more.", _RESTART, "no"),
    "0x80040410": (
        "The company file is open in another mode than the one requested.",
        "Switch QuickBooks between single-user and multi-user mode, or close the file.",
        "no",
    ),
    "0x80040411": ("A session was begun before the connection was open.", _RESTART, "no"),
    "0x80040412": ("A session was begun twice.", _RESTART, "no"),
    "0x80040413": ("The connection was closed before its session.", _RESTART, "no"),
    "0x80040414": (
        "A dialog box is open in QuickBooks.",
        "Answer the dialog on the QuickBooks machine, then update again.",
        "no",
    ),
    "0x80040415": ("A component of QuickBooks is missing or damaged.", _INSTALL, "no"),
    "0x80040416": ("QuickBooks is not running and no company file was named.", _OPEN_FILE, "no"),
    "0x80040417": ("QuickBooks has no company file open and none was named.", _OPEN_FILE, "no"),
    "0x80040418": ("The application has never accessed this company file.", _ALLOW, "no"),
    "0x8004041A": ("The application has no permission to access this company file.", _ALLOW, "no"),
    "0x8004041B": ("QuickBooks could not get the lock it needs.", _LATER, "no"),
    "0x8004041C": ("An internal QuickBooks error occurred while accessing the company file.", _RESTART, "unknown"),
    "0x8004041D": (
        "The application may not log into this company file automatically.",
        f"{_ALLOW} Tick that it may log in automatically.",
        "no",
    ),
    "0x8004041E": ("The application's certificate has expired.", _ALLOW, "no"),
    "0x8004041F": ("QuickBooks Basic does not accept requests.", "Use QuickBooks Pro or higher.", "no"),
    "0x80040420": ("The QuickBooks user has denied access.", _ALLOW, "no"),
    "0x80040422": (
        "Another application shares the file, and single-user mode was asked for.",
        "Close the other application, or switch to multi-user mode.",
        "no",
    ),
    "0x80040423": (
        "QuickBooks does not support the QBXML version of the request.",
        "Queue the request again with a lower version.",
        "no",
    ),
    "0x80040424": ("QuickBooks had not finished starting.", _LATER, "no"),
    "0x80040427": ("QuickBooks is not registered.", "Register QuickBooks on this machine.", "no"),
    "0x8004042A": ("Remote access to QuickBooks is not allowed.", _ALLOW, "no"),
    "0x8004042C": ("The application's certificate was revoked.", _ALLOW, "no"),
    "0x80040308": ("The Web Connector cannot talk to QuickBooks.", _INSTALL, "no"),
    "0x80040154": ("The QuickBooks request processor is not registered on this machine.", _INSTALL, "no"),
    "0x80010105": ("QuickBooks failed while it worked on the request.", _RESTART, "unknown"),
    "0x800706BA": ("QuickBooks cannot be reached any more.", _RESTART, "unknown"),
    "0x800706BE": ("QuickBooks ended while it worked on the request.", _RESTART, "unknown"),
}


def describe(hresult: str) -> HresultFacts:
    """Return what is known of an HRESULT in any notation (`0x8004040d`, ` 8004040D`).

    Of an unknown one the outcome is unknown too.
    """
    code = "0x" + hresult.strip().upper().removeprefix("0X")
    message, hint, executed = _FACTS.get(
        code, (f"QuickBooks reported {hresult.strip() or 'an error'}.", None, "unknown")
    )
    return HresultFacts(code, message, hint, executed)
