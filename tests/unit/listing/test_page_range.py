"""A page is located by the counts of each day, and large reads are split into equal parts."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from domain.listing.page_range import (
    MAX_PARALLEL_READS,
    MIN_PART_RECORDS,
    DayTotal,
    PageRange,
    locate,
    split_points,
)


@given(
    numbers=st.lists(st.integers(1, 50), min_size=1, max_size=8),
    page=st.integers(1, 20),
    page_size=st.integers(1, 30),
)
def test_at_most_half_of_the_days_of_a_page_is_skipped(numbers: list[int], page: int, page_size: int) -> None:
    days = [DayTotal(f"2026-03-{index + 1:02}", number) for index, number in enumerate(numbers)]

    place = locate(days, (page - 1) * page_size, page * page_size)

    if place is None:
        assert (page - 1) * page_size >= sum(numbers)
        return
    number_in_range = sum(number for day, number in days if place.first_day <= day <= place.last_day)
    assert place.skip <= (number_in_range - place.limit) / 2


def test_a_page_past_the_end_reads_no_index() -> None:
    assert locate([DayTotal("2026-03-14", 5)], 5, 10) is None
    assert locate([], 0, 20) is None


def test_the_last_page_is_read_from_the_end() -> None:
    place = locate([DayTotal("2026-03-14", 100)], 90, 100)

    assert place == PageRange("2026-03-14", "2026-03-14", skip=0, limit=10, from_end=True)
    assert place.in_list_order([3, 2, 1]) == [1, 2, 3]


@given(counted=st.lists(st.integers(1, 40_000), min_size=1, max_size=40))
def test_parts_are_of_about_equal_size(counted: list[int]) -> None:
    days = [DayTotal(f"2026-03-{index + 1:02}", number) for index, number in enumerate(counted)]

    points = split_points(days)

    total = sum(counted)
    assert points == sorted(set(points))
    assert len(points) < MAX_PARALLEL_READS
    if total <= MIN_PART_RECORDS:
        assert points == []
    # An hour is the smallest piece, and counts with its share of the day.
    hours = [(f"{day}T{hour:02}", number / 24) for day, number in days for hour in range(24)]
    edges = ["0", *points, "~"]
    parts = [
        sum(number for hour, number in hours if low <= hour.removesuffix("T00") < high) for low, high in pairwise(edges)
    ]
    share = total / min(MAX_PARALLEL_READS, -(-total // MIN_PART_RECORDS))
    assert max(parts) <= 2 * share + 1


def test_a_day_with_all_records_is_split_at_full_hours() -> None:
    assert split_points([DayTotal("2026-03-14", 100_000)]) == [f"2026-03-14T{hour:02}" for hour in range(3, 24, 3)]
