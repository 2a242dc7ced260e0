"""Real concurrency: Web Connectors of many tenants at once, and random interleavings, on the database itself.

Smaller than `make prove`, which does the same for longer.
"""

from __future__ import annotations

import pytest

from tests.contract.conftest import ENDPOINT
from tests.proofs import interleavings, lost_answers
from tests.proofs.connectors import at_once
from tests.proofs.databases import new_dynamodb_store
from tests.support.fake_store import FakeStore


def test_twenty_connectors_at_once_get_their_own_responses_in_order() -> None:
    assert at_once(FakeStore(), connectors=20, requests=10) >= 20


def test_any_interleaving_keeps_the_rules_on_a_database_that_loses_answers_and_tears_reads() -> None:
    with lost_answers.on_emulation() as machine:
        interleavings.run(machine, runs=2, steps=20, chance=1, shrinks=False)


@pytest.mark.dynamodb_local
@pytest.mark.skipif(not ENDPOINT, reason="needs DYNAMODB_ENDPOINT")
def test_ten_connectors_at_once_get_their_own_responses_in_order_from_dynamodb() -> None:
    with new_dynamodb_store() as store:
        assert at_once(store, connectors=10, requests=8) >= 10


@pytest.mark.dynamodb_local
@pytest.mark.skipif(not ENDPOINT, reason="needs DYNAMODB_ENDPOINT")
def test_any_interleaving_keeps_the_rules_on_dynamodb() -> None:
    interleavings.run(interleavings.OnDynamoDB, runs=2, steps=12, shrinks=False)
