"""Fuzz the running service over HTTP. No call may return 5xx, or take over two seconds of processor time or 256 MB.

    make fuzz [ARGS="--seconds 1800 --seed 7"]

The whole service runs in this process on loopback (`local.stack`). Each round makes a call and may corrupt a part of
it: the path, the query string, a header, the JSON or the QBXML of a request, a SOAP envelope or its parameters, or a
response of QuickBooks. Calls with and without credentials go to every route of the template. Pieces are repeated up to
the size limits, because slow patterns show only in long input, and XML has the shapes of
`tests/support/hostile_xml.py`. The same seed gives the same calls.

The process also holds the database and the client, so it may use MAX_ADDRESS_SPACE in addition to its first size.
Prints each failure with its call, and exits with 1 if there was one.
"""

from __future__ import annotations

import argparse
import base64
import json
import re
import resource
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode
from xml.sax.saxutils import escape, quoteattr

import urllib3

from domain.queries import QUERIES
from local import first_steps, stack
from tests.support.hostile_xml import SHAPES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from local.template import Template

MAX_CPU_SECONDS = 2.0
MAX_WALL_SECONDS = 25
"""Lambda ends the functions of the template after 25 seconds."""

MAX_MEMORY_BYTES = (256 + 64) * 1024 * 1024
"""The 256 MB of a function, and what the client, the server and the gateway need for the largest body."""

MAX_ADDRESS_SPACE = 3 * 1024**3

MAX_BYTES = 1_000_000
"""A little less than the largest body of the REST API. Larger bodies are refused before they are parsed."""

SHOWN_CHARACTERS = 300
MAX_NESTING = 3

NAMES = ("CustomerQueryRq", "InvoiceAddRq", "CustomerAddRq", "SalesOrderQueryRq", "FooQueryRq", "QBXML", "x")
CHILDREN = (
    "MaxReturned",
    "FullName",
    "ListID",
    "ActiveStatus",
    "FromModifiedDate",
    "Name",
    "Amount",
    "MaxReturnd",
    "é",
)
TEXTS = (
    *("", "5", "-1", "0" * 5, "1e9", "true", "true ", "2026-02-30", "80000001-1", "Ann", "Ł", "日本", "\u0301", "☃"),
    *("<", "&", "&amp;", "]]>", "\x00", "\x85", "\ud7ff", "%00", "..", "' OR 1=1", "${7*7}", "\r\nX: y"),
)
REPEATED = (
    "0",
    "9",
    " ",
    "\t",
    "&",
    "<a>",
    "é",
    "\u0301",
    "x",
    "-",
    ":",
    "<QBXMLMsgsRs ",
    '"',
    "\\u0000",
    "[",
    "{",
)
"""Each is repeated many times: blanks before a wrong character, digits, combining marks, open elements."""

REFERENCE_PATHS = ("CustomerRet/ListID", "CustomerRet[1]/ListID", "CustomerRet[2]/Name", "x/" * 99, "[", "")

HEADERS = ("Authorization", "Content-Type", "Accept", "Host", "Idempotency-Key", "X-Forwarded-Proto", "Accept-Encoding")
PATHS = (
    *("connections", "connections/{c}", "connections/{c}/queued_requests"),
    *(f"connections/{{c}}/{query}" for query in QUERIES),
    *("connections/{c}/qwc", "queued_requests/{r}", "queued_requests/{r}/discard", "queued_requests/{r}/redeliver"),
    *("connections/{c}/queued_requests/{r}", "connections/{c}/password", "connections/{c}/pause", "contact", "x"),
    *(
        "connections/{c}/queued_requests/discard",
        "connections/{c}/queued_requests/queue_again",
        "connections/{c}/redeliver",
        "connections/{c}/test_webhook",
    ),
)
PARAMETERS = (
    *(
        "page",
        "page_size",
        "sort",
        "sort_direction",
        "search_phrase",
        "queued_by",
        "state",
        "webhook_state",
        "name",
        "from_name",
    ),
    *("webhook_retrying", "webhook_failing", "awaiting_approval", "sent_since", "sent_before"),
    *(
        "max_returned",
        "from_modified_date",
        "to_transaction_date",
        "include[]",
        "validate",
        "transliterate",
        "force",
        "é",
    ),
)
SETTINGS = (
    "name",
    "company_file",
    "webhook_url",
    "sync_window",
    "approval",
    "linger_seconds",
    "batch_size",
    "read_batch_size",
    "logo_url",
    "phone",
    "x",
)
METHODS = ("GET", "POST", "PATCH", "DELETE", "PUT", "OPTIONS", "HEAD")
CONTENT_TYPES = ("application/json", "text/xml; charset=utf-8", "text/xml; charset=utf-16", "image/png", "x", "")
ENCODINGS = ("gzip", "identity", "*;q=0", "br;q=1.0, gzip;q=0.000", "x" * 5_000)
SEGMENTS = (
    *("schema/index.json", "schema/fields.json", "schema/requests/CustomerQueryRq.json", "schema/requests", "schema/"),
    *("assets/0/main.js", "assets/", "assets", "qbxml", "connections", "schema/../../../handlers/web_connector.py"),
    *("schema/\0.json", f"schema/{'a' * 256}.json", f"schema/{'a/' * 3_000}", "schema//etc/passwd.json", "\0", "//"),
)
HOSTILE_BYTES = (100, 5_000, 60_000, 60_000, 300_000, 1_000_000)
SOAP_METHODS = (
    *("serverVersion", "clientVersion", "authenticate", "sendRequestXML", "receiveResponseXML", "connectionError"),
    *("getLastError", "closeConnection", "getInteractiveURL", "interactiveRejected", "interactiveDone", "nothing"),
)
SOAP_PARAMETERS = (
    *("strUserName", "strPassword", "ticket", "strHCPResponse", "strCompanyFileName", "qbXMLCountry", "qbXMLMajorVers"),
    *("qbXMLMinorVers", "response", "hresult", "message", "wcTicket", "sessionID", "strVersion", "other"),
)
RESPONSE = (
    '<?xml version="1.0"?><QBXML><QBXMLMsgsRs><CustomerQueryRs requestID="1" statusCode="0" statusSeverity="Info" '
    'statusMessage="OK" iteratorRemainingCount="0" iteratorID="{{1}}"><CustomerRet><ListID>80000001-1</ListID>'
    "<Name>{name}</Name></CustomerRet></CustomerQueryRs></QBXMLMsgsRs></QBXML>"
)


@dataclass(frozen=True, slots=True)
class Call:
    """One HTTP call."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes | None

    def __str__(self) -> str:
        body = "" if self.body is None else f" {len(self.body)} bytes {self.body[:SHOWN_CHARACTERS]!r}"
        headers = {name: value[:80] for name, value in self.headers.items()}
        return f"{self.method} {self.target[:SHOWN_CHARACTERS]} {headers}{body}"


@dataclass
class Fuzzer:
    """Makes calls to one stack."""

    who: first_steps.Credentials
    chance: Random
    routes: Sequence[tuple[str, str]]
    link: str = ""
    requests: list[str] = field(default_factory=list)
    ticket: str = ""

    # --- Calls

    def create(self) -> Call:
        """Queue a request, in JSON or XML."""
        name = self.chance.choice(NAMES)
        if self.likely(0.5):
            body: Any = {"request_json": {"request": self.element(name)}}
            if self.likely(0.3):
                body["request_json"]["version"] = self.text()
        else:
            body = {"request_xml": self.message_set(name)}
        if self.likely(0.3):
            body[self.chance.choice(["webhook_url", "x", "request_json", "request_xml"])] = self.chance.choice(
                ["https://example.com/", self.text(), None, 1, [], {}]
            )
        return self.rest("POST", f"connections/{self.who.connection_id}/queued_requests", json.dumps(body).encode())

    def create_batch(self) -> Call:
        """Queue a batch, often with a wrong request."""
        requests: list[Any] = [
            {"request_json": {"request": self.element(self.chance.choice(NAMES))}}
            for _ in range(self.chance.choice([0, 1, 2, 25, 26]))
        ]
        if requests and self.likely(0.5):
            self.chance.choice(requests)[self.chance.choice(["webhook_url", "x", "request_xml"])] = self.value()
        for index, request in enumerate(requests):
            request["ref"] = f"r{index}" if self.likely(0.8) else self.value()
            if self.likely(0.5):
                request["depends_on"] = [self.chance.choice(["r0", "r1", self.request_id(), self.text()])]
            if self.likely(0.5):
                source, path = self.chance.choice(["r0", self.request_id()]), self.chance.choice(REFERENCE_PATHS)
                reference: Any = {"$from": source, "path": path if self.likely(0.8) else self.value()}
                fields = {"Name": self.text(), "ParentRef": {"ListID": reference}}
                request["request_json"] = {"CustomerAddRq": {"CustomerAdd": fields}}
        if requests and self.likely(0.2):
            requests[self.chance.randrange(len(requests))] = self.value()
        body = {"requests": requests if self.likely(0.9) else self.value()}
        path = f"connections/{self.who.connection_id}/queued_requests/batch"
        return self.rest("POST", path, json.dumps(body).encode())

    def get(self) -> Call:
        """Call any path with any method and parameters."""
        path = self.chance.choice(PATHS).format(c=self.who.connection_id, r=self.request_id())
        parameters = [(self.chance.choice(PARAMETERS), self.text()) for _ in range(self.chance.randrange(4))]
        query = urlencode(parameters, errors="replace")
        method = self.chance.choice(METHODS) if self.likely(0.3) else "GET"
        body = json.dumps(self.value()).encode() if method in {"POST", "PATCH", "PUT"} else None
        return self.rest(method, path + ("?" + query if query else ""), body)

    def connection(self) -> Call:
        """Create or change a connection."""
        body = {self.chance.choice(SETTINGS): self.value() for _ in range(self.chance.randrange(4))}
        method, path = self.chance.choice([("POST", "connections"), ("PATCH", f"connections/{self.who.connection_id}")])
        return self.rest(method, path, json.dumps(body).encode())

    def soap(self) -> Call:
        """Call a method of the Web Connector."""
        method = self.chance.choice(SOAP_METHODS)
        names = self.chance.sample(SOAP_PARAMETERS, self.chance.randrange(5))
        parameters = {name: self.text() for name in names}
        parameters |= {"ticket": self.chance.choice([self.ticket, self.text()])} if self.ticket else {}
        if method == "receiveResponseXML":
            parameters["response"] = self.chance.choice([RESPONSE.format(name=escape(self.text())), self.text()])
        if method == "authenticate":
            parameters |= {"strUserName": self.who.connection_id, "strPassword": self.who.qbwc_password}
        return self.envelope(method, parameters)

    def session(self) -> Call:
        """Continue a session correctly, so that corrupted responses reach a request in flight."""
        if not self.ticket:
            credentials = {"strUserName": self.who.connection_id, "strPassword": self.who.qbwc_password}
            return self.envelope("authenticate", credentials)
        if self.likely(0.5):
            return self.envelope("sendRequestXML", {"ticket": self.ticket})
        response = RESPONSE.format(name=escape(self.text()))
        return self.envelope("receiveResponseXML", {"ticket": self.ticket, "response": response})

    def route(self) -> Call:
        """Call any route of the template with any credential, or with none."""
        method, path = self.chance.choice(self.routes)
        target = re.sub(r"\{(\w+)\+?\}", lambda match: self.segment(match[1]), path)
        if self.likely(0.2):
            method = self.chance.choice(METHODS)
        if self.likely(0.5):
            target += f"?{urlencode([(self.chance.choice(PARAMETERS), self.text())], errors='replace')}"
        key = base64.b64encode(f"{self.who.api_key}:".encode()).decode()
        credentials = ("", "", f"Bearer {self.link}", f"Bearer {_header(self.text())}", f"Basic {key}", "Basic Og==")
        headers = {
            "Authorization": self.chance.choice(credentials)[:8000],
            "Content-Type": self.chance.choice(CONTENT_TYPES),
            "Accept": self.chance.choice(["*/*", "application/json", "application/x-qwc", _header(self.text())[:8000]]),
            "Accept-Encoding": self.chance.choice(ENCODINGS),
            "If-None-Match": _header(self.text())[:8000],
        }
        chosen = {name: value for name, value in headers.items() if value and self.likely(0.6)}
        return Call(method, target, chosen, self.any_body())

    def hostile(self) -> Call:
        """Send XML that costs a parser as much as possible, with and without credentials."""
        match self.chance.randrange(4):
            case 0:
                return self.envelope(self.chance.choice(SOAP_METHODS), {"ticket": "x"}, self.hostile_xml())
            case 1:
                member = f"<strHCPResponse>{_cdata(self.hostile_xml())}</strHCPResponse>"
                return self.envelope("sendRequestXML", {"ticket": self.ticket or "x"}, member)
            case 2:
                response = RESPONSE.format(name=self.hostile_xml())
                return self.envelope(
                    "receiveResponseXML", {"ticket": self.ticket or "x"}, f"<response>{_cdata(response)}</response>"
                )
            case _:
                xml = f'<QBXML><QBXMLMsgsRq onError="stopOnError"><CustomerQueryRq>{self.hostile_xml()}'
                body = {"request_xml": f"{xml}</CustomerQueryRq></QBXMLMsgsRq></QBXML>"}
                path = f"connections/{self.who.connection_id}/queued_requests"
                path += self.chance.choice(["", "?validate=false", "?transliterate=true"])
                return self.rest("POST", path, json.dumps(body).encode())

    # --- Parts of calls

    def hostile_xml(self) -> str:
        """Return an element of a random shape and size."""
        return self.chance.choice(list(SHAPES.values()))(self.chance, self.chance.choice(HOSTILE_BYTES))

    def segment(self, name: str) -> str:
        """Return the value of a path parameter, encoded."""
        match name:
            case "connection_id" if self.likely(0.7):
                value = self.who.connection_id
            case "request_id":
                return self.request_id()
            case "path" if self.likely(0.7):
                value = self.chance.choice(SEGMENTS)
            case _:
                value = self.text()[:6_000] or "x"
        return quote(value, safe=self.chance.choice(["", "/", "/.~"]), errors="replace")

    def any_body(self) -> bytes | None:
        """Return a body of any kind, or None."""
        kinds: Sequence[Callable[[], bytes | None]] = (
            *(lambda: None, lambda: None, lambda: json.dumps(self.value()).encode()),
            *(lambda: self.hostile_xml().encode(), lambda: self.chance.randbytes(self.chance.choice([1, 100, 70_000]))),
            lambda: self.hostile_xml().encode("utf-16"),
        )
        return self.chance.choice(kinds)()

    def rest(self, method: str, path: str, body: bytes | None) -> Call:
        """Return a call of the REST API with the API key."""
        key = base64.b64encode(f"{self.who.api_key}:".encode()).decode()
        headers = {"Authorization": f"Basic {key}", "Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        return Call(method, f"/api/v1/{path}", headers, body)

    def envelope(self, method: str, parameters: dict[str, str], markup: str = "") -> Call:
        """Return a SOAP call with these parameters, and with `markup` after them."""
        inner = "".join(f"<{name}>{escape(_xml(value))}</{name}>" for name, value in parameters.items())
        body = (
            '<?xml version="1.0" encoding="utf-8"?><soap:Envelope '
            'xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>'
            f'<{method} xmlns="http://developer.intuit.com/">{inner}{markup}</{method}></soap:Body></soap:Envelope>'
        )
        headers = {"Content-Type": "text/xml; charset=utf-8", "SOAPAction": f'"http://developer.intuit.com/{method}"'}
        return Call("POST", "/qbwc", headers, body.encode("utf-8", "replace"))

    def element(self, name: str, depth: int = 0) -> dict[str, Any]:
        """Return a JSON element with random children."""
        node: dict[str, Any] = {"name": name}
        if self.likely(0.2):
            node["attributes"] = {self.chance.choice(["requestID", "iterator", "metaData", "x"]): self.value()}
        if depth < MAX_NESTING and self.likely(0.8):
            count = self.chance.choice([0, 1, 2, 5, 200])
            node["children"] = [self.element(self.chance.choice(CHILDREN), depth + 2) for _ in range(count)]
        else:
            node["text"] = self.value()
        return node

    def message_set(self, name: str) -> str:
        """Return the QBXML of a request."""
        children = "".join(
            f"<{child}>{escape(_xml(self.text()))}</{child}>"
            for child in self.chance.choices(CHILDREN, k=self.chance.choice([0, 1, 2, 50]))
        )
        version = self.chance.choice(["13.0", "16.0", "CA3.0", "99.0", "x"])
        return (
            f'<?xml version="1.0"?><?qbxml version="{version}"?><QBXML><QBXMLMsgsRq onError="stopOnError">'
            f"<{name} requestID={quoteattr(_xml(self.text()))}>{children}</{name}></QBXMLMsgsRq></QBXML>"
        )

    def text(self) -> str:
        """Return a text, which is usually short and sometimes one character many times."""
        if self.likely(0.85):
            return self.chance.choice(TEXTS)
        seed = self.chance.choice(REPEATED)
        length = self.chance.choice([100, 5_000, 40_000, 200_000]) // len(seed)
        return seed * length + self.chance.choice(["", "x", "\u0301", ">"])

    def value(self) -> Any:
        """Return a JSON value."""
        number = self.chance.choice([0, 1, -1, 5, 10**20, 0.5, 1e300])
        return self.chance.choice(
            [self.text(), self.text(), number, None, True, [], {}, [self.text()], {"a": self.text()}]
        )

    def likely(self, probability: float) -> bool:
        """Return True with this probability."""
        return self.chance.random() < probability

    def request_id(self) -> str:
        """Return the id of a queued request, or a text in its place."""
        if self.requests and self.likely(0.7):
            return self.chance.choice(self.requests)
        return self.chance.choice(["0" * 36, "x", "..", "%2e%2e", "c0000000-0000-4000-8000-000000000001"])

    # --- Rounds

    def next_call(self) -> Call:
        """Return the next call, corrupted three times out of four."""
        kinds: Sequence[Callable[[], Call]] = (
            *(
                self.create,
                self.create,
                self.create_batch,
                self.get,
                self.get,
                self.connection,
                self.soap,
                self.session,
                self.session,
            ),
            *(self.route, self.route, self.route, self.hostile, self.hostile),
        )
        call = self.chance.choice(kinds)()
        return self.corrupted(call) if self.likely(0.6) else call

    def corrupted(self, call: Call) -> Call:
        """Return the call with a header, the target or the body changed."""
        match self.chance.randrange(4):
            case 0:
                value = self.chance.choice([_header(self.text()), "Basic é", "Basic !", "gzip", "*/*", "text/xml"])
                return Call(
                    call.method, call.target, {**call.headers, self.chance.choice(HEADERS): value[:8000]}, call.body
                )
            case 1:
                junk = self.chance.choice(["%", "%ff", "?page=%00", "/", "//", "?a[]=1", "%2f", "?" + "a=1&" * 500])
                return Call(call.method, call.target + junk, call.headers, call.body)
            case _:
                return Call(call.method, call.target, call.headers, self.corrupted_body(call.body))

    def corrupted_body(self, body: bytes | None) -> bytes | None:
        """Return the body with a piece removed, repeated many times or replaced."""
        if not body:
            return body
        start = self.chance.randrange(len(body))
        end = min(len(body), start + self.chance.choice([1, 2, 10, 50, 400]))
        piece = body[start:end]
        match self.chance.randrange(4):
            case 0:
                piece = b""
            case 1:
                piece *= self.chance.choice([2, 100, 10_000, 100_000])
            case 2:
                piece = self.text().encode("utf-8", "replace")
            case _:
                piece = bytes(self.chance.randrange(256) for _ in range(3))
        return (body[:start] + piece + body[end:])[:MAX_BYTES]

    def learn(self, call: Call, status: int, body: bytes) -> None:
        """Remember the ids and the ticket in a response, for later calls."""
        if status == 201 and call.target.endswith("queued_requests"):  # noqa: PLR2004 - created
            self.requests = [*self.requests[-50:], json.loads(body)["data"]["id"]]
        if b"<authenticateResult>" in body:
            ticket = body.partition(b"<string>")[2].partition(b"</string>")[0].decode()
            self.ticket = ticket if b"<string>nvu" not in body and b"<string>none" not in body else ""


def _xml(text: str) -> str:
    return "".join(character for character in text if character >= " " or character in "\t\n\r")


def _cdata(text: str) -> str:
    return f"<![CDATA[{text.replace(']]>', ']]]]><![CDATA[>')}]]>"


def _header(text: str) -> str:
    return "".join(character for character in text if " " <= character < "\x7f")


def routes_of(template: Template) -> list[tuple[str, str]]:
    """Return the method and the path of every route."""
    return [
        (event.properties["Method"].upper(), event.properties["Path"])
        for function in template.functions()
        for event in function.events
        if event.type == "Api"
    ]


def onboarding_token(who: first_steps.Credentials) -> str:
    """Create an onboarding link, and return its token."""
    url = f"{who.base_url}/api/v1/connections/{who.connection_id}/onboarding_url"
    response = urllib3.request("POST", url, headers=urllib3.make_headers(basic_auth=f"{who.api_key}:"), json={})
    return str(response.json()["data"]["links"]["onboarding"]).rpartition("#")[2]


def _memory(name: str) -> int:
    """Return a size of this process in bytes: VmRSS, VmHWM (its peak) or VmSize."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzz for a while. Return 1 if a call failed."""
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz_service", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="how long (60)")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000, help="default: from the clock")
    options = parser.parse_args(arguments)
    print(f"Seed {options.seed}", flush=True)
    statuses: Counter[int] = Counter()
    failures = 0
    slowest = (0.0, "")
    largest = (0, "")
    # With this limit, calls that wait are answered at once, and the time goes into more calls.
    parameters = {"MaxWaitingCalls": "0"}
    with (
        tempfile.TemporaryDirectory() as folder,
        stack.running(log_level="ERROR", parameters=parameters) as service,
    ):
        who = first_steps.prepare(service.base_url, service.operator, Path(folder))
        chance = Random(options.seed)  # noqa: S311 - the same seed gives the same calls
        fuzzer = Fuzzer(who, chance, routes_of(service.template))
        fuzzer.link = onboarding_token(who)
        limit = _memory("VmSize") + MAX_ADDRESS_SPACE
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
        pool = urllib3.PoolManager(retries=False, timeout=MAX_WALL_SECONDS)
        start = last_report = time.monotonic()
        while time.monotonic() - start < options.seconds:
            call = fuzzer.next_call()
            Path("/proc/self/clear_refs").write_text("5")  # sets the peak to the present
            idle, cpu = _memory("VmRSS"), time.process_time()
            try:
                response = pool.request(
                    call.method, service.base_url + call.target, body=call.body, headers=call.headers, redirect=False
                )
            except (urllib3.exceptions.HTTPError, ValueError, UnicodeError) as error:
                if isinstance(error, (urllib3.exceptions.TimeoutError, urllib3.exceptions.ProtocolError)):
                    failures += 1
                    print(f"{type(error).__name__} {error} {call}", flush=True)
                continue
            seconds, used = time.process_time() - cpu, _memory("VmHWM") - idle
            statuses[response.status] += 1
            fuzzer.learn(call, response.status, response.data)
            slowest = max(slowest, (seconds, str(call)))
            largest = max(largest, (used, str(call)))
            if response.status >= 500 or seconds > MAX_CPU_SECONDS or used > MAX_MEMORY_BYTES:  # noqa: PLR2004 - a server error
                failures += 1
                print(f"{response.status} {seconds:.1f} s {used >> 20} MB {call}", flush=True)
                print(f"    {response.data[:SHOWN_CHARACTERS]!r}", flush=True)
            if time.monotonic() - last_report > 60:  # noqa: PLR2004 - one line per minute
                last_report = time.monotonic()
                print(f"{statuses.total():,} calls, {failures} failures", flush=True)
    print(f"{statuses.total():,} calls: {dict(sorted(statuses.items()))}")
    print(f"Slowest: {slowest[0]:.2f} s of processor time, {slowest[1][:SHOWN_CHARACTERS]}")
    print(f"Largest: {largest[0] >> 20} MB, {largest[1][:SHOWN_CHARACTERS]}")
    print(f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
