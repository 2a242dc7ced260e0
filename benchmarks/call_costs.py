"""Counts the DynamoDB calls and units that the calls of an app use, in connections of several sizes.

`benchmarks.costs` runs it, and `tests/integration/test_call_costs.py` repeats the smallest size. The functions answer
the calls in this process. Each is made TIMES times, because only each fifth one counts the reads of the app.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlencode

from moto import mock_aws

from adapters.dynamodb import DynamoDBStore
from benchmarks import looking_costs, subscription_costs
from benchmarks.listing_data import DAYS, FIRST_DAY, a_connection, load_here
from domain.events.log import append_events
from domain.records.event import EventOutcome, LoggedEvent
from domain.records.subscription import ChangePage, PageKind, Subscription, SubscriptionWebhook
from domain.storage.changes import Put
from domain.timestamps import timestamp
from domain.webhooks.ports import HttpResponse, PlannedChanges
from domain.webhooks.unrecorded_events import first_attempts
from handlers import onboard_customer
from local.emulated_dynamodb import emulated_dynamodb
from local.tables import make_tables
from local.template import Template
from tests.contract.conftest import dynamodb_client
from tests.integration.api.conftest import make_deployment
from tests.support.builders import CONNECTION_ID
from tests.support.counted_units import CountedUnits
from tests.support.services import using
from tests.support.webhooks import PlannedAttempts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tests.integration.api.conftest import Deployment

SIZES = (1_000, 10_000, 100_000)
TINY_SIZES = (100,)
"""Requests of a connection over a year."""

SQS_CALLS = 3
"""A message is sent, received and deleted."""

TIMES = 5
CONNECTIONS = 20
EVENTS = 25
CHANGED = 100
CHANGES = 20
LAST_DAY = FIRST_DAY + timedelta(days=DAYS - 1)


def _days_ago(name: str, days: int) -> dict[str, str]:
    return {name: timestamp(LAST_DAY - timedelta(days=days))}


HOUR = {"sent_since": timestamp(LAST_DAY), "sent_before": timestamp(LAST_DAY + timedelta(hours=1))}
PHRASE = {"search_phrase": "eriksen 1234"}

LISTS: Mapping[str, Mapping[str, Any]] = {
    "a page of 20 requests with their bodies": {},
    "the same, `bodies=false`": {"bodies": "false"},
    "the same, `page_size=100`": {"page_size": 100},
    "`state=error`": {"state": "error"},
    "an hour of `sent_since` and `sent_before`, yesterday": HOUR,
    "`sent_since` a day ago": _days_ago("sent_since", 1),
    "`request_name`, `from` a week ago": {"request_name": "CustomerAddRq"} | _days_ago("from", 7),
    "`search_phrase`, `from` a month ago": PHRASE | _days_ago("from", 30),
    "`search_phrase`": PHRASE,
}
"""Parameters of lists. What these use depends on the size of the connection."""

READS: Mapping[str, str] = {
    "a request with its response": "/queued_requests/{ended}",
    "a connection": "/connections/{connection}",
    f"a list of {CONNECTIONS} connections": f"/connections?page_size={CONNECTIONS}",
    "the same, `counts=true`": f"/connections?page_size={CONNECTIONS}&counts=true",
    "statistics of a connection": "/connections/{connection}/statistics",
    f"statistics of an app with {CONNECTIONS} connections": "/statistics",
    "the feed, without new events": "/events?after={next}",
    f"the feed, {EVENTS} events": f"/events?limit={EVENTS}",
    "the audit log, 20 entries": "/audit_log?limit=20",
}


Counted: TypeAlias = "Mapping[str, float]"
"""What a call or each of the things that it changes used: `http_calls`, `calls` of DynamoDB, and its units."""


class Bench:
    """An app with some requests, events and connections, whose calls are counted."""

    def __init__(self, deployment: Deployment, units: CountedUnits, database: Any, tables: Any) -> None:
        self._deployment, self._units = deployment, units
        self._database, self._tables = database, tables
        self._calls: Counter[str] = Counter()
        units.client.meta.events.register("before-call.dynamodb", lambda model, **_: self._calls.update([model.name]))
        self.ended = [deployment.queue(label="bulk")["id"] for _ in range(EVENTS)]
        for request_id in self.ended:
            deployment.end(request_id)
            event = LoggedEvent(EventOutcome.COMPLETED, request_id, CONNECTION_ID, 4)
            append_events(deployment.store, deployment.app_id, [event], deployment.clock())
        for _ in range(CONNECTIONS - 1):
            self.call("POST", "/connections", {"name": "Bayshore"})

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Make a call and return its JSON."""
        self._deployment.clock.advance(seconds=1)
        response = self._deployment.api.call(method, f"/api/v1{path}", body)
        assert response.status < 300, (path, response)
        return response.json if response.status != 204 else None  # no content

    def counted(self, method: str, path: str, body: Any = None, times: int = TIMES, each: int = 1) -> Counted:
        """Return what a call used on average, divided by the number of things that `each` call changes.

        The authorizer is left out, because API Gateway caches its answer. `GET /api_key` uses nothing else.
        """
        calls, reads, writes = (
            (used - times * authorized) / times / each
            for used, authorized in zip(
                self._used(method, path, body, times), self._used("GET", "/api_key", None, 1), strict=True
            )
        )
        used = {"calls": round(calls, 1), "reads": round(reads, 1), "writes": round(writes, 1)}
        return {"http_calls": round(1 / each, 2)} | used

    def _used(self, method: str, path: str, body: Any, times: int) -> tuple[float, float, float]:
        self._calls.clear()
        self._units.reads = self._units.writes = 0
        for _ in range(times):
            self.call(method, path, body)
        return self._calls.total(), self._units.reads, self._units.writes

    def lists(self, size: int) -> Iterator[tuple[str, Counted]]:
        """Yield what the lists of a new connection with this number of requests use."""
        connection = a_connection(self._deployment.app_id)
        self._deployment.store.commit(Put(None, connection))
        load_here(self._database, self._tables, connection, size)
        for name, parameters in LISTS.items():
            query = f"?{urlencode(parameters)}" if parameters else ""
            yield name, self.counted("GET", f"/connections/{connection.id}/queued_requests{query}")

    def reads(self) -> Iterator[tuple[str, Counted]]:
        """Yield what other reads use."""
        after = self.call("GET", f"/events?limit={EVENTS}")["next"]
        for name, path in READS.items():
            yield name, self.counted("GET", path.format(ended=self.ended[0], connection=CONNECTION_ID, next=after))

    def changes(self) -> Iterator[tuple[str, Counted]]:
        """Yield what calls use that change something, without the requests that they queue or send."""
        requests = f"/connections/{CONNECTION_ID}/queued_requests"
        yield "a new connection", self.counted("POST", "/connections", {"name": "Bayshore"})
        yield "a change of a connection", self.counted("PATCH", f"/connections/{CONNECTION_ID}", {"name": "B"}, 1)
        waiting = self._deployment.queue()["id"]
        yield "the discard of a request", self.counted("POST", f"/queued_requests/{waiting}/discard", {}, 1)
        yield "the deletion of a request", self.counted("DELETE", f"/queued_requests/{self.ended[-1]}", None, 1)
        for _ in range(CHANGED):
            self._deployment.queue(label="bulk")
        which = {"filter": {"state": "waiting", "label": "bulk"}}
        counted = self.counted("POST", f"{requests}/discard", which, 1, CHANGED)
        yield f"the discard of {CHANGED} requests, each", counted
        which = {"filter": {"state": "discarded", "label": "bulk"}}
        counted = self.counted("POST", f"{requests}/queue_again", which, 1, CHANGED)
        yield f"the queueing of {CHANGED} requests again, each", counted

    def webhooks(self) -> Iterator[tuple[str, Counted]]:
        """Yield what webhooks use that the requests do not have, and a poll of the onboarding page."""
        services, receiver = self._deployment.services, Receiver()
        services.webhook_sender, services.retry_queue = receiver, PlannedAttempts([])
        url = {"webhook_url": "https://shop.example/hooks"}
        yield "a test of a webhook", self.counted("POST", f"/connections/{CONNECTION_ID}/test_webhook", url)
        self.call("PATCH", f"/connections/{CONNECTION_ID}", url | {"webhook_events": ["connection.stalled"]})
        connection = self._deployment.store.connection(CONNECTION_ID)
        assert connection
        (event,) = first_attempts(connection, [EventOutcome.STALLED], self._deployment.clock())
        of_event = self._attempt(lambda: services.event_deliverer.attempt(event), functions=2, sqs_calls=SQS_CALLS)
        yield "an event of a connection by webhook", of_event
        changes = self._page_of_changes(url["webhook_url"])
        yield (
            f"a page of {CHANGES} changes by webhook",
            self._attempt(lambda: services.event_deliverer.attempt(changes), functions=1, sqs_calls=SQS_CALLS),
        )
        ended = self._deployment.queue(**url)["id"]
        self._deployment.end(ended)

        def attempt() -> Callable[[], object]:
            return partial(services.deliverer.first_attempt, self._deployment.stored_record(ended))

        attempt()()
        call = self.counted("POST", f"/queued_requests/{ended}/redeliver", {}, 1)
        delivery = self._attempt(attempt(), functions=2)
        yield "a redelivery with its attempt", {name: call.get(name, 0) + used for name, used in delivery.items()}
        self.call("POST", f"/queued_requests/{ended}/redeliver", {})
        receiver.status = 500
        yield "an attempt that fails", self._attempt(attempt(), functions=1, sqs_calls=SQS_CALLS)
        link = self.call("POST", f"/connections/{CONNECTION_ID}/onboarding_url", {})["data"]["links"]["onboarding"]
        authorization = {"Authorization": f"Bearer {link.rpartition('#')[2]}"}
        poll = {"resource": "/onboarding/connection", "headers": authorization}

        progress = partial(onboard_customer.handler, poll, None)
        yield "a poll of the onboarding page", {**self._attempt(progress), "http_calls": 1.0}
        yield "the last use of a key, once in an hour", self._last_use()

    def _page_of_changes(self, url: str) -> PlannedChanges:
        """Store a page of changes and a subscription with a webhook. Return the attempt to send it."""
        now, app_id = timestamp(self._deployment.clock()), self._deployment.app_id
        one = Subscription(
            *("s", CONNECTION_ID, app_id, now, now, ("Customer",), 15, "all", now), webhook=SubscriptionWebhook(url)
        )
        records = [
            {"id": f"{number:X}-1773489600", "record": {"Name": f"Bayshore {number}"}} for number in range(CHANGES)
        ]
        page = ChangePage(
            *(CONNECTION_ID, app_id, 1, PageKind.CHANGED, "Customer", 1, now, CHANGES, json.dumps(records), (one.id,))
        )
        self._deployment.store.commit(Put(None, one), Put(None, page))
        return PlannedChanges(CONNECTION_ID, app_id, one.id, page.sequence, 0, self._deployment.clock())

    def _last_use(self) -> Counted:
        """Return what the first call of a key in an hour uses besides what other calls use."""
        usual = self._used("GET", "/api_key", None, 1)
        self._deployment.clock.advance(hours=1)
        first = self._used("GET", "/api_key", None, 1)
        calls, reads, writes = (used - other for used, other in zip(first, usual, strict=True))
        return {"http_calls": 0.0, "calls": calls, "reads": reads, "writes": writes}

    def _attempt(self, attempt: Callable[[], object], **used: float) -> Counted:
        """Return what an attempt uses, or another call outside of `api`, besides its functions and messages."""
        self._calls.clear()
        self._units.reads = self._units.writes = 0
        assert attempt()
        counted = {"calls": float(self._calls.total()), "reads": self._units.reads, "writes": self._units.writes}
        return {"http_calls": 0.0, **counted, **used}


@dataclass
class Receiver:
    """Answers each webhook with a status."""

    status: int = 200

    def post(self, _url: str, _headers: Mapping[str, str], _body: bytes, _timeout_seconds: float) -> HttpResponse:
        """Answer."""
        return HttpResponse(self.status, "")


def counted(sizes: tuple[int, ...] = SIZES) -> dict[str, dict[str, Counted]]:
    """Return what each call uses: lists by size, and other calls."""
    with emulated_dynamodb() as database, mock_aws(), _without_log():
        client = dynamodb_client()
        tables = make_tables(client, "", with_stream=False)
        definitions = {table["TableName"]: table for table in Template.load().table_definitions()}
        deployment = make_deployment(DynamoDBStore(client, tables))  # type: ignore[arg-type]
        with using(deployment.services):
            bench = Bench(deployment, CountedUnits(client, definitions), _Direct(database), tables)
            calls = {"reads": dict(bench.reads()), "changes": dict(bench.changes())}
            calls["webhooks"] = dict(bench.webhooks())
            calls |= {f"lists of {size}": dict(bench.lists(size)) for size in sizes}
    return {**calls, "looking": dict(looking_costs.counted()), "subscriptions": dict(subscription_costs.counted())}


@contextmanager
def _without_log() -> Iterator[None]:
    """Leave out the lines of calls that succeed, which would be between those of the program."""
    logging.disable(logging.INFO)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


class _Direct:
    """Writes into the database in this process without a client, which is three times as fast."""

    def __init__(self, database: Any) -> None:
        self._database = database

    def batch_write_item(self, **request: Any) -> Any:
        """Store items."""
        return {"UnprocessedItems": {}} | self._database.batch_write_item(request)
