"""The service's description for SOAP clients, served on `GET ?wsdl`.

It is generated from the table of methods. The Web Connector itself never reads it, because its proxy is compiled in.
The binding is SOAP 1.1, document/literal wrapped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

from domain.web_connector.protocol.methods import METHODS, NAMESPACE, Type

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.web_connector.protocol.methods import Method

SERVICE = "QBWebConnectorSvc"
_PORT = "QBWebConnectorSvcSoap"

_XSD_TYPES = {Type.STRING: "xsd:string", Type.INT: "xsd:int", Type.STRINGS: "tns:ArrayOfString"}


def render(address: str) -> str:
    """Return the WSDL 1.1 document of the service at `address` (a URL)."""
    methods = METHODS.values()
    return f"""<?xml version="1.0" encoding="utf-8"?>
<wsdl:definitions name="{SERVICE}" targetNamespace="{NAMESPACE}" xmlns:tns="{NAMESPACE}"
    xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/"
    xmlns:xsd="http://www.w3.org/2001/XMLSchema">
  <wsdl:types>
    <xsd:schema targetNamespace="{NAMESPACE}" elementFormDefault="qualified">
      <xsd:complexType name="ArrayOfString">
        <xsd:sequence>
          <xsd:element name="string" type="xsd:string" minOccurs="0" maxOccurs="unbounded" nillable="true"/>
        </xsd:sequence>
      </xsd:complexType>
{"".join(_elements(method) for method in methods)}    </xsd:schema>
  </wsdl:types>
{"".join(_messages(method) for method in methods)}  <wsdl:portType name="{_PORT}">
{"".join(_operation(method) for method in methods)}  </wsdl:portType>
  <wsdl:binding name="{_PORT}" type="tns:{_PORT}">
    <soap:binding transport="http://schemas.xmlsoap.org/soap/http" style="document"/>
{"".join(_bound_operation(method) for method in methods)}  </wsdl:binding>
  <wsdl:service name="{SERVICE}">
    <wsdl:port name="{_PORT}" binding="tns:{_PORT}">
      <soap:address location={quoteattr(address)}/>
    </wsdl:port>
  </wsdl:service>
</wsdl:definitions>
"""


def _elements(method: Method) -> str:
    result = {f"{method.name}Result": method.result}
    return _wrapper(method.name, method.parameters) + _wrapper(f"{method.name}Response", result)


def _wrapper(name: str, members: Mapping[str, Type]) -> str:
    # A string can be left out, as .NET does with null. A number cannot.
    sequence = "".join(
        f'            <xsd:element name="{member}" type="{_XSD_TYPES[kind]}" '
        f'minOccurs="{1 if kind is Type.INT else 0}" maxOccurs="1"/>\n'
        for member, kind in members.items()
    )
    return (
        f'      <xsd:element name="{name}">\n        <xsd:complexType>\n          <xsd:sequence>\n{sequence}'
        "          </xsd:sequence>\n        </xsd:complexType>\n      </xsd:element>\n"
    )


def _messages(method: Method) -> str:
    return "".join(
        f'  <wsdl:message name="{method.name}{way}">\n'
        f'    <wsdl:part name="parameters" element="tns:{method.name}{suffix}"/>\n'
        "  </wsdl:message>\n"
        for way, suffix in (("SoapIn", ""), ("SoapOut", "Response"))
    )


def _operation(method: Method) -> str:
    return (
        f'    <wsdl:operation name="{method.name}">\n'
        f'      <wsdl:input message="tns:{method.name}SoapIn"/>\n'
        f'      <wsdl:output message="tns:{method.name}SoapOut"/>\n'
        "    </wsdl:operation>\n"
    )


def _bound_operation(method: Method) -> str:
    return (
        f'    <wsdl:operation name="{method.name}">\n'
        f'      <soap:operation soapAction="{NAMESPACE}{method.name}" style="document"/>\n'
        '      <wsdl:input><soap:body use="literal"/></wsdl:input>\n'
        '      <wsdl:output><soap:body use="literal"/></wsdl:output>\n'
        "    </wsdl:operation>\n"
    )
