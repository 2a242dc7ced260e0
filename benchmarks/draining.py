"""Measure how many requests per second the stack of `make run` drains, over HTTP, on the embedded database.

Run `python -m benchmarks.draining [--before COMMIT] [REQUESTS …]` (default 100, 1,000 and 10,000). For each number, a
new stack queues that many requests, three writes and then a read, and a simulated Web Connector drains them in one
session. Columns: milliseconds of a create; requests per second of the whole drain, of its first and of its last tenth;
milliseconds of processor time per drained request, with the simulated Web Connector and QuickBooks; seconds of a
search that finds nothing afterwards. The last tenth shows whether the rate falls as records accumulate.

With `--before`, each number is measured with the code of that commit too, right before, and the last columns are the
ratios. A drain ends after `MAX_DRAIN_SECONDS`, because slow code would need an hour for 10,000 requests; its rate is
that of the requests it drained. With DYNAMODB_ENDPOINT, the stack uses that database instead.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SIZES = (100, 1_000, 10_000)
ROOT = Path(__file__).resolve().parent.parent
MAX_DRAIN_SECONDS = 240
SEARCHES = 3
CREATED, TOO_MANY_REQUESTS = 201, 429
ONE = "--one"
"""Measures one number with the code on PYTHONPATH and prints JSON."""

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


def measured_in(tree: Path, requests: int) -> dict[str, float]:
    """Measure the code of a tree in a new process."""
    environment = {**os.environ, "PYTHONPATH": f"{tree}:{tree / 'src'}"}
    output = subprocess.run(  # noqa: S603 - this file, in a tree of this repository
        [sys.executable, __file__, ONE, str(requests)], cwd=tree, env=environment, check=True, stdout=subprocess.PIPE
    ).stdout
    result: dict[str, float] = json.loads(output.splitlines()[-1])
    return result


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
    parser.add_argument(ONE, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one)))
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
