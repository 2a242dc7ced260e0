"""Ranges of time are half open, and something that has not happened is only in a range without bounds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from domain.timestamps import TimeRange

MOMENTS = st.integers(0, 9).map("2026-03-14T12:00:00.00000{}Z".format)
BOUNDS = st.none() | MOMENTS


@given(BOUNDS, BOUNDS, MOMENTS)
def test_a_moment_is_in_a_range_from_its_start_on_and_before_its_end(
    start: str | None, end: str | None, moment: str
) -> None:
    assert (moment in TimeRange(start, end)) == ((start is None or start <= moment) and (end is None or moment < end))


@given(BOUNDS, BOUNDS)
def test_what_has_not_happened_is_only_in_a_range_without_bounds(start: str | None, end: str | None) -> None:
    assert (None in TimeRange(start, end)) == (start is None and end is None)
