"""The numbers of requests by state of several connections, for the list of connections."""

from __future__ import annotations

from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain.errors import NotFound
from domain.records.request import IN_FLIGHT
from domain.storage.counts import INSERTED, awaiting_approval, records_by_state

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from domain.records.request import QueuedRequest, State
    from domain.storage.counts import DayCounts
    from domain.storage.ports import OverviewStore

MAX_PARALLEL_CONNECTIONS = 16
"""Two queries for each connection. A page has up to 100 connections."""


@dataclass(frozen=True, slots=True)
class ConnectionCounts:
    """The numbers of a connection's requests in each state, and of those that wait for approval."""

    by_state: Mapping[State, int]
    awaiting_approval: int


def counts_of(store: OverviewStore, connection_ids: Sequence[str]) -> Mapping[str, ConnectionCounts]:
    """Return the numbers of requests by connection. A connection that was deleted meanwhile is left out.

    The numbers are those that a list of the connection's requests has.
    """
    if not connection_ids:
        return {}

    def read(connection_id: str) -> tuple[Sequence[DayCounts], Sequence[str]] | None:
        try:
            return store.day_counts(connection_id, sort=INSERTED), store.in_flight_ids(connection_id)
        except NotFound:
            return None

    with ThreadPoolExecutor(MAX_PARALLEL_CONNECTIONS) as readers:
        parts = {
            connection_id: part
            for connection_id, part in zip(connection_ids, readers.map(read, connection_ids), strict=True)
            if part
        }
    ids = [record_id for _, in_flight in parts.values() for record_id in in_flight]
    # The index of records in flight can be late.
    records: dict[str, list[QueuedRequest]] = defaultdict(list)
    for record in store.records_by_id(ids) if ids else ():
        if record.state in IN_FLIGHT:
            records[record.connection_id].append(record)
    return {
        connection_id: ConnectionCounts(records_by_state(days, records[connection_id]), awaiting_approval(days))
        for connection_id, (days, _) in parts.items()
    }
