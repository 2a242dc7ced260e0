"""The Web Connector's methods: what they are called with and what they answer.

One table for reading, writing, dispatch and the WSDL (source: `web_connector_protocol.md` §2).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NAMESPACE = "http://developer.intuit.com/"
"""The Web Connector's namespace; it must stay as it is (§1)."""


class Type(StrEnum):
    """The XML Schema types that occur."""

    STRING = "string"
    INT = "int"
    STRINGS = "ArrayOfString"


Result: TypeAlias = "str | int | Sequence[str]"
"""What a method answers: `string`, `int` or `ArrayOfString`."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a method answers, and whom and what it was about: for the log."""

    result: Result
    connection_id: str | None = None
    request_id: str | None = None


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
