"""A second Web Connector with another password is a warning, and nothing waits because of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest

from domain.connections.onboarding import setup_state
from domain.connections.second_machine import FORGOTTEN_AFTER, WARNING_CODES, warnings
from domain.queueing.waiting_reason import of_connection
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
            assert warned == []
        else:
            assert (reason, warned) == (None, list(WARNING_CODES))


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

    assert qbwc.connection.failed_beside == FailedLogins(failed_at, ADDRESS, times=2)
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

    assert setup_state(qbwc.connection) == ("testing" if worked else "wrong_password")
