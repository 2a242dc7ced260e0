"""Random histories on DynamoDB, and restores of each table to another moment of its own."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from domain.errors import Gone, HasDependants, InvalidState, MayBeExecuted, NotFound
from local.restore import TABLES, prepare
from tests.support.builders import AN_ACTOR
from tests.support.web_connector.system import System

if TYPE_CHECKING:
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
        if name in {"put_item", "delete_item", "update_item", "transact_write_items"}:
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
        for name in TABLES:
            self._replace(self.tables.name_of(name), self._chance.choice(self._moments)[name])
        client = self.client
        if self.interrupt_after is not None:
            client = _Interruptible(client, self.interrupt_after)
        with suppress(Interrupted):
            prepare(client, self.tables, self.system.clock())

    def _replace(self, table: str, items: list[Item]) -> None:
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
