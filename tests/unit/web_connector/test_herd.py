"""A herd of Web Connectors, in simulated time: no rate limit cuts a session (`benchmarks/herd.py`)."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from benchmarks.herd import Herd, Simulation, before
from domain.web_connector.session.admission import max_sessions
from domain.web_connector.session.polling import MAX_DELAY, SPREAD

LIMIT = 200
SMALL = Herd(
    connections=60,
    requests=4,
    idle=200,
    window_minutes=30,
    calls_per_second=LIMIT,
    burst=5 * LIMIT,
    sessions=max_sessions(LIMIT, 800),
)


def a_herd(seed: int) -> Herd:
    """Return a herd with random numbers."""
    random = Random(seed)
    limit = random.randrange(100, 400)
    return Herd(
        connections=random.randrange(20, 120),
        requests=random.randrange(1, 6),
        idle=random.randrange(0, 300),
        window_minutes=random.choice([5, 20, 60, 480]),
        calls_per_second=limit,
        burst=random.randrange(2 * limit, 5_001),
        concurrency=random.randrange(50, 1_000),
        sessions=max_sessions(limit, 800),
        idle_hours=random.choice([1, 24]),
        trip_ms=random.randrange(50, 200),
        work_ms=random.randrange(20, 2_000),
        seed=seed,
    )


@pytest.mark.parametrize("seed", range(8))
def test_no_session_is_cut_and_all_work_is_done(seed: int) -> None:
    herd = a_herd(seed)

    result = Simulation(herd).run(max_minutes=60)

    assert (result.cut, result.lost) == (0, 0)
    assert result.responses == herd.connections * herd.requests


@pytest.mark.parametrize("connections", [20, 100])
def test_a_herd_that_calls_in_the_same_second_is_turned_away_and_not_cut(connections: int) -> None:
    herd = replace(SMALL, connections=connections, window_minutes=0, idle=0)

    result = Simulation(herd).run(max_minutes=60)

    assert (result.cut, result.lost) == (0, 0)
    assert result.turned_away > 0
    assert result.peak_sessions <= 2 * (herd.sessions or 0)
    assert result.responses == connections * herd.requests


def test_a_window_is_drained_within_its_spread_and_a_few_minutes() -> None:
    result = Simulation(SMALL).run(max_minutes=60)

    spread = min(30 * 60 * SPREAD, MAX_DELAY.total_seconds())
    assert result.drained_at
    assert 0.5 * spread < result.drained_at < spread + 240


def test_the_rules_of_before_cut_sessions_and_lose_responses() -> None:
    herd = replace(SMALL, connections=150, requests=6)

    result = Simulation(before(herd)).run(max_minutes=15)

    assert result.cut > 0
    assert result.lost > 0
