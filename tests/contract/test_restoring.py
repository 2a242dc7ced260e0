"""Tables that are restored to an earlier time cause no write to be executed twice."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from domain.errors import CursorExpired, InvalidState
from domain.events.feed import Feed, FeedFilter
from domain.events.log import append_events
from domain.queueing.approvals import Approvals
from domain.queueing.service import RequestService
from domain.records.app import App
from domain.records.approval import MAX_SECONDS, Approval, Author
from domain.records.audit import OPERATOR
from domain.records.event import EventOutcome, LoggedEvent
from domain.records.request import ENDED, QueuedRequest, State
from domain.storage.changes import ChangeRequest, Put, RemoveApp
from domain.timestamps import timestamp
from local.restore import RESTORED, TABLES
from local.tables import make_tables
from tests.support.builders import APP_ID, CONNECTION_ID, NOON, FixedClock
from tests.support.restoring import copied, rebuilt
from tests.support.web_connector.system import System

if TYPE_CHECKING:
    from adapters.dynamodb import DynamoDBStore, TableNames


class Backups:
    """Point-in-time recovery of a store: all tables of one moment, restored under other names."""

    def __init__(self, store: DynamoDBStore) -> None:
        self.client: Any = store.client
        self.tables: TableNames = store.tables

    def take(self) -> None:
        make_tables(self.client, RESTORED)
        for name in TABLES:
            table = self.tables.name_of(name)
            for item in self.client.scan(TableName=table)["Items"]:
                self.client.put_item(TableName=RESTORED + table, Item=item)

    def restore(self) -> None:
        for name in TABLES:
            copied(self.client, self.tables, name)
            assert copied(self.client, self.tables, name) == (0, 0)


def exchange(system: System, ticket: str, request: str) -> None:
    """Let QuickBooks execute a request and deliver the response."""
    system.receive(ticket, system.books[system.connections[0].id].response_to(request))


def test_writes_that_were_executed_after_the_backup_are_never_sent_again(emulated: DynamoDBStore) -> None:
    system, backups = System(emulated), Backups(emulated)
    for label in ("in flight", "second", "third"):
        system.queue(0, "write", label)
    system.queue(0, "read", "read")
    ticket, _ = system.log_in(0) or ("", "")
    first = system.send(ticket, 0)
    backups.take()
    exchange(system, ticket, first)
    exchange(system, ticket, system.send(ticket, 0))
    exchange(system, ticket, system.send(ticket, 0))
    backups.restore()

    counts = rebuilt(backups.client, backups.tables, system.clock())
    system.tickets.clear()
    system.sent.clear()
    system.to_quiet()

    assert counts == {"sessions removed": 1, "connections freed": 1, "writes to ask QuickBooks about": 3}
    system.check_end()
    ends = {record.request_label: (record.state, record.error.code if record.error else None) for record in of(system)}
    assert ends == {
        # QuickBooks was told to forget the responses to all writes but the last.
        "in flight": (State.ERROR, "outcome_unknown"),
        "second": (State.ERROR, "outcome_unknown"),
        "third": (State.RESPONSE_RECEIVED, None),
        "read": (State.RESPONSE_RECEIVED, None),
    }


def test_a_write_that_quickbooks_still_executes_after_the_restore_ends_with_its_response(
    emulated: DynamoDBStore,
) -> None:
    system, backups = System(emulated), Backups(emulated)
    system.queue(0, "write", "slow")
    ticket, _ = system.log_in(0) or ("", "")
    request = system.send(ticket, 0)
    backups.take()
    backups.restore()
    rebuilt(backups.client, backups.tables, system.clock())
    system.tickets.clear()

    ticket, _ = system.log_in(0) or ("", "")
    exchange(system, ticket, system.send(ticket, 0))  # Nothing is stored yet.
    system.soap("closeConnection", ticket)
    assert [record.state for record in of(system)] == [State.RETRYABLE]
    system.books[system.connections[0].id].response_to(request)
    system.clock.advance(minutes=1)
    ticket, _ = system.log_in(0) or ("", "")
    exchange(system, ticket, system.send(ticket, 0))

    assert [record.state for record in of(system)] == [State.RESPONSE_RECEIVED]


@pytest.mark.parametrize("approved_before", ["the backup", "the restore", "never"])
def test_a_write_that_waited_for_approval_is_asked_about_and_not_sent(
    emulated: DynamoDBStore, approved_before: str
) -> None:
    """Neither an approval before the backup counts, nor one that the restore has lost. Nobody can give another one."""
    system, backups = System(emulated), Backups(emulated)
    system.queue(0, "write", "waits")
    (record,) = of(system)
    now = system.clock()
    waiting = replace(record, approval=Approval("key_1"), send_by=int(now.timestamp()) + MAX_SECONDS).changed(now)
    emulated.commit(ChangeRequest(record, waiting))
    approved = waiting.approved("key_2", now)
    if approved_before == "the backup":
        emulated.commit(ChangeRequest(waiting, approved))
    backups.take()
    if approved_before == "the restore":
        emulated.commit(ChangeRequest(waiting, approved))
    backups.restore()
    rebuilt(backups.client, backups.tables, now)
    system.tickets.clear()
    (restored,) = of(system)
    approvals = Approvals(RequestService(emulated, system.clock), system.clock)
    with pytest.raises(InvalidState):
        approvals.approve(record.app_id, record.id, actor=OPERATOR, author=Author("key_2"), revision=restored.revision)

    system.to_quiet()

    (ended,) = of(system)
    assert (ended.state, ended.error.code if ended.error else None) == (State.ERROR, "outcome_unknown")
    assert system.books[system.connections[0].id].executions == {}
    assert not ended.awaits_approval
    system.check_end()


def test_without_the_preparation_a_write_is_executed_twice(emulated: DynamoDBStore) -> None:
    """The preparation prevents a real failure."""
    system, backups = System(emulated), Backups(emulated)
    system.queue(0, "write", "first")
    system.queue(0, "write", "second")
    backups.take()
    ticket, _ = system.log_in(0) or ("", "")
    exchange(system, ticket, system.send(ticket, 0))
    exchange(system, ticket, system.send(ticket, 0))
    backups.restore()

    system.tickets.clear()
    system.sent.clear()
    with pytest.raises(AssertionError, match="sent before"):
        drain(system)


def drain(system: System) -> None:
    """Run all sessions, and fail if a write is executed twice."""
    system.to_quiet()
    executions = [number for books in system.books.values() for number in books.executions.values()]
    assert max(executions) == 1, f"a write that was sent before was executed again: {executions}"


def test_preparing_twice_changes_nothing_more(emulated: DynamoDBStore) -> None:
    system, backups = System(emulated), Backups(emulated)
    system.queue(0, "write", "one")
    system.queue(0, "iterate", "pages")
    ticket, _ = system.log_in(0) or ("", "")
    system.send(ticket, 0)

    first = rebuilt(backups.client, backups.tables, system.clock())
    before = [record.revision for record in of(system)]
    again = rebuilt(backups.client, backups.tables, system.clock())

    assert first["writes to ask QuickBooks about"] == 1
    assert not any(again.values())
    assert [record.revision for record in of(system)] == before


def of(system: System) -> list[QueuedRequest]:
    records = system.records()
    assert all(isinstance(record, QueuedRequest) for record in records)
    assert {record.state for record in records} <= ENDED | {State.RETRYABLE, State.WAITING}
    return records


@pytest.mark.parametrize("minutes", [60, 0, -30])
def test_a_restore_begins_new_logs_of_events_and_a_former_cursor_is_refused(
    emulated: DynamoDBStore, minutes: int
) -> None:
    """Also if the clock that begins the new log stands behind the former one."""
    clock, client = FixedClock(), emulated.client
    emulated.commit(Put(None, App(APP_ID, "Shop", timestamp(NOON))))
    feed = Feed(emulated, clock)
    for number in range(3):
        append_events(emulated, APP_ID, [LoggedEvent(EventOutcome.COMPLETED, str(number), CONNECTION_ID)], clock())
    former = str(feed.page(APP_ID, None, FeedFilter(), 100).after)

    assert rebuilt(client, emulated.tables, clock())["groups of events removed"] == 3

    now = clock.advance(minutes=minutes)
    append_events(emulated, APP_ID, [LoggedEvent(EventOutcome.COMPLETED, "new", CONNECTION_ID)], now)
    with pytest.raises(CursorExpired) as error:
        feed.page(APP_ID, former, FeedFilter(), 100)
    assert error.value.details
    page = feed.page(APP_ID, error.value.details["oldest"], FeedFilter(), 100)
    assert [event.logged.request_id for event in page.events] == ["new"]


def test_a_restore_removes_the_beginning_of_a_log_whose_app_does_not_exist(emulated: DynamoDBStore) -> None:
    app = App(APP_ID, "Shop", timestamp(NOON))
    emulated.commit(Put(None, app))
    append_events(emulated, APP_ID, [LoggedEvent(EventOutcome.COMPLETED, "1", CONNECTION_ID)], NOON)
    emulated.commit(RemoveApp(app))

    rebuilt(emulated.client, emulated.tables, NOON)

    assert emulated.log_beginning(APP_ID) is None
