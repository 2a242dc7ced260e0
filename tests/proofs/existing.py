"""Every cut and pair of cuts of a run of requests with `if_exists`, with every act of a person between two messages."""

from __future__ import annotations

import random
import time
from itertools import chain, combinations, product
from typing import TYPE_CHECKING

from tests.proofs import output
from tests.support.web_connector.existing import ACTS, CUTS, KINDS, played

if TYPE_CHECKING:
    from collections.abc import Mapping

SHOWN_FAILURES = 20

MESSAGES = range(7)
"""The messages that can be cut. A run without trouble has five, or six with a Mod."""


def cases() -> list[tuple[str, Mapping[int, str], Mapping[int, str]]]:
    """Return the cases: a type, the cuts and the acts by the number of their message."""
    single = [{at: cut} for at, cut in product(MESSAGES, CUTS)]
    pairs = [dict(pair) for pair in combinations(product(MESSAGES, CUTS), 2) if pair[0][0] != pair[1][0]]
    acts = [{}, *({at: act} for at, act in product(MESSAGES, ACTS))]
    return list(product(KINDS, list(chain([{}], single, pairs)), acts))


def prove(every: int, seed: int) -> bool:
    """Play all cases, or each `every`th in an order that `seed` determines; return whether all rules hold."""
    chosen = cases()
    random.Random(seed).shuffle(chosen)
    start, failures = time.monotonic(), []
    for count, (kind, cuts, acts) in enumerate(chosen[::every], 1):
        try:
            played(kind, cuts, acts)
        except Exception as error:  # noqa: BLE001 - every failure is printed, and the next case runs
            failures.append(f"{kind} {cuts} {acts}: {type(error).__name__} {error}"[:400])
        output.progress(f"{count} of {len(chosen) // every}")
    seconds = time.monotonic() - start
    output.result(f"existing: {len(chosen[::every])} of {len(chosen)} runs, {seconds:.0f} s, {len(failures)} failed")
    for line in failures[:SHOWN_FAILURES]:
        output.result(f"  {line}")
    return not failures
