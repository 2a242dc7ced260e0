"""A client for the service that needs only the standard library. Copy it into your program and adapt it."""

from __future__ import annotations

import base64
import json
import os
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from http.client import HTTPException
from typing import Any
from urllib.parse import urlencode

ENDED = {"response_received", "error", "discarded"}
MAX_ATTEMPTS = 5


class Rejected(Exception):
    """The service rejected the call and queued nothing. `problems` lists what is wrong."""

    def __init__(self, status: int, error: dict[str, Any]) -> None:
        super().__init__(f"{status} {error['code']}: {error['message']}")
        self.status = status
        self.code: str = error["code"]
        self.problems: list[dict[str, Any]] = error.get("details", {}).get("problems", [])


class Failed(Exception):
    """The request ended in the state `error` or `discarded`. `record` is the request."""

    def __init__(self, record: dict[str, Any]) -> None:
        error = record["error"] or {"code": "discarded", "message": "The request was discarded.", "details": {}}
        super().__init__(f"{record['request_name']} {record['id']}: {error['code']}: {error['message']}")
        self.record = record
        self.code: str = error["code"]
        self.details: dict[str, Any] = error.get("details") or {}

    @property
    def status_code(self) -> int | None:
        """The status code of QuickBooks, for example 3100."""
        return self.details.get("status_code")


def variable(name: str) -> str:
    """Return an environment variable. Without it, the program ends."""
    if not (value := os.environ.get(name)):
        sys.exit(f"{name} is not set. In the folder of the project, run: set -a; . .local/env; set +a")
    return value


def run(main: Callable[[], None]) -> None:
    """Run a program. An error of the service or of the network ends it with a sentence instead of a traceback."""
    try:
        main()
    except urllib.error.URLError as error:
        sys.exit(f"{os.environ.get('BASE_URL')} cannot be reached: {error.reason}. Is make run still running?")
    except (Rejected, Failed, TimeoutError) as error:
        sys.exit(str(error))


class Api:
    """The REST API of the service, for one connection."""

    def __init__(self, base_url: str, api_key: str, connection_id: str) -> None:
        self.base_url = base_url
        self.connection = f"/api/v1/connections/{connection_id}"
        self._authorization = "Basic " + base64.b64encode(f"{api_key}:".encode()).decode()

    @classmethod
    def from_environment(cls) -> Api:
        return cls(variable("BASE_URL"), variable("API_KEY"), variable("CONNECTION_ID"))

    def call(self, method: str, path: str, body: Any = None, idempotency_key: str | None = None) -> Any:
        """Call the API and return the JSON of the response. Raises Rejected.

        Lost connections, 429 and 5xx are repeated. That is safe: a GET changes nothing that matters, and a POST with
        an Idempotency-Key is executed once.
        """
        headers = {"Authorization": self._authorization, "Content-Type": "application/json"}
        if idempotency_key:
            headers["Idempotency-Key"] = idempotency_key
        data = None if body is None else json.dumps(body).encode()
        may_repeat = method == "GET" or idempotency_key is not None
        for attempt in range(1, MAX_ATTEMPTS + 1):
            request = urllib.request.Request(self.base_url + path, data, headers, method=method)
            pause_seconds = 2.0**attempt
            try:
                with urllib.request.urlopen(request, timeout=30) as response:
                    return json.load(response)
            except urllib.error.HTTPError as error:
                is_temporary = error.code == 429 or error.code >= 500
                if not (is_temporary and may_repeat and attempt < MAX_ATTEMPTS):
                    raise Rejected(error.code, json.load(error)["error"]) from None
                pause_seconds = float(error.headers.get("Retry-After", pause_seconds))
            except (OSError, HTTPException):
                if not (may_repeat and attempt < MAX_ATTEMPTS):
                    raise
            time.sleep(pause_seconds)
        raise AssertionError("unreachable")

    def queue(self, request: dict[str, Any], idempotency_key: str, **options: Any) -> dict[str, Any]:
        """Queue a request, for example {"CustomerQueryRq": {"MaxReturned": 5}}, and return its record."""
        body = {"request_json": request, "webhook_url": None, **options}
        record: dict[str, Any] = self.call("POST", f"{self.connection}/queued_requests", body, idempotency_key)["data"]
        return record

    def query(self, what: str, **parameters: str) -> dict[str, Any]:
        """Queue a convenience query (`customers`, `vendors`, `items`, `sales_orders`, `invoices`)."""
        record: dict[str, Any] = self.call("GET", f"{self.connection}/{what}?{urlencode(parameters)}")["data"]
        return record

    def wait(self, request_id: str, timeout_seconds: float = 300) -> dict[str, Any]:
        """Return the record of a request as soon as it has ended. Raises Failed and TimeoutError."""
        deadline = time.monotonic() + timeout_seconds
        while time.monotonic() < deadline:
            record: dict[str, Any] = self.call("GET", f"/api/v1/queued_requests/{request_id}")["data"]
            if record["state"] == "response_received":
                return record
            if record["state"] in ENDED:
                raise Failed(record)
            time.sleep(0.5)
        raise TimeoutError(f"{request_id} still waits: {record['waiting_reason']}")

    def execute(self, request: dict[str, Any], idempotency_key: str, **options: Any) -> dict[str, Any]:
        """Queue a request, wait for QuickBooks, and return the response element, for example CustomerQueryRs."""
        record = self.queue(request, idempotency_key, **options)
        return response_of(self.wait(record["id"]))


def response_of(record_or_event: dict[str, Any]) -> dict[str, Any]:
    """Return the response element of a record or webhook event: the only member without an `@`."""
    [message_set] = record_or_event["response_json"]
    members = message_set["QBXMLMsgsRs"].items()
    [response] = [value for name, value in members if not name.startswith("@")]
    result: dict[str, Any] = response
    return result
