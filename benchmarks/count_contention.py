"""Simulate how many transactions per second one connection sustains, by the number of its rows of counts.

Run `python -m benchmarks.count_contention [SECONDS]` (default 60). Each day has its row of counts. DynamoDB cancels
transactions that conflict on an item, but emulators do not. The simulation uses discrete events and these assumptions:

* A transaction takes 10 ms. It locks every item that it names from its beginning to its end.
* A transaction that names a locked item is cancelled at once (`TransactionConflict`). This response takes 5 ms.
  A `ConditionCheck` locks its item like a write, because DynamoDB's documentation does not distinguish them.
* A cancelled transaction is retried as in `adapters/dynamodb/store.py`, with the same parameters.
* `create` names the row of counts and the connection, because it checks that the connection exists. `change` (claim,
  response, webhook) names only the row. `life` is one create for every four changes, as in the life of a record.
* Each try chooses its row at random. With `1, then n` the first try takes the first row, and each try after a
  conflict takes one of n rows.
* `steady`: transactions arrive at random at a fixed rate (Poisson) for a minute. The rate is sustained if fewer than
  one transaction in ten thousand ends in 429. `50 threads`: each thread starts a transaction when its last one ends.
"""

from __future__ import annotations

import heapq
import random
import sys
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

from adapters.dynamodb.transactions import CONTENTION

if TYPE_CHECKING:
    from collections.abc import Callable

TRANSACTION_SECONDS = 0.010
CANCELLED_SECONDS = 0.005
ROWS = {"1": (1, 1), "4": (4, 4), "16": (16, 16), "1, then 4": (1, 4), "1, then 8": (1, 8), "1, then 16": (1, 16)}
"""The number of rows from which the first try chooses, and the number for later tries."""
CREATES = {"create": 1.0, "change": 0.0, "life": 0.2}
"""The share of creates among the transactions."""
DURATION_SECONDS = 60.0
THREADS = 50
REFUSED_SHARE = 1e-4
RATES = (5, 10, 15, 20, 25, 30, 40, 50, 60, 80, 100, 125, 150, 200, 300, 400, 600, 800)


@dataclass(slots=True)
class Result:
    """The duration of each transaction that succeeded, in seconds, and the number of those that were refused."""

    seconds: list[float] = field(default_factory=list)
    refused: int = 0

    @property
    def refused_share(self) -> float:
        """The share of the transactions that were refused."""
        return self.refused / max(1, self.refused + len(self.seconds))

    def percentile(self, share: float) -> float:
        """Return the duration, in seconds, that this share of the transactions did not exceed."""
        return sorted(self.seconds)[int(share * (len(self.seconds) - 1))]


class Simulation:
    """The items of one connection, the transactions that lock them, and the next events."""

    def __init__(self, rows: tuple[int, int], creates: float, seconds: float, seed: int = 7) -> None:
        self._chance = random.Random(seed)  # noqa: S311 - the same run each time
        self._rows = rows
        self._creates = creates
        self._seconds = seconds
        self._locked_items: set[str] = set()
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._order = count()
        self._now = 0.0
        self.result = Result()

    def steady(self, rate: float) -> Result:
        """Run transactions that arrive at an average of `rate` per second."""
        moment = 0.0
        while (moment := moment + self._chance.expovariate(rate)) < self._seconds:
            self._at(moment, lambda start=moment: self._new(start, lambda: None))  # type: ignore[misc]
        self._run()
        return self.result

    def threads(self, number: int) -> Result:
        """Run `number` threads, each of which makes one transaction after another."""

        def follow() -> None:
            if self._now < self._seconds:
                self._new(self._now, follow)

        for _ in range(number):
            self._at(0.0, follow)
        self._run()
        return self.result

    def _at(self, moment: float, what: Callable[[], None]) -> None:
        heapq.heappush(self._events, (moment, next(self._order), what))

    def _run(self) -> None:
        while self._events:
            self._now, _, what = heapq.heappop(self._events)
            what()

    def _new(self, start: float, then: Callable[[], None]) -> None:
        others = frozenset({"connection"} if self._chance.random() < self._creates else ())
        self._begin(start, 0, others, then)

    def _begin(self, start: float, attempt: int, others: frozenset[str], then: Callable[[], None]) -> None:
        items = others | {f"counts#{self._chance.randrange(self._rows[attempt > 0])}"}
        if self._locked_items & items:
            self._at(self._now + CANCELLED_SECONDS, lambda: self._cancelled(start, attempt, others, then))
            return
        self._locked_items |= items
        self._at(self._now + TRANSACTION_SECONDS, lambda: self._commit(start, items, then))

    def _commit(self, start: float, items: frozenset[str], then: Callable[[], None]) -> None:
        self._locked_items -= items
        self.result.seconds.append(self._now - start)
        then()

    def _cancelled(self, start: float, attempt: int, others: frozenset[str], then: Callable[[], None]) -> None:
        if attempt == CONTENTION.retries:
            self.result.refused += 1
            then()
            return
        longest = min(CONTENTION.max_seconds, CONTENTION.first_seconds * 2.0 ** (attempt + 1))
        self._at(self._now + longest * self._chance.random(), lambda: self._begin(start, attempt + 1, others, then))


def highest_rate(rows: tuple[int, int], creates: float, seconds: float) -> tuple[float, Result]:
    """Return the highest rate at which almost no transaction is refused, with its result."""
    best = (0.0, Result([0.0]))
    for rate in RATES:
        result = Simulation(rows, creates, seconds).steady(rate)
        if result.refused_share > REFUSED_SHARE:
            break
        best = (rate, result)
    return best


def main(seconds: float = DURATION_SECONDS) -> None:
    """Print the rate that each number of rows sustains."""
    print(f"{'':8} {'rows':>10} | steady: a second  p50 ms  p99 ms | 50 threads: a second   refused  p99 ms")
    for kind, creates in CREATES.items():
        for name, rows in ROWS.items():
            rate, steady = highest_rate(rows, creates, seconds)
            crowd = Simulation(rows, creates, seconds).threads(THREADS)
            print(
                f"{kind:8} {name:>10} | {rate:16.0f} {steady.percentile(0.5) * 1000:7.0f}"
                f" {steady.percentile(0.99) * 1000:7.0f} | {len(crowd.seconds) / seconds:20.0f}"
                f" {crowd.refused_share:9.2%} {crowd.percentile(0.99) * 1000:7.0f}"
            )


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
