"""Compute the cost of requests and idle connections in AWS, from the calls and capacity used and `prices.json`.

Run `python -m benchmarks.costs [--prices FILE] [--lambda-ms 25] [--system-log-level WARN] [--write]`. With `--write`
what was counted is stored in `units.json`, from which `benchmarks.growth` computes, and the tables of `docs/costs.md`
are made of it (`benchmarks/costs_page.py`). The calls of an app are counted by `benchmarks/call_costs.py`.

The whole service runs in this process with the simulated QuickBooks (`local.stack`). Write units are computed from
the items and index entries before and after each call, by the rules of "DynamoDB read and write operations" in the
Amazon DynamoDB Developer Guide, because DynamoDB Local reports wrong figures for transactions. Its figures for reads
are right. With DYNAMODB_ENDPOINT (`make dynamodb`) the output shows both. The log lines of the functions are
counted, too. Those of Lambda and API Gateway have the form in AWS's documentation. Only the duration of a Lambda call
and the share and duration of cold starts are assumed, because this machine is not Lambda. AWS bills the start of a
function too ("AWS Lambda standardizes billing for INIT Phase" in the AWS Compute Blog).
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import re
import tempfile
import threading
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from botocore.client import BaseClient

from benchmarks.costs_page import (
    COLD_SHARE,
    DORMANT_MINUTES,
    INIT_MS,
    LAMBDA_MS,
    MONTH_MINUTES,
    NAMES,
    PAGE,
    TABLES,
    UNITS,
    Bill,
    page,
    parts,
)
from domain.timestamps import timestamp
from local import first_steps, stack
from local.capacity import Capacity, Target, read_units
from local.capacity import size as item_size
from local.command import local_client
from local.database import answering_endpoint
from local.functions import Functions
from local.programs import ROOT
from local.receiver import receiving
from local.template import Template
from simulator.company import Company
from simulator.runs.scheduler import Simulator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from local.capacity import Item
    from local.gateway import Request, Response

REQUEST = {"request_json": {"request": {"name": "CustomerQueryRq", "children": [{"name": "MaxReturned", "text": "5"}]}}}
"""A read whose response has five customers, about 6 KB."""

LARGE_REQUEST = {"request_json": {"SalesOrderQueryRq": {"MaxReturned": "300", "IncludeLineItems": "true"}}}
"""A read whose response has 0.8 MB: 300 sales orders with their lines."""

PAGE_OF_A_QUERY = {
    "request_json": {
        "request": {
            "name": "CustomerQueryRq",
            "attributes": {"iterator": "Start"},
            "children": [{"name": "MaxReturned", "text": "5"}],
        }
    }
}
"""Page 1 of all customers, of which each page has five."""


def _queue_each(
    request: Mapping[str, Any], api: first_steps.Api, connection: str, url: str | None, number: int
) -> None:
    for _ in range(number):
        api.call("POST", f"{connection}/queued_requests", {**request, "webhook_url": url})


def _queue_batches(api: first_steps.Api, connection: str, url: str, number: int) -> None:
    entry = {**REQUEST, "webhook_url": url}
    for begin in range(0, number, 20):
        api.call("POST", f"{connection}/queued_requests/batch", {"requests": [entry] * min(20, number - begin)})


VARIANTS: Mapping[str, Callable[[first_steps.Api, str, str, int], None]] = {
    "without_webhook": lambda api, connection, _url, number: _queue_each(REQUEST, api, connection, None, number),
    "label": partial(_queue_each, {**REQUEST, "label": "order 1042"}),
    "batch": _queue_batches,
    "large": partial(_queue_each, LARGE_REQUEST),
    "page": lambda api, connection, url, _number: _queue_each(PAGE_OF_A_QUERY, api, connection, url, 1),
}
"""How each kind of request is queued. Each is sent alone in a long session. One query has all pages."""


@dataclass(frozen=True, slots=True)
class Size:
    """How many requests alone, in a long session and in sets, polls and runs of the jobs are measured."""

    alone: int = 40
    together: int = 200
    in_sets: int = 231
    polls: int = 20
    upkeep_runs: int = 5
    variants: int = 40
    settle_seconds: float = 3.0
    """The time after the last call in which webhooks are delivered and recorded."""

    def of_variant(self, variant: str) -> int:
        """Return how many requests of a variant are measured. A large response is a request of its own."""
        return min(self.variants, 4) if variant == "large" else self.variants


EVERY_LOGIN_IS_ADMITTED = {"MaxSessions": "5000", "WebConnectorCallsPerSecond": "10000"}
"""Sessions follow one another within milliseconds here. With the default limits, only 13 of an app may begin in a shard
in two seconds, and a login that is turned away is not a session."""

TINY = Size(1, 2, 3, 1, 1, 2, settle_seconds=0.5)

BATCH_SIZE = 20
"""The sets of reads grow to this size, the default: 1, 2, 4, 8 and 16 requests, then 20. 231 requests are 15 sets."""

HTTP_API_UNIT_BYTES = 512 * 1024
"""The price of an HTTP API is for 512 KB of a call, and for each further 512 KB."""

LOG_EVENT_BYTES = 26
"""What CloudWatch Logs adds to the size of each line ("PutLogEvents" in the API reference)."""

REQUEST_ID = "c6af9ac6-7b61-11e6-9a41-93e8deadbeef"
METRICS = {"durationMs": 24.815, "billedDurationMs": 25, "memorySizeMB": 1024, "maxMemoryUsedMB": 80}
SYSTEM_RECORDS: Mapping[str, Mapping[str, Any]] = {
    "platform.start": {"requestId": REQUEST_ID, "version": "$LATEST"},
    "platform.report": {"requestId": REQUEST_ID, "metrics": METRICS, "status": "success"},
}
"""The lines that Lambda writes about a successful call at the SystemLogLevel INFO ("Sending Lambda function logs to
CloudWatch Logs" in the Developer Guide). At WARN it writes none."""

ACCESS_LOG_VALUES = {
    "requestId": REQUEST_ID,
    "requestTimeEpoch": "1773489600000",
    "httpMethod": "POST",
    "resourcePath": "/qbwc",
    "routeKey": "POST /qbwc",
    "status": "200",
    "responseLatency": "48",
    "authorizer.app_id": REQUEST_ID,
    "identity.sourceIp": "203.0.113.10",
    "error.responseType": "-",
}

EXPIRY_SECONDS = 120
"""How long the removal of expired records may take. DynamoDB Local looks for them every ten seconds."""

MAX_SETTLES = 20

READS = ("GetItem", "TransactGetItems", "BatchGetItem", "Query")

RECORDS_TABLE = "QueuedRequestsTable"


def _key_of(request_id: str) -> Target:
    """Return the item of a record."""
    return Target(RECORDS_TABLE, json.dumps({"id": {"S": request_id}}), 1)


@dataclass
class Usage:
    """The calls of each function and the DynamoDB units that were used."""

    rest_calls: int = 0
    http_api_calls: int = 0
    http_api_units: int = 0
    log_lines: int = 0
    log_bytes: int = 0
    functions: Counter[str] = field(default_factory=Counter)
    reads: float = 0.0
    writes: float = 0.0
    sqs_calls: int = 0
    dynamodb_calls: Counter[str] = field(default_factory=Counter)
    reads_reported: float = 0.0


class Meter:
    """Counts the usage of the stack in this process while `measured` runs."""

    def __init__(self, service: stack.Stack, endpoint: str | None, settle_seconds: float) -> None:
        self._settle_seconds = settle_seconds
        self._endpoint = endpoint
        self._tables = {definition["TableName"]: definition for definition in service.template.table_definitions()}
        self._capacity = Capacity(self._tables)
        self._client = service.clients["dynamodb"]
        self._lock = threading.RLock()
        self._usage: Usage | None = None
        self._reading = threading.local()

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Observe every AWS call and every function while the block runs."""
        make_api_call, invoke = BaseClient._make_api_call, Functions.invoke  # noqa: SLF001 - there is no public hook with parameters and result

        def observed_call(client: Any, operation: str, parameters: dict[str, Any]) -> Any:
            if getattr(self._reading, "own", False) or self._usage is None:
                return make_api_call(client, operation, parameters)
            match client.meta.service_model.service_name:
                case "dynamodb" if not self._is_local(parameters):
                    with self._lock:
                        return self._dynamodb(operation, parameters, partial(make_api_call, client))
                case "sqs" if operation != "ReceiveMessage":
                    self._usage.sqs_calls += 1
            return make_api_call(client, operation, parameters)

        def observed_invoke(functions: Functions, name: str, event: dict[str, Any], **options: Any) -> Any:
            if self._usage is not None:
                self._usage.functions[name] += 1
            return invoke(functions, name, event, **options)

        BaseClient._make_api_call, Functions.invoke = observed_call, observed_invoke  # type: ignore[method-assign,assignment] # noqa: SLF001
        # All functions share Powertools' handler, which writes to the standard output.
        (lines,) = logging.getLogger("qbxml-queue").handlers
        assert isinstance(lines, logging.StreamHandler)
        terminal = lines.setStream(self)
        try:
            yield
        finally:
            lines.setStream(terminal)
            BaseClient._make_api_call, Functions.invoke = make_api_call, invoke  # type: ignore[method-assign] # noqa: SLF001

    @contextmanager
    def measured(self) -> Iterator[Usage]:
        """Yield the usage of the block. It is complete when the block ends."""
        self._usage = usage = Usage()
        try:
            yield usage
            for _ in range(MAX_SETTLES):  # on a busy machine, webhooks are still delivered
                calls = usage.dynamodb_calls.total()
                time.sleep(self._settle_seconds)
                if usage.dynamodb_calls.total() == calls:
                    break
        finally:
            self._usage = None

    def on_call(self, request: Request, response: Response, _seconds: float) -> None:
        """Count an HTTP call."""
        if self._usage is None:
            return
        if request.path.startswith(f"{stack.CONNECTOR_PATH}/"):
            self._usage.http_api_calls += 1
            size = len(request.body) + len(response.body)
            self._usage.http_api_units += max(1, math.ceil(size / HTTP_API_UNIT_BYTES))
        else:
            self._usage.rest_calls += 1

    def write(self, text: str) -> int:
        """Count the lines of the functions. This is the stream of their log."""
        if self._usage is not None:
            for line in text.splitlines():
                self._usage.log_lines += 1
                self._usage.log_bytes += len(line.encode()) + LOG_EVENT_BYTES
        return len(text)

    def flush(self) -> None:
        """Do nothing. A stream has this method."""

    def expire(self, ids: Sequence[str]) -> None:
        """Let requests expire, and wait until they are removed and cleaned up. Time to live itself costs nothing."""
        self._reading.own = True
        past = {":past": {"N": str(int(time.time()) - 60)}}
        try:
            for request_id in ids:
                key = {"id": {"S": request_id}}
                self._client.update_item(
                    TableName=RECORDS_TABLE,
                    Key=key,
                    UpdateExpression="SET expires_at = :past",
                    ExpressionAttributeValues=past,
                )
        finally:
            self._reading.own = False
        deadline = time.monotonic() + EXPIRY_SECONDS
        while any("deleted_at" not in (self._item(_key_of(request_id)) or {}) for request_id in ids):
            assert time.monotonic() < deadline, "expired requests were not removed"
            time.sleep(0.5)

    def age(self, connection_id: str) -> None:
        """Let the last recorded call of a connection be eleven minutes old, without counting that."""
        moment = {":moment": {"S": timestamp(datetime.now(UTC) - timedelta(minutes=11))}}
        self._reading.own = True
        try:
            self._client.update_item(
                TableName="ConnectionsTable",
                Key={"id": {"S": connection_id}},
                UpdateExpression="SET last_connected_at = :moment, updated_at = :moment",
                ExpressionAttributeValues=moment,
            )
        finally:
            self._reading.own = False

    # --- DynamoDB's units

    def _dynamodb(self, operation: str, parameters: dict[str, Any], call: Any) -> Any:
        assert self._usage is not None
        self._usage.dynamodb_calls[operation] += 1
        targets = [*self._capacity.targets(operation, parameters)]
        before = {target: self._item(target) for target in targets}
        if operation == "Query" or (self._endpoint and operation in READS):
            parameters = {**parameters, "ReturnConsumedCapacity": "TOTAL"}
        result = call(operation, parameters)
        for target in targets:
            self._usage.writes += self._capacity.write_units(target, before[target], self._item(target))
        self._usage.reads += read_units(operation, parameters, result)
        capacities = result.get("ConsumedCapacity", []) if self._endpoint else []
        for capacity in capacities if isinstance(capacities, list) else [capacities]:
            self._usage.reads_reported += capacity["CapacityUnits"]
        return result

    def _is_local(self, parameters: Mapping[str, Any]) -> bool:
        """Return whether a call is for the table in which a local stack keeps its queues and stream positions."""
        return parameters.get("TableName", next(iter(self._tables))) not in self._tables

    def _item(self, target: Target) -> Item | None:
        self._reading.own = True
        try:
            response = self._client.get_item(TableName=target.table, Key=json.loads(target.key), ConsistentRead=True)
        finally:
            self._reading.own = False
        item: Item | None = response.get("Item")
        return item

    def stored_bytes(self) -> int:
        """Return the size of all items and index entries."""
        total = 0
        for table, definition in self._tables.items():
            for scanned in self._client.get_paginator("scan").paginate(TableName=table):
                for item in scanned["Items"]:
                    total += item_size(item)
                    entries = (
                        self._capacity.entry(table, index, item)
                        for index in definition.get("GlobalSecondaryIndexes", [])
                    )
                    total += sum(item_size(entry) for entry in entries if entry)
        return total


# --- Prices


@dataclass(frozen=True, slots=True)
class Rates:
    """The prices, the assumed billed duration of a Lambda call, and the bytes of the lines that AWS logs for a call."""

    prices: Mapping[str, Any]
    billed_ms: float
    system_log_bytes: int
    rest_log_bytes: int
    http_api_log_bytes: int
    memory_gb: float = 1.0

    @classmethod
    def of(cls, prices: Mapping[str, Any], billed_ms: float, system_log_level: str) -> Rates:
        """Return the rates with the log lines of the template. `billed_ms` is for a mean call, with its cold starts."""
        template = Template.load(ROOT / "template.yaml")
        (stage,) = template.resources("AWS::ApiGatewayV2::Stage").values()
        rest, http = template.api()["AccessLogSetting"]["Format"], stage["AccessLogSettings"]["Format"]
        records = SYSTEM_RECORDS.items() if system_log_level == "INFO" else ()
        lines = [{"time": "2026-11-22T12:00:00.148Z", "type": kind, "record": record} for kind, record in records]
        system = sum(len(json.dumps(line, separators=(",", ":"))) + LOG_EVENT_BYTES for line in lines)
        return cls(prices, billed_ms, system, _access_log_bytes(rest), _access_log_bytes(http))

    def logged(self, usage: Usage) -> int:
        """Return the bytes of all log lines of a usage."""
        access = usage.rest_calls * self.rest_log_bytes + usage.http_api_calls * self.http_api_log_bytes
        return usage.log_bytes + usage.functions.total() * self.system_log_bytes + access

    def each(self, usage: Usage, count: int) -> dict[str, float]:
        """Return the use of one of `count` occurrences."""
        return {
            "http_calls": round((usage.rest_calls + usage.http_api_calls) / count, 2),
            "rest_calls": round(usage.rest_calls / count, 2),
            "http_api_units": round(usage.http_api_units / count, 2),
            "functions": round(usage.functions.total() / count, 2),
            "writes": round(usage.writes / count, 1),
            "reads": round(usage.reads / count, 1),
            "sqs_calls": round(usage.sqs_calls / count, 2),
            "log_bytes": round(self.logged(usage) / count),
        }


def _access_log_bytes(form: str) -> int:
    """Return the size of a line of the access log of API Gateway."""
    line = re.sub(r"\$context\.([.\w]+)", lambda match: ACCESS_LOG_VALUES[match[1]], form)
    return len(line) + LOG_EVENT_BYTES


def show(title: str, usage: Usage, count: int, rates: Rates, times: float) -> None:
    """Print the usage of one occurrence and the price of `times` occurrences."""
    each = parts(rates.each(usage, count), rates.prices, rates.billed_ms)
    calls = ", ".join(f"{name} {number / count:.2f}" for name, number in usage.functions.most_common())
    print(f"\n{title}, each")
    print(
        f"  calls of the REST API {usage.rest_calls / count:.2f}, of the HTTP API {usage.http_api_calls / count:.2f}",
        end="",
    )
    print(f" · functions {usage.functions.total() / count:.2f} ({calls})")
    print(f"  write units {usage.writes / count:.1f} · read units {usage.reads / count:.1f}", end="")
    print(f" · DynamoDB calls {usage.dynamodb_calls.total() / count:.1f}")
    print(f"  log bytes {rates.logged(usage) / count:,.0f}", end="")
    print(f", of the functions {usage.log_bytes / count:,.0f} in {usage.log_lines / count:.1f} lines")
    if usage.reads_reported:
        print(f"  read units as the database reports them: {usage.reads_reported / count:.1f}")
    print(f"  {times:,.0f} of them: {times * sum(each.values()):.3f} USD", end="")
    print(f" ({', '.join(f'{name} {times * price:.3f}' for name, price in each.items())})")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the costs and print them."""
    options = _parser().parse_args(arguments)
    prices = json.loads(options.prices.read_text(encoding="utf-8"))
    billed_ms = options.lambda_ms + options.cold_share * options.init_ms
    rates = Rates.of(prices, billed_ms, options.system_log_level)
    size = TINY if options.tiny else Size()
    meters: list[Meter] = []

    def on_call(request: Request, response: Response, seconds: float) -> None:
        for meter in meters:
            meter.on_call(request, response, seconds)

    endpoint = answering_endpoint()
    with (
        tempfile.TemporaryDirectory() as folder,
        stack.running(
            on_call=on_call, dynamodb_endpoint=endpoint, log_level="INFO", parameters=EVERY_LOGIN_IS_ADMITTED
        ) as service,
    ):
        meter = Meter(service, endpoint, size.settle_seconds)
        who = first_steps.prepare(service.base_url, service.operator, Path(folder))
        with meter.installed(), receiving(who.webhook_secret, lambda _webhook: None) as webhook_url:
            meters.append(meter)
            measured = _measure(meter, who, webhook_url, service, size)
    _report(rates, options, measured, size)
    units = _units(measured, size, rates)
    if options.without_calls:
        units["calls"] = json.loads(UNITS.read_text(encoding="utf-8"))["calls"]
    else:
        # Imported before the stack, its handlers would give the log another name, and the meter would miss lines.
        from benchmarks import call_costs  # noqa: PLC0415

        sizes = call_costs.TINY_SIZES if options.tiny else call_costs.SIZES
        units["calls"] = call_costs.counted(sizes)
    for name, table in {} if options.tiny else TABLES.items():
        print(f"\n{name}\n{table(Bill(units, prices, billed_ms))}", end="")
    if options.write:
        UNITS.write_text(json.dumps(units, indent=2) + "\n", encoding="utf-8")
        PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


@dataclass(frozen=True, slots=True)
class Measured:
    """The usage of each kind of work, and the GB that 1,000 requests are stored in."""

    alone: Usage
    together: Usage
    in_sets: Usage
    idle: Usage
    dormant: Usage
    upkeep: Usage
    expired: Usage
    variants: Mapping[str, tuple[Usage, int]]
    """The usage of each variant, and how many requests were sent."""
    gb: float


def _units(measured: Measured, size: Size, rates: Rates) -> dict[str, Any]:
    """Return what one occurrence of each kind of work used."""
    counts = (
        ("alone", measured.alone, size.alone),
        ("long_session", measured.together, size.together),
        ("in_sets", measured.in_sets, size.in_sets),
        ("poll", measured.idle, size.polls),
        ("dormant_poll", measured.dormant, size.polls),
        ("expired", measured.expired, size.alone),
        ("jobs", measured.upkeep, size.upkeep_runs),
        *((variant, usage, number) for variant, (usage, number) in measured.variants.items()),
    )
    return {name: rates.each(usage, count) for name, usage, count in counts} | {"stored_gb": round(measured.gb, 6)}


def _report(rates: Rates, options: argparse.Namespace, measured: Measured, size: Size) -> None:
    prices, often = rates.prices, MONTH_MINUTES / 5
    print(
        f"Prices: {prices['region']}, {prices['as_of']}. Assumed: {options.lambda_ms} ms for each Lambda call, ", end=""
    )
    print(f"{options.init_ms} ms more for {options.cold_share:.0%} of them, and 1 GB of memory. ", end="")
    print(f"SystemLogLevel: {options.system_log_level}")
    show("A request alone in its session, with its webhook", measured.alone, size.alone, rates, 1000)
    title = "A request in a long session in which each is sent alone, with its webhook"
    show(title, measured.together, size.together, rates, 1000)
    title = f"A read in a session of {size.in_sets}, in sets of up to {BATCH_SIZE}, with its webhook"
    show(title, measured.in_sets, size.in_sets, rates, 1000)
    for variant, (usage, number) in measured.variants.items():
        show(f"A request {NAMES[variant]}", usage, number, rates, 1000)
    show("A poll that finds nothing, every 5 min for a month", measured.idle, size.polls, rates, often)
    title = f"A poll after a day without work, every {DORMANT_MINUTES} min for a month"
    show(title, measured.dormant, size.polls, rates, MONTH_MINUTES / DORMANT_MINUTES)
    show("The removal of an expired request (RetentionDays)", measured.expired, size.alone, rates, 1000)
    show("A run of all scheduled jobs, with nothing to do", measured.upkeep, size.upkeep_runs, rates, often)
    print(f"\nStorage of 1,000 requests: {measured.gb * 1000:.1f} MB")


def _measure(
    meter: Meter, who: first_steps.Credentials, webhook_url: str, service: stack.Stack, size: Size
) -> Measured:
    """Do each kind of work, and return its usage."""
    api = first_steps.Api(who.base_url, who.api_key)
    path = f"/api/v1/connections/{who.connection_id}/queued_requests"
    qwc = Path(who.qwc_path).read_text(encoding="utf-8")
    company = Company.generated()
    simulator = Simulator(qwc, who.qbwc_password, company)
    body = {**REQUEST, "webhook_url": webhook_url}
    api.call("POST", path, body)
    simulator.run_once()  # the first session marks the company file
    time.sleep(size.settle_seconds)
    ids = []
    with meter.measured() as alone:
        for _ in range(size.alone):
            ids.append(api.call("POST", path, body)["data"]["id"])
            assert simulator.run_once().requests == 1
    connection = f"/api/v1/connections/{who.connection_id}"
    api.call("PATCH", connection, {"read_batch_size": 1})
    with meter.measured() as together:
        for _ in range(size.together):
            api.call("POST", path, body)
        assert simulator.run_once().requests == size.together
    stored_bytes = meter.stored_bytes() / (1 + size.alone + size.together)
    variants = {}
    for variant, queue in VARIANTS.items():
        with meter.measured() as usage:
            queue(api, connection, webhook_url, size.of_variant(variant))
            number = simulator.run_once().requests
        assert number > size.of_variant(variant) if variant == "page" else number == size.of_variant(variant)
        variants[variant] = usage, number
    api.call("PATCH", connection, {"read_batch_size": BATCH_SIZE})
    executed = len(company.executed)
    with meter.measured() as in_sets:
        for _ in range(size.in_sets):
            api.call("POST", path, body)
        simulator.run_once()
    assert len(company.executed) - executed >= size.in_sets
    with meter.measured() as idle:
        for number in range(size.polls):
            if number % 2:  # a call without work is recorded every ten minutes, which is every second poll
                meter.age(who.connection_id)
            assert simulator.run_once().requests == 0
    with meter.measured() as dormant:
        for _ in range(size.polls):
            meter.age(who.connection_id)
            assert simulator.run_once().requests == 0
    with meter.measured() as expired:
        meter.expire(ids)
    jobs = [
        function.logical_id
        for function in service.template.functions()
        if any(e.type == "Schedule" for e in function.events)
    ]
    client = local_client(service.operator)
    with meter.measured() as upkeep:
        for _ in range(size.upkeep_runs):
            for job in jobs:
                client.invoke(FunctionName=job, Payload=b"{}")
    return Measured(alone, together, in_sets, idle, dormant, upkeep, expired, variants, stored_bytes * 1000 / 1e9)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.costs", description=__doc__)
    parser.add_argument("--prices", type=Path, default=ROOT / "benchmarks" / "prices.json", help="a JSON file")
    parser.add_argument("--tiny", action="store_true", help="measure a few calls, to see whether the program works")
    parser.add_argument("--write", action="store_true", help="write benchmarks/units.json and docs/costs.md")
    help_ = "do not count the calls of an app again, which takes minutes"
    parser.add_argument("--without-calls", action="store_true", help=help_)
    help_ = "billed duration of a warm Lambda call (%(default)s)"
    parser.add_argument("--lambda-ms", type=float, default=LAMBDA_MS, help=help_)
    help_ = "what a cold start is billed in addition (%(default)s)"
    parser.add_argument("--init-ms", type=float, default=INIT_MS, help=help_)
    help_ = "share of calls with a cold start (%(default)s)"
    parser.add_argument("--cold-share", type=float, default=COLD_SHARE, help=help_)
    level = Template.load(ROOT / "template.yaml").functions()[0].properties["LoggingConfig"]["SystemLogLevel"]
    parser.add_argument("--system-log-level", choices=["INFO", "WARN"], default=level, help="default: %(default)s")
    return parser


if __name__ == "__main__":
    main()
