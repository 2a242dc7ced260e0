"""When a failed webhook is tried again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from domain.webhooks.schedule import next_attempt_at, retry_after_delay
from tests.support.builders import NOON
from tests.support.cases import for_each

MIDDLE = 0.5
"""The random number that leaves a delay as it is."""


def delay_after(attempts: int, retry_after: str | None = None, random: float = MIDDLE) -> timedelta | None:
    moment = next_attempt_at(NOON, attempts, retry_after, random)
    return None if moment is None else moment - NOON


def test_the_delays_are_those_of_the_contract() -> None:
    """5 s, 30 s, 2 min, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h (docs/reference/service-contract.md, Webhook retries)."""
    delays = [delay_after(attempts) for attempts in range(1, 11)]

    assert delays == [
        timedelta(seconds=5),
        timedelta(seconds=30),
        timedelta(minutes=2),
        timedelta(minutes=5),
        timedelta(minutes=30),
        timedelta(hours=2),
        timedelta(hours=5),
        timedelta(hours=10),
        timedelta(hours=10),
        None,
    ]


@given(st.integers(1, 9), st.floats(0, 1, exclude_max=True))
def test_a_delay_varies_by_a_fifth_at_most(attempts: int, random: float) -> None:
    delay, spread = delay_after(attempts), delay_after(attempts, random=random)

    assert delay is not None
    assert spread is not None
    assert delay * 0.8 <= spread <= delay * 1.2


@for_each(
    ("retry_after", "expected"),
    [
        ("120", timedelta(seconds=120)),
        (" 120 ", timedelta(seconds=120)),
        ("1", timedelta(seconds=5)),  # never earlier than the schedule
        ("0", timedelta(seconds=5)),
        ("86400", timedelta(hours=24)),
        ("86401", timedelta(hours=24)),
        ("9" * 5000, timedelta(hours=24)),
        ("Sat, 14 Mar 2026 13:00:00 GMT", timedelta(hours=1)),
        ("Saturday, 14-Mar-26 13:00:00 GMT", timedelta(hours=1)),
        ("Sat Mar 14 13:00:00 2026", timedelta(hours=1)),
        ("Sat, 14 Mar 2026 14:00:00 +0100", timedelta(hours=1)),
        ("Sat, 14 Mar 2026 11:00:00 GMT", timedelta(seconds=5)),
        ("Mon, 16 Mar 2026 12:00:00 GMT", timedelta(hours=24)),
        ("soon", timedelta(seconds=5)),
        ("", timedelta(seconds=5)),
        ("-5", timedelta(seconds=5)),
        ("1.5", timedelta(seconds=5)),
        ("²", timedelta(seconds=5)),
        ("Sat, 99 Mar 2026 13:00:00 GMT", timedelta(seconds=5)),
        ("Sat, 14 Mar 99999999999 13:00:00 GMT", timedelta(seconds=5)),
    ],
)
def test_retry_after_makes_the_wait_longer_up_to_a_day(retry_after: str, expected: timedelta) -> None:
    assert delay_after(1, retry_after) == expected


def test_retry_after_does_not_add_an_attempt() -> None:
    assert delay_after(10, "60") is None


@given(st.text())
def test_any_retry_after_header_is_read_without_an_error(text: str) -> None:
    """A receiver can send anything."""
    delay = retry_after_delay(text, datetime(2026, 3, 14, tzinfo=UTC))

    assert delay is None or delay >= timedelta()
