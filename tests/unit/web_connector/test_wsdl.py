"""The WSDL, read by an independent SOAP client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from zeep import Client, Settings
from zeep.transports import Transport

from domain.web_connector.protocol import wsdl
from domain.web_connector.protocol.methods import METHODS

if TYPE_CHECKING:
    from pathlib import Path

ADDRESS = "https://example.com/qbwc?a=1&b=2"


@pytest.fixture
def client(tmp_path: Path) -> Client:
    """Return a client made from a file with our WSDL, so that nothing is fetched."""
    path = tmp_path / "service.wsdl"
    path.write_text(wsdl.render(ADDRESS), encoding="utf-8")
    return Client(str(path), transport=Transport(), settings=Settings(strict=True))


def operations(client: Client) -> dict[str, Any]:
    """Return the operations of the port by name."""
    (port,) = client.wsdl.services[wsdl.SERVICE].ports.values()
    operations: dict[str, Any] = port.binding._operations  # noqa: SLF001 - zeep has no other way to list them
    return operations


def test_it_describes_every_method_with_its_parameters_in_order(client: Client) -> None:
    operations_by_name = operations(client)

    assert set(operations_by_name) == set(METHODS)
    for name, method in METHODS.items():
        parameters = operations_by_name[name].input.body.type.elements
        assert [parameter for parameter, _ in parameters] == list(method.parameters)


def test_it_declares_types_and_soap_actions(client: Client) -> None:
    operations_by_name = operations(client)

    (result,) = operations_by_name["receiveResponseXML"].output.body.type.elements
    assert result[1].type.name == "int"
    (result,) = operations_by_name["authenticate"].output.body.type.elements
    assert result[1].type.name == "ArrayOfString"
    assert operations_by_name["authenticate"].soapaction == "http://developer.intuit.com/authenticate"


def test_it_names_the_address_of_the_service(client: Client) -> None:
    (port,) = client.wsdl.services[wsdl.SERVICE].ports.values()

    assert port.binding_options["address"] == ADDRESS
