"""The keys that all connections share, counted. A partition takes 1,000 write units and 3,000 read units a second.

Requests of one app that are alone in their sessions are queued, sent, answered and read for their webhook. Each access
is attributed to its partition: that of the item, and those of the index entries of items that are put. Partitions of
one connection, request or session are left out, because there are as many of them as there is work.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

import pytest

from adapters.dynamodb import DynamoDBStore
from domain import qbxml
from domain.apps.quotas import Quotas
from domain.queueing.new_request import Idempotency, Queueing
from domain.records.app import App, AppLimits
from domain.records.session import LIVE_SHARDS
from domain.storage.changes import Put
from domain.timestamps import timestamp
from domain.web_connector.endpoint import WebConnector
from domain.web_connector.session.admission import Budget
from domain.webhooks.addresses import UrlRules
from local.emulated_dynamodb import emulated_dynamodb
from local.emulated_dynamodb.partiql import UpdateStatement
from local.tables import make_tables
from local.template import Template
from tests.contract.conftest import dynamodb_client
from tests.support.builders import APP_ID, NOON, REQUEST_XML, RESPONSE_XML, FixedClock, SequentialIds, a_connection
from tests.support.queueing import command
from tests.support.web_connector.connector import PASSWORD, PASSWORD_HASH, CountingSecrets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

WRITE_UNITS, READ_UNITS = 1_000, 3_000
"""DynamoDB: the units of a partition in a second."""

CONNECTIONS = 4 * LIVE_SHARDS
GOAL = 5_000
"""Requests a second for the whole service."""

PREFIX = "hot-"
Partition = tuple[str, str]


class Load:
    """The share of a second of its partition that the accesses of each connection take, by partition."""

    def __init__(self, client: Any) -> None:
        definitions = Template.load().table_definitions()
        self._tables = {f"{PREFIX}{definition['TableName']}": definition for definition in definitions}
        self._entries: dict[tuple[str, str, str], Partition | None] = {}
        self.connection = ""
        self.shares: defaultdict[Partition, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
        client.meta.events.register("before-parameter-build.dynamodb", self._count)

    def shared(self) -> dict[Partition, float]:
        """Return the share for each request, of the partitions that several connections used."""
        return {
            partition: sum(shares.values()) / CONNECTIONS
            for partition, shares in self.shares.items()
            if len(shares) > 1
        }

    def _count(self, params: Mapping[str, Any], model: Any, **_: Any) -> None:
        match model.name:
            case "TransactWriteItems":
                for entry in params["TransactItems"]:
                    ((kind, action),) = entry.items()
                    self._write(kind, action, 2)
            case "PutItem" | "UpdateItem" | "DeleteItem":
                self._write(model.name.removesuffix("Item"), params, 1)
            case "BatchExecuteStatement":
                self._execute(map(UpdateStatement.of, params["Statements"]))
            case "GetItem":
                self._read(params["TableName"], params["Key"], consistent=params.get("ConsistentRead", False))
            case "BatchGetItem":
                for table, request in params["RequestItems"].items():
                    for key in request["Keys"]:
                        self._read(table, key, consistent=request.get("ConsistentRead", False))
            case "Query":
                values = params["ExpressionAttributeValues"]
                partition = next(
                    value for name, value in values.items() if f"= {name}" in params["KeyConditionExpression"]
                )
                units = 1.0 if params.get("ConsistentRead") else 0.5
                self._add((params.get("IndexName", params["TableName"]), str(partition)), units / READ_UNITS)
            case other:
                raise AssertionError(other)

    def _execute(self, statements: Iterable[UpdateStatement]) -> None:
        for statement in statements:
            self._write("Update", {"TableName": statement.table, "Key": statement.equal}, 1)

    def _read(self, table: str, key: Mapping[str, Any], *, consistent: bool) -> None:
        self._add(self._partition(table, key), (1.0 if consistent else 0.5) / READ_UNITS)

    def _write(self, kind: str, action: Mapping[str, Any], units: int) -> None:
        table = action["TableName"]
        item = action.get("Item") or action["Key"]
        self._add(self._partition(table, item), units / WRITE_UNITS)
        if kind == "Put":
            self._put_entries(table, item)

    def _put_entries(self, table: str, item: Mapping[str, Any]) -> None:
        own = str([item[part["AttributeName"]] for part in self._tables[table]["KeySchema"]])
        for index in self._tables[table].get("GlobalSecondaryIndexes", []):
            names = [part["AttributeName"] for part in index["KeySchema"]]
            is_shown = all(name in item for name in names)
            hashes = [part["AttributeName"] for part in index["KeySchema"] if part["KeyType"] == "HASH"]
            entry = (index["IndexName"], str([item[name] for name in hashes])) if is_shown else None
            sort = str([item.get(name) for name in names])
            place = (table, index["IndexName"], own)
            before = self._entries.get(place)
            self._entries[place] = (*entry, sort) if entry else None  # type: ignore[assignment]
            if self._entries[place] != before:
                for changed in (before, self._entries[place]):
                    if changed:
                        self._add(changed[:2], 1 / WRITE_UNITS)

    def _partition(self, table: str, key: Mapping[str, Any]) -> Partition:
        name = self._tables[table]["KeySchema"][0]["AttributeName"]
        return table, str(key[name])

    def _add(self, partition: Partition, share: float) -> None:
        self.shares[partition][self.connection] += share


@pytest.fixture(scope="module")
def load() -> Iterator[Load]:
    """Yield the load of one request of each connection."""
    with emulated_dynamodb():
        client = dynamodb_client()
        store = DynamoDBStore(client, make_tables(client, PREFIX))
        load = Load(client)
        clock, new_id, secrets = FixedClock(), SequentialIds(), CountingSecrets()
        store.commit(Put(None, App(APP_ID, "Shop", timestamp(NOON))))
        ids = [f"c0000000-0000-4000-8000-{number:012}" for number in range(CONNECTIONS)]
        for connection_id in ids:
            seen = {"last_connected_at": timestamp(NOON), "password_hash": PASSWORD_HASH}
            store.commit(Put(None, a_connection(id=connection_id, **seen)))
        load.shares.clear()
        rules = UrlRules(allow_http=True, allow_loopback=True)
        queueing = Queueing(store, clock, new_id, quotas=Quotas(store, clock, lambda: 0.0), url_rules=rules)
        request, limits = qbxml.parse_request_xml(REQUEST_XML), AppLimits(creates_per_second=GOAL)
        for connection_id in ids:
            load.connection = connection_id
            clock.now += timedelta(seconds=1 / GOAL)
            queued = command(APP_ID, connection_id, request, idempotency=Idempotency(connection_id, "hash"))
            record = queueing.queue(replace(queued, limits=limits)).stored.record
            # Each session is in a process of its own.
            web_connector = WebConnector(store, clock, new_id, secrets, budget=Budget(2 * GOAL, 20 * GOAL))

            def call(method: str, web_connector: WebConnector = web_connector, **values: str) -> str:
                children = "".join(f"<{name}>{escape(value)}</{name}>" for name, value in values.items())
                return web_connector.reply(
                    '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>'
                    f'<{method} xmlns="http://developer.intuit.com/">{children}</{method}></soap:Body></soap:Envelope>'
                ).body

            reply = call("authenticate", strUserName=connection_id, strPassword=PASSWORD)
            match = re.search("<string>([^<]+)</string>", reply)
            assert match
            assert "CustomerQueryRq" in call("sendRequestXML", ticket=match[1], strHCPResponse="")
            call("receiveResponseXML", ticket=match[1], response=RESPONSE_XML, hresult="", message="")
            call("closeConnection", ticket=match[1])
            store.delivery(record.id, APP_ID, response_chunks="", max_response_bytes=1_000_000)
        yield load


def test_no_shared_key_limits_the_service_to_less_than_5000_requests_a_second(load: Load) -> None:
    rates = {partition: 1 / share for partition, share in load.shared().items()}

    assert {partition: rate for partition, rate in rates.items() if rate <= GOAL} == {}


def test_the_hottest_shared_key_is_the_item_of_an_app_that_webhooks_read(load: Load) -> None:
    """It counts only for a service with one app. Then come the shards of live sessions."""
    shared = load.shared()

    table, _ = max(shared, key=lambda partition: shared[partition])

    assert table == f"{PREFIX}AppsTable"
    assert 1 / max(shared.values()) == pytest.approx(6_000)
