"""All functions over one DynamoDB, without threads: streams, messages, schedules and time move when a test says so."""

from __future__ import annotations

import json
import random
import re
from collections import deque
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from adapters.dynamodb import DynamoDBStore, keys
from adapters.dynamodb.canaries import STATE_KEY
from adapters.sqs import message_of
from domain.webhooks.ports import HttpResponse
from handlers import operate, pack_search_texts, retry_webhook, sweep
from local.emulated_dynamodb import REMOVED_BY_TIME_TO_LIVE
from local.event_filters import passes, patterns_of
from local.pumps import stream_record
from local.template import Template
from tests.support.api_client import ApiClient, load
from tests.support.builders import FixedClock
from tests.support.services import services_with
from tests.support.web_connector.connector import result_of, soap_call
from tests.support.web_connector.interruptions import RandomIds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from adapters.dynamodb import TableNames
    from domain.webhooks.ports import AnyPlanned, Planned

PASSWORD = "correct horse battery staple"
"""Of all connections."""


_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def _is_of_canaries(item: Mapping[str, Any]) -> bool:
    return keys.CANARY in item or all(item.get(name) == value for name, value in STATE_KEY.items())


class LambdaContext:
    """The context of an invocation with enough time for everything."""

    def get_remaining_time_in_millis(self) -> int:
        """Return the remaining time."""
        return 900_000


@dataclass
class Receiver:
    """A receiver of webhooks. It keeps what it gets, and answers with a part of it."""

    status: int = 200
    bodies: list[str] = field(default_factory=list)

    def post(self, url: str, headers: Mapping[str, str], body: bytes, timeout_seconds: float) -> HttpResponse:
        """Keep the webhook and answer."""
        del headers, timeout_seconds
        self.bodies.append(body.decode())
        return HttpResponse(self.status, f"Got {url}")


@dataclass
class Messages:
    """The retry queue, with its messages as SQS would hold them."""

    texts: deque[str] = field(default_factory=deque)

    def plan(self, planned_attempt: Planned) -> None:
        """Keep the message."""
        self.texts.append(message_of(planned_attempt))

    def plan_all(self, planned_attempts: Sequence[AnyPlanned]) -> Mapping[AnyPlanned, Exception]:
        """Keep the messages."""
        for planned_attempt in planned_attempts:
            self.plan(planned_attempt)
        return {}


class _StreamReader:
    """One consumer of the stream of a table: its function gets the records that pass its filters."""

    def __init__(self, streams: Any, stream_arn: str, source: Mapping[str, Any], handler: Callable[..., Any]) -> None:
        table = source["Stream"].removesuffix("Table.StreamArn")
        self.name = f"{handler.__module__.rpartition('.')[2]} of {_CAPITAL.sub('_', table).lower()}"
        self._streams = streams
        self._stream_arn = stream_arn
        self._patterns = patterns_of(source)
        self._batch_size = int(source["BatchSize"])
        self._handler = handler
        self._iterators: dict[str, str | None] = {}
        self._last_read: dict[str, str] = {}

    def read(self, removed_by_time_to_live: Sequence[Any]) -> bool:
        """Deliver the records since the last read. Return whether there were any."""
        records = self._new_records()
        for record in records:
            if record["eventName"] == "REMOVE" and record["dynamodb"]["Keys"] in removed_by_time_to_live:
                record["userIdentity"] = REMOVED_BY_TIME_TO_LIVE
        events = [stream_record(record, self._stream_arn) for record in records]
        events = [event for event in events if passes(event, self._patterns)]
        for start in range(0, len(events), self._batch_size):
            batch = {"Records": events[start : start + self._batch_size]}
            result = self._handler(json.loads(json.dumps(batch)), LambdaContext())
            assert result == {"batchItemFailures": []}
        return bool(records)

    def skip(self) -> None:
        """Read everything without delivering it."""
        while self._new_records():
            pass

    def rewind(self) -> None:
        """Begin with the first record again."""
        self._iterators.clear()
        self._last_read.clear()

    def _new_records(self) -> list[dict[str, Any]]:
        description = self._streams.describe_stream(StreamArn=self._stream_arn)["StreamDescription"]
        records: list[dict[str, Any]] = []
        for shard in (shard["ShardId"] for shard in description["Shards"]):
            new, self._iterators[shard] = self._records_of(shard)
            if new:
                self._last_read[shard] = new[-1]["dynamodb"]["SequenceNumber"]
                records += new
        return records

    def _records_of(self, shard: str) -> tuple[list[dict[str, Any]], str | None]:
        """Return the next records of a shard and the iterator after them, which is None at the end of the shard."""
        iterator = self._iterators[shard] if shard in self._iterators else self._new_iterator(shard)
        if iterator is None:
            return [], None
        try:
            response = self._streams.get_records(ShardIterator=iterator, Limit=1000)
        except self._streams.exceptions.TrimmedDataAccessException:
            # DynamoDB Local refuses some iterators of a shard that was empty when it issued them.
            response = self._streams.get_records(ShardIterator=self._new_iterator(shard), Limit=1000)
        return response["Records"], response.get("NextShardIterator")

    def _new_iterator(self, shard: str) -> str:
        """Return an iterator that begins after the last record that was read."""
        begin = {"ShardIteratorType": "TRIM_HORIZON"}
        if last := self._last_read.get(shard):
            begin = {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": last}
        response = self._streams.get_shard_iterator(StreamArn=self._stream_arn, ShardId=shard, **begin)
        return str(response["ShardIterator"])


class WholeService:
    """An empty service. `seed` decides identifiers and secrets."""

    def __init__(self, client: Any, streams: Any, tables: TableNames, prefix: str = "", seed: int = 1) -> None:
        self.client, self.seed = client, seed
        self.clock = FixedClock()
        self.receiver, self.messages = Receiver(), Messages()
        self.store = DynamoDBStore(client, tables, retention_days=lambda: 0)
        self.services = services_with(self.store, self.clock)
        self.services.new_id = RandomIds(random.Random(seed))
        self.services.secrets = random.Random(seed).randbytes
        self.services.webhook_sender, self.services.retry_queue = self.receiver, self.messages
        template = Template.load()
        self._prefix = prefix
        self.table_names = [prefix + definition["TableName"] for definition in template.table_definitions()]
        """The names of all tables of the template."""
        self._expiry_attributes = template.time_to_live_attributes()
        self._removed_by_time_to_live: list[Any] = []
        self.disabled: set[str] = set()
        """The consumers of streams whose event sources are disabled: `deliver_webhook of connections`."""
        self._readers = [
            _StreamReader(
                streams,
                client.describe_table(TableName=prefix + event.properties["Stream"].split(".")[0])["Table"][
                    "LatestStreamArn"
                ],
                event.properties,
                load(function.handler),
            )
            for function in template.functions()
            for event in function.events
            if event.type == "DynamoDB"
        ]

    # --- Callers

    def operate(self, operation: str, **arguments: str) -> dict[str, Any]:
        """Run a command of the operator."""
        result = operate.handler({"operation": operation, **arguments}, None)
        assert "error" not in result, result
        return result

    def client_of(self, app_id: str) -> ApiClient:
        """Return a caller of the API with a new key."""
        return ApiClient(self.operate("create_key", app_id=app_id)["api_key"])

    def soap(self, method: str, *texts: str) -> Any:
        """Make a call of a Web Connector a second later, and return its result."""
        self.clock.advance(seconds=1)
        reply = self.services.web_connector.reply(soap_call(method, *texts))
        assert reply.status == 200, reply.body
        return result_of(method, reply.body)

    # --- What happens by itself

    def read_streams(self) -> None:
        """Let the functions of all streams catch up."""
        enabled = [reader for reader in self._readers if reader.name not in self.disabled]
        while any([reader.read(self._removed_by_time_to_live) for reader in enabled]):  # noqa: C419 - all of them
            pass

    def skip_streams(self) -> None:
        """Take what the streams contain as read."""
        for reader in self._readers:
            reader.skip()

    def repeat_streams(self) -> None:
        """Let the next `read_streams` begin with the first change again."""
        for reader in self._readers:
            reader.rewind()

    def deliver_messages(self) -> None:
        """Make the attempts that are planned now. Those that they plan wait for the next call."""
        texts, self.messages.texts = self.messages.texts, deque()
        records = [{"messageId": str(number), "body": text} for number, text in enumerate(texts)]
        assert retry_webhook.handler({"Records": records}, None) == {"batchItemFailures": []}

    def sweep(self) -> None:
        """Run the sweep."""
        sweep.handler({}, LambdaContext())

    def pack(self) -> None:
        """Run the packer of search texts for all connections."""
        pack_search_texts.handler({}, LambdaContext())

    def expire(self) -> None:
        """Remove the items that have expired, as DynamoDB does some time after it."""
        now = int(self.clock().timestamp())
        for table, attribute in self._expiry_attributes.items():
            table_name = self._prefix + table
            names = [key["AttributeName"] for key in self._description(table_name)["KeySchema"]]
            for item in self.items(table_name):
                if attribute in item and int(item[attribute]["N"]) < now:
                    key = {name: item[name] for name in names}
                    self._removed_by_time_to_live.append(key)
                    self.client.delete_item(TableName=table_name, Key=key)

    def live(self, days: float, runs_a_day: int = 4) -> None:
        """Let days pass with everything that happens by itself."""
        for _ in range(max(1, round(days * runs_a_day))):
            self.clock.advance(days=1 / runs_a_day)
            for step in (self.expire, self.read_streams, self.sweep, self.pack, self.read_streams):
                step()

    # --- What is stored

    def items(self, table_name: str) -> Iterator[dict[str, Any]]:
        """Yield all items of a table, but for those of the canaries, which belong to no app and hold times alone."""
        pages: Callable[..., Any] = partial(self.client.get_paginator("scan").paginate, ConsistentRead=True)
        for page in pages(TableName=table_name):
            yield from (item for item in page["Items"] if not _is_of_canaries(item))

    def _description(self, table_name: str) -> dict[str, Any]:
        description: dict[str, Any] = self.client.describe_table(TableName=table_name)["Table"]
        return description
