"""Every pair of interruptions of a drain, with lagging indexes."""

from __future__ import annotations

import time
from functools import partial
from itertools import islice
from multiprocessing import get_context
from typing import TYPE_CHECKING

from tests.proofs import output
from tests.support.web_connector.drain import Drain
from tests.support.web_connector.matrix import QUEUES, QUEUES_OF_SETS, interruptions_of

if TYPE_CHECKING:
    from tests.support.web_connector.matrix import Fill

SHOWN_FAILURES = 20


def queues_for(batch_size: int) -> tuple[Fill, ...]:
    """Return the queues for connections with this setting."""
    return QUEUES_OF_SETS.get(batch_size, QUEUES)


def pairs_of(every: int, batch_size: int, task: tuple[int, int]) -> tuple[int, list[str]]:
    """Drain a queue with each pair that begins with one interruption. Return the number of runs, and the failures."""
    queue, interruption = task
    fill = queues_for(batch_size)[queue]
    first = next(islice(interruptions_of(fill, batch_size), interruption, None))
    seconds = Drain(fill, first, lag="indexes", batch_size=batch_size).to_the_end().points.after(first)
    runs, failures = 0, []
    for second in islice(seconds, interruption % every, None, every):
        runs += 1
        try:
            Drain(fill, first, second, lag="indexes", batch_size=batch_size).to_the_end().check()
        except BaseException as error:  # noqa: BLE001 - every failure is printed, and the next case runs
            failures.append(f"{fill.__name__} {first} {second}: {type(error).__name__} {error}"[:400])
    return runs, failures


def prove(every: int, batch_size: int = 1) -> bool:
    """Drain with all pairs, or each `every`th; return whether all rules hold."""
    queues = queues_for(batch_size)
    tasks = [
        (queue, interruption)
        for queue, fill in enumerate(queues)
        for interruption, _ in enumerate(interruptions_of(fill, batch_size))
    ]
    start, runs, failures = time.monotonic(), 0, []
    with get_context("spawn").Pool() as pool:
        for count, (more, wrong) in enumerate(pool.imap_unordered(partial(pairs_of, every, batch_size), tasks), 1):
            runs += more
            failures += wrong
            seconds = time.monotonic() - start
            output.progress(f"{count} of {len(tasks)} first interruptions, {runs} pairs, {seconds:.0f} s")
    seconds = time.monotonic() - start
    output.result(f"pairs, sets of {batch_size}: {runs} runs, {seconds:.0f} s, {len(failures)} failed")
    for line in failures[:SHOWN_FAILURES]:
        output.result(f"  {line}")
    return not failures
