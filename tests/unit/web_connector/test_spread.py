"""Many connections with one sync window do not call together."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from random import Random

import pytest

from domain.connections.turns import MAX_DELAY, place, turn_in_window
from domain.records.connection import Backoff, Connection
from domain.records.sync_window import SyncWindow
from domain.timestamps import timestamp
from domain.web_connector.session.polling import IDLE_POSTPONEMENT_SECONDS, postponement, postponement_while_held
from tests.support.builders import NOON, a_connection

CONNECTIONS = 1_000
OPENING = NOON.replace(hour=22)


def connections(seed: int, **fields: object) -> list[Connection]:
    """Return connections with random ids."""
    random = Random(seed)
    ids = (f"{random.getrandbits(32):08x}-0000-4000-8000-{random.getrandbits(48):012x}" for _ in range(CONNECTIONS))
    return [a_connection(id=connection_id, **fields) for connection_id in ids]


@pytest.mark.parametrize(("closes", "minutes"), [("22:01", 1), ("22:20", 20), ("22:50", 50), ("06:00", 480)])
def test_turns_begin_evenly_within_a_fifth_of_the_window_and_ten_minutes(closes: str, minutes: int) -> None:
    window = SyncWindow("22:00", closes, "UTC")
    most = min(timedelta(minutes=minutes) / 5, MAX_DELAY)
    moments = [turn_in_window(connection, NOON) for connection in connections(minutes, sync_window=window)]

    delays = [moment - OPENING for moment in moments if moment]

    assert len(delays) == CONNECTIONS
    assert timedelta() <= min(delays) <= max(delays) <= most
    quarters = Counter(int(delay / most * 4) for delay in delays)
    assert max(quarters.values()) < 1.2 * CONNECTIONS / 4


def test_a_turn_is_the_same_before_and_after_the_opening_and_lasts_until_the_window_closes() -> None:
    window = SyncWindow("22:00", "22:50", "UTC")
    for connection in connections(1, sync_window=window)[:50]:
        turn = turn_in_window(connection, NOON)
        assert turn
        assert turn_in_window(connection, OPENING + (turn - OPENING) * 0.99) == turn or turn == OPENING
        assert turn_in_window(connection, turn) is None
        assert turn_in_window(connection, OPENING + timedelta(minutes=49, seconds=59)) is None
        assert turn_in_window(connection, OPENING + timedelta(minutes=50)) == turn + timedelta(days=1)


@pytest.mark.parametrize("seed", range(12))
def test_a_connection_may_send_in_one_piece_of_each_day_from_its_turn_to_the_end_of_the_window(seed: int) -> None:
    random = Random(seed)
    opens, length = random.randrange(24 * 60), random.choice([1, 2, 7, 30, 300, 24 * 60 - 4, 24 * 60 - 1])
    first, last = (f"{minute // 60 % 24:02}:{minute % 60:02}" for minute in (opens, opens + length))
    window = SyncWindow(first, last, "UTC")
    (connection, *_) = connections(seed, sync_window=window)
    step = timedelta(seconds=5)
    moments = [NOON + number * step for number in range(24 * 60 * 12 + 1)]

    may_send = [turn_in_window(connection, moment) is None for moment in moments]

    changes = [
        moment for moment, before, after in zip(moments[1:], may_send, may_send[1:], strict=False) if before != after
    ]
    assert len(changes) == 2
    seconds = may_send[1:].count(True) * step.total_seconds()
    assert 0.8 * length * 60 - 5 <= seconds <= length * 60 + 5


def test_a_short_window_that_opens_when_clocks_change_still_has_a_turn() -> None:
    window = SyncWindow("01:30", "03:30", "America/New_York")
    for connection in connections(2, sync_window=window)[:50]:
        turn = turn_in_window(connection, NOON.replace(month=3, day=8, hour=0))
        assert turn
        assert turn_in_window(connection, turn) is None


def test_connections_that_were_postponed_together_call_apart() -> None:
    first_calls: Counter[int] = Counter()
    for connection in connections(3, inserted_at="2026-01", last_worked_at=timestamp(NOON - timedelta(hours=1))):
        first_calls[postponement(connection, NOON)] += 1

    assert max(first_calls) <= IDLE_POSTPONEMENT_SECONDS
    assert min(first_calls) >= 0.8 * IDLE_POSTPONEMENT_SECONDS
    assert max(first_calls.values()) < CONNECTIONS / 20


def test_the_pauses_of_backoffs_that_began_together_end_apart_and_never_early() -> None:
    until = NOON + timedelta(minutes=4)
    calls: Counter[int] = Counter()
    for connection in connections(4, backoff=Backoff(3, timestamp(until))):
        calls[postponement_while_held(connection, NOON)] += 1

    assert 240 <= min(calls) < max(calls) <= 288
    assert max(calls.values()) < CONNECTIONS / 10


def test_a_place_depends_on_nothing_but_the_id() -> None:
    assert place("c0000000-0000-4000-8000-000000000001") == pytest.approx(0.24519013)
    assert all(0 <= place(connection.id) < 1 for connection in connections(5))
