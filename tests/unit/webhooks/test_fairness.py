"""Whatever the receivers of one app do, the attempts of the others wait for them at most a documented time.

A simulation of a process of the stream consumer: a simulated clock, generated hosts, durations, orders and pauses.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, TypeAlias

from hypothesis import given
from hypothesis import strategies as st

from domain.webhooks.defaults import (
    FIRST_ATTEMPT_TIMEOUT_SECONDS,
    MAX_FIRST_ATTEMPTS_PER_APP,
    PATIENCE_SECONDS,
    QUICK_SECONDS,
    SLOW_DURATION,
    SLOW_SECONDS,
    TRIAL_SECONDS,
)
from domain.webhooks.patience import Patience, Refused
from tests.support.builders import FixedClock

if TYPE_CHECKING:
    from random import Random

    from domain.webhooks.patience import Token

Attempt: TypeAlias = tuple[str, str, float]
"""The app, the host, and the seconds until the receiver responds."""

TICK = 0.0001
"""An attempt that waited begins after the one that it waited for."""

MAX_BATCH_SECONDS = FIRST_ATTEMPT_TIMEOUT_SECONDS + TRIAL_SECONDS + 0.01
"""How long a batch takes at most: a wait for a trial, then an attempt that times out."""

HEALTHY, ATTACKER = "healthy", "attacker"

SECONDS_BETWEEN_SLOW = SLOW_DURATION.total_seconds() * (2 * SLOW_SECONDS - PATIENCE_SECONDS) / PATIENCE_SECONDS
"""After a slow attempt, the patience with its app returns at PATIENCE_SECONDS a minute until SLOW_SECONDS are left."""


class Process:
    """A process that delivers batches one after the other. `held` are the seconds that each batch took."""

    def __init__(self) -> None:
        self.clock = FixedClock()
        self.start = self.clock.now
        self.patience = Patience(self.clock)
        self.held: list[float] = []
        self.refused: set[str] = set()

    @property
    def seconds(self) -> float:
        """The time since the start."""
        return (self.clock.now - self.start).total_seconds()

    def deliver(self, batch: list[Attempt]) -> None:
        """Make the attempts of a batch side by side. Each one ends at the time limit."""
        began = self.seconds
        trial_ends: dict[str, float] = {}
        events: list[tuple[float, int, Token | None]] = [(began, number, None) for number in range(len(batch))]
        while events:
            now, number, turn = heapq.heappop(events)
            app_id, host, seconds = batch[number]
            self.clock.advance(seconds=now - self.seconds)
            if turn:
                self.patience.end(app_id, host, turn)
                continue
            is_trial = host not in self.patience._app(app_id).quick_hosts  # noqa: SLF001 - `begin` waits in real time
            trial_end = trial_ends.get(app_id, 0)
            if is_trial and now < trial_end and now < began + TRIAL_SECONDS:
                heapq.heappush(events, (min(trial_end, began + TRIAL_SECONDS) + TICK, number, None))
                continue
            if is_trial and now < trial_end:  # `begin` would now have waited for TRIAL_SECONDS
                self.refused.add(app_id)
                continue
            try:
                turn = self.patience.begin(app_id, host)
            except Refused:
                self.refused.add(app_id)
                continue
            end = now + min(seconds, FIRST_ATTEMPT_TIMEOUT_SECONDS)
            trial_ends[app_id] = end if is_trial else trial_end
            heapq.heappush(events, (end, number, turn))
        self.held.append(self.seconds - began)


DURATIONS = st.one_of(
    st.floats(0, QUICK_SECONDS), st.floats(QUICK_SECONDS, SLOW_SECONDS), st.floats(SLOW_SECONDS + 0.01, 100)
)
ATTACKS = st.lists(st.tuples(st.integers(0, 30), DURATIONS), max_size=MAX_FIRST_ATTEMPTS_PER_APP)


@given(st.lists(st.tuples(ATTACKS, st.floats(0, 5), st.randoms(use_true_random=False)), min_size=1, max_size=60))
def test_an_app_holds_up_the_batches_of_a_process_once_per_period_whatever_its_receivers_do(
    rounds: list[tuple[list[tuple[int, float]], float, Random]],
) -> None:
    process = Process()
    process.deliver([(HEALTHY, "shared.example", 0.01)])
    for attack, pause, chance in rounds:
        batch = [(ATTACKER, f"n{number}.example" if number else "shared.example", took) for number, took in attack]
        batch += [(HEALTHY, "shared.example", 0.01)] * 3
        chance.shuffle(batch)
        process.deliver(batch)
        process.clock.advance(seconds=pause)

    assert HEALTHY not in process.refused
    assert max(process.held) <= MAX_BATCH_SECONDS
    slow_batches = sum(seconds > SLOW_SECONDS for seconds in process.held)
    assert slow_batches <= process.seconds / SECONDS_BETWEEN_SLOW + 1
    minutes = process.seconds / SLOW_DURATION.total_seconds()
    beyond_quick = sum(max(seconds - TRIAL_SECONDS - QUICK_SECONDS, 0) for seconds in process.held)
    assert beyond_quick <= PATIENCE_SECONDS * (minutes + 1) + MAX_BATCH_SECONDS


def test_the_rule_that_is_documented_follows_from_the_limits() -> None:
    """docs/decisions/0042-patience-by-app.md names these figures."""
    assert round(MAX_BATCH_SECONDS, 1) == 1.1
    assert round(SECONDS_BETWEEN_SLOW) == 30
