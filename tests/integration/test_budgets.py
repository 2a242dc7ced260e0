"""Round trips: DynamoDB calls of each operation, counted on the client, against their budgets.

The budgets are those of `docs/data-model.md`.
"""

from __future__ import annotations

import base64
import json
import random
import re
import secrets
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from itertools import count, pairwise
from typing import TYPE_CHECKING, Any, Literal
from xml.sax.saxutils import escape, unescape

import pytest

from adapters.dynamodb import DynamoDBStore
from adapters.dynamodb.statistics import statistics_of
from domain import qbxml
from domain.apps.administration import Administration
from domain.connections.passwords import hash_password
from domain.connections.service import ConnectionService
from domain.events.feed import Feed, FeedFilter
from domain.events.log import append_events
from domain.listing.filters import RequestFilter
from domain.listing.lists import Lists
from domain.listing.overview import Overviews
from domain.listing.query import ListQuery
from domain.maintenance.unsettled_writes import settle_writes
from domain.queueing.many import ManyRequests
from domain.queueing.new_request import Idempotency
from domain.queueing.service import RequestService
from domain.records.app import App
from domain.records.batch import MAX_REQUESTS, ids_of_batch
from domain.records.event import EventOutcome, LoggedEvent
from domain.records.request import Paging, QueuedRequest, State, settling_id
from domain.records.sync_window import SyncWindow
from domain.records.webhook import Webhook, WebhookState
from domain.settling.service import SettlingService
from domain.storage.changes import AddRequest, ChangeRequest, Put
from domain.storage.statistics import KEPT_DAYS, Series
from domain.timestamps import TimeRange, timestamp
from domain.web_connector.endpoint import WebConnector
from domain.web_connector.session.admission import Budget
from domain.web_connector.session.login import BUSY_SECONDS_OF_A_READ
from local.emulated_dynamodb import emulated_dynamodb
from local.emulated_dynamodb.values import size_of
from local.tables import make_tables
from tests.contract.conftest import dynamodb_client
from tests.support.api_client import api_event, load
from tests.support.builders import (
    AN_ACTOR,
    APP_ID,
    CONNECTION_ID,
    NOON,
    REQUEST_XML,
    RESPONSE_XML,
    FixedClock,
    SequentialIds,
    a_connection,
    a_link,
    a_record,
    counting_bytes,
)
from tests.support.queueing import command, queueing_without_quotas
from tests.support.services import services_with, using
from tests.support.unknown_writes import ADDITION, DELETION, add_executed, add_unknown_write, end_query
from tests.support.web_connector.connector import CountingSecrets
from tests.support.web_connector.quickbooks import hcp, labels_in, set_response

if TYPE_CHECKING:
    from collections.abc import Iterator

PASSWORD = "correct horse battery"
_numbers = count()
REQUEST = qbxml.parse_request_xml(REQUEST_XML)


class Calls(Counter[str]):
    """Counts a client's calls by operation."""

    def __init__(self, client: Any) -> None:
        super().__init__()
        client.meta.events.register("before-call.dynamodb", self._count)

    def _count(self, model: Any, **_: Any) -> None:
        self[model.name] += 1

    def take(self) -> int:
        """Return the number of calls since the last use of this method."""
        calls = self.total()
        self.clear()
        return calls


class Bench:
    """The use cases on DynamoDB emulated, with one connection."""

    def __init__(self) -> None:
        client = dynamodb_client()
        # A process has one emulation, so benches that exist at the same time have separate tables.
        self.store = DynamoDBStore(client, make_tables(client, f"bench{next(_numbers)}-"))
        self.clock = FixedClock()
        new_id = SequentialIds()
        store = self.store
        store.commit(Put(None, a_connection(password_hash=hash_password(PASSWORD, counting_bytes(16)))))
        self.queueing = queueing_without_quotas(store, self.clock, new_id)
        self.requests = RequestService(store, self.clock)
        self.lists = Lists(store, self.clock)
        self.web_connector = WebConnector(store, self.clock, new_id, CountingSecrets())
        self.connections = ConnectionService(store, clock=self.clock, new_id=new_id, secrets=counting_bytes)
        self.calls = Calls(client)

    def set(self, **fields: Any) -> None:
        """Change members of the connection."""
        before = self.store.connection(CONNECTION_ID)
        assert before
        self.store.commit(Put(before, replace(before, **fields).changed(timestamp(NOON))))
        self.calls.take()

    def log_in(self) -> str:
        """Open a session and return its ticket."""
        match = re.search(
            "<string>([^<]+)</string>", self.soap("authenticate", strUserName=CONNECTION_ID, strPassword=PASSWORD)
        )
        assert match
        return match[1]

    def queue(self) -> QueuedRequest:
        """Queue a request with an idempotency key."""
        self.clock.advance(seconds=1)
        return self.queueing.queue(
            command(APP_ID, CONNECTION_ID, REQUEST, idempotency=Idempotency("k", "h"))
        ).stored.record

    def queue_without_key(self) -> QueuedRequest:
        """Queue a request without an idempotency key."""
        self.clock.advance(seconds=1)
        return self.queueing.queue(command(APP_ID, CONNECTION_ID, REQUEST)).stored.record

    def soap(self, method: str, **values: str) -> str:
        """Call a method of the Web Connector's endpoint and return the body of the response."""
        children = "".join(f"<{name}>{escape(value)}</{name}>" for name, value in values.items())
        response = self.web_connector.reply(
            '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>'
            f'<{method} xmlns="http://developer.intuit.com/">{children}</{method}></soap:Body></soap:Envelope>'
        )
        assert response.status == 200, response.body
        return response.body


@pytest.fixture
def bench() -> Iterator[Bench]:
    """Yield the use cases."""
    with emulated_dynamodb():
        yield Bench()


def test_create_is_one_call_once_the_connection_is_known(bench: Bench) -> None:
    bench.queue_without_key()
    assert bench.calls.take() == 2

    bench.queue()
    assert bench.calls.take() == 1


def test_a_create_over_http_takes_its_quotas_in_portions(bench: Bench) -> None:
    """A portion is a tenth of the creates per second and a hundredth of the requests that may wait."""
    url = f"/api/v1/connections/{CONNECTION_ID}/queued_requests"
    limits = {"creates_per_second": "100", "waiting": "100000"}
    caller = {"app_id": APP_ID, "scope": "full", **limits}
    event = api_event("POST", url, body=json.dumps({"request_xml": REQUEST_XML}), authorizer=caller)
    calls = []

    with using(services_with(bench.store, bench.clock)):
        for _ in range(100):
            bench.calls.take()
            assert load("handlers.create_queued_request.handler")(event, None)["statusCode"] == 201
            calls.append(bench.calls.take())

    assert calls == [5, *[1] * 9, *[2, *[1] * 9] * 9]


def test_a_batch_of_25_takes_at_most_three_calls_once_the_connection_is_known(bench: Bench) -> None:
    """Most take two: a portion of the creates per second, and the transaction."""
    url = f"/api/v1/connections/{CONNECTION_ID}/queued_requests/batch"
    limits = {"creates_per_second": "100", "waiting": "100000"}
    caller = {"app_id": APP_ID, "scope": "full", **limits}
    body = json.dumps({"requests": [{"request_xml": REQUEST_XML}] * MAX_REQUESTS})
    event = api_event("POST", url, body=body, headers={"Idempotency-Key": "1"}, authorizer=caller)
    calls = []

    with using(services_with(bench.store, bench.clock)):
        for number in range(40):
            bench.clock.advance(seconds=1)
            event["headers"]["Idempotency-Key"] = str(number)
            bench.calls.take()
            assert load("handlers.create_batch.handler")(event, None)["statusCode"] == 201
            calls.append(bench.calls.take())

    assert max(calls[1:]) <= 3
    assert Counter(calls).most_common(1)[0][0] == 2


def an_ended_request(bench: Bench, response_xml: str) -> str:
    """Store a request that has ended; return its id."""
    record = a_record(state=State.SENT)
    bench.store.commit(AddRequest(record, REQUEST_XML, ""))
    bench.store.commit(
        ChangeRequest(record, record.moved(State.RESPONSE_RECEIVED, bench.clock()), response_xml=response_xml)
    )
    bench.calls.take()
    return record.id


def test_get_is_one_call_and_a_second_where_the_connection_is_not_named_or_the_response_is_large(bench: Bench) -> None:
    small = an_ended_request(bench, RESPONSE_XML)
    bench.requests.detail(APP_ID, small, CONNECTION_ID)
    assert bench.calls.take() == 1
    bench.requests.detail(APP_ID, small)
    assert bench.calls.take() == 2

    large = an_ended_request(bench, "<a>" + "x" * 300_000 + "</a>")
    for connection_id in (CONNECTION_ID, None):
        bench.requests.detail(APP_ID, large, connection_id)
        assert bench.calls.take() == 2


@pytest.mark.parametrize("state", State)
def test_only_a_request_that_failed_or_was_discarded_takes_a_read_for_its_successor(bench: Bench, state: State) -> None:
    bench.requests.successor_id(a_record(state=state))

    assert bench.calls.take() == int(state in {State.ERROR, State.DISCARDED})


READS = ("GetItem", "BatchGetItem", "Query")


def waited(bench: Bench, event: dict[str, Any], function: str) -> Calls:
    """Make a call that waits, and return its calls of the database. Pauses move the clock."""
    services = services_with(bench.store, bench.clock)
    services.pause = lambda seconds: setattr(bench.clock, "now", bench.clock() + timedelta(seconds=seconds))
    bench.calls.take()
    with using(services):
        assert load(f"handlers.{function}.handler")(event, None)["statusCode"] in {200, 201, 202}
    return bench.calls


@pytest.mark.parametrize("seconds", [1, 20])
@pytest.mark.parametrize("state", [State.WAITING, State.SENT, State.RESPONSE_RECEIVED])
def test_a_call_that_waits_for_a_request_makes_at_most_12_reads_and_two_writes(
    bench: Bench, seconds: int, state: State
) -> None:
    """The last one is an iterated query whose next page is in flight."""
    first = a_record(state=state, paging=Paging(continued=state is State.RESPONSE_RECEIVED))
    large = REQUEST_XML.replace("<MaxReturned>10", f"<FullName>{secrets.token_hex(400_000)}</FullName><MaxReturned>10")
    bench.store.commit(AddRequest(first, large, ""))
    if first.paging.continued:
        bench.store.commit(AddRequest(a_record(state=State.SENT, paging=Paging(2, first.id)), REQUEST_XML, ""))
    url = f"/api/v1/queued_requests/{first.id}?wait={seconds}"
    event = api_event("GET", url, authorizer={"app_id": APP_ID, "scope": "full"})

    calls = waited(bench, event, "get_queued_request")

    assert 8 < sum(calls[name] for name in READS) <= 12
    assert {name: calls[name] for name in ("PutItem", "DeleteItem")} == {"PutItem": 1, "DeleteItem": 1}


@pytest.mark.parametrize(
    ("wait_for", "last", "looks", "writes"),
    [
        ("page", State.SENT, 1, 0),
        ("page", State.RESPONSE_RECEIVED, 1, 0),
        ("query", State.RESPONSE_RECEIVED, 1 + 2, 0),
        ("query", State.SENT, 1 + 8, 2),
    ],
)
def test_a_call_for_a_page_that_has_ended_takes_no_lease_and_the_reads_of_one_look(
    bench: Bench, wait_for: str, last: State, looks: int, writes: int
) -> None:
    """Of a query with two pages, the first has ended. The call reads it, and each look for the last page two items."""
    first = a_record(state=State.RESPONSE_RECEIVED, paging=Paging(continued=True))
    for record in (first, a_record(state=last, paging=Paging(2, first.id))):
        bench.store.commit(AddRequest(record, REQUEST_XML, ""))
    url = f"/api/v1/queued_requests/{first.id}"

    def reads(parameters: str) -> tuple[int, int]:
        event = api_event("GET", url + parameters, authorizer={"app_id": APP_ID, "scope": "full"})
        calls = waited(bench, event, "get_queued_request")
        return sum(calls[name] for name in READS), calls["PutItem"] + calls["DeleteItem"]

    plain, _ = reads("")
    assert reads(f"?wait=20&wait_for={wait_for}") == (plain + looks, writes)


@pytest.mark.parametrize("times", [1, 2])
def test_a_create_that_waits_makes_at_most_12_reads_also_if_it_is_repeated(bench: Bench, times: int) -> None:
    url = f"/api/v1/connections/{CONNECTION_ID}/queued_requests"
    caller = {"app_id": APP_ID, "scope": "full"}
    headers = {"Prefer": "wait=20", "Idempotency-Key": "order-17"}
    event = api_event("POST", url, body=json.dumps({"request_xml": REQUEST_XML}), headers=headers, authorizer=caller)

    for _ in range(times):
        calls = waited(bench, event, "create_queued_request")

    assert 8 < sum(calls[name] for name in READS) <= 12
    assert calls["DeleteItem"] == 1


@pytest.mark.parametrize("size", [1, 25])
def test_a_used_key_costs_one_read_more_than_a_create(bench: Bench, size: int) -> None:
    url = f"/api/v1/connections/{CONNECTION_ID}/queued_requests/batch"

    def calls_of(number: int) -> int:
        body = json.dumps({"requests": [{"request_xml": REQUEST_XML}] * number})
        headers = {"Idempotency-Key": "order-17"}
        event = api_event("POST", url, body=body, headers=headers, authorizer={"app_id": APP_ID, "scope": "full"})
        bench.calls.take()
        with using(services_with(bench.store, bench.clock)):
            answer = load("handlers.create_batch.handler")(event, None)
        assert answer["statusCode"] == (201 if number == size else 409)
        return bench.calls.take()

    created = calls_of(size)
    assert calls_of(size + 1 if size == 1 else size - 1) == created + 1


def test_why_it_waits_is_read_beside_the_second_call(bench: Bench) -> None:
    record = bench.queue()
    bench.calls.take()

    assert bench.requests.detail(APP_ID, record.id, CONNECTION_ID)[1]
    assert bench.calls.take() == 2
    assert bench.requests.detail(APP_ID, record.id)[1]
    assert bench.calls.take() == 3  # two of them in parallel


@pytest.fixture(scope="module")
def bench_with_records() -> Iterator[Bench]:
    """Yield the use cases over 210 records of nine days, which no test changes."""
    with emulated_dynamodb():
        bench = Bench()
        for number in range(210):
            now = NOON + timedelta(hours=number)
            record = a_record(
                inserted_at=timestamp(now),
                updated_at=timestamp(now),
                state=State.SENT if number % 10 else State.WAITING,
                webhook=Webhook(WebhookState.PENDING),
            )
            bench.store.commit(AddRequest(record, REQUEST_XML, ""))
            if record.state == State.SENT:
                after = record.moved(State.RESPONSE_RECEIVED, now)
                bench.store.commit(ChangeRequest(record, after, response_xml=RESPONSE_XML))
        yield bench


PAIRS = {None: 2, State.RESPONSE_RECEIVED: 1}
"""The number of pairs of states that the records have, by the filter."""


@pytest.mark.parametrize(("page_size", "batches"), [(1, 1), (20, 1), (50, 1), (51, 2), (100, 2)])
@pytest.mark.parametrize("state", PAIRS)
@pytest.mark.parametrize("webhook_state", [None, WebhookState.PENDING])
def test_a_list_is_three_rounds_of_calls(
    bench_with_records: Bench, page_size: int, batches: int, state: State | None, webhook_state: WebhookState | None
) -> None:
    """Counts and records in flight; a query for each pair; batches of 50 records with their bodies."""
    query = ListQuery(CONNECTION_ID, RequestFilter(state=state, webhook_state=webhook_state), page_size=page_size)
    total_pages = bench_with_records.lists.page(APP_ID, query).total_pages

    for page in {1, (total_pages + 1) // 2, total_pages}:
        bench_with_records.calls.clear()
        list_page = bench_with_records.lists.page(APP_ID, replace(query, page=page))
        assert list_page.items
        assert bench_with_records.calls["Query"] <= 2 + PAIRS[state]
        assert bench_with_records.calls["BatchGetItem"] <= batches
        assert bench_with_records.calls.keys() == {"Query", "BatchGetItem"}


def test_a_list_of_webhooks_that_are_tried_again_is_three_rounds_of_calls(bench: Bench) -> None:
    for state in (State.ERROR, State.RESPONSE_RECEIVED, State.WAITING):
        for attempts in (0, 1):
            webhook = Webhook(WebhookState.PENDING, attempts_in_round=attempts if state is not State.WAITING else 0)
            bench.store.commit(AddRequest(a_record(state=state, webhook=webhook), REQUEST_XML, ""))
    bench.calls.clear()

    page = bench.lists.page(APP_ID, ListQuery(CONNECTION_ID, RequestFilter(webhook_retrying=True)))

    assert len(page.items) == 2
    # Counts, records in flight, and two pairs of states; then the records.
    assert bench.calls == {"Query": 4, "BatchGetItem": 1}


@pytest.mark.parametrize(
    ("within", "counts"),
    [
        (TimeRange("2026-03-16T00:00:00.000000Z"), 0),
        (TimeRange("2026-03-16T00:00:00.000000Z", "2026-03-20T00:00:00.000000Z"), 0),
        (TimeRange("2026-03-16T07:00:00.000000Z"), 1),
        (TimeRange("2026-03-16T17:00:00.000000Z", "2026-03-20T06:00:00.000000Z"), 2),
        (TimeRange("2026-03-16T11:00:00.000000Z", "2026-03-16T13:00:00.000000Z"), 1),
        (TimeRange("2026-03-16T01:00:00.000000Z", "2026-03-16T23:00:00.000000Z"), 2),
        (TimeRange("2027-01-01T01:00:00.000000Z"), 0),
    ],
)
@pytest.mark.parametrize("state", PAIRS)
@pytest.mark.parametrize("sort", ["inserted_at", "updated_at"])
def test_a_list_of_a_range_of_time_takes_a_query_more_for_each_pair_of_a_day_that_it_cuts(
    bench_with_records: Bench,
    sort: Literal["inserted_at", "updated_at"],
    state: State | None,
    within: TimeRange,
    counts: int,
) -> None:
    """And the connection is read beside the counts, because its owner is checked before entries are counted."""
    by_insertion = RequestFilter(state=state, from_=within.start, to=within.end)
    by_update = RequestFilter(state=state, updated_since=within.start, updated_before=within.end)
    which = by_insertion if sort == "inserted_at" else by_update
    query = ListQuery(CONNECTION_ID, which, sort=sort)
    bench_with_records.calls.clear()

    page = bench_with_records.lists.page(APP_ID, query)

    reads = PAIRS[state] if page.items else 0
    assert bench_with_records.calls["Query"] <= 2 + counts * PAIRS[state] + reads
    assert bench_with_records.calls["BatchGetItem"] == (1 if page.items else 0)
    assert bench_with_records.calls["GetItem"] == (1 if page.items else 2)


def test_a_list_by_the_time_of_sending_reads_two_entries_of_each_request_and_the_records_that_they_leave_open(
    bench: Bench,
) -> None:
    """Earlier requests cost nothing, and so do the others of a label."""
    early, late = NOON - timedelta(hours=2), NOON - timedelta(hours=1)
    for number in range(330):
        begun = early if number < 100 else late
        record = a_record(
            inserted_at=timestamp(begun),
            updated_at=timestamp(begun + timedelta(minutes=1)),
            sent_at=timestamp(begun),
            state=State.ERROR if number > 250 else State.RESPONSE_RECEIVED,
            label="nightly" if number % 100 == 50 else None,
        )
        bench.store.commit(AddRequest(record, REQUEST_XML, ""))
    sent = RequestFilter(sent_since=timestamp(late), sent_before=timestamp(NOON))

    def calls(which: RequestFilter) -> tuple[int, int]:
        bench.calls.clear()
        assert bench.lists.page(APP_ID, ListQuery(CONNECTION_ID, which, bodies=False)).items
        return bench.calls["Query"], bench.calls["BatchGetItem"]

    # Counts, records in flight and two queries for each of two pairs; the 79 errors in one batch, and the page.
    assert calls(sent) == (2 + 2 * 2, 1 + 1)
    assert calls(replace(sent, state=State.RESPONSE_RECEIVED)) == (2 + 2, 1)
    # Of the four requests with the label, three were sent in this time.
    assert calls(replace(sent, label="nightly")) == (2 + 1, 1 + 1)


def test_a_list_reads_records_in_flight_beside_the_entries(bench: Bench) -> None:
    for _ in range(3):
        record = bench.queue_without_key()
        bench.store.commit(ChangeRequest(record, record.claimed("a session", bench.clock())))
    bench.calls.clear()

    page = bench.lists.page(APP_ID, ListQuery(CONNECTION_ID, RequestFilter(state=State.TICKETED)))

    assert len(page.items) == 3
    # No pair has the state ticketed.
    assert bench.calls == {"Query": 2, "BatchGetItem": 2}


def test_a_list_without_bodies_does_not_read_them(bench_with_records: Bench) -> None:
    tables: list[str] = []
    client = bench_with_records.store.client
    client.meta.events.register(
        "before-parameter-build.dynamodb.BatchGetItem", lambda params, **_: tables.extend(params["RequestItems"])
    )

    page = bench_with_records.lists.page(APP_ID, ListQuery(CONNECTION_ID, bodies=False))

    assert len(page.items) == 20
    assert tables == [bench_with_records.store.tables.queued_requests]


def test_a_list_with_large_requests_is_a_call_more(bench: Bench) -> None:
    large = base64.b64encode(random.Random(1).randbytes(700_000)).decode()
    for _ in range(15):
        record = a_record(inserted_at=timestamp(NOON), updated_at=timestamp(NOON))
        bench.store.commit(AddRequest(record, f"<r>{large}</r>", ""))
    bench.calls.take()

    page = bench.lists.page(APP_ID, ListQuery(CONNECTION_ID))

    assert bench.calls.take() == 5
    with_request = [item.request_xml is not None for item in page.items]
    # 8 MiB hold eight requests of 0.9 MB.
    assert with_request == [True] * 8 + [False] * 7


def test_a_list_reads_its_connection_beside_the_page(bench_with_records: Bench) -> None:
    """The waiting reasons of the items take another call, parallel to those of the page."""
    event = api_event(
        "GET",
        f"/api/v1/connections/{CONNECTION_ID}/queued_requests?state=waiting",
        authorizer={"app_id": APP_ID, "scope": "full"},
    )
    calls = []

    with using(services_with(bench_with_records.store, bench_with_records.clock)):
        for _ in range(10):
            bench_with_records.calls.take()
            response = load("handlers.list_queued_requests.handler")(event, None)
            calls.append(bench_with_records.calls.take())

    # A portion is a tenth of the 50 reads per second.
    assert calls == [6, 5, 5, 5, 5] * 2
    assert {item["waiting_reason"]["code"] for item in json.loads(response["body"])["data"]} == {"never_connected"}


def test_a_list_of_connections_with_counts_adds_two_queries_for_each_and_one_batch(bench: Bench) -> None:
    connections = [f"c0000000-0000-4000-8000-0000000001{number:02}" for number in range(19)]
    for connection_id in connections:
        bench.store.commit(Put(None, a_connection(id=connection_id)))
    record = bench.queue()
    calls = {}

    with using(services_with(bench.store, bench.clock)):
        for query, in_flight in (("", 0), ("?counts=true", 0), ("?counts=true", 1)):
            if in_flight:
                bench.store.commit(ChangeRequest(record, record.claimed("", bench.clock())))
            event = api_event("GET", f"/api/v1/connections{query}", authorizer={"app_id": APP_ID, "scope": "full"})
            bench.calls.clear()
            load("handlers.list_connections.handler")(event, None)
            bench.calls.pop("UpdateItem", 0)  # a portion of the reads
            calls[query, in_flight] = bench.calls.take()

    assert calls == {("", 0): 2, ("?counts=true", 0): 2 + 2 * 20, ("?counts=true", 1): 2 + 2 * 20 + 1}


def test_a_web_connector_session_is_three_round_trips_a_step_and_one_more_for_a_response(bench: Bench) -> None:
    """A response reads its request and the front of the queue in parallel, and is stored before the transaction.

    The last response reads the connection too, and ends the session.
    """
    records = [bench.queue_without_key() for _ in range(2)]
    bench.calls.take()

    reply = bench.soap("authenticate", strUserName=CONNECTION_ID, strPassword=PASSWORD)
    assert bench.calls.take() <= 3
    match = re.search("<string>([^<]+)</string>", reply)
    assert match
    ticket = match[1]
    for record in records:
        assert "CustomerQueryRq" in bench.soap("sendRequestXML", ticket=ticket, strHCPResponse="")
        assert bench.calls.take() <= 3
        bench.soap("receiveResponseXML", ticket=ticket, response=RESPONSE_XML, hresult="", message="")
        assert bench.calls.pop("UpdateItem") == 1
        assert bench.calls.take() <= (5 if record is records[-1] else 4)
        current = bench.store.request(record.id)
        assert isinstance(current, QueuedRequest)
        assert current.state == State.RESPONSE_RECEIVED
        bench.calls.take()
    bench.soap("closeConnection", ticket=ticket)
    assert bench.calls.take() == 1


def test_a_login_that_takes_over_reads_the_former_session_too(bench: Bench) -> None:
    """Two calls more than other logins: the session to end, then the requests that it holds."""
    bench.queue_without_key()
    bench.soap("sendRequestXML", ticket=bench.log_in(), strHCPResponse="")
    bench.clock.advance(seconds=BUSY_SECONDS_OF_A_READ)
    bench.calls.take()

    bench.log_in()

    assert bench.calls.take() == 5


def test_a_login_that_does_not_take_over_makes_three_calls(bench: Bench) -> None:
    bench.queue_without_key()
    bench.soap("sendRequestXML", ticket=bench.log_in(), strHCPResponse="")
    bench.calls.take()

    bench.log_in()

    assert bench.calls.take() == 3


WRONG_FILE = {"strHCPResponse": hcp("{11111111-1111-1111-1111-111111111111}")}
A_DIALOG = {"hresult": "0x80040414", "message": "A modal dialog box is showing."}


@pytest.mark.parametrize(
    "steps",
    [
        [("connectionError", A_DIALOG, 4), ("connectionError", A_DIALOG, 1), ("getLastError", {}, 1)],
        [("sendRequestXML", WRONG_FILE, 4), ("sendRequestXML", {}, 1), ("closeConnection", {}, 1)],
        [
            ("sendRequestXML", {"strHCPResponse": hcp()}, 4),  # one for new facts about QuickBooks
            ("receiveResponseXML", A_DIALOG, 4),  # two of them in parallel
            ("receiveResponseXML", A_DIALOG, 1),
            ("closeConnection", {}, 3),
            ("closeConnection", {}, 1),
        ],
    ],
    ids=["connection error", "wrong company file", "exception"],
)
def test_a_failure_in_a_session_costs_no_more_calls_than_a_success(
    bench: Bench, steps: list[tuple[str, dict[str, str], int]]
) -> None:
    bench.queue_without_key()
    ticket = bench.log_in()
    bench.calls.take()

    for method, values, calls in steps:
        bench.soap(method, ticket=ticket, **values)
        assert bench.calls.take() == calls, method


def test_authenticate_without_work_is_three_calls(bench: Bench) -> None:
    bench.calls.take()

    assert "<string>none</string>" in bench.soap("authenticate", strUserName=CONNECTION_ID, strPassword=PASSWORD)

    assert bench.calls.take() <= 3


def test_a_poll_without_work_writes_once_in_ten_minutes_and_closing_it_makes_no_call(bench: Bench) -> None:
    bench.set(inserted_at="2026-03-01T00:00:00.000000Z")
    operations = []
    for _ in range(6):
        bench.calls.clear()
        ticket = bench.log_in()
        bench.soap("closeConnection", ticket=ticket)
        operations.append(dict(bench.calls))
        bench.clock.advance(seconds=270)

    unrecorded = {"GetItem": 1, "Query": 1}
    recorded = unrecorded | {"PutItem": 1}
    assert operations == [recorded, unrecorded, unrecorded, recorded, unrecorded, unrecorded]


@pytest.mark.parametrize("days", [0, 3])
def test_a_poll_without_work_costs_no_more_after_an_onboarding(bench: Bench, days: int) -> None:
    """While the link lives, and after it has expired."""
    answered = timestamp(NOON + timedelta(seconds=1))
    bench.set(inserted_at="2026-03-01T00:00:00.000000Z", onboarding=a_link(), quickbooks_answered_at=answered)
    bench.clock.advance(days=days, minutes=1)
    bench.soap("closeConnection", ticket=bench.log_in())
    bench.clock.advance(seconds=270)
    bench.calls.clear()

    bench.soap("closeConnection", ticket=bench.log_in())

    assert dict(bench.calls) == {"GetItem": 1, "Query": 1}


def test_an_onboarding_check_is_a_session_of_twelve_calls(bench: Bench) -> None:
    """A write of the session and of the connection in each step."""
    bench.set(onboarding=a_link())

    ticket = bench.log_in()
    assert bench.calls.take() == 3
    assert "HostQueryRq" in bench.soap("sendRequestXML", ticket=ticket, strHCPResponse=hcp())
    assert bench.calls.take() == 3
    bench.soap("receiveResponseXML", ticket=ticket, response=hcp(), hresult="", message="")
    assert bench.calls.take() == 3
    bench.soap("closeConnection", ticket=ticket)
    assert bench.calls.take() == 3


def test_a_login_counts_the_live_sessions_beside_its_calls_once_a_second(bench: Bench) -> None:
    bench.set(last_connected_at=timestamp(NOON))
    bench.web_connector = WebConnector(
        bench.store, bench.clock, SequentialIds(), CountingSecrets(), budget=Budget(50, 500)
    )
    operations = []
    for _ in range(2):
        bench.queue_without_key()
        bench.calls.clear()
        ticket = bench.log_in()
        operations.append(dict(bench.calls))
        bench.soap("closeConnection", ticket=ticket)
        bench.clock.now -= timedelta(seconds=1)  # queueing advanced it

    # The front of the queue and, from another thread, the index of live sessions.
    writes = {"UpdateItem": 1, "TransactWriteItems": 1}
    assert operations == [{"GetItem": 1, "Query": queries} | writes for queries in (2, 1)]


@pytest.mark.parametrize(("minutes", "units"), [(0, 2), (3, 4)])
def test_the_index_of_live_sessions_takes_a_write_at_the_begin_and_the_end_and_two_for_a_minute_with_calls(
    bench: Bench, minutes: int, units: int
) -> None:
    """A changed entry is written twice, because its key changes."""
    entries: list[tuple[Any, ...]] = [()]

    def call(method: str, **values: str) -> str:
        reply = bench.soap(method, **values)
        (item,) = bench.store.client.scan(TableName=bench.store.tables.sessions)["Items"]
        entries.append(tuple(item[name]["S"] for name in ("live", "live_minute") if name in item))
        return reply

    for _ in range(2):
        bench.queue_without_key()
    bench.clock.now = NOON + timedelta(minutes=5)
    reply = call("authenticate", strUserName=CONNECTION_ID, strPassword=PASSWORD)
    ticket = reply.partition("<string>")[2].partition("<")[0]
    call("sendRequestXML", ticket=ticket, strHCPResponse="")
    bench.clock.advance(minutes=minutes)
    call("receiveResponseXML", ticket=ticket, response=RESPONSE_XML, hresult="", message="")
    call("sendRequestXML", ticket=ticket, strHCPResponse="")
    call("receiveResponseXML", ticket=ticket, response=RESPONSE_XML, hresult="", message="")
    call("closeConnection", ticket=ticket)

    assert sum(bool(before) + bool(after) for before, after in pairwise(entries) if before != after) == units


@pytest.mark.parametrize(
    "settings", [{"paused_at": timestamp(NOON)}, {"sync_window": SyncWindow("01:00", "02:00", "UTC")}]
)
def test_authenticate_while_the_queue_is_held_is_two_calls(bench: Bench, settings: dict[str, Any]) -> None:
    bench.queue_without_key()
    bench.set(**settings)

    assert "<string>none</string>" in bench.soap("authenticate", strUserName=CONNECTION_ID, strPassword=PASSWORD)

    assert bench.calls.take() == 2


def test_a_session_that_lingers_reads_twice_and_takes_a_request_in_four_calls(bench: Bench) -> None:
    """One call more than other steps: the body to read is known only after the queue was read (0017)."""
    bench.set(linger_seconds=60)
    bench.queue_without_key()
    ticket = bench.log_in()
    bench.soap("sendRequestXML", ticket=ticket, strHCPResponse="")
    assert ">99<" in bench.soap("receiveResponseXML", ticket=ticket, response=RESPONSE_XML, hresult="", message="")
    bench.calls.take()

    assert ">NoOp<" in bench.soap("sendRequestXML", ticket=ticket, strHCPResponse="")
    assert bench.calls.take() == 2
    assert ">NoOp<" in bench.soap("getLastError", ticket=ticket)
    assert bench.calls.take() == 1
    bench.queue_without_key()
    bench.calls.take()
    assert "CustomerQueryRq" in bench.soap("sendRequestXML", ticket=ticket, strHCPResponse="")
    assert bench.calls.take() == 4
    assert ">99<" in bench.soap("receiveResponseXML", ticket=ticket, response=RESPONSE_XML, hresult="", message="")
    assert bench.calls.take() == 5


def test_an_action_costs_one_more_item_of_its_transaction_which_takes_one_kilobyte(bench: Bench) -> None:
    record = bench.queue_without_key()
    transactions: list[list[str]] = []
    bench.store.client.meta.events.register(
        "provide-client-params.dynamodb.TransactWriteItems",
        lambda params, **_: transactions.append(
            [next(iter(item.values()))["TableName"] for item in params["TransactItems"]]
        ),
    )
    bench.connections.pause(APP_ID, CONNECTION_ID, actor=AN_ACTOR)
    bench.connections.update(
        APP_ID, CONNECTION_ID, actor=AN_ACTOR, name="N", company_file="F", linger_seconds=1, batch_size=2
    )
    bench.calls.take()
    bench.requests.discard(APP_ID, record.id, CONNECTION_ID, actor=AN_ACTOR)

    assert bench.calls.take() == 2
    tables = bench.store.tables
    assert transactions[:2] == [[tables.connections, tables.audit_log]] * 2
    assert transactions[2].count(tables.audit_log) == 1
    items = bench.store.client.scan(TableName=tables.audit_log)["Items"]
    assert len(items) == 3
    assert max(size_of(item) for item in items) <= 1024


def test_pausing_is_two_calls_and_four_with_a_session(bench: Bench) -> None:
    """It reads the session and the record that it is about to send."""
    bench.queue_without_key()
    bench.calls.take()
    bench.connections.pause(APP_ID, CONNECTION_ID, actor=AN_ACTOR)
    assert bench.calls.take() == 2
    bench.connections.resume(APP_ID, CONNECTION_ID, actor=AN_ACTOR)
    bench.log_in()
    bench.calls.take()

    bench.connections.pause(APP_ID, CONNECTION_ID, actor=AN_ACTOR)

    assert bench.calls.take() == 4


def test_settling_is_four_calls_and_three_while_its_queries_wait(bench: Bench) -> None:
    service, write = SettlingService(bench.store, bench.clock), add_unknown_write(bench.store)
    bench.calls.take()

    for calls in (4, 3):
        service.settle(APP_ID, write.id)
        assert bench.calls.take() == calls


def test_the_service_asks_by_itself_in_as_many_calls(bench: Bench) -> None:
    service, write = SettlingService(bench.store, bench.clock), add_unknown_write(bench.store)
    bench.calls.take()

    for calls in (4, 3):
        service.proceed(write.id)
        assert bench.calls.take() == calls


def test_a_sweep_reads_four_shards_for_unsettled_writes(bench: Bench) -> None:
    service = SettlingService(bench.store, bench.clock)
    bench.calls.take()

    assert settle_writes(bench.store, service, bench.clock, bench.clock() + timedelta(minutes=1)) == (0, True)
    assert bench.calls == {"Query": 4}


@pytest.mark.parametrize(("xml", "calls"), [(DELETION, 6), (ADDITION, 53)])
def test_what_settles_a_write_is_stored_in_so_many_calls(bench: Bench, xml: str, calls: int) -> None:
    """An addition is compared with others in the lists, which are a query for each pair of states."""
    service, write = SettlingService(bench.store, bench.clock), add_unknown_write(bench.store, xml)
    add_executed(bench.store, NOON - timedelta(hours=3), "2026-03-14T09:00:00Z")
    add_executed(bench.store, NOON + timedelta(minutes=1), "2026-03-14T12:01:00Z")
    service.settle(APP_ID, write.id)
    bench.clock.advance(hours=1)
    ids = ids_of_batch(settling_id(write.id, 1), 3 if xml == ADDITION else 1)
    for query_id in ids:
        end_query(bench.store, query_id, bench.clock())
    bench.calls.take()

    assert service.proceed(write.id)
    assert bench.calls.take() == calls


def test_a_contact_is_one_call_and_its_change_two_and_one_if_nothing_changes(bench: Bench) -> None:
    bench.store.commit(Put(None, App(APP_ID, "Shop", timestamp(NOON))))
    administration = Administration(bench.store, bench.clock, SequentialIds(), counting_bytes)
    bench.calls.take()

    administration.app(APP_ID)
    assert bench.calls.take() == 1

    for calls in (2, 1):
        administration.set_contact(APP_ID, {"phone": "+1 555 010 0199"}, actor=AN_ACTOR)
        assert bench.calls.take() == calls


def test_a_connection_is_read_with_the_front_of_its_queue(bench: Bench) -> None:
    """A query that finds nothing, and one more for a priority in use, each half a read unit."""
    event = api_event("GET", f"/api/v1/connections/{CONNECTION_ID}", authorizer={"app_id": APP_ID, "scope": "full"})
    for queries in (1, 2):
        calls = waited(bench, event, "get_connection")
        assert [calls[name] for name in READS] == [1, 0, queries]
        bench.queue_without_key()


def test_the_statistics_of_a_connection_are_three_calls_and_three_more_with_a_queue_and_failures(bench: Bench) -> None:
    """Connection, counts and the empty queue; then another priority of the queue, and failures with their index."""
    overviews = Overviews(bench.store, bench.clock)
    bench.calls.take()
    overviews.of_connection(APP_ID, CONNECTION_ID, KEPT_DAYS)
    assert bench.calls == {"GetItem": 1, "Query": 2}
    bench.queue_without_key()
    webhook = Webhook(WebhookState.FAILED, "https://shop.example/hook", attempts_in_round=1)
    for _ in range(30):
        bench.store.commit(AddRequest(a_record(state=State.RESPONSE_RECEIVED, webhook=webhook), REQUEST_XML, ""))
    bench.calls.take()

    overviews.of_connection(APP_ID, CONNECTION_ID, KEPT_DAYS)

    assert bench.calls == {"GetItem": 1, "Query": 4, "BatchGetItem": 1}


def test_the_statistics_of_an_app_are_two_calls_for_each_connection_without_a_queue(bench: Bench) -> None:
    for number in range(1, 150):
        bench.store.commit(Put(None, a_connection(id=f"c0000000-0000-4000-8000-{number + 1000:012}")))
    bench.calls.take()

    Overviews(bench.store, bench.clock).of_app(APP_ID, KEPT_DAYS)

    assert bench.calls == {"Query": 1 + 2 * 150, "BatchGetItem": 2}


def test_statistics_take_no_call_and_no_write_unit_of_a_request(bench: Bench) -> None:
    """The row of counts has them beside a count for each pair of states, and is still written with two units."""
    records = [bench.queue_without_key() for _ in range(3)]
    ticket = bench.log_in()
    for _ in records:
        sent = unescape(bench.soap("sendRequestXML", ticket=ticket, strHCPResponse=""), {"&quot;": '"'})
        bench.clock.advance(seconds=3)
        bench.soap("receiveResponseXML", ticket=ticket, response=set_response(sent), hresult="", message="")

    (row,) = bench.store.client.scan(TableName=bench.store.tables.counts)["Items"]
    slots = statistics_of(row)
    assert {slot.series for slot in slots} == set(Series) - {Series.ERROR, Series.WRITE}
    assert sum(slots.values()) == 4 * len(records)
    assert size_of(row) <= 1024


def test_a_set_of_20_is_sent_in_four_round_trips_and_received_in_four(bench: Bench) -> None:
    """The bodies of the other requests are known only after the queue was read. Two reads of each step are parallel.

    All responses are stored with one call. The last ones end the session, for which the connection is read.
    """
    bench.set(batch_size=20)
    records = [bench.queue_without_key() for _ in range(1 + 2 + 4 + 8 + 16 + 20)]
    entries: list[int] = []
    bench.store.client.meta.events.register(
        "provide-client-params.dynamodb.TransactWriteItems",
        lambda params, **_: entries.append(len(params["TransactItems"])),
    )
    ticket = bench.log_in()
    calls = []
    for _ in range(6):
        bench.calls.take()
        sent = unescape(bench.soap("sendRequestXML", ticket=ticket, strHCPResponse=""), {"&quot;": '"'})
        sending = bench.calls.take()
        bench.soap("receiveResponseXML", ticket=ticket, response=set_response(sent), hresult="", message="")
        assert bench.calls["UpdateItem"] + bench.calls["BatchExecuteStatement"] == 1
        calls.append((len(labels_in(sent)), sending, bench.calls.take()))

    assert calls == [(1, 3, 5), *[(size, 5, 5) for size in (2, 4, 8, 16)], (20, 5, 6)]
    # DynamoDB: a transaction has at most 100 entries. The requests of a set can have 20 days of counts.
    assert max(entries) <= 50
    for record in records:
        current = bench.store.request(record.id)
        assert isinstance(current, QueuedRequest)
        assert current.state is State.RESPONSE_RECEIVED


def test_an_event_costs_three_calls_and_two_write_units(bench: Bench) -> None:
    """Look for repetitions, put the group, and let the former group expire. Events of a batch share these calls.

    The first event of an app also reads the app and the beginning of its log, and writes both items in a transaction.
    """
    bench.store.commit(Put(None, App(APP_ID, "Shop", timestamp(NOON))))
    bench.calls.take()
    append_events(bench.store, APP_ID, [an_ended_event(0)], NOON)
    assert bench.calls == {"Query": 2, "GetItem": 2, "TransactWriteItems": 1}

    for number in range(1, 30):
        bench.calls.take()
        append_events(bench.store, APP_ID, [an_ended_event(number)], NOON)
        assert bench.calls == {"Query": 1, "PutItem": 1, "UpdateItem": 1}
    append_events(bench.store, APP_ID, [an_ended_event(number) for number in range(100, 200)], NOON)

    items = [item for item in bench.store.client.scan(TableName=bench.store.tables.events)["Items"] if "at" in item]
    units = [2 * -(-size_of(item) // 1024) for item in items]
    assert units == [2] * 30 + [18], "each item is written when it is put and when it may expire"


def an_ended_event(number: int) -> LoggedEvent:
    """Return the event of a request."""
    return LoggedEvent(EventOutcome.COMPLETED, f"b0000000-0000-4000-8000-{number:012}", CONNECTION_ID, 4)


def test_the_feed_is_one_call_without_events_and_three_rounds_with_events(bench: Bench) -> None:
    bench.store.commit(Put(None, App(APP_ID, "Shop", timestamp(NOON))))
    feed = Feed(bench.store, bench.clock)
    record_ids = [an_ended_request(bench, RESPONSE_XML) for _ in range(25)]
    for record_id in record_ids:
        append_events(bench.store, APP_ID, [LoggedEvent(EventOutcome.COMPLETED, record_id, CONNECTION_ID, 4)], NOON)
    bench.calls.take()

    page = feed.page(APP_ID, "0", FeedFilter(), 24)
    contents = list(feed.contents(page.events))
    assert bench.calls == {"Query": 1, "BatchGetItem": 1, "GetItem": 1}
    assert len(contents) == 24

    end = str(feed.page(APP_ID, str(page.after), FeedFilter(), 24).after)
    bench.calls.take()
    assert feed.page(APP_ID, end, FeedFilter(), 100).events == []
    assert bench.calls == {"Query": 1}


def test_many_requests_are_changed_with_three_reads_for_a_part_and_a_transaction_for_25(bench: Bench) -> None:
    many = ManyRequests(bench.store, bench.clock, lambda: None)
    bench.set(webhook_url="https://shop.example/hooks")
    records = [bench.queue_without_key() for _ in range(40)]
    bench.clock.advance(seconds=1)
    bench.calls.clear()

    discarded = many.discard(APP_ID, CONNECTION_ID, RequestFilter(request_name="CustomerQueryRq"), actor=AN_ACTOR)
    discards = dict(bench.calls)
    for record in records:
        current = bench.store.request(record.id)
        assert isinstance(current, QueuedRequest)
        failed = current.with_webhook(
            bench.clock(), replace(current.webhook, state=WebhookState.FAILED, attempts_in_round=10)
        )
        bench.store.commit(ChangeRequest(current, failed))
    bench.clock.advance(seconds=1)
    bench.calls.clear()
    redelivered = many.redeliver(APP_ID, CONNECTION_ID, TimeRange(timestamp(NOON)), lambda: None, actor=AN_ACTOR)

    assert (discarded.changed, redelivered.changed) == (40, 40)
    # The connection, and twice more to find a session with requests in flight, before and after the queue is read.
    # Eight pairs of states, in parallel, four of them of requests that wait for approval, and the queue; three pairs of
    # ended states with a failed webhook.
    # The two puts are the entry in the audit log, before the first change and after the last one.
    assert discards == {"GetItem": 3, "Query": 9, "BatchGetItem": 1, "TransactWriteItems": 2, "PutItem": 2}
    assert dict(bench.calls) == {"GetItem": 1, "Query": 3, "BatchGetItem": 1, "TransactWriteItems": 2, "PutItem": 2}
