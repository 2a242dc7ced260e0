"""Measure the requests a minute of one connection on a slow line, here and with `qbwc-kit`.

Run `python -m benchmarks.line [--trips 0 50 100 150] [--works 20 150] [--sizes 1 5 20]`. Each call of the Web Connector
takes a trip of so many milliseconds, and each request takes QuickBooks so many milliseconds of work. Both are waited
for, and everything else takes the time that it takes here. A request is a customer query with about 6 KB of response.
The size is the number of requests in a message set: `read_batch_size` of a connection here, of which 20 is the default,
and the number of requests that a task yields in `qbwc-kit`. A session here doubles the size; a rate counts from the
first full set on.

The last lines are about 20 reads that are queued at once, each alone and all in one set: after how many seconds the
service has the response to the first and to the last of them.

* *Here* is the stack of `make run` with the embedded database, over HTTP.
* `qbwc-kit` (PyPI) has its tasks in memory. Install it with `pip install --target FOLDER qbwc-kit==0.1.3` and put
  FOLDER on PYTHONPATH; without it, it and the next two columns are empty.
* With PostgreSQL, a task of `qbwc-kit` claims its requests in a table and stores their responses there: two
  statements over a local socket, without waiting for the disk.
* With boto3, it stores each request as one item of the embedded database, without an index or a transaction: two calls
  of DynamoDB for each request.
* The *ideal* has only trips and work.

With DYNAMODB_ENDPOINT, that database takes the place of the embedded one.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
import time
import uuid
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from benchmarks.postgresql import postgresql
from local import first_steps, stack
from local.database import answering_endpoint
from simulator.company import Company
from simulator.runs.scheduler import Simulator
from simulator.web_connector.transport import HttpTransport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from benchmarks.postgresql import Session

TRIPS, WORKS, SIZES = (0, 50, 100, 150), (20, 150), (1, 5, 20)
AT_ONCE = 20
"""The requests whose first and last response is waited for."""
MIN_REQUESTS, MIN_SETS = 40, 8
"""At least so many requests and sets are measured in a session."""

REQUEST = {"request_json": {"CustomerQueryRq": {"MaxReturned": 5}}}
REQUEST_TEXT = "<CustomerQueryRq><MaxReturned>5</MaxReturned></CustomerQueryRq>"
RESPONSE_TEXT = "<CustomerRet><FullName>Abercrombie, Kristy</FullName></CustomerRet>" * 85
"""About 6 KB, like the response of the simulated company."""

QWC = """<?xml version="1.0"?><QBWCXML><AppName>kit</AppName><AppID></AppID><AppURL>{url}</AppURL>
<AppDescription>kit</AppDescription><AppSupport>{url}</AppSupport><UserName>kit</UserName>
<OwnerID>{{57F3B9B1-86F1-4fcc-B1EE-566DE1813D20}}</OwnerID><FileID>{{90A44FB5-33D9-4815-AC85-BC87A7E7D1EB}}</FileID>
<QBType>QBFS</QBType></QBWCXML>"""
PASSWORD = "the same in the file and here"  # noqa: S105 - of a server that lives for seconds on loopback


class SlowLine(HttpTransport):
    """The Web Connector's line, on which each call takes a trip, and a QuickBooks that works on each request."""

    def __init__(self) -> None:
        super().__init__()
        self.trip_seconds = self.work_seconds = 0.0
        self.answered: list[tuple[float, int]] = []
        """(moment, requests): when the service has received the responses to a message set."""

    def post(self, url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        """Post as the base class does, and wait for the work and the trip."""
        responses = body.count(b"CustomerQueryRs status") + body.count(b"CustomerQueryRs requestID")
        time.sleep(self.trip_seconds + self.work_seconds * responses)
        reply = super().post(url, headers, body)
        if responses:
            self.answered.append((time.perf_counter(), responses))
        return reply

    def requests_a_minute(self, size: int) -> float:
        """Return the rate from the first full set on."""
        first = next(number for number, (_, responses) in enumerate(self.answered) if responses == size)
        requests = sum(responses for _, responses in self.answered[first + 1 :])
        return requests / (self.answered[-1][0] - self.answered[first][0]) * 60


def requests_of(size: int) -> int:
    """Return how many requests are queued: those up to the first full set, and those that are measured."""
    return 3 * size + max(MIN_SETS * size, MIN_REQUESTS)


class System(Protocol):
    """One of the systems."""

    line: SlowLine

    def drain(self, requests: int, size: int) -> None:
        """Drain so many requests in one session, in sets of `size`."""
        ...


class Here:
    """The service."""

    def __init__(self, service: stack.Stack, folder: Path) -> None:
        who = first_steps.prepare(service.base_url, service.operator, folder)
        self.line = SlowLine()
        self.began = 0.0
        self._api = first_steps.Api(who.base_url, who.api_key)
        self._path = f"/api/v1/connections/{who.connection_id}"
        qwc = Path(who.qwc_path).read_text(encoding="utf-8")
        self._simulator = Simulator(qwc, who.qbwc_password, Company.generated(), transport=self.line)

    def drain(self, requests: int, size: int) -> None:
        """Queue requests, and run one session."""
        self._api.call("PATCH", self._path, {"read_batch_size": size})
        for _ in range(requests):
            self._api.call("POST", f"{self._path}/queued_requests", REQUEST)
        self.line.answered.clear()
        self.began = time.perf_counter()
        self._simulator.run_once()

    def waits(self, size: int) -> tuple[float, float]:
        """Return the seconds from the first call to the first and to the last response of requests queued at once."""
        self.drain(AT_ONCE, size)
        return self.line.answered[0][0] - self.began, self.line.answered[-1][0] - self.began


class Memory:
    """Requests that are stored nowhere."""

    def add(self, ids: Sequence[str]) -> None:
        """Store new requests."""

    def claim(self, ids: Sequence[str]) -> None:
        """Store that requests are sent."""

    def answer(self, ids: Sequence[str]) -> None:
        """Store their responses."""


class Rows(Memory):
    """Requests that are rows of PostgreSQL."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._connection = uuid.uuid4()

    def add(self, ids: Sequence[str]) -> None:
        """Insert rows."""
        values = f"'{self._connection}', clock_timestamp(), now(), 'waiting', 'pending', '{REQUEST_TEXT}', NULL, ''"
        rows = ", ".join(f"('{id_}', {values})" for id_ in ids)
        self._session.run(f"INSERT INTO queued_requests VALUES {rows};")  # noqa: S608 - our own values

    def claim(self, ids: Sequence[str]) -> None:
        """Claim the oldest rows that wait."""
        self._session.run(
            "UPDATE queued_requests SET state = 'sent', updated_at = now() WHERE id IN (SELECT id FROM queued_requests "  # noqa: S608
            f"WHERE connection_id = '{self._connection}' AND state = 'waiting' ORDER BY inserted_at, id "
            f"LIMIT {len(ids)} FOR UPDATE SKIP LOCKED);"
        )

    def answer(self, ids: Sequence[str]) -> None:
        """Store responses in rows."""
        names = ", ".join(f"'{id_}'" for id_ in ids)
        self._session.run(
            f"UPDATE queued_requests SET state = 'response_received', response = '{RESPONSE_TEXT}', "  # noqa: S608
            f"updated_at = now() WHERE id IN ({names});"
        )


class Items(Memory):
    """Requests that are items of DynamoDB."""

    def __init__(self, client: Any) -> None:
        self._client, self._table = client, f"bare-{uuid.uuid4().hex[:8]}"
        client.create_table(
            TableName=self._table,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        )

    def add(self, ids: Sequence[str]) -> None:
        """Put items."""
        for id_ in ids:
            self._put(id_, {"state": {"S": "waiting"}})

    def claim(self, ids: Sequence[str]) -> None:
        """Put the items again, in their next state."""
        for id_ in ids:
            self._put(id_, {"state": {"S": "sent"}})

    def answer(self, ids: Sequence[str]) -> None:
        """Put the items again, with their responses."""
        for id_ in ids:
            self._put(id_, {"state": {"S": "response_received"}, "response": {"S": RESPONSE_TEXT}})

    def _put(self, id_: str, values: Mapping[str, Any]) -> None:
        self._client.put_item(TableName=self._table, Item={"id": {"S": id_}, "request": {"S": REQUEST_TEXT}, **values})


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


class Kit:
    """`qbwc-kit`, with its requests somewhere."""

    name = "queries"

    def __init__(self, kit: Any, requests: Memory, stack_: ExitStack) -> None:
        self.line = SlowLine()
        self._kit, self._requests = kit, requests
        self._ids: list[str] = []
        self._size = 1
        service = kit.QBWCService(authenticator=kit.StaticAuthenticator("kit", PASSWORD, [self]))
        url = stack_.enter_context(serving(service.dispatch))
        self._simulator = Simulator(QWC.format(url=url), PASSWORD, Company.generated(), transport=self.line)

    def run(self, _context: object) -> Iterator[Any]:
        """Yield sets of requests and wait for their responses. `qbwc-kit` calls this in a session."""
        for start in range(0, len(self._ids), self._size):
            ids = self._ids[start : start + self._size]
            self._requests.claim(ids)
            yield self._kit.qbxml.QBXMLRequest([self._kit.qbxml.query("Customer", max_returned=5) for _ in ids])
            self._requests.answer(ids)

    def drain(self, requests: int, size: int) -> None:
        """Store requests, and run one session."""
        self._ids, self._size = [str(uuid.uuid4()) for _ in range(requests)], size
        self._requests.add(self._ids)
        self._simulator.run_once()


@contextmanager
def systems() -> Iterator[dict[str, System]]:
    """Yield those that can run on this machine, by the heading of their column."""
    endpoint = answering_endpoint()
    with ExitStack() as at_the_end:
        folder = Path(at_the_end.enter_context(tempfile.TemporaryDirectory()))
        # The sessions follow one another faster than those of a real Web Connector.
        service = at_the_end.enter_context(
            stack.running(dynamodb_endpoint=endpoint, log_level="ERROR", parameters={"MaxSessions": "5000"})
        )
        found: dict[str, System] = {"here": Here(service, folder)}
        try:
            kit = import_module("qbwc_kit")
        except ModuleNotFoundError:
            yield found
            return
        found["`qbwc-kit`"] = Kit(kit, Memory(), at_the_end)
        server = at_the_end.enter_context(postgresql())
        if server is not None:
            rows = Rows(at_the_end.enter_context(server.session()))
            found["with PostgreSQL"] = Kit(kit, rows, at_the_end)
        found["with boto3"] = Kit(kit, Items(service.clients["dynamodb"]), at_the_end)
        yield found


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print a table. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.line", description=__doc__)
    parser.add_argument("--trips", type=int, nargs="+", default=TRIPS, help="milliseconds of a call")
    parser.add_argument("--works", type=int, nargs="+", default=WORKS, help="milliseconds of a request in QuickBooks")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="requests in a message set")
    options = parser.parse_args(arguments)
    with systems() as found:
        headings = ["a trip, ms", "work, ms", "requests in a set", *found, "ideal"]
        print("| " + " | ".join(headings) + " |\n" + "|---" * len(headings) + "|")
        for system in found.values():
            system.drain(1, 1)  # a first session adds the application
        for trip, work, size in product(options.trips, options.works, options.sizes):
            rates = []
            for system in found.values():
                line = system.line
                line.trip_seconds, line.work_seconds = trip / 1000, work / 1000
                line.answered.clear()
                system.drain(requests_of(size), size)
                rates.append(line.requests_a_minute(size))
            ideal = 60_000 / (2 * trip / size + work)
            print(
                f"| {trip} | {work} | {size} | " + " | ".join(f"{rate:,.0f}" for rate in [*rates, ideal]) + " |",
                flush=True,
            )
        show_waits(found["here"], options)
    return 0


def show_waits(here: System, options: argparse.Namespace) -> None:
    """Print how long the first and the last of AT_ONCE requests wait, alone and in one set."""
    assert isinstance(here, Here)
    for trip, work in product(options.trips, options.works):
        here.line.trip_seconds, here.line.work_seconds = trip / 1000, work / 1000
        here.drain(requests_of(AT_ONCE), AT_ONCE)  # the next session begins with a full set
        for size in (AT_ONCE, 1):
            first, last = here.waits(size)
            print(f"{AT_ONCE} reads, a trip of {trip} ms, {work} ms of work, {size} in a set: ", end="")
            print(f"the first after {first:.1f} s, the last after {last:.1f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main())
