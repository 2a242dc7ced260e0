"""Test connections: what the service does for them, and that others pay nothing for them."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from adapters.simulators import LambdaSimulators
from domain.connections.passwords import matches
from domain.connections.simulators import COMPANIES, MAX_DAYS
from domain.errors import TestConnectionsOff as Off
from domain.errors import Unavailable
from domain.maintenance.stopped_connections import StoppedConnections
from domain.maintenance.sweep import SETTLED_AFTER, sweep
from handlers import operate
from simulator.hosted import kept
from tests.support.builders import CONNECTION_ID, REQUEST_XML
from tests.support.simulators import STATE, NotedSimulators

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.integration.api.conftest import Deployment

WHOLESALE = {"simulated": {"company": "wholesale"}}
OPERATIONS = [
    ("GET", "", None, ("show", {})),
    ("POST", "/reset", None, ("reset", {})),
    ("POST", "/advance", None, ("advance", {"days": 1})),
    ("POST", "/advance", {"days": 30}, ("advance", {"days": 30})),
    ("POST", "/faults", {"steps": [{"on": "session"}]}, ("faults", {"steps": [{"on": "session"}], "expect": {}})),
]
QUEUEING = [
    ("POST", "/queued_requests", {"request_xml": REQUEST_XML}),
    ("POST", "/queued_requests/batch", {"requests": [{"request_xml": REQUEST_XML}] * 2}),
    ("POST", "/customers", None),
    ("POST", "/resume", None),
]


@pytest.fixture
def simulators(deployment: Deployment) -> NotedSimulators:
    deployment.services.simulators = noted = NotedSimulators()
    return noted


def created(deployment: Deployment, **settings: Any) -> dict[str, Any]:
    response = deployment.api.call("POST", "/api/v1/connections", WHOLESALE | settings)
    assert response.status == 201
    data: dict[str, Any] = response.json["data"]
    return data


def path_of(connection: Mapping[str, Any]) -> str:
    return f"/api/v1/connections/{connection['id']}"


def test_a_test_connection_has_a_simulator_with_the_only_copy_of_its_password(
    deployment: Deployment, simulators: NotedSimulators
) -> None:
    connection = created(deployment, name="Tests")

    ((connection_id, operation, arguments),) = simulators.calls
    stored = deployment.store.connections[connection_id]
    assert (connection_id, operation, arguments["company"]) == (connection["id"], "create", "wholesale")
    assert f"<UserName>{connection_id}</UserName>" in arguments["qwc"]
    assert stored.simulated
    assert stored.password_hash
    assert matches(arguments["password"], stored.password_hash)
    assert arguments["password"] not in repr(stored)
    assert connection["simulated"] is True
    assert deployment.api.call("GET", path_of(connection)).json["data"]["simulated"] is True


def test_a_connection_whose_simulator_cannot_be_made_is_not_stored(deployment: Deployment) -> None:
    before = dict(deployment.store.connections)
    deployment.services.simulators = LambdaSimulators(lambda _: None, lambda: "", lambda: "")

    response = deployment.api.call("POST", "/api/v1/connections", WHOLESALE)

    assert (response.status, response.json["error"]["code"]) == (409, "test_connections_off")
    assert "TestConnections=on" in response.json["error"]["message"]
    assert deployment.store.connections == before


@pytest.mark.parametrize("simulated", [{"company": "large"}, {}, True, {"company": "empty", "seed": 1}])
def test_another_company_is_refused(deployment: Deployment, simulators: NotedSimulators, simulated: Any) -> None:
    response = deployment.api.call("POST", "/api/v1/connections", {"simulated": simulated})

    assert response.status == 400
    assert simulators.calls == []


def test_a_test_connection_counts_towards_the_quota_of_connections(
    deployment: Deployment, simulators: NotedSimulators
) -> None:
    limits = {"operation": "set_limits", "app_id": deployment.app_id, "connections": "2"}
    assert "limits" in operate.handler(limits, None)
    created(deployment)

    response = deployment.api.call("POST", "/api/v1/connections", WHOLESALE)

    assert (response.status, response.json["error"]["code"]) == (429, "quota_exceeded")
    assert len(simulators.calls) == 1


@pytest.mark.parametrize(("method", "path", "body"), QUEUEING)
def test_what_queues_or_resumes_wakes_a_test_connection_and_no_other_one(
    deployment: Deployment, simulators: NotedSimulators, method: str, path: str, body: Any
) -> None:
    connection = created(deployment)

    assert deployment.api.call(method, path_of(connection) + path, body).status in {200, 201, 202}
    assert deployment.api.call(method, f"/api/v1/connections/{CONNECTION_ID}{path}", body).status in {200, 201, 202}

    assert simulators.woken == [connection["id"]]


@pytest.mark.parametrize(("method", "path", "body"), [each for each in QUEUEING if each[1] != "/resume"])
def test_the_requests_of_a_test_connection_say_so_and_those_of_others_do_not(
    deployment: Deployment, simulators: NotedSimulators, method: str, path: str, body: Any
) -> None:
    del simulators
    for connection_path, expected in (
        (path_of(created(deployment)), True),
        (f"/api/v1/connections/{CONNECTION_ID}", None),
    ):
        queued = deployment.api.call(method, connection_path + path, body).json["data"]
        records = queued if isinstance(queued, list) else [queued]
        listed = deployment.api.call("GET", f"{connection_path}/queued_requests").json["data"]

        assert {record.get("simulated") for record in [*records, *listed]} == {expected}
        again = deployment.api.call("POST", f"{connection_path}/queued_requests/{listed[0]['id']}/discard")
        assert again.json["data"].get("simulated") is expected


@pytest.mark.parametrize("has_connected", [False, True])
def test_a_request_of_a_test_connection_waits_for_its_simulator_and_for_no_machine(
    deployment: Deployment, simulators: NotedSimulators, has_connected: bool
) -> None:
    del simulators
    path = path_of(created(deployment))
    connection_id = path.rpartition("/")[2]
    if has_connected:
        at = deployment.clock().isoformat()
        known = deployment.store.connections[connection_id]
        deployment.store.connections[connection_id] = replace(known, last_connected_at=at)
    deployment.api.call("POST", f"{path}/queued_requests", {"request_xml": REQUEST_XML})
    deployment.clock.advance(days=30)

    (request,) = deployment.api.call("GET", f"{path}/queued_requests").json["data"]
    assert request["waiting_reason"]["code"] == "next_session"
    assert "simulator" in request["waiting_reason"]["message"]
    assert f"{path}/simulator" in request["waiting_reason"]["hint"]
    assert deployment.api.call("GET", path).json["data"]["waiting_reason"] is None


def test_a_request_is_queued_although_its_simulator_cannot_be_woken(
    deployment: Deployment, simulators: NotedSimulators, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = created(deployment)

    def failing(_: str) -> None:
        raise TimeoutError

    monkeypatch.setattr(simulators, "wake", failing)
    response = deployment.api.call("POST", f"{path_of(connection)}/queued_requests", {"request_xml": REQUEST_XML})

    assert response.status == 201


def test_the_sweep_wakes_test_connections_while_requests_wait(
    deployment: Deployment, simulators: NotedSimulators
) -> None:
    connection = created(deployment)
    look = StoppedConnections(deployment.store, deployment.clock, simulators.wake).look_at

    look(connection["id"], deployment.store.day_counts(connection["id"]))
    assert simulators.woken == []
    deployment.api.call("POST", f"{path_of(connection)}/queued_requests", {"request_xml": REQUEST_XML})
    simulators.woken.clear()
    deployment.queue()
    for connection_id in (connection["id"], CONNECTION_ID):
        look(connection_id, deployment.store.day_counts(connection_id))

    assert simulators.woken == [connection["id"]]


def test_the_company_is_deleted_before_the_connection_and_again_after_a_failure(
    deployment: Deployment, simulators: NotedSimulators
) -> None:
    connection = created(deployment)
    assert deployment.api.call("DELETE", path_of(connection)).status == 204
    forgotten: list[str] = []
    failures: list[Exception] = []

    def swept(forget: Any) -> None:
        until = deployment.clock.advance(minutes=16) + timedelta(minutes=5)
        sweep(deployment.store, deployment.clock, until, lambda error, _: failures.append(error), forget)

    def failing(_: str) -> None:
        raise TimeoutError

    assert timedelta(minutes=16) > SETTLED_AFTER
    swept(failing)
    assert connection["id"] in deployment.store.connections
    swept(forgotten.append)

    assert forgotten == [connection["id"]]
    assert connection["id"] not in deployment.store.connections
    assert [type(error) for error in failures] == [TimeoutError]
    assert simulators.calls[1:] == []


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_operation_reaches_the_simulator_of_the_connection(
    deployment: Deployment, simulators: NotedSimulators, operation: tuple[str, str, Any, Any]
) -> None:
    method, path, body, expected = operation
    connection = created(deployment)

    response = deployment.api.call(method, f"{path_of(connection)}/simulator{path}", body)

    assert (response.status, response.json) == (200, {"data": STATE})
    assert simulators.calls[1:] == [(connection["id"], *expected)]


def test_the_books_are_shown_with_the_parameters_of_the_inspection_api(
    deployment: Deployment, simulators: NotedSimulators
) -> None:
    connection = created(deployment)
    query = "path=transactions/Invoice&search=Ada&limit=5&order=newest"

    response = deployment.readonly.call("GET", f"{path_of(connection)}/simulator/books?{query}")

    assert response.json["data"] == {"path": "transactions/Invoice", "shown": STATE}
    parameters = {"search": "Ada", "limit": "5", "order": "newest"}
    assert simulators.calls[1:] == [
        (connection["id"], "books", {"path": "transactions/Invoice", "parameters": parameters})
    ]


@pytest.mark.parametrize("query", ["path=../x", "path=a/b/c/d", "limit=501", "order=oldest", "view=all", "limit=1_0"])
def test_a_wrong_parameter_of_the_books_is_refused(
    deployment: Deployment, simulators: NotedSimulators, query: str
) -> None:
    connection = created(deployment)

    assert deployment.api.call("GET", f"{path_of(connection)}/simulator/books?{query}").status == 400
    assert len(simulators.calls) == 1


@pytest.mark.parametrize("operation", OPERATIONS)
def test_only_test_connections_of_the_app_have_a_simulator(
    deployment: Deployment, simulators: NotedSimulators, operation: tuple[str, str, Any, Any]
) -> None:
    method, path, body, _ = operation
    connection = created(deployment)
    plain = deployment.api.call(method, f"/api/v1/connections/{CONNECTION_ID}/simulator{path}", body)
    others = deployment.stranger.call(method, f"{path_of(connection)}/simulator{path}", body)

    assert (plain.status, plain.json["error"]["code"]) == (400, "invalid_state")
    assert others.status == 404
    if method == "POST":
        assert deployment.readonly.call(method, f"{path_of(connection)}/simulator{path}", body).status == 403
    assert len(simulators.calls) == 1


@pytest.mark.parametrize(
    ("code", "status", "error"),
    [("invalid", 400, "invalid_request"), ("not_found", 404, "not_found"), ("changed", 429, "too_many_requests")],
)
def test_what_a_simulator_refuses_is_an_error_of_the_call(
    deployment: Deployment, simulators: NotedSimulators, code: str, status: int, error: str
) -> None:
    connection = created(deployment)
    simulators.answer = {"error": {"code": code, "message": "is too late"}}

    response = deployment.api.call("POST", f"{path_of(connection)}/simulator/advance")

    assert (response.status, response.json["error"]["code"]) == (status, error)
    assert "is too late" in response.json["error"]["message"]


def test_the_password_and_the_kind_of_a_test_connection_stay(
    deployment: Deployment, simulators: NotedSimulators
) -> None:
    path = path_of(created(deployment))
    before = deployment.store.connections[path.rpartition("/")[2]]

    for call in ("password", "onboarding_url"):
        response = deployment.api.call("POST", f"{path}/{call}")
        assert (response.status, response.json["error"]["code"]) == (400, "invalid_state")
    assert deployment.api.call("PATCH", path, {"simulated": None}).status == 400
    assert deployment.api.call("PATCH", path, {"name": "New"}).json["data"]["simulated"] is True

    after = deployment.store.connections[before.id]
    assert after.password_hash == before.password_hash
    assert len(simulators.calls) == 1


def test_a_connection_is_no_test_connection_unless_it_says_so(deployment: Deployment) -> None:
    for body in ({}, {"simulated": None}):
        response = deployment.api.call("POST", "/api/v1/connections", body)
        assert response.json["data"]["simulated"] is False


# --- the adapter


class Client:
    """Stands for botocore's clients of SQS and Lambda."""

    def __init__(self, response: Mapping[str, Any] | None = None) -> None:
        self.response = response or {}
        self.calls: list[dict[str, Any]] = []

    def send_message(self, **parameters: Any) -> None:
        self.calls.append(parameters)

    def invoke(self, **parameters: Any) -> Mapping[str, Any]:
        self.calls.append(parameters)
        return self.response


def adapter(client: Client) -> LambdaSimulators:
    return LambdaSimulators(lambda _: client, lambda: "function", lambda: "https://queue.example")


def test_each_message_wakes_its_connection_and_none_is_taken_for_a_repetition() -> None:
    client = Client()

    adapter(client).wake(CONNECTION_ID)
    adapter(client).wake(CONNECTION_ID)

    assert {call["MessageGroupId"] for call in client.calls} == {CONNECTION_ID}
    assert {call["MessageBody"] for call in client.calls} == {json.dumps({"connection_id": CONNECTION_ID})}
    assert len({call["MessageDeduplicationId"] for call in client.calls}) == 2


def test_a_function_that_fails_is_unavailable() -> None:
    def payload(value: Any) -> io.BytesIO:
        return io.BytesIO(json.dumps(value).encode())

    succeeding = Client({"Payload": payload({"data": {"company": "empty"}})})
    failing = Client({"Payload": payload({"errorType": "Died"}), "FunctionError": "Unhandled"})

    assert adapter(succeeding).call(CONNECTION_ID, "show") == {"data": {"company": "empty"}}
    assert json.loads(succeeding.calls[0]["Payload"]) == {"operation": "show", "connection_id": CONNECTION_ID}
    with pytest.raises(Unavailable, match="Died"):
        adapter(failing).call(CONNECTION_ID, "show")


def test_without_test_connections_nothing_is_called() -> None:
    client = Client()
    off = LambdaSimulators(lambda _: client, lambda: "", lambda: "")

    for call in (lambda: off.wake(CONNECTION_ID), lambda: off.call(CONNECTION_ID, "show")):
        with pytest.raises(Off):
            call()
    assert client.calls == []


def test_service_and_simulator_agree_although_they_share_no_code() -> None:
    assert (COMPANIES, MAX_DAYS) == (kept.COMPANIES, kept.MAX_DAYS)
