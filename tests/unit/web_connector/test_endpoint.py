"""The endpoint: every call gets a reply, and an independent client understands it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from requests import Response
from zeep import Client
from zeep.transports import Transport

from domain.web_connector.protocol import wsdl
from domain.web_connector.protocol.methods import NAMESPACE
from domain.web_connector.protocol.soap import MAX_BODY_BYTES, MAX_SMALL_BODY_BYTES, SOAP_12
from tests.support.builders import CONNECTION_ID
from tests.support.web_connector.connector import PASSWORD, Connector
from tests.support.web_connector.quickbooks import hcp, response_to
from tests.unit.web_connector.test_soap import BAD_BODIES, envelope, receive

if TYPE_CHECKING:
    from pathlib import Path

    from domain.web_connector.endpoint import WebConnector


@pytest.mark.parametrize("body", BAD_BODIES.values(), ids=BAD_BODIES.keys())
def test_a_body_that_is_not_a_call_gets_a_client_fault_and_reads_nothing(qbwc: Connector, body: bytes | str) -> None:
    qbwc.store.calls.clear()

    response = qbwc.endpoint.reply(body)

    assert response.status == 400
    assert response.content_type == "text/xml; charset=utf-8"
    assert "<faultcode>soap:Client</faultcode>" in response.body
    assert not qbwc.store.calls


@pytest.mark.parametrize("body", [b"x" * (MAX_BODY_BYTES + 1), "x" * (MAX_BODY_BYTES + 1), "é" * 4_000_000])
def test_a_body_over_6_mb_is_refused_without_parsing(qbwc: Connector, body: bytes | str) -> None:
    response = qbwc.endpoint.reply(body)

    assert response.status == 413
    assert "may have at most" in response.body


def test_a_large_call_without_a_response_in_it_is_refused_without_parsing(qbwc: Connector) -> None:
    qbwc.store.calls.clear()
    large = receive("x" * MAX_SMALL_BODY_BYTES)

    rejection = qbwc.endpoint.reply(large.replace("receiveResponseXML", "authenticate"))
    accepted = qbwc.endpoint.reply(large.replace("receiveResponseXML", "sendRequestXML"))

    assert (rejection.status, accepted.status) == (413, 200)
    assert qbwc.store.calls.total() == 1  # the session of sendRequestXML


def test_a_response_of_almost_6_mb_is_stored_whole(qbwc: Connector) -> None:
    request_id = qbwc.queue()
    row = "<CustomerRet><Name>Zoe &amp; Söhne</Name></CustomerRet>\n"
    text = response_to(qbwc.begin(), content=row * 60_000)

    assert qbwc.receive(text) == 100

    assert qbwc.response(request_id) == text


def test_a_fault_in_soap_12_is_answered_in_soap_12(qbwc: Connector) -> None:
    response = qbwc.endpoint.reply(envelope(f'<nothing xmlns="{NAMESPACE}"/>', SOAP_12))

    assert response.content_type == "application/soap+xml; charset=utf-8"
    assert "soap:Sender" in response.body


def test_the_log_of_a_fault_has_the_reason() -> None:
    assert "DOCTYPE" in str(Connector().endpoint.reply("<!DOCTYPE a []><a/>").log["fault"])


def test_a_long_hresult_is_shortened_in_the_log(qbwc: Connector) -> None:
    qbwc.endpoint.reply(receive("").replace("<hresult />", f"<hresult>{'0x80040400' * 10}</hresult>"))
    response = qbwc.endpoint.reply(receive("").replace("<hresult />", f"<hresult>{'0x80040400' * 10}</hresult>"))

    assert response.log["hresult"] == "0x800404000x80040400"


class InProcess(Transport):
    """Carries zeep's calls to the endpoint without a network."""

    def __init__(self, endpoint: WebConnector) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # of zeep
        self._endpoint = endpoint

    def post(self, address: str, message: bytes, headers: dict[str, str]) -> Response:  # noqa: ARG002 - there is no network
        """Return the endpoint's answer as an HTTP response."""
        reply = self._endpoint.reply(message)
        response = Response()
        response.status_code = reply.status
        response.headers["Content-Type"] = reply.content_type
        response._content = reply.body.encode()  # noqa: SLF001 - requests has no other way to make one
        return response


@pytest.fixture
def service(qbwc: Connector, tmp_path: Path) -> Any:
    """Return zeep's proxy of the service, made from our own WSDL."""
    path = tmp_path / "service.wsdl"
    path.write_text(wsdl.render("http://localhost/qbwc"), encoding="utf-8")
    return Client(str(path), transport=InProcess(qbwc.endpoint)).service


def test_an_independent_client_completes_a_session(qbwc: Connector, service: Any) -> None:
    read, write = qbwc.queue(), qbwc.write("Ann & <Söhne>")

    assert service.serverVersion()
    assert not service.clientVersion("2.3.0.215")
    ticket, status, *_ = service.authenticate(CONNECTION_ID, PASSWORD)
    assert not status
    request = service.sendRequestXML(ticket, hcp(), "C:\\acme.qbw", "US", 16, 0)
    assert read in request
    progress = service.receiveResponseXML(
        ticket, response_to(request, content="<CustomerRet><Name>Ä</Name></CustomerRet>"), "", ""
    )
    assert progress == 50
    request = service.sendRequestXML(ticket, "", "C:\\acme.qbw", "US", 16, 0)
    assert "Ann &amp; &lt;S&#246;hne&gt;" in request
    assert service.receiveResponseXML(ticket, None, "0x80040400", "QuickBooks found an error.") == 100
    assert service.closeConnection(ticket) == "OK"
    assert qbwc.states() == ["response_received", "error"]
    assert "<Name>Ä</Name>" in (qbwc.response(read) or "")
    assert qbwc.record(write).error is not None


def test_an_independent_client_understands_all_other_replies(qbwc: Connector, service: Any) -> None:
    qbwc.queue()

    assert service.authenticate(CONNECTION_ID, "wrong")[1] == "nvu"
    ticket, *_ = service.authenticate(CONNECTION_ID, PASSWORD)
    assert service.connectionError(ticket, "0x80040408", "Could not start QuickBooks.") == "done"
    assert "Could not start" in service.getLastError(ticket)
    assert service.receiveResponseXML(ticket, "", "", "") == -1
    assert not service.sendRequestXML(ticket, None, None, None, 0, 0)
    assert not service.getInteractiveURL(ticket, "session")
    assert service.interactiveRejected(ticket, "no")
    assert service.interactiveDone(ticket) == "Done"
    assert service.closeConnection(None) == "OK"
