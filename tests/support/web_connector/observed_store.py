"""A store that records its changes and checks rules that hold for every caller."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from adapters.dynamodb.records import record_item
from domain.records.request import ENDED, FIRST_IN_LINE, IN_FLIGHT, QUEUED, QueuedRequest, State
from domain.storage.changes import AddRequest, ChangeRequest, RemoveRequest
from domain.timestamps import timestamp
from domain.webhooks.delivery import needs_first_attempt
from local.event_filters import passes, patterns_of
from local.template import Template
from tests.support.web_connector.connector import CountingStore

if TYPE_CHECKING:
    from domain.storage.changes import Change
    from tests.support.index_lag import IndexLag

    Entry: TypeAlias = tuple[QueuedRequest | None, QueuedRequest | None]
    """A change of a record. Without a version after it, the time to live has removed the record."""

RETENTION_DAYS = 30


@cache
def _webhook_patterns() -> list[dict[str, Any]]:
    """Return the stream filter in the template that starts the delivery of a webhook."""
    (function,) = (
        definition for definition in Template.load().functions() if definition.logical_id == "DeliverWebhookFunction"
    )
    return patterns_of(function.properties["Events"]["Ended"]["Properties"])


class Send(NamedTuple):
    """A message set that was sent: its lane, and the lanes in which other requests could have been claimed instead."""

    is_low: bool
    low_waits: bool
    normal_waits: bool


class ObservedStore(CountingStore):
    """Records every version of each record, how often its webhook was due, and claims out of queue order."""

    def __init__(self, lag: IndexLag | None = None) -> None:
        super().__init__(lag)
        self.history: dict[str, list[QueuedRequest]] = {}
        self.retention_days = RETENTION_DAYS
        self.stream: list[Entry] = []
        """Every version of the records in the order of the commits, with the one before it."""
        self.webhooks_due: Counter[tuple[str, int]] = Counter()
        self.out_of_turn: list[tuple[QueuedRequest, QueuedRequest]] = []
        self.sends: dict[str, list[Send]] = {}
        """The message sets of each connection that were taken from a lane and sent, in their order."""
        self._claims: dict[str, Send] = {}

    def commit(self, *changes: Change) -> None:
        """Commit, and record the changes."""
        super().commit(*changes)
        for change in changes:
            if isinstance(change, AddRequest | ChangeRequest):
                after = change.record if isinstance(change, AddRequest) else change.after
                self._record(self.records[after.id])
                if isinstance(change, ChangeRequest) and after.state in IN_FLIGHT:
                    self._check_order(change.before, after)
            elif isinstance(change, RemoveRequest):
                self.history.setdefault(change.before.id, [])
        self._note_lanes([change for change in changes if isinstance(change, ChangeRequest)])

    def _record(self, record: Any) -> None:
        versions = self.history.setdefault(record.id, [])
        before = versions[-1] if versions else None
        self.stream.append((before, record))
        versions.append(record)
        is_passed = passes({"dynamodb": {"NewImage": record_item(record)}}, _webhook_patterns())
        if is_passed and needs_first_attempt(before, record):
            self.webhooks_due[record.id, record.webhook.round] += 1

    def _check_order(self, before: QueuedRequest, claimed: QueuedRequest) -> None:
        """Record the requests that a claim passed over. A request that left a session belongs to a later session.

        One that missed its `send_by` is never claimed. A request may pass one of the other lane, but no write that is
        recovered, and nothing passes a write that QuickBooks may still be executing.
        """
        now = datetime.fromisoformat(claimed.updated_at)
        if claimed.claim.session_id == before.claim.session_id:
            return
        place = replace(claimed, updated_at=before.updated_at).place_in_queue
        moment = timestamp(now)
        for record in self.records.values():
            if (
                isinstance(record, QueuedRequest)
                and record.connection_id == claimed.connection_id
                and record.is_in_queue
                and (record.is_low == before.is_low or record.place_in_queue[0] == FIRST_IN_LINE)
                and (record.claim.session_id != claimed.claim.session_id or record.may_be_running(moment))
                and not record.misses_send_by(now)
                and record.place_in_queue < place
            ):
                self.out_of_turn.append((record, claimed))

    def _note_lanes(self, changes: list[ChangeRequest]) -> None:
        """Note which lanes a claim could have been made from, and the set when it is sent."""
        for change in changes:
            if change.before.state in QUEUED and change.after.state in IN_FLIGHT:
                self._claims.setdefault(change.after.id, self._send(change.after))
        sent = [one for one in changes if one.before.state is not State.SENT and one.after.state is State.SENT]
        if not sent:
            return
        first, *others = (one.after for one in sent)
        send = self._claims.pop(first.id, None)
        for other in others:
            self._claims.pop(other.id, None)
        if send and first.paging.page == 1 and not first.recovery.begun:
            self.sends.setdefault(first.connection_id, []).append(send)

    def _send(self, claimed: QueuedRequest) -> Send:
        now = datetime.fromisoformat(claimed.updated_at)
        waiting = {
            record.is_low
            for record in self.records.values()
            if isinstance(record, QueuedRequest)
            and record.connection_id == claimed.connection_id
            and record.is_in_queue
            and record.claim.session_id != claimed.claim.session_id
            and not record.misses_send_by(now)
        }
        return Send(claimed.is_low, low_waits=True in waiting, normal_waits=False in waiting)

    def check_lanes(self) -> None:
        """Check that each lane gets its share: of ten message sets one is low while both wait."""
        for sends in self.sends.values():
            for ten in zip(*(sends[start:] for start in range(10)), strict=False):
                if all(send.low_waits for send in ten):
                    assert any(send.is_low for send in ten), ten
                assert sum(send.is_low and send.normal_waits for send in ten) <= 1, ten

    def expire(self, now: int) -> list[QueuedRequest]:
        """Remove the records that expired before `now` (Unix seconds), and add the removals to the stream."""
        expired = super().expire(now)
        self.stream += [(record, None) for record in expired]
        return expired

    @property
    def not_forgotten(self) -> list[QueuedRequest]:
        """The records that the time to live removed, and that have not been cleaned up after."""
        return [before for before, after in self.stream if before and after is None and before.id in self.bodies]

    def check_nothing_left(self) -> None:
        """Check that everything that is stored belongs to a record that exists, and that no session is live."""
        stored = {record.id for record in self.records.values() if isinstance(record, QueuedRequest)}
        assert set(self.bodies) == stored
        assert self.counts == self.exact_counts()
        assert all(session.ended for session in self.sessions.values())
        assert not any(connection.session_id for connection in self.connections.values())
        assert all(claim.record_id in self.records for claim in self.claims.values())

    def check_webhooks(self) -> None:
        """Check that the webhook of each ended record was due once, and that no other webhook was due."""
        for record in self.records.values():
            if isinstance(record, QueuedRequest):
                due = record.webhook.url is not None and record.state in ENDED
                assert self.webhooks_due[record.id, record.webhook.round] == due, record
