"""Measure how long receivers of one app delay the first webhook attempts of other apps, on the stack of `make run`.

Run `python -m benchmarks.webhook_fairness [COMPLETIONS [SCENARIO…]]` (default 1,000 completions, all scenarios). One
app has 70 % of the completions. In each scenario its receivers hang or are slow:

* `one-host`: one receiver that never responds.
* `many-hosts`: as many names as completions, with different ports, paths and letter case. None responds.
* `shared-host`: a path that never responds, on the host and port of the other apps' receivers.
* `slow`: many names that respond after 0.95 seconds, just before the time limit.
* `late`: one receiver that responds after 0.65 seconds, which does not count as slow.
* `mixed`: many names; every second one responds at once, the others never.

A round in which its receiver responds at once comes before and after each scenario in the same run, because other
programs may slow down the machine. It has as many completions, so the processor time of the stack itself is in the
comparison. A round of 1,000 completions takes about 6 seconds and waits at most 30 seconds for events. After a
scenario, its receivers respond at once, and the next round begins when all events have arrived.

The output is the time from the completion of a request until its webhook arrived, for the other apps: median, 95th
percentile and maximum, and their ratios to the mean of the two rounds. The exit status is 1 if the ratio of a median or
of a 95th percentile is over 1.5, or if an event is missing.
"""

from __future__ import annotations

import json
import math
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
from unittest import mock

from domain.records.app import App
from domain.records.connection import Connection
from domain.records.request import QueuedRequest, State
from domain.records.webhook import Webhook
from domain.storage.changes import AddRequest, ChangeRequest, Put
from domain.timestamps import timestamp
from handlers.common.bootstrap import services
from local import stack

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from domain.storage.ports import Database

system_getaddrinfo = socket.getaddrinfo

COMPLETIONS = 1_000
ATTACKING_SHARE = 0.7
LIMIT = 1.5
WAIT_SECONDS = 30
SLOW_SECONDS = 0.95
LATE_SECONDS = 0.65
SCENARIOS = ("one-host", "many-hosts", "shared-host", "slow", "late", "mixed")
SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="  # noqa: S105 - for this run only
REQUEST_XML = '<QBXML><QBXMLMsgsRq onError="stopOnError"><CustomerQueryRq requestID="1"/></QBXMLMsgsRq></QBXML>'
RESPONSE_XML = (
    '<QBXML><QBXMLMsgsRs><CustomerQueryRs requestID="1" statusCode="0" statusSeverity="Info" '
    'statusMessage="Status OK"><CustomerRet><ListID>80000001-1</ListID></CustomerRet></CustomerQueryRs>'
    "</QBXMLMsgsRs></QBXML>"
)


class Receivers:
    """One server for all receivers. Paths that begin with /hang never respond, and /slow and /late respond late."""

    def __init__(self) -> None:
        self.arrivals: dict[str, float] = {}
        arrivals, released = self.arrivals, threading.Event()
        self.released = released

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                event = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                arrivals.setdefault(event["page_request_id"], time.monotonic())
                if self.path.startswith("/hang"):
                    released.wait()
                if self.path.startswith("/slow"):
                    released.wait(SLOW_SECONDS)
                if self.path.startswith("/late"):
                    released.wait(LATE_SECONDS)
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Print nothing."""

        class Server(ThreadingHTTPServer):
            # With a shorter backlog, connections would be dropped, and TCP retries only after a second.
            request_queue_size = 1024
            daemon_threads = True

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """End the server and every exchange."""
        self.released.set()
        self.server.shutdown()


class Tenant:
    """An app with one connection. Its requests were sent and have a webhook."""

    def __init__(self, store: Database) -> None:
        self._store = store
        self._app_id, self._connection_id = str(uuid.uuid4()), str(uuid.uuid4())
        now = timestamp(datetime.now(UTC))
        store.commit(
            Put(None, App(self._app_id, "Shop", now, (SECRET,))),
            Put(None, Connection(self._connection_id, self._app_id, "", "", now, now)),
        )

    def add(self, url: str) -> QueuedRequest:
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
            webhook=Webhook.to(url),
        )
        self._store.commit(AddRequest(record, REQUEST_XML, ""))
        return record


def url_of(scenario: str, number: int, port: int) -> str:
    """Return the URL of a receiver of the app that disturbs the others. Its names resolve to loopback."""
    many = f"{'N' if number % 3 else 'n'}{number}.localhost"
    match scenario:
        case "one-host":
            return f"http://hanging.localhost:{port}/hang"
        case "many-hosts":
            return f"http://{many}:{port}/hang/{number}"
        case "shared-host":
            return f"http://127.0.0.1:{port}/hang"
        case "late":
            return f"http://late.localhost:{port}/late"
        case "slow":
            return f"http://{many}:{port}/slow/{number}"
        case _:
            return f"http://{many}:{port}/{'hang' if number % 2 else 'quick'}/{number}"


def resolved(host: str, port: int, *arguments: Any, **named: Any) -> Any:
    """Resolve a name like a wildcard DNS record: every name below `localhost` is loopback."""
    return system_getaddrinfo("127.0.0.1" if host.endswith(".localhost") else host, port, *arguments, **named)


def complete(store: Database, records: Sequence[QueuedRequest]) -> dict[str, float]:
    """Store the responses of all requests. Return the time of each completion."""
    completed = {}
    for record in records:
        completed[record.id] = time.monotonic()
        store.commit(ChangeRequest(record, record.moved(State.RESPONSE_RECEIVED, datetime.now(UTC)), RESPONSE_XML))
    return completed


def delays(receivers: Receivers, completed: Mapping[str, float], records: Sequence[QueuedRequest]) -> list[float]:
    """Wait for the events of these requests. Return the sorted seconds from completion to arrival."""
    ids = {record.id for record in records}
    end = time.monotonic() + WAIT_SECONDS
    while ids - receivers.arrivals.keys() and time.monotonic() < end:
        time.sleep(0.05)
    missing = len(ids - receivers.arrivals.keys())
    if missing:
        print(f"{missing} events are missing after {WAIT_SECONDS} s")
    return sorted(receivers.arrivals.get(request_id, math.inf) - completed[request_id] for request_id in ids)


def main(completions: int = COMPLETIONS, *scenarios: str) -> int:
    """Measure the scenarios, print the times and compare them."""
    chance = random.Random(1)  # noqa: S311 - the same order in each run
    worst = 0.0
    with ExitStack() as exits:
        exits.enter_context(stack.running(log_level="CRITICAL"))
        store = services().store
        exits.enter_context(mock.patch("socket.getaddrinfo", resolved))
        receivers = Receivers()
        exits.callback(receivers.close)
        others = [Tenant(store) for _ in range(5)]
        attacks = round(completions * ATTACKING_SHARE)
        missing: list[float] = []

        def measured(name: str, scenario: str | None = None) -> list[float]:
            usual_url = f"http://127.0.0.1:{receivers.port}/"
            usual = [others[index % len(others)].add(usual_url) for index in range(completions - attacks)]
            attacker = Tenant(store)  # a new one, whose receivers are not known yet
            # Without a scenario, it has as many completions, but its receiver responds at once.
            urls = [url_of(scenario, n, receivers.port) if scenario else usual_url for n in range(attacks)]
            records = usual + [attacker.add(url) for url in urls]
            chance.shuffle(records)
            receivers.released.clear()
            completed = complete(store, records)
            times = delays(receivers, completed, usual)
            receivers.released.set()
            missing.extend(delay for delay in delays(receivers, completed, records) if delay == math.inf)
            figures = [percentile(times, share) for share in (0.5, 0.95, 1)]
            median, most, longest = (f"{figure:.3f} s" for figure in figures)
            print(f"{name:12} median {median}, 95 % {most}, maximum {longest}", flush=True)
            return figures

        before = measured("alone")
        for scenario in scenarios or SCENARIOS:
            beside, after = measured(scenario, scenario), measured("alone")
            ratios = [figure / ((one + other) / 2) for figure, one, other in zip(beside, before, after, strict=True)]
            print(f"{scenario:12} {ratios[0]:.2f}, {ratios[1]:.2f} and {ratios[2]:.2f} times as long", flush=True)
            worst, before = max(worst, ratios[0], ratios[1]), after
    return 0 if worst <= LIMIT and not missing else 1


def percentile(times: Sequence[float], share: float) -> float:
    """Return the time that this share of the sorted times does not exceed."""
    return times[max(math.ceil(len(times) * share) - 1, 0)]


if __name__ == "__main__":
    count, *names = sys.argv[1:] or [str(COMPLETIONS)]
    sys.exit(main(int(count), *names))
