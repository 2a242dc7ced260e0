"""Measure what `make restore` needs for each request, and compute the time of large tables.

Run `DYNAMODB_ENDPOINT=http://127.0.0.1:8127 python -m benchmarks.restoring [SIZE …]` with DynamoDB Local (`make
dynamodb`). The program restores tables of growing sizes, of which one request in a hundred differs, in one process. It
counts the calls and the read units that DynamoDB Local reports, and measures processor time, the size of the folder and
the peak of memory. If the figures for each request do not depend on the size, they hold for larger tables.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
import uuid
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import lru_cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from botocore.session import Session

from adapters.dynamodb.bodies import new_body_items
from adapters.dynamodb.records import RECORDS
from adapters.dynamodb.responses import response_attributes
from domain.records.request import State
from domain.storage.changes import AddRequest, ChangeRequest
from local.parts import Database, Work, duration
from local.rebuild import prepare
from local.restore import EMPTIED, KEPT, RESTORED, TABLES, copy_table
from local.tables import make_tables
from tests.support.builders import NOON, REQUEST_XML, a_record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from adapters.dynamodb.keys import Item
    from local.parts import Done

DEFAULT_SIZES = (1_000, 4_000)
RESPONSE_BYTES = 6 * 1024
DIFFERENT = 100
"""One request of this number was stored after the moment of the restore."""

LARGE = (1_000_000, 10_000_000, 182_500_000)
"""The last one: 10,000 connections with 50 requests a day for a year."""
PROCESSORS = (4, 16)
READ_UNITS_A_SECOND = 40_000
"""DynamoDB: the default quota of a table ("Quotas in Amazon DynamoDB")."""


@lru_cache(maxsize=1)
def client_of(endpoint: str) -> Any:
    """Return the client of a process."""
    session = Session()
    session.set_credentials("local", "local")
    return session.create_client("dynamodb", "us-east-1", endpoint_url=endpoint)


def items_of(number: int) -> Iterator[tuple[Item, Item]]:
    """Yield records that have ended, each with its body."""
    for _ in range(number):
        sent = a_record(id=str(uuid.uuid4()), state=State.SENT)
        response = os.urandom(RESPONSE_BYTES // 20).hex() * 10  # shrinks to a tenth
        ended = replace(
            sent, state=State.RESPONSE_RECEIVED, response_size=len(response), response_attempt=uuid.uuid4().hex[:12]
        )
        (body,) = new_body_items(AddRequest(sent, REQUEST_XML, "customer"))
        change = ChangeRequest(sent, ended, response, search_text="customer")
        yield RECORDS.item(ended), body | response_attributes(change, ended.response_attempt)


@dataclass
class Measured:
    """What a restore of a number of requests took."""

    requests: int
    calls: Counter[str]
    read_units: float
    processor_seconds: float
    wall_seconds: float
    folder_bytes: int
    peak_bytes: int


def filled(endpoint: str, number: int) -> Database:
    """Return a database with the restored tables and those of the stack."""
    prefix = f"b{uuid.uuid4().hex[:8]}-"
    client = client_of(endpoint)
    tables = make_tables(client, prefix)
    make_tables(client, RESTORED + prefix)
    database = Database(
        partial(client_of, endpoint), {name: tables.name_of(name) for name in (*TABLES, *EMPTIED, *KEPT)}
    )
    records, bodies = zip(*items_of(number), strict=True) if number else ((), ())
    for table, items in (("queued_requests", records), ("payloads", bodies)):
        writes = [{"PutRequest": {"Item": item}} for item in items]
        database.write(database.names[table], writes)
        database.write(RESTORED + database.names[table], writes[number // DIFFERENT :])
    return database


@dataclass
class _Weighed(Work):
    """Weighs its files after each step."""

    peak_bytes: int = 0

    def run(self, step: str, tasks: Mapping[str, Callable[[], Done]]) -> Counter[str]:
        """Run the tasks."""
        done = super().run(step, tasks)
        self.peak_bytes = max(self.peak_bytes, sum(file.stat().st_size for file in self.folder.rglob("*.rows")))
        return done


def restore(database: Database, folder: Path, pool: Any) -> int:
    """Restore and return the size of the largest files of a step in bytes."""
    work = _Weighed(folder, pool)
    for table in map(database.names.__getitem__, TABLES):
        copy_table(work, database, RESTORED + table, table)
    prepare(work, database, NOON + timedelta(days=1))
    return work.peak_bytes


def measured(endpoint: str, number: int) -> Measured:
    """Restore a number of requests in this process."""
    database, calls, units = filled(endpoint, number), Counter[str](), Counter[str]()

    def ask(params: dict[str, Any], model: Any, **_: Any) -> None:
        if model.name in {"Scan", "BatchGetItem", "GetItem"}:
            params["ReturnConsumedCapacity"] = "TOTAL"

    def count(parsed: dict[str, Any], model: Any, **_: Any) -> None:
        calls[model.name] += 1
        used = parsed.get("ConsumedCapacity", [])
        for part in used if isinstance(used, list) else [used]:
            units["read"] += part["CapacityUnits"]

    events = database.connect().meta.events
    events.register("provide-client-params.dynamodb", ask)
    events.register("after-call.dynamodb", count)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as pool:
        start, processor = time.monotonic(), time.process_time()
        size = restore(database, Path(folder), pool)
        seconds, processor = time.monotonic() - start, time.process_time() - processor
    events.unregister("provide-client-params.dynamodb", ask)
    events.unregister("after-call.dynamodb", count)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return Measured(number, calls, units["read"], processor, seconds, size, peak)


def main() -> None:
    """Print the figures."""
    sizes = [int(size) for size in sys.argv[1:]] or DEFAULT_SIZES
    endpoint = os.environ["DYNAMODB_ENDPOINT"]
    client_of(endpoint)
    empty = measured(endpoint, 0)
    print(f"no requests: {sum(empty.calls.values())} calls, {empty.processor_seconds:.1f} s of processor")
    for number in sizes:
        found = measured(endpoint, number)
        each = (found.processor_seconds - empty.processor_seconds) / number
        units = (found.read_units - empty.read_units) / number
        print(
            f"{number:6} requests: {dict(found.calls)}, for each request {units:.2f} read units, {each * 1e6:.0f} µs "
            f"of processor and {(found.folder_bytes - empty.folder_bytes) / number:.0f} bytes in the folder; "
            f"peak {found.peak_bytes / 1e6:.0f} MB"
        )
    with (
        tempfile.TemporaryDirectory() as folder,
        ProcessPoolExecutor(4, get_context("spawn")) as processes,
    ):
        start = time.monotonic()
        restore(filled(endpoint, sizes[0]), Path(folder), processes)
        print(f"{sizes[0]} requests in 4 processes: {time.monotonic() - start:.0f} s")
    for number in LARGE:
        hours = [f"{count} processors {duration(number * each / count)}" for count in PROCESSORS]
        quota = duration(number * units / READ_UNITS_A_SECOND)
        print(f"{number:11,} requests: {', '.join(hours)}; {number * units / 1e6:,.0f} million read units, {quota}")


if __name__ == "__main__":
    main()
