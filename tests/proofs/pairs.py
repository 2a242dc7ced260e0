"""Every pair of interruptions of a drain, with lagging indexes."""

from __future__ import annotations

import time
from functools import partial
from itertools import islice
from multiprocessing import get_context

from tests.proofs import output
from tests.support.web_connector.drain import Drain
from tests.support.web_connector.matrix import QUEUES, interruptions_of

SHOWN_FAILURES = 20


def pairs_of(every: int, task: tuple[int, int]) -> tuple[int, list[str]]:
    """Drain a queue with each pair that begins with one interruption. Return the number of runs, and the failures."""
    queue, interruption = task
    fill = QUEUES[queue]
    first = next(islice(interruptions_of(fill), interruption, None))
    seconds = Drain(fill, first, lag="indexes").to_the_end().points.after(first)
    runs, failures = 0, []
    for second in islice(seconds, interruption % every, None, every):
        runs += 1
        try:
            Drain(fill, first, second, lag="indexes").to_the_end().check()
        except BaseException as error:  # noqa: BLE001 - every failure is printed, and the next case runs
            failures.append(f"{fill.__name__} {first} {second}: {type(error).__name__} {error}"[:400])
    return runs, failures


def prove(every: int) -> bool:
    """Drain with all pairs, or each `every`th; return whether all rules hold."""
    tasks = [
        (queue, interruption)
        for queue, fill in enumerate(QUEUES)
        for interruption, _ in enumerate(interruptions_of(fill))
    ]
    start, runs, failures = time.monotonic(), 0, []
    with get_context("spawn").Pool() as pool:
        for count, (more, wrong) in enumerate(pool.imap_unordered(partial(pairs_of, every), tasks), 1):
            runs += more
            failures += wrong
            seconds = time.monotonic() - start
            output.progress(f"{count} of {len(tasks)} first interruptions, {runs} pairs, {seconds:.0f} s")
    output.result(
        f"pairs: {runs} runs of {len(QUEUES)} queues, {time.monotonic() - start:.0f} s, {len(failures)} failed"
    )
    for line in failures[:SHOWN_FAILURES]:
        output.result(f"  {line}")
    return not failures
