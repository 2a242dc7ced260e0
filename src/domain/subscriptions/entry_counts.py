"""How many entries a list must have, which shows that one is gone although QuickBooks does not list its deletion.

The source of a merge may not be among the deletions. So a sweep asks how many entries a list has. It compares the
number with the one before, plus the entries that were added since, less those that were deleted:

| the list has | means | so |
|---|---|---|
| as many as expected | nothing is gone that was not reported | the number is noted |
| more or fewer | an entry was merged, or a backup was restored | all of them are read again |

A snapshot gives the first number. Until a sweep has compared it, deletions from before the snapshot may be among those
that QuickBooks lists, so any number between is right. If the number is wrong again after another snapshot, or larger
than what the snapshot has read, QuickBooks counts something else. Then the list is not counted until the next snapshot.

An entry that was created before the overlap was counted before, whatever happened to it since. For one that was created
later, `EntryCount.created` tells.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import TYPE_CHECKING

from domain.subscriptions.answers import time_of_token

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from domain.records.subscription import EntryCount
    from domain.subscriptions.answers import BooksChange

MAX_CREATED = 200
"""How many new entries are told apart. If there are more, the list is not counted until the next snapshot."""


def counted(before: EntryCount, changes: Iterable[BooksChange], since: datetime | None) -> EntryCount:
    """Return the count after changes that were not known yet. `since` is where the overlap begins, or None for all.

    The ids of all new entries are in it: `kept` leaves out those that are not needed any more.
    """
    number, created = before.number, set(before.created)
    oldest = time_of_token(since) if since else ""
    for change in changes:
        token = time_of_token(change.created_at) + change.id
        was_counted = token < oldest or token in created
        if change.is_deletion and was_counted:
            number -= 1
            created.discard(token)
        elif not change.is_deletion and not was_counted:
            number += 1
            created.add(token)
    return replace(before, number=number, created=tuple(sorted(created)))


def kept(count: EntryCount | None, since: datetime | None) -> EntryCount | None:
    """Return the count without the entries that were created before the overlap, or None if too many are left."""
    if count is None:
        return None
    oldest = time_of_token(since) if since else ""
    created = tuple(token for token in count.created if token >= oldest)
    return replace(count, created=created) if len(created) <= MAX_CREATED else None


class Suspicion(Enum):
    """Why all entries of a list are read again."""

    FEWER = auto()
    """An entry was merged, or a backup without it was restored."""
    MORE = auto()
    """A backup was restored."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the number of entries that QuickBooks tells shows: the count to store, and whether it is wrong."""

    count: EntryCount | None
    suspicion: Suspicion | None = None


def compared(expected: EntryCount, actual: int | None, deleted: int) -> Comparison:
    """Compare a count with the number that QuickBooks tells, or None if it tells none.

    `deleted` is how many deletions the count subtracts.
    """
    if actual is None:
        return Comparison(None)
    upper = expected.number + (deleted if expected.is_unchecked else 0)
    if expected.number <= actual <= upper:
        return Comparison(replace(expected, number=actual, is_unchecked=False, is_last_try=False))
    if expected.is_unchecked and (actual > upper or expected.is_last_try):
        return Comparison(None)
    suspicion = Suspicion.MORE if actual > upper else Suspicion.FEWER
    return Comparison(replace(expected, is_last_try=expected.is_unchecked), suspicion)
