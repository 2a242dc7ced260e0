"""A SOAP client that is built from the WSDL alone runs a whole session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import requests
import zeep
from zeep.transports import Transport

from tests.e2e.support import QUERY

if TYPE_CHECKING:
    from tests.e2e.support import Service

HOST_FACTS = """<?xml version="1.0" ?><QBXML><QBXMLMsgsRs><HostQueryRs requestID="0" statusCode="0" \
statusSeverity="Info" statusMessage="Status OK"><HostRet><ProductName>QuickBooks Enterprise</ProductName>\
<MajorVersion>34</MajorVersion><MinorVersion>0</MinorVersion><Country>US</Country>\
<SupportedQBXMLVersion>16.0</SupportedQBXMLVersion></HostRet></HostQueryRs></QBXMLMsgsRs></QBXML>"""

RESPONSE = """<?xml version="1.0" ?><QBXML><QBXMLMsgsRs><CustomerQueryRs requestID="{}" statusCode="0" \
statusSeverity="Info" statusMessage="Status OK"><CustomerRet><ListID>80000001-1</ListID><Name>Jos&#233;</Name>\
<FullName>Jos&#233;</FullName><IsActive>true</IsActive></CustomerRet></CustomerQueryRs></QBXMLMsgsRs></QBXML>"""


def client_of(service: Service, session: requests.Session) -> Any:
    client = zeep.Client(f"{service.base_url}/qbwc?wsdl", transport=Transport(session=session))
    # The WSDL names the address that the deployment is known by; the tests may reach it by another one.
    port = next(iter(client.wsdl.services.values())).ports.values()
    return client.create_service(next(iter(port)).binding.name.text, f"{service.base_url}/qbwc")


def test_a_client_made_from_the_wsdl_runs_a_whole_session(service: Service) -> None:
    connection = service.connection()
    queued_request = connection.queue({"request_json": QUERY})
    with requests.Session() as session:
        web_connector = client_of(service, session)

        web_connector.serverVersion()
        web_connector.clientVersion("2.3.0.215")
        ticket, company_file, *_ = web_connector.authenticate(connection.id, connection.password)
        request = web_connector.sendRequestXML(ticket, HOST_FACTS, "C:\\Sample.qbw", "US", 16, 0)
        label = queued_request["request_json"]["request"]["attributes"]["request_id"]
        progress = web_connector.receiveResponseXML(ticket, RESPONSE.format(label), "", "")
        closed = web_connector.closeConnection(ticket)

    assert ticket
    assert company_file != "nvu"
    assert "<CustomerQueryRq" in request
    assert progress == 100
    assert closed
    record = connection.record(queued_request["id"])
    assert record["state"] == "response_received"
    assert record["response_json"][0]["QBXMLMsgsRs"]["CustomerQueryRs"]["CustomerRet"][0]["Name"] == "José"


def test_a_wrong_password_is_refused_as_nvu(service: Service) -> None:
    connection = service.connection()
    with requests.Session() as session:
        response = client_of(service, session).authenticate(connection.id, "wrong")

    assert response[1] == "nvu"
