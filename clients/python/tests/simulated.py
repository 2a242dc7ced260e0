"""A service with a simulated QuickBooks, in memory: what `qbxml-queue check` talks to in its tests.

It queues requests and answers each with the simulator's response, at once. `changes` turns a response into one that
differs on purpose.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import httpx
from qbxml_queue import Client
from service import API_KEY, BASE_URL, CONNECTION

from simulator.basics.errors import HresultError
from simulator.schema.checking import check_message_set
from simulator.schema.model import version as version_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulator import Company


NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)

_VERSION = re.compile(r'<\?qbxml version="([\d.]+)"\?>')
_PARSE_ERROR = "0x80040400"


@dataclass
class SimulatedService:
    """A service for one connection. `seconds` says how long QuickBooks takes for a request, by its name.

    `stops` is called before each call, and may raise what ends the program that is tested.
    """

    company: Company
    batch_size: int = 20
    changes: Callable[[ET.Element], None] = lambda _response: None
    seconds: Callable[[str], float] = lambda _name: 0.1
    stops: Callable[[str], None] = lambda _call: None
    records: dict[str, dict[str, Any]] = field(default_factory=dict)
    keys: dict[str, tuple[str, list[str]]] = field(default_factory=dict)
    now: datetime = NOW

    def __post_init__(self) -> None:
        self.session = self.company.begin_session("check")

    def client(self) -> Client:
        return Client(
            BASE_URL, API_KEY, CONNECTION, transport=httpx.MockTransport(self), sleep=lambda _: None, clock=lambda: 0.0
        )

    def __call__(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix("/api/v1")
        self.stops(f"{request.method} {path}")
        if path == "/api_key":
            return _data({"scope": "full"})
        if request.method == "POST" and path.endswith("/discard"):
            return _data(self.records[path.split("/")[-2]])
        if request.method == "POST":
            return self._create(request)
        if path.endswith("/queued_requests"):
            return self._list(request.url.params)
        if path.startswith("/queued_requests/"):
            return _data(self.records[path.rpartition("/")[2]])
        return _data({"id": CONNECTION, "read_batch_size": self.batch_size, "company_file_paths": [self.company.path]})

    def _create(self, request: httpx.Request) -> httpx.Response:
        body, key = json.loads(request.content), request.headers["Idempotency-Key"]
        assert re.fullmatch(r"[\x21-\x7e]{1,255}", key)
        if key in self.keys:
            content, ids = self.keys[key]
            assert content == request.content.decode()
            return _created([self.records[request_id] for request_id in ids])
        bodies = body.get("requests", [body])
        assert 1 <= len(bodies) <= 25
        if request.url.params.get("validate") != "false":
            for one in bodies:
                if code := self._refusal(one["request_xml"]):
                    return httpx.Response(400, json={"error": {"code": code, "message": "", "details": {}}})
        records = []
        sent_at = self._sent()
        for number, one in enumerate(bodies):
            if number and self.batch_size == 1:
                sent_at = self._sent()
            records.append(self._answered(one["request_xml"], one["label"], sent_at, {}))
        self.keys[key] = request.content.decode(), [record["id"] for record in records]
        return _created(records)

    def _refusal(self, document: str) -> str:
        number = self._version(document)
        if tuple(map(int, number.split("."))) > tuple(map(int, self.company.product.highest_version.split("."))):
            return "unsupported_by_version"
        try:
            check_message_set(ET.fromstring(document), version_of(number))  # noqa: S314
        except HresultError:
            return "invalid_request"
        return ""

    def _version(self, document: str) -> str:
        named = _VERSION.search(document)
        highest = self.company.product.highest_version
        return named[1] if named else min("13.0", highest, key=float)

    def _answered(self, document: str, label: str, sent_at: datetime, page: dict[str, Any]) -> dict[str, Any]:
        request = ET.fromstring(document)[0][0]  # noqa: S314
        request_id = f"00000000-0000-4000-8000-{len(self.records):012}"
        request.set("requestID", page.get("query_id", request_id))
        seconds = timedelta(seconds=self.seconds(request.tag))
        record: dict[str, Any] = {
            "id": request_id,
            "query_id": page.get("query_id", request_id),
            "page": page.get("page", 1),
            "last_page": True,
            "label": label,
            "request_name": request.tag,
            "request_xml": ET.tostring(request, encoding="unicode").join(
                ('<QBXML><QBXMLMsgsRq onError="stopOnError">', "</QBXMLMsgsRq></QBXML>")
            ),
            "inserted_at": sent_at.isoformat(),
            "sent_at": sent_at.isoformat(),
            "responded_at": (sent_at + seconds).isoformat(),
            "waiting_reason": None,
            "response_xml": None,
        }
        self.records[request_id] = record
        self._execute(record, request, self._version(document), document)
        return record

    def _execute(self, record: dict[str, Any], request: ET.Element, number: str, document: str) -> None:
        text = ET.tostring(request, encoding="us-ascii").decode().partition("?>\n")[2] or ET.tostring(request).decode()
        message_set = f'<QBXMLMsgsRq onError="stopOnError">{text}</QBXMLMsgsRq>'
        try:
            answer = self.session.process_request(
                f'<?xml version="1.0"?><?qbxml version="{number}"?><QBXML>{message_set}</QBXML>'
            )
        except HresultError as error:
            code = "qbxml_parse_error" if error.hresult == _PARSE_ERROR else "quickbooks_connection_error"
            record |= {"state": "error", "error": {"code": code, "details": {"hresult": error.hresult}}}
            record["responded_at"] = None
            return
        root = ET.fromstring(answer)  # noqa: S314
        response = root[0][0]
        self.changes(response)
        record["response_xml"] = ET.tostring(root, encoding="unicode")
        if response.get("statusSeverity") == "Error":
            details = {"status_code": int(response.get("statusCode", "0"))}
            record |= {"state": "error", "error": {"code": "quickbooks_error", "details": details}}
        else:
            record |= {"state": "response_received", "error": None}
        if request.get("iterator") and int(response.get("iteratorRemainingCount", "0")):
            record["last_page"] = False
            request.set("iterator", "Continue")
            request.set("iteratorID", response.get("iteratorID", ""))
            following = document.partition("<QBXMLMsgsRq")[0] + '<QBXMLMsgsRq onError="stopOnError">'
            following += ET.tostring(request, encoding="unicode") + "</QBXMLMsgsRq></QBXML>"
            page = {"query_id": record["query_id"], "page": record["page"] + 1}
            self._answered(following, record["label"], self._sent(), page)

    def _list(self, parameters: httpx.QueryParams) -> httpx.Response:
        wanted = {name: parameters[name] for name in ("label", "query_id") if name in parameters}
        found = [one for one in self.records.values() if all(one[name] == value for name, value in wanted.items())]
        return httpx.Response(200, json={"data": found})

    def _sent(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


def _data(value: Any) -> httpx.Response:
    return httpx.Response(200, json={"data": value})


def _created(records: list[dict[str, Any]]) -> httpx.Response:
    return httpx.Response(201, json={"data": records if len(records) > 1 else records[0]})
