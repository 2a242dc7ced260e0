"""The errors of the simulator, with the codes of QuickBooks and of the Web Connector.

SimulatorError
├── QbwcError        a numbered Web Connector error: "QBWC1039: …"
├── HresultError     QuickBooks' request processor failed: an HRESULT and a text
├── RequestError     QuickBooks refuses one request: a status code and a message
├── TransportError   the HTTP call failed
└── ConnectorClosed  the Web Connector was stopped: it makes no further call
"""

from __future__ import annotations

HRESULTS = {
    "0x80010105": "The server threw an exception.",
    "0x80040154": "Class not registered.",
    "0x80040308": "The QuickBooks SDK components cannot be reached.",
    "0x80040400": "QuickBooks found an error when parsing the provided XML text stream.",
    "0x80040401": "Could not access QuickBooks.",
    "0x80040402": "Unexpected error. Check the qbsdklog.txt file for possible, additional information.",
    "0x80040403": "Could not open the specified QuickBooks company data file.",
    "0x80040406": "The specified QuickBooks company data file is invalid or was not found.",
    "0x80040408": "Could not start QuickBooks.",
    "0x8004040A": "A QuickBooks company data file is already open and it is different from the one requested.",
    "0x8004040D": "The ticket parameter is invalid.",
    "0x80040410": "The QuickBooks company data file is currently open in a mode other than the one specified.",
    "0x80040414": "A modal dialog box is showing in the QuickBooks user interface.",
    "0x80040415": "A required QuickBooks component is missing or damaged.",
    "0x80040416": "QuickBooks is not running and no company data file was named.",
    "0x80040417": "QuickBooks is running but no company data file is open.",
    "0x80040418": "This application has not accessed this QuickBooks company data file before.",
    "0x8004041A": "This application does not have permission to access this QuickBooks company data file.",
    "0x8004041B": "Unable to lock the necessary information. Try again later.",
    "0x8004041C": "An internal QuickBooks error occurred while accessing the company data file.",
    "0x8004041D": "This application is not allowed to log into this QuickBooks company data file automatically.",
    "0x8004041E": "This application's certificate is expired.",
    "0x8004041F": "QuickBooks Basic cannot accept XML requests.",
    "0x80040420": "The QuickBooks user has denied access.",
    "0x80040422": "This application requires single-user mode and another application is sharing the file.",
    "0x80040423": "The version of qbXML that was requested is not supported or is unknown.",
    "0x80040424": "QuickBooks did not finish its initialization. Please try again later.",
    "0x80040427": "QuickBooks is not registered.",
    "0x8004042A": "Remote access is not allowed.",
    "0x8004042C": "This application's certificate has been revoked.",
    "0x800706BA": "The RPC server is unavailable.",
    "0x800706BE": "The remote procedure call failed.",
}
"""The HRESULTs that the simulated QuickBooks names, with their texts. The keys are spelled as in QuickBooks."""

PARSE_ERROR = "0x80040400"
OTHER_FILE_OPEN = "0x8004040A"
UNSUPPORTED_VERSION = "0x80040423"


class SimulatorError(Exception):
    """Base of the exceptions that the simulator raises on purpose."""


class QbwcError(SimulatorError):
    """A Web Connector error with its number. `str()` gives "QBWC<code>: <message>"."""

    def __init__(self, code: int, message: str) -> None:
        self.code = code
        self.message = message
        super().__init__(f"QBWC{code}: {message}")


class HresultError(SimulatorError):
    """QuickBooks failed: `hresult` is "0x…", `message` its text, `detail` a reason that the simulator adds."""

    def __init__(self, hresult: str, message: str | None = None, detail: str = "") -> None:
        self.hresult = hresult
        self.message = message if message is not None else describe(hresult)
        self.detail = detail
        super().__init__(f"{hresult}: {self.message}{f' ({detail})' if detail else ''}")


class TransportError(SimulatorError):
    """The HTTP call had no usable response: refused, timed out, cut off, or of another content type."""


class ConnectorClosed(SimulatorError):
    """The user stopped the Web Connector in the middle of a session."""


def describe(hresult: str) -> str:
    """Return QuickBooks' text of an HRESULT ("0x…", any case)."""
    texts = {key.lower(): text for key, text in HRESULTS.items()}
    return texts.get(hresult.lower(), "QuickBooks reported an error.")


class RequestError(SimulatorError):
    """A request fails with a status of severity Error. Its message set continues, as `onError` says."""

    def __init__(self, code: int, message: str) -> None:
        self.code = code
        self.message = message
        super().__init__(f"{code}: {message}")
