"""How far invoices, bills and charges are paid, which QuickBooks may change without `TimeModified`.

QuickBooks does not promise to touch an invoice when it is paid, and a deleted payment does not name what it had paid.
So whenever any transaction has changed or was deleted, the run reads the paid state of everything that is not paid.
What differs from what the feed has said is read again by id.

| what was said of a transaction | is remembered as |
|---|---|
| it is not paid | the digest of its paid state |
| it is paid, and it was not | LEFT and the time, for as long as a restore of the service has to emit it again |
| it is not known what the feed has said, after such a restore | UNKNOWN |

Everything that is emitted of these objects is remembered, whichever query has found it. So what is remembered is what a
reader of the feed has, and what QuickBooks returns is compared with it.
"""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from domain.records.subscription import Activity
from domain.subscriptions.answers import time_of_token
from domain.subscriptions.remembered import digest, place_of
from domain.timestamps import books_time

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime

    from domain.subscriptions.answers import BooksChange, QueryAnswer
    from domain.subscriptions.remembered import Remembered

MAX_OPEN = 10_000
"""How many transactions of an object that are not paid are kept up to date. One answer has them all."""

MAX_AGAIN = 5_000
"""How many transactions are noted to be read again. The others are found when these were read."""

MAX_ACTIVITY = 500
"""How many changed transactions are told apart. If more have changed at the newest time, each run counts as active."""

KEPT_LEFT = timedelta(days=8)
"""How long it is remembered that a transaction was paid: as long as a restore of the service goes back."""

LEFT, UNKNOWN = "!", ""

TOO_MANY = f"More than {MAX_OPEN:,} transactions are not paid. How far they are paid is read with each snapshot only."


def is_paid(record: Mapping[str, Any]) -> bool:
    """Whether a transaction is paid."""
    return record.get("IsPaid") is True


def has_left(text: str | None) -> bool:
    """Whether a remembered text says that the transaction is paid."""
    return text is not None and text.startswith(LEFT)


def remember(remembered: Remembered, change: BooksChange, fields: Sequence[str], now: datetime) -> None:
    """Remember what an event says of a transaction: its paid state, or that it is paid or gone."""
    if change.is_deletion:
        remembered.remove(change.id)
    elif not is_paid(change.content["record"]):
        remembered.put(change.id, digest(change.content["record"], fields))
    elif remembered.get(change.id) is not None:
        remembered.put(change.id, f"{LEFT}{time_of_token(now)}")


def forget_those_that_left(remembered: Remembered, now: datetime) -> None:
    """Forget what was paid so long ago that no restore of the service has to emit it again."""
    oldest = f"{LEFT}{time_of_token(now - KEPT_LEFT)}"
    for id_, text in [*remembered.items()]:
        if has_left(text) and text < oldest:
            remembered.remove(id_)


def was_said(remembered: Remembered, change: BooksChange, fields: Sequence[str]) -> bool:
    """Whether the feed has said of a transaction how far it is paid."""
    said = remembered.get(change.id)
    if is_paid(change.content["record"]):
        return has_left(said)
    return said == digest(change.content["record"], fields)


def differing(remembered: Remembered, found: Mapping[str, str]) -> list[str]:
    """Return the ids of what is no longer open, is open again, or differs. `found` are the digests of what is open."""
    gone = [id_ for id_, text in remembered.items() if not has_left(text) and id_ not in found]
    changed = [id_ for id_, text in found.items() if remembered.get(id_) != text]
    return sorted([*gone, *changed], key=place_of)


def activity_after(
    before: Activity | None,
    transactions: QueryAnswer,
    deletions: QueryAnswer,
    *,
    elapsed: timedelta,
    overlap: timedelta,
) -> Activity:
    """Return the activity after the answers of `activity_query` and of that for all deletions since.

    `elapsed` is the time since they were asked. If nothing has changed, the activity stays the same.
    """
    found = _tokens(transactions.rows("TransactionRet", "TxnID"), "TimeModified")
    if transactions.status.is_error or deletions.status.is_error or len(found) >= MAX_ACTIVITY:
        return Activity(_latest(before, found, elapsed))
    found |= _tokens(deletions.rows("TxnDeletedRet", "TxnID"), "TimeDeleted")
    if before and before.digest == _digest_since(before.at, found, overlap):
        return before
    at = _latest(before, found, elapsed)
    return Activity(at, _digest_since(at, found, overlap))


def _tokens(rows: Collection[Mapping[str, Any]], time_field: str) -> dict[str, datetime | None]:
    """Return a text for each change or deletion, with its time."""
    return {json.dumps(row, sort_keys=True): books_time(row.get(time_field)) for row in rows}


def _latest(before: Activity | None, found: Mapping[str, datetime | None], elapsed: timedelta) -> str | None:
    """Return the time before which everything was seen: the latest that was returned, before the query was asked."""
    moments = [at - elapsed for at in found.values() if at]
    if before and (earlier := books_time(before.at)):
        moments.append(earlier)
    return max(moments).isoformat(timespec="seconds") if moments else None


def _digest_since(at: str | None, found: Mapping[str, datetime | None], overlap: timedelta) -> str:
    moment = books_time(at)
    reached = sorted(text for text, time in found.items() if moment is None or time is None or time >= moment - overlap)
    return digest({"": reached}, ("",))
