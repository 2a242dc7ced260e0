"""Measure how many requests per second the stack of `make run` drains, over HTTP, on the embedded database.

Run `python -m benchmarks.draining [--before COMMIT] [REQUESTS …]` (default 100, 1,000 and 10,000). For each number, a
new stack queues that many requests, three writes and then a read, and a simulated Web Connector drains them in one
session. Columns: milliseconds of a create; requests per second of the whole drain, of its first and of its last tenth;
milliseconds of processor time per drained request, with the simulated Web Connector and QuickBooks; seconds of a
search that finds nothing afterwards. The last tenth shows whether the rate falls as records accumulate.

With `--before`, each number is measured with the code of that commit too, right before, and the last columns are the
ratios. A drain ends after `MAX_DRAIN_SECONDS`, because slow code would need an hour for 10,000 requests; its rate is
that of the requests it drained. With DYNAMODB_ENDPOINT, the stack uses that database instead.

With `--receive`, it measures the processor time of `receiveResponseXML` instead, in milliseconds: for one request with
five customers, for a message set of 20 of them, and for one response of 845 KB. The service calls botocore as in
Lambda. Nothing is sent: in place of the network, the embedded database responds, whose own time is subtracted. Each
figure is the median of `ROUNDS` medians. With `--before`, rounds of both alternate, because a shared machine is slow at
times.
"""

from __future__ import annotations

import argparse
import base64
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SIZES = (100, 1_000, 10_000)
ROOT = Path(__file__).resolve().parent.parent
MAX_DRAIN_SECONDS = 240
SEARCHES = 3
CREATED, TOO_MANY_REQUESTS = 201, 429
ONE = "--one"
"""Measures one number with the code on PYTHONPATH and prints JSON. 0 measures `receiveResponseXML`."""

ROUNDS = 5
CALLS = 9
"""The rounds, and the calls of each kind in a round."""

SIZES_OF_SETS = ("batch_size", "read_batch_size")
"""The members of a connection that limit its message sets."""

KINDS = {"one": (1, 5), "set": (20, 5), "large": (1, 1_190)}
"""The requests of a message set, and the customers in the response to each."""

COLUMNS = {
    "create_ms": ("create ms", "{:.1f}"),
    "drained_per_second": ("drained/s", "{:.1f}"),
    "first_tenth_per_second": ("first 10th", "{:.1f}"),
    "last_tenth_per_second": ("last 10th", "{:.1f}"),
    "cpu_ms": ("CPU ms", "{:.1f}"),
    "search_seconds": ("search s", "{:.2f}"),
}


def a_request(number: int) -> dict[str, Any]:
    """Return the body of a create: a write or, every fourth time, a query for the customer of the previous write."""
    if number % 4 == 3:
        request = {"name": "CustomerQueryRq", "children": [{"name": "FullName", "text": f"Customer {number - 1}"}]}
    else:
        customer = {"name": "CustomerAdd", "children": [{"name": "Name", "text": f"Customer {number}"}]}
        request = {"name": "CustomerAddRq", "children": [customer]}
    return {"request_json": {"request": request}}


def measure(requests: int) -> dict[str, float]:
    """Queue requests on a new stack, drain them and search. Uses only functions that older commits have too."""
    from local import first_steps, stack  # noqa: PLC0415 - the code to measure, which the main process does not need
    from simulator.company import Company  # noqa: PLC0415
    from simulator.runs.scheduler import Simulator  # noqa: PLC0415
    from simulator.web_connector.transport import HttpTransport  # noqa: PLC0415

    class Timed(HttpTransport):
        """Notes the moment of each response that the service has received."""

        moments: list[float]

        def post(self, url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
            reply = super().post(url, headers, body)
            if "receiveResponseXML" in headers["SOAPAction"]:
                self.moments.append(time.perf_counter())
            return reply

    endpoint = os.environ.get("DYNAMODB_ENDPOINT")
    with tempfile.TemporaryDirectory() as folder, stack.running(dynamodb_endpoint=endpoint) as service:
        who = first_steps.prepare(service.base_url, service.operator, Path(folder))
        api = first_steps.Api(who.base_url, who.api_key)
        path = f"/api/v1/connections/{who.connection_id}/queued_requests"
        create_seconds = 0.0
        for number in range(requests):
            status = TOO_MANY_REQUESTS
            while status == TOO_MANY_REQUESTS:  # an app may queue 100 requests per second
                start = time.perf_counter()
                status = api.request("POST", path, a_request(number)).status
                seconds = time.perf_counter() - start
                time.sleep(0.1 if status == TOO_MANY_REQUESTS else 0)
            if status != CREATED:
                raise RuntimeError(f"request {number} was refused with status {status}")
            create_seconds += seconds

        transport = Timed()
        qwc = Path(who.qwc_path).read_text(encoding="utf-8")
        simulator = Simulator(qwc, who.qbwc_password, Company.generated(), transport=transport)
        start, cpu_began = time.perf_counter(), time.process_time()
        transport.moments = [start]
        simulator.connector.stopped = lambda: time.perf_counter() - start > MAX_DRAIN_SECONDS
        result = simulator.run_once()
        cpu_seconds = time.process_time() - cpu_began
        drained = len(transport.moments) - 1
        stopped = drained < requests and time.perf_counter() - start > MAX_DRAIN_SECONDS
        if drained < requests and not stopped:
            raise RuntimeError(f"{drained} of {requests} requests were drained: {result}")

        start = time.perf_counter()
        for _ in range(SEARCHES):
            api.call("GET", f"{path}?search_phrase=nothing-contains-this")
        search_seconds = (time.perf_counter() - start) / SEARCHES
    tenth = drained // 10
    moments = transport.moments
    return {
        "create_ms": create_seconds / requests * 1000,
        "drained_per_second": drained / (moments[-1] - moments[0]),
        "first_tenth_per_second": tenth / (moments[tenth] - moments[0]),
        "last_tenth_per_second": tenth / (moments[-1] - moments[-1 - tenth]),
        "cpu_ms": cpu_seconds / drained * 1000,
        "search_seconds": search_seconds,
        "drained": drained,
    }


class Endpoint:
    """The embedded database in place of the network. `seconds` is the processor time that it has used."""

    def __init__(self) -> None:
        from local.emulated_dynamodb.operations import EmulatedDynamoDB  # noqa: PLC0415

        self._database = EmulatedDynamoDB()
        self.seconds = 0.0

    def __call__(self, request: Any, **_: Any) -> Any:
        """Respond to the HTTP request of a call, as a handler of botocore's event `before-send`."""
        from botocore.awsrequest import AWSResponse  # noqa: PLC0415

        from local.emulated_dynamodb.values import DynamoDBError  # noqa: PLC0415

        began = time.thread_time()
        target = request.headers["X-Amz-Target"]
        operation = (target.decode() if isinstance(target, bytes) else target).rpartition(".")[2]
        status = 200
        try:
            result = self._database.call(operation, with_bytes(json.loads(request.body)))
        except DynamoDBError as error:
            status, result = 400, {"__type": error.code, "message": str(error), **error.members}
        text = json.dumps(result, default=as_json)
        response = AWSResponse(request.url, status, {}, Body(text.encode()))
        self.seconds += time.thread_time() - began
        return response


class Body:
    """The body of an HTTP response, in the form that botocore reads."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def stream(self) -> Iterator[bytes]:
        """Yield it."""
        yield self._data


def as_json(value: Any) -> str | int:
    """Return a binary value as DynamoDB writes it, and 0 for the times in descriptions of tables."""
    return base64.b64encode(value).decode() if isinstance(value, bytes) else 0


def with_bytes(value: Any) -> Any:
    """Return JSON of DynamoDB with its binary values decoded."""
    if isinstance(value, list):
        return list(map(with_bytes, value))
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("B"), str):
        return {"B": base64.b64decode(value["B"])}
    return {name: with_bytes(member) for name, member in value.items()}


def measure_receive() -> dict[str, float]:
    """Return the median processor time of `receiveResponseXML` by kind, in milliseconds."""
    in_lambda = {"AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand", "AWS_DEFAULT_REGION": "us-east-1"}
    keys = {"AWS_ACCESS_KEY_ID": "x" * 20, "AWS_SECRET_ACCESS_KEY": "x" * 40}
    os.environ.update(in_lambda | keys | {"AWS_ENDPOINT_URL": "http://dynamodb.example"})
    return {kind: median(received(*KINDS[kind])) for kind in KINDS}


def received(size: int, customers: int) -> list[float]:
    """Return the processor times of `receiveResponseXML` for message sets of this size, in milliseconds."""
    from adapters.dynamodb import DynamoDBStore  # noqa: PLC0415
    from domain.records.connection import Connection  # noqa: PLC0415
    from handlers.common.bootstrap import aws_client  # noqa: PLC0415
    from local.tables import make_tables  # noqa: PLC0415
    from tests.support.web_connector.connector import Connector, soap_call  # noqa: PLC0415
    from tests.support.web_connector.quickbooks import hcp, labels_in  # noqa: PLC0415

    endpoint, client = Endpoint(), aws_client("dynamodb")
    client.meta.events.register("before-send.dynamodb", endpoint)
    store: Any = DynamoDBStore(client, make_tables(client, ""))
    store.calls = {}
    connector = Connector(store)
    connector.connect(**{name: size for name in SIZES_OF_SETS if name in Connection.__dataclass_fields__})
    for _ in range(2 * size + size * (CALLS + 1)):
        connector.queue(content=f"<MaxReturned>{customers}</MaxReturned>")
    connector.authenticate()
    text, times = connector.send(hcp()), list[float]()
    while len(times) < CALLS:
        labels = labels_in(text)
        call = soap_call("receiveResponseXML", connector.ticket, a_response(labels, customers), "", "").decode()
        connector.clock.advance(seconds=1)
        gc.collect()
        endpoint.seconds, began = 0.0, time.process_time()
        reply = connector.endpoint.reply(call)
        if len(labels) == size:
            times.append((time.process_time() - began - endpoint.seconds) * 1000)
        if reply.status != 200:
            raise RuntimeError(reply.body)
        text = connector.send()
    return times


def a_response(labels: Sequence[str], customers: int) -> str:
    """Return the response to queries for customers."""
    from benchmarks.qbxml_speed import CUSTOMER  # noqa: PLC0415

    objects = "".join(CUSTOMER.format(number=number) for number in range(customers))
    status = 'statusCode="0" statusSeverity="Info" statusMessage="Status OK"'
    parts = "".join(f'<CustomerQueryRs requestID="{label}" {status}>{objects}</CustomerQueryRs>' for label in labels)
    return f'<?xml version="1.0" ?><QBXML><QBXMLMsgsRs>{parts}</QBXMLMsgsRs></QBXML>'


def measured_in(tree: Path, requests: int) -> dict[str, float]:
    """Measure the code of a tree in a new process. 0 requests measure `receiveResponseXML`."""
    environment = {**os.environ, "PYTHONPATH": f"{tree}:{tree / 'src'}"}
    output = subprocess.run(  # noqa: S603 - this file, in a tree of this repository
        [sys.executable, __file__, ONE, str(requests)], cwd=tree, env=environment, check=True, stdout=subprocess.PIPE
    ).stdout
    result: dict[str, float] = json.loads(output.splitlines()[-1])
    return result


def compare_receive(before: str | None) -> None:
    """Measure `receiveResponseXML` and print a table."""
    print(f"{'milliseconds':14}" + "".join(f"{kind:>8}" for kind in KINDS), flush=True)
    if before is None:
        rounds = [measured_in(ROOT, 0) for _ in range(ROUNDS)]
        show_receive("", rounds)
        return
    with tree_of(before) as tree:
        pairs = [(measured_in(tree, 0), measured_in(ROOT, 0)) for _ in range(ROUNDS)]
    show_receive("before", [former for former, _ in pairs])
    show_receive("after", [latter for _, latter in pairs])
    show_receive("after/before", [{kind: latter[kind] / former[kind] for kind in KINDS} for former, latter in pairs])


def show_receive(name: str, rounds: Sequence[Mapping[str, float]]) -> None:
    """Print the median of each kind."""
    cells = [median(values[kind] for values in rounds) for kind in KINDS]
    print(f"{name:14}" + "".join(f"{cell:8.2f}" for cell in cells), flush=True)


@contextmanager
def tree_of(commit: str) -> Iterator[Path]:
    """Check out a commit in a temporary folder while the block runs."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        subprocess.run(["git", "worktree", "add", "--detach", "--quiet", tree, commit], cwd=ROOT, check=True)  # noqa: S603, S607 - git, with our own arguments
        try:
            yield tree
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", tree], cwd=ROOT, check=True)  # noqa: S603, S607


def show(name: str, requests: int | str, values: Mapping[str, float], form: str | None = None) -> None:
    """Print a line of the table."""
    cells = [(form or text).format(values[column]) for column, (_, text) in COLUMNS.items()]
    print(f"{requests:>8} {name:10}" + "".join(f"{cell:>12}" for cell in cells), flush=True)


def main() -> None:
    """Measure the sizes one after the other and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int, metavar="REQUESTS")
    parser.add_argument("--before", metavar="COMMIT")
    parser.add_argument("--receive", action="store_true")
    parser.add_argument(ONE, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        print(json.dumps(measure(options.one) if options.one else measure_receive()))
        return
    if options.receive:
        compare_receive(options.before)
        return
    from local.database import answering_endpoint  # noqa: PLC0415 - a tree of an older commit has no such function

    answering_endpoint()
    print(f"{'requests':>8} {'':10}" + "".join(f"{title:>12}" for title, _ in COLUMNS.values()), flush=True)
    for requests in options.sizes or SIZES:
        before = None
        if options.before:
            with tree_of(options.before) as tree:
                before = measured_in(tree, requests)
            show("before", requests, before)
        after = measured_in(ROOT, requests)
        show("after", requests, after)
        if before:
            show("after/before", "", {name: after[name] / before[name] for name in COLUMNS}, "{:.2f}")


if __name__ == "__main__":
    main()
