"""What is stored of a connection's copy, and what a call of a session changes in it: objects, pages and numbers."""

from __future__ import annotations

import json
import zlib
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from domain.records.subscription import (
    RECORD_KINDS,
    START_NOW,
    START_WITH_ALL,
    BooksCopy,
    ChangePage,
    CopyPhase,
    CopyState,
    FoundIn,
    ObjectCopy,
    PageKind,
    next_number,
)
from domain.storage.changes import Put
from domain.subscriptions import open_transactions
from domain.subscriptions.objects import known_object
from domain.subscriptions.remembered import Remembered
from domain.subscriptions.wishes import wishes
from domain.timestamps import books_time, known_books_time, timestamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from domain.records.subscription import RememberedPart
    from domain.subscriptions.answers import BooksChange
    from domain.subscriptions.wishes import Wish

DELETIONS_KEPT = timedelta(days=85)
"""QuickBooks reports deletions of 90 days. An object that was not read for this long may have lost some."""

NOT_READ = "The books were not read for so long that deletions may be missing."

TRIED_AGAIN = timedelta(days=1)
"""How often an object is tried that QuickBooks could not read."""

BEFORE_NOW = timedelta(days=1)
"""How long before the present a subscription that starts now begins, because the clock of the books is not known."""

MAX_PAGE_BYTES = 300_000
"""The size of a stored page before compression. The database takes 400 KB."""

MAX_PACKED_BYTES = 350_000
"""The size of a page with one change, compressed. It has more than MAX_PAGE_BYTES before."""

MAX_RECORD_BYTES = 2_000_000
"""The largest change. An answer of the feed has at most 4 MiB, in which each quotation mark takes two bytes."""

MAX_PAGE_CHANGES = 1_000

MAX_MOVED = 10
"""How many objects that need a resync a call stores at most. Each has its state and a page in the commit."""

READ = frozenset({CopyPhase.SNAPSHOT, CopyPhase.CHANGES})
"""The phases in which an object is read."""


class StoredCopy:
    """The stored state of a connection's copy, and what a run changes in it."""

    def __init__(
        self,
        state: CopyState,
        connection_id: str,
        app_id: str,
        *,
        version: str,
        now: datetime,
        file_id: str | None = None,
    ) -> None:
        """`version` is the QBXML version to ask with, and `file_id` the mark of the company file that is open."""
        self.now = now
        self.file_id = file_id
        self.version = version
        self.connection_id = connection_id
        self.wishes = wishes(state.subscriptions)
        self.copy = state.copy or BooksCopy(connection_id, app_id)
        self.pages: list[ChangePage] = []
        self._put_off: set[str] = set()
        self._stored_parts = state.remembered
        self._remembered: dict[str, Remembered] = {}
        self._copy_before = state.copy
        self._with_webhook = [one for one in state.subscriptions if one.webhook.url]
        self._before = {one.name: one for one in state.objects}
        self.objects = {name: self._begun(name, wish) for name, wish in sorted(self.wishes.items())}

    def _begun(self, name: str, wish: Wish) -> ObjectCopy:
        """Return the state of an object, as it is after the subscriptions of today."""
        before = self._before.get(name)
        fresh = ObjectCopy(self.connection_id, name, CopyPhase.SNAPSHOT, wish.began_at)
        if before is None:
            return self._of_this_version(_started(fresh, wish, ""))
        start = wish.start_after(before.began_at) if wish.began_at > before.began_at else None
        after = before
        if start == START_WITH_ALL:
            after = _started(before, wish, before.began_at)
        elif before.phase is CopyPhase.CHANGES and before.reading is None and self._is_past(name, DELETIONS_KEPT):
            after = self._moved_to_resync(before, NOT_READ)
        elif self.file_id and before.file_id not in {None, self.file_id} and before.phase in READ:
            after = self._moved_to_resync(before, "Another company file is open than the one that was read.")
        elif start and before.phase not in {CopyPhase.SNAPSHOT, CopyPhase.RESYNC_REQUIRED}:
            goes_on = start == START_NOW
            after = replace(before, began_at=wish.began_at) if goes_on else _started(before, wish, before.began_at)
        elif before.phase is CopyPhase.UNSUPPORTED and self._is_past(name, TRIED_AGAIN):
            after = self._tried_again(before, wish)
        elif self._is_to_verify(before, wish):
            after = replace(before, phase=CopyPhase.SNAPSHOT)
        return self._of_this_version(after)

    def _tried_again(self, before: ObjectCopy, wish: Wish) -> ObjectCopy:
        """Return the start of an object that QuickBooks could not read."""
        after = _started(before, wish, "")
        if after.phase is not CopyPhase.CHANGES:
            return after
        watermark = books_time(after.watermark)
        if before.newest and watermark and watermark < self.now - DELETIONS_KEPT:
            return self._moved_to_resync(before, NOT_READ)
        return replace(after, newest=before.newest)

    def _moved_to_resync(self, before: ObjectCopy, problem: str) -> ObjectCopy:
        """Return an object that needs a resync. If one commit cannot take more of them, a later call stores it."""
        if len(self.pages) < MAX_MOVED:
            return self._to_resync(before, problem)
        self._put_off.add(before.name)
        return _resync_required(before, problem)

    @property
    def has_moved(self) -> bool:
        """Whether objects need a resync that were read until now. Only a run can store and report it."""
        before = self._before
        return any(
            one.phase is CopyPhase.RESYNC_REQUIRED and name in before and before[name].phase is not one.phase
            for name, one in self.objects.items()
        )

    def _is_to_verify(self, one: ObjectCopy, wish: Wish) -> bool:
        """Whether a snapshot is due, which finds what no query for changes shows. Never before the first one."""
        before = next_number(0, self.now - timedelta(days=wish.verify_days))
        return one.phase is CopyPhase.CHANGES and one.reading is None and 0 < one.generation <= before

    def _of_this_version(self, one: ObjectCopy) -> ObjectCopy:
        known = known_object(one.name)
        if known.exists_in(self.version):
            return one
        problem = f"It needs QBXML {known.since}, and this QuickBooks supports {self.version}."
        return replace(one, phase=CopyPhase.UNSUPPORTED, reading=None, problem=problem)

    def _is_past(self, name: str, period: timedelta) -> bool:
        read = self.copy.read.get(name)
        return read is not None and read <= timestamp(self.now - period)

    # --- What is stored

    def _note_read(self, name: str) -> None:
        self.copy = replace(self.copy, read={**self.copy.read, name: timestamp(self.now)})

    def _store(self, one: ObjectCopy) -> None:
        self.objects[one.name] = one

    def remembered(self, name: str) -> Remembered:
        """Return what the feed has said of the records of an object. Its parts have to be read for this."""
        if name not in self._remembered:
            parts: list[RememberedPart] = [part for part in self._stored_parts if part.name == name]
            self._remembered[name] = Remembered(self.connection_id, name, parts)
        return self._remembered[name]

    def _emit_new(self, kind: PageKind, one: ObjectCopy, changes: Sequence[BooksChange]) -> None:
        """Add the pages of those changes that were not emitted since the overlap began."""
        known = {*one.tokens, *(one.reading.tokens if one.reading else ())}
        self._emit_changes(kind, one, [change for change in changes if change.token not in known])

    def _emit_changes(self, kind: PageKind, one: ObjectCopy, changes: Sequence[BooksChange]) -> None:
        """Add the pages of these changes, and remember how far transactions are paid."""
        if fields := known_object(one.name).paid_fields_in(self.version):
            for change in changes:
                open_transactions.remember(self.remembered(one.name), change, fields, self.now)
        self._emit(kind, one, [storable(change.content) for change in changes])

    def _to_resync(self, one: ObjectCopy, problem: str) -> ObjectCopy:
        after = _resync_required(one, problem)
        self._emit(PageKind.RESYNC_REQUIRED, one, [{"reason": after.problem}])
        return after

    def _emit(self, kind: PageKind, one: ObjectCopy | None, contents: Sequence[Mapping[str, Any]]) -> None:
        """Add the pages of these changes."""
        name = one.name if one else ""
        wanting = [known for known in self._with_webhook if known.wants(name)]
        webhooks = tuple(known.id for known in wanting if kind is not PageKind.DERIVED or known.derived)
        for texts in divided([_text(content) for content in contents]):
            first = next_number(self.copy.sequence, self.now)
            self.copy = replace(self.copy, sequence=first + len(texts) - 1)
            self.pages.append(
                ChangePage(
                    connection_id=self.connection_id,
                    app_id=self.copy.app_id,
                    sequence=first,
                    kind=kind,
                    object=name,
                    generation=one.generation if one else 0,
                    at=timestamp(self.now),
                    number=len(texts),
                    changes=f"[{','.join(texts)}]",
                    webhooks=webhooks,
                    found_in=_found_in(kind, one),
                )
            )

    def changes(self) -> list[Put[Any]]:
        """Return the changes to commit: what differs from the stored state, and the pages."""
        changes: list[Put[Any]] = []
        if self.copy != self._copy_before:
            after = self.copy if self._copy_before is None else replace(self.copy, revision=self.copy.revision + 1)
            changes.append(Put(self._copy_before, after))
        for name, one_now in self.objects.items():
            if name in self._put_off:
                continue
            before, one = self._before.get(name), one_now.changed(self._changes_found(name), self.now)
            if one != before:
                changes.append(Put(before, one if before is None else replace(one, revision=one.revision + 1)))
        parts = [change for one in self._remembered.values() for change in one.changes()]
        return [*changes, *parts, *(Put(None, page) for page in self.pages)]

    def _changes_found(self, name: str) -> int:
        """Return how many changes of an object were found. The records of a snapshot are not changes."""
        own = (page for page in self.pages if page.object == name and page.found_in is FoundIn.CHANGES)
        return sum(page.number for page in own if page.kind in RECORD_KINDS)


def _resync_required(one: ObjectCopy, problem: str) -> ObjectCopy:
    return replace(one, phase=CopyPhase.RESYNC_REQUIRED, reading=None, problem=f"{problem} Resync the subscription.")


def _started(one: ObjectCopy, wish: Wish, after: str) -> ObjectCopy:
    """Return an object at the start that the subscriptions want which began after a moment."""
    start = wish.start_after(after)
    begun = replace(one, began_at=wish.began_at, reading=None, problem=None, count=None)
    if start == START_WITH_ALL:
        # The books may be others than before, or a backup of them. So their former times count no more.
        return replace(begun, phase=CopyPhase.SNAPSHOT, watermark=None, file_id=None)
    since = datetime.fromisoformat(wish.began_at) - BEFORE_NOW if start == START_NOW else known_books_time(start)
    earlier = [moment for text in (begun.watermark,) if (moment := books_time(text))]
    watermark = min([since, *earlier]).isoformat(timespec="seconds")
    return replace(begun, phase=CopyPhase.CHANGES, watermark=watermark, newest=None, tokens=())


def _found_in(kind: PageKind, one: ObjectCopy | None) -> FoundIn:
    if kind is not PageKind.CHANGED or one is None or one.phase is not CopyPhase.SNAPSHOT:
        return FoundIn.CHANGES
    return FoundIn.FIRST_SNAPSHOT if one.records is None else FoundIn.LATER_SNAPSHOT


def storable(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a change without its record if this is too large to be stored or to be in an answer of the feed."""
    text = _text(content)
    is_small = len(text) <= MAX_PAGE_BYTES
    if is_small or (len(text) <= MAX_RECORD_BYTES and len(zlib.compress(text.encode())) <= MAX_PACKED_BYTES):
        return content
    return {**content, "record": None, "record_omitted": True}


def _text(content: Mapping[str, Any]) -> str:
    return json.dumps(content, separators=(",", ":"))


def texts_of(changes: Iterable[BooksChange]) -> list[str]:
    """Return the texts of changes in a page."""
    return [_text(change.content) for change in changes]


def divided(texts: Sequence[str]) -> list[list[str]]:
    """Return texts in parts that fit into a page each."""
    parts: list[list[str]] = []
    size = 0
    for text in texts:
        length = len(text.encode(errors="surrogatepass"))
        if not parts or len(parts[-1]) == MAX_PAGE_CHANGES or size + length > MAX_PAGE_BYTES:
            parts.append([])
            size = 0
        parts[-1].append(text)
        size += length
    return parts
