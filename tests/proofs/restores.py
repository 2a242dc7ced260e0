"""Torn restores: random histories on emulated DynamoDB, and each table restored to another moment.

Each restore is killed at random points and continued. It has to end as one that runs without an interruption.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from adapters.dynamodb import DynamoDBStore
from local.emulated_dynamodb import emulated_dynamodb
from local.tables import make_tables
from tests.contract.conftest import dynamodb_client
from tests.proofs import output
from tests.support.web_connector.torn_restores import RestoredTables

STEPS = 25


def prove(runs: int, seed: int) -> bool:
    """Restore many histories and print the result. Raises the rule that does not hold."""
    start, kills = time.monotonic(), 0
    for number in range(runs):
        with emulated_dynamodb():
            client = dynamodb_client()
            store = DynamoDBStore(client, make_tables(client, ""))
            tables = RestoredTables(store, seed * 1_000_000 + number, STEPS)
            with tempfile.TemporaryDirectory() as folder:
                expected = tables.restore_in_one_go(Path(folder) / "one go")
                kills += tables.restore_with_kills(Path(folder) / "killed")
            assert tables.contents() == expected
            tables.history.check_the_rest()
        output.progress(f"{number + 1} runs")
    output.result(f"restores: {runs} runs with {kills} kills, {time.monotonic() - start:.0f} s, nothing failed")
    return True
