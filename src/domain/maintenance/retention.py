"""Retention: the expiry of records, and the cleanup after the database has removed them.

DynamoDB's time to live removes a record some time after it has expired. The stream reports each removal at least once,
late and in any order. One commit then removes the data that the record leaves behind. The commit requires that the
record's bodies exist, and it removes them, so it succeeds only once (decision 0021).
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from domain.errors import Conflict
from domain.records.request import ENDED
from domain.records.webhook import WebhookState
from domain.storage.changes import ForgetRequest
from domain.timestamps import timestamp

if TYPE_CHECKING:
    from domain.records.request import QueuedRequest
    from domain.storage.ports import Database

SECONDS_A_DAY = 24 * 60 * 60


def expires_at(record: QueuedRequest, retention_days: int) -> int | None:
    """Return the time (Unix seconds) after which a record may be removed, or None while it must stay.

    A record may be removed `retention_days` after its last change, if it has ended and its webhook is not pending. If
    `retention_days` is 0, every record stays.
    """
    if not retention_days or record.state not in ENDED or record.webhook_state is WebhookState.PENDING:
        return None
    return int(datetime.fromisoformat(record.updated_at).timestamp()) + retention_days * SECONDS_A_DAY


def forget_record(store: Database, record: QueuedRequest, now: datetime) -> bool:
    """Remove the bodies of an expired record, subtract it from the counts and store a tombstone.

    The call is safe to repeat. It returns False if there was nothing to do. Raises TooManyRequests.
    """
    try:
        store.commit(ForgetRequest(record, timestamp(now)))
    except Conflict:
        return False
    return True
