"""A service in memory with the books of a simulated company: it reads requests as the service does, with its code.

It executes each request when it is queued, or later while `is_closed`: QuickBooks is closed, and requests wait.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias
from xml.etree import ElementTree as ET

import httpx
from service import API_KEY, CONNECTION

from domain import qbxml
from domain.errors import InvalidRequest
from domain.existing.identity import identity_query, with_identity
from domain.existing.modification import check_can_update, modification

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from simulator import Company


_reference = re.compile(r'\{"\$from": "[^"]*", "path": "[^"]*"\}')

Job: TypeAlias = "tuple[dict[str, Any], Any, Sequence[str], dict[str, dict[str, Any]]]"
"""A record, its request or the tree of one with references, what it depends on, and the batch by its names."""


class Clock:
    """A clock that goes on by three seconds whenever it is read, so that each change has an EditSequence of its own."""

    def __init__(self) -> None:
        self.now = 1_790_000_000.0

    def __call__(self) -> float:
        self.now += 3
        return self.now


@dataclass
class Books:
    """A service for one company. `before` is called before each request is executed, with its name.

    `faults` are consumed by the calls, in order: None for a call that works, an exception that comes after the service
    has executed the call (a ConnectError before it), or the status with which it refuses the call.
    """

    company: Company
    before: Callable[[str], None] = lambda _name: None
    is_closed: bool = False
    records: dict[str, dict[str, Any]] = field(default_factory=dict)
    keys: dict[str, tuple[str, list[str]]] = field(default_factory=dict)
    executed: list[ET.Element] = field(default_factory=list)
    faults: list[Exception | int | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._session = self.company.begin_session("service")
        self.waiting: list[Job] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        fault = self.faults.pop(0) if self.faults else None
        if isinstance(fault, httpx.ConnectError):
            raise fault
        if isinstance(fault, int):
            return httpx.Response(fault, json={"error": {"code": "refused", "message": "No."}})
        answer = self._answer(request)
        if fault is not None:
            raise fault
        return answer

    @property
    def writes(self) -> list[str]:
        """The names of the writes that QuickBooks has executed."""
        return [element.tag for element in self.executed if not element.tag.endswith("QueryRq")]

    def open(self) -> None:
        """Open QuickBooks: it executes what waits."""
        self.is_closed = False
        waiting, self.waiting = self.waiting, []
        for job in waiting:
            self._run(job)

    def ask(self, request: qbxml.Request) -> ET.Element:
        """Return the response of QuickBooks to a request."""
        text = qbxml.message_set_to_wire([request])
        return ET.fromstring(self._session.process_request(text))[0][0]  # noqa: S314 - our simulator

    def _answer(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix(f"/api/v1/connections/{CONNECTION}").removeprefix("/api/v1")
        assert request.headers["Authorization"] == httpx.BasicAuth(API_KEY, "")._auth_header  # noqa: SLF001
        if path == "/api_key":
            return httpx.Response(200, json={"data": {"scope": "full"}})
        if request.method == "POST":
            return self._create(request, path)
        if path == "/queued_requests":
            found = [one for one in self.records.values() if one["query_id"] == request.url.params["query_id"]]
            return httpx.Response(200, json={"data": found})
        return httpx.Response(200, json={"data": self.records[path.rpartition("/")[2]]})

    def _create(self, request: httpx.Request, path: str) -> httpx.Response:
        body, key = json.loads(request.content), request.headers["Idempotency-Key"]
        if key in self.keys and self.keys[key][0] != request.content.decode():
            return _refused(409, "idempotency_key_reused")
        if key not in self.keys:
            try:
                read = [self._read(one) for one in body.get("requests", [body])]
            except InvalidRequest as error:
                return _refused(400, "invalid_request", str(error))
            self.keys[key] = request.content.decode(), list(self._queued(read))
        records = [self.records[one] for one in self.keys[key][1]]
        return httpx.Response(201, json={"data": records if path.endswith("/batch") else records[0]})

    def _read(self, body: dict[str, Any]) -> tuple[dict[str, Any], qbxml.Request | dict[str, Any]]:
        """Return a request as the service reads it. One with references is read again when they have their values."""
        text = json.dumps(body["request_json"])
        if "$from" in text:
            qbxml.parse_request_json(json.loads(_reference.sub('"80000001-1"', text)), "16.0")
            return body, body["request_json"]
        request = qbxml.parse_request_json(body["request_json"], "16.0")
        if body.get("if_exists", "fail") != "fail":
            identity_query(request)
        if body.get("if_exists") == "update":
            check_can_update(request)
        return body, request

    def _queued(self, requests: list[tuple[dict[str, Any], Any]]) -> Iterator[str]:
        refs: dict[str, dict[str, Any]] = {}
        for body, request in requests:
            name = next(one for one in body["request_json"] if one != "version")
            record = self._add(name, body.get("if_exists", "fail"))
            refs[body.get("ref", record["id"])] = record
            job = record, request, body.get("depends_on", ()), refs
            if self.is_closed:
                self.waiting.append(job)
            else:
                self._run(job)
            yield record["id"]

    def _run(self, job: Job) -> None:
        """Execute a request, unless one that it needs has failed."""
        record, request, depends_on, refs = job
        if isinstance(request, dict):
            depends_on = [*depends_on, *re.findall(r'"\$from": "([^"]*)"', json.dumps(request))]
        if any(refs[name]["state"] != "response_received" for name in depends_on):
            error = {"code": "dependency_failed", "message": "A request before it failed.", "details": {}}
            record |= {"state": "error", "error": error}
            return
        if isinstance(request, dict):
            results = {name: one["result"] for name, one in refs.items()}
            request = qbxml.parse_request_json(_filled(request, results), "16.0")
        self._execute(record, request)

    def _add(self, name: str, if_exists: str) -> dict[str, Any]:
        number = len(self.records) + 1
        request_id = f"00000000-0000-4000-8000-{number:012}"
        record: dict[str, Any] = {
            "id": request_id,
            "query_id": request_id,
            "page": 1,
            "last_page": None,
            "request_name": name,
            "state": "waiting",
            "error": None,
            "result": None,
            "waiting_reason": {"code": "next_session", "message": "Waits for the next session.", "hint": None},
            "if_exists": if_exists,
            "outcome": None,
        }
        self.records[request_id] = record
        return record

    def _execute(self, record: dict[str, Any], request: qbxml.Request) -> None:
        looks = record["if_exists"] != "fail"
        found = with_identity(request, list(self.ask(identity_query(request)))) if looks else []
        record |= {"state": "response_received", "waiting_reason": None, "last_page": True}
        if not found:
            self._end(record, request, "created" if looks else None)
            return
        changing = modification(request, found[0]) if record["if_exists"] == "update" else None
        if changing is not None:
            self._end(record, changing, "updated")
            return
        name = f"{request.name.removesuffix('Rq')}Rs"
        response = ET.Element(name)
        response.append(found[0])
        record |= {"result": _result(response), "outcome": "unchanged" if record["if_exists"] == "update" else "found"}

    def _end(self, record: dict[str, Any], request: qbxml.Request, outcome: str | None) -> None:
        self.before(request.name)
        self.executed.append(request.element)
        response = self.ask(request)
        status = int(response.get("statusCode", "0"))
        if response.get("statusSeverity") == "Error":
            message = response.get("statusMessage", "")
            record |= {"state": "error", "outcome": None}
            record["error"] = {"code": "quickbooks_error", "message": message, "details": {"status_code": status}}
            return
        record |= {"result": _result(response), "outcome": outcome}
        if int(response.get("iteratorRemainingCount", "0")):
            following = self._add(request.name, "fail") | {"query_id": record["query_id"], "page": record["page"] + 1}
            self.records[following["id"]] = following | {"state": "response_received", "last_page": True}
            record["last_page"] = False
            page = request.next_page(response.get("iteratorID", ""), "1")
            self._end(self.records[following["id"]], page, None)


def _result(response: ET.Element) -> dict[str, Any]:
    text = ET.tostring(response, encoding="unicode")
    [tree] = qbxml.response_to_json(f"<QBXML><QBXMLMsgsRs>{text}</QBXMLMsgsRs></QBXML>")
    [members] = [value for name, value in tree["QBXMLMsgsRs"].items() if not name.startswith("@")]
    return {name: value for name, value in members.items() if not name.startswith("@")}


def _filled(value: Any, results: dict[str, Any]) -> Any:
    """Return a request with the values of the responses that it refers to."""
    if isinstance(value, list):
        return [_filled(one, results) for one in value]
    if not isinstance(value, dict):
        return value
    if "$from" in value:
        found = results[value["$from"]]
        for name in re.split("/", value["path"]):
            found = found[name]
        return found
    return {name: _filled(one, results) for name, one in value.items()}


def _refused(status: int, code: str, message: str = "No.") -> httpx.Response:
    return httpx.Response(status, json={"error": {"code": code, "message": message}})
