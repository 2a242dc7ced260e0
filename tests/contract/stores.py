"""Shared helpers of the contract tests: steps on a store, and the counts that its records add up to."""

from __future__ import annotations

import uuid
from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, TypeAlias

from domain.maintenance.recount import mend_counts
from domain.records.request import QueuedRequest, State, StoredRequest, Tombstone
from domain.storage.changes import AddRequest
from domain.storage.counts import INSERTED, UPDATED
from domain.storage.ports import RequestDetail
from tests.support.builders import CONNECTION_ID, NOON, REQUEST_XML, FixedClock

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adapters.dynamodb import DynamoDBStore
    from domain.records.webhook import ListedWebhookState
    from domain.storage.counts import CountKey
    from tests.support.fake_store import FakeStore

    AnyStore: TypeAlias = FakeStore | DynamoDBStore

LATER = NOON + timedelta(minutes=1)


def add(store: AnyStore, record: QueuedRequest, request_xml: str = REQUEST_XML, search_text: str = "") -> None:
    """Store a new record."""
    store.commit(AddRequest(record, request_xml, search_text))


def stored_request(
    store: AnyStore, request_id: str, connection_id: str | None = None
) -> StoredRequest | Tombstone | None:
    """Return the record with its bodies."""
    detail = store.request_detail(request_id, connection_id)
    return detail.stored if isinstance(detail, RequestDetail) else detail


def counts_of(store: AnyStore) -> dict[tuple[str, str, State, ListedWebhookState], int]:
    """Return the store's counts as one flat mapping."""
    return {
        (sort, day.day, state, webhook_state): number
        for day in store.day_counts(CONNECTION_ID)
        for sort in (INSERTED, UPDATED)
        for (state, webhook_state), number in day.of(sort).items()
    }


def mended(store: AnyStore, clock: FixedClock | None = None) -> Mapping[CountKey, int]:
    """Correct the counts, and return what was added to them."""
    return mend_counts(store, clock or FixedClock(NOON), lambda: str(uuid.uuid4()), CONNECTION_ID)


def recount(store: AnyStore, ids: list[str]) -> dict[tuple[str, str, State, ListedWebhookState], int]:
    """Return the counts of the records themselves."""
    counts: Counter[tuple[str, str, State, ListedWebhookState]] = Counter()
    for request_id in ids:
        record = store.request(request_id)
        if isinstance(record, QueuedRequest):
            counts[INSERTED, record.inserted_at[:10], *record.listed_pair] += 1
            counts[UPDATED, record.listed_updated_at[:10], *record.listed_pair] += 1
    return dict(counts)
