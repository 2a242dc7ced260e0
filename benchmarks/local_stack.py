"""Measure calls over HTTP to the stack of `make run` with many records: medians in milliseconds.

Run `python -m benchmarks.local_stack [RECORDS [ROUNDS]]` (default 10000 50). By a design rule, each median
stays under 50 ms.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from local import first_steps, stack
from simulator.company import Company
from simulator.runs.scheduler import Simulator
from simulator.web_connector.transport import HttpTransport

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

RECORDS = 10_000
ROUNDS = 50
LIMIT_MS = 50
REQUEST = {"request_json": {"request": {"name": "CustomerQueryRq", "children": [{"name": "MaxReturned", "text": 5}]}}}


class TimedTransport(HttpTransport):
    """The Web Connector's HTTP transport, which also measures the duration of each SOAP method."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds: dict[str, list[float]] = {}

    def post(self, url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        """Post as the base class does."""
        method = headers["SOAPAction"].strip('"').rpartition("/")[2]
        start = time.perf_counter()
        response = super().post(url, headers, body)
        self.seconds.setdefault(method, []).append(time.perf_counter() - start)
        return response


def durations_of(call: Callable[[], Any], rounds: int) -> list[float]:
    """Return the duration of each of `rounds` calls, in seconds."""
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return seconds


def main(records: int = RECORDS, rounds: int = ROUNDS) -> int:
    """Fill a connection, measure calls and print the medians. Return 1 if a median is over the limit."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, stack.running() as service:
        who = first_steps.prepare(service.base_url, service.operator, Path(folder))
        print(f"start, including a new connection: {time.perf_counter() - start:.1f} s")
        api = first_steps.Api(who.base_url, who.api_key)
        requests = f"/api/v1/connections/{who.connection_id}/queued_requests"
        start = time.perf_counter()
        ids = [api.call("POST", requests, REQUEST)["data"]["id"] for _ in range(records)]
        print(f"{records} records created one after the other in {time.perf_counter() - start:.0f} s")
        chance = random.Random()  # noqa: S311 - any record, any page
        durations = {
            "create": durations_of(lambda: api.call("POST", requests, REQUEST), rounds),
            "get": durations_of(lambda: api.call("GET", f"/api/v1/queued_requests/{chance.choice(ids)}"), rounds),
            "list, first page": durations_of(lambda: api.call("GET", requests), rounds),
            "list, any page": durations_of(
                lambda: api.call("GET", f"{requests}?page={chance.randint(1, max(1, records // 20))}"), rounds
            ),
            "list, waiting, by update": durations_of(
                lambda: api.call("GET", f"{requests}?state=waiting&sort=updated_at"), rounds
            ),
        }
        transport = TimedTransport()
        qwc = Path(who.qwc_path).read_text(encoding="utf-8")
        simulator = Simulator(qwc, who.qbwc_password, Company.generated(), transport=transport)
        start = time.perf_counter()
        simulator.connector.stopped = lambda: time.perf_counter() - start > 20
        result = simulator.run_once()
        seconds = time.perf_counter() - start
        print(f"the simulator drained {result.requests} requests in {seconds:.0f} s: {result.requests / seconds:.0f}/s")
        durations["authenticate"] = []
        for _ in range(5):
            flags = iter([False] * 4)
            again = Simulator(qwc, who.qbwc_password, Company.generated(), transport=transport)
            again.connector.stopped = lambda flags=flags: next(flags, True)  # type: ignore[misc]
            again.run_once()
        durations |= transport.seconds
    medians = {name: statistics.median(values) * 1000 for name, values in durations.items() if values}
    for name, median in medians.items():
        print(f"{name:28} {median:7.1f} ms")
    return 1 if max(medians.values()) > LIMIT_MS else 0


if __name__ == "__main__":
    sys.exit(main(*(int(argument) for argument in sys.argv[1:])))
