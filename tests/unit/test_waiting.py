"""Why something waits: one reason, the one whose end matters first."""

from __future__ import annotations

from typing import Any

import pytest

from domain.connections.sync_window import SyncWindow
from domain.requests import waiting_reason
from domain.requests.record import QUEUED, Recovery, State, timestamp
from domain.web_connector.session.polling import MAX_POSTPONEMENT_SECONDS
from tests.support.builders import CONNECTION_ID, NOON, a_connection, a_record

SEEN = {"last_connected_at": "2026-03-14T11:30:00.000000Z", "password_hash": "scrypt$"}
LONG_AGO = {"last_connected_at": "2026-03-12T08:00:00.000000Z"}
CLOSED = {"sync_window": SyncWindow("22:00", "06:00", "Europe/Berlin")}
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
    for part in (SEEN, *parts):
        fields |= part
    return waiting_reason.of_connection(a_connection(**fields), NOON)


def code(*parts: dict[str, Any]) -> str | None:
    found = reason(*parts)
    return found.code if found else None


def test_nothing_is_in_the_way_of_a_connection_that_was_seen_lately() -> None:
    assert reason() is None


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ((PAUSED, {"last_connected_at": None}, OTHER_FILE, CLOSED), "paused"),
        (({"last_connected_at": None}, CLOSED), "never_connected"),
        ((OTHER_FILE, CLOSED, LONG_AGO), "company_file_mismatch"),
        ((DIALOG, CLOSED, LONG_AGO), "quickbooks_unreachable"),
        ((CLOSED, LONG_AGO), "outside_sync_window"),
        ((LONG_AGO,), "not_seen"),
    ],
)
def test_what_matters_first_is_told(parts: tuple[dict[str, Any], ...], expected: str) -> None:
    assert code(*parts) == expected
    assert expected in waiting_reason.CODES


def test_a_pause_says_since_when_and_how_it_ends() -> None:
    found = reason(PAUSED)

    assert found
    assert PAUSED["paused_at"] in found.message
    assert found.hint == f"To go on: POST /api/v1/connections/{CONNECTION_ID}/resume."


@pytest.mark.parametrize(("password_hash", "says"), [(None, True), ("scrypt$", False)])
def test_a_connection_that_was_never_used_says_how_to_begin(password_hash: str | None, says: bool) -> None:
    found = reason({"last_connected_at": None, "password_hash": password_hash})

    assert found
    assert found.hint
    assert ("Set a password" in found.hint) is says
    assert "has no password" in found.message or not says
    assert ".qwc" in found.hint
    assert "Auto-Run" in found.hint


def test_what_quickbooks_reported_is_passed_on_with_its_hint() -> None:
    found = reason(DIALOG)

    assert found
    assert found.message == "QuickBooks could not be reached: QuickBooks shows a dialog."
    assert found.hint == "Close the dialog."


def test_another_company_file_says_what_to_do() -> None:
    found = reason(OTHER_FILE)

    assert found
    assert found.message == "Another file is open."
    assert found.hint == "Open ours."


@pytest.mark.parametrize("reported", [DIALOG, OTHER_FILE])
def test_what_was_reported_long_ago_says_that_the_web_connector_is_gone_too(reported: dict[str, Any]) -> None:
    found = reason(reported, LONG_AGO)

    assert found
    assert found.message.endswith("The Web Connector was last seen at 2026-03-12T08:00:00.000000Z.")


def test_a_closed_window_says_when_it_opens_by_whose_clock() -> None:
    found = reason(CLOSED)

    assert found
    assert "22:00 (Europe/Berlin)" in found.message


def test_an_open_window_is_no_reason() -> None:
    assert reason({"sync_window": SyncWindow("12:00", "14:00", "UTC")}) is None


def test_a_web_connector_is_missing_after_three_of_the_longest_intervals() -> None:
    def seen(seconds: int) -> str | None:
        moment = timestamp(NOON.fromtimestamp(NOON.timestamp() - seconds, NOON.tzinfo))
        return code({"last_connected_at": moment})

    assert seen(3 * MAX_POSTPONEMENT_SECONDS) is None
    assert seen(3 * MAX_POSTPONEMENT_SECONDS + 1) == "not_seen"


def test_a_web_connector_that_is_missing_may_have_another_password() -> None:
    """Logins with a wrong one leave no trace: anybody could write then."""
    found = reason(LONG_AGO)

    assert found
    assert "QBWC1040" in (found.hint or "")


def test_a_web_connector_in_a_long_session_is_not_missing() -> None:
    assert code(LONG_AGO, {"session_ticket": "00"}) is None
    assert code(LONG_AGO, {"last_worked_at": timestamp(NOON)}) is None


# --- of a record


@pytest.mark.parametrize("state", [state for state in State if state not in QUEUED])
def test_what_does_not_wait_has_no_reason(state: State) -> None:
    record = a_record(state=state)

    assert waiting_reason.of_request(record, a_connection(**PAUSED), NOON, ahead=3) is None


@pytest.mark.parametrize("state", QUEUED)
def test_what_is_in_the_connections_way_is_in_the_records_way(state: State) -> None:
    record, connection = a_record(state=state, recovery=Recovery(active=True)), a_connection(**PAUSED)

    assert waiting_reason.of_request(record, connection, NOON, ahead=3) == waiting_reason.of_connection(
        connection, NOON
    )


def test_a_lost_write_is_being_recovered() -> None:
    record = a_record(state=State.RETRYABLE, recovery=Recovery(active=True), request_name="CustomerAddRq")

    found = waiting_reason.of_request(record, a_connection(**SEEN), NOON, ahead=2)

    assert found
    assert found.code == "recovering"
    assert "Do not queue it again" in (found.hint or "")


@pytest.mark.parametrize(
    ("ahead", "message"),
    [
        (1, "1 request is sent before it."),
        (99, "99 requests are sent before it."),
        (100, "100 or more requests are sent before it."),
    ],
)
def test_the_requests_ahead_are_told(ahead: int, message: str) -> None:
    found = waiting_reason.of_request(a_record(), a_connection(**SEEN), NOON, ahead=ahead)

    assert found == waiting_reason.WaitingReason("requests_ahead", message)


@pytest.mark.parametrize("ahead", [None, 0])
def test_the_first_in_line_waits_for_the_next_session(ahead: int | None) -> None:
    found = waiting_reason.of_request(a_record(), a_connection(**SEEN), NOON, ahead=ahead)

    assert found
    assert found.code == "next_session"
    assert "Update Selected" in (found.hint or "")


def test_while_a_session_runs_nobody_has_to_do_anything() -> None:
    found = waiting_reason.of_request(a_record(), a_connection(**SEEN, session_ticket="00"), NOON, ahead=0)

    assert found
    assert (found.code, found.message) == ("next_session", "A session is running and sends it in its turn.")
    assert "Should the Web Connector have stopped" in (found.hint or "")


def test_what_was_tried_before_is_sent_again() -> None:
    found = waiting_reason.of_request(a_record(state=State.RETRYABLE), a_connection(**SEEN), NOON)

    assert found
    assert "sent again" in found.message


def test_where_nothing_is_known_of_the_connection_its_turn_is_told() -> None:
    found = waiting_reason.of_request(a_record(), None, NOON)

    assert found
    assert found.code == "next_session"
