"""The Web Connector: runs sessions with a service in the order of the protocol.

serverVersion → clientVersion → authenticate → (QuickBooks opens) → sendRequestXML ⇄ receiveResponseXML →
closeConnection. It calls getLastError, connectionError and the interactive methods if responses require them. A call
that fails ends the session with the number of its method, as in the real Web Connector. Nothing is repeated.

Intuit's guide leaves some cases open. This connector calls closeConnection after a postponed update, after `done` from
connectionError and after QBWC1014. After the user stops a session it makes no further call.
"""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simulator.basics.errors import ConnectorClosed, HresultError, QbwcError, TransportError
from simulator.web_connector import soap
from simulator.web_connector.qwc import QwcFile, read_qwc
from simulator.web_connector.soap import SoapError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from simulator.company import Company
    from simulator.web_connector.quickbooks import QuickBooks, Session
    from simulator.web_connector.transport import Transport

CLIENT_VERSION = "2.3.0.215"
NO_OP_WAIT_SECONDS = 5
"""How long the Web Connector waits after NoOp. It cannot be changed."""
BUSY = "Application Busy"
"""The status of a session that the service refuses, because it is busy with another one of the same user."""
MAX_OPEN_ATTEMPTS = 20
"""The real Web Connector retries until connectionError returns `done`. This one gives up, because a test must end."""

_HCP_REQUEST = (
    '<?xml version="1.0" encoding="utf-8"?>\n<?qbxml version="{version}"?>\n'
    '<QBXML>\n<QBXMLMsgsRq onError="continueOnError">\n<HostQueryRq requestID="0" />\n'
    '<CompanyQueryRq requestID="1"><OwnerID>{owner_id}</OwnerID></CompanyQueryRq>\n'
    '<PreferencesQueryRq requestID="2" />\n</QBXMLMsgsRq>\n</QBXML>'
)

FAILED_CALL = {
    "clientVersion": 1036,
    "authenticate": 1012,
    "sendRequestXML": 1041,
    "receiveResponseXML": 1042,
    "getLastError": 1043,
    "closeConnection": 1044,
    "connectionError": 1045,
}
"""The error number of each method. The interactive methods have none."""
_FAILED = 1006
_BAD_CLIENT_VERSION_ANSWER = 1046
_REFUSED_CLIENT_VERSION = 1037
_HCP_FAILED = 1014
_QUICKBOOKS_NOT_OPEN = 1013
_INVALID_PASSWORD = 1040
_CERTIFICATE = 1048
_SUPPORT_STATUS = 1003
_SUPPORT_UNREACHABLE = 1004
_OTHER_FILE_ID = 1039


@dataclass(frozen=True, slots=True)
class SessionResult:
    """The result of a session.

    `status` is the text of the Status column. `error` is None, the QBWC number, or the negative number that the service
    returned from receiveResponseXML. A text of getLastError without a number is only a status.

    `requests` counts the requests that QuickBooks got. `postpone_seconds` and `min_interval_seconds` are the values of
    authenticate for the scheduler (None: none, or Auto-Run is off).
    """

    status: str
    error: int | None = None
    requests: int = 0
    postpone_seconds: int | None = None
    min_interval_seconds: int | None = None
    stopped: bool = False


class WebConnector:
    """One application in the Web Connector.

    `sleep` waits for seconds. `stopped` returns whether the user pressed Stop. `on_progress(percent, text)` is the
    Status column, `on_call(method, text)` the log. `interactive(url)` asks the user to open a web page,
    `on_warning(text)` to continue after a warning of clientVersion. `auto_run` is the Auto-Run box. Without it the
    scheduler's values do not count.
    """

    def __init__(
        self,
        qwc: QwcFile,
        password: str,
        company: QuickBooks,
        transport: Transport,
        *,
        sleep: Callable[[float], object] = time.sleep,
        stopped: Callable[[], bool] = lambda: False,
        on_progress: Callable[[int, str], None] = lambda _percent, _text: None,
        on_call: Callable[[str, str], None] | None = None,
        interactive: Callable[[str], bool] = lambda _url: False,
        on_warning: Callable[[str], bool] = lambda _text: True,
        client_version: str = CLIENT_VERSION,
        machine: str = "SIMULATOR",
    ) -> None:
        self.qwc = qwc
        self.company = company
        self.auto_run = False
        self.sleep = sleep
        self.stopped = stopped
        self._password = password
        self._transport = transport
        self._on_progress = on_progress
        self._on_call = on_call
        self._interactive = interactive
        self._on_warning = on_warning
        self._client_version = client_version
        self._machine = machine

    @classmethod
    def from_file(cls, path: Path, password: str, company: Company, transport: Transport) -> WebConnector:
        """Read the `.qwc` file at `path`. Raises `QbwcError` for a file that cannot be added."""
        return cls(read_qwc(path.read_text(encoding="utf-8-sig")), password, company, transport)

    def add_application(self) -> None:
        """Add the application: check the certificate and the support page, and write the FileID into the company.

        Raises `QbwcError` 1048, 1003, 1004, or 1039 when the company has another FileID of the same OwnerID.
        """
        self._check_certificate()
        try:
            status = self._transport.get(self.qwc.app_support)
        except TransportError as error:
            raise QbwcError(_SUPPORT_UNREACHABLE, f"AppSupport cannot be reached: {error}") from error
        if status not in {200, 202}:
            raise QbwcError(_SUPPORT_STATUS, f"AppSupport answers {status}, not 200 or 202.")
        with self.company.lock:
            fields = self.company.private_fields.setdefault(self.qwc.owner_id, {})
            if fields.setdefault("FileID", self.qwc.file_id) != self.qwc.file_id:
                raise QbwcError(
                    _OTHER_FILE_ID,
                    "Unique OwnerID/FileID pair value required: the company has another FileID of this OwnerID.",
                )
            # The real value ends with .NET ticks. Any number that tells two locks apart does.
            fields.setdefault("AppLock", f"LOCKED:{self._machine}:{self.company.clock.seconds() * 10_000_000}")

    def run_session(self) -> SessionResult:
        """Run one session from the certificate check to its end. Failures are in the result, and none is raised."""
        session = _Session(self)
        try:
            self._check_certificate()
            return session.run()
        except QbwcError as error:
            self._on_progress(0, str(error))
            return SessionResult(str(error), error.code, session.requests)
        except ConnectorClosed as closed:
            text = str(closed) or "Stopped by the user"
            self._on_progress(0, text)
            return SessionResult(text, requests=session.requests, stopped=True)
        finally:
            session.end()

    def progress(self, percent: int, text: str) -> None:
        """Show a line in the Status column."""
        self._on_progress(percent, text)

    def log(self, method: str, text: str) -> None:
        """Write a line of the log."""
        if self._on_call is not None:
            self._on_call(method, text)

    def pause(self) -> None:
        """Wait after NoOp. Raises `ConnectorClosed` when the user presses Stop."""
        self.sleep(NO_OP_WAIT_SECONDS)
        if self.stopped():
            raise ConnectorClosed

    def call(self, method: str, **parts: str | int | None) -> tuple[int, bytes]:
        """Make one SOAP call. Raises `QbwcError` with the method's number when no response arrives."""
        if self._on_call is not None:  # logging megabytes that nobody reads would take longer than the call
            shown = {name: "***" if name == "strPassword" else value for name, value in parts.items()}
            self._on_call(method, f"→ {shown}")
        try:
            return self._transport.post(self.qwc.app_url, soap.call_headers(method), soap.envelope(method, parts))
        except TransportError as error:
            raise call_failed(method, error) from error

    def call_for_string(self, method: str, **parts: str | int | None) -> str:
        """Make a call that returns a string. Raises `QbwcError` with the method's number."""
        reply = self.call(method, **parts)
        try:
            text = soap.read_string(method, *reply)
        except SoapError as error:
            raise call_failed(method, error) from error
        if self._on_call is not None:
            self._on_call(method, f"← {text!r}")
        return text

    @property
    def password(self) -> str:
        """The password that the user typed."""
        return self._password

    @property
    def client_version(self) -> str:
        """The version that this Web Connector sends in clientVersion."""
        return self._client_version

    def user_accepts(self, url: str) -> bool:
        """Ask the user to open a web page."""
        return self._interactive(url)

    def user_continues(self, warning: str) -> bool:
        """Ask the user to continue after a warning."""
        return self._on_warning(warning)

    def _check_certificate(self) -> None:
        try:
            status = self._transport.get(self.qwc.cert_url)
        except TransportError as error:
            raise QbwcError(
                _CERTIFICATE, f"Could not verify the web application server certificate: {error}"
            ) from error
        if status != 200:  # noqa: PLR2004 - HTTP OK
            raise QbwcError(
                _CERTIFICATE, f"Could not verify the web application server certificate: GET answered {status}."
            )


def call_failed(method: str, reason: Exception) -> QbwcError:
    """Return the Web Connector's error for a call that failed."""
    name = method[0].upper() + method[1:]
    return QbwcError(FAILED_CALL.get(method, _FAILED), f"{name} failed. {reason}")


class _Session:
    """The state of one session: its ticket, the open company and its progress."""

    def __init__(self, connector: WebConnector) -> None:
        self._connector = connector
        self._ticket = ""
        self._books: Session | None = None
        self._path = ""
        self.requests = 0

    def end(self) -> None:
        """End the session with QuickBooks and its iterators."""
        if self._books is not None:
            self._books.end()

    def run(self) -> SessionResult:
        refused = self._greet()
        if refused is not None:
            return refused
        status, postpone, min_interval = self._authenticate()
        if postpone:
            return self._close("Update postponed by application", postpone=postpone, min_interval=min_interval)
        refusal = _REFUSALS.get(status.lower())
        if refusal is not None:
            text, code = refusal
            return self._close(text, code, min_interval=min_interval)
        opened = self._open(status)
        if isinstance(opened, str):
            return self._close(opened, _QUICKBOOKS_NOT_OPEN, min_interval=min_interval)
        self._books = opened
        try:
            facts = opened.process_request(
                _HCP_REQUEST.format(
                    version=self._connector.company.product.highest_version, owner_id=self._connector.qwc.owner_id
                )
            )
        except HresultError as error:
            return self._close(f"QBWC{_HCP_FAILED}: {error}", _HCP_FAILED, min_interval=min_interval)
        text, code = self._exchange(facts)
        return self._close(text, code, min_interval=min_interval)

    def _greet(self) -> SessionResult | None:
        """Exchange versions. Return a result if the service refuses this Web Connector."""
        connector = self._connector
        for method, parts in (("serverVersion", {}), ("clientVersion", {"strVersion": connector.client_version})):
            reply = connector.call(method, **parts)
            try:
                text = soap.read_string(method, *reply)
            except SoapError as error:
                if not error.fault:
                    raise call_failed(method, error) from error
                text = ""  # both methods are optional: a service without them returns a fault
            connector.log(method, f"← {text!r}")
        if text == "":
            return None
        kind, message = text[:2], text[2:]
        if kind == "W:":
            if connector.user_continues(message):
                return None
            return SessionResult(f"QBWC{_REFUSED_CLIENT_VERSION}: {message}", _REFUSED_CLIENT_VERSION)
        if kind == "E:":
            connector.progress(0, message)
            return SessionResult(f"QBWC{_REFUSED_CLIENT_VERSION}: {message}", _REFUSED_CLIENT_VERSION)
        if kind == "O:":
            reason = f"The service expects Web Connector {message}; this is {connector.client_version}."
            connector.progress(0, reason)
            return SessionResult(reason, _REFUSED_CLIENT_VERSION)
        raise QbwcError(_BAD_CLIENT_VERSION_ANSWER, f"clientVersion answered with a syntax that is not known: {text!r}")

    def _authenticate(self) -> tuple[str, int, int | None]:
        """Log in. Return the status, the seconds to postpone (0: none) and the scheduler's minimum interval."""
        connector = self._connector
        reply = connector.call(
            "authenticate", strUserName=connector.qwc.user_name, strPassword=connector.password
        )  # fmt: skip
        try:
            strings = soap.read_strings("authenticate", *reply)
        except SoapError as error:
            raise call_failed("authenticate", error) from error
        if len(strings) < 2:  # noqa: PLR2004 - ticket and status
            raise call_failed("authenticate", SoapError(f"it returned {len(strings)} strings, not 2 to 4"))
        connector.log("authenticate", f"← {['***', *strings[1:]]}")
        self._ticket, status = strings[:2]
        if not connector.auto_run:
            return status, 0, None
        postpone, min_interval = (
            int(text) if text.isascii() and text.isdigit() else 0 for text in [*strings[2:], "", ""][:2]
        )
        return status, postpone, min_interval or None

    def _open(self, path: str) -> Session | str:
        """Open the company, report each failure, and return QuickBooks' message when the service gives up."""
        connector = self._connector
        for _ in range(MAX_OPEN_ATTEMPTS):
            try:
                books = connector.company.begin_session(connector.qwc.app_name, path)
            except HresultError as error:
                text = f"QBWC{_QUICKBOOKS_NOT_OPEN}: {error.message}"
                connector.progress(0, text)
                reply = connector.call_for_string(
                    "connectionError", ticket=self._ticket, hresult=error.hresult, message=error.message
                )
                if reply.lower() == "done":
                    return text
                path = reply
            else:
                self._path = connector.company.path
                return books
        return f"QBWC{_QUICKBOOKS_NOT_OPEN}: gave up after {MAX_OPEN_ATTEMPTS} attempts"

    def _exchange(self, facts: str) -> tuple[str, int | None]:
        """Exchange requests and responses until the service has no more. Return status text and error number."""
        connector = self._connector
        while True:
            if connector.stopped():  # never between a request and its response, so every execution is reported
                raise ConnectorClosed
            request = connector.call_for_string(
                "sendRequestXML",
                ticket=self._ticket,
                strHCPResponse=facts,
                strCompanyFileName=self._path,
                qbXMLCountry=connector.company.product.country,
                qbXMLMajorVers=int(connector.company.product.highest_version.split(".")[0]),
                qbXMLMinorVers=int(connector.company.product.highest_version.split(".")[1]),
            )
            facts = ""
            if request in {"", "NoOp"}:
                ended = self._ask_why()
                if ended is not None:
                    return ended
                continue
            progress = self._execute(request)
            if progress < 0:
                return connector.call_for_string("getLastError", ticket=self._ticket), progress
            if progress >= 100:  # noqa: PLR2004 - percent
                connector.progress(100, "Finished")
                return "Finished", None
            connector.progress(progress, "Working")

    def _execute(self, request: str) -> int:
        """Let QuickBooks execute a request, send its response, and return the progress of the service."""
        connector = self._connector
        response, hresult, message = "", "", ""
        self.requests += 1
        try:
            response = self._books.process_request(request) if self._books else ""
        except HresultError as error:
            hresult, message = error.hresult, error.message
            connector.log("ProcessRequest", str(error))
        reply = connector.call(
            "receiveResponseXML", ticket=self._ticket, response=response, hresult=hresult, message=message
        )
        try:
            progress = soap.read_int("receiveResponseXML", *reply)
        except SoapError as error:
            raise call_failed("receiveResponseXML", error) from error
        connector.log("receiveResponseXML", f"← {progress}")
        return progress

    def _ask_why(self) -> tuple[str, int | None] | None:
        """Call getLastError after an empty request. Return None to continue, else status text and error number."""
        connector = self._connector
        reason = connector.call_for_string("getLastError", ticket=self._ticket)
        if reason == "NoOp":
            connector.progress(0, "Waiting for the application")
            connector.pause()
            return None
        if reason == "Interactive mode":
            return self._interact()
        connector.progress(0, reason)
        return reason, None

    def _interact(self) -> tuple[str, int | None] | None:
        """Open the service's page if the user agrees, and wait until it is done."""
        connector = self._connector
        url = connector.call_for_string(
            "getInteractiveURL", wcTicket=self._ticket, sessionID=f"{{{uuid.uuid4()}}}".upper()
        )
        if not connector.user_accepts(url):
            reason = "User rejected"
            return connector.call_for_string("interactiveRejected", wcTicket=self._ticket, reason=reason), None
        # Intuit's guide names '' in one place and `Done` in another as the end. Both are accepted.
        while connector.call_for_string("interactiveDone", wcTicket=self._ticket).lower() not in {"", "done"}:
            connector.pause()
        return None

    def _close(
        self, text: str, error: int | None = None, *, postpone: int | None = None, min_interval: int | None = None
    ) -> SessionResult:
        """End the session with closeConnection. A failure of that call is only logged."""
        self.end()
        try:
            self._connector.call_for_string("closeConnection", ticket=self._ticket)
        except QbwcError as failed:
            self._connector.log("closeConnection", str(failed))
        return SessionResult(text, error, self.requests, postpone, min_interval)


_REFUSALS: dict[str, tuple[str, int | None]] = {
    "none": ("No Data Exchange", None),
    "busy": (BUSY, None),
    "nvu": (f"QBWC{_INVALID_PASSWORD}: Invalid password for username", _INVALID_PASSWORD),
}
"""The values that authenticate can return instead of a company file, in any case of letters."""
