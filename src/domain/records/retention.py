"""When a record expires."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from domain.records.request import ENDED
from domain.records.webhook import WebhookState

if TYPE_CHECKING:
    from domain.records.request import QueuedRequest

SECONDS_A_DAY = 24 * 60 * 60


def expires_at(record: QueuedRequest, retention_days: int) -> int | None:
    """Return the time (Unix seconds) after which a record may be removed, or None while it must stay.

    A record may be removed `retention_days` after its last change, if it has ended and its webhook is not pending. If
    `retention_days` is 0, every record stays.
    """
    if not retention_days or record.state not in ENDED or record.webhook_state is WebhookState.PENDING:
        return None
    return int(datetime.fromisoformat(record.updated_at).timestamp()) + retention_days * SECONDS_A_DAY
