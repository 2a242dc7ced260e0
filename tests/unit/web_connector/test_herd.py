"""A herd of Web Connectors, in simulated time: no rate limit cuts a session."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from domain.connections.turns import MAX_DELAY, SPREAD
from domain.web_connector.session.admission import UNDISTURBED
from tests.support.builders import APP_ID
from tests.support.web_connector.herd import ANOTHER_APP, Herd, Simulation

LIMIT = 200
SMALL = Herd(
    connections=60,
    requests=4,
    idle=200,
    window_minutes=30,
    calls_per_second=LIMIT,
    burst=5 * LIMIT,
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
        idle_hours=random.choice([1, 24]),
        trip_ms=random.randrange(50, 200),
        work_ms=random.randrange(20, 2_000),
        seed=seed,
    )


NIGHTLY = pytest.mark.nightly


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=NIGHTLY) for seed in (1, 2, 3))])
def test_no_session_is_cut_and_all_work_is_done(seed: int) -> None:
    herd = a_herd(seed)

    result = Simulation(herd).run(max_minutes=60)

    assert (result.cut, result.lost) == (0, 0)
    assert result.responses == herd.connections * herd.requests


@pytest.mark.parametrize("connections", [30, 150])
def test_a_herd_that_calls_in_the_same_second_is_turned_away_and_not_cut(connections: int) -> None:
    herd = replace(SMALL, connections=connections, window_minutes=0, idle=0)

    result = Simulation(herd).run(max_minutes=60)

    assert (result.cut, result.lost) == (0, 0)
    assert result.turned_away > 0
    assert herd.budget
    assert result.peak_sessions <= herd.budget.sessions
    assert result.responses == connections * herd.requests


@pytest.mark.parametrize("work_ms", [20_000, *(pytest.param(ms, marks=NIGHTLY) for ms in (20, 1_000, 5_000))])
def test_all_places_together_stay_below_their_share_of_the_rate_limit(work_ms: int) -> None:
    """Sessions of any speed are paced to it. Logins come on top, and are over after a minute."""
    herd = replace(SMALL, calls_per_second=60, connections=40, requests=25, window_minutes=0, idle=0, work_ms=work_ms)
    simulation = Simulation(herd)

    result = simulation.run(max_minutes=60)

    assert (result.cut, result.lost, result.responses) == (0, 0, 40 * 25)
    busiest = simulation.calls_in_busiest(seconds=30, since=120)
    assert herd.budget
    assert busiest / 30 <= 1.2 * herd.budget.calls_per_second


def a_crowd(seed: int) -> Herd:
    """Return connections that always have work, for which there are too few places."""
    random = Random(seed)
    sessions, connections = random.choice([1, 2, 3, 5, 8, 20]), random.randrange(3, 50)
    work_ms = random.randrange(5_000, 30_000)
    return Herd(
        connections=connections,
        of_another_app=random.choice([0, 1, connections // 3]),
        requests=random.choice([3, 100, 7_200_000 // work_ms // 2]),
        idle=0,
        window_minutes=0,
        calls_per_second=random.randrange(50, 1_000),
        sessions=sessions,
        work_ms=work_ms,
        interval_seconds=random.choice([60, 60, 200, 800]),
        seed=seed,
    )


@pytest.mark.parametrize("seed", [3, *(pytest.param(seed, marks=NIGHTLY) for seed in (0, 1, 2))])
def test_no_connection_is_turned_away_for_longer_than_the_formula_says(seed: int) -> None:
    herd = a_crowd(seed)

    result = Simulation(herd).run(max_minutes=120)

    assert herd.sessions
    apps = 2 if herd.of_another_app else 1
    of_app = {APP_ID: herd.connections - herd.of_another_app, ANOTHER_APP: herd.of_another_app}
    for app_id, wait in result.waits.items():
        longest = of_app[app_id] * apps * UNDISTURBED.total_seconds() / herd.sessions
        assert wait <= longest + herd.interval_seconds + 5, app_id
    assert (result.cut, result.lost) == (0, 0)
    # A reservation begins at the next call of its Web Connector, and its session ends after its last request.
    overlap = UNDISTURBED.total_seconds() + herd.interval_seconds + herd.work_ms / 1000
    assert result.peak_sessions <= herd.sessions * (1 + overlap / UNDISTURBED.total_seconds()) + 2


def test_a_window_is_drained_within_its_spread_and_a_few_minutes() -> None:
    result = Simulation(SMALL).run(max_minutes=60)

    spread = min(30 * 60 * SPREAD, MAX_DELAY.total_seconds())
    assert result.drained_at
    assert 0.5 * spread < result.drained_at < spread + 240


def test_without_admission_sessions_are_cut_and_responses_lost() -> None:
    herd = replace(SMALL, connections=150, idle=0, window_minutes=0, sessions=None, calls_per_second=50)

    result = Simulation(herd).run(max_minutes=15)

    assert result.cut > 0
    assert result.lost > 0
