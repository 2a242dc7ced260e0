"""SOAP as the Web Connector writes it (one line, document/literal wrapped) and reads it (as strictly as .NET).

Whitespace inside a result is data. A response that .NET could not convert to the declared type is an error here too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from simulator.basics.xml_trees import XML_ERRORS, Scope, read_tree

if TYPE_CHECKING:
    from collections.abc import Mapping

NAMESPACE = "http://developer.intuit.com/"
ENVELOPE_NAMESPACE = "http://schemas.xmlsoap.org/soap/envelope/"
USER_AGENT = "Mozilla/4.0 (compatible; MSIE 6.0; MS Web Services Client Protocol 4.0.30319.42000)"

_HEAD = (
    '<?xml version="1.0" encoding="utf-8"?>'
    f'<soap:Envelope xmlns:soap="{ENVELOPE_NAMESPACE}"'
    ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
    ' xmlns:xsd="http://www.w3.org/2001/XMLSchema"><soap:Body>'
)
_TAIL = "</soap:Body></soap:Envelope>"
_NIL = ("http://www.w3.org/2001/XMLSchema-instance", "nil")
_OK = 200


class SoapError(Exception):
    """The response does not have the declared type. `fault` tells whether it is a SOAP fault."""

    def __init__(self, message: str, *, fault: bool = False) -> None:
        self.fault = fault
        super().__init__(message)


def call_headers(method: str) -> dict[str, str]:
    """Return the HTTP headers of a call. The action is in double quotes, as .NET writes it."""
    return {
        "User-Agent": USER_AGENT,
        "Content-Type": "text/xml; charset=utf-8",
        "SOAPAction": f'"{NAMESPACE}{method}"',
    }


def envelope(method: str, parts: Mapping[str, str | int | None]) -> bytes:
    """Write a call in one line. An empty string becomes `<name />`, and None (null) is left out, as in .NET."""
    children = []
    for name, value in parts.items():
        if value is None:
            continue
        text = _escape(str(value))
        children.append(f"<{name}>{text}</{name}>" if text else f"<{name} />")
    content = "".join(children)
    start = f'<{method} xmlns="{NAMESPACE}"'
    element = f"{start}>{content}</{method}>" if content else f"{start} />"
    return (_HEAD + element + _TAIL).encode()


def read_string(method: str, status: int, body: bytes) -> str:
    """Return a string result. A missing or nil one is ''. Raises `SoapError`."""
    result = _result(method, status, body)
    return "" if result is None else _text(result)


def read_strings(method: str, status: int, body: bytes) -> list[str]:
    """Return an ArrayOfString result. Raises `SoapError`."""
    result = _result(method, status, body)
    if result is None:
        return []
    return [_text(child) for child in result if child.is_named(NAMESPACE, "string")]


def read_int(method: str, status: int, body: bytes) -> int:
    """Return an integer result. Raises `SoapError`, also for a decimal or an empty result."""
    result = _result(method, status, body)
    text = "" if result is None else _text(result)
    if not re.fullmatch(r"\s*[+-]?\d+\s*", text):
        raise SoapError(f"Input string {text!r} was not in a correct format.")
    return int(text)


def _result(method: str, status: int, body: bytes) -> Scope | None:
    try:
        root = Scope(read_tree(body))
    except XML_ERRORS as error:
        if status != _OK:
            raise SoapError(f"The request failed with HTTP status {status}.") from error
        raise SoapError(f"Response is not well-formed XML: {error}") from error
    is_envelope = root.is_named(ENVELOPE_NAMESPACE, "Envelope")
    soap_body = root.child(ENVELOPE_NAMESPACE, "Body") if is_envelope else None
    if soap_body is None:
        raise SoapError(f"HTTP status {status}: the answer is not a SOAP 1.1 envelope.")
    fault = soap_body.child(ENVELOPE_NAMESPACE, "Fault")
    if fault is not None:
        raise SoapError(f"SOAP fault: {fault.element.findtext('faultstring', '')}", fault=True)
    if status != _OK:
        raise SoapError(f"The request failed with HTTP status {status}.")
    response = soap_body.child(NAMESPACE, f"{method}Response")
    if response is None:
        raise SoapError(f"The answer has no {method}Response in namespace {NAMESPACE}.")
    return response.child(NAMESPACE, f"{method}Result")


def _text(scope: Scope) -> str:
    if len(scope.element):
        raise SoapError(f"<{scope.local_name}> holds elements where text is declared.")
    return "" if scope.attribute(*_NIL) in {"true", "1"} else scope.element.text or ""


def _escape(text: str) -> str:
    """Escape what .NET's writer escapes in text. Quotes stay as they are, and CR becomes a reference."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\r", "&#xD;")
