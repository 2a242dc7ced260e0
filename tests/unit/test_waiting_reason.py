"""Waiting reasons: one reason at a time, in order of precedence."""

from __future__ import annotations

from typing import Any

import pytest

from domain.connections.turns import turn_in_window
from domain.queueing import waiting_reason
from domain.records.request import QUEUED, Recovery, State
from domain.records.sync_window import SyncWindow
from domain.timestamps import timestamp
from tests.support.builders import CONNECTION_ID, NOON, a_connection, a_record

IN_USE = {"last_connected_at": "2026-03-14T11:59:00.000000Z", "password_hash": "scrypt$"}
LONG_AGO = {"last_connected_at": "2026-03-12T08:00:00.000000Z"}
CLOSED = {"sync_window": SyncWindow("22:00", "06:00", "Europe/Berlin")}
WRONG_PASSWORD = {"login_failed_at": "2026-03-14T11:59:00.000000Z"}
PAUSED = {"paused_at": "2026-03-14T11:00:00.000000Z"}
DIALOG = {
    "last_error": {
        "code": "quickbooks_connection_error",
        "message": "QuickBooks shows a dialog.",
        "hresult": "0x80040420",
        "hint": "Close the dialog.",
        "at": "2026-03-14T11:00:00.000000Z",
    }
}
OTHER_FILE = {"last_error": {"code": "company_file_mismatch", "message": "Another file is open.", "hint": "Open ours."}}


def reason(*parts: dict[str, Any]) -> waiting_reason.WaitingReason | None:
    fields: dict[str, Any] = {}
    for part in (IN_USE, *parts):
        fields |= part
    return waiting_reason.of_connection(a_connection(**fields), NOON)


def code(*parts: dict[str, Any]) -> str | None:
    waiting = reason(*parts)
    return waiting.code if waiting else None


def test_a_connection_that_was_seen_recently_has_no_waiting_reason() -> None:
    assert reason() is None


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ((PAUSED, {"last_connected_at": None}, OTHER_FILE, CLOSED), "paused"),
        ((PAUSED, WRONG_PASSWORD), "paused"),
        ((WRONG_PASSWORD, {"last_connected_at": None}, OTHER_FILE, CLOSED), "wrong_password"),
        ((WRONG_PASSWORD, {"last_connected_at": None, "password_hash": None}), "never_connected"),
        (({"last_connected_at": None}, CLOSED), "never_connected"),
        ((OTHER_FILE, CLOSED, LONG_AGO), "company_file_mismatch"),
        ((DIALOG, CLOSED, LONG_AGO), "quickbooks_unreachable"),
        ((CLOSED, LONG_AGO), "outside_sync_window"),
        ((LONG_AGO,), "not_seen"),
        ((WRONG_PASSWORD, LONG_AGO), "wrong_password"),
        (({"turned_away": 1},), "service_busy"),
        (({"turned_away": 1}, LONG_AGO), "not_seen"),
        (({"turned_away": 1}, CLOSED), "outside_sync_window"),
    ],
)
def test_the_reason_of_highest_precedence_is_shown(parts: tuple[dict[str, Any], ...], expected: str) -> None:
    assert code(*parts) == expected
    assert expected in waiting_reason.CODES


def test_a_wrong_password_has_the_time_of_its_use() -> None:
    waiting = reason(WRONG_PASSWORD, {"last_connected_at": None})

    assert waiting
    assert "2026-03-14T11:59:00.000000Z" in waiting.message
    assert waiting.hint
    assert f"POST /api/v1/connections/{CONNECTION_ID}/password" in waiting.hint


def test_a_failed_login_of_another_machine_does_not_block_a_running_session() -> None:
    assert reason(WRONG_PASSWORD, {"session_id": "5" * 64, "password_changed_at": timestamp(NOON)}) is None


def test_a_pause_has_its_beginning_and_explains_how_to_resume() -> None:
    waiting = reason(PAUSED)

    assert waiting
    assert PAUSED["paused_at"] in waiting.message
    assert waiting.hint == f"To resume it: POST /api/v1/connections/{CONNECTION_ID}/resume."


@pytest.mark.parametrize(("password_hash", "says"), [(None, True), ("scrypt$", False)])
def test_an_unused_connection_explains_how_to_start(password_hash: str | None, says: bool) -> None:
    waiting = reason({"last_connected_at": None, "password_hash": password_hash})

    assert waiting
    assert waiting.hint
    assert ("Set a password" in waiting.hint) is says
    assert "has no password" in waiting.message or not says
    assert ".qwc" in waiting.hint
    assert "Auto-Run" in waiting.hint


def test_a_connection_error_is_shown_with_its_hint() -> None:
    waiting = reason(DIALOG)

    assert waiting
    assert waiting.message == "QuickBooks could not be reached: QuickBooks shows a dialog."
    assert waiting.hint == "Close the dialog."


def test_a_company_file_mismatch_has_a_remedy() -> None:
    waiting = reason(OTHER_FILE)

    assert waiting
    assert waiting.message == "Another file is open."
    assert waiting.hint == "Open ours."


@pytest.mark.parametrize("connection_error", [DIALOG, OTHER_FILE])
def test_an_old_error_includes_the_last_contact_of_the_web_connector(connection_error: dict[str, Any]) -> None:
    waiting = reason(connection_error, LONG_AGO)

    assert waiting
    assert waiting.message.endswith("since 2026-03-12T08:00:00.000000Z, when the Web Connector was last seen.")


def test_a_closed_window_has_its_opening_time_and_time_zone() -> None:
    waiting = reason(CLOSED)

    assert waiting
    assert "22:00 (Europe/Berlin)" in waiting.message


def test_a_running_session_was_not_turned_away() -> None:
    assert reason({"turned_away": 1, "session_id": "ab"}) is None


def test_an_open_window_is_not_a_reason() -> None:
    assert reason({"sync_window": SyncWindow("11:45", "14:00", "UTC")}) is None


def test_a_window_that_is_open_before_the_turn_of_the_connection_is_a_reason_with_the_time_of_the_turn() -> None:
    window = SyncWindow("12:00", "14:00", "UTC")
    turn = turn_in_window(a_connection(sync_window=window), NOON)

    waits = reason({"sync_window": window})

    assert waits
    assert turn
    assert waits.code == "outside_sync_window"
    assert "opened at 12:00 (UTC)" in waits.message
    assert timestamp(turn) in waits.message


@pytest.mark.parametrize(
    ("parts", "silent"),
    [
        ((), False),
        ((LONG_AGO,), True),
        # What a person has to solve, and what ends by itself, do not hide it.
        ((LONG_AGO, DIALOG, CLOSED), True),
        ((LONG_AGO, WRONG_PASSWORD), True),
        ((LONG_AGO, {"last_worked_at": timestamp(NOON)}), False),
        ((LONG_AGO, {"session_id": "00"}), False),
        ((LONG_AGO, PAUSED), False),
        (({"last_connected_at": None},), False),
    ],
)
def test_a_machine_is_silent_since_its_last_call_whatever_else_holds_the_queue(
    parts: tuple[dict[str, Any], ...], silent: bool
) -> None:
    fields: dict[str, Any] = dict(IN_USE)
    for part in parts:
        fields |= part

    since = waiting_reason.silent_since(a_connection(**fields), NOON)

    assert since == (LONG_AGO["last_connected_at"] if silent else None)


def test_not_seen_mentions_a_wrong_password() -> None:
    """A failed login can be missing from the record, for example after a conflict."""
    waiting = reason(LONG_AGO)

    assert waiting
    assert "QBWC1040" in (waiting.hint or "")


def test_a_web_connector_in_a_long_session_counts_as_seen() -> None:
    assert code(LONG_AGO, {"session_id": "00"}) is None
    assert code(LONG_AGO, {"last_worked_at": timestamp(NOON)}) is None


# --- Requests


@pytest.mark.parametrize("state", [state for state in State if state not in QUEUED])
def test_a_request_that_does_not_wait_has_no_reason(state: State) -> None:
    record = a_record(state=state)

    assert waiting_reason.of_request(record, a_connection(**PAUSED), NOON, ahead=3) is None


@pytest.mark.parametrize("state", QUEUED)
def test_the_reason_that_blocks_a_connection_blocks_its_requests(state: State) -> None:
    record, connection = a_record(state=state, recovery=Recovery(active=True)), a_connection(**PAUSED)

    assert waiting_reason.of_request(record, connection, NOON, ahead=3) == waiting_reason.of_connection(
        connection, NOON
    )


def test_a_write_whose_response_was_lost_is_recovering() -> None:
    record = a_record(state=State.RETRYABLE, recovery=Recovery(active=True), request_name="CustomerAddRq")

    waiting = waiting_reason.of_request(record, a_connection(**IN_USE), NOON, ahead=2)

    assert waiting
    assert waiting.code == "recovering"
    assert "Do not queue it again" in (waiting.hint or "")


@pytest.mark.parametrize(
    ("ahead", "message"),
    [
        (1, "1 request is sent before it."),
        (99, "99 requests are sent before it."),
        (100, "100 or more requests are sent before it."),
    ],
)
def test_the_number_of_requests_ahead_is_shown(ahead: int, message: str) -> None:
    waiting = waiting_reason.of_request(a_record(), a_connection(**IN_USE), NOON, ahead=ahead)

    assert waiting == waiting_reason.WaitingReason("requests_ahead", message)


@pytest.mark.parametrize("ahead", [None, 0])
def test_the_first_in_line_waits_for_the_next_session(ahead: int | None) -> None:
    waiting = waiting_reason.of_request(a_record(), a_connection(**IN_USE), NOON, ahead=ahead)

    assert waiting
    assert waiting.code == "next_session"
    assert "Update Selected" in (waiting.hint or "")


def test_a_running_session_sends_the_request() -> None:
    waiting = waiting_reason.of_request(a_record(), a_connection(**IN_USE, session_id="00"), NOON, ahead=0)

    assert waiting
    assert (waiting.code, waiting.message) == ("next_session", "A session is running and will send it.")
    assert "If the Web Connector has stopped" in (waiting.hint or "")


def test_a_retryable_request_is_sent_again() -> None:
    waiting = waiting_reason.of_request(a_record(state=State.RETRYABLE), a_connection(**IN_USE), NOON)

    assert waiting
    assert "sent again" in waiting.message


def test_without_a_known_connection_the_next_session_is_the_reason() -> None:
    waiting = waiting_reason.of_request(a_record(), None, NOON)

    assert waiting
    assert waiting.code == "next_session"
