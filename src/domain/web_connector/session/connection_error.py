"""What the Web Connector reports of a QuickBooks that cannot work.

`connectionError` says that it could not open the company file (`web_connector_protocol.md` §2.6).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from domain.qbxml.codes.hresults import describe_hresult
from domain.requests.record import timestamp
from domain.web_connector.session.login import CURRENT_COMPANY_FILE, company_file

if TYPE_CHECKING:
    from datetime import datetime

    from domain.web_connector.protocol.soap import Call
    from domain.web_connector.session.record import Session

TRY_THE_OPEN_FILE = CURRENT_COMPANY_FILE
"""Has the Web Connector try once more, with the file that is open."""

DONE = "done"


class NoQuickBooks:
    """A failure to open QuickBooks, as its call tells it."""

    def __init__(self, call: Call) -> None:
        self._hresult = call["hresult"].strip()
        self._facts = describe_hresult(self._hresult)
        self._message = call["message"].strip() or self._facts.message

    @property
    def words(self) -> str:
        """What the user of the Web Connector reads."""
        return f"{self._hresult}: {self._message}"

    def may_try_the_open_file(self, session: Session) -> bool:
        """Tell whether another file than the connection's path may help: once in a session, and only for some errors.

        The mark of the file that is opened then tells whether it is the right one.
        """
        if session.tried_open_file or session.connection is None:
            return False
        return self._facts.other_file_may_help and company_file(session.connection) != CURRENT_COMPANY_FILE

    def last_error(self, now: datetime) -> dict[str, Any]:
        """Return what the connection tells its owner."""
        return reported(self._hresult, self._message, now)


def reported(hresult: str, message: str, now: datetime) -> dict[str, Any]:
    """Return the `last_error` of a connection whose QuickBooks could not work, in the words that it gave for it."""
    facts = describe_hresult(hresult)
    return {
        "code": "quickbooks_connection_error",
        "message": message,
        "reason": facts.reason,
        "hresult": hresult,
        "hint": facts.hint,
        "at": timestamp(now),
    }
