"""Runs: what a session asks QuickBooks for next, and what follows from the answer. Decided without side effects.

A run has no state of its own. What is due follows from the stored objects, so it survives the end of a session at any
point: the next session asks for what was not answered. A pass over an object ends with its last page, and only then its
watermark moves. `asking` decides what to ask for, this module what an answer shows, and `stored` what is committed.

The watermark is a time of the books. A record that was returned at our time `t` with `TimeModified` T was changed at T
or before, so the books' clock had not reached T - (t - b) before our time b. Everything that changed before that time
was therefore found by a pass that began at b. This holds whatever the clock of the books shows, if it runs steadily.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from domain.qbxml.codes.statuses import SOME_NOT_FOUND, describe_status
from domain.records.subscription import (
    FIRST_PAGE_SIZE,
    BooksRange,
    CopyPhase,
    EntryCount,
    NewestChange,
    ObjectCopy,
    ObjectPass,
    PageKind,
    RunMessage,
    RunMessageKind,
    next_number,
)
from domain.subscriptions import derived, entry_counts, open_transactions
from domain.subscriptions.answers import BooksChange, answers_by_label, time_of_token
from domain.subscriptions.asking import ACTIVITY, MAX_RANGE, MIN_PAGE_SIZE, OVERLAP, Asking, NumberOf
from domain.subscriptions.entry_counts import Comparison, Suspicion
from domain.subscriptions.objects import Kind, known_object
from domain.subscriptions.ranges import is_first_bound
from domain.subscriptions.remembered import digest
from domain.subscriptions.stored import DELETIONS_KEPT, divided, texts_of
from domain.timestamps import books_time, known_books_time, timestamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from domain.subscriptions.answers import QueryAnswer
    from domain.subscriptions.asking import Subject
    from domain.subscriptions.objects import BooksObject

MAX_TOKENS = 1_000
"""How many changes of an object are remembered, so that they are not emitted again."""

MAX_PAGES = 50
"""How many items an answer to a sweep leads to at most beside the objects, because one commit stores them all."""

FAILED_RUNS = 3
"""After so many failed runs in a row, `subscription.failed` is emitted."""


NO_DELETIONS = "Deletions cannot be read, so only a snapshot removes records. "


@dataclass(frozen=True, slots=True)
class Found:
    """What a sweep has found of an object. `number` is how many entries its list has, if the sweep asked for it.

    `problem` is why QuickBooks never tells the deletions, or None.
    """

    records: Sequence[BooksChange] = field(default_factory=list)
    deletions: Sequence[BooksChange] = field(default_factory=list)
    number: int | None = None
    problem: str | None = None


class RunState(Asking):
    """The stored state of a connection's copy, and what a run asks for and changes in it."""

    unanswered: str | None = None
    """Why QuickBooks did not answer a query of a sweep, if the others were applied. The run fails."""

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
            self._swept(asked, {subject: answers[read.label] for subject, read in reads})
            return after
        show = {
            RunMessageKind.OPEN: self._opened,
            RunMessageKind.AGAIN: self._read_again,
            RunMessageKind.DERIVED: self._derived,
        }.get(asked.kind, self._page)
        for subject, read in reads:
            after = replace(after, iterator_id=show(known_object(str(subject)), asked, answers[read.label]))
        return after

    def _swept(self, asked: RunMessage, answers: Mapping[Subject, QueryAnswer]) -> None:
        put_off = {subject: answer for subject, answer in answers.items() if _may_succeed_later(answer)}
        for answer in put_off.values():
            self.unanswered = _problem(answer)
        if ACTIVITY in answers and put_off.keys().isdisjoint({ACTIVITY, Kind.TRANSACTION}):
            self._note_activity(asked, answers[ACTIVITY], answers[Kind.TRANSACTION])
        for name in asked.names:
            known = known_object(name)
            if name not in answers or not put_off.keys().isdisjoint({name, known.kind}):
                continue
            answer, deletions, number = answers[name], answers.get(known.kind), answers.get(NumberOf(name))
            if answer.status.is_error:
                self._refused(name, answer)
            elif deletions is None or not deletions.status.is_error:
                gone = deletions.deletions(known) if deletions else []
                found = Found(answer.records(known), gone, number.number if number else None)
                self._changed(known, asked, found)
            elif len(asked.names) > 1:
                self.copy = replace(self.copy, is_alone=True)  # One of the objects may be the reason.
            else:
                self._changed(known, asked, Found(answer.records(known), [], problem=_problem(deletions)))

    def _changed(self, known: BooksObject, asked: RunMessage, found: Found) -> None:
        """Apply the changes of an object since its watermark."""
        one, began_at = self._with_gap(self._changing(known.name), found), asked.asked_at or timestamp(self.now)
        own = books_time(self._since(known.name))
        deletions = [change for change in found.deletions if own is None or change.at is None or change.at >= own]
        is_blind = found.problem is not None
        start = ObjectPass(began_at, has_found_newest=is_blind, count=None if is_blind else one.count)
        reading = self._with(start, one, deletions)
        if self._items_with(known, deletions) >= MAX_PAGES:
            self._note_read(known.name)
            self._store(self._to_resync(one, f"{len(deletions):,} records were deleted, more than a run can report."))
            return
        is_large = self._items_with(known, [*found.records, *deletions]) >= MAX_PAGES
        if known.has_limit and (len(found.records) >= asked.limit or is_large):
            self._emit_new(PageKind.DELETED, one, deletions)
            whole = BooksRange(self._since(known.name))
            self._store(replace(one, reading=replace(reading, ranges=(whole,))))
            return
        self._emit_new(PageKind.CHANGED, one, found.records)
        self._emit_new(PageKind.DELETED, one, deletions)
        self._complete(known, one, self._with(reading, one, found.records), found)

    def _changing(self, name: str) -> ObjectCopy:
        """Return an object that was asked for its changes. A snapshot that fell due meanwhile begins afterwards."""
        return replace(self.objects[name], phase=CopyPhase.CHANGES)

    def _with_gap(self, one: ObjectCopy, found: Found) -> ObjectCopy:
        """Return an object with the reason why its deletions cannot be read, or without it."""
        if found.problem is not None:
            return replace(one, gap=f"{NO_DELETIONS}{found.problem}")
        return replace(one, gap=None) if (one.gap or "").startswith(NO_DELETIONS) else one

    def _items_with(self, known: BooksObject, changes: Sequence[BooksChange]) -> int:
        """Return how many items a commit has at most with these changes: pages, and parts of what was said."""
        parts = sum(len(one.changes()) for one in self._remembered.values())
        if known.has_paid_filter:
            parts += self.remembered(known.name).number_of_parts(change.id for change in changes)
        return len(self.pages) + parts + len(divided(texts_of(changes)))

    def _note_activity(self, asked: RunMessage, transactions: QueryAnswer, deletions: QueryAnswer) -> None:
        """Note whether any transaction has changed or was deleted since the last sweep."""
        for answer in (transactions, deletions):
            if answer.status.is_error:
                self._reason(answer)
        elapsed = self.now - datetime.fromisoformat(asked.asked_at or timestamp(self.now))
        before = self.copy.activity
        after = open_transactions.activity_after(before, transactions, deletions, elapsed=elapsed, overlap=OVERLAP)
        if after != before or not after.digest:
            self.copy = replace(self.copy, activity=after, active=next_number(self.copy.active, self.now))

    def _opened(self, known: BooksObject, _asked: RunMessage, answer: QueryAnswer) -> None:
        """Compare the transactions that are not paid with what the feed has said, and note those to read again."""
        one, remembered = self.objects[known.name], self.remembered(known.name)
        opened = replace(one, opened=self.copy.active, gap=None)
        rows, fields = answer.rows(known.returned, known.id_field), known.paid_fields_in(self.version)
        if answer.status.is_error:
            problem = self._reason(answer)
            self._store(replace(opened, gap=f"Whether transactions are paid cannot be read. {problem}"))
        elif len(rows) > open_transactions.MAX_OPEN:
            self._store(replace(opened, gap=open_transactions.TOO_MANY))
        elif one.opened is None:
            # Nothing was said before: a subscription that starts now is about what changes from now on.
            remembered.become({row[known.id_field]: digest(row, fields) for row in rows})
            self._store(opened)
        else:
            open_transactions.forget_those_that_left(remembered, self.now)
            found = {row[known.id_field]: digest(row, fields) for row in rows}
            ids = tuple(open_transactions.differing(remembered, found))
            is_all = len(ids) <= open_transactions.MAX_AGAIN
            again = ids[: open_transactions.MAX_AGAIN]
            self._store(replace(opened if is_all else one, again=again))

    def _read_again(self, known: BooksObject, asked: RunMessage, answer: QueryAnswer) -> None:
        """Emit transactions whose paid state differs from what the feed has said. Those that are gone were deleted."""
        one, remembered = self._changing(known.name), self.remembered(known.name)
        if answer.status.is_error and answer.status.code != SOME_NOT_FOUND:
            self._refused(known.name, answer)
            return
        fields = known.paid_fields_in(self.version)
        records = answer.records(known)
        new = [change for change in records if not open_transactions.was_said(remembered, change, fields)]
        self._emit_changes(PageKind.CHANGED, one, new)
        for id_ in set(one.again[: asked.limit]).difference(change.id for change in records):
            remembered.remove(id_)
        self._store(replace(one, again=one.again[asked.limit :]))

    def _derived(self, known: BooksObject, asked: RunMessage, answer: QueryAnswer) -> str | None:
        """Emit the derived fields that have changed. Return the id of the iterator if there are more pages."""
        one, remembered, status = self.objects[known.name], self.remembered(known.name), answer.status
        if status.is_error and asked.iterator_id:
            self._store(replace(one, page_size=min(MAX_RANGE, 2 * one.page_size)))
            return None
        if status.is_error:
            gap = f"The derived fields cannot be read. {self._reason(answer)}"
            self._store(
                replace(one, derived_at=timestamp(self.now), derived_of=self._derived_since(known.name), gap=gap)
            )
            return None
        if not asked.iterator_id:
            one = replace(one, gap=None)
        if one.derived_of != self._derived_since(known.name):
            remembered.become({})
            one = replace(one, derived_at=None, derived_of=self._derived_since(known.name))
        rows, names = answer.rows(known.returned, known.id_field), known.derived_fields_in(self.version)
        as_of = asked.asked_at or timestamp(self.now)
        contents, is_whole = derived.changed_fields(known, rows, names, remembered, as_of=as_of)
        self._emit(PageKind.DERIVED, one, contents)
        one = one if is_whole else replace(one, gap=derived.TOO_MANY)
        has_more = bool(known.has_iterator and status.iterator_remaining and status.iterator_id)
        self._store(one if has_more else replace(one, derived_at=timestamp(self.now)))
        return status.iterator_id if has_more else None

    def _without_derived(self, one: ObjectCopy, gap: str) -> None:
        """Note why derived fields are not read now. They are tried again when they are due."""
        since = self._derived_since(one.name)
        self._store(replace(one, derived_at=timestamp(self.now), derived_of=since, gap=gap))

    def _reason(self, answer: QueryAnswer) -> str:
        """Return the status of an answer for people. Raises Unanswered if the same query may succeed later."""
        if _may_succeed_later(answer):
            raise Unanswered(_problem(answer))
        return _problem(answer)

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
            self._refused(known.name, answer)
            return None
        # A long pass needs many sessions. If one is interrupted, the failure counts until the next page is there.
        self._progressed()
        if one.phase is CopyPhase.SNAPSHOT and one.reading is None:
            one, reading = self._snapshot_started(known, one, reading)
        records = answer.records(known)
        self._emit_new(PageKind.CHANGED, one, records)
        reading = self._with(reading, one, records)
        remaining = status.iterator_remaining or 0
        if known.has_iterator and remaining and status.iterator_id:
            total = reading.total if reading.is_open else remaining + len(records)
            self._store(replace(one, reading=replace(reading, is_open=True, total=total)))
            return status.iterator_id
        limit = None if known.has_iterator else self._limit_without_iterator(one, reading, asked)
        is_cut = bool(known.has_limit and limit and len(records) >= limit)
        halves = (self._halves(one, reading) if is_cut else None) or ()
        reading = replace(
            reading,
            ranges=(*halves, *reading.ranges[1:]),
            is_open=False,
            total=0,
            records=reading.records + (0 if halves else reading.records_of_range),
            records_of_range=0,
        )
        if reading.ranges:
            self._store(replace(one, reading=reading))
            return None
        if one.phase is CopyPhase.SNAPSHOT:
            self._emit(PageKind.SNAPSHOT_COMPLETED, one, [{"records": reading.records}])
            if reading.count:
                reading = replace(reading, count=replace(reading.count, number=reading.records))
        self._complete(known, one, reading)
        return None

    def _snapshot_started(
        self, known: BooksObject, one: ObjectCopy, reading: ObjectPass
    ) -> tuple[ObjectCopy, ObjectPass]:
        """Return an object and its pass at the first page of a snapshot, which gives the object its generation."""
        generation = next_number(one.generation, self.now)
        file_id = self.file_id or one.file_id
        begun = replace(one, generation=generation, newest=None, tokens=(), opened=one.opened or 0, file_id=file_id)
        self._emit(PageKind.SNAPSHOT_STARTED, begun, [{}])
        is_last_try = one.count is not None and one.count.is_last_try
        count = EntryCount(0, is_unchecked=True, is_last_try=is_last_try)
        return begun, replace(reading, count=count if known.is_counted_in(self.version) else None)

    def _with(self, reading: ObjectPass, one: ObjectCopy, changes: Sequence[BooksChange]) -> ObjectPass:
        """Return the pass after these changes."""
        elapsed = self.now - datetime.fromisoformat(reading.began_at)
        moments = [change.at for change in changes if change.at]
        newest = reading.newest
        for change in changes:
            if change.at and (newest is None or change.at > known_books_time(newest.at)):
                newest = NewestChange(change.id, change.at.isoformat(), change.is_deletion)
        found = one.newest is not None and any(change.id == one.newest.id for change in changes)
        highest = max(moments, default=None)
        candidate = (highest - elapsed).isoformat(timespec="seconds") if highest else None
        watermark = _later(reading.watermark, candidate)
        tokens = _reached({*reading.tokens, *(change.token for change in changes)}, watermark)
        after = replace(
            reading,
            watermark=watermark,
            newest=newest,
            tokens=tokens,
            has_found_newest=reading.has_found_newest or found,
            count=self._counted(reading, one, changes),
        )
        if not reading.ranges:
            return after
        own = [change for change in changes if not is_first_bound(change, reading.ranges[0])]
        return replace(after, records_of_range=reading.records_of_range + len(own))

    def _counted(self, reading: ObjectPass, one: ObjectCopy, changes: Sequence[BooksChange]) -> EntryCount | None:
        """Return how many entries the list must have after these changes, if it is counted."""
        if reading.count is None:
            return None
        known = {*one.tokens, *reading.tokens}
        new = [change for change in changes if change.token not in known]
        if one.phase is CopyPhase.SNAPSHOT:
            return entry_counts.kept(entry_counts.counted(reading.count, new, None), _overlap_of(reading.watermark))
        since = _overlap_of(one.watermark)
        return entry_counts.kept(entry_counts.counted(reading.count, new, since), since)

    def _complete(self, known: BooksObject, one: ObjectCopy, reading: ObjectPass, found: Found | None = None) -> None:
        """End a pass over an object: its watermark moves. `found` is what a sweep has found that was the whole pass."""
        watermark = _later(one.watermark, reading.watermark)
        tokens = _reached(reading.tokens, watermark)
        count = entry_counts.kept(reading.count, _overlap_of(watermark)) if len(tokens) < MAX_TOKENS else None
        compared = Comparison(count)
        if count and found:
            compared = entry_counts.compared(count, found.number, len(found.deletions))
        elif count and count.is_unchecked and one.phase is CopyPhase.CHANGES:
            compared = Comparison(None)  # So much has changed that each sweep would end in a pass.
        if self._is_lost(known, one, reading) and compared.suspicion is not Suspicion.FEWER:
            message = "The last change is not in the books any more. A backup may have been restored."
            self._store(self._to_resync(one, message))
            return
        self._note_read(known.name)
        is_same = set(reading.tokens) == set(one.tokens) and compared == Comparison(one.count)
        if one.phase is CopyPhase.CHANGES and one.reading is None and is_same and one == self.objects[one.name]:
            return  # Nothing has changed, so nothing moves.
        after = replace(
            one,
            phase=CopyPhase.CHANGES if compared.suspicion is None else CopyPhase.SNAPSHOT,
            watermark=watermark,
            newest=reading.newest or (one.newest if not known.reports_deletions_in(self.version) else None),
            tokens=tokens,
            reading=None,
            problem=None,
            file_id=self.file_id or one.file_id,
            records=reading.records if one.phase is CopyPhase.SNAPSHOT else one.records,
            page_size=max(one.page_size, min(FIRST_PAGE_SIZE, 2 * one.page_size)),
            count=compared.count,
        )
        self._store(after)

    def _is_lost(self, known: BooksObject, one: ObjectCopy, reading: ObjectPass) -> bool:
        """Whether the last change of an object is neither in the books nor among the deletions.

        The watermark may be later than the newest record of a snapshot, because a deletion had moved it before. Then
        no query returns that record.
        """
        newest, since = one.newest, _overlap_of(one.watermark)
        if one.phase is not CopyPhase.CHANGES or newest is None or reading.has_found_newest:
            return False
        at = known_books_time(newest.at)
        is_reached = (since is None or at >= since) and (not newest.is_deletion or at > self.now - DELETIONS_KEPT)
        return is_reached and known.reports_deletions_in(self.version)

    def _refused(self, name: str, answer: QueryAnswer) -> None:
        """Note that QuickBooks refused to read an object. If it may succeed later, the run fails."""
        self.unsupported(name, self._reason(answer))

    def unsupported(self, name: str, problem: str) -> None:
        """Note that QuickBooks cannot read an object."""
        self._note_read(name)
        self._store(replace(self.objects[name], phase=CopyPhase.UNSUPPORTED, reading=None, problem=problem))

    # --- Failures

    def lost(self, asked: RunMessage) -> bool:
        """Note that the answer to a message was lost or too large: the next one has fewer objects or records.

        Return False if the message asked for one object and as few records as possible.
        """
        if len(asked.names) > 1:
            self.copy = replace(self.copy, is_alone=True)
            return True
        before = [self.objects[name] for name in self._current(asked)]
        for one in before:
            self._store(replace(one, page_size=max(MIN_PAGE_SIZE, one.page_size // 2)))
        return not any(one.page_size == MIN_PAGE_SIZE for one in before)

    def not_parsed(self, asked: RunMessage, problem: str) -> None:
        """Note that QuickBooks cannot parse a message about one object, so that it cannot read it."""
        for name in self._current(asked):
            if asked.is_sweep and self.objects[name].count:
                self._store(replace(self.objects[name], count=None))  # It may be the query for the number of entries.
            elif asked.kind is RunMessageKind.OPEN:
                self._store(replace(self.objects[name], opened=self.copy.active, gap=problem))
            elif asked.kind is RunMessageKind.DERIVED:
                self._without_derived(self.objects[name], problem)
            else:
                self.unsupported(name, problem)

    def failed(self, problem: str) -> None:
        """Note a run that failed. The third one in a row is reported."""
        failures = self.copy.failures + 1
        self.copy = replace(self.copy, failures=failures, error=problem)
        if failures == FAILED_RUNS:
            self._emit(PageKind.FAILED, None, [{"reason": problem}])

    def ended(self) -> None:
        """Note a run after which nothing is due."""
        self._progressed()
        self.copy = replace(self.copy, is_alone=False, last_run_at=timestamp(self.now))

    def _progressed(self) -> None:
        """Note that the failures before do not stop the reading."""
        if self.copy.failures >= FAILED_RUNS:
            self._emit(PageKind.RECOVERED, None, [{}])
        self.copy = replace(self.copy, failures=0, error=None)


class Unanswered(Exception):
    """QuickBooks did not answer a message, so the run failed. The message is for people."""


def _problem(answer: QueryAnswer) -> str:
    """Return the status of an answer for people."""
    return f"QuickBooks reports {answer.status.code}: {answer.status.message}"


def _may_succeed_later(answer: QueryAnswer) -> bool:
    """Whether QuickBooks refused a query that it may answer later, because somebody uses the object for example."""
    return answer.status.is_error and describe_status(answer.status.code).retryable


def _overlap_of(watermark: str | None) -> datetime | None:
    """Return where the overlap before a watermark begins."""
    return known_books_time(watermark) - OVERLAP if watermark else None


def _reached(tokens: Iterable[str], watermark: str | None) -> tuple[str, ...]:
    """Return the newest tokens, as far as the overlap before a watermark reaches."""
    since = _overlap_of(watermark)
    oldest = time_of_token(since) if since else ""
    return tuple(sorted(token for token in tokens if token >= oldest)[-MAX_TOKENS:])


def _later(one: str | None, other: str | None) -> str | None:
    """Return the later of two times of the books, or the one that is known."""
    known = [text for text in (one, other) if text]
    return max(known, key=known_books_time, default=None)
