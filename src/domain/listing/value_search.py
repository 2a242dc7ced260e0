"""Finds the requests of an app that have a whole value: a label, a number, a customer or vendor, or an error.

The connections are read in parallel: the texts that are not packed, and a filter for each search block (decision 0130).
Then the blocks that may have the value are read, newest first, until the answer is full. The answer names each
connection that was not searched to its beginning, so no request is missing from it without a word.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from domain.listing.overview import MAX_CONNECTIONS, MAX_SECONDS, PARALLEL_CONNECTIONS
from domain.listing.search import RECORDS_PER_READ, texts_without_response
from domain.records.request import State
from domain.records.search_text import normalized_phrase
from domain.timestamps import AFTER_ALL
from domain.whole_values import kinds_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from domain.ports import Clock
    from domain.records.connection import Connection
    from domain.records.request import QueuedRequest
    from domain.storage.ports import BlockEntry, ValueStore
    from domain.whole_values import MatchedAs

HitPlace: TypeAlias = tuple[str, str]
"""(inserted_at, id) of a request. The answer has the requests before a place."""

NEWEST: HitPlace = (AFTER_ALL, "")

MAX_HITS = 100
"""The largest number of requests in an answer."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A request that has the value, and what the value is in it."""

    connection: Connection
    record: QueuedRequest
    kinds: Sequence[MatchedAs]


class Unsearched(StrEnum):
    """Why requests were not searched."""

    TIME = "time"
    OLDER_RELEASE = "older_release"


@dataclass(frozen=True, slots=True)
class UnsearchedConnection:
    """A connection of which only requests that were inserted after `complete_after` were searched, or none (None)."""

    connection: Connection
    complete_after: str | None
    reason: Unsearched


@dataclass(frozen=True, slots=True)
class ValueReport:
    """The newest requests with a value. `following` is the place at which the search continues, or None at the end.

    `unsearched` are the connections that were not searched to their beginning, as far as the answer reaches. `omitted`
    is the number of connections that are not even named, because the app has too many.
    """

    hits: Sequence[Hit]
    following: HitPlace | None = None
    unsearched: Sequence[UnsearchedConnection] = ()
    omitted: int = 0


@dataclass(slots=True)
class _Searched:
    """What was read of a connection: texts with the value by their places, and blocks that may have others.

    `hidden` are the places of all texts that are not packed, which take precedence over those in blocks.
    """

    connection: Connection
    found: dict[HitPlace, Sequence[MatchedAs]] = field(default_factory=dict)
    hidden: set[HitPlace] = field(default_factory=set)
    blocks: list[BlockEntry] = field(default_factory=list)
    unsearched: UnsearchedConnection | None = None

    def stop(self, complete_after: str | None, reason: Unsearched = Unsearched.TIME) -> None:
        """Note that older requests are not searched."""
        if self.unsearched is None or (complete_after or AFTER_ALL) > (self.unsearched.complete_after or AFTER_ALL):
            self.unsearched = UnsearchedConnection(self.connection, complete_after, reason)


class ValueSearches:
    """Searches the oldest MAX_CONNECTIONS connections of an app, for MAX_SECONDS."""

    def __init__(self, store: ValueStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def of_app(self, app_id: str, value: str, limit: int, before: HitPlace = NEWEST) -> ValueReport:
        """Return the newest requests of an app that have the value, without regard to case."""
        deadline = self._clock() + timedelta(seconds=MAX_SECONDS)
        connections, total = self._store.connections_of(app_id, 0, MAX_CONNECTIONS)
        run = _Run(self._store, self._clock, deadline, normalized_phrase(value), before)
        with ThreadPoolExecutor(PARALLEL_CONNECTIONS) as readers:
            searched = list(readers.map(run.connection, connections))
            hits = run.newest_hits(searched, limit + 1, readers)
        last = hits[limit - 1].record if len(hits) > limit else None
        return ValueReport(
            hits[:limit],
            (last.inserted_at, last.id) if last else None,
            [one.unsearched for one in searched if one.unsearched],
            total - len(connections),
        )


@dataclass(slots=True)
class _Run:
    """One search for a folded value, until a deadline."""

    store: ValueStore
    clock: Clock
    deadline: datetime
    value: str
    before: HitPlace
    checked: dict[HitPlace, Hit | None] = field(default_factory=dict)

    def connection(self, connection: Connection) -> _Searched:
        """Read the unpacked texts of a connection, and the entries of its search blocks."""
        searched, until = _Searched(connection), self.before[0]
        if self._is_late():
            searched.stop(None)
            return searched
        for texts in self.store.unpacked_values(connection.id, self.value, until):
            searched.hidden.update(text.place for text in texts)
            searched.found.update((text.place, text.kinds) for text in texts if text.kinds and text.place < self.before)
            if older := [text.place for text in texts if not text.is_readable]:
                searched.stop(max(older)[0], Unsearched.OLDER_RELEASE)
            if self._is_late():
                searched.stop(None)
                return searched
        read_after: str | None = None
        for entries in self.store.block_entries(connection.id, self.value, until):
            for entry in entries:
                if not entry.is_readable:
                    searched.stop(read_after, Unsearched.OLDER_RELEASE)
                read_after = entry.since
            searched.blocks += [entry for entry in entries if entry.may_match]
            if read_after and self._is_late():  # the first block of a connection begins before all times
                searched.stop(read_after)
                break
        return searched

    def newest_hits(self, searched: Sequence[_Searched], number: int, readers: ThreadPoolExecutor) -> list[Hit]:
        """Return the newest hits in their order, at most `number`. Reads blocks until none can have a newer one."""
        of_place = {place: one for one in searched for place in one.found}
        blocks = [(one, block) for one in searched for block in one.blocks]
        blocks.sort(key=lambda of_block: of_block[1].until, reverse=True)
        while True:
            bound = blocks[0][1].until if blocks else ""
            hits = self._checked_hits(of_place, bound, number)
            if len(hits) == number or not blocks:
                return hits
            if self._is_late():
                for one, block in blocks:
                    one.stop(block.until)
                return self._checked_hits(of_place, "", number)
            now, blocks = blocks[:PARALLEL_CONNECTIONS], blocks[PARALLEL_CONNECTIONS:]
            read = readers.map(lambda of_block: self._in_block(*of_block), now)
            for (one, _), found in zip(now, read, strict=True):
                one.found.update(found)
                of_place.update(dict.fromkeys(found, one))

    def _in_block(self, searched: _Searched, block: BlockEntry) -> dict[HitPlace, Sequence[MatchedAs]]:
        texts = self.store.values_in_block(searched.connection.id, block, self.value)
        return {place: kinds for place, kinds in texts if place < self.before and place not in searched.hidden}

    def _checked_hits(self, of_place: dict[HitPlace, _Searched], bound: str, number: int) -> list[Hit]:
        """Return the newest hits that were inserted after `bound`, at most `number`. Reads their records.

        A text can be that of a record that was removed, until it is out of the search blocks.
        """
        places = sorted((place for place in of_place if place[0] > bound), reverse=True)
        hits: list[Hit] = []
        for at in range(0, len(places), RECORDS_PER_READ):
            part = places[at : at + RECORDS_PER_READ]
            self._check({place: of_place[place] for place in part if place not in self.checked})
            hits += filter(None, map(self.checked.get, part))
            if len(hits) >= number:
                break
            if self._is_late() and part[-1] != places[-1]:
                for place in places[at + RECORDS_PER_READ :]:
                    of_place[place].stop(place[0])
                break
        return hits[:number]

    def _check(self, of_place: dict[HitPlace, _Searched]) -> None:
        """Read the records of some places, and note their hits."""
        if not of_place:
            return
        records = {record.id: record for record in self.store.records_by_id([id_ for _, id_ in of_place], may_lag=True)}
        sent = [record.id for record in records.values() if record.state is State.SENT]
        without_response = texts_without_response(self.store, sent) if sent else {}
        for place, searched in of_place.items():
            record, kinds = records.get(place[1]), searched.found[place]
            if place[1] in without_response:
                kinds = kinds_of(self.value, without_response[place[1]])
            is_hit = record and record.connection_id == searched.connection.id and kinds
            self.checked[place] = Hit(searched.connection, record, kinds) if record and is_hit else None

    def _is_late(self) -> bool:
        return self.clock() >= self.deadline
