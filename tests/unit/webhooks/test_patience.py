"""The stream consumer waits for slow receivers within a budget of each app. No app reduces the budget of another."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.webhooks import patience
from domain.webhooks.defaults import (
    FIRST_ATTEMPT_TIMEOUT_SECONDS,
    MAX_REMEMBERED_APPS,
    MAX_REMEMBERED_HOSTS,
    PATIENCE_SECONDS,
    SLOW_DURATION,
    SLOW_SECONDS,
    TRIAL_SECONDS,
)
from domain.webhooks.delivery import receiver_of
from domain.webhooks.patience import ANOTHER_IS_SLOW, SLOW_APP, SLOW_HOST, Patience, Refused
from tests.support.builders import FixedClock

OTHER = "an app with quick receivers"


class Receivers:
    """A process that makes first attempts one after the other. `waited` are the seconds that slow ones took."""

    def __init__(self) -> None:
        self.clock = FixedClock()
        self.patience = Patience(self.clock)
        self.waited = 0.0

    def attempt(self, app_id: str, host: str, seconds: float) -> str | None:
        """Make an attempt that takes this long. Return why it was refused, or None."""
        try:
            turn = self.patience.begin(app_id, host)
        except Refused as refused:
            return str(refused)
        self.clock.advance(seconds=seconds)
        self.patience.end(app_id, host, turn)
        if seconds > SLOW_SECONDS:
            self.waited += seconds
        return None


SLOW = st.floats(SLOW_SECONDS + 0.01, FIRST_ATTEMPT_TIMEOUT_SECONDS)


@given(
    attempts=st.lists(
        st.tuples(st.integers(0, 700), st.one_of(SLOW, st.floats(0, 0.01)), st.floats(0, 2)), min_size=1, max_size=200
    )
)
def test_an_app_delays_the_others_by_its_budget_whatever_its_receivers_do(
    attempts: list[tuple[int, float, float]],
) -> None:
    """Hosts, durations and pauses are generated. One attempt may begin before the budget is spent."""
    receivers = Receivers()
    start = receivers.clock.now
    for host, seconds, pause in attempts:
        receivers.attempt("app", f"n{host}.example", seconds)
        receivers.clock.advance(seconds=pause)
        assert receivers.attempt(OTHER, f"n{host}.example", 0.01) is None

    minutes = (receivers.clock.now - start) / SLOW_DURATION
    assert receivers.waited <= (minutes + 1) * PATIENCE_SECONDS + FIRST_ATTEMPT_TIMEOUT_SECONDS


def test_many_hosts_that_hang_are_waited_for_once_a_minute() -> None:
    receivers = Receivers()

    refused = [receivers.attempt("app", f"n{number}.example", FIRST_ATTEMPT_TIMEOUT_SECONDS) for number in range(700)]

    assert refused == [None] + [SLOW_APP] * 699
    assert receivers.attempt(OTHER, "n0.example", 0.01) is None
    receivers.clock.advance(seconds=SLOW_DURATION.total_seconds())
    assert receivers.attempt("app", "n1.example", 0.01) is None


def test_slowness_of_a_shared_host_is_remembered_for_the_app_only() -> None:
    receivers = Receivers()
    receivers.attempt("app", "shared.example", SLOW_SECONDS + 0.01)
    receivers.clock.advance(seconds=50)  # its patience has returned

    assert receivers.attempt("app", "shared.example", 0.01) == SLOW_HOST
    assert receivers.attempt("app", "quick.example", 0.01) is None
    assert receivers.attempt(OTHER, "shared.example", 0.01) is None
    receivers.clock.advance(seconds=10)
    assert receivers.attempt("app", "shared.example", 0.01) is None


def test_unknown_hosts_are_tried_one_at_a_time() -> None:
    """Otherwise all concurrent batches would wait for hosts that hang, before the first one times out."""
    receivers = Receivers()
    receivers.patience.begin("app", "a.example")
    receivers.clock.advance(seconds=TRIAL_SECONDS)

    assert receivers.attempt("app", "b.example", 0) == ANOTHER_IS_SLOW
    assert receivers.attempt("app", "a.example", 0) == ANOTHER_IS_SLOW
    assert receivers.attempt(OTHER, "a.example", 0) is None


def test_attempts_that_wait_for_a_trial_begin_when_its_receiver_is_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    # They wait in real time. On a busy machine, the threads may take longer to start than a trial takes.
    monkeypatch.setattr(patience, "TRIAL_SECONDS", 60)
    receivers = Receivers()
    turn = receivers.patience.begin("app", "a.example")
    results: list[str | None] = []
    threads = [
        threading.Thread(target=lambda: results.append(receivers.attempt("app", "a.example", 0))) for _ in range(5)
    ]
    for thread in threads:
        thread.start()
    receivers.patience.end("app", "a.example", turn)
    for thread in threads:
        thread.join()

    assert results == [None] * 5


def test_known_hosts_are_called_side_by_side_until_one_is_slow() -> None:
    receivers = Receivers()
    receivers.attempt("app", "a.example", 0.01)
    for _ in range(20):
        receivers.patience.begin("app", "a.example")
    receivers.clock.advance(seconds=SLOW_SECONDS + 0.01)

    assert receivers.attempt("app", "a.example", 0) == ANOTHER_IS_SLOW


def test_what_a_process_remembers_is_bounded() -> None:
    receivers = Receivers()
    for number in range(2 * MAX_REMEMBERED_HOSTS):
        receivers.attempt("app", f"{number}.example", 0)
    for number in range(2 * MAX_REMEMBERED_APPS):
        receivers.attempt(f"app {number}", "a.example", 0)

    apps = receivers.patience._apps  # noqa: SLF001 - its size is what the test is about
    assert len(apps) == MAX_REMEMBERED_APPS
    assert receivers.attempt("app", "a.example", 0) is None


@pytest.mark.parametrize(
    "url",
    ["https://Shop.Example/a", "https://shop.example./b?c", "HTTPS://SHOP.EXAMPLE:443/", "https://shop.example"],
)
def test_letter_case_and_path_name_the_same_receiver(url: str) -> None:
    assert receiver_of(url) == "shop.example"


def test_a_url_that_is_no_longer_valid_has_no_receiver() -> None:
    assert receiver_of("https://exa mple/") == ""
