"""Missed calls and predictions, beside a Web Connector that polls as asked until its machine is off."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from random import Random
from typing import TYPE_CHECKING

import pytest

from domain.connections.calls import LATE, RECORDED_EVERY, SILENT_AFTER_CALLS, missed_calls, next_session_at
from domain.connections.turns import MAX_POSTPONEMENT_SECONDS, MIN_USER_INTERVAL_SECONDS
from domain.queueing.waiting_reason import MAX_COUNTED_MISSED, of_request, silent_since, waiting_since
from domain.records.request import QUEUED
from domain.storage.changes import Put
from domain.timestamps import timestamp
from tests.support.builders import NOON, a_connection, a_record
from tests.support.web_connector.connector import Connector
from tests.support.web_connector.quickbooks import response_to

if TYPE_CHECKING:
    from collections.abc import Iterator

    from domain.records.connection import Connection

SEEDS = range(6)


def waits_since(qbwc: Connector) -> str | None:
    """Return since when a request waits."""
    return min((record.updated_at for record in qbwc.records if record.state in QUEUED), default=None)


def poll(qbwc: Connector) -> int:
    """Make one update as a Web Connector does. Return the seconds until the next one."""
    qbwc.authenticate()
    if qbwc.connection.session_id is None:
        return int(qbwc.schedule[0] or MIN_USER_INTERVAL_SECONDS)
    while sent := qbwc.send():
        if qbwc.receive(response_to(sent)) == 100:
            break
    qbwc.close()
    return MIN_USER_INTERVAL_SECONDS


def life(random: Random, updates: int) -> Iterator[tuple[Connector, datetime]]:
    """Yield random moments in the life of a machine that is always on. Requests are queued at random moments."""
    qbwc = Connector()
    qbwc.connect()
    for _ in range(updates):
        called_at, seconds = qbwc.clock.now, poll(qbwc)
        # The next update comes up to some seconds late, as that of a program with other work.
        next_at = called_at + timedelta(seconds=seconds + random.uniform(2, 20))
        while qbwc.clock.now < next_at:
            yield qbwc, qbwc.clock.now
            if random.random() < 0.1:
                qbwc.queue()
            if random.random() < 0.1:
                before = qbwc.connection
                qbwc.store.commit(Put(before, replace(before, name="Renamed").changed(timestamp(qbwc.clock.now))))
            qbwc.clock.now = min(next_at, qbwc.clock.now + timedelta(seconds=random.choice([5, 45, 290])))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_machine_that_calls_as_asked_has_missed_no_call(seed: int) -> None:
    for qbwc, now in life(Random(seed), updates=30):
        connection = qbwc.connection
        assert missed_calls(connection, now) is None
        assert missed_calls(connection, now, waits_since(qbwc)) is None
        assert silent_since(connection, now) is None


@pytest.mark.parametrize("seed", SEEDS)
def test_no_call_is_missed_during_a_long_session_however_quickbooks_answers_in_it(seed: int) -> None:
    random = Random(seed)
    for _ in range(6):
        qbwc = Connector()
        qbwc.connect()
        answered = random.randrange(3)
        for number in range(answered + 1):
            qbwc.write(f"Ann {number}")
        qbwc.clock.advance(seconds=random.randrange(1, 30))
        request = qbwc.begin()
        for _ in range(answered):
            qbwc.clock.advance(minutes=random.randrange(12))
            qbwc.receive(response_to(request))
            request = qbwc.send()
        qbwc.clock.advance(minutes=random.randrange(29))
        assert missed_calls(qbwc.connection, qbwc.clock.now, waits_since(qbwc)) is None

        qbwc.close()
        ended = qbwc.clock.now
        fails_at = ended + timedelta(seconds=random.randrange(1, 60))
        for now in (ended, ended + timedelta(seconds=MIN_USER_INTERVAL_SECONDS)):
            assert missed_calls(qbwc.connection, now, waits_since(qbwc)) is None
            assert next_session_at(qbwc.connection, now) == ended + timedelta(seconds=MIN_USER_INTERVAL_SECONDS)
        # A failed login moves neither the end nor the beginning of the count.
        qbwc.clock.now = fails_at
        qbwc.authenticate("mistyped")
        missed = missed_calls(qbwc.connection, ended + SILENT_AFTER_CALLS * timedelta(minutes=1) + LATE)
        assert missed
        assert missed.number == SILENT_AFTER_CALLS


@pytest.mark.parametrize("seed", SEEDS)
def test_the_requests_of_a_page_and_the_overview_agree_on_the_calls_that_were_missed(seed: int) -> None:
    random = Random(seed)
    connection, off_at = off(random)
    late = timestamp(off_at - timedelta(hours=1))
    moments = [timestamp(off_at + timedelta(seconds=random.uniform(0, 900))) for _ in range(4)]
    records = [a_record(updated_at=moment) for moment in moments]
    # A poll takes neither of these from the queue.
    records += [
        a_record(updated_at=late, send_by=int(off_at.timestamp()) - 60),
        a_record(updated_at=late, dependencies=(0,)),
    ]

    for minutes in range(16, 60):
        now = off_at + timedelta(minutes=minutes)
        since = waiting_since(records, now)
        assert since == min(moments)
        reasons = {of_request(record, connection, now, waits_since=since) for record in records[:4]}
        silent = silent_since(connection, now, since)
        assert {reason.code for reason in reasons if reason} == {"not_seen" if silent else "next_session"}
        assert len(reasons) == 1


def off(random: Random) -> tuple[Connection, datetime]:
    """Return a connection whose machine went off at a random moment, and this moment."""
    moments = list(life(random, updates=random.randrange(1, 20)))
    return moments[-1][0].connection, moments[-1][1]


@pytest.mark.parametrize("seed", SEEDS)
def test_while_a_request_waits_three_missed_calls_are_said_and_no_prediction_is_repeated(
    seed: int,
) -> None:
    random = Random(seed)
    connection, off_at = off(random)
    queued_at = off_at + timedelta(seconds=random.uniform(0, 3600))
    record = a_record(inserted_at=timestamp(queued_at), updated_at=timestamp(queued_at))
    interval = timedelta(seconds=connection.postponed_seconds or MIN_USER_INTERVAL_SECONDS)
    said_by = queued_at + SILENT_AFTER_CALLS * interval + LATE
    predictions = set()

    for seconds in range(0, 3000, 10):
        now = queued_at + timedelta(seconds=seconds)
        prediction = next_session_at(connection, now, record.updated_at)
        predictions |= {prediction} - {None}
        reason = of_request(record, connection, now)
        assert reason
        if prediction:
            assert reason.code == "next_session"
            assert timestamp(prediction) in reason.message
        if now >= said_by:
            assert reason.code == "not_seen"
            missed = missed_calls(connection, now, record.updated_at)
            assert missed
            is_counted = missed.number <= MAX_COUNTED_MISSED
            number = f"At least {missed.number}" if is_counted else f"More than {MAX_COUNTED_MISSED}"
            assert reason.message.startswith(f"{number} calls missed since {missed.last_call}, ")
            assert missed.number >= SILENT_AFTER_CALLS
    assert len(predictions) <= 1


@pytest.mark.parametrize("seed", SEEDS)
def test_silence_is_said_without_a_known_request_when_unrecorded_calls_explain_nothing_more(seed: int) -> None:
    random = Random(seed)
    connection, _ = off(random)
    last = datetime.fromisoformat(connection.last_call_at or "")
    interval = timedelta(seconds=connection.postponed_seconds or MIN_USER_INTERVAL_SECONDS)
    said_by = last + RECORDED_EVERY + SILENT_AFTER_CALLS * interval + LATE

    assert silent_since(connection, said_by) == connection.last_call_at
    assert next_session_at(connection, said_by) is None
    assert next_session_at(connection, last + RECORDED_EVERY + interval + timedelta(seconds=1)) is None


@pytest.mark.parametrize(
    "fields",
    [
        {"last_connected_at": None},
        {"session_id": "00"},
        {"paused_at": timestamp(NOON)},
        {"simulated": True},
    ],
)
def test_calls_that_nobody_expects_are_not_missed(fields: dict[str, str]) -> None:
    connection = a_connection(**({"last_connected_at": timestamp(NOON)} | fields))

    assert missed_calls(connection, NOON + timedelta(days=2), timestamp(NOON)) is None
    assert next_session_at(connection, NOON, timestamp(NOON)) is None


def test_a_number_of_missed_calls_that_helps_nobody_is_not_counted() -> None:
    connection = a_connection(last_connected_at=timestamp(NOON), postponed_seconds=MAX_POSTPONEMENT_SECONDS)

    reason = of_request(a_record(), connection, NOON + timedelta(days=2))

    assert reason
    assert reason.message.startswith("More than 100 calls missed since ")
