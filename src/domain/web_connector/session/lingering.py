"""Lingering: a session that has nothing more to do stays for a while and looks for what is queued meanwhile.

The Web Connector can only be told to wait by `NoOp`, which it answers by asking again five seconds later
(`web_connector_protocol.md` §2.7, §2.9). Waiting writes nothing: the session's last call stays the one of its last
answer, which is what its time is counted from.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from domain.requests.record import QUEUED, timestamp
from domain.web_connector.session.polling import reason_to_hold

if TYPE_CHECKING:
    from datetime import datetime

    from domain.web_connector.responses.outcome import Outcome
    from domain.web_connector.session.record import Session

NO_OP = "NoOp"
"""Asks the Web Connector to wait: from `sendRequestXML`, and from the `getLastError` that follows."""

WAITING = 99
"""What `receiveResponseXML` answers then: 100 would end the session, and only it could."""


def may_look(session: Session, now: datetime) -> bool:
    """Tell whether a session without work looks for more: after an answer, and while nothing holds it."""
    idle = session.in_flight is None and session.answered > 0 and not session.ended
    return idle and session.linger_seconds > 0 and reason_to_hold(session, now) is None


def goes_on(session: Session, now: datetime) -> bool:
    """Tell whether a session that may look goes on waiting when it finds nothing."""
    since = timestamp(now - timedelta(seconds=session.linger_seconds))
    return may_look(session, now) and session.last_call_at > since


def seconds_left(session: Session, outcome: Outcome) -> int:
    """Return how long the session may wait after an answer; 0 when it left something to a later session to do."""
    return 0 if outcome.trouble or outcome.after.state in QUEUED else session.linger_seconds


def over(session: Session) -> str | None:
    """Return what the user reads when the waiting is over, None when there was none."""
    return f"Done: nothing more was queued for {session.linger_seconds} seconds." if session.linger_seconds else None
