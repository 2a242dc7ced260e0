"""Measure how long a page of every filter takes, beside the code of another commit.

Run `python -m local.dynamodb_local .tools/dynamodb-local 8127 python -m benchmarks.listing_times
[--before COMMIT] [--rounds 20] [--one-day] [RECORDS …]` (default 10000). Each code loads the same records, over a year
or all on one day, into tables of its own. In a round, the first, middle and last page of every filter in all four
orders are requested. Both codes take turns with each page, in processes of their own, so both meet the same load of
the machine. Columns: the median and the 95th percentile of the milliseconds of all pages of a filter, the most read
units and the most calls of a page. The exit status is 1 if a p95 is more than 1.2 times, or read units more than
twice, those of before.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent

if TYPE_CHECKING:
    from collections.abc import Iterator

RECORDS = 10_000
ROUNDS = 20
MAX_TIMES, MAX_UNITS = 1.2, 2.0
ONE = "--one"
"""Loads the records with the code on PYTHONPATH, and measures the page whose number is in each line of the input."""

FILTERS = {
    "no filter": (None, None),
    "state=error": ("error", None),
    "webhook_state=failed": (None, "failed"),
    "error, failed": ("error", "failed"),
    "response_received, failed": ("response_received", "failed"),
    "state=response_received": ("response_received", None),
    "webhook_state=succeeded": (None, "succeeded"),
    "response_received, succeeded": ("response_received", "succeeded"),
}
ORDERS = tuple(product(("inserted_at", "updated_at"), (True, False)))


def serve(records: int, days: int) -> None:
    """Load and measure. Uses only functions that older commits have too."""
    from adapters.dynamodb import DynamoDBStore, TableNames  # noqa: PLC0415 - the code to measure, which the main process does not need
    from benchmarks.listing_data import APP_ID, Meter, connect, endpoint, fixed_time, load  # noqa: PLC0415
    from domain.listing.filters import RequestFilter  # noqa: PLC0415
    from domain.listing.lists import Lists  # noqa: PLC0415
    from domain.listing.query import ListQuery  # noqa: PLC0415
    from domain.records.request import State  # noqa: PLC0415
    from domain.records.webhook import WebhookState  # noqa: PLC0415
    from local.tables import drop_tables, make_tables  # noqa: PLC0415

    client = connect(endpoint())
    prefix = f"t{os.getpid()}-"
    make_tables(client, prefix, with_stream=False)
    tables = TableNames(partial(table_name, prefix))
    connection_id, _ = load(client, tables, records, days=days)
    lists, meter = Lists(DynamoDBStore(client, tables), fixed_time), Meter(client)
    queries = []
    for (name, (state, webhook_state)), (sort, descending) in product(FILTERS.items(), ORDERS):
        query = ListQuery(
            connection_id,
            RequestFilter(State(state) if state else None, WebhookState(webhook_state) if webhook_state else None),
            sort=sort,  # type: ignore[arg-type]
            descending=descending,
        )
        last = max(lists.page(APP_ID, query).total_pages, 1)
        queries += [(name, replace(query, page=page)) for page in (1, (last + 1) // 2, last)]
    print(len(queries), flush=True)
    for line in sys.stdin:
        name, query = queries[int(line)]
        meter.take()
        start = time.perf_counter()
        lists.page(APP_ID, query)
        seconds = time.perf_counter() - start
        print(json.dumps((name, seconds * 1000, *meter.take())), flush=True)
    drop_tables(client, prefix)


def table_name(prefix: str, name: str) -> str:
    """Return the name of a table of `make_tables`. The names of older commits cannot be sent to a loading process."""
    return f"{prefix}{name.title().replace('_', '')}Table"


class Code:
    """A process with the code of one tree, and what it has measured."""

    def __init__(self, name: str, process: subprocess.Popen[str]) -> None:
        self.name = name
        self._process = process
        self.milliseconds: dict[str, list[float]] = {}
        self.units: dict[str, float] = {}
        self.calls: dict[str, int] = {}

    def answer(self) -> Any:
        """Return the next line of the process."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process of the code {self.name!r} ended")
        return json.loads(line)

    def request(self, page: int) -> None:
        """Measure a page."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{page}\n")
        self._process.stdin.flush()
        name, milliseconds, calls, units = self.answer()
        self.milliseconds.setdefault(name, []).append(milliseconds)
        self.units[name] = max(units, self.units.get(name, 0.0))
        self.calls[name] = max(calls, self.calls.get(name, 0))

    def p95(self, name: str) -> float:
        """Return the 95th percentile of a filter's milliseconds."""
        return quantiles(self.milliseconds[name], n=20, method="inclusive")[-1]


@contextmanager
def running(name: str, tree: Path, records: int, days: int) -> Iterator[Code]:
    """Load the records with the code of a tree while the block runs."""
    environment = {**os.environ, "PYTHONPATH": f"{tree}:{tree / 'src'}"}
    process = subprocess.Popen(  # noqa: S603 - this file, in a tree of this repository
        [sys.executable, __file__, ONE, str(records), str(days)],
        cwd=tree,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield Code(name, process)
    finally:
        process.communicate()


def compare(records: int, days: int, rounds: int, before: Path | None) -> list[str]:
    """Measure and print a table. Return the filters that are beyond a limit."""
    with ExitStack() as stack:
        trees = {"before": before, "now": ROOT}
        codes = [
            stack.enter_context(running(name, tree, records, days)) for name, tree in trees.items() if tree is not None
        ]
        pages, *_ = [code.answer() for code in codes]  # both load at the same time
        for _, page, code in product(range(rounds), range(pages), codes):
            code.request(page)
    print(f"\n{records} records {'on one day' if days == 1 else f'over {days} days'}: p50 and p95 in ms, RCU, calls")
    print(f"{'':32}" + "".join(f"{code.name:>31}" for code in codes))
    violations = []
    for name in codes[0].milliseconds:
        line = f"{name:32}"
        for code in codes:
            line += f"{median(code.milliseconds[name]):10.1f}{code.p95(name):8.1f}"
            line += f"{code.units[name]:8.1f}{code.calls[name]:5}"
        if before:
            times, units = (codes[1].p95(name) / codes[0].p95(name), codes[1].units[name] / codes[0].units[name])
            line += f"   p95 ratio {times:.2f}, RCU ratio {units:.2f}"
            if times > MAX_TIMES or units > MAX_UNITS:
                violations.append(f"{records} {name}")
        print(line, flush=True)
    return violations


def main() -> int:
    """Compare each number of records. Return 1 if a filter is beyond a limit."""
    from benchmarks.draining import tree_of  # noqa: PLC0415 - a measured process has the package of its own tree
    from benchmarks.listing_data import endpoint  # noqa: PLC0415

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", nargs="*", type=int, metavar="RECORDS")
    parser.add_argument("--before", metavar="COMMIT")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--one-day", action="store_true")
    options = parser.parse_args()
    endpoint()
    days = 1 if options.one_day else 365
    violations: list[str] = []
    with ExitStack() as stack:
        before = stack.enter_context(tree_of(options.before)) if options.before else None
        for records in options.records or [RECORDS]:
            violations += compare(records, days, options.rounds, before)
    print("\n".join(["beyond a limit:", *violations]) if violations else "Every limit holds.")
    return 1 if violations else 0


if __name__ == "__main__":
    if sys.argv[1:2] == [ONE]:
        serve(*map(int, sys.argv[2:]))
    else:
        sys.exit(main())
