"""Work on whole tables: in parts, in parallel, with little memory, and continued after an interruption.

A *step* is a set of tasks that do not depend on each other. The result of each task is a small file in the folder of
the work, so a step that starts again leaves out the tasks that have a result. A task that was interrupted runs again
from its beginning. Therefore a task must lead to the same result when it is repeated. The folder survives the end of
the program, however sudden, but not that of the machine.

Two kinds of tasks are enough to compare tables that no memory holds. A *walk* scans one segment of a table, and can
write rows to a file of SQLite, sorted by a hash of their key. A *join* reads the rows of a range of hashes from all
files of a step, so everything that belongs to a key is in memory at the same time, and little else.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections import Counter
from concurrent.futures import as_completed
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from adapters.dynamodb import DynamoDBStore, TableNames
from adapters.dynamodb.client import DynamoDB, Policy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import Executor
    from pathlib import Path

    from adapters.dynamodb.keys import Item

MIN_SEGMENTS, SEGMENT_BYTES = 16, 1 << 28
"""A table is scanned in at least so many parts, of about this size. A part that is interrupted is scanned again."""

ROWS_AT_ONCE = 100_000
"""The rows that a join holds in memory: 50 MB in each process."""

PROGRESS_SECONDS = 10

MAX_BATCH_WRITES = 25
"""DynamoDB: BatchWriteItem takes at most 25 items."""

WRITE = Policy(retries=50, first_seconds=0.05, max_seconds=20.0, message="DynamoDB throttles the writes.")

_HASH_BYTES = 7
_HASHES = 1 << 8 * _HASH_BYTES

Done: TypeAlias = "Mapping[str, int]"
"""How many of what a task did."""


class Row(NamedTuple):
    """A row of a file. Rows of the same `group` are in the same join. The value is JSON."""

    group: str
    key: str
    value: Any


@dataclass(frozen=True)
class Database:
    """A database that other processes can connect to, and the names of its tables."""

    connect: Callable[[], Any]
    names: Mapping[str, str]

    @property
    def dynamodb(self) -> DynamoDB:
        """The calls of the database."""
        return DynamoDB(self.connect(), TableNames(self.names.__getitem__))

    @property
    def store(self) -> DynamoDBStore:
        """The store of the service."""
        return DynamoDBStore(self.connect(), TableNames(self.names.__getitem__), retention_days=lambda: 0)

    def write(self, table: str, requests: Iterable[Mapping[str, Any]]) -> None:
        """Put and delete items. Raises TooManyRequests if DynamoDB throttles every retry."""
        backoff, client = self.dynamodb.backoff(WRITE), self.connect()
        for batch in in_batches(requests, MAX_BATCH_WRITES):
            open_requests = batch
            while open_requests:
                result = client.batch_write_item(RequestItems={table: open_requests})
                unprocessed = result.get("UnprocessedItems", {}).get(table, [])
                if len(unprocessed) < len(open_requests):
                    backoff.reset()
                if unprocessed:
                    backoff.wait()
                open_requests = unprocessed


def in_batches(values: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Yield the values in lists of at most `size`."""
    batch: list[Any] = []
    for value in values:
        batch.append(value)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


@dataclass
class Work:
    """The steps of one run. `pool` runs the tasks, `report` shows the progress, `clock` returns seconds."""

    folder: Path
    pool: Executor
    report: Callable[[str], None] = lambda _: None
    segments: int = MIN_SEGMENTS
    rows_at_once: int = ROWS_AT_ONCE
    clock: Callable[[], float] = time.monotonic
    steps: list[str] = field(default_factory=list)
    """The names of the steps that were begun."""

    def run(self, step: str, tasks: Mapping[str, Callable[[], Done]]) -> Counter[str]:
        """Run the tasks that have no result yet. Return the sum of the results of all tasks of the step."""
        folder = self._folder(step)
        self.steps.append(step)
        results = {name: _result(folder / f"{name}.json") for name in tasks}
        futures = {self.pool.submit(task): name for name, task in tasks.items() if results[name] is None}
        progress = _Progress(step, len(tasks), len(tasks) - len(futures), self.clock, self.report)
        try:
            for future in as_completed(futures):
                name = futures[future]
                results[name] = result = dict(future.result())
                _write_whole(folder / f"{name}.json", json.dumps(result))
                progress.one_more()
        finally:
            for future in futures:
                future.cancel()
        progress.end()
        total: Counter[str] = Counter()
        for result_of_task in results.values():
            total.update(result_of_task)
        return total

    def walk(
        self, step: str, database: Database, table: str, visit: Callable[[Iterator[Item], Path], Done], **options: Any
    ) -> tuple[Counter[str], list[Path]]:
        """Let `visit` see all items of a table, one segment at a time. It may write rows to the file that it gets.

        Return the sum of the results, and these files. `options` are those of a scan, which is consistent by default.
        """
        segments = self._kept(step, table, lambda: max(self.segments, _size(database, table) // SEGMENT_BYTES))
        files = [self._folder(step) / f"{table}-{segment}.rows" for segment in range(segments)]
        scan = {"TableName": table, "TotalSegments": segments, "ConsistentRead": True} | options
        tasks = {
            f"{table}-{segment}": partial(_walk, database.connect, scan | {"Segment": segment}, visit, file)
            for segment, file in enumerate(files)
        }
        return self.run(step, tasks), files

    def join(
        self, step: str, files: Sequence[Path], visit: Callable[[list[Row], Path], Done]
    ) -> tuple[Counter[str], list[Path]]:
        """Let `visit` see all rows of files, a range of hashes at a time, in the order of their groups and keys.

        The result is that of `walk`. The files are deleted at the end.
        """
        existing = [file for file in files if file.exists()]
        parts = self._kept(step, "parts", lambda: sum(map(_count, existing)) // self.rows_at_once + 1)
        outputs = [self._folder(step) / f"{part}.rows" for part in range(parts)]
        tasks = {str(part): partial(_join, existing, part, parts, visit, file) for part, file in enumerate(outputs)}
        done = self.run(step, tasks)
        for file in existing:
            file.unlink()
        return done, outputs

    def _kept(self, step: str, name: str, number: Callable[[], int]) -> int:
        """Return a number that stays the same when the work is continued."""
        file = self._folder(step) / f"{name}.number"
        if not file.exists():
            _write_whole(file, str(number()))
        return int(file.read_text(encoding="utf-8"))

    def _folder(self, step: str) -> Path:
        folder = self.folder / step
        folder.mkdir(parents=True, exist_ok=True)
        return folder


class _Progress:
    """Reports how much of a step is done, and how long the rest takes if it goes on like this."""

    def __init__(
        self, step: str, total: int, done: int, clock: Callable[[], float], report: Callable[[str], None]
    ) -> None:
        self._step, self._total, self._done, self._before = step, total, done, done
        self._clock, self._report = clock, report
        self._start = self._last = clock()

    def one_more(self) -> None:
        """Count a task that is done."""
        self._done += 1
        if self._clock() - self._last >= PROGRESS_SECONDS:
            self._last = self._clock()
            each = (self._last - self._start) / (self._done - self._before)
            left = duration(each * (self._total - self._done))
            self._report(f"{self._step}: {self._done} of {self._total} parts, {left} left")

    def end(self) -> None:
        """Report the end of a step that took long."""
        if self._last > self._start:
            self._report(f"{self._step}: done in {duration(self._clock() - self._start)}")


def duration(seconds: float) -> str:
    """Return a duration as hours, minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def key_text(item: Item, key_names: Sequence[str]) -> str:
    """Return the key of an item as JSON."""
    return json.dumps({name: item[name] for name in key_names})


def digest(item: Item) -> str:
    """Return a hash of an item, which equal items share."""
    text = json.dumps(item, sort_keys=True, default=lambda data: data.hex())
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def write_rows(file: Path, rows: Iterable[Row]) -> int:
    """Write rows to a file, sorted by the hash of their group. The file exists only when it is complete."""
    unfinished = file.with_suffix(".unfinished")
    unfinished.unlink(missing_ok=True)
    with closing(sqlite3.connect(unfinished, isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode = OFF")
        database.execute("PRAGMA synchronous = OFF")  # an interrupted program begins the file anew
        database.execute("CREATE TABLE rows (hash INTEGER, groups TEXT, key TEXT, value TEXT)")
        database.execute("BEGIN")
        values = ((_hash(row.group), row.group, row.key, json.dumps(row.value)) for row in rows)
        number = database.executemany("INSERT INTO rows VALUES (?, ?, ?, ?)", values).rowcount
        database.execute("CREATE INDEX by_hash ON rows (hash)")
        database.execute("COMMIT")
    unfinished.replace(file)
    return max(number, 0)


def _size(database: Database, table: str) -> int:
    return int(database.connect().describe_table(TableName=table)["Table"].get("TableSizeBytes", 0))


def _walk(
    connect: Callable[[], Any], scan: Mapping[str, Any], visit: Callable[[Iterator[Item], Path], Done], file: Path
) -> Done:
    pages = connect().get_paginator("scan").paginate(**scan)
    return visit((item for page in pages for item in page["Items"]), file)


def _join(files: Sequence[Path], part: int, parts: int, visit: Callable[[list[Row], Path], Done], output: Path) -> Done:
    first, end = _HASHES * part // parts, _HASHES * (part + 1) // parts
    query = "SELECT groups, key, value FROM rows WHERE hash >= ? AND hash < ?"
    rows: list[Row] = []
    for file in files:
        with closing(_opened(file)) as database:
            rows += (Row(group, key, json.loads(value)) for group, key, value in database.execute(query, (first, end)))
    rows.sort(key=lambda row: row[:2])
    return visit(rows, output)


def _opened(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{file}?mode=ro", uri=True)


def _count(file: Path) -> int:
    with closing(_opened(file)) as database:
        (number,) = database.execute("SELECT count(*) FROM rows").fetchone()
        return int(number)


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=_HASH_BYTES).digest(), "big")


def _result(file: Path) -> Done | None:
    try:
        result: Done = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return result


def _write_whole(file: Path, text: str) -> None:
    """Write a file that exists only when it is complete."""
    unfinished = file.with_suffix(".unfinished")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(file)
