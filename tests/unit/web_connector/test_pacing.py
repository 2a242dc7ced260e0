"""Pacing: a session that is faster than its share of the calls waits between two requests, and never between pages."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest

from domain.records.request import State
from domain.records.session import Session
from domain.timestamps import timestamp
from domain.web_connector.session import pacing
from domain.web_connector.session.admission import UNDISTURBED, UNPACED_REQUESTS
from domain.web_connector.session.polling import ENDS_FOR_OTHERS, PAUSED
from tests.support.builders import APP_ID, NOON
from tests.support.cases import for_each
from tests.support.web_connector.connector import Connector
from tests.support.web_connector.quickbooks import page_of, response_to

SLOWEST = 4 / 5.2
"""The calls a second of a session that waits before each request."""


def calls_of(request_seconds: float, calls_per_second: float, seconds: int = 600) -> tuple[int, int]:
    """Return the calls that a session with enough work makes in this time, and how often it waits."""
    session, now = Session("id", "connection", timestamp(NOON)), NOON
    calls = waits = 0
    while now < NOON + timedelta(seconds=seconds):
        calls += 2
        if pacing.waits(session, now):
            waits += 1
            now += pacing.WAIT + timedelta(seconds=0.2)
        else:
            session = replace(session, paced_to=pacing.paced_to(session, now, calls_per_second))
            now += timedelta(seconds=request_seconds)
    return calls, waits


@for_each("seed", range(200))
def test_a_session_of_any_speed_makes_its_calls_a_second_and_no_more(seed: int) -> None:
    random = Random(seed)
    share = random.uniform(0.1, 12)
    request_seconds = 0.2 + random.choice([0, random.uniform(0, 1), random.uniform(1, 30)])

    calls, waits = calls_of(request_seconds, share)

    assert calls <= 600 * max(share, SLOWEST) * 1.02 + 2 * max(share, SLOWEST) * pacing.WAIT.total_seconds()
    if request_seconds >= pacing.interval(share).total_seconds():
        assert waits == 0
    elif share > 1:
        assert calls >= 0.6 * share * 600


def test_a_session_waits_if_it_is_ahead_by_more_than_a_wait() -> None:
    for ahead, expected in ((pacing.WAIT, False), (pacing.WAIT + timedelta(microseconds=1), True)):
        session = Session("id", "connection", timestamp(NOON), paced_to=timestamp(NOON + ahead))
        assert pacing.waits(session, NOON) is expected


def test_a_session_that_turns_fast_has_saved_nothing_up() -> None:
    session, now = Session("id", "connection", timestamp(NOON)), NOON
    for _ in range(100):  # QuickBooks takes 20 seconds for each
        session = replace(session, paced_to=pacing.paced_to(session, now, 1))
        now += timedelta(seconds=20)

    sent = 0
    while not pacing.waits(session, now):
        session = replace(session, paced_to=pacing.paced_to(session, now, 1))
        now += timedelta(seconds=0.2)
        sent += 1

    assert sent == 2


# --- in a session


def a_paced_session(*, requests: int = 12, calls_per_second: float = 0.8) -> Connector:
    """Return a session that may make so many calls a second, in a service without other sessions."""
    qbwc = Connector(max_sessions=10, calls_per_second=calls_per_second)
    qbwc.connect()
    for _ in range(requests):
        qbwc.queue()
    assert qbwc.authenticate() == ""
    return qbwc


def test_a_fast_session_is_asked_to_wait_and_sends_every_request_once() -> None:
    qbwc = a_paced_session()
    sent, waited, began = [], 0, qbwc.clock.now

    while True:
        request = qbwc.send()
        if request == "NoOp":
            waited += 1
            held = qbwc.in_flight
            assert [record.state for record in held] == [State.TICKETED]
            assert qbwc.last_error() == "NoOp"
            qbwc.clock.advance(seconds=5)
            continue
        sent.append(qbwc.in_flight[0].id)
        if qbwc.receive(response_to(request)) == 100:
            break

    assert sent == [record.id for record in qbwc.records]
    assert waited >= 3
    assert sent[:UNPACED_REQUESTS] == sent[:3]
    assert (2 * len(sent) + 2 * waited) / (qbwc.clock.now - began).total_seconds() <= 1


def test_a_wait_costs_three_reads_and_no_write() -> None:
    qbwc = a_paced_session()
    while (request := qbwc.send()) != "NoOp":
        qbwc.receive(response_to(request))

    assert qbwc.store.calls == {"session": 1, "requests_in_flight": 1}
    assert (qbwc.last_error(), qbwc.store.calls) == ("NoOp", {"session": 1})


def test_the_first_requests_of_a_session_read_no_count_and_the_others_one_a_second() -> None:
    qbwc = a_paced_session(calls_per_second=1_000)
    counted: list[int] = []
    live_sessions = qbwc.store.live_sessions

    def counting(shard: int, since: str) -> object:
        counted.append(shard)
        return live_sessions(shard, since)

    qbwc.store.live_sessions = counting  # type: ignore[assignment,method-assign]
    readings = []
    for _ in range(6):
        request = qbwc.send()
        readings.append(len(counted))
        qbwc.clock.now -= timedelta(seconds=2)  # the calls take no time
        qbwc.receive(response_to(request))
    assert readings == [0, 0, 0, 1, 1, 1]
    assert all(session.paced_to is None for session in qbwc.store.sessions.values())


def test_a_page_never_waits() -> None:
    qbwc = a_paced_session(requests=3)
    qbwc.iterate()
    after = qbwc.queue()
    for _ in range(3):
        qbwc.receive(response_to(qbwc.send()))

    for remaining in range(29, -1, -1):
        request = qbwc.send()
        assert request != "NoOp"
        assert qbwc.receive(page_of(request, remaining)) < 100

    assert qbwc.send() == "NoOp"  # the iterator has ended, and the session makes up for its pages
    while (request := qbwc.send()) == "NoOp":
        assert qbwc.last_error() == "NoOp"
    assert after in request
    assert qbwc.session.paced_to
    assert qbwc.session.paced_to <= timestamp(qbwc.clock.now + pacing.MAX_AHEAD)


def test_a_pause_ends_a_session_that_waits() -> None:
    qbwc = a_paced_session()
    while (request := qbwc.send()) != "NoOp":
        qbwc.receive(response_to(request))
    before = qbwc.session
    qbwc.store.sessions[before.id] = before.with_pause(paused=True)

    assert (qbwc.send(), qbwc.last_error()) == ("", PAUSED)

    assert qbwc.states().count("ticketed") == 0


def test_a_session_is_not_paced_if_the_sessions_cannot_be_counted() -> None:
    qbwc = a_paced_session()

    def unreadable(_shard: int, _since: str) -> dict[str, int]:
        raise ConnectionError("the index cannot be read")

    qbwc.store.live_sessions = unreadable  # type: ignore[assignment,method-assign]
    while (progress := qbwc.receive(response_to(qbwc.send()))) < 100:
        assert progress > 0

    assert set(qbwc.states()) == {"response_received"}


# --- the end of a session for others


def crowded(qbwc: Connector, *, others: int, app_id: str = APP_ID) -> None:
    """Let the index show so many other sessions in each shard."""
    qbwc.store.live_sessions = lambda _shard, _since: {APP_ID: 1} | {app_id: others + (app_id == APP_ID)}  # type: ignore[assignment,method-assign]


def an_old_session(age: timedelta = UNDISTURBED, places: int = 5) -> Connector:
    qbwc = Connector(max_sessions=places)
    qbwc.connect(linger_seconds=60)
    qbwc.iterate()
    qbwc.queue()
    assert qbwc.authenticate() == ""
    qbwc.clock.advance(seconds=age.total_seconds())
    return qbwc


def test_a_session_that_is_five_minutes_old_ends_between_two_requests_while_there_are_too_many() -> None:
    qbwc = an_old_session()
    crowded(qbwc, others=5, app_id="another-app")

    for remaining in (2, 1):
        assert qbwc.receive(page_of(qbwc.send(), remaining)) < 100
    assert qbwc.receive(page_of(qbwc.send(), 0)) == 100

    assert qbwc.in_flight == []
    assert qbwc.states().count("waiting") == 1
    assert (qbwc.send(), qbwc.last_error()) == ("", ENDS_FOR_OTHERS)
    qbwc.close()
    assert qbwc.session.ended


@pytest.mark.parametrize(
    ("age", "others", "app_id"),
    [
        (UNDISTURBED - timedelta(seconds=10), 99, "another-app"),  # it is too young
        (2 * UNDISTURBED, 4, "another-app"),  # there are places for all
        (2 * UNDISTURBED, 3, APP_ID),  # its app has no more than its share
    ],
)
def test_a_session_continues_unless_it_is_old_and_there_are_too_many(age: timedelta, others: int, app_id: str) -> None:
    qbwc = an_old_session(age)
    crowded(qbwc, others=others, app_id=app_id)

    assert qbwc.receive(page_of(qbwc.send(), 0)) < 100

    assert len(qbwc.in_flight) == 1


def test_a_session_ends_if_its_app_has_more_than_its_share() -> None:
    qbwc = an_old_session()
    crowded(qbwc, others=4)

    assert qbwc.receive(page_of(qbwc.send(), 0)) == 100


def test_a_session_of_an_older_release_is_not_ended() -> None:
    qbwc = an_old_session()
    crowded(qbwc, others=99)
    before = qbwc.session
    qbwc.store.sessions[before.id] = replace(before, app_id="", began_at="")

    assert qbwc.receive(page_of(qbwc.send(), 0)) < 100
