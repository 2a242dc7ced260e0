"""`connectionError`: the Web Connector could not reach QuickBooks or open the company file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from domain.qbxml.codes.hresults import describe_hresult
from domain.requests.record import shortened, timestamp
from domain.web_connector.session.login import CURRENT_COMPANY_FILE, company_file

if TYPE_CHECKING:
    from datetime import datetime

    from domain.web_connector.session.record import Session

DONE = "done"

MAX_HRESULT_CHARACTERS = 30


def connection_error(hresult: str, message: str, now: datetime) -> dict[str, Any]:
    """Return the `last_error` of a connection from the Web Connector's report about QuickBooks."""
    meaning = describe_hresult(hresult)
    return {
        "code": "quickbooks_connection_error",
        "message": shortened(message.strip() or meaning.message),
        "reason": meaning.reason,
        "hresult": shortened(hresult.strip(), MAX_HRESULT_CHARACTERS),
        "hint": meaning.hint,
        "at": timestamp(now),
    }


def may_use_open_file(session: Session, hresult: str) -> bool:
    """Whether the Web Connector should try the open company file instead of the connection's path.

    This is allowed once in a session, and only for errors about the path. The FileID mark then tells whether it is the
    right file.
    """
    if session.company_file.is_fallback or session.connection is None:
        return False
    return describe_hresult(hresult).other_file_may_help and company_file(session.connection) != CURRENT_COMPANY_FILE
