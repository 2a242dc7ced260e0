"""Retention: the cleanup after the database has removed an expired record (`domain.records.retention`).

DynamoDB's time to live removes a record some time after it has expired. The stream reports each removal at least once,
late and in any order. One commit then removes the data that the record leaves behind. The commit requires that the
record's bodies exist, and it removes them, so it succeeds only once (decision 0021).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.errors import Conflict
from domain.storage.changes import ForgetRequest
from domain.timestamps import timestamp

if TYPE_CHECKING:
    from datetime import datetime

    from domain.records.request import QueuedRequest
    from domain.storage.ports import Committing


def forget_record(store: Committing, record: QueuedRequest, now: datetime) -> bool:
    """Remove the bodies of an expired record, subtract it from the counts and store a tombstone.

    The call is safe to repeat. It returns False if there was nothing to do. Raises TooManyRequests.
    """
    try:
        store.commit(ForgetRequest(record, timestamp(now)))
    except Conflict:
        return False
    return True
