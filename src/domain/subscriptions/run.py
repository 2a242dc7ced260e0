"""Runs: what a session asks QuickBooks for next, and what follows from the answer. Decided without side effects.

A run has no state of its own. What is due follows from the stored objects, so it survives the end of a session at any
point: the next session asks for what was not answered. A pass over an object ends with its last page, and only then its
watermark moves.

| message | asks for | when |
|---|---|---|
| page | a page of one object, with an iterator if it has one | a pass over it has begun, or its iterator goes on |
| sweep | the changes of several objects since their watermarks, and deletions | they are due |
| page | the first page of a snapshot | nothing else is due |

The watermark is a time of the books. A record that was returned at our time `t` with `TimeModified` T was changed at T
or before, so the books' clock had not reached T - (t - b) before our time b. Everything that changed before that time
was therefore found by a pass that began at b. This holds whatever the clock of the books shows, if it runs steadily.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from domain.qbxml.codes.statuses import describe_status
from domain.records.subscription import (
    FIRST_PAGE_SIZE,
    RECORD_KINDS,
    START_NOW,
    START_WITH_ALL,
    BooksCopy,
    BooksRange,
    ChangePage,
    CopyPhase,
    CopyState,
    NewestRecord,
    ObjectCopy,
    ObjectPass,
    PageKind,
    RunMessage,
    Subscription,
    next_number,
    read_after,
)
from domain.storage.changes import Put
from domain.subscriptions.answers import BooksChange, answers_by_label, time_of_token
from domain.subscriptions.messages import Read, deletions_query, message_text, object_query
from domain.subscriptions.objects import Kind, books_object
from domain.subscriptions.ranges import halves_of_dates, halves_of_names, halves_of_times
from domain.timestamps import books_time, timestamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from domain.subscriptions.answers import QueryAnswer
    from domain.subscriptions.objects import BooksObject

OVERLAP = timedelta(minutes=70)
"""How far before its watermark an object is read again. Older versions of QuickBooks are an hour off in summer."""

MAX_RANGE = 1_000
"""How many records a query returns at most. A range that was interrupted is divided until one page has it."""

MIN_PAGE_SIZE = 10

MAX_SWEPT = 20
"""How many objects a sweep asks for at most."""

MAX_SWEPT_RECORDS = 500
"""How many records the answer to a sweep has at most, beside deletions. An object with more is read page by page."""

MAX_TOKENS = 1_000
"""How many changes of an object are remembered, so that they are not emitted again."""

DELETIONS_KEPT = timedelta(days=85)
"""QuickBooks reports deletions of 90 days. An object that was not read for this long may have lost some."""

TRIED_AGAIN = timedelta(days=1)
"""How often an object is tried that QuickBooks could not read."""

BEFORE_NOW = timedelta(days=1)
"""How long before the present a subscription that starts now begins, because the clock of the books is not known."""

MAX_PAGE_BYTES = 300_000
"""The size of a stored page before compression. The database takes 400 KB."""

MAX_PAGE_CHANGES = 1_000

MAX_PAGES = 50
"""How many pages of changes an answer to a sweep leads to at most, because one commit stores them all."""

_READ = frozenset({CopyPhase.SNAPSHOT, CopyPhase.CHANGES})
"""The phases in which an object is read."""

FAILED_RUNS = 3
"""After so many failed runs in a row, `subscription.failed` is emitted."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What the subscriptions of a connection together want of one object.

    `starts` are the starts of these subscriptions by the time from which they count.
    """

    minutes: int
    verify_days: int
    include: frozenset[str]
    starts: Mapping[str, str]
    runs_at: str

    @property
    def began_at(self) -> str:
        """When the newest of the subscriptions began."""
        return max(self.starts)

    def start_after(self, moment: str) -> str:
        """Return the earliest start of the subscriptions that began after a moment."""
        starts = {start for began_at, start in self.starts.items() if began_at > moment}
        times = starts - {START_WITH_ALL, START_NOW}
        return START_WITH_ALL if START_WITH_ALL in starts else min(times, key=_moment, default=START_NOW)


def wishes(subscriptions: Iterable[Subscription]) -> Mapping[str, Wish]:
    """Return what the subscriptions that are not paused want, by object.

    They share its reads: the most frequent interval, and everything that one of them includes.
    """
    found: dict[str, Wish] = {}
    for one in subscriptions:
        for name in one.objects if one.paused_at is None else ():
            other = found.get(name, Wish(one.every_minutes, one.verify_days, frozenset(), {}, ""))
            start = START_WITH_ALL if other.starts.get(one.began_at) == START_WITH_ALL else one.start
            found[name] = Wish(
                min(one.every_minutes, other.minutes),
                min(one.verify_days, other.verify_days),
                other.include.union(one.include.get(name, ())),
                {**other.starts, one.began_at: start},
                max(one.runs_at or "", other.runs_at),
            )
    return found


class RunState:
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
        self._copy_before = state.copy
        self._with_webhook = [one for one in state.subscriptions if one.webhook.url]
        self._before = {one.name: one for one in state.objects}
        self.objects = {name: self._begun(name, wish) for name, wish in sorted(self.wishes.items())}
        self._phases = {name: one.phase for name, one in self.objects.items()}

    def _begun(self, name: str, wish: Wish) -> ObjectCopy:
        """Return the state of an object, as it is after the subscriptions of today."""
        before = self._before.get(name)
        fresh = ObjectCopy(self.connection_id, name, CopyPhase.SNAPSHOT, wish.began_at)
        if before is None:
            return self._of_this_version(_started(fresh, wish, ""))
        after = before
        if wish.began_at > before.began_at:
            goes_on = wish.start_after(before.began_at) == START_NOW and before.phase is not CopyPhase.RESYNC_REQUIRED
            after = replace(before, began_at=wish.began_at) if goes_on else _started(before, wish, before.began_at)
        elif before.phase is CopyPhase.UNSUPPORTED and self._is_past(name, TRIED_AGAIN):
            after = _started(before, wish, "")
        elif before.phase is CopyPhase.CHANGES and before.reading is None and self._is_past(name, DELETIONS_KEPT):
            after = self._to_resync(before, "The books were not read for so long that deletions may be missing.")
        elif self.file_id and before.file_id not in {None, self.file_id} and before.phase in _READ:
            after = self._to_resync(before, "Another company file is open than the one that was read.")
        elif self._is_to_verify(before, wish):
            after = replace(before, phase=CopyPhase.SNAPSHOT)
        return self._of_this_version(after)

    def _is_to_verify(self, one: ObjectCopy, wish: Wish) -> bool:
        """Whether a snapshot is due, which heals what no query for changes shows. One that had none gets none."""
        before = next_number(0, self.now - timedelta(days=wish.verify_days))
        return one.phase is CopyPhase.CHANGES and one.reading is None and 0 < one.generation <= before

    def _of_this_version(self, one: ObjectCopy) -> ObjectCopy:
        known = _known(one.name)
        if known.exists_in(self.version):
            return one
        problem = f"It needs QBXML {known.since}, and this QuickBooks supports {self.version}."
        return replace(one, phase=CopyPhase.UNSUPPORTED, reading=None, problem=problem)

    def _is_past(self, name: str, period: timedelta) -> bool:
        read = self.copy.read.get(name)
        return read is not None and read <= timestamp(self.now - period)

    # --- What to ask for

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
        earliest = min(moments, default="9")
        return None if earliest == "9" else earliest or timestamp(self.now)

    def next_message(self, asked: RunMessage) -> RunMessage | None:
        """Return what to ask for next, or None if nothing is due. `asked` is the last message of the session."""
        due = [name for name in self.objects if self.is_due(name)]
        for name in due:
            if self.objects[name].phase is CopyPhase.UNSUPPORTED:
                self._note_read(name)
        reading = [name for name in due if self.objects[name].phase is CopyPhase.CHANGES and self.objects[name].reading]
        swept = self._swept_together() if any(map(self._is_swept, due)) else []
        snapshots = [name for name in due if self.objects[name].phase is CopyPhase.SNAPSHOT]
        following = RunMessage(asked.number + 1, began_at=asked.began_at, received_bytes=asked.received_bytes)
        if swept and not reading and not asked.iterator_id:  # another message would end the use of the iterator
            names = tuple(swept[: 1 if self.copy.is_alone else MAX_SWEPT])
            limit = max(MIN_PAGE_SIZE, MAX_SWEPT_RECORDS // len(names))
            return replace(following, names=names, is_sweep=True, limit=limit)
        names = tuple([*reading, *snapshots][:1])
        if not names:
            return None
        goes_on = not asked.is_sweep and asked.names == names
        iterator_id = asked.iterator_id if goes_on else None
        return replace(following, names=names, limit=self._page_size(names[0]), iterator_id=iterator_id)

    def _is_swept(self, name: str) -> bool:
        """Whether the changes of an object are asked for with those of others."""
        return self.objects[name].phase is CopyPhase.CHANGES and self.objects[name].reading is None

    def _swept_together(self) -> Sequence[str]:
        """Return what is swept now: what is due, and what is due so soon that it would open another session."""
        soon = {name: timestamp(self.now + timedelta(minutes=wish.minutes) / 5) for name, wish in self.wishes.items()}
        swept = [name for name in self.objects if self._is_swept(name) and self.due_at(name) <= soon[name]]
        return sorted(swept, key=self.is_due, reverse=True)

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
        if name not in self.objects or self.objects[name].phase not in _READ:
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

    def _reads(self, asked: RunMessage) -> Sequence[tuple[str | Kind, Read]]:
        """Return the queries of a message. Each has the object, or the kind of the objects whose deletions it reads."""
        names = self._current(asked)
        if not asked.is_sweep:
            return [(name, self._page_query(name, asked)) for name in names]
        reads: list[tuple[str | Kind, Read]] = []
        for name in names:
            since = BooksRange(self._since(name))
            label = f"{asked.number}.{name}"
            reads.append((name, self._query(name, since, label=label, limit=asked.limit, iterator={})))
        for kind in Kind:
            own = [
                name for name in names if _known(name).kind is kind and _known(name).reports_deletions_in(self.version)
            ]
            if own:
                sinces = [self._since(name) for name in own]
                since_all = None if None in sinces else min((s for s in sinces if s), key=_moment)
                reads.append((kind, deletions_query(kind, own, since_all, label=f"{asked.number}.{kind}")))
        return reads

    def _query(
        self, name: str, part: BooksRange, *, label: str, limit: int | None, iterator: Mapping[str, str]
    ) -> Read:
        return object_query(
            _known(name),
            self.objects[name].phase,
            part,
            label=label,
            version=self.version,
            include=self.wishes[name].include,
            limit=limit,
            iterator=iterator,
        )

    def _page_query(self, name: str, asked: RunMessage) -> Read:
        one, known = self.objects[name], _known(name)
        reading = self._continued(one, asked)
        part = reading.ranges[0]
        iterator: dict[str, str] = {}
        if known.has_iterator:
            iterator = {"iterator": "Start"}
        if asked.iterator_id:
            iterator = {"iterator": "Continue", "iteratorID": asked.iterator_id}
        limit = asked.limit if known.has_iterator else self._limit_without_iterator(one, reading, asked)
        return self._query(name, part, label=f"{asked.number}.{name}", limit=limit, iterator=iterator)

    def _limit_without_iterator(self, one: ObjectCopy, reading: ObjectPass, asked: RunMessage) -> int | None:
        """Return `MaxReturned` for an object without an iterator, or None if its range cannot be divided any more."""
        return asked.limit * MAX_RANGE // FIRST_PAGE_SIZE if self._halves(one, reading) else None

    def _since(self, name: str) -> str | None:
        """Return the time of the books from which the changes of an object are read, or None for all."""
        watermark = self.objects[name].watermark
        moment = books_time(watermark)
        return (moment - OVERLAP).isoformat(timespec="seconds") if moment else None

    def _continued(self, one: ObjectCopy, asked: RunMessage) -> ObjectPass:
        """Return the pass over an object, with its first range divided if its iterator was interrupted."""
        whole = BooksRange() if one.phase is CopyPhase.SNAPSHOT else BooksRange(self._since(one.name))
        reading = one.reading or ObjectPass(asked.asked_at or timestamp(self.now), (whole,))
        if not reading.is_open or asked.iterator_id:
            return reading
        halves = self._halves(one, reading) if reading.total > one.page_size else None
        return replace(reading, is_open=False, total=0, ranges=(*(halves or reading.ranges[:1]), *reading.ranges[1:]))

    def _halves(self, one: ObjectCopy, reading: ObjectPass) -> tuple[BooksRange, BooksRange] | None:
        """Return the parts of the first range. They depend on what is stored only, and not on the present."""
        part, known = reading.ranges[0], _known(one.name)
        if one.phase is not CopyPhase.SNAPSHOT or not known.has_range:
            return halves_of_times(part, datetime.fromisoformat(reading.began_at))
        return halves_of_names(part) if known.is_list else halves_of_dates(part)

    # --- What an answer shows

    def answered(self, asked: RunMessage, text: str) -> RunMessage:
        """Apply the answer to a message. Return the message of the session, with the iterator that goes on.

        Raises UnreadableResponse, and Unanswered if a query of the message has no answer.
        """
        answers = answers_by_label(text)
        after = replace(asked, is_sent=False, iterator_id=None, marks=())
        reads = self._reads(asked)
        if any(read.label not in answers for _, read in reads):
            raise Unanswered("QuickBooks did not answer every query of the message.")
        if asked.is_sweep:
            self._swept(asked, [(subject, answers[read.label]) for subject, read in reads])
            return after
        for subject, read in reads:
            after = replace(after, iterator_id=self._page(_known(str(subject)), asked, answers[read.label]))
        return after

    def _swept(self, asked: RunMessage, answers: Sequence[tuple[str | Kind, QueryAnswer]]) -> None:
        deletions: dict[str, list[BooksChange]] = {}
        for subject, answer in answers:
            if isinstance(subject, Kind) and not answer.status.is_error:
                for name in asked.names:
                    if _known(name).kind is subject:
                        deletions[name] = answer.deletions(_known(name))
        failed = {subject: answer.status for subject, answer in answers if answer.status.is_error}
        for subject, answer in answers:
            if isinstance(subject, Kind):
                continue
            known = _known(subject)
            if status := failed.get(subject) or failed.get(known.kind):
                self._refused(subject, f"QuickBooks reports {status.code}: {status.message}", status.code)
            else:
                self._changed(known, asked, answer.records(known), deletions.get(subject, []))

    def _changed(
        self, known: BooksObject, asked: RunMessage, records: list[BooksChange], deletions: list[BooksChange]
    ) -> None:
        """Apply the changes of an object since its watermark."""
        one, began_at = self.objects[known.name], asked.asked_at or timestamp(self.now)
        own = books_time(self._since(known.name))
        deletions = [change for change in deletions if own is None or change.at is None or change.at >= own]
        reading = self._with(ObjectPass(began_at), one, deletions)
        if len(self.pages) + len(_divided(_texts(deletions))) >= MAX_PAGES:
            self._note_read(known.name)
            self._store(self._to_resync(one, "More records were deleted than one run can report."))
            return
        is_large = len(self.pages) + len(_divided(_texts([*records, *deletions]))) >= MAX_PAGES
        if known.has_limit and (len(records) >= asked.limit or is_large):
            self._emit_new(PageKind.DELETED, one, deletions)
            whole = BooksRange(self._since(known.name))
            self._store(replace(one, reading=replace(reading, ranges=(whole,), records=0)))
            return
        self._emit_new(PageKind.CHANGED, one, records)
        self._emit_new(PageKind.DELETED, one, deletions)
        self._complete(known, one, self._with(reading, one, records))

    def _page(self, known: BooksObject, asked: RunMessage, answer: QueryAnswer) -> str | None:
        """Apply a page of an object. Return the id of its iterator if there are more pages."""
        one = self.objects[known.name]
        reading = self._continued(one, asked)
        status = answer.status
        if status.is_error and asked.iterator_id:
            # The iterator is gone. A larger page needs it less often.
            self._store(replace(one, page_size=min(MAX_RANGE, 2 * one.page_size)))
            return None
        if status.is_error:
            self._refused(known.name, f"QuickBooks reports {status.code}: {status.message}", status.code)
            return None
        if one.phase is CopyPhase.SNAPSHOT and one.reading is None:
            one = replace(one, generation=next_number(one.generation, self.now), newest=None, tokens=())
            self._emit(PageKind.SNAPSHOT_STARTED, one, [{}])
        records = answer.records(known)
        self._emit_new(PageKind.CHANGED, one, records)
        reading = self._with(reading, one, records)
        remaining = status.iterator_remaining or 0
        if known.has_iterator and remaining and status.iterator_id:
            total = reading.total if reading.is_open else remaining + len(records)
            self._store(replace(one, reading=replace(reading, is_open=True, total=total)))
            return status.iterator_id
        rest = reading.ranges[1:]
        limit = None if known.has_iterator else self._limit_without_iterator(one, reading, asked)
        if known.has_limit and limit and len(records) >= limit:
            rest = (*(self._halves(one, reading) or ()), *rest)
        reading = replace(reading, ranges=rest, is_open=False, total=0)
        if rest:
            self._store(replace(one, reading=reading))
            return None
        if one.phase is CopyPhase.SNAPSHOT:
            self._emit(PageKind.SNAPSHOT_COMPLETED, one, [{"records": reading.records}])
        self._complete(known, one, reading)
        return None

    def _with(self, reading: ObjectPass, one: ObjectCopy, changes: Sequence[BooksChange]) -> ObjectPass:
        """Return the pass after these changes."""
        elapsed = self.now - datetime.fromisoformat(reading.began_at)
        moments = [change.at for change in changes if change.at]
        newest = reading.newest
        for change in changes:
            if change.at and not change.is_deletion and (newest is None or change.at > _moment(newest.at)):
                newest = NewestRecord(change.id, change.at.isoformat())
        found = one.newest is not None and any(change.id == one.newest.id for change in changes)
        highest = max(moments, default=None)
        candidate = (highest - elapsed).isoformat(timespec="seconds") if highest else None
        watermark = _later(reading.watermark, candidate)
        tokens = _reached({*reading.tokens, *(change.token for change in changes)}, watermark)
        return replace(
            reading,
            watermark=watermark,
            newest=newest,
            tokens=tokens,
            records=reading.records + len(changes),
            has_found_newest=reading.has_found_newest or found,
        )

    def _complete(self, known: BooksObject, one: ObjectCopy, reading: ObjectPass) -> None:
        """End a pass over an object: its watermark moves. A record that disappeared means that the file is another."""
        is_lost = (
            one.phase is CopyPhase.CHANGES
            and one.newest is not None
            and not reading.has_found_newest
            and known.reports_deletions_in(self.version)
        )
        if is_lost:
            message = (
                "The record that changed last is neither in the books nor deleted. A backup may have been restored."
            )
            self._store(self._to_resync(one, message))
            return
        self._note_read(known.name)
        if one.phase is CopyPhase.CHANGES and one.reading is None and set(reading.tokens) == set(one.tokens):
            return  # Nothing has changed, so nothing moves.
        watermark = _later(one.watermark, reading.watermark)
        after = replace(
            one,
            phase=CopyPhase.CHANGES,
            watermark=watermark,
            newest=reading.newest or (one.newest if not known.reports_deletions_in(self.version) else None),
            tokens=_reached(reading.tokens, watermark),
            reading=None,
            problem=None,
            file_id=self.file_id or one.file_id,
            records=reading.records if one.phase is CopyPhase.SNAPSHOT else one.records,
            page_size=max(one.page_size, min(FIRST_PAGE_SIZE, 2 * one.page_size)),
        )
        self._store(after)

    def _to_resync(self, one: ObjectCopy, problem: str) -> ObjectCopy:
        self._emit(PageKind.RESYNC_REQUIRED, one, [{"reason": problem}])
        return replace(one, phase=CopyPhase.RESYNC_REQUIRED, reading=None, problem=problem)

    def _refused(self, name: str, problem: str, code: int) -> None:
        """Note that QuickBooks refused to read an object. If it may succeed later, the run fails."""
        if describe_status(code).retryable:
            raise Unanswered(problem)
        self.unsupported(name, problem)

    def unsupported(self, name: str, problem: str) -> None:
        """Note that QuickBooks cannot read an object."""
        self._note_read(name)
        self._store(replace(self.objects[name], phase=CopyPhase.UNSUPPORTED, reading=None, problem=problem))

    # --- Failures

    def lost(self, asked: RunMessage) -> None:
        """Note that the answer to a message was lost or too large: the next page of its object is smaller."""
        if asked.is_sweep:
            self.copy = replace(self.copy, is_alone=True)
        for name in self._current(asked) if not asked.is_sweep else ():
            one = self.objects[name]
            self._store(replace(one, page_size=max(MIN_PAGE_SIZE, one.page_size // 2)))

    def not_parsed(self, asked: RunMessage, problem: str) -> None:
        """Note that QuickBooks cannot parse a message about one object, so that it cannot read it."""
        for name in self._current(asked):
            self.unsupported(name, problem)

    def failed(self, problem: str) -> None:
        """Note a run that failed. The third one in a row is reported."""
        failures = self.copy.failures + 1
        self.copy = replace(self.copy, failures=failures, error=problem)
        if failures == FAILED_RUNS:
            self._emit(PageKind.FAILED, None, [{"reason": problem}])

    def ended(self) -> None:
        """Note a run after which nothing is due."""
        if self.copy.failures >= FAILED_RUNS:
            self._emit(PageKind.RECOVERED, None, [{}])
        self.copy = replace(self.copy, failures=0, error=None, is_alone=False, last_run_at=timestamp(self.now))

    # --- What is stored

    def _note_read(self, name: str) -> None:
        self.copy = replace(self.copy, read={**self.copy.read, name: timestamp(self.now)})

    def _store(self, one: ObjectCopy) -> None:
        self.objects[one.name] = one

    def _emit_new(self, kind: PageKind, one: ObjectCopy, changes: Sequence[BooksChange]) -> None:
        known = {*one.tokens, *(one.reading.tokens if one.reading else ())}
        self._emit(kind, one, [change.content for change in changes if change.token not in known])

    def _emit(self, kind: PageKind, one: ObjectCopy | None, contents: Sequence[Mapping[str, Any]]) -> None:
        """Add the pages of these changes."""
        name = one.name if one else ""
        webhooks = tuple(known.id for known in self._with_webhook if known.wants(name))
        for texts in _divided([_text(content) for content in contents]):
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
                )
            )

    def changes(self) -> list[Put[Any]]:
        """Return the changes to commit: what differs from the stored state, and the pages."""
        changes: list[Put[Any]] = []
        if self.copy != self._copy_before:
            after = self.copy if self._copy_before is None else replace(self.copy, revision=self.copy.revision + 1)
            changes.append(Put(self._copy_before, after))
        for name, one_now in self.objects.items():
            before, one = self._before.get(name), one_now.changed(self._changes_found(name), self.now)
            if one != before:
                changes.append(Put(before, one if before is None else replace(one, revision=one.revision + 1)))
        return [*changes, *(Put(None, page) for page in self.pages)]

    def _changes_found(self, name: str) -> int:
        """Return how many changes of an object were found. The records of a snapshot are not changes."""
        if self._phases[name] is not CopyPhase.CHANGES:
            return 0
        return sum(page.number for page in self.pages if page.object == name and page.kind in RECORD_KINDS)


class Unanswered(Exception):
    """QuickBooks did not answer a message, so the run failed. The message is for people."""


def _started(one: ObjectCopy, wish: Wish, after: str) -> ObjectCopy:
    """Return an object at the start that the subscriptions want which began after a moment."""
    start = wish.start_after(after)
    begun = replace(one, began_at=wish.began_at, reading=None, problem=None, file_id=None)
    if start == START_WITH_ALL:
        return replace(begun, phase=CopyPhase.SNAPSHOT)
    since = datetime.fromisoformat(wish.began_at) - BEFORE_NOW if start == START_NOW else _moment(start)
    earlier = [moment for text in (begun.watermark,) if (moment := books_time(text))]
    watermark = min([since, *earlier]).isoformat(timespec="seconds")
    return replace(begun, phase=CopyPhase.CHANGES, watermark=watermark, newest=None, tokens=())


def _known(name: str) -> BooksObject:
    known = books_object(name)
    if known is None:
        raise LookupError(f"{name} is not an object of a subscription.")
    return known


def _moment(text: str) -> datetime:
    moment = books_time(text)
    if moment is None:
        raise ValueError(f"{text!r} is not a time of the books.")
    return moment


def _reached(tokens: Iterable[str], watermark: str | None) -> tuple[str, ...]:
    """Return the newest tokens, as far as the overlap before a watermark reaches."""
    oldest = time_of_token(_moment(watermark) - OVERLAP) if watermark else ""
    return tuple(sorted(token for token in tokens if token >= oldest)[-MAX_TOKENS:])


def _later(one: str | None, other: str | None) -> str | None:
    """Return the later of two times of the books, or the one that is known."""
    known = [text for text in (one, other) if text]
    return max(known, key=_moment, default=None)


def _text(content: Mapping[str, Any]) -> str:
    return json.dumps(content, separators=(",", ":"))


def _texts(changes: Iterable[BooksChange]) -> list[str]:
    return [_text(change.content) for change in changes]


def _divided(texts: Sequence[str]) -> list[list[str]]:
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
