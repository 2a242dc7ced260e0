"""The sweep: releases silent sessions and removes the records of deleted connections."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from domain.batches.dependants import with_dependants
from domain.connections.simulators import no_simulator
from domain.errors import Conflict, TooManyRequests, Unavailable
from domain.maintenance.failures import attempted, raising
from domain.records.session import SILENCE_SECONDS
from domain.timestamps import timestamp
from domain.web_connector.session.end import end_of_session

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from domain.maintenance.failures import OnFailure
    from domain.ports import Clock
    from domain.records.session import Session
    from domain.storage.ports import SweepStore

SESSIONS_A_READ = 25
CONNECTIONS_A_SWEEP = 100

SETTLED_AFTER = timedelta(minutes=15)
"""A deleted connection, and the note about a removed request with chunks, is kept at least this long, which is the
longest run of a Lambda function. By then, every function that was running at the time of the deletion has ended, no
call of it can arrive, and the indexes include everything that it stored."""

SILENT = "The Web Connector was silent for too long. The next update begins a new session."


@dataclass(frozen=True, slots=True)
class Swept:
    """The result of a sweep. `finished` is False if the time ran out before the work was done."""

    sessions_released: int
    records_removed: int
    connections_purged: int
    finished: bool
    chunks_removed: int = 0


def sweep(
    store: SweepStore,
    clock: Clock,
    until: datetime,
    on_failure: OnFailure = raising,
    forget_simulator: Callable[[str], object] = no_simulator,
) -> Swept:
    """Release silent sessions and remove deleted connections. Starts no step after `until`.

    `forget_simulator` deletes the simulator of a test connection, before the connection itself.

    May stop anywhere and run again at any time. A session or connection that cannot be handled is left to the next
    sweep, and the others are handled.
    """
    work = store, clock, until, on_failure
    released, all_released = attempted(partial(_release_sessions, *work), (0, False), on_failure, task="release")
    purge = partial(_purge_connections, *work, forget_simulator)
    removed, purged, all_purged = attempted(purge, (0, 0, False), on_failure, task="purge")
    remove_chunks = partial(store.remove_late_responses, timestamp(clock() - SETTLED_AFTER))
    chunks = attempted(remove_chunks, 0, on_failure, task="remove_chunks") if clock() < until else 0
    return Swept(released, removed, purged, all_released and all_purged, chunks)


def _release_sessions(store: SweepStore, clock: Clock, until: datetime, on_failure: OnFailure) -> tuple[int, bool]:
    """Return the number of released sessions, and whether all silent ones were tried."""
    before = timestamp(clock() - timedelta(seconds=SILENCE_SECONDS))
    released = 0
    tried: set[str] = set()
    while clock() < until:
        # A session that cannot be released stays in front.
        silent = store.silent_sessions(before, SESSIONS_A_READ + len(tried) - released)
        sessions = [session for session in silent if session.id not in tried]
        if not sessions:
            return released, True
        for session in sessions:
            if clock() >= until:
                return released, False
            tried.add(session.id)
            release = partial(_release, store, session, clock())
            released += attempted(release, False, on_failure, task="release", connection_id=session.connection_id)
    return released, False


def _release(store: SweepStore, session: Session, now: datetime) -> bool:
    connection = store.connection(session.connection_id)
    try:
        changes = end_of_session(session, store.requests_in_flight(session)[0], connection, now, SILENT)
        store.commit(*with_dependants(store, changes, now))
    except (Conflict, TooManyRequests, Unavailable):
        # The session has just received a call, or its connection is being changed. The next sweep tries again.
        return False
    return True


def _purge_connections(
    store: SweepStore,
    clock: Clock,
    until: datetime,
    on_failure: OnFailure,
    forget_simulator: Callable[[str], object],
) -> tuple[int, int, bool]:
    """Return the numbers of removed records and connections, and whether all the work is done for now.

    The connections take turns of one step each, so a small one does not wait for a large one.
    """
    removed = purged = 0
    deleted = store.deleted_connections(CONNECTIONS_A_SWEEP)
    complete = len(deleted) < CONNECTIONS_A_SWEEP
    turns = deque((connection, store.remove_records(connection)) for connection in deleted)
    while turns:
        if clock() >= until:
            return removed, purged, False
        connection, steps = turns.popleft()
        try:
            step = next(steps, None)
            if step is not None:
                removed += step
                turns.append((connection, steps))
            elif (connection.deleted_at or "") <= timestamp(clock() - SETTLED_AFTER):
                if connection.simulated:
                    forget_simulator(connection.id)
                store.remove_connection(connection)
                purged += 1
        except TooManyRequests:
            complete = False
        except Exception as error:  # noqa: BLE001 - as in `attempted`
            on_failure(error, {"task": "purge", "connection_id": connection.id})
            complete = False
    return removed, purged, complete
