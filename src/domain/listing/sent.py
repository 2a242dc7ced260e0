"""Finds the requests that were sent in a range of time, by the entries of the two listing indexes.

No index has `sent_at`, but a request is sent between its insertion and its last change. So its two entries decide about
most requests: one that was inserted at the end of the range or later was not sent in it, and one that has a response,
and was inserted and changed last within the range, was. Only the records of the others are read. Two entries take 0.03
read units, and a record takes half a unit.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain.listing.filters import FILTERS, Lookup
from domain.records.request import State
from domain.storage.counts import INSERTED, UPDATED
from domain.storage.ports import IndexEntry, IndexStretch
from domain.timestamps import AFTER_ALL, TimeRange

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from domain.listing.filters import RequestFilter
    from domain.listing.query import ListQuery
    from domain.records.request import Pair
    from domain.storage.counts import DayCounts
    from domain.storage.ports import ListStore


@dataclass(frozen=True, slots=True)
class Decided:
    """What the entries tell: those of requests that match, and the ids of requests whose records decide.

    `spanned` is the number of requests among which they were looked for.
    """

    entries: Sequence[IndexEntry]
    undecided: set[str]
    spanned: int


def decided(store: ListStore, query: ListQuery, counts: Sequence[DayCounts], limit: int) -> Decided:
    """Decide about the requests of a list with a range of `sent_at`, with two queries for each pair, in parallel.

    The list spans the requests that changed since `sent_since`. Without it, those that were inserted before
    `sent_before`. If the counts tell that these are `limit` or more, it reads no entries.
    """
    which = query.which
    sort, span = (UPDATED, which.changes) if which.sent_since else (INSERTED, which.insertions)
    pairs, spanned = _counted(query, counts, sort, span)
    if spanned >= limit:
        return Decided([], set(), spanned)
    answered = {pair for pair in pairs if pair[0] is State.RESPONSE_RECEIVED}

    def moments(step: tuple[str, Collection[Pair]]) -> Mapping[str, str]:
        by, some = step
        stretch = IndexStretch(query.connection_id, by, some, span.first, span.last)
        return {entry.id: entry.moment for entry in store.next_index_entries(stretch, limit)} if some else {}

    steps = [(by, some) for by in (INSERTED, UPDATED) for some in (answered, pairs - answered)]
    with ThreadPoolExecutor(len(steps)) as readers:
        inserted_answered, inserted_others, updated_answered, updated_others = readers.map(moments, steps)
    times = {INSERTED: {**inserted_answered, **inserted_others}, UPDATED: {**updated_answered, **updated_others}}
    entries: list[IndexEntry] = []
    undecided: set[str] = set()
    for id_ in times[sort]:
        is_answered = id_ in inserted_answered and id_ in updated_answered
        was_sent = _was_sent(which, times[INSERTED].get(id_), times[UPDATED].get(id_), is_answered=is_answered)
        if was_sent is None:
            undecided.add(id_)
        elif was_sent:
            entries.append(IndexEntry(id_, times[query.sort][id_]))
    return Decided(entries, undecided, len(times[sort]))


def _counted(query: ListQuery, counts: Sequence[DayCounts], sort: str, span: TimeRange) -> tuple[set[Pair], int]:
    """Return the pairs of the list in the span, and the number of its requests on the whole days of the span."""
    pairs: set[Pair] = set()
    spanned = 0
    for day in counts:
        if day.day + AFTER_ALL < span.first or span.last < day.day:
            continue
        numbers = {pair: number for pair, number in day.of(sort).items() if number > 0 and query.which.includes(pair)}
        pairs.update(numbers)
        if span.first <= day.day and day.day + AFTER_ALL <= span.last:
            spanned += sum(numbers.values())
    return pairs, spanned


def _was_sent(which: RequestFilter, inserted: str | None, updated: str | None, *, is_answered: bool) -> bool | None:
    """Return whether a request matches, by the times that are known, or None if its record decides."""
    if inserted and inserted not in which.insertions:
        return False
    if updated and updated not in which.changes:
        return False
    if not (inserted and updated):
        return None  # the other time is outside of what was read
    if not is_answered:
        return False if inserted == updated else None  # sending a request changes it
    is_inside = inserted in TimeRange(which.sent_since) and updated in TimeRange(end=which.sent_before)
    return True if is_inside and not is_decided_by_records(which) else None


def is_decided_by_records(which: RequestFilter) -> bool:
    """Return whether there is another filter that no index has."""
    return any(FILTERS[name].reading is Lookup.RECORDS for name in which.given if not name.startswith("sent_"))
