"""What runs of subscriptions cost in the database, over SOAP and emulated DynamoDB."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from moto import mock_aws

from adapters.dynamodb import DynamoDBStore
from domain.records.subscription import Subscription
from domain.storage.changes import Put
from domain.timestamps import timestamp
from domain.web_connector.endpoint import WebConnector
from local.emulated_dynamodb import emulated_dynamodb
from local.tables import make_tables
from local.template import Template
from tests.contract.conftest import dynamodb_client
from tests.support.books import Books
from tests.support.builders import APP_ID, CONNECTION_ID, FixedClock, SequentialIds, a_connection
from tests.support.counted_units import CountedUnits
from tests.support.web_connector.connector import (
    PASSWORD,
    PASSWORD_HASH,
    CountingSecrets,
    result_of,
    soap_call,
)
from tests.support.web_connector.quickbooks import hcp

if TYPE_CHECKING:
    from collections.abc import Iterator

FIVE = ("Account", "Bill", "Customer", "Invoice", "Vendor")


class Costs:
    """A Web Connector whose calls are counted."""

    def __init__(self, objects: tuple[str, ...]) -> None:
        client = dynamodb_client()
        self.store = DynamoDBStore(client, make_tables(client, ""))
        self.clock = FixedClock()
        self.endpoint = WebConnector(self.store, self.clock, SequentialIds(), CountingSecrets())
        now = timestamp(self.clock.now)
        self.store.commit(Put(None, a_connection(password_hash=PASSWORD_HASH, run_due_at=now)))
        self.store.commit(Put(None, Subscription("s", CONNECTION_ID, APP_ID, now, now, objects, 15, "all", now)))
        self.books = Books(clock=self.clock.now)
        self.counted = CountedUnits(
            client, {table["TableName"]: table for table in Template.load().table_definitions()}
        )

    def call(self, method: str, *texts: str) -> Any:
        """Make a call a second after the one before."""
        self.clock.advance(seconds=1)
        return result_of(method, self.endpoint.reply(soap_call(method, *texts)).body)

    def update(self) -> tuple[int, float, float]:
        """Make an update. Return the number of messages, the write units and the read units."""
        before = self.counted.writes, self.counted.reads
        ticket, *_ = self.call("authenticate", CONNECTION_ID, PASSWORD)
        number, first = 0, hcp()
        while message := self.call("sendRequestXML", ticket, first, "", "US", "16", "0"):
            first, number = "", number + 1
            self.books.clock = self.clock.now
            if self.call("receiveResponseXML", ticket, self.books.answer(message), "", "") == 100:
                break
        self.call("closeConnection", ticket)
        self.books.end_session()
        return number, self.counted.writes - before[0], self.counted.reads - before[1]

    def later(self, seconds: int = 3_600) -> None:
        """Let time pass."""
        self.clock.advance(seconds=seconds)
        self.books.clock = self.clock.now


@pytest.fixture
def costs() -> Iterator[Costs]:
    """Yield a Web Connector with five objects whose snapshot was read."""
    with emulated_dynamodb(), mock_aws():
        found = Costs(FIVE)
        for kind in FIVE:
            for number in range(3):
                found.books.add(kind, f"N{number}")
        found.later(86_400)
        found.update()
        found.later()
        found.update()
        found.later()
        yield found


def test_a_run_without_changes_is_one_message_and_few_write_units(costs: Costs) -> None:
    messages, writes, _ = costs.update()

    assert messages == 1
    assert writes <= 18, "of the session and the run together"


def test_a_thousand_changes_cost_less_than_a_write_unit_each(costs: Costs) -> None:
    for number in range(1_000):
        costs.books.add("Customer", f"X{number}")
    costs.later()

    messages, writes, _ = costs.update()

    assert messages <= 8
    assert writes <= 500
