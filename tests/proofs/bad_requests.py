"""Bad requests in front: mixes of requests that always fail, with healthy ones before, between and behind them."""

from __future__ import annotations

import random
import time
from datetime import timedelta

from domain.records.request import State
from domain.web_connector.session.backoff import MAX_PAUSE
from tests.proofs import output
from tests.support.web_connector.bad_requests import Bad, FailingBooks

A_SESSION = MAX_PAUSE + timedelta(minutes=3)
"""The longest pause with the session before it."""
MAX_UNRECOVERABLE = 60
"""Writes whose status checks fail too. They keep their place, and are more than the failures of a session."""
MAX_BAD = 200


def run(chance: random.Random) -> tuple[int, timedelta, int]:
    """Drain a queue. Return the number of bad requests, the time of the healthy ones and the failing calls."""
    books = FailingBooks()
    kinds = [chance.choice([Bad.READ, Bad.ITERATED_READ, Bad.WRITE]) for _ in range(chance.randint(0, MAX_BAD))]
    kinds += [Bad.WRITE_AND_CHECK] * chance.randint(0, chance.choice([0, MAX_UNRECOVERABLE]))
    chance.shuffle(kinds)
    good = []
    share = chance.choice([0.0, 0.1, 0.5])
    for kind in kinds:
        books.queue_bad(kind)
        if chance.random() < share:
            good.append(books.qbwc.queue() if chance.random() < 0.5 else books.qbwc.write())
    good.append(books.qbwc.write())
    duration = books.run_until(lambda: all(map(books.has_ended, good)))
    # Each session sends at least one request for the first, second or third time, unless it asks about writes only. The
    # number of status checks doubles with each session, until a healthy request is sent.
    checking = MAX_UNRECOVERABLE.bit_length() * len(good)
    assert books.sessions <= 3 * len(kinds) + checking, (kinds, books.sessions)
    assert duration <= books.sessions * A_SESSION, (kinds, duration)
    assert {books.qbwc.record(request_id).state for request_id in good} == {State.RESPONSE_RECEIVED}
    assert books.qbwc.store.counts == books.qbwc.store.exact_counts()
    return len(kinds), duration, books.failing_calls


def prove(runs: int, seed: int) -> bool:
    """Drain many queues and print the result. Raises the rule that does not hold."""
    start = time.monotonic()
    results = []
    for number in range(runs):
        results.append(run(random.Random(f"{seed}/{number}")))
        output.progress(f"{number + 1} runs")
    bad, durations, calls = zip(*results, strict=True)
    output.result(
        f"bad requests: {runs} runs, {sum(bad)} requests that always fail, {sum(calls)} failing calls, the healthy "
        f"ones were sent within {max(durations)}, {time.monotonic() - start:.0f} s, nothing failed"
    )
    return True
