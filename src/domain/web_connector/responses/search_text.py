"""The search text of an ended request: its error, its response and its request."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from domain import qbxml
from domain.requests.search_text import MAX_TEXT_BYTES, folded

if TYPE_CHECKING:
    from domain.requests.record import QueuedRequest
    from domain.web_connector.session.record import InFlight


def search_text_of(in_flight: InFlight, response_xml: str | None, after: QueuedRequest) -> str | None:
    """Return the search text to store with `after`, or None to keep the stored text.

    The request's part was made when the request was sent, because making it again would cost a read. It comes last, so
    a long request does not displace the response.
    """
    if not in_flight.search_text:
        return None
    lines = [after.error.code, after.error.message] if after.error else []
    if response_xml is not None:
        no_request = qbxml.Request(after.qbxml_version, "", qbxml.Element(after.request_name))
        with suppress(
            Exception
        ):  # A response must be stored even if an error of the service keeps it from being found.
            lines += qbxml.search_text(no_request, response_xml).split("\n")
    folded_lines = [folded(line) for line in lines] + in_flight.search_text.split("\n")
    return "\n".join(dict.fromkeys(folded_lines))[:MAX_TEXT_BYTES]
