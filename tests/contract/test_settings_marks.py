"""A create into a connection that was deleted, or whose default webhook URL was changed, is never stored."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from adapters.dynamodb import DynamoDBStore
from adapters.dynamodb.settings_marks import KnownMarks, Requirement
from domain.errors import Conflict
from domain.storage.changes import AddRequest, Put, RequireConnection
from domain.timestamps import day_of, timestamp
from local.emulated_dynamodb import emulated_dynamodb
from local.tables import make_tables
from tests.contract.conftest import dynamodb_client, sized
from tests.support.builders import APP_ID, NOON, REQUEST_XML, a_connection, a_record

if TYPE_CHECKING:
    from datetime import datetime

    import pytest

    from domain.records.connection import Connection

URLS = [None, "https://example.com/1", "https://example.com/2"]
MIDNIGHT = NOON + timedelta(hours=12)
SKEWS = [timedelta(), timedelta(seconds=40), timedelta(seconds=-40)]
"""How far the clocks of three processes are ahead. The first one also changes the connection."""

Step = tuple[str, int, Any]

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("create"), st.integers(0, len(SKEWS) - 1), st.none()),
        st.tuples(st.just("read"), st.integers(0, len(SKEWS) - 1), st.none()),
        st.tuples(st.just("change"), st.just(0), st.sampled_from([*URLS, "approval", "approval", "deleted"])),
        st.tuples(st.just("wait"), st.just(0), st.integers(1, 90)),
    ),
    max_size=30,
)


class Bench:
    """Processes that queue requests, each with the connection as it read it at some time."""

    def __init__(self, stores: list[DynamoDBStore], now: datetime) -> None:
        self.stores, self.now = stores, now
        self.stored = a_connection(updated_at=timestamp(now))
        stores[0].commit(Put(None, self.stored))
        self.read: list[Connection] = [self.stored] * len(stores)

    def change(self, value: str | None) -> None:
        """Delete the connection, change its rule of approval, or set its webhook URL."""
        moment = timestamp(self.now)
        if value == "deleted":
            after = self.stored.removed(moment)
        elif value == "approval":
            after = replace(self.stored, approval=None if self.stored.approval else "required").changed(moment)
        else:
            after = replace(self.stored, webhook_url=value).changed(moment)
        self.stores[0].commit(Put(self.stored, after))
        self.stored = after

    def create(self, process: int) -> bool:
        """Queue a request by the clock of a process. Return whether it was stored."""
        known, moment = self.read[process], timestamp(self.now + SKEWS[process])
        record = a_record(inserted_at=moment, updated_at=moment)
        required = RequireConnection.of(known)
        conflicts = []
        try:
            self.stores[process].commit(required, AddRequest(record, REQUEST_XML, ""))
        except Conflict as conflict:
            conflicts.append((conflict.change, conflict.current))
        is_stored = self.stores[0].request(record.id) is not None
        current = None if self.stored.deleted_at else self.stored
        assert conflicts == ([] if is_stored else [(required, current)])
        return is_stored

    def run(self, step: Step) -> None:
        kind, process, value = step
        match kind:
            case "change" if not self.stored.deleted_at:
                self.change(value)
            case "read":
                self.read[process] = self.stored
            case "wait":
                self.now += timedelta(seconds=value)
            case "create":
                known, stored = self.read[process], self.stored
                same = (known.webhook_url, known.approval) == (stored.webhook_url, stored.approval)
                meets = not stored.deleted_at and same
                assert self.create(process) == meets
            case _:
                pass


@given(STEPS, st.sampled_from([NOON, MIDNIGHT - timedelta(minutes=2)]))
@example(
    steps=[("wait", 0, 90), ("create", 1, None), ("change", 0, URLS[1]), ("create", 1, None)],
    begin=MIDNIGHT - timedelta(minutes=2),
)
@settings(max_examples=sized(60), deadline=None)
def test_a_create_is_stored_exactly_if_the_connection_is_still_as_its_process_knows_it(
    steps: list[Step], begin: datetime
) -> None:
    """However many processes queue requests, whatever they have read, and also around midnight."""
    with emulated_dynamodb():
        client = dynamodb_client()
        tables = make_tables(client, "", with_stream=False)
        bench = Bench([DynamoDBStore(client, tables) for _ in SKEWS], begin)
        for step in steps:
            bench.run(step)


def checks(store: DynamoDBStore, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that gets the number of checks of the connection in each further transaction."""
    numbers: list[int] = []
    write = store.client.transact_write_items

    def observed(**parameters: Any) -> Any:
        numbers.append(sum("ConditionCheck" in entry for entry in parameters["TransactItems"]))
        return write(**parameters)

    monkeypatch.setattr(store.client, "transact_write_items", observed)
    return numbers


def test_only_the_first_create_of_a_process_and_day_checks_the_connection_itself(
    emulated: DynamoDBStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench([emulated], NOON)
    numbers = checks(emulated, monkeypatch)
    for _ in range(3):
        assert bench.create(0)
    bench.now += timedelta(days=1)
    for _ in range(2):
        assert bench.create(0)

    assert numbers == [1, 0, 0, 1, 0]


def test_after_the_rows_of_a_day_were_deleted_the_connection_itself_is_checked(emulated: DynamoDBStore) -> None:
    bench = Bench([emulated], NOON)
    assert bench.create(0)
    bench.change("deleted")
    # The sweep.
    emulated.remove_records(bench.stored)
    emulated.remove_connection(bench.stored)
    bench.read[0] = a_connection()

    assert not bench.create(0)


def test_a_process_remembers_a_bounded_number_of_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.dynamodb.settings_marks.MAX_KNOWN", 2)
    marks, day = KnownMarks(), day_of(timestamp(NOON))
    requirements = [Requirement(RequireConnection(str(number), APP_ID, None), day) for number in range(5)]
    for requirement in requirements:
        marks.add(requirement)

    assert [marks.has(requirement) for requirement in requirements] == [False, False, False, False, True]
