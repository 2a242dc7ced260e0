"""A second Web Connector with another password is a warning, and nothing waits because of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest

from domain.connections.calls import LATE, SILENT_AFTER_CALLS, missed_calls, next_session_at
from domain.connections.onboarding import setup_state
from domain.connections.second_machine import FORGOTTEN_AFTER, WARNING_CODES, warnings
from domain.connections.turns import MIN_USER_INTERVAL_SECONDS
from domain.queueing.waiting_reason import of_connection, of_request
from domain.records.connection import FailedLogins
from domain.storage.changes import Put
from domain.timestamps import timestamp
from tests.support.builders import a_link
from tests.support.web_connector.connector import Connector

ADDRESS = "203.0.113.9"


def set_password(qbwc: Connector) -> None:
    """Set a new password, which the tests give to the new machine only."""
    before, now = qbwc.connection, timestamp(qbwc.clock.advance(seconds=1))
    after = replace(before, password_changed_at=now, login_failed_at=None, failed_beside=None)
    qbwc.store.commit(Put(before, after.changed(now)))


def codes(qbwc: Connector) -> tuple[str | None, list[str]]:
    """Return the waiting reason and the warnings of the connection."""
    reason = of_connection(qbwc.connection, qbwc.clock.now)
    return reason.code if reason else None, [one.code for one in warnings(qbwc.connection, qbwc.clock.now)]


def moved() -> Connector:
    """Return a connection that got a new password after it was used."""
    qbwc = Connector()
    qbwc.connect()
    qbwc.authenticate()
    set_password(qbwc)
    return qbwc


@pytest.mark.parametrize("seed", range(8))
def test_nothing_waits_for_a_machine_with_another_password_while_the_current_one_works(seed: int) -> None:
    random, qbwc, interleaved = Random(seed), moved(), 0
    has_worked, last_was_good = False, False
    for _ in range(40):
        qbwc.clock.advance(seconds=random.randrange(60, 100))
        if random.random() < 0.5:
            qbwc.authenticate()
            has_worked = last_was_good = True
        else:
            qbwc.authenticate("the old password")
            interleaved += has_worked and (last_was_good or not interleaved)
            last_was_good = False
        reason, warned = codes(qbwc)
        if not has_worked:
            assert (reason, warned) == ("wrong_password", [])
        elif last_was_good:
            assert reason is None
            # One failure between good logins can be a typing error.
            assert warned == (list(WARNING_CODES) if interleaved > 1 else [])
        elif reason == "wrong_password":
            # The one that knew the password has missed its calls, so it may be this one.
            assert interleaved == 1
            assert warned == []
        else:
            # Two are proved after the second alternation. Then the good one may have a longer interval.
            assert reason is None or (interleaved > 1 and reason == "not_seen")
            assert warned == list(WARNING_CODES)


def test_one_failure_beside_a_good_login_is_a_warning_and_the_good_one_may_stop() -> None:
    qbwc = moved()
    qbwc.authenticate()
    qbwc.clock.advance(seconds=20)
    qbwc.authenticate("the old password")
    assert codes(qbwc) == (None, ["second_web_connector"])

    qbwc.clock.advance(seconds=300)
    assert codes(qbwc) == ("wrong_password", [])


def test_a_second_web_connector_has_its_address_and_the_time_of_its_last_call() -> None:
    qbwc = moved()
    for _ in range(2):
        qbwc.authenticate()
        qbwc.clock.advance(seconds=20)
        qbwc.authenticate("the old password", address=ADDRESS)
    failed_at = timestamp(qbwc.clock.now)

    (warning,) = warnings(qbwc.connection, qbwc.clock.now)

    assert qbwc.connection.failed_beside == FailedLogins(failed_at, since=failed_at, times=2, address=ADDRESS)
    assert warning.message.startswith(f"A second Web Connector (address {ADDRESS}) still calls with another password")
    assert failed_at in warning.message
    assert qbwc.connection.last_connected_at
    assert qbwc.connection.last_connected_at in warning.message
    assert "remove the application from the Web Connector of the old one" in warning.hint


def test_a_warning_ends_a_day_after_the_last_failure_and_with_a_new_password() -> None:
    qbwc = moved()
    for _ in range(2):
        qbwc.authenticate()
        qbwc.clock.advance(seconds=20)
        qbwc.authenticate("the old password")
    qbwc.authenticate()
    connection, now = qbwc.connection, qbwc.clock.now

    assert warnings(connection, now + FORGOTTEN_AFTER - timedelta(minutes=1))
    assert not warnings(connection, now + FORGOTTEN_AFTER)
    set_password(qbwc)
    assert not warnings(qbwc.connection, now)


@pytest.mark.parametrize("worked", [True, False])
def test_the_onboarding_page_of_a_new_machine_does_not_blame_it_for_the_old_one(worked: bool) -> None:
    qbwc = moved()
    before = qbwc.connection
    qbwc.store.commit(Put(before, replace(before, onboarding=a_link(qbwc.clock.now))))
    set_password(qbwc)
    if worked:
        qbwc.authenticate()
    qbwc.authenticate("the old password")

    assert setup_state(qbwc.connection, qbwc.clock.now) == ("testing" if worked else "wrong_password")


def test_the_onboarding_page_says_wrong_password_again_when_the_good_machine_has_missed_its_calls() -> None:
    qbwc = moved()
    before = qbwc.connection
    qbwc.store.commit(Put(before, replace(before, onboarding=a_link(qbwc.clock.now))))
    qbwc.clock.advance(seconds=1)
    qbwc.authenticate()
    qbwc.close()
    qbwc.clock.advance(seconds=61)
    qbwc.authenticate("the old password")
    assert setup_state(qbwc.connection, qbwc.clock.now) == "testing"

    qbwc.clock.advance(seconds=300)

    assert setup_state(qbwc.connection, qbwc.clock.now) == "wrong_password"


@pytest.mark.parametrize("seed", range(8))
def test_wrong_passwords_after_a_good_login_are_the_reason_although_each_of_them_changes_the_connection(
    seed: int,
) -> None:
    """There is one machine, whose password was mistyped after a good login. A request waits."""
    random, qbwc = Random(seed), moved()
    qbwc.clock.advance(seconds=3)
    qbwc.authenticate()
    interval = max(qbwc.connection.postponed_seconds, MIN_USER_INTERVAL_SECONDS)
    qbwc.clock.advance(seconds=random.randrange(1, 60))
    record = qbwc.record(qbwc.queue())
    blocked_by = qbwc.clock.now + timedelta(seconds=SILENT_AFTER_CALLS * interval) + LATE
    seconds_between, reasons = random.randrange(60, 100), []
    for _ in range(20):
        qbwc.clock.advance(seconds=seconds_between)
        qbwc.authenticate("mistyped", address=ADDRESS)
        connection, now = qbwc.connection, qbwc.clock.now
        reason = of_request(record, connection, now)
        assert reason
        reasons.append(reason.code)
        assert reason.code == ("wrong_password" if now >= blocked_by else "next_session")
        is_wrong = reason.code == "wrong_password"
        assert bool(warnings(connection, now, record.updated_at)) is not is_wrong
        if missed_calls(connection, now, record.updated_at):
            assert next_session_at(connection, now, record.updated_at) is None

        # The connection, which knows of no request, agrees when the calls since the first failure are missed.
        if now >= blocked_by + timedelta(seconds=seconds_between):
            assert codes(qbwc) == ("wrong_password", [])
            assert next_session_at(connection, now) is None
    assert reasons[-1] == "wrong_password"


@pytest.mark.parametrize("seed", range(8))
def test_a_good_machine_with_a_longer_interval_beside_an_old_one_is_never_said_to_have_a_wrong_password(
    seed: int,
) -> None:
    random, qbwc = Random(seed), moved()
    interval, begun, seen = timedelta(minutes=random.choice([10, 30, 120])), qbwc.clock.now, set()
    good_at, bad_at = begun, begun + timedelta(seconds=random.randrange(1, 60))
    proved_at = begun + interval + timedelta(minutes=2)
    while qbwc.clock.now < begun + 6 * interval:
        qbwc.clock.now = min(good_at, bad_at)
        if good_at <= bad_at:
            qbwc.authenticate()
            good_at += interval
        else:
            qbwc.authenticate("the old password", address=ADDRESS)
            bad_at += timedelta(seconds=random.randrange(61, 120))
        if qbwc.clock.now > proved_at:
            reason, warned = codes(qbwc)
            assert warned == list(WARNING_CODES)
            seen.add(reason)
    assert seen == {None, "not_seen"}

    qbwc.clock.now = good_at + timedelta(days=1)
    qbwc.authenticate("the old password")
    assert codes(qbwc) == ("wrong_password", [])


def test_the_address_of_a_failed_login_is_forgotten_by_a_good_one_a_day_later() -> None:
    qbwc = moved()
    qbwc.authenticate()
    qbwc.clock.advance(seconds=20)
    qbwc.authenticate("the old password", address=ADDRESS)
    failed_at = qbwc.clock.now

    qbwc.clock.now = failed_at + FORGOTTEN_AFTER - timedelta(minutes=1)
    qbwc.authenticate()
    assert qbwc.connection.failed_beside

    qbwc.clock.now = failed_at + FORGOTTEN_AFTER
    qbwc.authenticate()
    assert qbwc.connection.failed_beside is None
