"""The stream of the records in several shards, the functions that append its events to the logs, and readers of these.

A shard delivers in order. A batch is delivered again until its function ends, and any shard may be far behind. The same
functions clean up after records that the time to live has removed.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from domain.errors import CursorExpired
from domain.events.feed import Feed, FeedFilter
from domain.events.log import KEPT, append_events
from domain.maintenance.retention import forget_record
from domain.records.event import changes_of, events_of
from domain.timestamps import timestamp

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from domain.ports import Clock
    from domain.records.event import LoggedEvent
    from domain.records.request import QueuedRequest
    from tests.support.web_connector.observed_store import Entry

SHARDS = 3
MAX_CURSORS = 12
"""How many of its cursors a reader keeps."""
BATCH = 100
PAGE = 100


@dataclass
class Reader:
    """Keeps cursors of an app's feed, each with the events that were read before it."""

    app_id: str
    cursors: list[tuple[str, frozenset[LoggedEvent]]] = field(default_factory=list)


def _events_of(before: QueuedRequest | None, after: QueuedRequest) -> tuple[LoggedEvent, ...]:
    return events_of(before.state if before else None, after, changes_of(before, after))


def shard_of(entry: Entry) -> int:
    """Return the shard with the changes of a request."""
    [request_id] = {version.id for version in entry if version}
    return zlib.crc32(request_id.encode()) % SHARDS


@dataclass
class Consumer:
    """A consumer of the stream of a store. `handle` handles a batch, in a function of `in_function`.

    `in_function` returns None if the function was interrupted.
    """

    store: Any
    in_function: Callable[[Callable[[], object], Any], object]
    handle: Callable[[Sequence[Entry]], object]
    delivered: list[int] = field(default_factory=lambda: [0] * SHARDS)

    def _entries_in(self, shard: int) -> list[Entry]:
        return [entry for entry in self.store.stream if shard_of(entry) == shard]

    def consume(self, shard: int, number: int, trouble: Any) -> None:
        """Deliver the next changes of a shard. They are delivered again if the function is interrupted."""
        start = self.delivered[shard]
        batch = self._entries_in(shard)[start:][:number]
        if self.in_function(lambda: self.handle(batch) or True, trouble):
            # A concurrent call may have delivered more of the shard.
            self.delivered[shard] = max(self.delivered[shard], start + len(batch))

    def repeat(self, shard: int, number: int) -> None:
        """Deliver changes of a shard again that were delivered before, as after a reset of the consumer."""
        self.handle(self._entries_in(shard)[: self.delivered[shard]][-number:])

    def skip(self, shard: int, number: int) -> None:
        """Give up the next changes of a shard, as Lambda does after too many failures."""
        self.delivered[shard] += len(self._entries_in(shard)[self.delivered[shard] :][:number])

    def consume_everything(self) -> None:
        """Catch up in all shards."""
        for shard in range(SHARDS):
            while self.delivered[shard] < len(self._entries_in(shard)):
                self.consume(shard, BATCH, None)


@dataclass
class Streams:
    """The logs of a store that records its changes in `stream`, with the consumer that appends to them."""

    store: Any
    interruptible: Any
    clock: Clock
    in_function: Callable[[Callable[[], object], Any], object]

    def __post_init__(self) -> None:
        """Begin to read the feed of each app while its log is empty."""
        self.consumer = Consumer(self.store, self.in_function, self._append)
        self.readers = [Reader(app_id) for app_id in self.store.app_ids()]
        for reader in self.readers:
            self.read(reader, 0, PAGE)

    def _append(self, batch: Sequence[Entry]) -> None:
        events: defaultdict[str, list[LoggedEvent]] = defaultdict(list)
        for before, after in batch:
            if after:
                events[after.app_id] += _events_of(before, after)
        for app_id, own in events.items():
            append_events(self.interruptible, app_id, own, self.clock())
        for before, after in batch:
            if before and not after:
                forget_record(self.interruptible, before, self.clock())

    # --- Reading

    def read(self, reader: Reader, which: int, limit: int) -> None:
        """Read a page behind one of the cursors of a reader, or the oldest page."""
        cursor, seen = reader.cursors[which % len(reader.cursors)] if reader.cursors else (None, frozenset())
        reader.cursors.append(self._page(reader.app_id, cursor, seen, limit)[:2])
        del reader.cursors[1:-MAX_CURSORS]

    def _page(
        self, app_id: str, cursor: str | None, seen: frozenset[LoggedEvent], limit: int
    ) -> tuple[str, frozenset[LoggedEvent], bool]:
        """Return the cursor behind a page, the events before it, and whether there are more."""
        feed = Feed(self.store, self.clock)
        try:
            page = feed.page(app_id, cursor, FeedFilter(), limit)
        except CursorExpired as error:
            gone = self._gone(app_id)
            assert gone - seen, "a cursor expires only if events behind it are gone"
            seen |= gone
            page = feed.page(app_id, str((error.details or {})["oldest"]), FeedFilter(), limit)
        return str(page.after), seen | {event.logged for event in page.events}, page.has_more

    def _gone(self, app_id: str) -> set[LoggedEvent]:
        """Return the events of an app that the feed shows no longer."""
        since = timestamp(self.clock() - KEPT)
        groups = [group for group in self.store.events.values() if group.app_id == app_id and group.at <= since]
        return {event for group in groups for event in group.events}

    def check(self) -> None:
        """Check that a reader that goes on from any of its cursors has every event in the end."""
        self.consumer.consume_everything()
        for reader in self.readers:
            expected = {
                event
                for before, after in self.store.stream
                if after and after.app_id == reader.app_id
                for event in _events_of(before, after)
            }
            for cursor, seen in reader.cursors:
                has_more = True
                while has_more:
                    cursor, seen, has_more = self._page(reader.app_id, cursor, seen, PAGE)  # noqa: PLW2901
                assert expected - self._gone(reader.app_id) <= seen
