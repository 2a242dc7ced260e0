"""Retention: when a record expires, and what is left to do when the database has removed it.

The database removes a record by itself, some time after it expired, and tells of it at least once,
late, and in any order (DynamoDB: time to live, streams). What the record leaves behind is taken
away by one commit that holds only while the record's bodies are there: they go with it, so that
it is done once (decision 0021).
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from domain.errors import Conflict
from domain.requests.record import ENDED, WebhookState, timestamp
from domain.storage.changes import ForgetRequest

if TYPE_CHECKING:
    from domain.ports import Clock
    from domain.requests.record import QueuedRequest
    from domain.storage.ports import Store

SECONDS_A_DAY = 24 * 60 * 60


def expires_at(record: QueuedRequest, retention_days: int) -> int | None:
    """Return when (Unix seconds) a record may be removed, None while it has to stay.

    That is `retention_days` after its last change, once it has ended and nobody waits for its
    webhook any more; 0 keeps everything.
    """
    if not retention_days or record.state not in ENDED or record.webhook_state is WebhookState.PENDING:
        return None
    return int(datetime.fromisoformat(record.updated_at).timestamp()) + retention_days * SECONDS_A_DAY


class Retention:
    """Takes away what expired records leave behind."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def forget(self, record: QueuedRequest) -> bool:
        """Remove the bodies of a record that the database removed, take it out of the counts, leave a tombstone.

        Returns False when that was done before: it may be called again at any time. Raises TooManyRequests.
        """
        try:
            self._store.commit(ForgetRequest(record, timestamp(self._clock())))
        except Conflict:
            return False
        return True
