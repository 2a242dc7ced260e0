"""Helpers for end-to-end tests on a running stack."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from local.command import invoke, local_client
from local.first_steps import Api
from simulator.company import Company, Snapshot
from simulator.runs.scheduler import Simulator
from tests.support.api_response import ApiResponse

if TYPE_CHECKING:
    import queue
    from collections.abc import Callable

    from local.lambda_api import Operator
    from local.receiver import Webhook
    from simulator.web_connector.connector import SessionResult

PATIENCE_SECONDS = 45
"""How long a slow emulator may take for work that the stack does by itself."""

QUERY = {"request": {"name": "CustomerQueryRq", "children": [{"name": "MaxReturned", "text": "2"}]}}


@cache
def _contents() -> Snapshot:
    return Company.generated().snapshot()


def generated_company() -> Company:
    """Return what `Company.generated` returns, from a copy: generating takes half a second."""
    company = Company.empty()
    company.restore(_contents())
    return company


@dataclass(frozen=True, slots=True)
class Service:
    """A running stack: its credentials, its API with a full key, a receiver for its webhooks."""

    base_url: str
    app_id: str
    api_key: str
    operator: Operator
    webhook_url: str
    webhooks: queue.Queue[Webhook]
    applies_gateway_responses: bool

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        key: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> ApiResponse:
        """Call the API with `key`, or with the app's key if there is none."""
        response = Api(self.base_url, self.api_key if key is None else key).request(method, path, body, headers)
        return ApiResponse(response.status, response.headers, response.data.decode())

    def operate(self, operation: str, **arguments: str) -> dict[str, Any]:
        """Call the operator's function."""
        event = {"operation": operation, **arguments}
        return invoke(local_client(self.operator), self.operator.function, event)

    def connection(self) -> Connection:
        """Create a connection with a password."""
        data = self.call("POST", "/api/v1/connections", {"name": "Test"}).json["data"]
        at = f"/api/v1/connections/{data['id']}"
        password = self.call("POST", f"{at}/password").json["data"]["password"]
        return Connection(self, data["id"], password)

    def webhook_about(self, request_id: str) -> Webhook:
        """Wait for the webhook with this id. Webhooks of other requests that arrive meanwhile are dropped."""
        while True:
            webhook = self.webhooks.get(timeout=PATIENCE_SECONDS)
            if webhook.id == request_id:
                return webhook


@dataclass(frozen=True, slots=True)
class Connection:
    """A connection with a simulated Web Connector and a company file that has the connection's mark."""

    service: Service
    id: str
    password: str
    company: Company = field(default_factory=generated_company)

    @property
    def path(self) -> str:
        return f"/api/v1/connections/{self.id}"

    def queue(self, body: dict[str, Any]) -> Any:
        """Queue a request and return its record."""
        response = self.service.call("POST", f"{self.path}/queued_requests", body)
        assert response.status == 201, response.text
        return response.json["data"]

    def record(self, request_id: str) -> Any:
        """Return a record as it is now."""
        response = self.service.call("GET", f"/api/v1/queued_requests/{request_id}")
        assert response.status == 200, response.text
        return response.json["data"]

    def run_session(self, sleep: Callable[[float], object] = time.sleep) -> SessionResult:
        """Run one Web Connector session, with QuickBooks behind it; `sleep` waits where the service says NoOp."""
        qwc = self.service.call("POST", f"{self.path}/qwc").json["qwc"]
        return Simulator(qwc, self.password, self.company, sleep=sleep).run_once()


def eventually(
    look: Callable[[], Any], condition: Callable[[Any], bool], patience_seconds: int = PATIENCE_SECONDS
) -> Any:
    """Return the first result of `look` that meets the condition. Fail if that takes too long."""
    pause = threading.Event()
    for _ in range(patience_seconds * 10):
        value = look()
        if condition(value):
            return value
        pause.wait(0.1)
    raise AssertionError(f"still {value}")
