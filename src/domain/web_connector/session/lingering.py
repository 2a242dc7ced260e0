"""Lingering: a session without work stays open for a while and takes requests that are queued meanwhile.

Only `NoOp` makes the Web Connector wait: it calls again five seconds later
(docs/reference/web-connector-protocol.md, Method sendRequestXML). Lingering writes nothing. Its time counts from the
session's last write, which stored the last response.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from domain.timestamps import timestamp
from domain.web_connector.session.polling import reason_to_hold

if TYPE_CHECKING:
    from datetime import datetime

    from domain.records.session import Session

NO_OP = "NoOp"
"""Asks the Web Connector to wait. It is the reply of `sendRequestXML` and of the `getLastError` that follows."""

PROGRESS = 99
"""The reply of `receiveResponseXML` if the session lingers. Only 100 would end the session."""


def may_claim(session: Session, now: datetime) -> bool:
    """Whether a lingering session with nothing in flight may claim: only after a response, and not while it is held."""
    idle = session.in_flight is None and session.responses > 0 and not session.ended
    return idle and session.limits.linger_seconds > 0 and reason_to_hold(session, now) is None


def continues(session: Session, now: datetime) -> bool:
    """Whether a session with nothing to claim stays open."""
    since = timestamp(now - timedelta(seconds=session.limits.linger_seconds))
    return may_claim(session, now) and session.last_call_at > since


def end_message(session: Session) -> str | None:
    """Return the message that the user sees after lingering, or None if the session did not linger."""
    seconds = session.limits.linger_seconds
    return f"Done: nothing more was queued for {seconds} seconds." if seconds else None
