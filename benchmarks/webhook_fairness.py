"""Measure how long hanging receivers delay the webhooks of other apps, on the stack of `make run`.

Run `python -m benchmarks.webhook_fairness [COMPLETIONS [HOSTS]]` (default 1,000 with 5 hanging hosts). The first round
completes only 90 % of the requests. The second completes all of them, and 10 % have a receiver that never responds. The
third repeats the first, because other programs may slow down the machine. The output is the time from the first
completion until the last healthy webhook arrived. The exit status is 1 if this time with hanging receivers is more than
1.5 times the mean of the other two, or if an event is missing.

With more HOSTS, fewer time-outs can be avoided, because each host has to time out before it is skipped.
"""

from __future__ import annotations

import json
import random
import socket
import sys
import threading
import time
import uuid
from contextlib import ExitStack
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from domain.records.app import App
from domain.records.connection import Connection
from domain.records.request import QueuedRequest, State
from domain.records.webhook import Webhook
from domain.storage.changes import AddRequest, ChangeRequest, Put
from domain.timestamps import timestamp
from handlers.common.bootstrap import services
from local import stack

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.storage.ports import Database

COMPLETIONS = 1_000
HANGING_HOSTS = 5
HANGING_SHARE = 0.1
LIMIT = 1.5
PATIENCE_SECONDS = 600
SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="  # noqa: S105 - for this run only
REQUEST_XML = '<QBXML><QBXMLMsgsRq onError="stopOnError"><CustomerQueryRq requestID="1"/></QBXMLMsgsRq></QBXML>'
RESPONSE_XML = (
    '<QBXML><QBXMLMsgsRs><CustomerQueryRs requestID="1" statusCode="0" statusSeverity="Info" '
    'statusMessage="Status OK"><CustomerRet><ListID>80000001-1</ListID></CustomerRet></CustomerQueryRs>'
    "</QBXMLMsgsRs></QBXML>"
)


class HealthyReceiver:
    """Responds to every event at once and stores the time of its arrival."""

    def __init__(self) -> None:
        self.arrivals: dict[str, float] = {}
        arrivals = self.arrivals

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                event = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                arrivals.setdefault(event["page_request_id"], time.monotonic())
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Print nothing."""

        class Server(ThreadingHTTPServer):
            # With a shorter backlog, connections would be dropped, and TCP retries only after a second.
            request_queue_size = 1024

        self.server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/"


class Tenant:
    """An app with one connection. Its requests were sent and have a webhook."""

    def __init__(self, store: Database, url: str) -> None:
        self._store = store
        self._url = url
        self._app_id, self._connection_id = str(uuid.uuid4()), str(uuid.uuid4())
        now = timestamp(datetime.now(UTC))
        store.commit(
            Put(None, App(self._app_id, "Shop", now, (SECRET,))),
            Put(None, Connection(self._connection_id, self._app_id, "", "", now, now)),
        )

    def add(self) -> QueuedRequest:
        """Store a request that was sent to QuickBooks."""
        now = timestamp(datetime.now(UTC))
        record = QueuedRequest(
            id=str(uuid.uuid4()),
            connection_id=self._connection_id,
            app_id=self._app_id,
            request_name="CustomerQueryRq",
            request_label="1",
            qbxml_version="13.0",
            inserted_at=now,
            updated_at=now,
            state=State.SENT,
            webhook=Webhook.to(self._url),
        )
        self._store.commit(AddRequest(record, REQUEST_XML, ""))
        return record


def complete(store: Database, records: Sequence[QueuedRequest]) -> None:
    """Store the responses of all requests."""
    start = time.monotonic()
    for record in records:
        store.commit(ChangeRequest(record, record.moved(State.RESPONSE_RECEIVED, datetime.now(UTC)), RESPONSE_XML))
    print(f"  {len(records)} requests completed in {time.monotonic() - start:.1f} s", flush=True)


def last_arrival(receiver: HealthyReceiver, records: Sequence[QueuedRequest], start: float) -> float:
    """Wait for the events of all these requests and return the seconds until the last one arrived."""
    ids = {record.id for record in records}
    while ids - receiver.arrivals.keys() and time.monotonic() < start + PATIENCE_SECONDS:
        time.sleep(0.05)
    missing = ids - receiver.arrivals.keys()
    if missing:
        print(f"{len(missing)} events are missing after {PATIENCE_SECONDS} s")
        return float("inf")
    return max(receiver.arrivals[one] for one in ids) - start


def main(completions: int = COMPLETIONS, hosts: int = HANGING_HOSTS) -> int:
    """Measure both cases, print the times and compare them."""
    chance = random.Random(1)  # noqa: S311 - the same order in each run
    with ExitStack() as exits:
        exits.enter_context(stack.running(log_level="CRITICAL"))
        store = services().store
        receiver = HealthyReceiver()
        exits.callback(receiver.server.shutdown)
        healthy = [Tenant(store, receiver.url) for _ in range(5)]
        # The operating system accepts their connections, but they never respond.
        listeners = [exits.enter_context(socket.create_server(("127.0.0.1", 0), backlog=1024)) for _ in range(hosts)]
        hanging = [Tenant(store, f"http://127.0.0.1:{listener.getsockname()[1]}/") for listener in listeners]
        slow = round(completions * HANGING_SHARE)

        def measured(name: str, number_hanging: int) -> float:
            fast = [healthy[index % len(healthy)].add() for index in range(completions - slow)]
            records = fast + [hanging[index % len(hanging)].add() for index in range(number_hanging)]
            chance.shuffle(records)
            start, processor = time.monotonic(), time.process_time()
            complete(store, records)
            seconds = last_arrival(receiver, fast, start)
            processor = time.process_time() - processor
            print(
                f"{len(fast)} healthy webhooks {name}: {seconds:.1f} s, {processor:.1f} s of the processor", flush=True
            )
            return seconds

        before = measured("alone", 0)
        beside = measured("beside hanging receivers", slow)
        alone = (before + measured("alone", 0)) / 2
    print(f"{beside / alone:.2f} times as long, with {slow} requests to {hosts} hosts that hang")
    return 0 if beside <= LIMIT * alone else 1


if __name__ == "__main__":
    sys.exit(main(*(int(argument) for argument in sys.argv[1:])))
