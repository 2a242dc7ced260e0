"""A store that watches what is done to it, and says what must be so whoever did it."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any

from adapters.dynamodb.items import record_item
from domain.requests.record import ENDED, IN_FLIGHT, QUEUED, QueuedRequest
from domain.storage.changes import AddRequest, ChangeRequest, RemoveRequest
from local.event_filters import passes, patterns_of
from local.template import Template
from tests.support.web_connector.driver import CountingStore

if TYPE_CHECKING:
    from domain.storage.changes import Change
    from tests.support.index_lag import IndexLag


@cache
def _webhook_patterns() -> list[dict[str, Any]]:
    """Return the filter of the stream that begins a webhook's delivery, as the template has it."""
    (function,) = (found for found in Template.load().functions() if found.logical_id == "DeliverWebhookFunction")
    (event,) = (found for found in function.events if found.type == "DynamoDB")
    return patterns_of(event.properties)


class WitnessedStore(CountingStore):
    """Remembers every version of every record, how often its webhook fell due, and who went before whom."""

    def __init__(self, lag: IndexLag | None = None) -> None:
        super().__init__(lag)
        self.history: dict[str, list[QueuedRequest]] = {}
        self.webhooks_due: Counter[tuple[str, int]] = Counter()
        self.out_of_turn: list[tuple[QueuedRequest, QueuedRequest]] = []

    def commit(self, *changes: Change) -> None:
        """Commit, and look."""
        super().commit(*changes)
        for change in changes:
            if isinstance(change, AddRequest | ChangeRequest):
                after = change.record if isinstance(change, AddRequest) else change.after
                self._remember(self.records[after.id])
                if isinstance(change, ChangeRequest) and after.state in IN_FLIGHT:
                    self._look_at_the_queue(change.before, after)
            elif isinstance(change, RemoveRequest):
                self.history.setdefault(change.before.id, [])

    def _remember(self, record: Any) -> None:
        self.history.setdefault(record.id, []).append(record)
        if passes({"dynamodb": {"NewImage": record_item(record)}}, _webhook_patterns()):
            self.webhooks_due[record.id, record.webhook.round] += 1

    def _look_at_the_queue(self, before: QueuedRequest, claimed: QueuedRequest) -> None:
        """Note who was passed over by a claim. What a session itself had and gave back is left to a later one."""
        if claimed.last_session_id == before.last_session_id:
            return
        for record in self.records.values():
            if (
                isinstance(record, QueuedRequest)
                and record.connection_id == claimed.connection_id
                and record.state in QUEUED
                and record.last_session_id != claimed.last_session_id
                and _turn(record) < _turn(claimed)
            ):
                self.out_of_turn.append((record, claimed))

    def check_webhooks(self) -> None:
        """Check that each ended record's webhook fell due once, and nobody else's."""
        for record in self.records.values():
            if isinstance(record, QueuedRequest):
                wanted = record.webhook.url is not None and record.state in ENDED
                assert self.webhooks_due[record.id, record.webhook.round] == wanted, record


def _turn(record: QueuedRequest) -> tuple[int, str, str]:
    return record.queue_priority, record.inserted_at, record.id
