"""The sessions of a connection: the one that is running, and those that have ended."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from domain.records.ownership import owned_connection
from domain.records.session import KEPT_SECONDS
from domain.timestamps import timestamp

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from domain.records.session import Session
    from domain.storage.ports import SessionHistoryStore

MAX_SESSIONS = 100
"""So many sessions are listed, with one query and one batch."""


class SessionResult(StrEnum):
    """How a session ended."""

    RUNNING = "running"
    COMPLETED = "completed"
    STOPPED = "stopped"


def result_of(session: Session) -> SessionResult:
    """Return how a session ended. One with a reason was stopped (`domain.web_connector.session.end.session_end`)."""
    if not session.ended:
        return SessionResult.RUNNING
    return SessionResult.STOPPED if session.last_error else SessionResult.COMPLETED


def sessions_of(store: SessionHistoryStore, app_id: str, connection_id: str, now: datetime) -> Sequence[Session]:
    """Return the newest MAX_SESSIONS sessions of the last 30 days, newest first. Makes up to four calls to the store.

    Raises NotFound if the app has no such connection.
    """
    connection = owned_connection(store.connection(connection_id), app_id)
    last = store.session(connection.session_id) if connection.session_id else None
    since = timestamp(now - timedelta(seconds=KEPT_SECONDS))
    ended = {session.id: session for session in store.ended_sessions(connection_id, since, MAX_SESSIONS)}
    # A session that has ended since it was read is in both. The index may lag, so it may also be only the last one.
    sessions = ({last.id: last} if last else {}) | ended
    return list(sessions.values())[:MAX_SESSIONS]
