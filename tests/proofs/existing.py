"""Cuts and pairs of cuts of a run of requests with `if_exists`, with every act of others between two messages."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

from tests.proofs import output
from tests.support.web_connector.existing import CUTS, KINDS, played

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SHOWN_FAILURES = 20


def drawn(chance: random.Random) -> tuple[str, Mapping[int, str], Mapping[int, str]]:
    """Return a case: a kind, up to two cuts and up to two acts, by the number of their message."""
    name = chance.choice(list(KINDS))
    kind = KINDS[name]

    def some(events: Sequence[str]) -> Mapping[int, str]:
        return {at: chance.choice(events) for at in chance.sample(kind.messages, chance.randint(0, 2))}

    return name, some(CUTS), some(kind.acts)


def prove(runs: int, seed: int) -> bool:
    """Play random cases that `seed` determines; return whether all rules hold."""
    chance = random.Random(seed)
    start, failures = time.monotonic(), []
    for count in range(1, runs + 1):
        kind, cuts, acts = drawn(chance)
        try:
            played(kind, cuts, acts)
        except Exception as error:  # noqa: BLE001 - every failure is printed, and the next case runs
            failures.append(f"run {count}: {kind} {cuts} {acts}: {type(error).__name__} {error}"[:400])
        output.progress(f"{count} of {runs}")
    seconds = time.monotonic() - start
    output.result(f"existing: {runs} runs from seed {seed}, {seconds:.0f} s, {len(failures)} failed")
    for line in failures[:SHOWN_FAILURES]:
        output.result(f"  {line}")
    return not failures
