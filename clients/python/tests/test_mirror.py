"""The mirror keeps the right copy in both databases, in any order of events, wherever it is killed."""

from __future__ import annotations

import itertools
import random
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from qbxml_queue import Client, Deleted, SnapshotCompleted
from service import API_KEY, BASE_URL, CONNECTION, Service, transport_of
from test_changes import History, listed

from domain.records.subscription import CopyPhase
from tests.support import postgresql
from tests.support.books import Books
from tests.support.copies import Copying, events_of

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "examples" / "mirror"))
import mirror

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SEEDS = range(20)
RARELY = 0.2


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Yield the URL of a database of PostgreSQL."""
    programs = postgresql.programs()
    if programs is None:
        pytest.skip("needs PostgreSQL: apt-get install postgresql")
    with postgresql.running(programs) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], mirror.Database]]:
    """Yield a function that opens an empty database, as a program does that is started again."""
    url = request.getfixturevalue("server") if request.param == "postgresql" else f"sqlite:{tmp_path / 'books.db'}"
    yield lambda: mirror.Database(url)
    with closing(mirror.Database(url)) as database:
        for table in (*mirror.TABLES, "invoice_lines", "versions", "place"):
            database.run(f"DROP TABLE {table}")
        database.commit()


@pytest.fixture(scope="module")
def feed() -> Iterator[tuple[Client, Service]]:
    service = Service(listed=5)
    with Client(BASE_URL, API_KEY, CONNECTION, transport=transport_of(service)) as books:
        yield books, service


def rows(database: mirror.Database, columns: str, table: str) -> list[tuple[Any, ...]]:
    statement = f"SELECT {columns} FROM {table}"  # noqa: S608 - texts of this module
    return sorted(tuple(row) for row in database.run(statement).fetchall())


class Killed(Exception):
    """The program is killed."""


def killed_after(statements: int, database: mirror.Database) -> mirror.Database:
    """Return a database whose program is killed after a number of statements and transactions."""
    left = itertools.count(statements, -1)

    def limited(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*values: object) -> Any:
            if next(left) <= 0:
                raise Killed
            return method(*values)

        return call

    database.run, database.commit = limited(database.run), limited(database.commit)  # type: ignore[method-assign]
    return database


def follow(books: Client, database: mirror.Database) -> None:
    """Apply all changes."""
    for change in books.changes(database):
        mirror.apply(database, change)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_copy_is_right_in_any_order_wherever_the_program_is_killed(
    seed: int, opened: Callable[[], mirror.Database], feed: tuple[Client, Service]
) -> None:
    chance = random.Random(seed)
    history, (books, service) = History(chance), feed
    service.events = history.reordered()
    for statements in chance.choices(range(16), k=6):
        with closing(opened()) as database, suppress(Killed):
            follow(books, killed_after(statements, database))
    with closing(opened()) as database:
        follow(books, database)

        names = [(record_id, memo) for (kind, record_id), memo in history.rows.items() if kind == "Customer"]
        numbers = [(record_id, memo) for (kind, record_id), memo in history.rows.items() if kind == "Invoice"]
        assert rows(database, "id, name", "customers") == sorted(names)
        assert rows(database, "id, number", "invoices") == sorted(numbers)
        assert rows(database, "id, description", "invoice_lines") == sorted(numbers)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_copy_equals_books_that_a_person_edits_while_runs_are_interrupted(
    seed: int, opened: Callable[[], mirror.Database], feed: tuple[Client, Service]
) -> None:
    chance, (books, service) = random.Random(seed), feed
    copying, log = Copying(Books()), list[dict[str, Any]]()
    copying.subscribe("Customer")
    with closing(opened()) as database:
        for _ in range(12):
            seen = len(copying.pages)
            edit(chance, copying.books)
            copying.tick(3600)
            if chance.random() < RARELY:
                copying.subscribe("Customer")  # the same as a resync
            copying.run(dies=lambda: chance.random() < RARELY)
            if copying.state.objects[0].phase is CopyPhase.RESYNC_REQUIRED:
                copying.subscribe("Customer")
                copying.run()
            again = log[chance.randint(0, len(log)) :] if chance.random() < RARELY else []
            log += again + events_of(copying.pages[seen:])
            service.events = listed(log)
            follow(books, database)

            assert rows(database, "id, name", "customers") == sorted(
                (one.id, None) for one in copying.books.records.values()
            )


def edit(chance: random.Random, books: Books) -> None:
    """Let a person add, change or delete a customer."""
    known = list(books.records.values())
    if not known or chance.random() < 0.5:
        books.add("Customer", f"N{len(known)}")
    elif chance.random() < 0.5:
        books.change(chance.choice(known), memo="changed")
    else:
        books.delete(chance.choice(known))


def test_a_snapshot_forgets_what_was_deleted_before_it(opened: Callable[[], mirror.Database]) -> None:
    with closing(opened()) as database:
        mirror.apply(database, Deleted("Customer", "1-1", sequence=1, generation=1))
        mirror.apply(database, Deleted("Customer", "2-1", sequence=2, generation=2))
        mirror.apply(database, SnapshotCompleted("Customer", sequence=3, generation=2, records=0))

        assert rows(database, "id", "versions") == [("2-1",)]


def test_an_object_that_the_mirror_does_not_keep_is_left_out(opened: Callable[[], mirror.Database]) -> None:
    with closing(opened()) as database:
        mirror.apply(database, Deleted("Vendor", "1-1", sequence=1, generation=1))
        mirror.apply(database, SnapshotCompleted("Vendor", sequence=3, generation=2, records=0))

        assert rows(database, "id", "versions") == []
