"""What a run asks QuickBooks for next. It follows from what is stored, and from the last message of the session.

| message | asks for | when |
|---|---|---|
| sweep | the changes of several objects, deletions, and whether any transaction has changed | they are due |
| page | a page of one object, with an iterator if it has one | a pass over it has begun, or its iterator goes on |
| again | transactions by id | their paid state differs from what the feed has said |
| open | the paid state of the transactions of an object that are not paid | a transaction has changed |
| page | the first page of a snapshot | nothing above is due |
| derived | a page of the derived fields of a list | they are due, and nothing above is |
| sweep | the number of entries of lists | a snapshot has read them, and nothing above is due |

A repeated call sends the same message, and its answer is read with the same queries, so they follow from what is stored
and from the message alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from domain.records.subscription import (
    FIRST_PAGE_SIZE,
    BooksRange,
    CopyPhase,
    ObjectPass,
    RunMessage,
    RunMessageKind,
    read_after,
)
from domain.subscriptions import derived, open_transactions
from domain.subscriptions.messages import (
    Read,
    activity_query,
    count_query,
    deletions_query,
    derived_query,
    message_text,
    object_query,
    open_query,
    query_by_id,
)
from domain.subscriptions.objects import Kind, deleted_kinds_in, known_object
from domain.subscriptions.ranges import halves_of_dates, halves_of_names, halves_of_times
from domain.subscriptions.stored import READ, TRIED_AGAIN, StoredCopy
from domain.timestamps import books_time, known_books_time, timestamp

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from domain.records.subscription import ObjectCopy

OVERLAP = timedelta(minutes=70)
"""How far before its watermark an object is read again. Older versions of QuickBooks are an hour off in summer."""

MAX_RANGE = 1_000
"""How many records a query returns at most. A range that was interrupted is divided until one page has it."""

MIN_PAGE_SIZE = 10

MAX_SWEPT = 20
"""How many objects a sweep asks for at most."""

MAX_SWEPT_RECORDS = 500
"""How many records the answer to a sweep has at most, beside deletions. An object with more is read page by page."""


ACTIVITY = "activity"
"""Stands for the query that tells whether any transaction has changed, as the name of an object does for its query."""


@dataclass(frozen=True, slots=True)
class NumberOf:
    """Stands for the query for the number of entries of a list."""

    name: str


Subject = str | Kind | NumberOf
"""What a query of a message stands for: an object, the deletions of a kind, the activity or the entries of a list."""


class Asking(StoredCopy):
    """Decides what to ask for."""

    def is_due(self, name: str) -> bool:
        """Whether an object has to be read now."""
        return self.due_at(name) <= timestamp(self.now)

    def due_at(self, name: str) -> str:
        """Return when an object is read next, as a timestamp."""
        one, wish, read = self.objects[name], self.wishes[name], self.copy.read.get(name)
        if one.phase is CopyPhase.RESYNC_REQUIRED:
            return "9"
        if one.phase is CopyPhase.UNSUPPORTED:
            return timestamp(datetime.fromisoformat(read) + TRIED_AGAIN) if read else ""
        if read is None or one.phase is CopyPhase.SNAPSHOT or one.reading or wish.runs_at > read:
            return ""
        return read_after(read, wish.minutes)

    @property
    def next_due_at(self) -> str | None:
        """When the next run is due, or None if nothing is read."""
        moments = [self.due_at(name) for name in self.objects]
        moments += [moment for name in self.objects if (moment := self._derived_due_at(name)) is not None]
        moments += ["" for name in self.objects if self._is_open_due(name) or name in self._put_off]
        moments += ["" for _ in self._unchecked()]
        earliest = min(moments, default="9")
        return None if earliest == "9" else earliest or timestamp(self.now)

    @property
    def run_due_at(self) -> str | None:
        """When the next run is due if this call stores nothing.

        It is due now if objects need a resync that were read until now, because only a run can report it.
        """
        return timestamp(self.now) if self.has_moved else self.next_due_at

    def _is_open_due(self, name: str) -> bool:
        """Whether open transactions have to be read: all of an object, or those that were found to differ."""
        one = self.objects[name]
        if one.phase is not CopyPhase.CHANGES or one.reading or not known_object(name).paid_fields_in(self.version):
            return False
        return bool(one.again) or (one.opened or 0) < self.copy.active

    def _derived_due_at(self, name: str) -> str | None:
        """Return when the derived fields of an object are read next, or None if they are not."""
        one, wish = self.objects[name], self.wishes[name]
        is_wanted = wish.derived_minutes and known_object(name).derived_fields_in(self.version)
        if not is_wanted or one.phase is not CopyPhase.CHANGES or one.reading:
            return None
        if one.derived_at is None or one.derived_of != self._derived_since(name):
            return ""
        return read_after(one.derived_at, wish.derived_minutes or 0)

    def _derived_since(self, name: str) -> str:
        """Return from when on all derived fields of an object are wanted. A resync begins again."""
        return max(self.wishes[name].derived_since, self.objects[name].began_at)

    def _is_derived_due(self, name: str) -> bool:
        """Whether derived fields are read now: a little early, so that they need no session of their own."""
        due_at, minutes = self._derived_due_at(name), self.wishes[name].derived_minutes or 0
        return due_at is not None and due_at <= self._soon(minutes)

    def next_message(self, asked: RunMessage) -> RunMessage | None:
        """Return what to ask for next, or None if nothing is due. `asked` is the last message of the session."""
        due = [name for name in self.objects if self.is_due(name)]
        for name in due:
            if self.objects[name].phase is CopyPhase.UNSUPPORTED:
                self._note_read(name)
        following = RunMessage(asked.number + 1, began_at=asked.began_at, received_bytes=asked.received_bytes)
        further = self._further(due)
        if asked.iterator_id and (asked.kind, *asked.names) in further:  # another message would end the iterator
            goes_on = replace(following, names=asked.names, kind=asked.kind, iterator_id=asked.iterator_id)
            return replace(goes_on, limit=self._limit(asked.kind, *asked.names))
        swept = self._swept_together() if any(map(self._is_swept, due)) else []
        if swept and not any(self.objects[name].reading for name in due):
            return self._sweep(following, swept)
        if further:
            kind, name = further[0]
            return replace(following, names=(name,), kind=kind, limit=self._limit(kind, name))
        unchecked = self._unchecked()
        return self._sweep(following, unchecked) if unchecked else None

    def _sweep(self, following: RunMessage, names: Sequence[str]) -> RunMessage:
        """Return the message that asks for the changes of the first of these objects together."""
        swept = tuple(names[: 1 if self.copy.is_alone else MAX_SWEPT])
        return replace(following, names=swept, kind=RunMessageKind.SWEEP, limit=self._sweep_limit(swept))

    def _unchecked(self) -> Sequence[str]:
        """Return the lists whose entries a snapshot has counted. They are compared at once, before more changes."""
        found = [(name, one.count) for name, one in self.objects.items() if self._is_swept(name)]
        return [name for name, count in found if count and count.is_unchecked]

    def _further(self, due: Sequence[str]) -> Sequence[tuple[RunMessageKind, str]]:
        """Return the messages about one object that are due, in their order."""
        changes = [name for name in due if self.objects[name].phase is CopyPhase.CHANGES and self.objects[name].reading]
        opened = sorted(filter(self._is_open_due, self.objects), key=lambda name: not self.objects[name].again)
        snapshots = [name for name in due if self.objects[name].phase is CopyPhase.SNAPSHOT]
        return [
            *((RunMessageKind.PAGE, name) for name in changes),
            *((RunMessageKind.AGAIN if self.objects[name].again else RunMessageKind.OPEN, name) for name in opened),
            *((RunMessageKind.PAGE, name) for name in snapshots),
            *((RunMessageKind.DERIVED, name) for name in self.objects if self._is_derived_due(name)),
        ]

    def _limit(self, kind: RunMessageKind, name: str) -> int:
        """Return how many records a message about one object asks for. It asks for fewer after one was lost."""
        match kind:
            case RunMessageKind.OPEN:
                return open_transactions.MAX_OPEN + 1
            case RunMessageKind.AGAIN:
                return self.objects[name].page_size
            case RunMessageKind.DERIVED:
                return min(derived.MAX_PAGE, self.objects[name].page_size * derived.MAX_PAGE // FIRST_PAGE_SIZE)
            case _:
                return self._page_size(name)

    def _sweep_limit(self, names: Sequence[str]) -> int:
        """Return how many records of each object a sweep asks for. It asks for fewer after one was lost."""
        smallest = min(FIRST_PAGE_SIZE, *(self.objects[name].page_size for name in names))
        number = smallest if self.copy.is_alone else MAX_SWEPT_RECORDS * smallest // FIRST_PAGE_SIZE
        return max(MIN_PAGE_SIZE, number // len(names))

    def _is_swept(self, name: str) -> bool:
        """Whether the changes of an object are asked for with those of others."""
        return self.objects[name].phase is CopyPhase.CHANGES and self.objects[name].reading is None

    def _swept_together(self) -> Sequence[str]:
        """Return what is swept now: what is due, and what is due so soon that it would open another session."""
        soon = {name: self._soon(wish.minutes) for name, wish in self.wishes.items()}
        swept = [name for name in self.objects if self._is_swept(name) and self.due_at(name) <= soon[name]]
        return sorted(swept, key=self.is_due, reverse=True)

    def _soon(self, minutes: int) -> str:
        """Return until when something counts as due that is read every so many minutes."""
        return timestamp(self.now + timedelta(minutes=minutes) / 5)

    def _page_size(self, name: str) -> int:
        """Return the size of the next page. A range that was interrupted and cannot be divided has one page."""
        one = self.objects[name]
        is_whole = one.reading is None or self._halves(one, one.reading) is not None
        return one.page_size if is_whole or one.page_size < FIRST_PAGE_SIZE else MAX_RANGE

    def sent(self, asked: RunMessage) -> RunMessage:
        """Return a message as it is sent now. It counts for the stored states of its objects."""
        moment = timestamp(self.now)
        marks = tuple(self._stored_mark(name) for name in asked.names)
        return replace(asked, is_sent=True, marks=marks, asked_at=moment, began_at=asked.began_at or moment)

    def _stored_mark(self, name: str) -> str:
        """Return the mark of an object that a run can still change: the stored revision, and the wished beginning."""
        return f"{self._before[name].revision if name in self._before else 0}~{self.objects[name].began_at}"

    def _is_current(self, name: str, asked: RunMessage) -> bool:
        """Whether an object is still in the state in which it was asked for."""
        marks = dict(zip(asked.names, asked.marks, strict=True))
        if name not in self.objects or self.objects[name].phase not in READ:
            return False
        return not asked.is_sent or marks[name] == self._stored_mark(name)

    def _current(self, asked: RunMessage) -> Sequence[str]:
        """Return the objects of a message that are still in the state in which it asks for them."""
        return [name for name in asked.names if self._is_current(name, asked)]

    def is_current(self, asked: RunMessage) -> bool:
        """Whether all objects of a message that was sent are still in the state in which it asks for them."""
        return len(self._current(asked)) == len(asked.names)

    def text(self, asked: RunMessage) -> str:
        """Return the QBXML of a message."""
        return message_text([read for _, read in self._reads(asked)], self.version)

    def _reads(self, asked: RunMessage) -> Sequence[tuple[Subject, Read]]:
        """Return the queries of a message, each with what it stands for."""
        names = self._current(asked)
        if asked.is_sweep:
            return self._sweep_queries(names, asked)
        return [(name, self._single_query(name, asked)) for name in names]

    def _sweep_queries(self, names: Sequence[str], asked: RunMessage) -> Sequence[tuple[Subject, Read]]:
        reads: list[tuple[Subject, Read]] = []
        for name in names:
            since = BooksRange(self._since(name))
            label = f"{asked.number}.{name}"
            reads.append((name, self._query(name, since, label=label, limit=asked.limit, iterator={})))
            if self.objects[name].count is not None and known_object(name).is_counted_in(self.version):
                reads.append((NumberOf(name), count_query(known_object(name), label=f"{label}.number")))
        is_active = any(known_object(name).paid_fields_in(self.version) for name in names)
        for kind in Kind:
            own = [name for name in names if known_object(name).kind is kind]
            if reporting := [name for name in own if known_object(name).reports_deletions_in(self.version)]:
                since_all, label = self._since_all(reporting), f"{asked.number}.{kind}"
                if is_active and kind is Kind.TRANSACTION:
                    reporting = [*deleted_kinds_in(kind, self.version)]
                    since_all = _earlier(since_all, self._active_since(names))
                reads.append((kind, deletions_query(kind, reporting, since_all, label=label)))
        if is_active:
            label, limit = f"{asked.number}.{ACTIVITY}", open_transactions.MAX_ACTIVITY
            reads.append((ACTIVITY, activity_query(self._active_since(names), label=label, limit=limit)))
        return reads

    def _active_since(self, names: Sequence[str]) -> str | None:
        """Return the time from which changes of any transaction are looked for, or None for all."""
        activity = self.copy.activity
        return _with_overlap(activity.at) if activity else self._since_all(names)

    def _since_all(self, names: Sequence[str]) -> str | None:
        """Return the earliest time from which the changes of one of these objects are read, or None for all.

        Nothing was ever found of an object without a watermark, so what was deleted of it does not matter.
        """
        since = [moment for name in names if (moment := self._since(name)) is not None]
        return min(since, key=known_books_time, default=None)

    def _single_query(self, name: str, asked: RunMessage) -> Read:
        """Return the query of a message about one object."""
        known, label = known_object(name), f"{asked.number}.{name}"
        match asked.kind:
            case RunMessageKind.OPEN:
                return open_query(known, known.paid_fields_in(self.version), label=label, limit=asked.limit)
            case RunMessageKind.AGAIN:
                ids = self.objects[name].again[: asked.limit]
                return query_by_id(known, ids, label=label, version=self.version, include=self.wishes[name].include)
            case RunMessageKind.DERIVED:
                fields, iterator = known.derived_fields_in(self.version), self._iterator(name, asked)
                return derived_query(known, fields, label=label, limit=asked.limit, iterator=iterator)
            case _:
                return self._page_query(name, asked)

    def _iterator(self, name: str, asked: RunMessage) -> Mapping[str, str]:
        """Return the attributes of the iterator of a page."""
        if asked.iterator_id:
            return {"iterator": "Continue", "iteratorID": asked.iterator_id}
        return {"iterator": "Start"} if known_object(name).has_iterator else {}

    def _query(
        self, name: str, part: BooksRange, *, label: str, limit: int | None, iterator: Mapping[str, str]
    ) -> Read:
        return object_query(
            known_object(name),
            self.objects[name].phase,
            part,
            label=label,
            version=self.version,
            include=self.wishes[name].include,
            limit=limit,
            iterator=iterator,
        )

    def _page_query(self, name: str, asked: RunMessage) -> Read:
        one, known = self.objects[name], known_object(name)
        reading = self._continued(one, asked)
        part = reading.ranges[0]
        iterator = self._iterator(name, asked)
        limit = asked.limit if known.has_iterator else self._limit_without_iterator(one, reading, asked)
        return self._query(name, part, label=f"{asked.number}.{name}", limit=limit, iterator=iterator)

    def _limit_without_iterator(self, one: ObjectCopy, reading: ObjectPass, asked: RunMessage) -> int | None:
        """Return `MaxReturned` for an object without an iterator, or None if its range cannot be divided any more."""
        return asked.limit * MAX_RANGE // FIRST_PAGE_SIZE if self._halves(one, reading) else None

    def _since(self, name: str) -> str | None:
        """Return the time of the books from which the changes of an object are read, or None for all."""
        return _with_overlap(self.objects[name].watermark)

    def _continued(self, one: ObjectCopy, asked: RunMessage) -> ObjectPass:
        """Return the pass over an object, with its first range divided if its iterator was interrupted."""
        whole = BooksRange() if one.phase is CopyPhase.SNAPSHOT else BooksRange(self._since(one.name))
        reading = one.reading or ObjectPass(asked.asked_at or timestamp(self.now), (whole,))
        if not reading.is_open or asked.iterator_id:
            return reading
        halves = self._halves(one, reading) if reading.total > one.page_size else None
        ranges = (*(halves or reading.ranges[:1]), *reading.ranges[1:])
        return replace(reading, is_open=False, total=0, records_of_range=0, ranges=ranges)

    def _halves(self, one: ObjectCopy, reading: ObjectPass) -> tuple[BooksRange, BooksRange] | None:
        """Return the parts of the first range. They depend on what is stored only, and not on the present."""
        part, known = reading.ranges[0], known_object(one.name)
        if one.phase is not CopyPhase.SNAPSHOT or not known.has_range:
            return halves_of_times(part, datetime.fromisoformat(reading.began_at))
        return halves_of_names(part) if known.is_list else halves_of_dates(part)


def remembered_names(asked: RunMessage) -> Sequence[str]:
    """Return the objects of a message with whose answer is compared what the feed has said of them."""
    return [name for name in asked.names if known_object(name).has_paid_filter or asked.kind is RunMessageKind.DERIVED]


def _earlier(one: str | None, other: str | None) -> str | None:
    """Return the earlier of two times of the books. None is before all."""
    return None if one is None or other is None else min(one, other, key=known_books_time)


def _with_overlap(watermark: str | None) -> str | None:
    """Return the time from which is read again what has changed since a watermark."""
    moment = books_time(watermark)
    return (moment - OVERLAP).isoformat(timespec="seconds") if moment else None
