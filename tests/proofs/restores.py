"""Torn restores: random histories on emulated DynamoDB, and each table restored to another moment."""

from __future__ import annotations

import time

from moto import mock_aws

from adapters.dynamodb import DynamoDBStore
from local.emulated_dynamodb import emulated_dynamodb
from local.tables import make_tables
from tests.contract.conftest import dynamodb_client
from tests.proofs import output
from tests.support.web_connector.torn_restores import History

STEPS = 25


def prove(runs: int, seed: int) -> bool:
    """Restore many histories and print the result. Raises the rule that does not hold."""
    start = time.monotonic()
    for number in range(runs):
        with emulated_dynamodb(), mock_aws():
            client = dynamodb_client()
            history = History(DynamoDBStore(client, make_tables(client, "")), seed * 1_000_000 + number)
            history.take_steps(STEPS)
            history.restore_each_table_to_another_moment()
            history.check_the_rest()
        output.progress(f"{number + 1} runs")
    output.result(f"restores: {runs} runs, {time.monotonic() - start:.0f} s, nothing failed")
    return True
