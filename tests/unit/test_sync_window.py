"""The sync window follows local clocks, even when they change in spring and autumn."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from domain.errors import InvalidRequest
from domain.records.sync_window import MAX_HORIZON, SyncWindow

pytestmark = pytest.mark.system

ZONE = "America/New_York"
NIGHT = SyncWindow("22:00", "06:00", ZONE)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("moment", "is_open"),
    [
        ("2026-01-15T02:59:59", False),  # 21:59:59 the evening before
        ("2026-01-15T03:00:00", True),  # 22:00
        ("2026-01-15T10:59:59", True),  # 05:59:59
        ("2026-01-15T11:00:00", False),  # 06:00
        ("2026-07-15T02:00:00", True),  # 22:00 in summer
    ],
)
def test_a_window_may_cross_midnight_and_excludes_its_end(moment: str, is_open: bool) -> None:
    assert NIGHT.is_open(utc(moment)) is is_open


@pytest.mark.parametrize(("hour", "is_open"), [(13, False), (14, True), (21, True), (22, False)])
def test_a_window_within_a_day(hour: int, is_open: bool) -> None:
    assert SyncWindow("09:00", "17:00", ZONE).is_open(utc(f"2026-01-15T{hour:02}:00")) is is_open


def test_changes_at_returns_the_next_opening_or_closing() -> None:
    assert NIGHT.changes_at(utc("2026-01-15T12:34:56")) == utc("2026-01-16T03:00")
    assert NIGHT.changes_at(utc("2026-01-16T03:00")) == utc("2026-01-16T11:00")
    assert NIGHT.changes_at(utc("2026-01-15T12:34:56"), timedelta(minutes=15)) == utc("2026-01-15T12:49:56")


def test_when_clocks_go_forward_the_window_is_an_hour_shorter() -> None:
    """New York, 8 March 2026: 02:00 becomes 03:00."""
    opens = utc("2026-03-08T03:00")  # 22:00 EST

    assert NIGHT.changes_at(opens) == utc("2026-03-08T10:00")  # 06:00 EDT: seven hours later


def test_when_clocks_go_back_the_window_is_an_hour_longer() -> None:
    """New York, 1 November 2026: 02:00 becomes 01:00."""
    opens = utc("2026-11-01T02:00")  # 22:00 EDT

    assert NIGHT.changes_at(opens) == utc("2026-11-01T11:00")  # 06:00 EST: nine hours later


def test_a_window_opens_right_after_a_skipped_hour_that_contains_its_opening() -> None:
    window = SyncWindow("02:30", "04:00", ZONE)

    assert window.changes_at(utc("2026-03-08T06:00")) == utc("2026-03-08T07:00")  # 03:00 EDT
    assert window.changes_at(utc("2026-03-08T07:00")) == utc("2026-03-08T08:00")


def test_a_window_within_the_skipped_hour_does_not_open_that_day() -> None:
    window = SyncWindow("02:15", "02:45", ZONE)

    assert window.changes_at(utc("2026-03-08T05:00")) == utc("2026-03-09T06:15")


def test_a_window_that_ends_in_the_repeated_hour_closes_twice() -> None:
    window = SyncWindow("22:00", "01:30", ZONE)

    moments = [utc("2026-11-01T02:00")]
    for _ in range(3):
        moments.append(window.changes_at(moments[-1]))

    assert [moment.strftime("%H:%M") for moment in moments[1:]] == ["05:30", "06:00", "06:30"]


def test_every_change_is_within_the_horizon() -> None:
    for window in (NIGHT, SyncWindow("02:15", "02:16", ZONE), SyncWindow("00:00", "23:59", "Pacific/Apia")):
        for hours in range(0, 24 * 365, 37):
            moment = utc("2026-01-01T00:00") + timedelta(hours=hours)
            assert moment < window.changes_at(moment) < moment + MAX_HORIZON


@pytest.mark.parametrize("zone", [ZONE, "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia", "UTC"])
def test_a_change_is_the_first_minute_in_which_the_window_is_open_or_closed(zone: str) -> None:
    random = Random(zone)
    for _ in range(40):
        opens, closes = (f"{random.randrange(24):02}:{random.choice((0, 15, 30, 59)):02}" for _ in range(2))
        window = SyncWindow(opens, closes if closes != opens else "12:34", zone)
        day = random.choice(["2026-01-15", "2026-03-07", "2026-03-28", "2026-04-04", "2026-10-03", "2026-10-31"])
        now = utc(f"{day}T00:00:20") + timedelta(minutes=random.randrange(2 * 24 * 60))

        change = window.changes_at(now)

        whole_minute = now.replace(second=0)
        minutes = range(1, int((change - whole_minute).total_seconds()) // 60)
        assert all(window.is_open(whole_minute + timedelta(minutes=n)) is window.is_open(now) for n in minutes)
        assert window.is_open(change) is not window.is_open(now)


@pytest.mark.parametrize(
    ("opens", "closes", "hours"), [("22:00", "06:00", 8), ("09:30", "10:00", 0.5), ("00:01", "00:00", 24 - 1 / 60)]
)
def test_the_length_of_a_window_may_cross_midnight(opens: str, closes: str, hours: float) -> None:
    assert SyncWindow(opens, closes, ZONE).length == timedelta(hours=hours)


@pytest.mark.parametrize(
    ("opens", "closes", "zone", "field", "words"),
    [
        ("24:00", "06:00", ZONE, "sync_window.from", "00:00 to 23:59"),
        ("9:00", "17:00", ZONE, "sync_window.from", "00:00 to 23:59"),
        ("22:00", "06:00:00", ZONE, "sync_window.to", "00:00 to 23:59"),
        ("22:00", "\u0660\u0666:\u0660\u0660", ZONE, "sync_window.to", "00:00 to 23:59"),
        ("22:00", "22:00", ZONE, "sync_window.to", "differ from `from`"),
        ("22:00", "06:00", "", "sync_window.time_zone", "IANA"),
        ("22:00", "06:00", "America", "sync_window.time_zone", "IANA"),
        ("22:00", "06:00", "../UTC", "sync_window.time_zone", "IANA"),
        ("22:00", "06:00", "/etc/passwd", "sync_window.time_zone", "IANA"),
    ],
)
def test_each_wrong_field_is_named(opens: str, closes: str, zone: str, field: str, words: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        SyncWindow.checked(opens, closes, zone)

    (problem,) = caught.value.problems
    assert problem.field == field
    assert words in problem.message


@pytest.mark.parametrize(
    ("wrong", "suggestion"),
    [
        ("America/NewYork", "America/New_York"),
        ("america/new_york", "America/New_York"),
        ("New York", "America/New_York"),
        ("Los Angeles", "America/Los_Angeles"),
        ("Europe/Berln", "Europe/Berlin"),
        ("Berln", "Europe/Berlin"),
    ],
)
def test_the_nearest_zones_are_suggested(wrong: str, suggestion: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        SyncWindow.checked("22:00", "06:00", wrong)

    assert suggestion in str(caught.value.problems[0].suggestion)


def test_all_problems_are_reported_at_once() -> None:
    with pytest.raises(InvalidRequest) as caught:
        SyncWindow.checked("late", "early", "nowhere at all")

    assert [problem.field for problem in caught.value.problems] == [
        "sync_window.from",
        "sync_window.to",
        "sync_window.time_zone",
    ]
    assert caught.value.problems[2].suggestion is None
