"""A batch of large bodies does not exhaust the memory of the function."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from domain.records.request import State
from domain.storage.changes import AddRequest, ChangeRequest
from domain.webhooks.defaults import MAX_PARALLEL_READS
from domain.webhooks.delivery import BodySlots
from tests.support.builders import NOON, REQUEST_XML, RESPONSE_XML, a_record
from tests.support.webhooks import DeliverySetup, a_webhook, first_attempt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from domain.records.request import QueuedRequest


def completed(setup: DeliverySetup, response_xml: str = RESPONSE_XML) -> QueuedRequest:
    """Store a request with its response."""
    record = a_record(state=State.SENT, webhook=a_webhook())
    setup.store.commit(AddRequest(record, REQUEST_XML, "text"))
    setup.store.commit(ChangeRequest(record, record.moved(State.RESPONSE_RECEIVED, NOON), response_xml))
    return setup.stored_record(record)


def test_an_event_whose_turn_comes_late_still_waits_for_it() -> None:
    """The memory stays bounded, even if an event leaves its response out."""
    slots = BodySlots(wait_seconds=0)
    results: list[bool] = []

    def late() -> None:
        with slots.reading() as in_time:
            results.append(in_time)

    with ExitStack() as held, ThreadPoolExecutor(1) as pool:
        turns = [held.enter_context(slots.reading()) for _ in range(MAX_PARALLEL_READS)]
        waiting = pool.submit(late)
        assert all(turns)
        assert results == []
        held.close()
        waiting.result()
    assert len(results) == 1


@pytest.mark.parametrize("in_time", [True, False])
def test_an_event_leaves_its_response_out_only_if_its_turn_comes_late(in_time: bool) -> None:
    class Slots(BodySlots):
        @contextmanager
        def reading(self) -> Iterator[bool]:
            yield in_time

    setup = DeliverySetup()
    record = completed(setup)

    replace(setup.deliverer, slots=Slots()).attempt(first_attempt(record, NOON))

    event = json.loads(setup.receiver.posts[0][2])
    assert (event["response_xml"] is None) is not in_time
    assert event.get("response_omitted", False) is not in_time
