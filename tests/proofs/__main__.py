"""Run the long proofs and print their size: `python -m tests.proofs [connectors] [pairs] …`.

* `connectors`: CONNECTORS (20) Web Connectors of as many connections at once, REQUESTS (50) each.
* `interruptions`: every interruption of a session, with each lag; `make test` makes each fifth.
* `pairs`: every pair of interruptions of a session, in memory; EVERY=n takes each n-th.
* `pairs_of_sets`: the same with 2, 5 and 20 requests in a message set; EVERY (20).
* `interleavings`: the state machine, RUNS (250) times up to STEPS (50) steps; SEED (1) repeats a run.
* `interleavings_of_sets`: the same with up to 2, then 5, then 20 requests in a message set.
* `interleavings_of_looking`: the same, begun with additions that look first and batches that can be continued.
* `interleavings_of_few_sessions`: the same with two sessions that may run at once.
* `lost_answers`: the same on emulated DynamoDB that loses answers, does calls minutes later, fails reads and tears
  batches, with up to 1 and 5 requests in a message set; RUNS (50).
* `bad_requests`: queues with up to 200 requests that always fail, RUNS (50) times; SEED (1) repeats a run.
* `existing`: cuts and pairs of cuts of requests with `if_exists`, while others write, open other company files, restore
  the tables and decide about writes that need approval, RUNS (4,000) times; SEED (1) repeats a run.
* `restores`: random histories with each table restored to another moment, RUNS (250) times; SEED (1) repeats a run.

The connectors and the interleavings take the database at DYNAMODB_ENDPOINT if it is set, else a store in memory.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))

from local.database import answering_endpoint
from tests.proofs import bad_requests, connectors, existing, interleavings, lost_answers, pairs, restores
from tests.proofs.databases import ENDPOINT, new_dynamodb_store
from tests.support.fake_store import FakeStore
from tests.support.web_connector.interleavings import InterleavingsOfLooking
from tests.support.web_connector.matrix import QUEUES_OF_SETS


def number(name: str, default: int) -> int:
    """Return a number from the environment."""
    return int(os.environ.get(name) or default)


def prove_connectors() -> bool:
    """Drain many connections at once."""
    size = number("CONNECTORS", 20), number("REQUESTS", 50)
    if not ENDPOINT:
        return connectors.prove(FakeStore(), *size)
    with new_dynamodb_store() as store:
        return connectors.prove(store, *size)


def prove_interruptions() -> bool:
    """Interrupt once."""
    # In a process of its own, because this one has imported plugins of pytest, which it must import itself.
    command = [sys.executable, "-m", "pytest", "-q", "tests/unit/web_connector/test_interruptions.py"]
    run = subprocess.run(command, env={**os.environ, "INTERRUPTIONS": "all"}, check=False)  # noqa: S603 - the command is ours
    return run.returncode == 0


def prove_pairs() -> bool:
    """Interruption twice."""
    return pairs.prove(number("EVERY", 1))


def prove_interleavings() -> bool:
    """Run the state machine."""
    machine = interleavings.OnDynamoDB if ENDPOINT else interleavings.InMemory
    return interleavings.prove(machine, number("RUNS", 250), number("STEPS", 50), number("SEED", 1))


def prove_pairs_of_sets() -> bool:
    """Interrupt sessions with message sets of several requests twice."""
    return all(pairs.prove(number("EVERY", 20), batch_size) for batch_size in QUEUES_OF_SETS)


def prove_interleavings_of_sets() -> bool:
    """Run the state machine with message sets of several requests."""
    machine = interleavings.OnDynamoDB if ENDPOINT else interleavings.InMemory
    size = number("RUNS", 250), number("STEPS", 50), number("SEED", 1)
    return all(
        interleavings.prove(type("OfSets", (machine,), {"batch_size": batch_size}), *size)
        for batch_size in QUEUES_OF_SETS
    )


def prove_interleavings_of_looking() -> bool:
    """Run the state machine with additions that look first."""
    machine = interleavings.OnDynamoDB if ENDPOINT else interleavings.InMemory
    size = number("RUNS", 250), number("STEPS", 50), number("SEED", 1)
    first = {name: getattr(InterleavingsOfLooking, name) for name in ("first_requests", "first_batches")}
    return interleavings.prove(type("OfLooking", (machine,), first), *size)


def prove_interleavings_of_few_sessions() -> bool:
    """Run the state machine with fewer sessions than connections."""
    machine = interleavings.OnDynamoDB if ENDPOINT else interleavings.InMemory
    size = number("RUNS", 250), number("STEPS", 50), number("SEED", 1)
    return interleavings.prove(type("OfFewSessions", (machine,), {"max_sessions": 2}), *size)


def prove_bad_requests() -> bool:
    """Put requests that always fail in front of others."""
    return bad_requests.prove(number("RUNS", 50), number("SEED", 1))


def prove_existing() -> bool:
    """Let requests look for their objects first."""
    return existing.prove(number("RUNS", 4_000), number("SEED", 1))


def prove_restores() -> bool:
    """Restore each table to another moment."""
    return restores.prove(number("RUNS", 250), number("SEED", 1))


def prove_lost_answers() -> bool:
    """Run the state machine on an unreliable database."""
    size = number("RUNS", 50), number("STEPS", 50), number("SEED", 1)
    with lost_answers.on_emulation() as machine:
        return all(
            interleavings.prove(type("LostAnswersToSets", (machine,), {"batch_size": batch_size}), *size)
            for batch_size in (1, 5)
        )


PROOFS = {
    "connectors": prove_connectors,
    "interruptions": prove_interruptions,
    "pairs": prove_pairs,
    "pairs_of_sets": prove_pairs_of_sets,
    "interleavings": prove_interleavings,
    "interleavings_of_sets": prove_interleavings_of_sets,
    "interleavings_of_looking": prove_interleavings_of_looking,
    "interleavings_of_few_sessions": prove_interleavings_of_few_sessions,
    "bad_requests": prove_bad_requests,
    "existing": prove_existing,
    "lost_answers": prove_lost_answers,
    "restores": prove_restores,
}


def main(names: list[str]) -> int:
    """Run the named proofs, or all."""
    if unknown := set(names) - set(PROOFS):
        sys.exit(f"make prove: there is no proof {', '.join(sorted(unknown))}. The proofs are: {', '.join(PROOFS)}")
    answering_endpoint()
    results = [PROOFS[name]() for name in names or PROOFS]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
