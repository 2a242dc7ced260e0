"""Counts the calls and units of runs of subscriptions, with the simulated company.

`benchmarks.call_costs` runs it. A run is counted from the login to the end of its session, with the events of its
changes in the feed.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from adapters.dynamodb import DynamoDBStore
from benchmarks.costs_page import OWN_SESSION
from domain.events.log import append_events
from domain.records.app import App
from domain.records.event import LoggedEvent
from domain.records.subscription import ChangePage, Subscription
from domain.storage.changes import AddRequest, Put
from domain.subscriptions.objects import books_objects
from domain.timestamps import timestamp
from domain.web_connector.endpoint import WebConnector
from domain.web_connector.protocol import qwc
from local.emulated_dynamodb import emulated_dynamodb
from local.tables import make_tables
from local.template import Template
from simulator import Company, Person, Simulator
from tests.contract.conftest import dynamodb_client
from tests.support.builders import APP_ID, CONNECTION_ID, FixedClock, a_connection, a_record
from tests.support.counted_units import CountedUnits
from tests.support.web_connector.connector import PASSWORD, PASSWORD_HASH, CountingSecrets, result_of
from tests.support.web_connector.interruptions import RandomIds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

FIVE = ("Account", "Bill", "Customer", "Invoice", "Vendor")
ALL = tuple(known.name for known in books_objects())[:60]
CHANGES = 1_000
QUERY = (
    '<QBXML><QBXMLMsgsRq onError="stopOnError"><CompanyQueryRq requestID="{}"></CompanyQueryRq></QBXMLMsgsRq></QBXML>'
)


class Office:
    """A Web Connector with a simulated company and one subscription, whose calls are counted."""

    def __init__(self, objects: tuple[str, ...], customers: int = 5) -> None:
        client = dynamodb_client()
        self.store = DynamoDBStore(client, make_tables(client, ""))
        self.pages: list[ChangePage] = []
        self._commit, self.store.commit = self.store.commit, self._committed
        self.clock, self.new_id = FixedClock(), RandomIds()
        self.endpoint = WebConnector(self.store, self.clock, self.new_id, CountingSecrets())
        self.http_calls = self.messages = 0
        now = timestamp(self.clock.now)
        connection = a_connection(password_hash=PASSWORD_HASH, run_due_at=now)
        one = Subscription("s", CONNECTION_ID, APP_ID, now, now, objects, 15, "all", now)
        for entity in (App(APP_ID, "Shop", now), connection, one):
            self.store.commit(Put(None, entity))
        self.company = Company.generated(customers=customers, sales_orders=0, now=self._unix_seconds)
        self._simulator = Simulator(
            qwc.render(connection, base_url="https://queue.example.com"),
            PASSWORD,
            self.company,
            transport=self,
            sleep=lambda seconds: self.clock.advance(seconds=seconds),
        )
        self._units = CountedUnits(client, {table["TableName"]: table for table in Template.load().table_definitions()})

    def _committed(self, *changes: Any) -> None:
        """Commit changes, and remember the pages, which a stream puts into the feed."""
        self._commit(*changes)
        self.pages += [change.after for change in changes if isinstance(getattr(change, "after", None), ChangePage)]

    def _unix_seconds(self) -> float:
        return self.clock.now.timestamp()

    def get(self, _url: str) -> int:
        """Answer the check of the certificate."""
        return 200

    def post(self, _url: str, _headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        """Answer a call, which takes 100 milliseconds."""
        self.clock.advance(milliseconds=100)
        self.http_calls += 1
        text = self.endpoint.reply(body).body
        if b"<sendRequestXML" in body and result_of("sendRequestXML", text):
            self.messages += 1
        return 200, text.encode()

    def update(self, seconds: int = 3_600) -> Mapping[str, float]:
        """Let time pass, make an update, and put its changes into the feed. Return what was used."""
        self.clock.advance(seconds=seconds)
        self.http_calls = self.messages = 0
        self._units.reads = self._units.writes = 0
        self.pages.clear()
        self._simulator.run_once()
        functions = self.http_calls + bool(self.pages)
        append_events(self.store, APP_ID, [*map(LoggedEvent.of_page, self.pages)], self.clock.now)
        return {
            "http_calls": self.http_calls,
            "rest_calls": 0,
            "http_api_units": self.http_calls,
            "functions": functions,
            "messages": self.messages,
            "reads": self._units.reads,
            "writes": self._units.writes,
        }

    def settle(self) -> None:
        """Read all records, and what the overlap repeats."""
        for _ in range(3):
            self.update(86_400)

    def queue(self) -> None:
        """Queue a query."""
        request_id, moment = self.new_id(), timestamp(self.clock.now)
        record = a_record(
            id=request_id,
            request_label=request_id,
            request_name="CompanyQueryRq",
            inserted_at=moment,
            updated_at=moment,
        )
        self.store.commit(AddRequest(record, QUERY.format(request_id), "company"))

    def without_a_run(self) -> Mapping[str, float]:
        """Return what an update with one query uses, in which no run is due."""
        self.queue()
        return self.update(60)


def _quiet(objects: tuple[str, ...]) -> Mapping[str, float]:
    office = Office(objects)
    office.settle()
    return office.update()


def _in_a_session() -> Mapping[str, float]:
    office = Office(FIVE)
    office.settle()
    office.queue()
    with_run = office.update()
    without_run = office.without_a_run()
    return {name: used - without_run[name] for name, used in with_run.items()}


def _payment() -> Mapping[str, float]:
    """Return what a run uses that finds a paid invoice, which its payment did not touch. Others are newer."""
    office = Office(FIVE)
    for kind in ("sell", "sell", "change_name"):
        Person(office.company, 1, (kind,)).edit()
    office.update(86_400)
    Person(office.company, 1, ("pay",)).edit()
    Person(office.company, 2, ("sell",)).edit()
    office.settle()
    Person(office.company, 3, ("pay",)).edit()
    return office.update()


def _changes() -> Mapping[str, float]:
    office = Office(("Customer",))
    office.settle()
    for number in range(CHANGES):
        office.company.process_request(ADDITION.format(number))
    return office.update()


ROWS: Mapping[str, Callable[[], Mapping[str, float]]] = {
    OWN_SESSION: partial(_quiet, FIVE),
    "the same, in a session with a request": _in_a_session,
    f"a run of {len(ALL)} objects without changes, in a session of its own": partial(_quiet, ALL),
    "a run of five objects that finds a payment": _payment,
    "a run that finds 1,000 new customers": _changes,
    "a snapshot of 1,000 customers": lambda: Office(("Customer",), customers=1_000).update(),
}

ADDITION = (
    '<?xml version="1.0"?><?qbxml version="13.0"?><QBXML><QBXMLMsgsRq onError="stopOnError"><CustomerAddRq>'
    "<CustomerAdd><Name>Ada {0}</Name><CompanyName>Ada {0} &amp; Sons</CompanyName><FirstName>Ada</FirstName>"
    "<LastName>Number {0}</LastName><BillAddress><Addr1>{0} Harbour Road</Addr1><City>Bayshore</City><State>CA</State>"
    "<PostalCode>94000</PostalCode></BillAddress><Phone>555-01{0}</Phone><Email>ada{0}@example.com</Email></CustomerAdd></CustomerAddRq>"
    "</QBXMLMsgsRq></QBXML>"
)


def counted() -> Mapping[str, Mapping[str, float]]:
    """Return what each run uses."""
    found = {}
    for name, row in ROWS.items():
        with emulated_dynamodb():
            found[name] = {column: round(used, 1) for column, used in row().items()}
    return found
