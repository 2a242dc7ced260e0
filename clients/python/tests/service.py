"""A service in memory. It refuses every call that `docs/openapi.json` does not describe."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

if TYPE_CHECKING:
    from collections.abc import Callable

OPENAPI = json.loads((Path(__file__).resolve().parents[3] / "docs" / "openapi.json").read_bytes())
CONNECTION = "11111111-1111-4111-8111-111111111111"
BASE_URL = "https://queue.example"
API_KEY = "sk_test"


@dataclass
class Service:
    """Queues requests and ends each after `polls` polls as `outcome` says. Queries have `pages` pages.

    `hold` holds a call. The feed has forgotten the first `oldest` events, and lists up to `listed` in a call. `faults`
    are consumed by the calls, in order: a status, an exception, or None for a call that works. An exception of reading
    comes after the service has executed the call.
    """

    scope: str = "full"
    polls: int = 1
    pages: int = 1
    hold: Callable[[float], None] | None = None
    outcome: Callable[[dict[str, Any]], dict[str, Any]] = lambda _record: {"result": {}}
    faults: list[int | Exception | None] = field(default_factory=list)
    retry_after: str | None = None
    calls: list[httpx.Request] = field(default_factory=list)
    records: dict[str, dict[str, Any]] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    left: dict[str, int] = field(default_factory=dict)
    batches: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)
    oldest: int = 0
    listed: int = 2

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.calls.append(request)
        operation = operation_of(request)
        fault = self.faults.pop(0) if self.faults else None
        if isinstance(fault, httpx.ReadError):
            self._answer(operation, request)
        if isinstance(fault, Exception):
            raise fault
        if fault is not None:
            headers = {"Retry-After": self.retry_after} if self.retry_after else {}
            return _error(fault, "too_many_requests" if fault == 429 else "unavailable", headers)
        return self._answer(operation, request)

    @property
    def paths(self) -> list[str]:
        """The method and the last part of the path of each call."""
        return [f"{call.method} {call.url.path.rpartition('/')[2]}" for call in self.calls]

    def _answer(self, operation: str, request: httpx.Request) -> httpx.Response:
        if operation == "get_api_key":
            return httpx.Response(200, json={"data": {"app_id": CONNECTION, "scope": self.scope}})
        answers = {
            "create_queued_request": self._create,
            "get_queued_request": self._get,
            "create_batch": self._create_batch,
            "continue_batch": self._continue_batch,
            "settle_queued_request": self._settle,
            "approve_queued_request": self._settle,
            "reject_queued_request": self._settle,
            "approve_queued_requests": self._decide,
            "reject_queued_requests": self._decide,
            "approve_batch": self._decide,
            "reject_batch": self._decide,
            "list_events": self._events,
            "list_queued_requests": self._list,
        }
        return answers[operation](request)

    def _continue_batch(self, _request: httpx.Request) -> httpx.Response:
        return httpx.Response(201, json={"data": [self._add({"request_json": {"CustomerAddRq": {}}})]})

    def _settle(self, request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={"data": self.records[request.url.path.split("/")[-2]]})

    def _decide(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        ids = body.get("ids") or [one["id"] for one in body.get("requests", ())]
        return httpx.Response(200, json={"data": {"decided": len(ids), "refused": 0, "requests": []}})

    def _create(self, request: httpx.Request) -> httpx.Response:
        key = request.headers["Idempotency-Key"]
        if key in self.keys:
            return httpx.Response(200, json={"data": self.records[self.keys[key]]})
        record = self._add(json.loads(request.content))
        self.keys[key] = record["id"]
        return httpx.Response(201, json={"data": record})

    def _create_batch(self, request: httpx.Request) -> httpx.Response:
        key = request.headers["Idempotency-Key"]
        if key not in self.batches:
            self.batches[key] = [self._add(body) for body in json.loads(request.content)["requests"]]
        return httpx.Response(201, json={"data": self.batches[key]})

    def _events(self, request: httpx.Request) -> httpx.Response:
        start = int(request.url.params.get("after", self.oldest))
        if start < self.oldest:
            return _error(410, "cursor_expired", {}, {"oldest": str(self.oldest)})
        data = self.events[start : start + self.listed]
        answer = {"data": data, "next": str(start + len(data)), "has_more": start + self.listed < len(self.events)}
        return httpx.Response(200, json=answer)

    def _add(self, body: dict[str, Any]) -> dict[str, Any]:
        number = len(self.records) + 1
        [name] = [member for member in body["request_json"] if member != "version"]
        record = {
            "id": f"00000000-0000-4000-8000-{number:012}",
            "connection_id": CONNECTION,
            "request_name": name,
            "state": "waiting",
            "waiting_reason": {"code": "next_session", "message": "Waits for the next session.", "hint": None},
            "error": None,
            "page": 1,
            "last_page": None,
            "request_json": body["request_json"],
            "links": {"ui": f"/app/queued_requests/00000000-0000-4000-8000-{number:012}"},
        }
        record["query_id"] = record["id"]
        self.records[record["id"]] = record
        self.left[record["id"]] = self.polls
        return record

    def _list(self, request: httpx.Request) -> httpx.Response:
        parameters = request.url.params
        found = [record for record in self.records.values() if record["query_id"] == parameters["query_id"]]
        size, page = int(parameters["page_size"]), int(parameters["page"])
        return httpx.Response(200, json={"data": found[(page - 1) * size : page * size]})

    def _next_page(self, record: dict[str, Any]) -> None:
        """Create the page after a record, as the session does that stores its response."""
        following = {**record, "id": f"00000000-0000-4000-8000-{len(self.records) + 1:012}", "page": record["page"] + 1}
        self.records[following["id"]] = {**following, "state": "waiting", "last_page": None}
        self.left[following["id"]] = self.polls

    def _get(self, request: httpx.Request) -> httpx.Response:
        request_id = request.url.path.rpartition("/")[2]
        record = self.records[request_id]
        seconds = int(request.url.params.get("wait", "0"))
        if self.hold and self.left[request_id] > 1:
            self.hold(seconds)
        self.left[request_id] -= 1
        if self.left[request_id] == 0:
            ended = {"state": "response_received", "error": None, **self.outcome(record)}
            record |= {"waiting_reason": None, "result": None, **ended}
            record["last_page"] = record["page"] >= self.pages or record["state"] == "error"
            if not record["last_page"]:
                self._next_page(record)
        return httpx.Response(200, json={"data": record})


def _error(status: int, code: str, headers: dict[str, str], details: dict[str, Any] | None = None) -> httpx.Response:
    error = {"code": code, "message": "No.", "details": details or {}}
    return httpx.Response(status, json={"error": error}, headers=headers)


def transport_of(service: Service) -> httpx.MockTransport:
    """Return the transport of a client whose calls a service in memory answers."""
    return httpx.MockTransport(service)


def operation_of(request: httpx.Request) -> str:
    """Return the operation of a call. It must be in the document, with all of its parameters."""
    assert request.headers["Authorization"].startswith("Basic ")
    for template, operations in OPENAPI["paths"].items():
        pattern = re.sub(r"\\{\w+\\}", "[^/]+", re.escape(template))
        if re.fullmatch(pattern, request.url.path) and request.method.lower() in operations:
            operation = operations[request.method.lower()]
            known = {parameter["name"] for parameter in operation.get("parameters", ())}
            assert set(request.url.params) <= known, request.url
            name: str = operation["operationId"]
            return name
    raise AssertionError(f"{request.method} {request.url.path} is not in docs/openapi.json")
