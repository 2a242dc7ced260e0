"""What a `send_by` costs: an entry of the index `to_send`, and nothing for requests without one."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from adapters.dynamodb import DynamoDBStore
from domain.storage.changes import AddRequest, ChangeRequest, Put
from local.emulated_dynamodb import emulated_dynamodb
from local.tables import make_tables
from local.template import Template
from tests.contract.conftest import dynamodb_client
from tests.support.builders import NOON, REQUEST_XML, a_connection, a_record
from tests.support.counted_units import CountedUnits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.storage.changes import Change

STEPS = ("queue", "claim", "send")


def write_units(send_by: int | None) -> dict[str, float]:
    """Return the write units of each step of a request."""
    with emulated_dynamodb():
        client = dynamodb_client()
        store = DynamoDBStore(client, make_tables(client, ""))
        store.commit(Put(None, a_connection()))
        definitions = {table["TableName"]: table for table in Template.load().table_definitions()}
        counted = CountedUnits(client, definitions)
        used = {}
        record = a_record(request_name="CustomerAddRq", send_by=send_by)
        claimed = record.claimed("session", NOON)
        sent = claimed.sent(NOON + timedelta(seconds=1))
        commits: Sequence[Change] = (
            AddRequest(record, REQUEST_XML, "ann"),
            ChangeRequest(record, claimed),
            ChangeRequest(claimed, sent),
        )
        for step, change in zip(STEPS, commits, strict=True):
            before = counted.writes
            store.commit(change)
            used[step] = counted.writes - before
    return used


def test_a_request_with_a_send_by_costs_a_write_unit_when_it_is_queued_and_one_when_it_is_sent() -> None:
    plain, limited = write_units(None), write_units(int(NOON.timestamp()) + 3_600)

    more = {step: limited[step] - plain[step] for step in STEPS}
    assert more == {"queue": pytest.approx(1), "claim": pytest.approx(0), "send": pytest.approx(1)}
