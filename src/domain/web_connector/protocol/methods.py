"""The methods of the Web Connector protocol, their parameters and results.

Reading, writing, the endpoint and the WSDL use this one table (docs/reference/web-connector-protocol.md, Methods).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NAMESPACE = "http://developer.intuit.com/"
"""The namespace of the protocol."""


class Type(StrEnum):
    """The XML Schema types of parameters and results."""

    STRING = "string"
    INT = "int"
    STRINGS = "ArrayOfString"


Result: TypeAlias = "str | int | Sequence[str]"
"""The result of a method: `string`, `int` or `ArrayOfString`."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The result of a call, with its connection and request for the log.

    `problem` is the code of the connection's `last_error` if the call has found it.
    """

    result: Result
    connection_id: str | None = None
    request_id: str | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Method:
    """A method: its parameters in the order of the protocol, and the type of its result."""

    name: str
    parameters: Mapping[str, Type]
    result: Type = Type.STRING


def _strings(*names: str) -> Mapping[str, Type]:
    return dict.fromkeys(names, Type.STRING)


METHODS: Mapping[str, Method] = {
    method.name: method
    for method in (
        Method("serverVersion", {}),
        Method("clientVersion", _strings("strVersion")),
        Method("authenticate", _strings("strUserName", "strPassword"), Type.STRINGS),
        Method(
            "sendRequestXML",
            {
                **_strings("ticket", "strHCPResponse", "strCompanyFileName", "qbXMLCountry"),
                "qbXMLMajorVers": Type.INT,
                "qbXMLMinorVers": Type.INT,
            },
        ),
        Method("receiveResponseXML", _strings("ticket", "response", "hresult", "message"), Type.INT),
        Method("connectionError", _strings("ticket", "hresult", "message")),
        Method("getLastError", _strings("ticket")),
        Method("closeConnection", _strings("ticket")),
        Method("getInteractiveURL", _strings("wcTicket", "sessionID")),
        Method("interactiveRejected", _strings("wcTicket", "reason")),
        Method("interactiveDone", _strings("wcTicket")),
    )
}
