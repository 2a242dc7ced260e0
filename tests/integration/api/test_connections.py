"""Connections: create, list, get, password, file, delete, through the functions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from domain.connections import passwords
from domain.listing.connection_counts import counts_of
from domain.records.request import RequestError, State
from domain.records.session import SILENCE_SECONDS
from domain.storage.changes import ChangeRequest, Put
from handlers import operate
from tests.support.builders import CONNECTION_ID, a_session

if TYPE_CHECKING:
    from tests.integration.api.conftest import Deployment

URL = f"/api/v1/connections/{CONNECTION_ID}"


def open_session(deployment: Deployment) -> None:
    """Open a Web Connector session of the connection."""
    before = deployment.store.connection(CONNECTION_ID)
    assert before
    session = a_session()
    deployment.store.commit(
        Put(None, session),
        Put(before, replace(before, session_id=session.id).changed(session.last_call_at)),
    )


def test_a_repeated_call_with_a_key_returns_the_connection_of_the_first_one(deployment: Deployment) -> None:
    def create(body: dict[str, Any], key: str = "customer-7") -> Any:
        return deployment.api.call("POST", "/api/v1/connections", body, headers={"Idempotency-Key": key})

    first, again = create({"name": "Head office"}), create({"name": "Head office"})
    other, refused = create({"name": "Head office"}, "customer-8"), create({"name": "Warehouse"})
    made = first.json["data"]
    assert deployment.api.call("DELETE", f"/api/v1/connections/{made['id']}").status == 204
    deleted, simulated = create({"name": "Head office"}), create({"simulated": {"company": "empty"}}, "customer-9")

    assert [one.status for one in (first, again, other, refused, deleted)] == [201, 200, 201, 409, 410]
    assert again.json["data"] == made
    assert other.json["data"]["id"] != made["id"]
    assert refused.json["error"]["code"] == "idempotency_key_reused"
    assert refused.json["error"]["details"] == {"connection_id": made["id"]}
    assert (simulated.status, simulated.json["error"]["details"]["problems"][0]["field"]) == (400, "Idempotency-Key")


def test_a_repeated_call_returns_the_connection_with_which_the_limit_was_reached(deployment: Deployment) -> None:
    operate.handler({"operation": "set_limits", "app_id": deployment.app_id, "connections": "2"}, None)
    key = {"Idempotency-Key": "customer-7"}

    calls = [deployment.api.call("POST", "/api/v1/connections", {}, headers=headers) for headers in (key, key, {})]

    assert [call.status for call in calls] == [201, 200, 429]


def test_a_connection_has_the_fields_of_the_contract(deployment: Deployment) -> None:
    body = {"name": "Head office", "company_file": r"C:\Books\Shop.qbw", "webhook_url": "https://shop.example/hook"}

    response = deployment.api.call("POST", "/api/v1/connections", body)

    data = response.json["data"]
    assert response.status == 201
    assert data == {
        "id": data["id"],
        "app_id": deployment.app_id,
        "username": data["id"],
        **body,
        "last_connected_at": None,
        "status": "never_connected",
        "quickbooks_status": "never_connected",
        "quickbooks_answered_at": None,
        "company_name": None,
        "qbxml_version": None,
        "quickbooks_product_name": None,
        "quickbooks_version": None,
        "country": None,
        "last_error": None,
        "login_failed_at": None,
        "password_changed_at": None,
        "company_file_pinned": True,
        "company_file_paths": [],
        "webhook_events": [],
        "approval": None,
        "sync_window": None,
        "linger_seconds": 0,
        "batch_size": 1,
        "read_batch_size": 20,
        "settle": True,
        "simulated": False,
        "paused_at": None,
        "copied_at": None,
        "next_session_at": None,
        "waiting_reason": data["waiting_reason"],
        "warnings": [],
        "redirect_url": None,
        "onboarding_expires_at": None,
        "links": {
            "self": f"/api/v1/connections/{data['id']}",
            "ui": f"/app/connections/{data['id']}",
            "onboarding": None,
        },
        "inserted_at": "2026-03-14T12:00:00.000000Z",
        "updated_at": "2026-03-14T12:00:00.000000Z",
    }
    assert data["waiting_reason"]["code"] == "never_connected"
    assert deployment.api.call("GET", data["links"]["self"]).json["data"] == data


@pytest.mark.parametrize("body", [None, {}, {"name": None}])
def test_every_setting_of_a_new_connection_is_optional(deployment: Deployment, body: dict[str, Any] | None) -> None:
    assert deployment.api.call("POST", "/api/v1/connections", body).status == 201


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": 1}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"company_file": "x" * 501}, "company_file"),
        ({"name": "two\nlines"}, "name"),
        ({"company_file": "C:\\\x00.qbw"}, "company_file"),
        ({"nmae": "x"}, "nmae"),
    ],
)
def test_a_wrong_field_is_refused_by_name(deployment: Deployment, body: dict[str, Any], field: str) -> None:
    response = deployment.api.call("POST", "/api/v1/connections", body)

    assert (response.status, response.problem["field"]) == (400, field)
    assert "Value error" not in response.text


def test_an_app_lists_its_own_connections_page_by_page(deployment: Deployment) -> None:
    for _ in range(2):
        deployment.api.call("POST", "/api/v1/connections")

    first = deployment.api.call("GET", "/api/v1/connections?page_size=2").json
    second = deployment.api.call("GET", "/api/v1/connections?page_size=2&page=2").json
    strangers = deployment.stranger.call("GET", "/api/v1/connections").json

    assert (len(first["data"]), first["page"], first["total_pages"]) == (2, 1, 2)
    assert (len(second["data"]), second["page"]) == (1, 2)
    assert len({item["id"] for item in first["data"] + second["data"]}) == 3
    assert strangers == {"data": [], "page": 1, "total_pages": 0}


def test_a_given_password_is_set(deployment: Deployment) -> None:
    response = deployment.api.call("POST", f"{URL}/password", {"password": "correct horse battery"})

    connection = deployment.store.connection(CONNECTION_ID)
    assert response.json == {"data": {"id": CONNECTION_ID, "password": "correct horse battery"}}
    assert connection
    assert passwords.matches("correct horse battery", connection.password_hash)


@pytest.mark.parametrize("body", [None, {}, {"password": None}])
def test_a_password_is_generated_if_none_is_given(deployment: Deployment, body: dict[str, Any] | None) -> None:
    first = deployment.api.call("POST", f"{URL}/password", body).json["data"]["password"]
    second = deployment.api.call("POST", f"{URL}/password", body).json["data"]["password"]

    assert first != second
    assert len(second) >= 20


@pytest.mark.parametrize("password", ["", "x" * 11, "x" * 129, "tabs\tare\tnot\ttyped", 5, ["x" * 20]])
def test_a_password_of_another_length_or_type_is_refused(deployment: Deployment, password: Any) -> None:
    response = deployment.api.call("POST", f"{URL}/password", {"password": password})

    connection = deployment.store.connection(CONNECTION_ID)
    assert (response.status, response.problem["field"]) == (400, "password")
    assert connection
    assert connection.password_hash is None


def test_a_reset_lifts_the_pin_and_clears_the_mismatch(deployment: Deployment) -> None:
    before = deployment.store.connection(CONNECTION_ID)
    assert before
    error = {"code": "company_file_mismatch", "message": "another file", "at": before.updated_at}
    deployment.store.commit(Put(before, replace(before, last_error=error).changed(before.updated_at)))

    first = deployment.api.call("POST", f"{URL}/reset_company_file")
    second = deployment.api.call("POST", f"{URL}/reset_company_file")

    assert (first.status, second.status) == (200, 200)
    assert first.json["data"]["last_error"] is None
    assert second.json["data"]["company_file_pinned"] is False
    assert deployment.stranger.call("POST", f"{URL}/reset_company_file").status == 404


def test_a_company_file_at_another_path_is_accepted_by_a_call(deployment: Deployment) -> None:
    store = deployment.store
    before = store.connection(CONNECTION_ID)
    assert before
    error = {
        "code": "company_file_moved",
        "message": "at another path",
        "path": "D:\\acme.qbw",
        "at": before.updated_at,
    }
    after = replace(before, last_error=error, company_file_paths=("C:\\acme.qbw",)).changed(before.updated_at)
    store.commit(Put(before, after))

    first = deployment.api.call("POST", f"{URL}/accept_company_file")
    second = deployment.api.call("POST", f"{URL}/accept_company_file")

    assert first.status == 200
    assert first.json["data"]["last_error"] is None
    assert first.json["data"]["company_file_paths"] == ["C:\\acme.qbw", "D:\\acme.qbw"]
    assert (second.status, second.json["error"]["code"]) == (400, "invalid_state")
    assert deployment.stranger.call("POST", f"{URL}/accept_company_file").status == 404


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_the_qwc_file_has_the_url_of_the_call(deployment: Deployment, method: str) -> None:
    response = deployment.api.call(method, f"{URL}/qwc")

    assert response.status == 200
    assert list(response.json) == ["qwc"]
    assert "<AppURL>https://queue.example.com/live/qbwc</AppURL>" in response.json["qwc"]
    assert f"<UserName>{CONNECTION_ID}</UserName>" in response.json["qwc"]


def test_an_apps_qwc_files_have_one_owner_id_and_different_file_ids(deployment: Deployment) -> None:
    """A session recognises another connection's company file by its mark."""
    files = []
    for _ in range(2):
        connection = deployment.api.call("POST", "/api/v1/connections", {}).json["data"]
        files.append(deployment.api.call("GET", f"{connection['links']['self']}/qwc").json["qwc"])

    assert all(f"<OwnerID>{{{deployment.app_id.upper()}}}</OwnerID>" in text for text in files)
    assert len({text.partition("<FileID>")[2][:38] for text in files}) == 2


def test_accept_selects_the_qwc_file_itself(deployment: Deployment) -> None:
    response = deployment.api.call("GET", f"{URL}/qwc", headers={"accept": "application/x-qwc"})

    assert response.headers["Content-Type"] == "application/x-qwc"
    assert response.headers["Content-Disposition"] == f'attachment; filename="{CONNECTION_ID}.qwc"'
    assert response.text.startswith("<?xml")


def test_a_deleted_connection_is_not_found_and_its_password_is_refused(deployment: Deployment) -> None:
    deployment.api.call("POST", f"{URL}/password")

    response = deployment.api.call("DELETE", URL)

    connection = deployment.store.connection(CONNECTION_ID)
    assert (response.status, response.text) == (204, "")
    assert deployment.api.call("GET", URL).status == 404
    assert deployment.api.call("DELETE", URL).status == 404
    assert deployment.api.call("GET", "/api/v1/connections").json["data"] == []
    assert deployment.api.call("POST", deployment.requests_url, {"request_json": {}}).status in {400, 404}
    assert connection
    assert connection.password_hash is None


def test_a_connection_with_a_live_session_is_not_deleted(deployment: Deployment) -> None:
    open_session(deployment)

    response = deployment.api.call("DELETE", URL)

    assert (response.status, response.code) == (409, "connection_active")
    assert deployment.api.call("GET", URL).status == 200


def test_a_silent_session_does_not_prevent_deletion(deployment: Deployment) -> None:
    open_session(deployment)
    deployment.clock.advance(seconds=SILENCE_SECONDS + 1)

    assert deployment.api.call("DELETE", URL).status == 204

    assert all(session.ended for session in deployment.store.sessions.values())


@pytest.mark.parametrize(
    "path",
    [
        "/support",
        "/app",
        f"/app/connections/{CONNECTION_ID}",
        "/app/queued_requests/f0000000-0000-4000-8000-00000000000f",
    ],
)
def test_pages_answer_without_a_key(deployment: Deployment, path: str) -> None:
    deployment.api.key = None

    response = deployment.api.call("GET", path)

    assert response.status == 200
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"


def test_nothing_of_a_deleted_connection_is_found(deployment: Deployment) -> None:
    """Its records are still stored, but no path leads to them, and nothing can change them."""
    request = {"request_json": {"request": {"name": "CustomerQueryRq"}}}
    waiting_id, discarded_id, deleted_id = (
        deployment.api.call("POST", deployment.requests_url, request).json["data"]["id"] for _ in range(3)
    )
    for request_id in (discarded_id, deleted_id):
        assert deployment.api.call("POST", f"/api/v1/queued_requests/{request_id}/discard").status == 200
    assert deployment.api.call("DELETE", f"/api/v1/queued_requests/{deleted_id}").status == 204

    assert deployment.api.call("DELETE", URL).status == 204

    assert len(deployment.store.records) == 3
    for request_id in (waiting_id, discarded_id, deleted_id):
        for path in (f"/api/v1/queued_requests/{request_id}", f"{deployment.requests_url}/{request_id}"):
            assert deployment.api.call("GET", path).status == 404
            assert deployment.api.call("DELETE", path).status == 404
            assert deployment.api.call("POST", f"{path}/discard").status == 404
            assert deployment.api.call("POST", f"{path}/redeliver").status == 404
    for query in ("", "?state=waiting", "?search_phrase=Customer", "?page=9"):
        assert deployment.api.call("GET", deployment.requests_url + query).status == 404
    assert deployment.api.call("POST", deployment.requests_url, request).status == 404
    assert deployment.api.call("GET", f"{URL}/customers").status == 404
    assert deployment.api.call("GET", f"{URL}/qwc").status == 404
    assert deployment.api.call("POST", f"{URL}/password").status == 404


# --- The numbers of requests with the list


def test_the_list_has_the_numbers_of_requests_that_the_list_of_requests_has(deployment: Deployment) -> None:
    waiting, failed, *_ = [deployment.queue()["id"] for _ in range(4)]
    deployment.end(failed, State.ERROR, error=RequestError("quickbooks_error", "no"))
    in_flight = deployment.stored_record(waiting)
    deployment.store.commit(ChangeRequest(in_flight, in_flight.claimed("", deployment.clock())))
    other = deployment.api.call("POST", "/api/v1/connections", {}).json["data"]["id"]

    listed = deployment.api.call("GET", "/api/v1/connections?counts=true").json["data"]

    counts = {connection["id"]: connection["counts"] for connection in listed}
    assert counts[CONNECTION_ID] == deployment.api.call("GET", f"{URL}/queued_requests").json["counts"]
    assert {state: number for state, number in counts[CONNECTION_ID].items() if number} == {
        "waiting": 2,
        "ticketed": 1,
        "error": 1,
    }
    assert set(counts[other].values()) == {0}


@pytest.mark.parametrize("query", ["", "?counts=false", "?page=9&counts=true"])
def test_the_list_has_no_numbers_unless_they_are_asked_for(deployment: Deployment, query: str) -> None:
    response = deployment.api.call("GET", f"/api/v1/connections{query}")

    assert response.status == 200
    assert all("counts" not in connection for connection in response.json["data"])


def test_a_connection_that_is_deleted_while_it_is_counted_has_no_numbers(deployment: Deployment) -> None:
    before = deployment.store.connection(CONNECTION_ID)
    assert before
    deployment.store.commit(Put(before, replace(before, deleted_at=before.updated_at).changed(before.updated_at)))

    assert counts_of(deployment.store, [CONNECTION_ID]) == {}
