"""Claims: a session reserves the next request of its connection's queue in a commit that is made anyway."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from operator import attrgetter
from typing import TYPE_CHECKING

from domain.batches.dependants import changes_of_dependants, with_dependants
from domain.errors import Conflict
from domain.records.request import ENDED, FIRST_LOW_PLACE, QueuedRequest
from domain.storage.changes import ChangeRequest
from domain.timestamps import timestamp
from domain.web_connector.session.decision import Claiming, Decision, Finishing, GivingBack

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from domain.records.request import MessageSet
    from domain.storage.changes import Change
    from domain.storage.ports import ClaimStore
    from domain.web_connector.protocol.methods import Reply

FRONTS = (10, 100, 1_000)
"""Numbers of requests to read from the front of the queue. A session reads the next larger number only if it already
had all that it read. The number of results also estimates the waiting work."""

MAX_CLAIMS = 8
"""Maximum number of attempts to claim a request while other callers claim or discard the front of the queue. Each
attempt is a transaction, and the Web Connector waits for it."""

BEING_STORED = timedelta(minutes=1)
"""An entry of the queue that is not this old can be seen before its record, because a transaction stores both and a
read can be between them. DynamoDB takes milliseconds, and rarely seconds."""


@dataclass(frozen=True, slots=True)
class Claims:
    """What a call of a session reads from the queue of its connection, and what it commits."""

    store: ClaimStore
    connection_id: str
    session_id: str
    now: datetime

    def commit(
        self,
        decision: Decision | Claiming | Finishing | GivingBack,
        already_read: Sequence[QueuedRequest] | None = None,
    ) -> Reply:
        """Commit a decision and return its reply. Raises Conflict if a condition of its changes does not hold.

        `already_read` is the front of the queue if it was read before: its first FRONTS[0] records.
        """
        match decision:
            case Claiming():
                return self._commit_and_claim(decision, already_read)
            case Finishing():
                return self.commit(self._finished(decision))
            case GivingBack(request_ids, decide):
                claimed = self.store.records_by_id(request_ids)
                return self.commit(decide([record for record in claimed if record.claim.session_id == self.session_id]))
            case Decision(reply, changes):
                if changes:
                    self._commit(*with_dependants(self.store, changes, self.now))
                return reply

    def _commit(self, *changes: Change) -> None:
        """Commit changes. An entry of the queue that cannot be claimed, because its request has ended, leaves it."""
        try:
            self.store.commit(*changes)
        except Conflict as conflict:
            claim = conflict.change
            if isinstance(claim, ChangeRequest) and claim.before.is_in_queue and not _has_not_ended(conflict.current):
                self.store.remove_from_queue(claim.before)
            raise

    def _commit_and_claim(self, claiming: Claiming, already_read: Sequence[QueuedRequest] | None) -> Reply:
        """Commit the decision for the next request of the queue together with the claim of that request.

        If a record of `claiming.releases` ends, its dependants are released too, and can be claimed at once. If another
        session released a record of `claiming.releases`, it can be claimed at once. If this session released
        it, a later session claims it. A request that was discarded after the queue was read and before the commit is
        skipped.
        """
        releases = [*claiming.releases, *changes_of_dependants(self.store, claiming.releases, self.now)]
        skipped: list[QueuedRequest] = []
        for attempt in range(MAX_CLAIMS):
            front = self.front(releases, None if attempt else already_read, low_first=claiming.low_first)
            queue = [record for record in front if record not in skipped]
            if not queue or not _may_be_claimed(queue[0], claiming):
                break
            claim = self._claim(queue[0], releases)
            others = [release for release in releases if release.before is not claim.before]
            decision = self._finished(claiming.decide(claim.after, queue[1:]))
            try:
                # The claim comes last because a conflict in any other change must be reported first.
                self.store.commit(*decision.changes, *others, claim)
            except Conflict as conflict:
                if conflict.change != claim:
                    raise
                skipped.append(queue[0])
                if not _has_not_ended(conflict.current):
                    skipped += self._without_record(queue)
            else:
                return decision.reply
        decision = self._finished(claiming.decide(None, ()))
        if changes := [*decision.changes, *releases]:
            self.store.commit(*changes)
        return decision.reply

    def _finished(self, decision: Decision | Finishing) -> Decision:
        """Return the decision. One that ends the session needs the connection, which is read now."""
        return (
            decision.decide(self.store.connection(self.connection_id)) if isinstance(decision, Finishing) else decision
        )

    def front(
        self,
        releases: Sequence[ChangeRequest] = (),
        already_read: Sequence[QueuedRequest] | None = None,
        *,
        low_first: bool = False,
    ) -> Sequence[QueuedRequest]:
        """Return the front of the queue after `releases`, without the requests that this session already had.

        Nothing behind a write that QuickBooks may still be executing can be claimed. The session looks behind the
        requests that it had, up to the last of `FRONTS`. Only a session with that many requests that failed finds
        nothing although there is more. By the next session they are behind the others.

        With `low_first`, the first request of the low lane is in front of those of the normal lane. A write in recovery
        stays in front of both.
        """
        found, is_held = self._front(releases, already_read)
        if not (low_first and found) or is_held or found[0].is_low or found[0].recovering:
            return found
        low, _ = self._front(releases, None, low_lane=True)
        return [*low[:1], *(record for record in found if not record.is_low)]

    def _front(
        self,
        releases: Sequence[ChangeRequest],
        already_read: Sequence[QueuedRequest] | None,
        *,
        low_lane: bool = False,
    ) -> tuple[Sequence[QueuedRequest], bool]:
        """Return the front of the queue, or of its low lane, and whether a running write holds what is behind it."""
        released_ids = {release.before.id for release in releases}
        first_place = FIRST_LOW_PLACE if low_lane else 0
        queued_again = [
            release.after
            for release in releases
            if release.after.is_in_queue and release.after.place_in_queue[0] >= first_place
        ]
        for limit in FRONTS:
            if already_read is not None and limit == FRONTS[0]:
                stored = already_read
            else:
                stored = self.store.queue_front(self.connection_id, limit, low_lane=low_lane)
            queue = [record for record in stored if record.id not in released_ids]
            if queued_again:
                # A dependant enters the queue behind the requests that wait there. Not all of those may have been read.
                last = stored[-1].place_in_queue if len(stored) >= limit else None
                queue += [record for record in queued_again if last is None or record.place_in_queue < last]
                queue.sort(key=attrgetter("place_in_queue"))
            found, is_held = self.claimable(queue), self._running(queue) is not None
            if found or len(stored) < limit or is_held:
                return found, is_held
        return [], False

    def claimable(self, queue: Sequence[QueuedRequest]) -> Sequence[QueuedRequest]:
        """Return the requests of a queue that the session may claim.

        It has not had them, none is behind a running write, and none misses its `send_by`: the sweep ends those. The
        running write itself can be claimed, because the session asks for its stored response.
        """
        running = self._running(queue)
        reachable = queue if running is None else queue[: running + 1]
        return [
            record
            for record in reachable
            if record.claim.session_id != self.session_id and not record.misses_send_by(self.now)
        ]

    def _running(self, queue: Sequence[QueuedRequest]) -> int | None:
        """Return the index of the first write that QuickBooks may still be executing, or None."""
        moment = timestamp(self.now)
        return next((index for index, record in enumerate(queue) if record.may_be_running(moment)), None)

    def other_members(self, message_set: MessageSet) -> Sequence[QueuedRequest]:
        """Return the queued requests of a message set that was sent before, whose first request was claimed.

        They are at the front, because they are recovered. More of the queue is read only if one is missing there.
        """
        found: Sequence[QueuedRequest] = ()
        for limit in FRONTS[1:]:
            stored = self.store.queue_front(self.connection_id, limit)
            found = [record for record in stored if record.message_set and record.message_set.id == message_set.id]
            if len(stored) < limit or len(found) == message_set.size - 1:
                break
        return found

    def _without_record(self, queue: Sequence[QueuedRequest]) -> list[QueuedRequest]:
        """Remove the first entries of the queue whose requests have ended or do not exist, and return them.

        Such entries exist only after a table was restored alone (`local/restore.py` removes them). A new entry whose
        request is not there yet is returned but stays in the queue.
        """
        without_record: list[QueuedRequest] = []
        for entry in queue:
            stored = self.store.request(entry.id)
            if _has_not_ended(stored):
                break
            if stored is not None or entry.updated_at < timestamp(self.now - BEING_STORED):
                self.store.remove_from_queue(entry)
            without_record.append(entry)
        return without_record

    def _claim(self, record: QueuedRequest, releases: Sequence[ChangeRequest]) -> ChangeRequest:
        released = next((release for release in releases if record is release.after), ChangeRequest(record, record))
        return replace(released, after=record.claimed(self.session_id, self.now).as_change_of(released.before))


def _may_be_claimed(record: QueuedRequest, claiming: Claiming) -> bool:
    """Whether the first request of the queue may be claimed. Nothing behind it is claimed instead."""
    if claiming.normal_only and record.is_low and not record.recovering:
        return False
    return not claiming.repeatable or record.is_read or record.recovering


def _has_not_ended(stored: object) -> bool:
    """Whether a request is stored and has not ended."""
    return isinstance(stored, QueuedRequest) and stored.state not in ENDED
