"""Work on whole tables in parts: a join sees whole groups, no task runs twice, and memory is bounded."""

from __future__ import annotations

import random
import tracemalloc
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from local.parts import Database, Row, Work, digest, write_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from adapters.dynamodb.keys import Item


@contextmanager
def working(folder: Path, **options: Any) -> Iterator[Work]:
    with ThreadPoolExecutor(1) as pool:
        yield Work(folder, pool, **options)


@pytest.mark.parametrize("seed", range(10))
def test_a_join_sees_every_row_once_with_all_rows_of_its_group_and_few_others(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    rows = [Row(f"g{chance.randrange(200)}", f"k{number}", [number]) for number in range(1_000)]
    files = [tmp_path / f"{number}.rows" for number in range(3)]
    for number, file in enumerate(files):
        assert write_rows(file, rows[number::3]) == len(rows[number::3])
    seen: list[list[Row]] = []

    def visit(part: Sequence[Row], _file: Path) -> dict[str, int]:
        seen.append(list(part))
        return {"rows": len(part)}

    with working(tmp_path, rows_at_once=100) as work:
        done, _ = work.join("join", [*files, tmp_path / "of an empty part.rows"], visit)

    assert done == {"rows": 1_000}
    assert sorted(row for part in seen for row in part) == sorted(rows)
    assert Counter(group for part in seen for group in {row.group for row in part}).most_common(1)[0][1] == 1
    assert all([row[:2] for row in part] == sorted(row[:2] for row in part) for part in seen)
    assert max(map(len, seen)) < 3 * 100


def test_tasks_that_have_a_result_do_not_run_again(tmp_path: Path) -> None:
    runs: Counter[str] = Counter()

    def task(name: str, *, fails: bool = False) -> dict[str, int]:
        runs[name] += 1
        if fails:
            raise ConnectionError
        return {"done": 1}

    with working(tmp_path) as work:
        with pytest.raises(ConnectionError):
            work.run("step", {"a": lambda: task("a"), "b": lambda: task("b", fails=True)})
        done = work.run("step", {"a": lambda: task("a"), "b": lambda: task("b")})

    assert done == {"done": 2}
    assert runs == {"a": 1, "b": 2}


class EndlessTable:
    """A client whose table has many items, in pages that exist only while they are read."""

    def __init__(self, items: int) -> None:
        self._items = items

    def describe_table(self, **_: Any) -> dict[str, Any]:
        return {"Table": {"TableSizeBytes": 1}}

    def get_paginator(self, _operation: str) -> EndlessTable:
        return self

    def paginate(self, **_: Any) -> Iterator[dict[str, Any]]:
        for start in range(0, self._items, 100):
            yield {"Items": [{"id": {"S": f"{number:036}"}} for number in range(start, start + 100)]}


def peak_bytes(tmp_path: Path, items: int) -> int:
    """Return the memory that a walk and a join of a table need at most."""
    database = Database(lambda: EndlessTable(items), {})
    tracemalloc.start()
    with working(tmp_path / str(items), segments=1, rows_at_once=1_000) as work:
        _, files = work.walk(
            "walk",
            database,
            "table",
            lambda rows, file: {"rows": write_rows(file, (Row(item["id"]["S"], "", digest(item)) for item in rows))},
        )
        done, _ = work.join("join", files, lambda rows, _: {"rows": len(rows)})
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert done == {"rows": items}
    return peak


def test_ten_times_the_items_need_hardly_more_memory(tmp_path: Path) -> None:
    small, large = peak_bytes(tmp_path, 2_000), peak_bytes(tmp_path, 20_000)

    assert large < 2 * small


def test_the_digest_of_an_item_does_not_depend_on_the_order_of_its_attributes() -> None:
    item: Item = {"a": {"B": b"\x00"}, "b": {"M": {"x": {"S": "1"}, "y": {"N": "2"}}}}
    same: Item = {"b": {"M": {"y": {"N": "2"}, "x": {"S": "1"}}}, "a": {"B": b"\x00"}}

    assert digest(item) == digest(same)
    assert digest(item) != digest(item | {"a": {"B": b"\x01"}})
