"""The text that an answered request is found by: what its request says, its response and its error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain import qbxml
from domain.requests.search_text import MAX_TEXT_BYTES, folded

if TYPE_CHECKING:
    from domain.requests.record import QueuedRequest
    from domain.web_connector.session.record import Session


def search_text_of(session: Session, response_xml: str | None, after: QueuedRequest) -> str | None:
    """Return the text to store with `after`, which the session handed out; None leaves what is there.

    The request's share was made when it was handed out: making it again would cost a read. It comes
    last, so that a long request does not crowd out what is new.
    """
    if not session.search_text:
        return None
    lines = [after.error.code, after.error.message] if after.error else []
    if response_xml is not None:
        says_nothing = qbxml.Request(after.qbxml_version, "", qbxml.Element(after.request_name))
        lines += qbxml.search_text(says_nothing, response_xml).split("\n")
    folded_lines = [folded(line) for line in lines] + session.search_text.split("\n")
    return "\n".join(dict.fromkeys(folded_lines))[:MAX_TEXT_BYTES]
