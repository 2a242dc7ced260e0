"""The size of a request in the reply to the Web Connector, where it is escaped several times."""

from __future__ import annotations

from domain.errors import RequestTooLarge
from domain.qbxml.request.limits import MAX_WIRE_BYTES

_MAX_GROWTH = 14
"""The maximum bytes that one character can become: `&amp;#1114111;`."""

_EXTRA_BYTES = {b"&": 4, b"<": 3, b">": 3, b'"': 1, b"\\": 1, b"\n": 1, b"\t": 1}
"""SOAP escapes markup: `&` becomes `&amp;`. Lambda returns the reply as JSON, which escapes the others."""


def check_wire_size(request_xml: str) -> None:
    """Raise RequestTooLarge if the XML of a request is too large to send to the Web Connector."""
    if len(request_xml) * _MAX_GROWTH <= MAX_WIRE_BYTES:
        return
    data = request_xml.encode("ascii", "xmlcharrefreplace")
    size = len(data) + sum(extra * data.count(character) for character, extra in _EXTRA_BYTES.items())
    if size > MAX_WIRE_BYTES:
        message = (
            f"The request takes {size:,} bytes when it is sent to the Web Connector; at most {MAX_WIRE_BYTES:,} are"
            " allowed. Split it. Characters such as & and é take up to 14 bytes."
        )
        raise RequestTooLarge(message, {"size_bytes": size, "limit_bytes": MAX_WIRE_BYTES})
