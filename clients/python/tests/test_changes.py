"""`changes` leads to the right copy, in whatever order the feed lists events and wherever the program ends."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from qbxml_queue import (
    Changed,
    Client,
    Deleted,
    Derived,
    FileCursor,
    ReadingFailed,
    ReadingRecovered,
    RecordOmitted,
    ResyncRequired,
    SnapshotCompleted,
    SnapshotStarted,
    change_of,
)
from qbxml_queue.changes import Place
from service import API_KEY, BASE_URL, CONNECTION, Service, transport_of

from domain.subscriptions.objects import books_objects

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

UPSERT = """
    INSERT INTO books VALUES (?, ?, ?, ?, ?) ON CONFLICT (object, id) DO UPDATE SET
    sequence = excluded.sequence, generation = excluded.generation, memo = excluded.memo
    WHERE excluded.sequence > books.sequence
"""


class Copy:
    """A copy in a database, with the cursor in the transaction of its rows. It is what the README shows."""

    def __init__(self) -> None:
        self._database = sqlite3.connect(":memory:", isolation_level="DEFERRED")
        run = self._database.execute
        run("CREATE TABLE cursor (one INTEGER PRIMARY KEY, place TEXT)")
        run("CREATE TABLE books (object, id, sequence, generation, memo, PRIMARY KEY (object, id))")
        self._database.commit()

    def load(self) -> str | None:
        row = self._database.execute("SELECT place FROM cursor").fetchone()
        return row[0] if row else None

    def store(self, cursor: str) -> None:
        self._database.execute("INSERT OR REPLACE INTO cursor VALUES (1, ?)", (cursor,))
        self._database.commit()

    def die(self) -> None:
        """Lose what is not committed."""
        self._database.rollback()

    def close(self) -> None:
        self._database.close()

    def apply(self, change: Any) -> None:
        match change:
            case Changed():
                row = (change.object, change.id, change.sequence, change.generation, change.record["Memo"])
                self._database.execute(UPSERT, row)
            case Deleted():
                self._database.execute(UPSERT, (change.object, change.id, change.sequence, change.generation, None))
            case SnapshotCompleted():
                older = (change.object, change.generation, change.sequence)
                self._database.execute("DELETE FROM books WHERE object = ? AND generation < ? AND sequence < ?", older)

    @property
    def rows(self) -> dict[tuple[str, str], str]:
        found = self._database.execute("SELECT object, id, memo FROM books WHERE memo IS NOT NULL")
        return {(name, record_id): memo for name, record_id, memo in found}


class History:
    """The events of books that change, are read as snapshots, and whose service is restored."""

    def __init__(self, chance: random.Random) -> None:
        self.events: list[dict[str, Any]] = []
        self.rows: dict[tuple[str, str], str] = {}
        self._generations = {"Customer": 0, "Invoice": 0}
        self._chance = chance
        for _ in range(chance.randint(1, 25)):
            self._step(chance.choice(["Customer", "Invoice"]))

    def reordered(self) -> list[dict[str, Any]]:
        """Return the events in any order, some of them more than once, as the feed lists them."""
        chance = self._chance
        order = self.events + chance.choices(self.events, k=chance.randint(0, 10) if self.events else 0)
        chance.shuffle(order)
        return listed(order)

    def _add(self, kind: str, name: str, **members: Any) -> None:
        common = {"object": name, "sequence": len(self.events) + 1, "generation": self._generations[name]}
        self.events.append({"type": kind, "connection_id": CONNECTION, **common, **members})

    def _step(self, name: str) -> None:
        record_id = self._chance.choice(["1", "2", "3"])
        match self._chance.choice(["change", "delete", "snapshot", "restore", "other"]):
            case "change":
                self._change(name, record_id)
            case "delete":
                self.rows.pop((name, record_id), None)
                self._add("record.deleted", name, id=record_id)
            case "snapshot":
                self._snapshot(name)
            case "restore":
                # What a restored service knows may be an earlier generation. Its sequence is higher.
                self._generations[name] = self._chance.randint(0, self._generations[name])
            case "other":
                self._add("record.archived", name, id=record_id)

    def _change(self, name: str, record_id: str) -> None:
        memo = str(len(self.events))
        self.rows[name, record_id] = memo
        own = {"FullName": memo} if name == "Customer" else {"RefNumber": memo, "InvoiceLineRet": [{"Desc": memo}]}
        self._add("record.changed", name, id=record_id, record={"Memo": memo, **own})

    def _snapshot(self, name: str) -> None:
        """Read what is left of an object: some records were removed and no query had shown it."""
        self._generations[name] = len(self.events) + 1
        self._add("subscription.snapshot_started", name)
        for known, record_id in list(self.rows):
            if known == name and self._chance.random() < 0.5:
                del self.rows[known, record_id]
            elif known == name:
                self._change(name, record_id)
        self._add("subscription.snapshot_completed", name, records=0)


def listed(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return events as the feed lists them, each with the cursor behind it."""
    return [{**event, "cursor": str(number)} for number, event in enumerate(events, 1)]


@pytest.fixture(scope="module")
def feed() -> Iterator[tuple[Client, Service]]:
    """Yield a client and its service. It takes longer to make than a test."""
    service = Service()
    with Client(BASE_URL, API_KEY, CONNECTION, transport=transport_of(service)) as books:
        yield books, service


@pytest.mark.parametrize("seed", range(100))
def test_events_in_any_order_lead_to_the_same_copy_wherever_the_program_dies(
    seed: int, feed: tuple[Client, Service]
) -> None:
    chance = random.Random(seed)
    history = History(chance)
    books, service = feed
    service.events = history.reordered()
    with closing(Copy()) as copy:
        for lives in chance.choices(range(9), k=3):
            changes = books.changes(copy)
            for _, change in zip(range(lives), changes, strict=False):
                copy.apply(change)
            del changes
            copy.die()
        for change in books.changes(copy):
            copy.apply(change)

        assert copy.rows == history.rows
        assert list(books.changes(copy)) == []


@pytest.fixture
def cursor(tmp_path: Path) -> FileCursor:
    return FileCursor(tmp_path / "changes.cursor")


def event(kind: str, sequence: int = 1, generation: int = 1, **members: Any) -> dict[str, Any]:
    common = {"type": kind, "object": "Customer", "sequence": sequence, "generation": generation}
    return {**common, "connection_id": CONNECTION, **members}


def test_each_type_of_event_is_a_change(client: Any, service: Service, cursor: FileCursor) -> None:
    modified = "2026-03-14T12:00:00+00:00"
    record = {"ListID": "1-1", "CreditLimit": "97.50", "TimeModified": modified}
    service.events = listed(
        [
            event("subscription.snapshot_started"),
            event("record.changed", 2, id="1-1", record=record),
            event("record.deleted", 3, id="2-1", time_deleted=None),
            event("record.derived", 3, id="1-1", as_of=modified, derived={"Balance": "1.50"}),
            event("subscription.snapshot_completed", 4, records=1),
            event("subscription.resync_required", 5, reason="Another file is open."),
            event("subscription.failed", 6, reason="No answer.") | {"object": None},
            event("subscription.recovered", 7) | {"object": None},
        ]
    )
    typed = {"ListID": "1-1", "CreditLimit": Decimal("97.50"), "TimeModified": datetime.fromisoformat(modified)}

    assert list(client.changes(cursor)) == [
        SnapshotStarted("Customer", 1),
        Changed("Customer", "1-1", 2, 1, typed),
        Deleted("Customer", "2-1", 3, 1),
        Derived("Customer", "1-1", 3, datetime.fromisoformat(modified), {"Balance": Decimal("1.50")}),
        SnapshotCompleted("Customer", 4, 1, 1),
        ResyncRequired("Customer", "Another file is open."),
        ReadingFailed("No answer."),
        ReadingRecovered(),
    ]


def test_the_records_of_events_have_pythons_types(client: Any, service: Service, cursor: FileCursor) -> None:
    service.events = listed([event("record.changed", id="1-1", record={"CreditLimit": "97.50"})])

    [changed] = client.events(cursor)

    assert changed["record"] == {"CreditLimit": Decimal("97.50")}
    assert change_of(changed) == Changed("Customer", "1-1", 1, 1, {"CreditLimit": Decimal("97.50")})


def test_a_snapshot_does_not_replace_what_quickbooks_computes(
    client: Any, service: Service, cursor: FileCursor
) -> None:
    as_of = "2026-03-14T12:00:00Z"
    service.events = listed(
        [
            event("subscription.snapshot_completed", 9, 8, records=0),
            event("record.derived", 3, 2, id="1-1", as_of=as_of, derived={"Balance": "1.50"}),
        ]
    )

    _, derived = client.changes(cursor)

    assert derived == Derived("Customer", "1-1", 3, datetime.fromisoformat(as_of), {"Balance": Decimal("1.50")})


def test_events_of_later_versions_and_of_requests_are_no_changes() -> None:
    assert change_of({"type": "record.archived", "object": "Customer"}) is None
    assert change_of({"type": "queued_request.completed", "result": {}}) is None


def test_a_record_that_is_too_large_for_an_event_is_told_without_it() -> None:
    change = change_of(event("record.changed", id="1-1", record=None, record_omitted=True))

    assert isinstance(change, RecordOmitted)
    assert (change.object, change.id) == ("Customer", "1-1")


def test_only_the_changes_of_the_connection_or_of_the_subscription_are_asked_for(
    client: Any, service: Service, cursor: FileCursor
) -> None:
    list(client.changes(cursor))
    list(client.changes(cursor, subscription_id=CONNECTION))

    asked = {"connection_id": CONNECTION, "types": "record.*,subscription.*"}
    assert dict(service.calls[0].url.params) == asked
    assert service.calls[-1].url.params["subscription_id"] == CONNECTION


def test_the_cursor_is_stored_behind_a_group_and_only_if_it_has_moved(client: Any, service: Service) -> None:
    stored: list[str] = []

    class Cursor:
        def load(self) -> str | None:
            return stored[-1] if stored else None

        def store(self, cursor: str) -> None:
            stored.append(cursor)

    service.events = listed([event("record.deleted", number, id="1-1") for number in range(1, 4)])
    seen = [len(stored) for _ in client.changes(Cursor())]

    assert seen == [0, 0, 1], "the service lists two events a call"
    assert list(client.changes(Cursor())) == []
    assert stored == ["2", "3"]


def test_a_cursor_that_is_too_old_asks_for_a_resync_and_goes_on(
    client: Any, service: Service, cursor: FileCursor
) -> None:
    service.events = listed([event("record.deleted", number, id="1-1") for number in range(1, 6)])
    service.oldest = 3
    cursor.store("1 Customer=7/9")

    first, *rest = client.changes(cursor)

    assert first == ResyncRequired(None, first.reason)
    assert "seven days" in first.reason
    assert rest == [], "what a snapshot has replaced stays out"
    assert cursor.load() == "5 Customer=7/9"


def test_a_program_that_dies_before_it_has_resynced_is_told_again(client: Any, service: Service) -> None:
    service.oldest = 3
    service.events = listed([event("record.deleted", number, id="1-1") for number in range(1, 6)])
    copy = Copy()
    copy.store("1")
    changes = client.changes(copy)
    assert isinstance(next(changes), ResyncRequired)
    del changes

    assert isinstance(next(client.changes(copy)), ResyncRequired)


def test_a_cursor_of_events_is_a_place(client: Any, service: Service, cursor: FileCursor) -> None:
    service.events = listed([event("record.deleted", number, id="1-1") for number in range(1, 6)])
    for _, _one in zip(range(3), client.events(cursor), strict=False):
        pass

    assert [change.sequence for change in client.changes(cursor)] == [3, 4, 5]


@pytest.mark.parametrize("text", ["7", "7-1", "7 Customer=1/2", "7-99 Customer=1/2 ItemInventory=1773489500000/0"])
def test_a_place_is_written_as_it_was_read(text: str) -> None:
    assert str(Place.parsed(text)) == text


def test_there_is_a_type_for_each_object_that_a_subscription_can_name() -> None:
    from qbxml_queue.schema import changes  # noqa: PLC0415 - only type checkers import it otherwise

    typed = {one.__args__[0].__args__[0] for one in map(_evaluated, changes.RecordChanged.__args__)}
    assert typed == {one.name for one in books_objects()}


def _evaluated(reference: Any) -> Any:
    from qbxml_queue.schema import changes  # noqa: PLC0415

    return eval(reference.__forward_arg__, vars(changes))  # noqa: S307 - a text of the generator
