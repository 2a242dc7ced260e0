"""Runs: what a session asks QuickBooks for next, and what follows from the answer. Decided without side effects.

A run has no state of its own. What is due follows from the stored objects, so it survives the end of a session at any
point: the next session asks for what was not answered. A pass over an object ends with its last page, and only then its
watermark moves. `asking` decides what to ask for, this module what an answer shows, and `stored` what is committed.

The watermark is a time of the books. A record that was returned at our time `t` with `TimeModified` T was changed at T
or before, so the books' clock had not reached T - (t - b) before our time b. Everything that changed before that time
was therefore found by a pass that began at b. This holds whatever the clock of the books shows, if it runs steadily.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from domain.qbxml.codes.statuses import SOME_NOT_FOUND, describe_status
from domain.records.subscription import (
    FIRST_PAGE_SIZE,
    BooksRange,
    CopyPhase,
    NewestRecord,
    ObjectCopy,
    ObjectPass,
    PageKind,
    RunMessage,
    RunMessageKind,
    next_number,
)
from domain.subscriptions import derived, open_transactions
from domain.subscriptions.answers import BooksChange, answers_by_label, time_of_token
from domain.subscriptions.asking import ACTIVITY, MAX_RANGE, MIN_PAGE_SIZE, OVERLAP, Asking
from domain.subscriptions.objects import Kind, known_object
from domain.subscriptions.remembered import digest
from domain.subscriptions.stored import divided, texts_of
from domain.timestamps import books_time, known_books_time, timestamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from domain.subscriptions.answers import QueryAnswer
    from domain.subscriptions.objects import BooksObject

MAX_TOKENS = 1_000
"""How many changes of an object are remembered, so that they are not emitted again."""

MAX_PAGES = 50
"""How many items an answer to a sweep leads to at most beside the objects, because one commit stores them all."""

FAILED_RUNS = 3
"""After so many failed runs in a row, `subscription.failed` is emitted."""


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

    def _swept(self, asked: RunMessage, answers: Mapping[str | Kind, QueryAnswer]) -> None:
        deletions: dict[str, list[BooksChange]] = {}
        for subject, answer in answers.items():
            if isinstance(subject, Kind) and not answer.status.is_error:
                for name in asked.names:
                    if known_object(name).kind is subject:
                        deletions[name] = answer.deletions(known_object(name))
        put_off = {subject for subject, answer in answers.items() if self._is_put_off(answer)}
        if ACTIVITY in answers and put_off.isdisjoint({ACTIVITY, Kind.TRANSACTION}):
            self._note_activity(asked, answers[ACTIVITY], answers[Kind.TRANSACTION])
        failed = {subject: answer.status for subject, answer in answers.items() if answer.status.is_error}
        for subject, answer in answers.items():
            if isinstance(subject, Kind) or subject == ACTIVITY:
                continue
            known = known_object(subject)
            if not put_off.isdisjoint({subject, known.kind}):
                continue
            if status := failed.get(subject) or failed.get(known.kind):
                self._refused(subject, f"QuickBooks reports {status.code}: {status.message}", status.code)
            else:
                self._changed(known, asked, answer.records(known), deletions.get(subject, []))

    def _is_put_off(self, answer: QueryAnswer) -> bool:
        """Whether the same query may succeed later. Then the run fails when the other answers are applied."""
        if not (answer.status.is_error and describe_status(answer.status.code).retryable):
            return False
        self.unanswered = f"QuickBooks reports {answer.status.code}: {answer.status.message}"
        return True

    def _changed(
        self, known: BooksObject, asked: RunMessage, records: list[BooksChange], deletions: list[BooksChange]
    ) -> None:
        """Apply the changes of an object since its watermark."""
        one, began_at = self.objects[known.name], asked.asked_at or timestamp(self.now)
        own = books_time(self._since(known.name))
        deletions = [change for change in deletions if own is None or change.at is None or change.at >= own]
        reading = self._with(ObjectPass(began_at), one, deletions)
        if self._items_with(known, deletions) >= MAX_PAGES:
            self._note_read(known.name)
            self._store(self._to_resync(one, "More records were deleted than one run can report."))
            return
        is_large = self._items_with(known, [*records, *deletions]) >= MAX_PAGES
        if known.has_limit and (len(records) >= asked.limit or is_large):
            self._emit_new(PageKind.DELETED, one, deletions)
            whole = BooksRange(self._since(known.name))
            self._store(replace(one, reading=replace(reading, ranges=(whole,), records=0)))
            return
        self._emit_new(PageKind.CHANGED, one, records)
        self._emit_new(PageKind.DELETED, one, deletions)
        self._complete(known, one, self._with(reading, one, records))

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
        one, remembered = self.objects[known.name], self.remembered(known.name)
        if answer.status.is_error and answer.status.code != SOME_NOT_FOUND:
            self._refused(known.name, self._reason(answer), answer.status.code)
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
        problem = f"QuickBooks reports {answer.status.code}: {answer.status.message}"
        if describe_status(answer.status.code).retryable:
            raise Unanswered(problem)
        return problem

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
        # A long pass needs many sessions. If one is interrupted, the failure counts until the next page is there.
        self._progressed()
        if one.phase is CopyPhase.SNAPSHOT and one.reading is None:
            generation = next_number(one.generation, self.now)
            file_id = self.file_id or one.file_id
            one = replace(one, generation=generation, newest=None, tokens=(), opened=one.opened or 0, file_id=file_id)
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
            if change.at and not change.is_deletion and (newest is None or change.at > known_books_time(newest.at)):
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
            and self._is_reached(one.newest, self._since(one.name))
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

    def _is_reached(self, newest: NewestRecord, since: str | None) -> bool:
        """Whether a query since a time returns a record. A deletion moves the watermark as a change does."""
        return since is None or known_books_time(newest.at) >= known_books_time(since)

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
            if asked.kind is RunMessageKind.OPEN:
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


def _reached(tokens: Iterable[str], watermark: str | None) -> tuple[str, ...]:
    """Return the newest tokens, as far as the overlap before a watermark reaches."""
    oldest = time_of_token(known_books_time(watermark) - OVERLAP) if watermark else ""
    return tuple(sorted(token for token in tokens if token >= oldest)[-MAX_TOKENS:])


def _later(one: str | None, other: str | None) -> str | None:
    """Return the later of two times of the books, or the one that is known."""
    known = [text for text in (one, other) if text]
    return max(known, key=known_books_time, default=None)
