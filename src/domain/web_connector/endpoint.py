"""The Web Connector's endpoint: every request body gets a SOAP envelope.

A body that is not a SOAP call gets a fault with 400. SOAP 1.1 asks for 500, which would raise the service's own alarm
for a broken body from outside; WS-I allows 400. Unknown and ended tickets get values of the protocol, never a fault.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from domain.apps.quotas import Quotas
from domain.connections.turns import MAX_POSTPONEMENT_SECONDS
from domain.errors import TooManyRequests, Unavailable
from domain.records.session import MAX_EXECUTION_SECONDS
from domain.web_connector.protocol import soap
from domain.web_connector.protocol.methods import Reply
from domain.web_connector.session.admission import Admission
from domain.web_connector.session.lingering import NO_OP
from domain.web_connector.session.login import Login
from domain.web_connector.session.service import SessionService

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from concurrent.futures import Executor

    from domain.ports import Clock, IdSource, SecretSource
    from domain.storage.ports import Database
    from domain.web_connector.protocol.soap import Call
    from domain.web_connector.session.admission import Budget

HTTP_OK = 200
HTTP_BAD_REQUEST = 400
"""The HTTP status for a body that is not a call; the reply is a Client fault. SOAP 1.1 (6.2) requires 500, which would
raise the alarm for server errors. WS-I's Basic Profile requires 400 (R1113). Web Connectors never send such a body."""
HTTP_TOO_LARGE = 413
HTTP_BUSY = 503

CONSTANT_RESULTS: Mapping[str, str] = {
    # The Web Connector shows it under "More information".
    "serverVersion": "qbxml-queue",
    # The service does not use the interactive mode.
    "getInteractiveURL": "",
    "interactiveRejected": "Interactive mode is not supported.",
    "interactiveDone": "Done",
}


@dataclass(frozen=True, slots=True)
class SoapResponse:
    """An HTTP response. `log` holds the fields of one log line. It never contains a body, password or ticket."""

    status: int
    content_type: str
    body: str
    log: Mapping[str, str | int]


class WebConnector:
    """Replies to the calls of Web Connectors."""

    def __init__(
        self,
        store: Database,
        clock: Clock,
        new_id: IdSource,
        secrets: SecretSource,
        execution_seconds: int = MAX_EXECUTION_SECONDS,
        *,
        dormant_seconds: int = MAX_POSTPONEMENT_SECONDS,
        budget: Budget | None = None,
        executor: Executor | None = None,
    ) -> None:
        admission = Admission(store, clock, budget, secrets, executor) if budget else None
        login = Login(
            store, store, clock, secrets, execution_seconds, dormant_seconds=dormant_seconds, admission=admission
        )
        session = SessionService(store, clock, new_id, Quotas(store, clock, lambda: 0.0), admission)
        self._methods: Mapping[str, Callable[[Call], Reply]] = {
            "clientVersion": login.client_version,
            "authenticate": login.authenticate,
            "sendRequestXML": session.send_request_xml,
            "receiveResponseXML": session.receive_response_xml,
            "connectionError": session.connection_error,
            "getLastError": session.get_last_error,
            "closeConnection": session.close_connection,
        }

    def reply(self, body: bytes | str, address: str | None = None) -> SoapResponse:
        """Reply to the body of a POST. A body that is not a call gets a SOAP fault.

        `address` is the IP address of the caller, or None if it is not known.
        """
        size = _size(body)
        if size > soap.MAX_SMALL_BODY_BYTES and not soap.carries_response(body):
            return _too_large(soap.MAX_SMALL_BODY_BYTES)
        if size > soap.MAX_BODY_BYTES:
            beginning = soap.read_beginning(body)
            if beginning is None or beginning.method != "receiveResponseXML":
                return _too_large(soap.MAX_BODY_BYTES)
            return self._reply(beginning)
        try:
            call = soap.read_call(body)
        except soap.NotACall as problem:
            return _fault(HTTP_BAD_REQUEST, problem.reason, problem.version)
        return self._reply(replace(call, address=address))

    def _reply(self, call: Call) -> SoapResponse:
        try:
            method = self._methods.get(call.method)
            reply = method(call) if method else Reply(CONSTANT_RESULTS[call.method])
        except (TooManyRequests, Unavailable) as problem:
            return _fault(HTTP_BUSY, problem.message, call.version, ours=True, method=call.method)
        return SoapResponse(
            HTTP_OK, call.version.content_type, soap.write_reply(call, reply.result), _log_fields(call, reply)
        )


def _too_large(limit_bytes: int) -> SoapResponse:
    return _fault(HTTP_TOO_LARGE, f"This call may have at most {limit_bytes:,} bytes.")


def _size(body: bytes | str) -> int:
    """Return the size in bytes. A text counts in UTF-8, and is encoded only if the result depends on it."""
    if isinstance(body, bytes) or len(body) > soap.MAX_BODY_BYTES or body.isascii():
        return len(body)
    return len(body.encode("utf-8", "surrogatepass"))


def _fault(
    status: int, reason: str, version: soap.Version = soap.SOAP_11, *, ours: bool = False, method: str | None = None
) -> SoapResponse:
    fields = {"fault": reason} if method is None else {"method": method, "fault": reason}
    return SoapResponse(status, version.content_type, soap.write_fault(reason, version, ours=ours), fields)


def _log_fields(call: Call, reply: Reply) -> Mapping[str, str | int]:
    """Return the fields to log. They include the kind of the result but never its text."""
    fields: dict[str, str | int] = {"method": call.method}
    if reply.connection_id:
        fields["connection_id"] = reply.connection_id
    if reply.request_id:
        fields["request_id"] = reply.request_id
    if reply.problem:
        fields["problem"] = reply.problem
    match call.method, reply.result:
        case _, int() as progress:
            fields["progress"] = progress
        case "authenticate", (_, status, *_):
            # The metric FailedLogins counts `nvu`. Anybody can send user names that do not exist.
            is_unknown = status == "nvu" and not reply.connection_id
            fields["login"] = "unknown" if is_unknown else status if status in {"nvu", "none", "busy"} else "work"
        case "sendRequestXML", result:
            fields["sent"] = "later" if result == NO_OP else "yes" if result else "no"
    if call["hresult"]:
        fields["hresult"] = call["hresult"][:20]
    return fields
