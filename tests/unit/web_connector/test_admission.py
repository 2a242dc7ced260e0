"""Admission: a login beyond the budget of sessions is postponed, whoever counts and whatever goes wrong."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from domain.connections.calls import next_session_at
from domain.connections.service import ConnectionService
from domain.connections.turns import MAX_POSTPONEMENT_SECONDS, place, turn_in_window
from domain.maintenance.sweep import sweep
from domain.queueing.waiting_reason import of_connection
from domain.records.connection import OnboardingLink
from domain.records.session import LIVE_SHARDS
from domain.records.sync_window import SyncWindow
from domain.storage.changes import Put
from domain.timestamps import timestamp
from domain.web_connector.session.admission import (
    CALLS_OF_A_FAST_SESSION,
    COUNTED_FOR,
    PERIOD_SECONDS,
    UNDISTURBED,
    Admission,
    Budget,
    budget,
    share_of,
)
from domain.web_connector.session.polling import postponement_if_turned_away
from tests.support.builders import AN_ACTOR, APP_ID, NOON, counting_bytes
from tests.support.web_connector.connector import Connector, CountingStore
from tests.support.web_connector.quickbooks import hcp, response_to

if TYPE_CHECKING:
    from domain.storage.changes import Change

SEEN = {"last_connected_at": timestamp(NOON), "inserted_at": "2026-01"}


def connection_ids(count: int) -> list[str]:
    random = Random(count)
    return [f"{random.getrandbits(32):08x}-0000-4000-8000-{number:012x}" for number in range(count)]


def a_service(
    budget: int, connections: int, *, store: CountingStore | None = None, **fields: Any
) -> tuple[Connector, list[str]]:
    """Return a service with this budget, and connections with a request each."""
    qbwc = Connector(store=store or CountingStore(), max_sessions=budget)
    ids = connection_ids(connections)
    for connection_id in ids:
        qbwc.connect(id=connection_id, **(SEEN | fields))
        qbwc.queue(connection_id=connection_id)
    return qbwc, ids


def another_process(qbwc: Connector) -> Connector:
    """Return a process that shares the database and the clock with `qbwc`."""
    return Connector(
        store=qbwc.store, clock=qbwc.clock, new_id=qbwc.new_id, secrets=qbwc.secrets, max_sessions=qbwc.max_sessions
    )


def live(qbwc: Connector) -> int:
    return sum(not session.ended for session in qbwc.store.sessions.values())


@pytest.mark.parametrize("budget", [1, 3, 8, 50, 200])
def test_one_process_never_begins_more_sessions_than_the_budget(budget: int) -> None:
    qbwc, ids = a_service(budget, 2 * budget + 10)

    start, replies = qbwc.clock.now, []
    for number, connection_id in enumerate(ids):
        # A call advances the clock by a second before it is made.
        qbwc.clock.now = start + timedelta(seconds=number / 4 - 1)
        replies.append(qbwc.authenticate(username=connection_id))

    assert live(qbwc) == replies.count("") <= budget
    assert live(qbwc) >= 0.7 * budget
    assert set(replies) == {"", "none"}


def test_a_process_counts_each_session_that_it_begins_once_until_it_reads_the_count_again() -> None:
    qbwc, ids = a_service(8, 20)
    qbwc.store.live_sessions = lambda _shard, _since: {}  # type: ignore[assignment,method-assign]
    now = qbwc.clock.now

    for connection_id in ids:
        qbwc.clock.now = now - timedelta(seconds=1)  # a call advances the clock by a second before it is made
        qbwc.authenticate(username=connection_id)

    assert live(qbwc) == share_of(8) == 7


@pytest.mark.parametrize(("budget", "processes"), [(8, 30), (50, 100)])
def test_processes_that_start_at_once_stay_within_the_budget_of_a_period(budget: int, processes: int) -> None:
    """None of them has seen the sessions of the others, because the index does not show them yet."""
    qbwc, ids = a_service(budget, processes)
    qbwc.store.live_sessions = lambda _shard, _since: {}  # type: ignore[assignment,method-assign]
    start = qbwc.clock.now.replace(second=0, microsecond=0) + timedelta(minutes=1)

    for number, connection_id in enumerate(ids):
        qbwc.clock.now = start - timedelta(seconds=1) + PERIOD_SECONDS * timedelta(seconds=number / processes)
        other = another_process(qbwc)
        other.authenticate(username=connection_id)

    assert 0 < live(qbwc) <= 2 * budget  # the calls fall into two periods


def test_an_app_whose_sessions_all_begin_at_once_leaves_a_fifth_of_the_beginnings_to_others() -> None:
    qbwc, ids = a_service(10, 30)
    qbwc.connect(id="f0000000-0000-4000-8000-000000000009", app_id="another-app", **SEEN)
    qbwc.queue(connection_id="f0000000-0000-4000-8000-000000000009", app_id="another-app")
    qbwc.store.live_sessions = lambda _shard, _since: {}  # type: ignore[assignment,method-assign]
    start = qbwc.clock.now.replace(second=0, microsecond=0) + timedelta(minutes=1)

    def log_in(connection_id: str) -> str:
        qbwc.clock.now = start - timedelta(seconds=1)  # a call takes a second, so all are made in one period
        return another_process(qbwc).authenticate(username=connection_id)

    assert [log_in(connection_id) for connection_id in ids].count("") == 8
    assert log_in("f0000000-0000-4000-8000-000000000009") == ""


class Rival(CountingStore):
    """A store in which another caller changes a connection before the next login commits."""

    rival_of = ""

    def commit(self, *changes: Change) -> None:
        """Let the rival commit first."""
        rival_of, self.rival_of = self.rival_of, ""
        if rival_of:
            before = self.connections[rival_of]
            super().commit(Put(before, before.changed(before.updated_at)))
        super().commit(*changes)


def test_a_login_that_meets_another_change_of_its_connection_takes_the_free_place() -> None:
    store = Rival()
    qbwc, (connection_id,) = a_service(1, 1, store=store)
    store.rival_of = connection_id

    assert qbwc.authenticate(username=connection_id) == ""


@pytest.mark.parametrize("calls", [10, 160, 500, 5_000])
def test_all_shards_together_let_as_many_sessions_begin_in_a_period_as_there_are_calls_for(calls: int) -> None:
    found = Budget(10_000, calls)

    most = calls / CALLS_OF_A_FAST_SESSION * PERIOD_SECONDS
    assert most - found.shards < found.beginnings * found.shards <= most


def test_a_place_is_free_again_when_a_session_ends() -> None:
    qbwc, (first, second) = a_service(1, 2)
    qbwc.authenticate(username=first)
    assert another_process(qbwc).authenticate(username=second) == "none"

    qbwc.close()
    qbwc.clock.advance(seconds=PERIOD_SECONDS)

    assert another_process(qbwc).authenticate(username=second) == ""


def test_a_login_that_is_turned_away_costs_no_more_calls_than_another_and_keeps_the_request() -> None:
    qbwc, (first, second) = a_service(1, 2)
    qbwc.authenticate(username=first)
    qbwc.clock.advance(seconds=PERIOD_SECONDS)

    assert qbwc.authenticate(username=second) == "none"

    assert qbwc.store.calls == {"connection": 1, "queue_front": 1, "commit": 1}
    assert sorted(qbwc.states()) == ["ticketed", "waiting"]
    assert (qbwc.close(), qbwc.store.calls.total()) == ("OK", 0)
    assert qbwc.last
    assert qbwc.store.connections[second].turned_away == 1


def test_a_connection_without_work_is_not_turned_away() -> None:
    qbwc, (first,) = a_service(1, 1)
    idle = connection_ids(2)[1]
    qbwc.connect(id=idle, **(SEEN | {"last_worked_at": timestamp(NOON - timedelta(hours=1))}))
    qbwc.authenticate(username=first)

    assert qbwc.authenticate(username=idle) == "none"

    assert int(qbwc.schedule[0]) == int(300 * (1 - place(idle) / 5))
    assert qbwc.store.connections[idle].turned_away == 0


def test_a_connection_that_was_turned_away_comes_back_later_each_time_and_at_most_after_ten_minutes() -> None:
    connection = Connector().connect()
    far_away = NOON + timedelta(hours=9)

    waits = [
        postponement_if_turned_away(replace(connection, turned_away=number), far_away, NOON) for number in range(6)
    ]

    share = 1 + place(connection.id)
    assert waits == [int(seconds * share) for seconds in (60, 120, 240, 300, 300, 300)]
    assert max(waits) < 600


def test_a_connection_is_admitted_when_its_reservation_is_due_although_another_session_runs() -> None:
    qbwc, (first, second) = a_service(1, 2)
    qbwc.authenticate(username=first)
    begun, reserved = qbwc.clock.now, set()

    for _ in range(10):
        if qbwc.authenticate(username=second) == "":
            break
        connection = qbwc.store.connections[second]
        reserved.add(connection.reserved_at)
        assert 60 <= connection.postponed_seconds <= 300
        qbwc.clock.advance(seconds=connection.postponed_seconds)
        session = next(session for session in qbwc.store.sessions.values() if session.connection_id == first)
        qbwc.store.commit(Put(session, session.called(qbwc.clock.now)))  # it makes a call from time to time

    assert live(qbwc) == 2
    assert len(reserved) == 1
    assert UNDISTURBED <= qbwc.clock.now - begun <= UNDISTURBED + timedelta(seconds=70)
    assert qbwc.store.connections[second].reserved_at is None


@pytest.mark.parametrize(("age", "ends"), [(UNDISTURBED - timedelta(microseconds=1), False), (UNDISTURBED, True)])
def test_a_session_is_left_alone_until_it_is_five_minutes_old(age: timedelta, ends: bool) -> None:
    qbwc, ids = a_service(2, 2)
    for connection_id in ids:
        assert qbwc.authenticate(username=connection_id) == ""
    session = qbwc.session
    admission = Admission(qbwc.store, qbwc.clock, Budget(1, 10), counting_bytes)

    assert admission.limited(session, qbwc.clock.now + age).limits.ends_for_others is ends


def test_a_reservation_that_was_not_used_for_long_is_lost() -> None:
    qbwc, (first, second) = a_service(1, 2)
    qbwc.authenticate(username=first)
    assert qbwc.authenticate(username=second) == "none"
    qbwc.clock.advance(hours=1)
    session = next(iter(qbwc.store.sessions.values()))
    qbwc.store.commit(Put(session, session.called(qbwc.clock.now)))

    assert qbwc.authenticate(username=second) == "none"

    assert qbwc.store.connections[second].reserved_at == timestamp(qbwc.clock.now + UNDISTURBED)


def test_a_place_that_is_free_earlier_is_taken_and_the_reservation_stays() -> None:
    qbwc, (first, second) = a_service(1, 2)
    qbwc.authenticate(username=first)
    assert another_process(qbwc).authenticate(username=second) == "none"
    reserved = qbwc.store.connections[second].reserved_at
    qbwc.close()
    qbwc.clock.advance(minutes=1)

    assert another_process(qbwc).authenticate(username=second) == ""

    assert qbwc.store.connections[second].reserved_at == reserved


def test_connections_that_are_turned_away_together_come_back_apart() -> None:
    qbwc, ids = a_service(1, 100)
    for connection_id in ids:
        qbwc.authenticate(username=connection_id)

    waits = sorted(connection.postponed_seconds for connection in qbwc.store.connections.values())

    assert waits[0] == 0  # the one with a session
    assert 60 <= waits[1] < 63
    assert 115 < waits[-1] < 120
    assert max(after - before for before, after in pairwise(waits[1:])) < 10


def test_the_next_session_of_a_connection_that_was_turned_away_resets_its_postponement() -> None:
    qbwc, (first, second) = a_service(1, 2)
    qbwc.authenticate(username=first)
    assert another_process(qbwc).authenticate(username=second) == "none"
    qbwc.close()
    qbwc.clock.advance(minutes=2)

    assert qbwc.authenticate(username=second) == ""

    assert qbwc.store.connections[second].turned_away == 0


def test_the_reason_and_the_next_session_of_a_connection_that_was_turned_away_are_shown() -> None:
    qbwc, (first, second) = a_service(1, 2)
    qbwc.authenticate(username=first)
    another_process(qbwc).authenticate(username=second)
    connection = qbwc.store.connections[second]

    reason = of_connection(connection, qbwc.clock.now)

    assert reason
    assert reason.code == "service_busy"
    called_at = datetime.fromisoformat(connection.last_connected_at or "")
    assert next_session_at(connection, qbwc.clock.now) == called_at + timedelta(seconds=connection.postponed_seconds)


# --- what is always admitted


def test_a_takeover_of_a_counted_session_is_always_admitted_because_it_ends_a_session() -> None:
    qbwc, (first,) = a_service(1, 1)
    qbwc.authenticate(username=first)
    qbwc.clock.advance(seconds=PERIOD_SECONDS)

    assert qbwc.authenticate(username=first) == ""

    assert live(qbwc) == 1


def full_of(app_id: str) -> Connector:
    """Return a service whose places all have sessions of this app."""
    qbwc = Connector(max_sessions=4)
    for connection_id in connection_ids(4):
        qbwc.connect(id=connection_id, app_id=app_id, **SEEN)
        qbwc.queue(connection_id=connection_id, app_id=app_id)
        assert qbwc.authenticate(username=connection_id) == ""
        qbwc.clock.advance(seconds=PERIOD_SECONDS)
    return qbwc


@pytest.mark.parametrize(("app_id", "reply"), [("another-app", ""), (APP_ID, "none")])
def test_a_login_whose_former_session_is_missing_needs_a_place_in_the_share_of_its_app_only(
    app_id: str, reply: str
) -> None:
    qbwc = full_of(app_id)
    new = connection_ids(5)[4]
    qbwc.connect(id=new, session_id="ab" * 32, **SEEN)
    qbwc.queue(connection_id=new)

    assert qbwc.authenticate(username=new) == reply


@pytest.mark.parametrize(("app_id", "reply"), [("another-app", ""), (APP_ID, "none")])
def test_a_takeover_of_a_session_that_is_not_counted_needs_a_place_in_the_share_of_its_app_only(
    app_id: str, reply: str
) -> None:
    qbwc = Connector(max_sessions=1)
    silent, other = connection_ids(2)
    qbwc.connect(id=silent, **SEEN)
    qbwc.queue(connection_id=silent)
    assert qbwc.authenticate(username=silent) == ""
    qbwc.clock.advance(minutes=10)
    qbwc.connect(id=other, app_id=app_id, **SEEN)
    qbwc.queue(connection_id=other, app_id=app_id)
    assert another_process(qbwc).authenticate(username=other) == ""

    assert qbwc.authenticate(username=silent) == reply

    # The former session has ended in any case, and its request waits or is in the new session.
    assert live(qbwc) == 1 + (reply == "")
    assert sorted(qbwc.states()) == ["ticketed", "waiting" if reply else "ticketed"]
    assert (qbwc.store.connections[silent].session_id is None) == (reply == "none")


@pytest.mark.parametrize(
    "fields",
    [
        {"last_connected_at": None},
        {"onboarding": OnboardingLink("hash", timestamp(NOON), timestamp(NOON + timedelta(hours=48)))},
    ],
)
@pytest.mark.parametrize(("app_id", "reply"), [("another-app", ""), (APP_ID, "none")])
def test_a_connection_that_is_being_set_up_needs_a_place_in_the_share_of_its_app_only(
    fields: dict[str, Any], app_id: str, reply: str
) -> None:
    qbwc = full_of(app_id)
    new = connection_ids(5)[4]
    qbwc.connect(id=new, **(SEEN | fields))
    qbwc.queue(connection_id=new)

    assert qbwc.authenticate(username=new) == reply


@pytest.mark.parametrize("window", [None, SyncWindow("01:00", "02:00", "UTC")])
@pytest.mark.parametrize(("app_id", "reply"), [("another-app", ""), (APP_ID, "none")])
def test_an_onboarding_check_needs_a_place_in_the_share_of_its_app(
    app_id: str, reply: str, window: SyncWindow | None
) -> None:
    qbwc = full_of(app_id)
    new = connection_ids(5)[4]
    link = OnboardingLink("hash", timestamp(NOON), timestamp(NOON + timedelta(hours=48)))
    qbwc.connect(id=new, onboarding=link, sync_window=window)

    assert qbwc.authenticate(username=new) == reply

    if not reply:
        assert "HostQueryRq" in qbwc.send(hcp())


def test_an_expired_onboarding_link_admits_nothing() -> None:
    qbwc, (first,) = a_service(1, 1)
    old = connection_ids(2)[1]
    expired = OnboardingLink("hash", timestamp(NOON - timedelta(hours=48)), timestamp(NOON))
    qbwc.connect(id=old, **(SEEN | {"onboarding": expired}))
    qbwc.queue(connection_id=old)
    qbwc.authenticate(username=first)

    assert qbwc.authenticate(username=old) == "none"


@pytest.mark.parametrize("seed", range(12))
def test_whatever_one_app_does_a_connection_of_an_app_without_sessions_gets_one_at_once(seed: int) -> None:
    """Its connections log in at any time, for the first time or with a link, and end their sessions or fall silent."""
    random = Random(seed)
    budget = random.randrange(5, 60)
    first = Connector(max_sessions=budget)
    processes = [first, *(another_process(first) for _ in range(3))]
    links = [None, OnboardingLink("hash", timestamp(NOON), timestamp(NOON + timedelta(hours=48)))]
    greedy = connection_ids(3 * budget)
    for connection_id in greedy:
        seen = random.choice([{}, SEEN, SEEN, SEEN])
        first.connect(id=connection_id, app_id="greedy", onboarding=random.choice([*links, None, None]), **seen)
        first.queue(connection_id=connection_id, app_id="greedy")

    for step in range(200):
        first.clock.advance(seconds=random.choice([0, 0, 0, 1, 20, 200]) if step % 20 else 0)
        process = random.choice(processes)
        process.authenticate(username=random.choice(greedy))
        for session in random.sample([*first.store.sessions.values()], min(5, len(first.store.sessions))):
            if not session.ended:
                first.store.commit(Put(session, session.called(first.clock.now)))
        if step % 20 == 19:
            mine = f"f0000000-0000-4000-8000-{step:012}"
            first.connect(id=mine, **SEEN)
            first.queue(connection_id=mine)
            assert process.authenticate(username=mine) == ""
            process.close()

    assert live(first) <= 3 * budget


# --- the count


@pytest.mark.parametrize("is_new", [False, True])
def test_logins_are_admitted_if_the_sessions_cannot_be_counted(*, is_new: bool) -> None:
    qbwc, ids = a_service(1, 5, **({"last_connected_at": None} if is_new else {}))

    def unreadable(_shard: int, _since: str) -> dict[str, int]:
        raise ConnectionError("the index cannot be read")

    qbwc.store.live_sessions = unreadable  # type: ignore[assignment,method-assign]

    assert [qbwc.authenticate(username=connection_id) for connection_id in ids] == [""] * 5

    assert qbwc.last
    assert qbwc.last.log.get("problem") == (None if is_new else "sessions_not_counted")
    assert not qbwc.store.usages


def test_a_count_that_takes_too_long_does_not_hold_up_a_login() -> None:
    from threading import Event  # noqa: PLC0415 - only this test waits for a thread

    qbwc, (first,) = a_service(1, 1)
    end = Event()
    qbwc.store.live_sessions = lambda _shard, _since: {APP_ID: 99 * end.wait(20)}  # type: ignore[assignment,method-assign]

    assert qbwc.authenticate(username=first) == ""

    end.set()


def test_a_process_reads_the_count_at_most_once_a_second() -> None:
    qbwc, ids = a_service(400, 100)
    readings: list[tuple[int, datetime]] = []

    def reading(shard: int, _since: str) -> dict[str, int]:
        readings.append((shard, qbwc.clock.now))
        return {}

    qbwc.store.live_sessions = reading  # type: ignore[assignment,method-assign]
    start = qbwc.clock.now
    for number, connection_id in enumerate(ids):
        # A call advances the clock by a second before it is made.
        qbwc.clock.now = start + timedelta(seconds=number / 10 - 1)
        qbwc.authenticate(username=connection_id)

    assert len(readings) == 10
    assert len({shard for shard, _ in readings}) == 10


def test_a_session_whose_machine_was_switched_off_leaves_the_count_before_it_is_swept() -> None:
    qbwc, (first, second) = a_service(1, 2)
    qbwc.authenticate(username=first)
    qbwc.clock.advance(seconds=COUNTED_FOR.total_seconds() - 2)
    assert qbwc.authenticate(username=second) == "none"

    qbwc.clock.advance(seconds=62)

    assert qbwc.authenticate(username=second) == ""
    assert live(qbwc) == 2


@pytest.mark.parametrize("skew", [-90, -59, 59, 90])
def test_a_clock_that_is_wrong_by_a_minute_counts_the_same_sessions(skew: int) -> None:
    qbwc, (first, second) = a_service(1, 2)
    qbwc.authenticate(username=first)
    other = another_process(qbwc)
    other.clock = type(qbwc.clock)(qbwc.clock.now + timedelta(seconds=skew))
    other.__post_init__()

    assert other.authenticate(username=second) == "none"


def test_every_shard_is_used_and_swept() -> None:
    budget = 16 * LIVE_SHARDS
    qbwc, ids = a_service(budget, budget)
    for connection_id in ids:
        qbwc.authenticate(username=connection_id)
    assert {session.shard for session in qbwc.store.sessions.values()} == set(range(LIVE_SHARDS))

    qbwc.clock.advance(minutes=40)
    swept = sweep(qbwc.store, qbwc.clock, qbwc.clock.now + timedelta(hours=1))

    assert (swept.sessions_released, live(qbwc)) == (budget, 0)


def test_a_shard_of_another_budget_is_still_ended_by_its_next_login() -> None:
    """A session keeps its shard when the budget, and with it the number of shards, is changed."""
    qbwc, (first,) = a_service(400, 1)
    qbwc.authenticate(username=first)
    request = qbwc.send()
    smaller = replace(qbwc, max_sessions=1)
    smaller.ticket = qbwc.ticket

    assert smaller.receive(response_to(request)) == 100
    assert smaller.close() == "OK"

    assert live(qbwc) == 0


# --- the budget


def test_the_budget_is_one_session_for_two_calls_a_second_and_at_most_ten_for_each_function() -> None:
    assert budget(1_000, 800) == Budget(500, 500)
    assert budget(1_000, 8) == Budget(80, 80)
    assert budget(100, 800) == Budget(50, 50)
    assert budget(1, 1) == Budget(1, 0.5)
    assert budget(1_000, 800, max_sessions=7) == Budget(7, 500)
    random = Random(1)
    for _ in range(200):
        calls, functions = random.randrange(1, 10_001), random.randrange(1, 5_000)
        assert budget(calls, functions).sessions * 2 <= max(calls, 2)
        assert budget(calls, functions).sessions <= 10 * functions


def test_the_shards_of_a_budget_hold_no_more_than_the_budget() -> None:
    random = Random(2)
    for _ in range(500):
        one = budget(
            random.randrange(1, 10_001), random.randrange(1, 5_000), random.choice([0, random.randrange(5_001)])
        )
        assert 1 <= one.shards <= LIVE_SHARDS
        assert one.sessions - one.shards < one.shards * one.capacity <= one.sessions
        assert 1 <= one.beginnings <= one.capacity
        assert one.share <= one.capacity
        assert one.share < one.capacity or one.capacity < 5


# --- the next session


def a_seen_connection(**fields: Any) -> Any:
    qbwc = Connector()
    return qbwc.connect(**({"last_connected_at": timestamp(NOON), "inserted_at": "2026-01"} | fields))


@pytest.mark.parametrize(
    ("fields", "minutes", "expected_minutes"),
    [
        ({}, 0, 1),
        ({"postponed_seconds": 300}, 0, 5),
        ({"postponed_seconds": 300}, 5, 5),
        ({"postponed_seconds": 300}, 6, 10),
        ({"postponed_seconds": 900}, 14, 15),
        ({"last_worked_at": timestamp(NOON + timedelta(minutes=3)), "postponed_seconds": 300}, 3.5, 4),
        ({"postponed_seconds": 300}, 46, None),
        ({"paused_at": timestamp(NOON)}, 1, None),
        ({"login_failed_at": timestamp(NOON)}, 1, 1),
        ({"login_failed_at": timestamp(NOON), "password_changed_at": timestamp(NOON)}, 1, None),
        ({"session_id": "ab" * 32}, 1, None),
        ({"last_connected_at": None}, 1, None),
    ],
)
def test_the_next_session_follows_from_the_last_call(
    fields: dict[str, Any], minutes: float, expected_minutes: float | None
) -> None:
    expected = None if expected_minutes is None else NOON + timedelta(minutes=expected_minutes)

    assert next_session_at(a_seen_connection(**fields), NOON + timedelta(minutes=minutes)) == expected


def test_the_next_session_outside_a_sync_window_is_at_the_turn_of_the_connection() -> None:
    connection = a_seen_connection(sync_window=SyncWindow("22:00", "06:00", "UTC"), postponed_seconds=855)
    turn = turn_in_window(connection, NOON)

    assert next_session_at(connection, NOON + timedelta(minutes=3)) == turn
    assert turn
    assert NOON.replace(hour=22) < turn < NOON.replace(hour=22, minute=10)


def test_the_next_session_is_never_in_the_past_nor_further_away_than_one_postponement() -> None:
    random = Random(3)
    for _ in range(200):
        connection = a_seen_connection(postponed_seconds=random.choice([0, random.randrange(60, 900)]))
        now = NOON + timedelta(seconds=random.uniform(0, 10 * 60))
        moment = next_session_at(connection, now)
        assert moment
        assert now <= moment <= now + timedelta(seconds=MAX_POSTPONEMENT_SECONDS)


def test_a_pause_of_a_connection_that_was_turned_away_is_its_reason() -> None:
    qbwc, (first, second) = a_service(1, 2)
    qbwc.authenticate(username=first)
    another_process(qbwc).authenticate(username=second)
    service = ConnectionService(qbwc.store, clock=qbwc.clock, new_id=qbwc.new_id, secrets=counting_bytes)
    paused = service.pause(APP_ID, second, actor=AN_ACTOR)

    reason = of_connection(paused, qbwc.clock.now)

    assert reason
    assert reason.code == "paused"
