"""Connections: settings changed, paused, resumed, through the functions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from domain.records.session import Limits
from domain.storage.changes import Put
from tests.support.builders import CONNECTION_ID, a_session
from tests.support.cases import for_each

if TYPE_CHECKING:
    from domain.records.session import Session
    from tests.integration.api.conftest import Deployment

URL = f"/api/v1/connections/{CONNECTION_ID}"
NIGHT = {"from": "22:00", "to": "06:00", "time_zone": "America/New_York"}


def open_session(deployment: Deployment, **fields: Any) -> Session:
    """Open a Web Connector session of the connection."""
    before = deployment.store.connection(CONNECTION_ID)
    assert before
    session = a_session(**fields)
    deployment.store.commit(
        Put(None, session),
        Put(before, replace(before, session_id=session.id).changed(session.last_call_at)),
    )
    return session


DEFAULTS = {"linger_seconds": 0, "batch_size": 1, "read_batch_size": 20, "settle": True, "webhook_events": []}
"""The settings whose default is not null."""


def test_a_new_connection_accepts_every_setting(deployment: Deployment) -> None:
    settings = {
        "name": "Shop",
        "sync_window": NIGHT,
        "approval": "required",
        "linger_seconds": 60,
        "batch_size": 5,
        "read_batch_size": 1,
        "settle": False,
        "webhook_events": ["connection.stalled"],
    }

    connection = deployment.api.call("POST", "/api/v1/connections", settings).json["data"]

    assert {name: connection[name] for name in settings} == settings
    assert deployment.api.call("GET", connection["links"]["self"]).json["data"] == connection


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "Head office"},
        {"company_file": r"C:\Books\Shop.qbw"},
        {"webhook_url": "https://shop.example/hook"},
        {"sync_window": NIGHT},
        {"approval": "required"},
        {"linger_seconds": 1500},
        {"batch_size": 20},
        {"read_batch_size": 1},
        {"settle": False},
        {"webhook_events": ["connection.calling_again", "connection.*"]},
    ],
)
def test_an_update_changes_only_given_settings_and_null_clears(deployment: Deployment, changes: dict[str, Any]) -> None:
    before = deployment.api.call("GET", URL).json["data"]
    (field,) = changes
    deployment.clock.advance(seconds=1)

    first = deployment.api.call("PATCH", URL, changes)
    second = deployment.api.call("PATCH", URL, {field: None})

    assert first.status == second.status == 200
    new_time = {"updated_at": "2026-03-14T12:00:01.000000Z"}
    assert first.json["data"] == before | changes | new_time
    assert second.json["data"] == before | {field: DEFAULTS.get(field)} | new_time


def test_an_update_to_the_same_values_stores_nothing(deployment: Deployment) -> None:
    before = deployment.api.call("PATCH", URL, {"linger_seconds": 30}).json["data"]
    deployment.clock.advance(seconds=1)

    assert deployment.api.call("PATCH", URL, {}).json["data"] == before
    assert deployment.api.call("PATCH", URL, {"linger_seconds": 30}).json["data"] == before


@for_each(
    ("body", "field"),
    [
        ({"nmae": "x"}, "nmae"),
        ({"paused_at": None}, "paused_at"),
        ({"approval": "optional"}, "approval"),
        ({"approval": True}, "approval"),
        ({"linger_seconds": -1}, "linger_seconds"),
        ({"linger_seconds": 1501}, "linger_seconds"),
        ({"linger_seconds": "60"}, "linger_seconds"),
        ({"linger_seconds": True}, "linger_seconds"),
        ({"batch_size": 0}, "batch_size"),
        ({"batch_size": 21}, "batch_size"),
        ({"batch_size": "5"}, "batch_size"),
        ({"read_batch_size": 0}, "read_batch_size"),
        ({"read_batch_size": 21}, "read_batch_size"),
        ({"settle": "no"}, "settle"),
        ({"settle": 0}, "settle"),
        ({"webhook_url": "http://127.0.0.1/"}, "webhook_url"),
        ({"webhook_events": "connection.*"}, "webhook_events"),
        ({"webhook_events": [1]}, "webhook_events"),
        ({"webhook_events": ["connection.stalled", "connection.stale"]}, "webhook_events"),
        ({"webhook_events": ["connection.*"] * 8}, "webhook_events"),
        ({"sync_window": "22:00-06:00"}, "sync_window"),
        ({"sync_window": {"from": "22:00", "to": "06:00"}}, "sync_window.time_zone"),
        ({"sync_window": NIGHT | {"days": []}}, "sync_window.days"),
        ({"sync_window": NIGHT | {"from": "25:00"}}, "sync_window.from"),
        ({"sync_window": NIGHT | {"from": "06:00"}}, "sync_window.to"),
        ({"sync_window": NIGHT | {"time_zone": "New York"}}, "sync_window.time_zone"),
        ({"sync_window": NIGHT | {"from": 22}}, "sync_window.from"),
    ],
)
@for_each("method", ["PATCH", "POST"])
def test_a_wrong_setting_is_refused_by_name(
    deployment: Deployment, method: str, body: dict[str, Any], field: str
) -> None:
    response = deployment.api.call(method, URL if method == "PATCH" else "/api/v1/connections", body)

    assert (response.status, response.problem["field"]) == (400, field)


def test_a_wrong_time_zone_is_refused_with_the_nearest(deployment: Deployment) -> None:
    response = deployment.api.call("PATCH", URL, {"sync_window": NIGHT | {"time_zone": "New York"}})

    assert response.problem["suggestion"] == "Did you mean America/New_York?"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("stalled", "Did you mean connection.stalled?"),
        ("connections.Stalled", "Did you mean connection.stalled?"),
        ("*", "Did you mean connection.*?"),
        ("connection", "Did you mean connection.*?"),
        ("connection.stale", "Use connection.*, connection.connected, connection.stalled, "),
        ("queued_request.completed", "always gets its event, so leave it out"),
        ("query.completed", "only in the feed, GET /events"),
    ],
)
def test_a_wrong_webhook_event_is_refused_with_its_place_and_the_way_to_mend_it(
    deployment: Deployment, name: str, message: str
) -> None:
    response = deployment.api.call("PATCH", URL, {"webhook_events": ["connection.connected", name]})

    assert (response.problem["field"], response.problem["index"]) == ("webhook_events", 1)
    assert message in response.problem["message"]


def test_a_webhook_event_that_is_given_twice_is_stored_once(deployment: Deployment) -> None:
    events = ["connection.stalled", "connection.connected", "connection.stalled"]

    connection = deployment.api.call("PATCH", URL, {"webhook_events": events}).json["data"]

    assert connection["webhook_events"] == events[:2]


def test_a_changed_webhook_url_is_the_default_for_new_requests(deployment: Deployment) -> None:
    def queue() -> str | None:
        url: str | None = deployment.api.call("GET", f"{URL}/customers").json["data"]["webhook_url"]
        return url

    assert queue() is None

    deployment.api.call("PATCH", URL, {"webhook_url": "https://shop.example/hook"})

    assert queue() == "https://shop.example/hook"


def test_pausing_and_resuming_again_does_nothing(deployment: Deployment) -> None:
    connection = deployment.api.call("POST", f"{URL}/pause").json["data"]
    deployment.clock.advance(seconds=5)
    second = deployment.api.call("POST", f"{URL}/pause").json["data"]
    after = deployment.api.call("POST", f"{URL}/resume").json["data"]
    deployment.clock.advance(seconds=5)

    assert connection["paused_at"] == "2026-03-14T12:00:00.000000Z"
    assert second == connection
    assert after["paused_at"] is None
    assert deployment.api.call("POST", f"{URL}/resume").json["data"] == after


def test_a_request_can_be_queued_while_the_connection_is_paused(deployment: Deployment) -> None:
    deployment.api.call("POST", f"{URL}/pause")

    assert deployment.api.call("GET", f"{URL}/customers").json["data"]["state"] == "waiting"


def test_a_pause_reaches_the_live_session_and_keeps_its_last_call(deployment: Deployment) -> None:
    session = open_session(deployment)
    deployment.clock.advance(seconds=5)

    deployment.api.call("POST", f"{URL}/pause")
    during = deployment.store.session(session.id)
    deployment.api.call("POST", f"{URL}/resume")
    after = deployment.store.session(session.id)

    assert during == replace(session, limits=Limits(paused=True), revision=2)
    assert after == replace(session, revision=3)


def test_an_ended_session_does_not_change(deployment: Deployment) -> None:
    session = open_session(deployment, ended=True)

    assert deployment.api.call("POST", f"{URL}/pause").status == 200
    assert deployment.store.session(session.id) == session


@pytest.mark.parametrize(("method", "path"), [("PATCH", ""), ("POST", "/pause"), ("POST", "/resume")])
def test_only_the_owner_with_a_full_key_can_change_a_connection(deployment: Deployment, method: str, path: str) -> None:
    body: dict[str, str] | None = {} if method == "PATCH" else None

    assert deployment.stranger.call(method, URL + path, body).status == 404
    assert deployment.readonly.call(method, URL + path, body).status == 403
    assert deployment.api.call("DELETE", URL).status == 204
    assert deployment.api.call(method, URL + path, body).status == 404
