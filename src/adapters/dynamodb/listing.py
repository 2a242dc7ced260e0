"""Entries of the listing indexes.

A record is in two indexes, by insertion and by last change. The partitions of both are a connection and a pair, so a
filter is a set of partitions. They are read in parallel and merged. The counts tell which ones are not empty.

Two sparse indexes have the requests of a label, and the pages of a query after the first (decision 0078). Their entries
never change.

A page in the middle of a large day begins after thousands of entries, which are read but not sent: in each large
partition as many as are expected before the page, if its entries are spread like those of the others. The entries that
follow show whether the page is after all of them.
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise
from math import ceil, sqrt
from typing import TYPE_CHECKING, Any, TypeVar

from adapters.dynamodb import keys
from adapters.dynamodb.client import Index, key_query
from adapters.dynamodb.records import (
    IN_FLIGHT_OF,
    LISTED_LABEL,
    LISTED_STATE,
    LISTED_UPDATED_AT,
    LISTED_WEBHOOK_STATE,
    STATE_CODES,
    UNSENT_SHARDS,
    UNSETTLED,
    WEBHOOK_STATE_CODES,
    hash_of_label,
)
from domain.storage.counts import INSERTED, UPDATED
from domain.storage.ports import Group, IndexDays, IndexEntry, IndexStretch
from domain.timestamps import AFTER_ALL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from adapters.dynamodb.client import DynamoDB
    from adapters.dynamodb.keys import Item
    from domain.storage.ports import Partition

S = TypeVar("S")
T = TypeVar("T")

BY_INSERTED = Index("by_inserted")
BY_UPDATED = Index("by_updated")
RECORDS_IN_FLIGHT = Index("in_flight")

LISTING_INDEXES = {INSERTED: (BY_INSERTED, keys.INSERTED_AT), UPDATED: (BY_UPDATED, LISTED_UPDATED_AT)}
"""The index and its sort attribute by `IndexDays.sort`."""

BY_LABEL = Index("by_label")
BY_QUERY = Index("by_query")
"""The indexes of groups, sorted by insertion."""

MAX_SKIP_READ = 1_000
"""To skip more entries than this (125 bytes each), DynamoDB counts them in one extra call. Sending fewer entries is as
fast. At most half of a day's entries are skipped, so 2,000 records a day stay below this number."""

MIN_SKIP = 100
"""Fewer entries of a partition are not skipped, because an extra call costs more."""

DEVIATIONS = 4
"""How many standard deviations fewer entries are skipped, and more are read, than are expected. One page in 30,000 then
takes further calls, if the records of a day came in random order."""

MIN_LIMIT = 50
"""DynamoDB reads at least 4 KB, which hold 32 entries, and twice as many for an eventually consistent read unit."""

MAX_STEPS = 8
"""How often to skip before the rest is read. The first time suffices unless the order of a day is not random."""

MAX_PARALLEL_QUERIES = 16


@dataclass(frozen=True, slots=True)
class Skips:
    """When entries are skipped without being sent: before a page, and in one partition."""

    max_read: int = MAX_SKIP_READ
    min_number: int = MIN_SKIP


class Listing:
    """Reads the listing indexes."""

    def __init__(self, dynamodb: DynamoDB, skips: Skips) -> None:
        self._dynamodb = dynamodb
        self._skips = skips

    def in_flight_ids(self, connection_id: str) -> Sequence[str]:
        """Return the ids of the records in flight with one query."""
        query = key_query(
            self._dynamodb.tables.queued_requests,
            {IN_FLIGHT_OF: connection_id},
            index=RECORDS_IN_FLIGHT,
            attributes=(keys.ID,),
        )
        return [entry[keys.ID]["S"] for entry in self._dynamodb.query(query)]

    def unsettled_ids(self) -> Sequence[str]:
        """Return the ids of unsettled writes with one query for each shard."""
        shards = (f"{UNSETTLED}{shard}" for shard in range(UNSENT_SHARDS))
        return [request_id for shard in shards for request_id in self.in_flight_ids(shard)]

    def index_entries(self, days: IndexDays, *, descending: bool, skip: int, limit: int) -> Sequence[IndexEntry]:
        """Return entries with one round of queries, and one or more to skip over MAX_SKIP_READ entries."""
        if not days.counts or days.first > days.last:
            return []
        with ThreadPoolExecutor(min(len(days.counts), MAX_PARALLEL_QUERIES)) as threads:
            return _Merge(self._dynamodb, days, descending, threads, self._skips).entries(skip, limit)

    def next_index_entries(self, stretch: IndexStretch, limit: int) -> Sequence[IndexEntry]:
        """Return the first entries of a stretch, with one query for each pair, in parallel."""
        index, time = LISTING_INDEXES[stretch.sort]
        first = stretch.after.moment if stretch.after else stretch.first

        def read(pair: Partition) -> list[IndexEntry]:
            key = partition_key(stretch.connection_id, pair)
            query = key_query(
                self._dynamodb.tables.queued_requests,
                key,
                index=index,
                between=(time, first, stretch.last),
                attributes=(keys.ID, time),
            )
            if stretch.after:
                start = key | {time: stretch.after.moment, keys.ID: stretch.after.id}
                query["ExclusiveStartKey"] = {name: {"S": value} for name, value in start.items()}
            items = self._dynamodb.query(query | {"Limit": limit})
            return [_entry(item, stretch.sort) for item in islice(items, limit)]

        with ThreadPoolExecutor(min(len(stretch.pairs), MAX_PARALLEL_QUERIES)) as threads:
            entries = chain.from_iterable(threads.map(read, stretch.pairs))
            return sorted(entries, key=lambda entry: (entry.moment, entry.id))[:limit]

    def all_index_entries(
        self, days: IndexDays, split_points: Sequence[str], check_deadline: Callable[[], None] = lambda: None
    ) -> Iterable[IndexEntry]:
        """Return every entry of these days, with one query at a time for each part of each partition."""

        def read(step: tuple[Partition, dict[str, Any]]) -> list[IndexEntry]:
            return [_entry(item, days.sort) for item in self._dynamodb.query(step[1], check_deadline)]

        queries = self._part_queries(days, split_points)
        with ThreadPoolExecutor(len(split_points) + 1) as threads:
            return list(chain.from_iterable(threads.map(read, queries)))

    def count_index_entries(
        self, days: IndexDays, split_points: Sequence[str], check_deadline: Callable[[], None] = lambda: None
    ) -> Mapping[Partition, int]:
        """Return the number of entries, with one query at a time for each part of each partition."""
        queries = self._part_queries(days, split_points, with_attributes=False)
        numbers: Counter[Partition] = Counter()
        with ThreadPoolExecutor(len(split_points) + 1) as threads:
            counts = threads.map(lambda step: self._dynamodb.count(step[1], check_deadline), queries)
            for (partition, _), number in zip(queries, counts, strict=True):
                numbers[partition] += number
        return numbers

    def _part_queries(
        self, days: IndexDays, split_points: Sequence[str], *, with_attributes: bool = True
    ) -> list[tuple[Partition, dict[str, Any]]]:
        """Return the query for each part of each partition, with its partition."""
        if days.first > days.last:
            return []
        points = [point for point in split_points if days.first < point < days.last]
        times = list(pairwise([days.first, *points, days.last]))
        # The largest partitions come first, so that they are read while the small ones are.
        counts: Mapping[Any, int] = days.counts
        partitions = sorted(counts, key=lambda partition: -counts[partition])
        return [
            (partition, _entries_query(self._dynamodb, days, partition, first, last, with_attributes=with_attributes))
            for partition in partitions
            for first, last in times
        ]


def partition_key(connection_id: str, partition: Partition) -> dict[str, str]:
    """Return the partition key of the index entries of a connection in this partition."""
    match partition:
        case Group(by="label"):
            attributes = {LISTED_LABEL: hash_of_label(partition.value)}
        case Group():
            attributes = {keys.QUERY_ID: partition.value}
        case state, webhook_state:
            attributes = {
                LISTED_STATE: STATE_CODES[state],
                LISTED_WEBHOOK_STATE: WEBHOOK_STATE_CODES[webhook_state],
            }
    return {keys.CONNECTION_ID: connection_id} | attributes


@dataclass(frozen=True, slots=True)
class _Part:
    """The entries of one partition between two times. There are `number`, as counted.

    The first `skipped` of them, up to the key `after`, are not read.
    """

    partition: Partition
    number: int
    first: str
    last: str
    skipped: int = 0
    after: Item | None = None

    @property
    def left(self) -> int:
        """The number of entries that can be read."""
        return max(self.number - self.skipped, 0)


@dataclass(frozen=True, slots=True)
class _Merge:
    """One read of several partitions, merged into one order."""

    dynamodb: DynamoDB
    days: IndexDays
    descending: bool
    threads: ThreadPoolExecutor
    skips: Skips

    def entries(self, skip: int, limit: int) -> Sequence[IndexEntry]:
        """Return the entries `skip` to `skip + limit` of all partitions."""
        parts = [
            _Part(partition, number, self.days.first, self.days.last) for partition, number in self.days.counts.items()
        ]
        for _ in range(MAX_STEPS if skip > self.skips.max_read else 0):
            steps = [(part, self._number_to_skip(part, parts, skip)) for part in parts]
            rest = self._parallel(self._behind, steps)
            left = skip - sum(number for _, number in steps)
            entries = self.first_entries(rest, left + limit)[left : left + limit]
            skipped = self._in_order(_entry(part.after, self.days.sort) for part in rest if part.after)
            if not entries or not skipped or self._in_order([skipped[-1], entries[0]])[-1] == entries[0]:
                return entries
            # Too many were skipped in one of the partitions, so the entries before a time are counted in all of them.
            before, later = self._split(parts, skipped[0].moment)
            reached = sum(part.number for part in before)
            if skip < reached < skip + limit:
                backwards = replace(self, descending=not self.descending)
                head = backwards.first_entries(before, reached - skip)
                return [*reversed(head), *self.first_entries(later, skip + limit - reached)]
            parts, skip = (later, skip - reached) if reached <= skip else (before, skip)
            if skip <= self.skips.max_read:
                break
        return self.first_entries(parts, skip + limit)[skip : skip + limit]

    def _number_to_skip(self, part: _Part, parts: Sequence[_Part], skip: int) -> int:
        """Return how many entries of a part to skip, so that they are hardly ever too many."""
        share, deviation = _share(part, parts, skip)
        number = int(share - DEVIATIONS * deviation)
        return number if number >= self.skips.min_number else 0

    def _behind(self, step: tuple[_Part, int]) -> _Part:
        """Return a part without its first `number` entries."""
        part, number = step
        if not number:
            return part
        after = self.dynamodb.key_after(number, self._query(part))
        return replace(part, number=part.number if after else number, skipped=number, after=after)

    def first_entries(self, parts: Sequence[_Part], number: int) -> list[IndexEntry]:
        """Return the first `number` entries of these parts, in order, or all if there are fewer."""
        limits = [_limit(part, parts, number) for part in parts]
        read = self._parallel(self._read, list(zip(parts, limits, strict=True)))
        entries = self._in_order(chain.from_iterable(read))
        last = entries[:number][-1:]
        # A part of which all that was read is before the last entry may have more before it.
        short = [
            index
            for index, (part, limit, own) in enumerate(zip(parts, limits, read, strict=True))
            if len(own) == limit < min(part.left, number)
            and (len(entries) < number or self._in_order([own[-1], *last])[-1:] == last != own[-1:])
        ]
        if short:
            steps = [(parts[index], min(parts[index].left, number)) for index in short]
            for index, own in zip(short, self._parallel(self._read, steps), strict=True):
                read[index] = own
            entries = self._in_order(chain.from_iterable(read))
        return entries[:number]

    def _split(self, parts: Sequence[_Part], moment: str) -> tuple[list[_Part], list[_Part]]:
        """Return the parts before `moment`, in the order of the list, and those from then on. Counts the former."""
        if self.descending:
            before = [replace(part, first=moment + AFTER_ALL) for part in parts]
            later = [replace(part, last=moment) for part in parts]
        else:
            before = [replace(part, last=moment[:-1]) for part in parts]
            later = [replace(part, first=moment) for part in parts]
        numbers = self._parallel(lambda part: self.dynamodb.count(self._query(part)), before)
        return (
            [replace(part, number=number) for part, number in zip(before, numbers, strict=True) if number],
            [
                replace(part, number=part.number - number)
                for part, number in zip(later, numbers, strict=True)
                if part.number > number
            ],
        )

    def _read(self, step: tuple[_Part, int]) -> list[IndexEntry]:
        part, limit = step
        if limit <= 0:
            return []
        query = self._query(part, with_attributes=True) | {"Limit": limit}
        return [_entry(item, self.days.sort) for item in islice(self.dynamodb.query(query), limit)]

    def _query(self, part: _Part, *, with_attributes: bool = False) -> dict[str, Any]:
        query = _entries_query(
            self.dynamodb, self.days, part.partition, part.first, part.last, with_attributes=with_attributes
        )
        query["ScanIndexForward"] = not self.descending
        return query | ({"ExclusiveStartKey": part.after} if part.after else {})

    def _in_order(self, entries: Iterable[IndexEntry]) -> list[IndexEntry]:
        return sorted(entries, key=lambda entry: (entry.moment, entry.id), reverse=self.descending)

    def _parallel(self, function: Callable[[S], T], arguments: Sequence[S]) -> list[T]:
        """Call the function with each argument. A single call does not need a thread."""
        return list((self.threads.map if len(arguments) > 1 else map)(function, arguments))


def _limit(part: _Part, parts: Sequence[_Part], number: int) -> int:
    """Return how many entries of a part to read, so that the first `number` of all parts are hardly ever missing."""
    share, deviation = _share(part, parts, number + sum(part.skipped for part in parts))
    return min(max(ceil(share + DEVIATIONS * deviation) - part.skipped, MIN_LIMIT), number, part.left)


def _share(part: _Part, parts: Sequence[_Part], number: int) -> tuple[float, float]:
    """Return how many of the first `number` entries are of this part, and the standard deviation of that.

    Both hold for entries in random order.
    """
    fraction = part.number / max(sum(part.number for part in parts), 1)
    return number * fraction, sqrt(number * fraction * (1 - fraction))


def _entries_query(
    dynamodb: DynamoDB, days: IndexDays, partition: Partition, first: str, last: str, *, with_attributes: bool = True
) -> dict[str, Any]:
    """Return the query for the entries of a partition from `first` to `last`."""
    index, time = LISTING_INDEXES[days.sort]
    if isinstance(partition, Group):
        index = BY_LABEL if partition.by == "label" else BY_QUERY
    return key_query(
        dynamodb.tables.queued_requests,
        partition_key(days.connection_id, partition),
        index=index,
        between=(time, first, last),
        attributes=(keys.ID, time) if with_attributes else (),
    )


def _entry(item: Item, sort: str) -> IndexEntry:
    return IndexEntry(item[keys.ID]["S"], item[LISTING_INDEXES[sort][1]]["S"])
