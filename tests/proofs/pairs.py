"""Every cut of a session with every cut of what is done after it, indexes lagging."""

from __future__ import annotations

import time
from functools import partial
from itertools import islice
from multiprocessing import get_context

from tests.proofs import telling
from tests.support.web_connector.matrix import QUEUES, one_cut
from tests.support.web_connector.runs import Run

SHOWN_FAILURES = 20


def pairs_of(every: int, task: tuple[int, int]) -> tuple[int, list[str]]:
    """Run one first cut of a queue with every second one; return how many runs there were, and what failed."""
    queue, cut = task
    fill = QUEUES[queue]
    first = next(islice(one_cut(fill), cut, None))
    seconds = Run(fill, first, lag="indexes").to_the_end().places.cuts_after(first)
    runs, failed = 0, []
    for second in islice(seconds, cut % every, None, every):
        runs += 1
        try:
            Run(fill, first, second, lag="indexes").to_the_end().check()
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is told, and the next case is tried
            failed.append(f"{fill.__name__} {first} {second}: {type(error).__name__} {error}"[:400])
    return runs, failed


def prove(every: int) -> bool:
    """Run all pairs, or each `every`th; return whether all is as it must be."""
    tasks = [(queue, cut) for queue, fill in enumerate(QUEUES) for cut, _ in enumerate(one_cut(fill))]
    began, runs, failed = time.monotonic(), 0, []
    with get_context("spawn").Pool() as pool:
        for done, (more, wrong) in enumerate(pool.imap_unordered(partial(pairs_of, every), tasks), 1):
            runs += more
            failed += wrong
            seconds = time.monotonic() - began
            telling.progress(f"{done} of {len(tasks)} first cuts, {runs} pairs, {seconds:.0f} s")
    telling.result(
        f"pairs of cuts: {runs} runs of {len(QUEUES)} queues, {time.monotonic() - began:.0f} s, {len(failed)} failed"
    )
    for line in failed[:SHOWN_FAILURES]:
        telling.result(f"  {line}")
    return not failed
