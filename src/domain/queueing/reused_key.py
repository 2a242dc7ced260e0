"""The error of an idempotency key that was used for another request: how that request ended, and what to do."""

from __future__ import annotations

from collections import Counter
from enum import Enum
from typing import TYPE_CHECKING

from domain.errors import IdempotencyKeyReused
from domain.records.request import ENDED, State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.records.request import QueuedRequest


class _Fate(Enum):
    """What is known of a request: of one, and of some in a batch. The first one that applies says what to do."""

    OPEN = (
        "It has not ended. Wait until it has, or discard it, before you queue another request in its place.",
        "They have not all ended. Wait until they have, or discard them, before you queue others in their place.",
    )
    UNKNOWN = (
        "QuickBooks may have executed it. Look in QuickBooks, and use a new key only if it was not executed.",
        "QuickBooks may have executed some of them. Look in QuickBooks, and queue only the others, with a new key.",
    )
    DELETED = (
        "It was deleted, so the service cannot say how it ended. Look in QuickBooks before you use a new key.",
        "Some were deleted, so the service cannot say how they ended. Look in QuickBooks before you use a new key.",
    )
    EXECUTED = (
        "QuickBooks executed it. With a new key, the same request would be executed a second time.",
        "QuickBooks executed those with a response. Queue only the others, with a new key.",
    )
    RETRYABLE = (
        "Nothing was written. Queue it again with a new key.",
        "Nothing was written. Queue them again with a new key.",
    )
    NOT_WRITTEN = (
        "Nothing was written. Use a new key for the new request.",
        "Nothing was written. Use a new key for the new batch.",
    )


def key_reused(ids: Sequence[str], records: Sequence[QueuedRequest]) -> IdempotencyKeyReused:
    """Return the error for a key whose first call queued the requests `ids`. `records` are those that still exist."""
    fates = {_fate(record) for record in records} | ({_Fate.DELETED} if len(records) < len(ids) else set())
    fate = next(fate for fate in _Fate if fate in fates)
    ends = Counter(_end(record) for record in records)
    if len(ids) == 1:
        what, advice = f"the request {ids[0]}", fate.value[0]
        verb = "is" if fate is _Fate.OPEN else "ended as"
        how = "".join(f" It {verb} {end}." for end in ends)
    else:
        what, advice = f"a batch of {len(ids)} requests", fate.value[1]
        how = f" They are {', '.join(f'{end} ({number})' for end, number in ends.items())}." if ends else ""
    message = f"This Idempotency-Key was used for another call, which queued {what}.{how} {advice}"
    return IdempotencyKeyReused(message, {"record_id": ids[0], "outcomes": dict(ends)})


def _end(record: QueuedRequest) -> str:
    """Return the error code of a request, or its state."""
    return record.error.code if record.error else record.state.value


def _fate(record: QueuedRequest) -> _Fate:
    if record.state not in ENDED:
        return _Fate.OPEN
    if record.wrote_nothing:
        is_retryable = record.error is not None and record.error.details.get("retryable") is True
        return _Fate.RETRYABLE if is_retryable else _Fate.NOT_WRITTEN
    return _Fate.EXECUTED if record.state is State.RESPONSE_RECEIVED else _Fate.UNKNOWN
