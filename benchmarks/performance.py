"""Measure the same work here, in `qbwc-kit`, in PostgreSQL and with bare boto3, in one run.

Run `python -m local.dynamodb_local .tools/dynamodb-local 8127 python -m benchmarks.performance [REQUESTS [ROUNDS]]`
(default 100 3). The figures are medians over the rounds, because other programs use the machine as well. The work is a
customer query with about 6 KB of response. The service is the stack of `make run` with DynamoDB Local: it validates,
stores and indexes each request, records each step in a transaction, and is called over HTTP.

* `qbwc-kit` (PyPI) keeps its tasks in memory. It serves the same simulated Web Connector and company over HTTP. Install
  it with `pip install --target FOLDER qbwc-kit==0.1.3` and put FOLDER on PYTHONPATH; without it, its column is empty.
* PostgreSQL stores the request, claims it, stores its response and reads it, in four statements over a local socket,
  without waiting for the disk. It is left out if its programs are not installed.
* Bare boto3 does the same in four calls of DynamoDB Local: one item, no index, no transaction.

The units of the service are those that `benchmarks.costs` counts, for a request in a long session. Only ratios of one
run say something: the database, the Web Connector and QuickBooks run on the same machine.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import threading
import time
import uuid
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.growth import UNITS
from benchmarks.listing_data import Meter, connect, endpoint
from benchmarks.postgresql import postgresql
from local import first_steps, stack
from simulator.company import Company
from simulator.runs.scheduler import Simulator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

REQUESTS = 100
ROUNDS = 3
MAX_RETURNED = 5
REQUEST = {"request_json": {"CustomerQueryRq": {"MaxReturned": MAX_RETURNED}}}
REQUEST_TEXT = "<CustomerQueryRq><MaxReturned>5</MaxReturned></CustomerQueryRq>"
RESPONSE_TEXT = "<CustomerRet><FullName>Abercrombie, Kristy</FullName></CustomerRet>" * 85
"""About 6 KB, like the response of the simulated company."""

ROWS = {
    "create": "queue a request, ms",
    "read": "read it with its response, ms",
    "list": "the first page of 20, ms",
    "drained": "requests a minute through the simulated Web Connector",
    "cpu": "processor time of each, with the Web Connector and QuickBooks, ms",
    "stored": "requests a second, stored and answered without a Web Connector",
    "writes": "DynamoDB write units of a request",
    "reads": "DynamoDB read units of a request",
}

QWC = """<?xml version="1.0"?><QBWCXML><AppName>kit</AppName><AppID></AppID><AppURL>{url}</AppURL>
<AppDescription>kit</AppDescription><AppSupport>{url}</AppSupport><UserName>kit</UserName>
<OwnerID>{{57F3B9B1-86F1-4fcc-B1EE-566DE1813D20}}</OwnerID><FileID>{{90A44FB5-33D9-4815-AC85-BC87A7E7D1EB}}</FileID>
<QBType>QBFS</QBType></QBWCXML>"""
PASSWORD = "the same in the file and here"  # noqa: S105 - of a server that lives for seconds on loopback


def milliseconds(calls: int, call: Callable[[int], object]) -> float:
    """Return the median duration of a call."""
    durations = []
    for number in range(calls):
        start = time.perf_counter()
        call(number)
        durations.append(time.perf_counter() - start)
    return statistics.median(durations) * 1000


def drained(qwc: str, password: str, requests: int) -> dict[str, float]:
    """Drain requests with the simulated Web Connector. Return requests a minute and the processor time of each."""
    simulator = Simulator(qwc, password, Company.generated())
    start, cpu_start = time.perf_counter(), time.process_time()
    result = simulator.run_once()
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu_start
    assert result.requests == requests, result
    return {"drained": requests / seconds * 60, "cpu": cpu_seconds / requests * 1000}


def of_the_service(requests: int) -> dict[str, float]:
    """Return the figures of the service."""
    with tempfile.TemporaryDirectory() as folder, stack.running(dynamodb_endpoint=endpoint()) as service:
        who = first_steps.prepare(service.base_url, service.operator, Path(folder))
        api = first_steps.Api(who.base_url, who.api_key)
        path = f"/api/v1/connections/{who.connection_id}/queued_requests"
        ids: list[str] = []
        create = milliseconds(requests, lambda _: ids.append(api.call("POST", path, REQUEST)["data"]["id"]))
        rate = drained(Path(who.qwc_path).read_text(encoding="utf-8"), who.qbwc_password, requests)
        read = milliseconds(100, lambda number: api.call("GET", f"/api/v1/queued_requests/{ids[number % requests]}"))
        page = milliseconds(50, lambda _: api.call("GET", f"{path}?page_size=20"))
    units = json.loads(UNITS.read_text(encoding="utf-8"))["long_session"]
    return {"create": create, "read": read, "list": page, **rate, "writes": units["writes"], "reads": units["reads"]}


def of_the_kit(requests: int) -> dict[str, float]:
    """Return the figures of qbwc-kit, none if it is not installed."""
    try:
        kit = import_module("qbwc_kit")
    except ModuleNotFoundError:
        return {}

    class Queries:
        """The queries, one after the other."""

        name = "queries"

        def run(self, _context: object) -> Iterator[Any]:
            """Yield each request and wait for its response."""
            for _ in range(requests):
                yield kit.qbxml.QBXMLRequest([kit.qbxml.query("Customer", max_returned=MAX_RETURNED)])

    service = kit.QBWCService(authenticator=kit.StaticAuthenticator("kit", PASSWORD, [Queries()]))
    with serving(service.dispatch) as url:
        return drained(QWC.format(url=url), PASSWORD, requests)


@contextmanager
def serving(dispatch: Callable[[str], str]) -> Iterator[str]:
    """Serve SOAP calls on loopback, with connections that are kept open. Yield the URL."""

    class Handler(BaseHTTPRequestHandler):
        """Passes bodies on."""

        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            """Reply to a call."""
            body = self.rfile.read(int(self.headers["Content-Length"]))
            reply = dispatch(body.decode()).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/xml; charset=utf-8")
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def do_GET(self) -> None:
            """Reply to the check of the address."""
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Write nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://localhost:{server.server_address[1]}/qbwc"
    finally:
        server.shutdown()
        server.server_close()


def of_postgresql(requests: int) -> dict[str, float]:
    """Return the figures of PostgreSQL, none if it is not installed. The start of psql is included."""
    with postgresql() as database:
        if database is None:
            return {}
        database.load([])
        connection, ids = uuid.uuid4(), [uuid.uuid4() for _ in range(requests)]

        def each(statement: str) -> float:
            values = {"connection": connection, "request": REQUEST_TEXT, "response": RESPONSE_TEXT}
            sql = "\n".join(statement.format(id=request_id, **values) for request_id in ids)
            start = time.perf_counter()
            database.run(sql)
            return (time.perf_counter() - start) / requests

        create = each(
            "INSERT INTO queued_requests VALUES ('{id}', '{connection}', now(), now(), 'waiting', 'pending', "
            "'{request}', NULL, '');"
        )
        claim = each(
            "UPDATE queued_requests SET state = 'sent', updated_at = now() WHERE id = (SELECT id FROM queued_requests "
            "WHERE connection_id = '{connection}' AND state = 'waiting' ORDER BY inserted_at, id LIMIT 1 "
            "FOR UPDATE SKIP LOCKED);"
        )
        answer = each(
            "UPDATE queued_requests SET state = 'response_received', response = '{response}', "
            "updated_at = now() WHERE id = '{id}';"
        )
        read = each("SELECT * FROM queued_requests WHERE id = '{id}';")
        page = each(
            "SELECT * FROM queued_requests WHERE connection_id = '{connection}' ORDER BY inserted_at, id LIMIT 20; "
            "SELECT count(*) FROM queued_requests WHERE connection_id = '{connection}';"
        )
    return {
        "create": create * 1000,
        "read": read * 1000,
        "list": page * 1000,
        "stored": 1 / (create + claim + answer + read),
    }


def of_boto3(requests: int) -> dict[str, float]:
    """Return the figures of four calls of DynamoDB for each request."""
    client, table = connect(endpoint()), f"bare-{uuid.uuid4().hex[:8]}"
    client.create_table(
        TableName=table,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
    )
    keys = [{"id": {"S": str(uuid.uuid4())}} for _ in range(requests)]

    def update(number: int, state: str, response: str) -> None:
        client.update_item(
            TableName=table,
            Key=keys[number],
            UpdateExpression="SET #state = :state, #response = :response",
            ExpressionAttributeNames={"#state": "state", "#response": "response"},
            ExpressionAttributeValues={":state": {"S": state}, ":response": {"S": response}},
        )

    meter = Meter(client)
    start = time.perf_counter()
    try:
        create = milliseconds(
            requests,
            lambda number: client.put_item(TableName=table, Item=keys[number] | {"request": {"S": REQUEST_TEXT}}),
        )
        for number in range(requests):
            update(number, "sent", "")
            update(number, "response_received", RESPONSE_TEXT)
        _, writes = meter.take()
        read = milliseconds(
            requests, lambda number: client.get_item(TableName=table, Key=keys[number], ConsistentRead=True)
        )
        seconds = time.perf_counter() - start
        _, reads = meter.take()
    finally:
        client.delete_table(TableName=table)
    return {
        "create": create,
        "read": read,
        "stored": requests / seconds,
        "writes": writes / requests,
        "reads": reads / requests,
    }


def show(columns: Mapping[str, Mapping[str, float]]) -> str:
    """Return the table as Markdown."""
    lines = ["| | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for key, title in ROWS.items():
        cells = [_number(figures[key]) if key in figures else "" for figures in columns.values()]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"


def main(requests: int = REQUESTS, rounds: int = ROUNDS) -> None:
    """Measure all in each round, and print the table of the medians and, as JSON, every round."""
    measures = {
        "here": of_the_service,
        "`qbwc-kit`": of_the_kit,
        "PostgreSQL": of_postgresql,
        "bare boto3": of_boto3,
    }
    measured = [{name: measure(requests) for name, measure in measures.items()} for _ in range(rounds)]
    medians = {
        name: {key: statistics.median(figures[name][key] for figures in measured) for key in measured[0][name]}
        for name in measures
    }
    print(show(medians))
    print(json.dumps(measured))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
