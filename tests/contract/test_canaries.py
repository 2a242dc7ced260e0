"""A consumer of a stream that gets no canaries is noticed, whatever the others do."""

from __future__ import annotations

from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from domain.errors import Unavailable
from domain.maintenance.canaries import CONSUMERS, EVERY, SILENT_AFTER, STREAMS, silent_consumers
from domain.timestamps import timestamp
from handlers import deliver_webhook, log_and_forget, sweep
from handlers.common.bootstrap import Services
from local.template import Template
from tests.contract.conftest import sized
from tests.support.builders import NOON, FixedClock
from tests.support.fake_store import FakeStore
from tests.support.metric_filters import counted
from tests.support.restoring import rebuilt
from tests.support.services import using
from tests.support.webhooks import PlannedAttempts
from tests.support.whole_service import LambdaContext, WholeService

if TYPE_CHECKING:
    from domain.storage.ports import Canaries
    from tests.contract.stores import AnyStore

SWEEP = timedelta(minutes=5)


def test_each_consumer_of_the_template_has_a_name() -> None:
    consumers = [
        f"{function.handler.split('.')[1]} of {event.properties['Stream']}"
        for function in Template.load().functions()
        for event in function.events
        if event.type == "DynamoDB"
    ]
    tables = {name: f"{name.title().replace('_', '')}Table.StreamArn" for name in STREAMS}

    assert sorted(consumers) == sorted(
        f"{function} of {tables[stream]}" for function, _, stream in (name.split() for name in CONSUMERS)
    )


@settings(max_examples=sized(12), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(begin=st.integers(0, 40), silent=st.sets(st.sampled_from(CONSUMERS)), late=st.integers(0, 200), salt=st.uuids())
def test_exactly_the_consumers_that_note_no_canary_are_silent_and_only_while_they_do_so(
    store: AnyStore, begin: int, silent: set[str], late: int, salt: object
) -> None:
    """Sweeps are some seconds late. The silence lasts for three hours."""
    del salt
    sent = store.canaries().sent_at
    clock = FixedClock(datetime.fromisoformat(sent) + timedelta(days=1) if sent else NOON)
    for name in CONSUMERS:
        store.note_canary(name)
    found = []
    for number in range(begin + 36 + 5):
        found.append(set(silent_consumers(store, clock() + timedelta(seconds=late * number % 60))))
        if (canaries := store.canaries()).sent_at != sent:
            sent = canaries.sent_at
            for name in CONSUMERS:
                if name not in silent or not begin <= number < begin + 36:
                    store.note_canary(name)
        clock.advance(seconds=SWEEP.total_seconds())

    noticed = -(-(EVERY + SILENT_AFTER) // SWEEP) + 2
    assert not any(found[: begin + SILENT_AFTER // SWEEP])
    assert all(names == silent for names in found[begin + noticed : begin + 36])
    assert found[-1] == set()


def test_canaries_are_sent_in_every_third_sweep(store: AnyStore) -> None:
    clock, sent = FixedClock(), set()
    for _ in range(12):
        silent_consumers(store, clock())
        sent.add(store.canaries().sent_at)
        clock.advance(minutes=5)

    assert len(sent) == 4


def test_a_stop_of_the_sweep_makes_no_consumer_silent(store: AnyStore) -> None:
    clock = FixedClock()
    silent_consumers(store, clock())
    for name in CONSUMERS:
        store.note_canary(name)
    clock.advance(days=3)

    assert [silent_consumers(store, clock()), silent_consumers(store, clock.advance(minutes=5))] == [[], []]


@pytest.mark.parametrize("consumer", CONSUMERS)
def test_a_disabled_event_source_raises_the_alarm_and_an_enabled_one_ends_it(
    service: WholeService, consumer: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Every canary passes the filters of the template, reaches the function through the stream, and is noted."""
    caplog.set_level("INFO")
    for minutes in range(0, 6 * 60, 5):
        service.disabled = {consumer} if 60 <= minutes < 240 else set()
        service.clock.advance(minutes=5)
        service.sweep()
        service.read_streams()

    lines = [vars(record) for record in caplog.records if record.message == "sweep.done"]
    numbers = [counted("SilentConsumers", [line]) for line in lines]
    assert numbers[:20] == [0] * 20
    assert numbers[24:48] == [1] * 24
    assert lines[30]["silent_consumers"] == [consumer]
    assert numbers[52:] == [0] * len(numbers[52:])


def test_a_restore_and_the_reads_of_the_service_pass_the_canaries(service: WholeService) -> None:
    service.sweep()
    service.read_streams()

    rebuilt(service.client, service.store.tables, service.clock())

    assert service.store.canaries().missing_since == {}
    assert service.store.app_ids() == []


class Failing(FakeStore):
    """A store that can neither note nor send canaries."""

    def canaries(self) -> Canaries:
        """Fail."""
        raise Unavailable("canaries")

    def note_canary(self, consumer: str) -> None:
        """Fail."""
        raise Unavailable(consumer)


@pytest.mark.parametrize("function", [deliver_webhook, log_and_forget])
def test_a_canary_that_cannot_be_noted_does_not_hold_up_the_stream(
    function: Any, caplog: pytest.LogCaptureFixture
) -> None:
    image = {"id": {"S": "canary"}, "canary": {"S": "connections"}, "sent_at": {"S": "2026"}}
    record = {"eventName": "MODIFY", "dynamodb": {"SequenceNumber": "1", "NewImage": image}}

    with using(Services(clock=FixedClock(NOON))) as services:
        services.store = Failing()
        services.deliverer = SimpleNamespace(retries=PlannedAttempts([]))  # type: ignore[assignment]
        assert function.handler({"Records": [record]}, None) == {"batchItemFailures": []}

    assert "canary.not_noted" in [entry.message for entry in caplog.records]


def test_a_sweep_that_cannot_send_canaries_reports_what_it_did_and_fails(caplog: pytest.LogCaptureFixture) -> None:
    with using(Services(clock=FixedClock(NOON))) as services:
        services.store, services.retry_queue = Failing(), PlannedAttempts([])
        with pytest.raises(Unavailable, match="canaries"):
            sweep.handler({}, LambdaContext())

    (line,) = (vars(record) for record in caplog.records if record.message == "sweep.done")
    assert (line["failed"], line["consumers_silent"]) == (1, 0)


def test_canaries_that_were_sent_are_missing_until_they_are_noted(store: AnyStore) -> None:
    store.send_canaries(STREAMS, CONSUMERS, timestamp(NOON))
    sent = store.canaries()
    store.note_canary(CONSUMERS[0])

    assert sent.sent_at == timestamp(NOON)
    assert CONSUMERS[0] in sent.missing_since
    assert CONSUMERS[0] not in store.canaries().missing_since
