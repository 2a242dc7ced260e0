"""Recount: compares the counts of a connection with its records and corrects them.

Counts are exact by construction (`domain.storage.counts`). The operator recounts after an event outside the service,
for example after one table was restored to a different point in time than the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.errors import InvalidState
from domain.records.ownership import not_found
from domain.storage.counts import INSERTED, UPDATED, CountKey
from domain.storage.ports import Lease

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.ports import Clock, IdSource
    from domain.storage.ports import RecountStore

LEASE_SECONDS = 360
"""The operator's function has ended by then: it runs for at most 300 seconds."""


def count_differences(store: RecountStore, connection_id: str) -> Mapping[CountKey, int]:
    """Return the number to add to each wrong count. Raises NotFound for an unknown connection.

    Records change during a recount, and its index may be out of date. Therefore a difference counts only if two
    recounts in a row find it.
    """
    if store.connection(connection_id) is None:
        raise not_found("connection")
    first, second = _compare(store, connection_id), _compare(store, connection_id)
    return {key: number for key, number in second.items() if first.get(key) == number}


def mend_counts(store: RecountStore, clock: Clock, new_id: IdSource, connection_id: str) -> Mapping[CountKey, int]:
    """Add the differences to the counts and return them. Run it while no request is in flight.

    Two at once would find the same differences, and add them twice. Raises InvalidState while another one of this
    connection runs, and NotFound.
    """
    now = int(clock().timestamp())
    lease = Lease(f"recount {connection_id}", new_id(), now + LEASE_SECONDS)
    if not store.take_lease(lease, now):
        raise InvalidState("This connection is being recounted. Wait for at most six minutes, and compare again.")
    try:
        differences = count_differences(store, connection_id)
        store.add_to_counts(differences)
    finally:
        store.release_lease(lease)
    return differences


def _compare(store: RecountStore, connection_id: str) -> Mapping[CountKey, int]:
    stored = {
        CountKey(connection_id, day.day, sort, *pair): number
        for day in store.day_counts(connection_id)
        for sort in (INSERTED, UPDATED)
        for pair, number in day.of(sort).items()
    }
    recounted = store.recount(connection_id)
    missing = {key: recounted.get(key, 0) - stored.get(key, 0) for key in recounted.keys() | stored.keys()}
    return {key: number for key, number in missing.items() if number}
