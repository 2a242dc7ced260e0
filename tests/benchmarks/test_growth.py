"""The table of growth in the documentation is that of the program, and the program knows the limits of the template."""

from __future__ import annotations

from benchmarks.growth import PAGE, SIZES, connection, limits, page, table


def test_the_table_in_the_documentation_is_that_of_the_program() -> None:
    text = PAGE.read_text(encoding="utf-8")

    assert text == page(text), "run python -m benchmarks.growth --write"


def test_each_size_names_the_limits_below_it_and_the_first_one_above() -> None:
    rows = table().splitlines()[2:]

    assert len(rows) == len(SIZES)
    for row, size in zip(rows, SIZES, strict=True):
        *_, remedies, following, _ = row.split("|")
        below = [limit for limit in limits(connection()) if limit.connections <= size]
        above = [limit for limit in limits(connection()) if limit.connections > size]
        assert all(limit.remedy in remedies for limit in below)
        assert not any(limit.remedy in remedies for limit in above if limit.remedy not in {b.remedy for b in below})
        assert above[0].name in following


def test_no_partition_is_the_limit_of_any_size_in_the_table() -> None:
    partitions = [limit for limit in limits(connection()) if "partition" in limit.name]

    assert len(partitions) == len(connection().partitions)
    assert all(partition.connections > 10 * max(SIZES) for partition in partitions)
