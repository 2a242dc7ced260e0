"""Real concurrency: Web Connectors of many tenants at once, and random interleavings, on the database itself.

Smaller than `make prove`, which does the same for longer.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.contract.conftest import ENDPOINT, dynamodb_client
from tests.fakes import FakeStore
from tests.proofs.connectors import at_once
from tests.unit.web_connector.interleavings import Interleavings
from tests.unit.web_connector.world import World

if TYPE_CHECKING:
    from adapters.dynamodb import DynamoDBStore

_numbers = count(1)


def test_twenty_connectors_at_once_get_their_own_answers_in_order() -> None:
    assert at_once(FakeStore(), connectors=20, requests=10) >= 20


@pytest.mark.dynamodb_local
@pytest.mark.skipif(not ENDPOINT, reason="needs DYNAMODB_ENDPOINT")
def test_ten_connectors_at_once_get_their_own_answers_in_order_from_dynamodb(patient: DynamoDBStore) -> None:
    assert at_once(patient, connectors=10, requests=8) >= 10


@pytest.mark.dynamodb_local
@pytest.mark.skipif(not ENDPOINT, reason="needs DYNAMODB_ENDPOINT")
def test_any_interleaving_keeps_the_rules_on_dynamodb(endpoint: DynamoDBStore) -> None:
    class OnDynamoDB(Interleavings):
        def make_world(self, seed: int) -> Any:  # noqa: ARG002 - the database has no lag to choose
            return World(endpoint, number=next(_numbers))

    profile = settings(
        max_examples=6, stateful_step_count=25, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    run_state_machine_as_test(OnDynamoDB, settings=profile)
