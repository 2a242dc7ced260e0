"""Tables that are restored to different moments: after the rebuild, nothing is stuck, doubled, or miscounted."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from adapters.dynamodb.queue import queue_key
from adapters.dynamodb.records import record_item
from domain.maintenance.overdue_webhooks import plan_overdue_webhooks
from domain.records.request import ENDED, QUEUED, QueuedRequest, State
from domain.records.webhook import WebhookState
from domain.storage.changes import AddRequest, Put
from domain.webhooks.delivery import Deliverer
from domain.webhooks.patience import Patience
from handlers.views.webhook_event import event_body
from tests.support.builders import AN_ACTOR, a_record
from tests.support.restoring import rebuilt
from tests.support.web_connector.system import System
from tests.support.web_connector.torn_restores import History, tables_of
from tests.support.webhooks import SECRET, PlannedAttempts, ScriptedReceiver

if TYPE_CHECKING:
    from adapters.dynamodb import DynamoDBStore


@pytest.mark.parametrize("seed", range(12))
def test_after_any_torn_restore_all_requests_end_once_and_the_counts_are_exact(
    emulated: DynamoDBStore, seed: int
) -> None:
    history = History(emulated, seed)
    history.take_steps(25)

    history.restore_each_table_to_another_moment()

    history.check_the_rest()


def test_a_rebuild_that_is_repeated_changes_nothing(emulated: DynamoDBStore) -> None:
    history = History(emulated, seed=3)
    history.take_steps(25)
    history.restore_each_table_to_another_moment()
    client, tables = tables_of(emulated)

    again = rebuilt(client, tables, history.system.clock())

    assert not any(again.values()), again


def test_a_rebuild_that_was_interrupted_can_be_repeated(emulated: DynamoDBStore) -> None:
    history = History(emulated, seed=5)
    history.take_steps(25)
    for writes in range(1, 40, 6):
        history.interrupt_after = writes
        history.restore_each_table_to_another_moment()

    history.interrupt_after = None
    history.restore_each_table_to_another_moment()
    history.check_the_rest()


def test_entries_of_the_queue_without_a_record_do_not_stop_those_behind_them(emulated: DynamoDBStore) -> None:
    system = System(emulated)
    client, tables = tables_of(emulated)
    for _ in range(11):
        system.queue(0, "read", "")
    *ghosts, last = (record for record in system.records() if isinstance(record, QueuedRequest))
    for ghost in ghosts:
        client.delete_item(TableName=tables.queued_requests, Key={"id": {"S": ghost.id}})
    system.clock.advance(minutes=2)

    system.log_in(0)

    assert emulated.request(last.id).state is State.TICKETED  # type: ignore[union-attr]
    assert client.scan(TableName=tables.queue)["Items"] == []


def test_a_new_entry_of_the_queue_stays_while_its_record_cannot_be_read_yet(emulated: DynamoDBStore) -> None:
    """A read between the items of a transaction can find the entry only."""
    system = System(emulated)
    client, tables = tables_of(emulated)
    system.queue(0, "read", "")
    system.clock.advance(minutes=2)
    system.queue(0, "read", "")
    ghost, new = (record for record in system.records() if isinstance(record, QueuedRequest))
    for record in (ghost, new):
        client.delete_item(TableName=tables.queued_requests, Key={"id": {"S": record.id}})

    assert (system.log_in(0) or ("", ""))[1] == "none"
    client.put_item(TableName=tables.queued_requests, Item=record_item(new))
    system.log_in(0)

    assert emulated.request(new.id).state is State.TICKETED  # type: ignore[union-attr]


def test_a_large_request_without_all_of_its_chunks_is_a_lost_request(emulated: DynamoDBStore) -> None:
    system = System(emulated)
    client, tables = tables_of(emulated)
    record = a_record(connection_id=system.connections[0].id, app_id=system.connections[0].app_id)
    emulated.commit(AddRequest(record, random.Random(1).randbytes(300_000).hex(), ""))
    client.delete_item(TableName=tables.payloads, Key={"request_id": {"S": record.id}, "part": {"S": "request#0"}})

    done = rebuilt(client, tables, system.clock())

    assert done["lost requests"] == 1
    assert system.requests.get(record.app_id, record.id).record.state is State.ERROR
    assert not any(rebuilt(client, tables, system.clock()).values())


def test_a_restore_reports_requests_without_a_connection(emulated: DynamoDBStore) -> None:
    system = System(emulated)
    client, tables = tables_of(emulated)
    for number in (0, 1, 1):
        system.queue(number, "read", "")
    client.delete_item(TableName=tables.connections, Key={"id": {"S": system.connections[1].id}})
    lines: list[str] = []

    rebuilt(client, tables, system.clock(), lines.append)

    assert lines == ["2 requests stay without a connection, so nobody can read them"]


def test_a_pending_webhook_of_a_restored_record_gets_its_attempt(emulated: DynamoDBStore) -> None:
    """Neither the stream nor the retry queue has anything of a restored record."""
    system = System(emulated)
    client, tables = tables_of(emulated)
    app_id = system.connections[0].app_id
    app = emulated.app(app_id)
    assert app
    emulated.commit(Put(app, replace(app, webhook_secrets=(SECRET,), revision=app.revision + 1)))
    system.queue(0, "read", "")
    (record,) = system.records()
    system.requests.discard(app_id, record.id, actor=AN_ACTOR)
    calls: list[str] = []
    queue, receiver = PlannedAttempts(calls), ScriptedReceiver(calls)
    deliverer = Deliverer(emulated, event_body, receiver, queue, system.clock, lambda: 0.5, Patience(system.clock))

    rebuilt(client, tables, system.clock())
    system.clock.advance(minutes=61)
    plan_overdue_webhooks(emulated, queue, system.clock, system.clock() + timedelta(minutes=1))
    for planned in queue.attempts:
        deliverer.attempt(planned)

    assert emulated.request(record.id).webhook_state is WebhookState.SUCCEEDED  # type: ignore[union-attr]
    assert len(receiver.posts) == 1


@pytest.mark.parametrize("state", [*ENDED, State.SENT])
def test_an_entry_of_the_queue_whose_record_has_moved_on_is_not_sent(emulated: DynamoDBStore, state: State) -> None:
    system = System(emulated)
    client, tables = tables_of(emulated)
    system.queue(0, "write", "")
    (record,) = system.records()
    after = replace(record, state=state).changed(system.clock())
    client.put_item(TableName=tables.queued_requests, Item=record_item(after))
    system.queue(0, "read", "")

    system.log_in(0)

    assert emulated.request(record.id) == after
    states = {record.id: record.state for record in system.records()}
    assert sorted(states.values()) == sorted([state, State.TICKETED])
    stored = client.get_item(TableName=tables.queue, Key=queue_key(record)).get("Item")
    assert (stored is None) == (state in ENDED)
    assert record.state in QUEUED


def test_a_lingering_session_passes_over_entries_without_a_record(emulated: DynamoDBStore) -> None:
    system = System(emulated)
    client, tables = tables_of(emulated)
    connection = system.connections[0]
    system.connection_service.update(connection.app_id, connection.id, linger_seconds=60, actor=AN_ACTOR)
    system.queue(0, "read", "")
    ticket, _ = system.log_in(0) or ("", "")
    system.receive(ticket, system.books[connection.id].response_to(system.send(ticket, 0)))
    for _ in range(4):
        system.queue(0, "read", "")
    *ghosts, last = (record for record in system.records() if record.state is State.WAITING)
    for ghost in ghosts:
        client.delete_item(TableName=tables.queued_requests, Key={"id": {"S": ghost.id}})

    request = system.send(ticket, 0)

    assert last.id in request
