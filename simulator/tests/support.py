"""Helpers for the simulator's tests: a scripted service, a company with a fixed clock, and a `.qwc`."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

import defusedxml.ElementTree

from simulator import Company
from simulator.basics.errors import TransportError
from simulator.books import Books, Record
from simulator.books.costing import Costing, History
from simulator.books.ledger import Ledger
from simulator.books.store import Table
from simulator.books.uses import Uses

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simulator.requests.facts import Product

NOW = 1_790_000_000
"""2026-09-21T13:33:20Z: a Monday."""

OWNER_ID = "{11111111-2222-3333-4444-555555555555}"
FILE_ID = "{AAAAAAAA-BBBB-CCCC-DDDD-EEEEEEEEEEEE}"
INTUIT = "http://developer.intuit.com/"

QWC = f"""<?xml version="1.0"?>
<QBWCXML>
  <AppName>Sample &amp; Queue</AppName>
  <AppID></AppID>
  <AppURL>http://localhost:3000/qbwc</AppURL>
  <AppDescription>Moves orders</AppDescription>
  <AppSupport>http://localhost:3000/support</AppSupport>
  <UserName>tenant-1</UserName>
  <OwnerID>{OWNER_ID}</OwnerID>
  <FileID>{FILE_ID}</FileID>
  <QBType>QBFS</QBType>
  <Style>Document</Style>
  <AuthFlags>0xF</AuthFlags>
  <IsReadOnly>false</IsReadOnly>
  <Scheduler><RunEveryNMinutes>5</RunEveryNMinutes></Scheduler>
</QBWCXML>"""


def qwc(**changes: str | None) -> str:
    """Return the sample `.qwc` with elements replaced. None removes one."""
    text = QWC
    for name, value in changes.items():
        element = "" if value is None else f"<{name}>{escape(value)}</{name}>"
        rest = re.sub(rf"<{name}>.*</{name}>", "", text)
        text = rest.replace("</QBWCXML>", f"{element}</QBWCXML>")
    return text


def a_company(**fields: Any) -> Company:
    """Create a small company with a stopped clock and GUIDs that count up."""
    numbers = iter(range(1, 10_000))
    sizes = {name: fields.pop(name) for name in ("customers", "sales_orders", "seed") if name in fields}
    company = Company.empty(**{
        "now": lambda: NOW,
        "new_guid": lambda: f"{{00000000-0000-0000-0000-{next(numbers):012d}}}",
        **fields,
    })  # fmt: skip
    books = _books(company.time_zone, company.product, **{"customers": 40, **sizes})
    company.books = replace(books.copy(), clock=company.clock)
    return company


@cache
def _books(time_zone: str, product: Product, **sizes: Any) -> Books:
    """Return the books of a generated company. Copying them is faster than generating them for each test."""
    return Company.generated(time_zone=time_zone, product=product, now=lambda: NOW, **sizes).books


def contents_of(value: Any) -> Any:
    """Return what books or a part of them contain, as values that can be compared and that nothing changes."""
    if isinstance(value, dict):
        return {key: contents_of(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [contents_of(member) for member in value]
    if isinstance(value, set):
        return value.copy()
    if isinstance(value, Uses):
        return {target: set(users) for target, users in value.all().items() if users}
    if isinstance(value, (Books, Record, Table, Ledger, Costing, History)):
        names = getattr(value, "__slots__", None) or vars(value)
        return {name: contents_of(getattr(value, name)) for name in names}
    return value


def document(body: str, *, version: str = "13.0", on_error: str = "continueOnError", sets: str = "") -> str:
    """Write a QBXML document around request elements. `sets` holds more attributes of QBXMLMsgsRq."""
    return (
        f'<?xml version="1.0" encoding="utf-8"?>\n<?qbxml version="{version}"?>\n'
        f'<QBXML>\n<QBXMLMsgsRq onError="{on_error}"{sets}>\n{body}\n</QBXMLMsgsRq>\n</QBXML>'
    )


def ask(company: Any, body: str, **options: str) -> Any:
    """Ask a company or session. Return the parsed QBXMLMsgsRs element."""
    text = company.process_request(document(body, **options))
    return defusedxml.ElementTree.fromstring(text.encode())[0]


def customers(company: Any, filters: str = "", attributes: str = "") -> Any:
    """Query customers. Return the parsed response."""
    return ask(company, f'<CustomerQueryRq requestID="1"{attributes}>{filters}</CustomerQueryRq>')[0]


def names(response: Any) -> list[str]:
    """Return the names of the objects in a response."""
    return [element.findtext("FullName") or element.findtext("Name", "") for element in response]


def status(response: Any) -> tuple[str, str]:
    """Return status code and severity of a response."""
    return response.get("statusCode"), response.get("statusSeverity")


ADD = '<CustomerAddRq requestID="9"><CustomerAdd><Name>Once</Name></CustomerAdd></CustomerAddRq>'


def recovery(company: Any, body: str = "", **ids: str) -> Any:
    """Ask with the IDs of message sets: `new` and `old`. Return the parsed QBXMLMsgsRs element."""
    attribute_names = {"new": "newMessageSetID", "old": "oldMessageSetID"}
    attributes = "".join(f' {attribute_names[key]}="{value}"' for key, value in ids.items())
    return ask(company, body, on_error="stopOnError", sets=attributes)


class ScriptedService:
    """A SOAP server in memory: `replies` has a list for each method, and the last reply of a list repeats.

    A reply is text, a number, a list of strings (authenticate), bytes (a raw body), an int pair
    (status, bytes) or an exception to raise.
    """

    def __init__(self, **replies: list[Any]) -> None:
        self.replies: dict[str, list[Any]] = {
            "serverVersion": ["1.0"],
            "clientVersion": [""],
            "authenticate": [["ticket-1", ""]],
            "sendRequestXML": [""],
            "receiveResponseXML": [100],
            "getLastError": ["No more requests"],
            "connectionError": ["done"],
            "closeConnection": ["OK"],
            "getInteractiveURL": ["http://localhost/form"],
            "interactiveRejected": ["As you like"],
            "interactiveDone": ["Done"],
            **replies,
        }
        self.calls: list[tuple[str, dict[str, str]]] = []
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        self.gets: list[str] = []
        self.get_status: dict[str, int | Exception] = defaultdict(lambda: 200)

    @property
    def methods(self) -> list[str]:
        """The methods called, in order."""
        return [method for method, _ in self.calls]

    def parts(self, method: str) -> list[dict[str, str]]:
        """Return the arguments of every call of a method."""
        return [parts for name, parts in self.calls if name == method]

    def get(self, url: str) -> int:
        self.gets.append(url)
        status = self.get_status[url]
        if isinstance(status, Exception):
            raise status
        return status

    def post(self, url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        assert url == "http://localhost:3000/qbwc"
        element = defusedxml.ElementTree.fromstring(body)[0][0]
        method = element.tag.removeprefix(f"{{{INTUIT}}}")
        self.calls.append((method, {child.tag.removeprefix(f"{{{INTUIT}}}"): child.text or "" for child in element}))
        self.bodies.append(body)
        self.headers.append(dict(headers))
        script = self.replies[method]
        reply = script.pop(0) if len(script) > 1 else script[0]
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, tuple):
            return reply
        return 200, reply if isinstance(reply, bytes) else soap_reply(method, reply)


def soap_reply(method: str, value: Any) -> bytes:
    """Write a one-line envelope with a result: text, number or list of strings."""
    content = (
        "".join(f"<string>{escape(text)}</string>" for text in value) if isinstance(value, list) else escape(str(value))
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?><s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>'
        f'<{method}Response xmlns="{INTUIT}"><{method}Result>{content}</{method}Result></{method}Response>'
        "</s:Body></s:Envelope>"
    ).encode()


_FAULT_BODY = (
    b'<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><s:Fault><faultcode>s:Client</faultcode>'
    b"<faultstring>Unknown operation</faultstring></s:Fault></s:Body></s:Envelope>"
)
FAULT = (500, _FAULT_BODY)

LOST = TransportError("connection reset")
