"""Run the long proofs and say how large they were: `python -m tests.proofs [pairs] [interleavings] [connectors]`.

* `pairs`: every cut of a session with every cut of what is done after it; EVERY=n takes each n-th.
* `connectors`: 20 Web Connectors of 20 connections at once, 50 requests each; on the database at DYNAMODB_ENDPOINT
  when there is one, else on a store in memory.
* `interleavings`: the state machine, RUNS (220) times about STEPS (50) steps; SEED (1) repeats a run.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))

from adapters.dynamodb import DynamoDBStore
from local.tables import drop_tables, make_tables
from tests.contract.conftest import dynamodb_client
from tests.fakes import FakeStore
from tests.proofs import connectors, interleavings, pairs


def number(name: str, default: int) -> int:
    """Return a number from the environment."""
    return int(os.environ.get(name, default))


def prove_connectors() -> bool:
    """Have them drain a store."""
    endpoint = os.environ.get("DYNAMODB_ENDPOINT")
    if not endpoint:
        return connectors.prove(FakeStore(), 20, 50)
    client = dynamodb_client(endpoint, attempts=10)
    tables = make_tables(client, "proof-")
    try:
        return connectors.prove(DynamoDBStore(client, tables), 20, 50)
    finally:
        drop_tables(client, "proof-")


PROOFS = {
    "connectors": prove_connectors,
    "pairs": lambda: pairs.prove(number("EVERY", 1)),
    "interleavings": lambda: interleavings.prove(number("RUNS", 220), number("STEPS", 50), number("SEED", 1)),
}


def main(names: list[str]) -> int:
    """Run the proofs that are named, all without a name."""
    results = [PROOFS[name]() for name in names or PROOFS]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
