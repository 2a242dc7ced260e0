"""The event sources of the template: streams, queues and schedules call functions.

Each pump is a thread that does the work of Lambda's poller: filter, batch, call, retry failures. It has no business
logic.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
import time
import traceback
import uuid
import zlib
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor, wait
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from local.emulated_dynamodb import REMOVED_BY_TIME_TO_LIVE
from local.event_filters import passes, patterns_of
from local.functions import FunctionError, PayloadTooLarge
from local.template import PSEUDO_PARAMETERS, TemplateError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from local.functions import Functions
    from local.kept_state import KeptState
    from local.template import Template

STREAM_POLL_SECONDS = 0.1
"""How often a stream is read. Lambda reads four times a second; a person at a terminal should not wait."""

QUEUE_POLL_SECONDS = 0.25

DEFAULT_QUEUE_CONCURRENCY = 5
"""Lambda: the number of batches of a queue at a time without MaximumConcurrency, until many messages wait."""

SHARDS_REFRESH_SECONDS = 5
"""DynamoDB closes shards and opens new ones."""

STREAM_RETRY_SECONDS = 1

MAX_READS_AHEAD = 100
"""How many reads of a shard may wait for a lane before the shard is read again."""

DYNAMODB_LOCALS_REMOVAL = "UNKNOWN_TO_SDK_VERSION"
"""The event name when DynamoDB Local (3.3.1) removes an expired item. It omits the user identity."""

PERIOD_SECONDS = {"minute": 60, "hour": 3600, "day": 86400}

SCHEDULE = re.compile(
    r"rate\((?P<number>\d+) (?P<unit>minute|hour|day)s?\)|cron\(\d+/(?P<minutes>\d+) \* \* \* \? \*\)"
)
"""The schedules that are supported: `rate(5 minutes)`, and `cron(4/15 * * * ? *)` without its first minute."""


class Pump:
    """A thread that calls `step` repeatedly until it is stopped."""

    def __init__(self, name: str, every_seconds: float) -> None:
        self.stopped = threading.Event()
        self._every_seconds = every_seconds
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop after the current call."""
        self.stopped.set()

    def join(self, seconds: float) -> None:
        """Wait until the pump has ended, at most `seconds`."""
        self._thread.join(seconds)

    def step(self) -> bool:
        """Do one unit of work; return whether there may be more right now."""
        raise NotImplementedError

    def _run(self) -> None:
        while not self.stopped.is_set():
            try:
                more = self.step()
            except Exception:  # noqa: BLE001 - like Lambda's poller: an error in a step does not end the service
                more = False
                if not self.stopped.is_set():
                    traceback.print_exc()
            if not more:
                self.stopped.wait(self._every_seconds)


class _Lane:
    """The concurrent batches of a shard: each lane delivers its records in order, in its own thread."""

    def __init__(self, deliver: Callable[[list[dict[str, Any]]], None]) -> None:
        self._deliver = deliver
        self._waiting: deque[dict[str, Any]] = deque()
        self._thread = ThreadPoolExecutor(1)

    def add(self, records: list[dict[str, Any]]) -> Future[None]:
        """Deliver these records after those that were added before. The result is ready when they are delivered."""
        self._waiting.extend(records)
        return self._thread.submit(self._deliver_waiting)

    def close(self) -> None:
        """End after the current delivery."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _deliver_waiting(self) -> None:
        """Deliver all waiting records together, as Lambda does after a batch that took long."""
        records = [self._waiting.popleft() for _ in range(len(self._waiting))]
        if records:
            self._deliver(records)


class StreamPump(Pump):
    """DynamoDB stream → function: each shard in order, from the position of an earlier run or the oldest record."""

    def __init__(
        self,
        functions: Functions,
        function: str,
        source: Mapping[str, Any],
        clients: Mapping[str, Any],
        references: Mapping[str, str],
        *,
        state: KeptState | None = None,
        retry_seconds: float = STREAM_RETRY_SECONDS,
    ) -> None:
        """`source` is the event's properties; `clients` are boto3's `dynamodb`, `dynamodbstreams` and `sqs`.

        With `state`, the positions in the stream outlast the process.
        """
        super().__init__(f"stream of {function}", STREAM_POLL_SECONDS)
        self._functions = functions
        self._function = function
        self._source = source
        self._factor = int(source.get("ParallelizationFactor", 1))
        self._retry_seconds = retry_seconds
        self._patterns = patterns_of(source)
        self._streams = clients["dynamodbstreams"]
        self._sqs = clients["sqs"]
        destination = source.get("DestinationConfig", {}).get("OnFailure", {}).get("Destination", "").split(".")[0]
        self._given_up_queue = references.get(destination)
        table = source["Stream"].split(".")[0]
        self._stream_arn = clients["dynamodb"].describe_table(TableName=table)["Table"]["LatestStreamArn"]
        self._reader = f"{function} {self._stream_arn}"
        self._state = state
        self._iterators: dict[str, str | None] = {}
        self._lanes: dict[str, list[_Lane]] = {}
        self._reads: dict[str, deque[tuple[str, list[Future[None]]]]] = {}
        self._refreshed_at = 0.0

    def step(self) -> bool:
        """Read every shard once."""
        for shard in self._reads:
            self._save_position(shard)
        if time.monotonic() - self._refreshed_at > SHARDS_REFRESH_SECONDS:
            self._refresh()
        has_records = False
        for shard, iterator in list(self._iterators.items()):
            if iterator is None:
                continue
            try:
                response = self._streams.get_records(ShardIterator=iterator, Limit=1000)
            except self._streams.exceptions.ExpiredIteratorException:
                self._iterators[shard] = self._iterator(shard)  # it expired
                continue
            except self._streams.exceptions.TrimmedDataAccessException:
                # Its record is gone: continue with the oldest record of the shard.
                self._iterators[shard] = self._first_iterator(shard)
                continue
            if self.stopped.is_set():
                return False  # the next run delivers the records
            records = [stream_record(record, self._stream_arn) for record in response["Records"]]
            if records:
                self._deliver_to_lanes(shard, records)
            self._iterators[shard] = response.get("NextShardIterator")
            has_records = has_records or bool(records)
        return has_records

    def _deliver_to_lanes(self, shard: str, records: list[dict[str, Any]]) -> None:
        """Pass records to the lanes of a shard. A lane that is busy delivers them later, and holds up no other lane."""
        lanes = self._lanes.setdefault(shard, [_Lane(self.deliver_lane) for _ in range(self._factor)])
        parts = self.lanes_of([record for record in records if passes(record, self._patterns)])
        deliveries = [lanes[_lane_number(part[0], self._factor)].add(part) for part in parts]
        reads = self._reads.setdefault(shard, deque())
        reads.append((records[-1]["dynamodb"]["SequenceNumber"], deliveries))
        wait(deliveries, STREAM_POLL_SECONDS)
        while len(reads) > MAX_READS_AHEAD and not self.stopped.is_set():
            wait(reads[0][1], STREAM_POLL_SECONDS)
            self._save_position(shard)
        self._save_position(shard)

    def _save_position(self, shard: str) -> None:
        """Save how far a shard was delivered. After a crash, records are delivered again, not lost."""
        reads, position = self._reads[shard], None
        while reads and all(delivery.done() for delivery in reads[0][1]):
            position = reads.popleft()[0]
        if position and self._state and not self.stopped.is_set():
            self._state.put_position(self._reader, shard, position)

    def join(self, seconds: float) -> None:
        """Wait until the pump and its deliveries have ended, at most `seconds` each."""
        super().join(seconds)
        wait(
            [delivery for reads in self._reads.values() for _, deliveries in reads for delivery in deliveries], seconds
        )
        for lanes in self._lanes.values():
            for lane in lanes:
                lane.close()

    def lanes_of(self, records: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
        """Split the records of a shard by their keys, as Lambda does for concurrent batches (ParallelizationFactor)."""
        lanes: list[list[dict[str, Any]]] = [[] for _ in range(self._factor)]
        for record in records:
            lanes[_lane_number(record, self._factor)].append(record)
        return [lane for lane in lanes if lane]

    def deliver_lane(self, records: list[dict[str, Any]]) -> None:
        """Deliver batches one after the other."""
        size = int(self._source.get("BatchSize", 100))  # Lambda's default
        for start in range(0, len(records), size):
            self._deliver(records[start : start + size], 0)

    def _refresh(self) -> None:
        shards = self._streams.describe_stream(StreamArn=self._stream_arn)["StreamDescription"]["Shards"]
        for shard in shards:
            if shard["ShardId"] not in self._iterators:
                self._iterators[shard["ShardId"]] = self._iterator(shard["ShardId"])
        self._refreshed_at = time.monotonic()

    def _iterator(self, shard: str) -> str:
        position = self._state.position(self._reader, shard) if self._state else None
        if position is None:
            return self._first_iterator(shard)
        try:
            response = self._streams.get_shard_iterator(
                StreamArn=self._stream_arn,
                ShardId=shard,
                ShardIteratorType="AFTER_SEQUENCE_NUMBER",
                SequenceNumber=position,
            )
        except self._streams.exceptions.TrimmedDataAccessException:
            return self._first_iterator(shard)
        iterator: str = response["ShardIterator"]
        return iterator

    def _first_iterator(self, shard: str) -> str:
        response = self._streams.get_shard_iterator(
            StreamArn=self._stream_arn, ShardId=shard, ShardIteratorType=self._source["StartingPosition"]
        )
        iterator: str = response["ShardIterator"]
        return iterator

    def _deliver(self, batch: list[dict[str, Any]], tries: int) -> None:
        """Call the function. Retry failed records up to the maximum, in halves when the call itself failed."""
        if self.stopped.is_set():
            return
        try:
            first_failure = self._first_failure(batch)
            called = True
        except (FunctionError, PayloadTooLarge) as error:
            _report(self._function, error)
            first_failure, called = 0, False
        if first_failure is None:
            return
        rest = batch[first_failure:]
        if tries >= int(self._source.get("MaximumRetryAttempts", 10_000)):
            self._give_up(rest)
            return
        self.stopped.wait(self._retry_seconds)
        if not called and len(rest) > 1 and self._source.get("BisectBatchOnFunctionError"):
            middle = len(rest) // 2
            self._deliver(rest[:middle], tries + 1)
            self._deliver(rest[middle:], tries + 1)
        else:
            self._deliver(rest, tries + 1)

    def _first_failure(self, batch: list[dict[str, Any]]) -> int | None:
        """Return the position of the first failed record, or None."""
        result = self._functions.invoke(self._function, {"Records": batch})
        failures = _failures(result, self._source)
        if not failures:
            return None
        numbers = [record["dynamodb"]["SequenceNumber"] for record in batch]
        # Lambda treats an unknown identifier as a failure of the whole batch.
        return min(numbers.index(failure) if failure in numbers else 0 for failure in failures)

    def _give_up(self, batch: list[dict[str, Any]]) -> None:
        numbers = [record["dynamodb"]["SequenceNumber"] for record in batch]
        _report(self._function, f"gave up {len(batch)} stream records, from {numbers[0]}")
        if self._given_up_queue:
            self._sqs.send_message(QueueUrl=self._given_up_queue, MessageBody=f'{{"sequenceNumbers": "{numbers}"}}')


class QueuePump(Pump):
    """SQS → function: up to MaximumConcurrency batches at a time.

    A failed message becomes visible again after the visibility timeout of the queue.
    """

    def __init__(
        self, functions: Functions, function: str, source: Mapping[str, Any], sqs: Any, references: Mapping[str, str]
    ) -> None:
        super().__init__(f"queue of {function}", QUEUE_POLL_SECONDS)
        self._functions = functions
        self._function = function
        self._source = source
        self._patterns = patterns_of(source)
        self._sqs = sqs
        self._queue = source["Queue"].split(".")[0]
        self._url = references[self._queue]
        concurrency = int(source.get("ScalingConfig", {}).get("MaximumConcurrency", DEFAULT_QUEUE_CONCURRENCY))
        self._threads = ThreadPoolExecutor(concurrency)
        self._free = threading.BoundedSemaphore(concurrency)
        self._deliveries: set[Future[None]] = set()

    def step(self) -> bool:
        """Receive one batch and deliver it in a thread of its own, if one is free."""
        if not self._free.acquire(timeout=QUEUE_POLL_SECONDS):
            return True
        messages: list[dict[str, Any]] = []
        try:
            messages = self.receive()
        finally:
            if not messages:
                self._free.release()
        if messages:
            delivery = self._threads.submit(self.deliver, messages)
            self._deliveries.add(delivery)
            delivery.add_done_callback(self._end)
        return bool(messages)

    def _end(self, delivery: Future[None]) -> None:
        self._deliveries.discard(delivery)
        self._free.release()

    def join(self, seconds: float) -> None:
        """Wait until the pump and its deliveries have ended, at most `seconds` each."""
        super().join(seconds)
        wait(list(self._deliveries), seconds)
        self._threads.shutdown(wait=False)

    def receive(self) -> list[dict[str, Any]]:
        """Return the next messages of the queue, at most a batch."""
        response = self._sqs.receive_message(
            QueueUrl=self._url,
            MaxNumberOfMessages=min(10, int(self._source.get("BatchSize", 10))),
            AttributeNames=["All"],
            MessageAttributeNames=["All"],
        )
        messages: list[dict[str, Any]] = response.get("Messages", [])
        return messages

    def deliver(self, messages: list[dict[str, Any]]) -> None:
        """Call the function with a batch, and delete the messages that did not fail."""
        records = [_queue_record(message, self._queue) for message in messages]
        matches = [record for record in records if passes(record, self._patterns)]
        failed_ids: set[str] = set()
        if matches:
            try:
                failed_ids = set(_failures(self._functions.invoke(self._function, {"Records": matches}), self._source))
            except (FunctionError, PayloadTooLarge) as error:
                _report(self._function, error)
                failed_ids = {record["messageId"] for record in matches}
        for record in records:
            if record["messageId"] not in failed_ids:
                self._sqs.delete_message(QueueUrl=self._url, ReceiptHandle=record["receiptHandle"])


class SchedulePump(Pump):
    """`rate(5 minutes)` → function. `Input` replaces the event."""

    def __init__(self, functions: Functions, function: str, source: Mapping[str, Any]) -> None:
        schedule = SCHEDULE.fullmatch(source["Schedule"])
        if schedule is None:
            raise TemplateError(f"schedule {source['Schedule']} is not supported by local/pumps.py")
        number, unit = schedule["number"] or schedule["minutes"], schedule["unit"] or "minute"
        super().__init__(f"schedule of {function}", int(number) * PERIOD_SECONDS[unit])
        self._functions = functions
        self._function = function
        self._input = json.loads(source["Input"]) if "Input" in source else None

    def step(self) -> bool:
        """Call the function once."""
        try:
            self._functions.invoke(self._function, self._input or self._event())
        except FunctionError as error:
            _report(self._function, error)
        return False

    def _event(self) -> dict[str, Any]:
        return {
            "version": "0",
            "id": str(uuid.uuid4()),
            "detail-type": "Scheduled Event",
            "source": "aws.events",
            "account": PSEUDO_PARAMETERS["AWS::AccountId"],
            "time": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "region": PSEUDO_PARAMETERS["AWS::Region"],
            "resources": [f"arn:aws:events:us-east-1:123456789012:rule/{self._function}"],
            "detail": {},
        }


def pumps_of(
    template: Template,
    functions: Functions,
    clients: Mapping[str, Any],
    references: Mapping[str, str],
    state: KeptState | None = None,
) -> list[Pump]:
    """Return a pump, not started, for every event source of the template that is not an API call.

    `references` has the URLs of the queues by logical ID. With `state`, the positions in streams outlast the process.
    """
    makers: dict[str, Callable[[str, Mapping[str, Any]], Pump]] = {
        "DynamoDB": lambda name, source: StreamPump(functions, name, source, clients, references, state=state),
        "SQS": lambda name, source: QueuePump(functions, name, source, clients["sqs"], references),
        "Schedule": lambda name, source: SchedulePump(functions, name, source),
    }
    pumps = []
    for function in template.functions():
        for event in function.events:
            if event.type in makers:
                pumps.append(makers[event.type](function.logical_id, event.properties))
            elif event.type != "Api":
                raise TemplateError(f"event source {event.type} is not supported by local/pumps.py")
    return pumps


def _lane_number(record: Mapping[str, Any], factor: int) -> int:
    keys = json.dumps(record["dynamodb"]["Keys"], sort_keys=True)
    return zlib.crc32(keys.encode()) % factor


def _failures(result: Any, source: Mapping[str, Any]) -> list[str]:
    if "ReportBatchItemFailures" not in source.get("FunctionResponseTypes", []) or not result:
        return []
    return [failure["itemIdentifier"] for failure in result.get("batchItemFailures") or []]


def stream_record(record: dict[str, Any], stream_arn: str) -> dict[str, Any]:
    """Return a record in Lambda's form: binary values in base64, time in seconds, identity in lower camel case."""
    change = dict(record["dynamodb"])
    identity = record.get("userIdentity")
    if record.get("eventName") == DYNAMODB_LOCALS_REMOVAL:
        record = {**record, "eventName": "REMOVE"}
        identity = REMOVED_BY_TIME_TO_LIVE
    if identity:
        record = {**record, "userIdentity": {"type": identity["Type"], "principalId": identity["PrincipalId"]}}
    moment = change.get("ApproximateCreationDateTime")
    if isinstance(moment, datetime):
        change["ApproximateCreationDateTime"] = moment.timestamp()
    return {**record, "dynamodb": _as_json(change), "eventSourceARN": stream_arn}


def _as_json(value: Any) -> Any:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {name: _as_json(member) for name, member in value.items()}
    if isinstance(value, list | tuple | set):
        return [_as_json(member) for member in value]
    return value


def _queue_record(message: dict[str, Any], queue: str) -> dict[str, Any]:
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": message.get("Attributes", {}),
        "messageAttributes": {
            name: {"stringValue": value.get("StringValue"), "dataType": value["DataType"]}
            for name, value in message.get("MessageAttributes", {}).items()
        },
        "md5OfBody": hashlib.md5(message["Body"].encode(), usedforsecurity=False).hexdigest(),
        "eventSource": "aws:sqs",
        "eventSourceARN": (
            f"arn:aws:sqs:{PSEUDO_PARAMETERS['AWS::Region']}:{PSEUDO_PARAMETERS['AWS::AccountId']}:{queue}"
        ),
        "awsRegion": PSEUDO_PARAMETERS["AWS::Region"],
    }


def _report(function: str, problem: object) -> None:
    print(f"{function}: {problem}", flush=True)
    if isinstance(problem, BaseException) and problem.__cause__ is not None:
        traceback.print_exception(problem.__cause__)
