"""The meanings of the HRESULTs that the Web Connector reports in place of a response.

`docs/errors.md` lists them. Each meaning is either documented or known from the field (see
docs/reference/qbxml-rules.md, HRESULTs).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

Executed: TypeAlias = Literal["no", "unknown"]
HresultKind: TypeAlias = Literal["invalid_request", "unavailable", "unknown"]

PARSE_ERROR = "0x80040400"

UNKNOWN = "unknown_hresult"
"""The reason for a code without an entry."""


@dataclass(frozen=True, slots=True)
class Hresult:
    """An HRESULT: its code in one notation (`0x8004040D`), a stable name, its meaning and a hint.

    `kind` is `invalid_request` if this request can never succeed. It is `unavailable` if QuickBooks is busy, closed
    or out of reach, so every request would fail now. Otherwise it is `unknown`. `executed` is `no` if QuickBooks
    cannot have executed the request. `may_continue` is true if QuickBooks may still be executing the request.
    `other_file_may_help` is true if opening the company file failed.
    """

    code: str
    reason: str
    message: str
    hint: str | None
    kind: HresultKind
    executed: Executed
    may_continue: bool = False
    other_file_may_help: bool = False

    @property
    def proves_no_execution(self) -> bool:
        """Whether QuickBooks cannot have executed the request."""
        return self.executed == "no"

    @property
    def fails_every_request(self) -> bool:
        """Whether QuickBooks refused the call without looking at the request, so every request would fail now."""
        return self.kind == "unavailable" and self.proves_no_execution


_OPEN_FILE = "Open the company file in QuickBooks, or set the connection's company file to its full path."
_ALLOW = (
    "Open the company file as the QuickBooks administrator and allow the application under Edit > Preferences >"
    " Integrated Applications > Company Preferences."
)
_RESTART = "Restart QuickBooks and the Web Connector, then choose Update Selected."
_WAIT = "This usually resolves itself. If it does not, restart QuickBooks."
_REPAIR = "Repair or reinstall QuickBooks and the Web Connector on this machine."
_OTHER_VERSION = "Use another QBXML version."

# fmt: off
_INVALID_REQUEST = {
    PARSE_ERROR: ("request_not_parsed", "QuickBooks found an error when parsing the request.",
        "Check the names, order and values of the elements, and the QBXML version."),
    "0x80040423": ("qbxml_version_not_supported", "QuickBooks does not support the QBXML version of the request.",
        "Use a lower QBXML version."),
    "0x80040428": ("request_not_supported", "QuickBooks does not support this request.", _OTHER_VERSION),
    "0x80040429": ("message_set_not_supported", "QuickBooks does not support this kind of message set.",
        _OTHER_VERSION),
}
_UNAVAILABLE = {
    "0x80040401": ("quickbooks_not_accessible", "QuickBooks could not be accessed.", _RESTART),
    "0x80040403": ("company_file_cannot_be_opened", "The company file could not be opened.",
        "Check that the path of the company file is correct and that the machine can read the file."),
    "0x80040406": ("company_file_not_found", "The company file is invalid or was not found.",
        "Check the path of the company file."),
    "0x80040408": ("quickbooks_cannot_be_started", "QuickBooks could not be started.",
        "Start QuickBooks by hand and read what it shows."),
    "0x8004040A": ("other_company_file_open", "A different company file is open.",
        "Close it in QuickBooks, or correct the connection's company file."),
    "0x8004040D": ("quickbooks_session_lost", "The session with QuickBooks is no longer valid.", _RESTART),
    "0x80040410": ("company_file_in_other_mode", "The company file is open in a different mode.",
        "Switch QuickBooks between single-user and multi-user mode, or close the file."),
    "0x80040411": ("session_misused", "A session was started before the connection was open.", _RESTART),
    "0x80040412": ("session_misused", "A session was started twice.", _RESTART),
    "0x80040413": ("session_misused", "The connection was closed before its session.", _RESTART),
    "0x80040414": ("modal_dialog", "A dialog box is open in QuickBooks.",
        "Close the dialog box on the QuickBooks machine, then choose Update Selected."),
    "0x80040415": ("component_missing", "A component of QuickBooks is missing or damaged.", _REPAIR),
    "0x80040416": ("quickbooks_not_running", "QuickBooks is not running and no company file was named.", _OPEN_FILE),
    "0x80040417": ("company_file_not_open", "QuickBooks has no company file open and none was named.", _OPEN_FILE),
    "0x80040418": ("access_never_granted", "The application has never accessed this company file.", _ALLOW),
    "0x8004041A": ("no_permission", "The application does not have permission to access this company file.", _ALLOW),
    "0x8004041B": ("lock_not_acquired", "QuickBooks could not acquire a lock.", _WAIT),
    "0x8004041C": ("company_file_access_failed", "QuickBooks failed internally while accessing the company file.",
        _RESTART),
    "0x8004041D": ("no_automatic_login", "The application may not log in to this company file automatically.",
        f"{_ALLOW} Allow it to log in automatically."),
    "0x8004041E": ("certificate_expired", "The application's certificate has expired.", _ALLOW),
    "0x8004041F": ("edition_not_supported", "QuickBooks Basic does not accept requests.",
        "Use QuickBooks Pro or a higher edition."),
    "0x80040420": ("access_denied", "The QuickBooks user denied access.", _ALLOW),
    "0x80040422": ("single_user_mode_needed", "Single-user mode was requested, but another application uses the file.",
        "Close the other application, or switch to multi-user mode."),
    "0x80040424": ("quickbooks_starting", "QuickBooks had not finished starting.", _WAIT),
    "0x80040426": ("scripts_not_allowed", "QuickBooks does not allow scripts.", _ALLOW),
    "0x80040427": ("quickbooks_not_registered", "QuickBooks is not registered.",
        "Register QuickBooks on this machine."),
    "0x8004042A": ("remote_access_not_allowed", "QuickBooks does not allow remote access.", _ALLOW),
    "0x8004042B": ("interface_not_supported", "The Web Connector and QuickBooks are not compatible.", _REPAIR),
    "0x8004042C": ("certificate_revoked", "The application's certificate was revoked.", _ALLOW),
    "0x80040308": ("sdk_unreachable", "The Web Connector cannot communicate with QuickBooks.", _REPAIR),
    "0x80040154": ("request_processor_missing", "QuickBooks' request processor is not registered on this machine.",
        _REPAIR),
    "0x80010105": ("quickbooks_failed", "QuickBooks failed while it processed the request.", _RESTART),
    "0x800706BA": ("quickbooks_unreachable", "QuickBooks can no longer be reached.", _RESTART),
    "0x800706BE": ("quickbooks_ended", "QuickBooks ended while it processed the request.", _RESTART),
}
_UNKNOWN_CAUSE = {
    "0x80040402": ("quickbooks_unexpected_error", "An unexpected error occurred in QuickBooks.",
        "Read qbsdklog.txt on the QuickBooks machine."),
    "0x80040421": ("told_by_quickbooks", "QuickBooks refused the request.", "Read its message."),
    "0x80040425": ("parameter_invalid", "A parameter of the call was not valid.", _RESTART),
}
# fmt: on

_MAY_BE_EXECUTED = frozenset(
    (
        *("0x80040402", "0x8004041C", "0x80040421", "0x80040425", "0x80040426", "0x80040428", "0x80040429"),
        *("0x8004042B", "0x80010105", "0x800706BA", "0x800706BE"),
    )
)
"""Codes after which QuickBooks may have executed the request."""

_MAY_CONTINUE = frozenset({"0x80010105", "0x800706BA", "0x800706BE"})
"""Failures of the call to QuickBooks. QuickBooks may continue after the call has failed."""

_CANNOT_OPEN_FILE = frozenset({"0x80040403", "0x80040406", "0x8004040A"})

_KINDS: Mapping[HresultKind, Mapping[str, tuple[str, str, str]]] = {
    "invalid_request": _INVALID_REQUEST,
    "unavailable": _UNAVAILABLE,
    "unknown": _UNKNOWN_CAUSE,
}

HRESULTS: Mapping[str, Hresult] = {
    code: Hresult(
        code,
        *entry,
        kind=kind,
        executed="unknown" if code in _MAY_BE_EXECUTED else "no",
        may_continue=code in _MAY_CONTINUE,
        other_file_may_help=code in _CANNOT_OPEN_FILE,
    )
    for kind, entries in _KINDS.items()
    for code, entry in entries.items()
}
"""Every HRESULT with a known meaning, by its code."""


def describe_hresult(hresult: str) -> Hresult:
    """Return the meaning of an HRESULT, known or unknown, in any notation (`0x8004040d`, ` 8004040D`)."""
    code = "0x" + hresult.strip().upper().removeprefix("0X")
    message = f"QuickBooks reported {hresult.strip() or 'an error'}."
    return HRESULTS.get(code) or Hresult(
        code, UNKNOWN, message, None, kind="unknown", executed="unknown", may_continue=True
    )
