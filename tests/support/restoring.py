"""Runs `make restore` on the tables of a test, in this process and in small parts."""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from local.parts import Database, Work
from local.rebuild import prepare
from local.restore import EMPTIED, KEPT, RESTORED, TABLES, copy_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime

    from adapters.dynamodb import TableNames


def database_of(client: Any, tables: TableNames) -> Database:
    """Return the database of a client."""
    return Database(lambda: client, {name: tables.name_of(name) for name in (*TABLES, *EMPTIED, *KEPT)})


@contextmanager
def small_parts(
    folder: Path | None = None,
    report: Callable[[str], None] = lambda _: None,
    *,
    segments: int = 2,
    rows_at_once: int = 10,
    workers: int = 1,
) -> Iterator[Work]:
    """Yield work in parts of a few rows. Without a folder, it begins anew."""
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(workers) as pool:
        yield Work(folder or Path(temporary), pool, report, segments=segments, rows_at_once=rows_at_once)


def rebuilt(
    client: Any, tables: TableNames, now: datetime, report: Callable[[str], None] = lambda _: None
) -> Mapping[str, int]:
    """Rebuild the tables and return the number of each change."""
    with small_parts(report=report) as work:
        return prepare(work, database_of(client, tables), now)


def copied(client: Any, tables: TableNames, name: str) -> tuple[int, int]:
    """Copy a restored table. Return the numbers of written and deleted items."""
    table = tables.name_of(name)
    with small_parts() as work:
        return copy_table(work, database_of(client, tables), RESTORED + table, table)
