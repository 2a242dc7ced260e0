"""The use cases of settling: ask QuickBooks about a write, and store what the answer shows."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING

from domain import qbxml
from domain.connections.simulators import no_simulator
from domain.errors import InvalidState, TooManyRequests
from domain.qbxml.response.objects import returned_objects
from domain.queueing.insertion_times import InsertionTimes
from domain.queueing.new_request import NewRequest, WebhookUrl, added_request
from domain.queueing.service import existing
from domain.records.batch import ids_of_batch, position_of
from domain.records.request import (
    ENDED,
    LAST_IN_LINE,
    LISTED_PAIRS,
    QueuedRequest,
    State,
    WhetherExecuted,
    settling_id,
)
from domain.records.webhook import AWAITING_APPROVAL
from domain.settling.books_clock import CALIBRATED_WITHIN, MARGIN, BooksClock, Sample, books_clock
from domain.settling.judgement import case_of, judged, queries_of
from domain.storage.changes import AddRequest, ChangeRequest, RequireConnection
from domain.storage.counts import UPDATED
from domain.storage.ports import IndexStretch, RequestDetail
from domain.storage.retry import commit_with_retry
from domain.timestamps import books_time, timestamp

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from domain.errors import Conflict
    from domain.ports import Clock
    from domain.records.connection import Connection
    from domain.records.request import StoredRequest
    from domain.storage.ports import SettlingStore

MAX_QUERIES = 3
"""Maximum number of queries that settle a write."""

MAX_WAITING = 100
"""Maximum number of reads that wait behind all other requests of a connection while a write can be settled."""

MAX_SAMPLES = 3
MAX_ENTRIES = 300
"""Maximum number of writes that show the clock of the books, in each of three times around the sending, and of entries
of a list that are read to find them, or the other requests that may have made an object."""

_CONTENDED = "The request is being changed. Try again in a moment."


class SettlingService:
    """The use cases. `wake` lets a test connection run a session."""

    def __init__(self, store: SettlingStore, clock: Clock, wake: Callable[[str], object] = no_simulator) -> None:
        self._store = store
        self._clock = clock
        self._wake = wake
        self._insertion_times = InsertionTimes(clock)

    def settle(self, app_id: str, request_id: str, connection_id: str | None = None) -> StoredRequest:
        """Queue the queries that settle a write, unless they are queued or have settled it. Return the write.

        If the last answer settled nothing, QuickBooks is asked again. Raises NotFound, Gone, TooManyRequests, and
        InvalidState if the outcome is known, QuickBooks may still be executing the write, or no query can tell.
        """

        def attempt(conflict: Conflict | None) -> StoredRequest:
            detail = existing(app_id, self._store.request_detail(request_id, connection_id))
            record = detail.stored.record
            if record.settling.executed in {WhetherExecuted.YES, WhetherExecuted.NO}:
                return detail.stored
            self._check(record)
            if record.settling.times and record.settling.executed is None:
                asked = self._asked(record)
                if any(query.state not in ENDED for query in asked):
                    return detail.stored
                if asked:
                    return self._store_answer(detail.stored, asked)
            return self._ask(detail.stored, detail.connection, conflict)

        return commit_with_retry(attempt, _CONTENDED)

    def proceed(self, write_id: str) -> QueuedRequest | None:
        """Ask about a write, if nobody has, or store the answer. Return it, or None if there is nothing to do now.

        A write that no query can settle, because its type has none or its company file is not known, and one whose
        connection does not settle by itself, is only marked, so that it is not looked at again. May be called at any
        time, also again. Raises TooManyRequests and Unavailable.
        """

        def attempt(conflict: Conflict | None) -> QueuedRequest | None:
            detail = self._store.request_detail(write_id)
            if not isinstance(detail, RequestDetail):
                return None
            stored, write = detail.stored, detail.stored.record
            if write.executed is not WhetherExecuted.UNKNOWN or write.settling.executed:
                return None
            if write.settling.times:
                asked = self._asked(write)
                has_ended = all(query.state in ENDED for query in asked)
                return self._store_answer(stored, asked).record if has_ended else None
            if not write.is_unsettled or write.may_be_running(timestamp(self._clock())):
                return None
            knows_file = write.recovery.company_file_key is not None
            if knows_file and queries_of(stored) and not detail.connection.settles_on_call_only:
                return self._ask(stored, detail.connection, conflict).record
            after = write.settled(self._clock(), WhetherExecuted.UNKNOWN)
            self._store.commit(ChangeRequest(write, after))
            return after

        return commit_with_retry(attempt, _CONTENDED)

    def _check(self, record: QueuedRequest) -> None:
        """Raise InvalidState if QuickBooks cannot be asked about a write now."""
        details = {"state": record.state.value, "executed": record.executed}
        if record.executed is not WhetherExecuted.UNKNOWN:
            raise InvalidState("Only an ended write whose outcome is unknown can be settled.", details)
        if record.may_be_running(timestamp(self._clock())):
            until = record.recovery.running_until
            message = f"QuickBooks may still be executing the request, until {until} at the latest. Settle it then."
            raise InvalidState(message, details)

    def _asked(self, write: QueuedRequest) -> Sequence[QueuedRequest]:
        """Return the queries of the last time that exist, in their order."""
        ids = ids_of_batch(write.settling_query_id or "", MAX_QUERIES)
        return sorted(self._store.records_by_id(ids), key=lambda query: position_of(query.id))

    def _ask(self, stored: StoredRequest, connection: Connection, conflict: Conflict | None) -> StoredRequest:
        """Queue the queries, outside of quotas and behind the other requests. `conflict` is that of the last attempt.

        A restored table may have queries that its write does not count, because a restore does not respect
        transactions. Their ids are taken, so the next number is used.
        """
        record = stored.record
        if not (planned := queries_of(stored)):
            message = f"No query can tell whether QuickBooks executed {record.request_name}. Look in the company file."
            raise InvalidState(message, {"state": record.state.value})
        if self._store.count_queued(connection.id, LAST_IN_LINE, MAX_WAITING) >= MAX_WAITING:
            raise TooManyRequests(f"{MAX_WAITING} queries of this connection wait already. Try again after a session.")
        after = record.asked(self._clock())
        if conflict and isinstance(conflict.change, AddRequest):
            after = after.asked(self._clock()).as_change_of(record)
        ids = ids_of_batch(settling_id(record.id, after.settling.times), len(planned))
        self._store.commit(
            RequireConnection.of(connection),
            ChangeRequest(record, after),
            *(
                self._added(connection, record, request_id, query.request)
                for request_id, query in zip(ids, planned, strict=True)
            ),
        )
        if connection.simulated:
            self._wake(connection.id)
        return replace(stored, record=after)

    def _added(
        self, connection: Connection, write: QueuedRequest, request_id: str, request: qbxml.Request
    ) -> AddRequest:
        new = NewRequest(request, WebhookUrl.NONE)
        added = added_request(request_id, connection, new, timestamp(self._insertion_times()))
        return replace(added, record=replace(added.record, queue_priority=LAST_IN_LINE, settles=write.id))

    def _store_answer(self, stored: StoredRequest, asked: Sequence[QueuedRequest]) -> StoredRequest:
        """Store what the answers to all queries show, and return the write."""
        details = [self._store.request_detail(query.id) for query in asked]
        case = case_of(stored, [one.stored for one in details if isinstance(one, RequestDetail)])
        executed = WhetherExecuted.UNKNOWN
        if case:
            sent_at, is_addition = case.first_sent_at, case.write.verb == "Add"
            clock = self._clock_of_books(stored.record, sent_at) if sent_at and is_addition else None
            others = self._others(stored.record, sent_at) if sent_at and clock and clock.is_bracketed else None
            executed = judged(case, clock, others)
        after = stored.record.settled(self._clock(), executed)
        self._store.commit(ChangeRequest(stored.record, after))
        return replace(stored, record=after)

    def _clock_of_books(self, write: QueuedRequest, sent_at: datetime) -> BooksClock | None:
        """Return the clock of the company file that a write was sent to, from our additions around its sending."""
        times = (sent_at - CALIBRATED_WITHIN, sent_at - MARGIN, sent_at, sent_at + CALIBRATED_WITHIN)
        samples = [sample for first, last in pairwise(times) for sample in self._samples(write, sent_at, first, last)]
        return books_clock(samples, sent_at)

    def _samples(self, write: QueuedRequest, near: datetime, first: datetime, last: datetime) -> Sequence[Sample]:
        """Return additions that QuickBooks executed between two times, those nearest to the sending of the write."""
        records = [
            record
            for record in self._changed(write.connection_id, {State.RESPONSE_RECEIVED}, first, last)[0]
            if record.request_name.endswith("AddRq")
            and not record.modifies
            and record.attempts.sessions == 1
            and record.executed is WhetherExecuted.YES
            and not record.recovery.begun
            and record.recovery.company_file_key == write.recovery.company_file_key
            and record.sent_at
            and record.responded_at
        ]
        records.sort(key=lambda record: abs(datetime.fromisoformat(record.sent_at or "") - near))
        return list(filter(None, map(self._sample, records[:MAX_SAMPLES])))

    def _sample(self, record: QueuedRequest) -> Sample | None:
        """Return what an addition shows, or None if its response does not tell when QuickBooks created the object."""
        detail = self._store.request_detail(record.id)
        if not isinstance(detail, RequestDetail) or not detail.stored.response_xml:
            return None
        try:
            rows = returned_objects(detail.stored.response_xml)
        except qbxml.UnreadableResponse:
            return None
        created = books_time(rows[0].findtext("TimeCreated")) if len(rows) == 1 else None
        if created is None:
            return None
        sent_at, responded_at = record.sent_at or "", record.responded_at or ""
        return Sample(datetime.fromisoformat(sent_at), datetime.fromisoformat(responded_at), created)

    def _changed(
        self, connection_id: str, states: Collection[State], first: datetime, last: datetime
    ) -> tuple[Sequence[QueuedRequest], bool]:
        """Return the records in these states that were changed last between two times, and whether these are all.

        At most the first MAX_ENTRIES are returned. The index may lag by moments.
        """
        # A write that was sent waits for approval again only if QuickBooks has not executed it.
        pairs = [pair for pair in LISTED_PAIRS if pair[0] in states and pair[1] not in AWAITING_APPROVAL]
        stretch = IndexStretch(connection_id, UPDATED, pairs, timestamp(first), timestamp(last))
        entries = self._store.next_index_entries(stretch, MAX_ENTRIES)
        records = self._store.records_by_id([entry.id for entry in entries], may_lag=True)
        return records, len(entries) < MAX_ENTRIES

    def _others(self, write: QueuedRequest, sent_at: datetime) -> Sequence[qbxml.Request] | None:
        """Return the other requests of its type that QuickBooks may have executed since a write was sent first.

        None if there are too many, or one cannot be read.
        """
        sent = set(State) - {State.WAITING}
        changed, are_all = self._changed(write.connection_id, sent, sent_at - MARGIN, self._clock())
        if not are_all:
            return None
        records = {record.id: record for record in changed}
        in_flight = self._store.records_by_id(self._store.in_flight_ids(write.connection_id))
        records |= {record.id: record for record in in_flight}
        others = [record for record in records.values() if _may_have_made(record, write)]
        read = self._store.with_request_xml(others) if others else ()
        if len(read) < len(others) or not all(request.request_xml for request in read):
            return None
        return [qbxml.stored_request(one.request_xml or "", one.record.qbxml_version) for one in read]


def _may_have_made(record: QueuedRequest, write: QueuedRequest) -> bool:
    """Whether QuickBooks may have executed another request of the type of a write."""
    is_other = record.id != write.id and record.request_name == write.request_name
    return is_other and record.sent_at is not None and not (record.state in ENDED and record.wrote_nothing)
