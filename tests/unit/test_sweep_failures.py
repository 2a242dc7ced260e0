"""A session, connection or webhook that cannot be handled never keeps the sweep from the others."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from domain.records.app import App
from domain.records.request import QueuedRequest, State
from domain.records.session import Session
from domain.records.webhook import Webhook
from domain.storage.changes import AddRequest, Put
from domain.storage.commit_size import CommitTooLarge
from domain.storage.ports import RequestDetail
from domain.timestamps import timestamp
from handlers import sweep
from handlers.common.bootstrap import Services
from tests.support.builders import APP_ID, NOON, REQUEST_XML, FixedClock, a_connection, a_record, a_session
from tests.support.fake_store import FakeStore
from tests.support.services import using
from tests.support.unknown_writes import add_unknown_write
from tests.support.webhooks import PlannedAttempts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    import pytest

    from domain.records.connection import Connection
    from domain.records.session import RequestInFlight
    from domain.storage.changes import Change

TASKS = ("release", "end_late", "purge", "count", "observe", "find", "plan", "settle", "none")
"""What cannot be done for a connection."""

STEPS = {
    "silent_sessions": "release",
    "late_requests": "end_late",
    "deleted_connections": "purge",
    "remove_late_responses": "remove_chunks",
    "unsettled_ids": "settle",
}
"""Reads that are about many connections, and the tasks that they belong to."""


def id_of(number: int) -> str:
    """Return the id of a connection."""
    return f"c0000000-0000-4000-8000-{number:012}"


class BrokenStore(FakeStore):
    """A store that fails for some connections, by their tasks, and in some steps."""

    def __init__(self, tasks: Mapping[str, str], steps: Collection[str] = ()) -> None:
        super().__init__()
        self.tasks, self.steps = tasks, steps
        self.is_broken = False

    def fail(self, connection_id: str, task: str) -> None:
        """Fail if the connection cannot do this."""
        if self.is_broken and self.tasks.get(connection_id) == task:
            raise CommitTooLarge(f"{task} of {connection_id}")

    def fail_in(self, step: str) -> None:
        """Fail in a step."""
        if self.is_broken and step in self.steps:
            raise ValueError(step)

    def commit(self, *changes: Change) -> None:
        """Commit."""
        for change in changes:
            match change:
                case Put(after=Session(connection_id=connection_id)):
                    self.fail(connection_id, "release")
                case _:
                    pass
        super().commit(*changes)

    def silent_sessions(self, before: str, limit: int) -> Sequence[Session]:
        """Return silent sessions."""
        self.fail_in("silent_sessions")
        return super().silent_sessions(before, limit)

    def late_requests(self, now: datetime) -> Iterator[QueuedRequest]:
        """Return requests that were not sent in time."""
        self.fail_in("late_requests")
        return super().late_requests(now)

    def with_request_xml(self, records: Sequence[QueuedRequest]) -> Sequence[RequestInFlight]:
        """Return records with their requests."""
        for record in records:
            self.fail(record.connection_id, "end_late")
        return super().with_request_xml(records)

    def unsettled_ids(self) -> Sequence[str]:
        """Return the ids of unsettled writes."""
        self.fail_in("unsettled_ids")
        return super().unsettled_ids()

    def request_detail(self, request_id: str, connection_id: str | None = None, max_ahead: int = 0) -> Any:
        """Return a record with its bodies."""
        detail = super().request_detail(request_id, connection_id, max_ahead)
        if isinstance(detail, RequestDetail):
            self.fail(detail.connection.id, "settle")
        return detail

    def deleted_connections(self, limit: int) -> Sequence[Connection]:
        """Return deleted connections."""
        self.fail_in("deleted_connections")
        return super().deleted_connections(limit)

    def remove_late_responses(self, before: str) -> int:
        """Remove chunks."""
        self.fail_in("remove_late_responses")
        return super().remove_late_responses(before)

    def remove_records(self, connection: Connection) -> Iterator[int]:
        """Remove records."""
        self.fail(connection.id, "purge")
        yield from super().remove_records(connection)

    def day_counts(self, connection_id: str, first_day: str = "", sort: str | None = None) -> Any:
        """Return counts."""
        self.fail(connection_id, "count")
        return super().day_counts(connection_id, first_day, sort)

    def move_statistics(self, connection_id: str, day: str) -> None:
        """Move statistics."""
        self.fail(connection_id, "observe")
        super().move_statistics(connection_id, day)

    def request(self, request_id: str) -> Any:
        """Return a record."""
        record = super().request(request_id)
        if isinstance(record, QueuedRequest):
            self.fail(record.connection_id, "find")
        return record


class BrokenQueue(PlannedAttempts):
    """A retry queue that fails for some connections."""

    def __init__(self, store: BrokenStore) -> None:
        super().__init__([])
        self.store = store

    def plan(self, attempt: Any) -> None:
        """Keep the attempt."""
        record = self.store.records[attempt.request_id]
        self.store.fail(record.connection_id, "plan")
        super().plan(attempt)


class Context:
    """Lambda's, with ten minutes left."""

    def get_remaining_time_in_millis(self) -> int:
        """Return the time left."""
        return 600_000


def a_store(tasks: Sequence[str], steps: Collection[str]) -> BrokenStore:
    """Return a store in which connection `number` cannot do `tasks[number]`.

    Each has a silent session, a late request, an old day with statistics, an overdue webhook and an unsettled write. A
    deleted one has the same number.
    """
    numbers = range(len(tasks))
    store = BrokenStore({id_of(number): tasks[number % DELETED] for number in [*numbers, *deleted(numbers)]}, steps)
    store.commit(Put(None, App(APP_ID, "Shop", timestamp(NOON))))
    webhook = Webhook.to("https://shop.example/hook")
    times = {"inserted_at": timestamp(NOON - timedelta(days=20)), "updated_at": timestamp(NOON - timedelta(hours=2))}
    for number in numbers:
        connection_id, session_id = id_of(number), f"{number:064}"
        silent = timestamp(NOON - timedelta(hours=1))
        store.commit(Put(None, a_connection(id=connection_id, session_id=session_id)))
        store.commit(Put(None, a_session(id=session_id, connection_id=connection_id, last_call_at=silent)))
        ended = a_record(connection_id=connection_id, state=State.ERROR, webhook=webhook, **times)
        late = a_record(connection_id=connection_id, send_by=int(NOON.timestamp()))
        store.commit(AddRequest(ended, "", ""), AddRequest(late, REQUEST_XML, "ann"))
        add_unknown_write(store, connection_id=connection_id)
    for number in deleted(numbers):
        store.commit(Put(None, a_connection(id=id_of(number), deleted_at=timestamp(NOON))))
        store.commit(AddRequest(a_record(connection_id=id_of(number)), "", ""))
    store.is_broken = True
    return store


DELETED = 1_000


def deleted(numbers: Iterable[int]) -> list[int]:
    """Return the numbers of the deleted connections."""
    return [DELETED + number for number in numbers]


def run(store: BrokenStore) -> tuple[list[logging.LogRecord], Exception | None]:
    """Run the function. Return its log lines and how it failed."""
    lines: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = lines.append  # type: ignore[method-assign, assignment]
    log = logging.getLogger(sweep.logger.service)
    log.addHandler(handler)
    try:
        with using(Services(clock=FixedClock(NOON))) as services:
            services.store, services.retry_queue = store, BrokenQueue(store)
            sweep.handler({}, Context())
    except (CommitTooLarge, ValueError) as error:
        return lines, error
    finally:
        log.removeHandler(handler)
    return lines, None


@given(tasks=st.lists(st.sampled_from(TASKS), max_size=8), steps=st.sets(st.sampled_from(sorted(STEPS))))
def test_what_fails_is_named_and_counted_and_everything_else_is_done(tasks: list[str], steps: set[str]) -> None:
    store = a_store(tasks, steps)

    lines, error = run(store)

    done = vars(lines[-1])
    failures: list[tuple[str, str | None]] = [
        (vars(line)["task"], getattr(line, "connection_id", None)) for line in lines[:-1]
    ]
    expected: list[tuple[str, str | None]] = [(STEPS[step], None) for step in steps]
    for number, task in enumerate(tasks):
        if task == "purge":
            expected += [] if "deleted_connections" in steps else [("purge", id_of(DELETED + number))]
        elif task == "release":
            expected += [] if "silent_sessions" in steps else [("release", id_of(number))]
        elif task == "end_late":
            expected += [] if "late_requests" in steps else [("end_late", id_of(number))]
        elif task == "settle":
            expected += [] if "unsettled_ids" in steps else [("settle", None)]
        elif task != "none":
            expected.append((task, id_of(number)))
    assert sorted(failures, key=str) == sorted(expected, key=str)
    assert (done["message"], done["failed"]) == ("sweep.done", len(expected))
    assert (error is not None) == bool(expected)
    for number, task in enumerate(tasks):
        is_released = task != "release" and "silent_sessions" not in steps
        assert store.sessions[f"{number:064}"].ended == is_released
        is_removed = task != "purge" and "deleted_connections" not in steps
        assert not is_removed or not any(r.connection_id == id_of(DELETED + number) for r in store.records.values())
    late = 0 if "late_requests" in steps else sum(task != "end_late" for task in tasks)
    assert done["requests_not_sent"] == late
    planned = sum(task not in {"count", "find", "plan"} for task in tasks)
    assert done["webhooks_planned"] == planned
    assert done["settling_steps"] == (0 if "unsettled_ids" in steps else sum(task != "settle" for task in tasks))
    assert done["sessions_released"] == sum(session.ended for session in store.sessions.values())


def test_the_log_lines_of_a_sweep_are_bounded_and_their_number_is_exact() -> None:
    lines, error = run(a_store(["release"] * 30, ()))

    assert len(lines) == sweep.MAX_LOGGED_FAILURES + 1
    assert vars(lines[-1])["failed"] == 30
    assert "release" in str(error)


def test_unknown_writes_are_settled_in_the_time_that_everything_else_has_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """There may be so many that they would use all of the time, in each run."""
    store = a_store(["none"], ())
    released = []

    def settle(*_: object) -> tuple[int, bool]:
        released.append(store.sessions[f"{0:064}"].ended)
        return 0, False

    monkeypatch.setattr(sweep, "settle_writes", settle)
    lines, _ = run(store)

    assert released == [True]
    assert (vars(lines[-1])["webhooks_planned"], vars(lines[-1])["finished"]) == (1, False)
