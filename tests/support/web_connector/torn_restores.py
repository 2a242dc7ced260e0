"""Random histories on DynamoDB, and restores of each table to another moment of its own."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from adapters.dynamodb import keys
from domain.errors import Gone, HasDependants, InvalidState, MayBeExecuted, NotFound
from local.rebuild import prepare
from local.restore import EMPTIED, RESTORED, TABLES, copy_table
from local.tables import make_tables
from tests.support.builders import AN_ACTOR
from tests.support.restoring import database_of, rebuilt, small_parts
from tests.support.web_connector.system import System

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from adapters.dynamodb import DynamoDBStore, TableNames
    from adapters.dynamodb.keys import Item

KINDS = ("write", "write", "read", "iterate")


def tables_of(store: DynamoDBStore) -> tuple[Any, TableNames]:
    """Return the client of a store and the names of its tables."""
    return store.client, store.tables


class Interrupted(Exception):
    """The rebuild was stopped."""


class _Interruptible:
    """A client that stops before a write."""

    def __init__(self, client: Any, writes: int) -> None:
        self._client = client
        self._writes = writes

    def __getattr__(self, name: str) -> Any:
        if name in {"batch_write_item", "update_item", "put_item", "transact_write_items", "batch_execute_statement"}:
            self._writes -= 1
            if self._writes < 0:
                raise Interrupted
        return getattr(self._client, name)


class History:
    """A system that takes random steps. Each table is copied after each step."""

    def __init__(self, store: DynamoDBStore, seed: int) -> None:
        self._chance = random.Random(seed)
        self.system = System(store, batch_size=self._chance.choice([1, 5]))
        self.client, self.tables = tables_of(store)
        self.interrupt_after: int | None = None
        self._moments: list[dict[str, list[Item]]] = []
        self._copy()

    def _copy(self) -> None:
        self._moments.append({name: self.client.scan(TableName=self.tables.name_of(name))["Items"] for name in TABLES})

    def take_steps(self, number: int) -> None:
        """Take steps of consumers and Web Connectors."""
        for _ in range(number):
            self._chance.choice([self._queue, self._queue, self._work, self._work, self._remove, self._pass_time])()
            self._copy()

    def _queue(self) -> None:
        if self._chance.random() < 0.3:
            self.system.queue_batch(self._chance.randrange(3), self._chance.choice(["chain", "fan", "wrong value"]))
        for _ in range(self._chance.randint(1, 4)):
            self.system.queue(self._chance.randrange(3), self._chance.choice(KINDS), self._chance.choice(["", "same"]))

    def _work(self) -> None:
        """Run a session. It may end anywhere, and the last response may not arrive."""
        number = self._chance.randrange(3)
        ticket, status = self.system.log_in(number) or ("", "")
        if status != "":
            return
        books = self.system.books[self.system.connections[number].id]
        for _ in range(self._chance.randint(0, 5)):
            request = self.system.send(ticket, number)
            if "<QBXML" not in request:
                break
            self._copy()
            response = books.response_to(request, objects=4)
            if self._chance.random() < 0.1:
                return
            self.system.receive(ticket, response)
            self._copy()
        if self._chance.random() < 0.7:
            self.system.soap("closeConnection", ticket)

    def _remove(self) -> None:
        records = self.system.records()
        if not records:
            return
        record = self._chance.choice(records)
        with suppress(HasDependants, MayBeExecuted, InvalidState, NotFound, Gone):
            if self._chance.random() < 0.5:
                self.system.requests.discard(record.app_id, record.id, actor=AN_ACTOR)
            else:
                self.system.requests.delete(record.app_id, record.id, actor=AN_ACTOR)

    def _pass_time(self) -> None:
        self.system.clock.advance(hours=self._chance.choice([1, 30]))
        self.system.sweep(60)

    def restore_each_table_to_another_moment(self) -> None:
        """Replace each table with its copy of a random moment, and rebuild."""
        for name, items in self.a_moment_of_each_table().items():
            self.replace(self.tables.name_of(name), items)
        client = self.client
        if self.interrupt_after is not None:
            client = _Interruptible(client, self.interrupt_after)
        with suppress(Interrupted):
            rebuilt(client, self.tables, self.system.clock())

    def a_moment_of_each_table(self) -> Mapping[str, list[Item]]:
        """Return each table at a random moment of its own."""
        return {name: self._chance.choice(self._moments)[name] for name in TABLES}

    def replace(self, table: str, items: list[Item]) -> None:
        """Make a table contain these items only."""
        schema = self.client.describe_table(TableName=table)["Table"]["KeySchema"]
        names = [key["AttributeName"] for key in schema]
        for item in self.client.scan(TableName=table)["Items"]:
            self.client.delete_item(TableName=table, Key={name: item[name] for name in names})
        for item in items:
            self.client.put_item(TableName=table, Item=item)

    def check_the_rest(self) -> None:
        """Run all sessions. All requests end, no write is executed twice, and all counts are exact."""
        self.system.tickets.clear()
        self.system.restored = True
        self.system.sent.clear()
        self.system.check()
        self.system.to_quiet()
        self.system.check_end()
        client, tables = self.client, self.tables
        assert client.scan(TableName=tables.queue)["Items"] == []
        ids = {item["id"]["S"] for item in client.scan(TableName=tables.queued_requests)["Items"]}
        for item in client.scan(TableName=tables.payloads)["Items"]:
            assert item["request_id"]["S"] in ids or "removed" in item, item


class Killed:
    """A client whose program is killed before a call."""

    def __init__(self, client: Any, calls: int) -> None:
        self._client, self._calls = client, calls
        self.exceptions = client.exceptions

    def __getattr__(self, name: str) -> Any:
        self._calls -= 1
        if self._calls < 0:
            raise Interrupted
        return getattr(self._client, name)


class RestoredTables:
    """The tables of a history, of which each was restored to a moment of its own."""

    def __init__(self, store: DynamoDBStore, seed: int, steps: int) -> None:
        self.chance = random.Random(seed)
        history = History(store, seed)
        history.take_steps(steps)
        self.history, self.client, self.names = history, store.client, store.tables
        make_tables(self.client, RESTORED)
        for name, items in history.a_moment_of_each_table().items():
            history.replace(RESTORED + self.names.name_of(name), items)
        self._before = self.contents()
        self._step = ""

    def contents(self) -> dict[str, list[Item]]:
        """Return the items of all tables, without the random ids of commits."""
        found = {}
        for name in (*TABLES, *EMPTIED):
            items = self.client.scan(TableName=self.names.name_of(name))["Items"]
            found[name] = sorted(({k: v for k, v in item.items() if k != keys.COMMIT_ID} for item in items), key=str)
        return found

    def restore_in_one_go(self, folder: Path) -> dict[str, list[Item]]:
        """Return the tables after a restore without an interruption, and make them again as they were before."""
        assert self.restore(folder, segments=1, rows_at_once=1_000)
        expected = self.contents()
        self.reset()
        return expected

    def restore_with_kills(self, folder: Path) -> int:
        """Restore in small parts, and start again after each kill. Return the number of kills.

        Each kill may come later than the ones before, so that a part with many calls ends as well.
        """
        sizes = {"segments": self.chance.randint(1, 3), "rows_at_once": self.chance.randint(1, 20)}
        kills = 0
        while not self.restore(folder, calls=self.chance.randint(1, 30 + kills), **sizes):
            self._lose_a_result(folder)
            kills += 1
        return kills

    def reset(self) -> None:
        """Make the tables as they were before the restore."""
        for name, items in self._before.items():
            self.history.replace(self.names.name_of(name), items)

    def restore(self, folder: Path, calls: int | None = None, **sizes: Any) -> bool:
        """Restore; the program is killed after this number of calls. Return whether it came to its end."""
        client = self.client if calls is None else Killed(self.client, calls)
        database = database_of(client, self.names)
        try:
            with small_parts(folder, **sizes) as work:
                for table in map(self.names.name_of, TABLES):
                    copy_table(work, database, RESTORED + table, table)
                prepare(work, database, self.history.system.clock())
        except Interrupted:
            self._step = work.steps[-1] if work.steps else ""
            return False
        return True

    def _lose_a_result(self, folder: Path) -> None:
        """Leave the folder as a program does that is killed before it writes a result, and while it writes a file.

        Only the step that was running can miss a result, because the next one begins after all results are written.
        """
        results = sorted((folder / self._step).glob("*.json"), key=lambda file: file.stat().st_mtime_ns)
        if results and not _is_of_ended_join(results[-1]) and self.chance.random() < 0.5:
            results[-1].unlink()
            results[-1].with_suffix(".unfinished").write_text("half a fi")


def _is_of_ended_join(result: Path) -> bool:
    """Return whether a join has all its results. It deletes the files that it has read after the last one."""
    parts = result.parent / "parts.number"
    return parts.exists() and len([*result.parent.glob("*.json")]) == int(parts.read_text(encoding="utf-8"))
