"""The dearest calls of an app use no more units of DynamoDB than `tools.highest_costs` assumes."""

from __future__ import annotations

import base64
import random
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from adapters.dynamodb import DynamoDBStore
from adapters.dynamodb.bodies import MAX_INLINE_RESPONSE_BYTES
from domain.events.log import append_events
from domain.queueing.many import USUAL_BOUNDS
from domain.records.batch import MAX_DEPENDANTS
from domain.records.event import EventOutcome, LoggedEvent
from domain.web_connector.protocol.soap import MAX_BODY_BYTES as MAX_CALL_BYTES
from local.emulated_dynamodb import emulated_dynamodb
from local.tables import make_tables
from local.template import Template
from tests.contract.conftest import dynamodb_client
from tests.integration.api.conftest import make_deployment
from tests.support.builders import CONNECTION_ID
from tests.support.counted_units import CountedUnits
from tests.support.services import using
from tools.highest_costs import CHANGE, DELETION_UNITS, MAX_PAGE_SIZE, READ

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.integration.api.conftest import Deployment
    from tools.highest_costs import Use

PREFIX = "worst-"
LINE = 200
LARGEST_REQUEST, LARGEST_RESPONSE = 900_000, MAX_CALL_BYTES * 2 // 3
"""About the largest that fit into a call of the API, and into one of a Web Connector, where a text is escaped."""

_random = random.Random(1)


def incompressible(size: int) -> str:
    """Return a text that hardly compresses."""
    return base64.b64encode(_random.randbytes(size * 3 // 4)).decode()


def request_xml(size: int) -> str:
    """Return a query with texts of about this size."""
    names = "".join(f"<FullName>{incompressible(LINE)}</FullName>" for _ in range(size // (LINE + 21)))
    return f'<QBXML><QBXMLMsgsRq onError="stopOnError"><CustomerQueryRq>{names}</CustomerQueryRq></QBXMLMsgsRq></QBXML>'


def response_xml(size: int) -> str:
    """Return a response with a text of this size."""
    ret = f"<CustomerRet><Name>{incompressible(size)}</Name></CustomerRet>"
    return f"<QBXML><QBXMLMsgsRs><CustomerQueryRs>{ret}</CustomerQueryRs></QBXMLMsgsRs></QBXML>"


class Units(NamedTuple):
    """What a call used."""

    reads: float
    writes: float


class Bench:
    """The functions on emulated DynamoDB, with units that are counted."""

    def __init__(self, deployment: Deployment, units: CountedUnits) -> None:
        self.deployment = deployment
        self._units = units

    def ended(self, request_size: int, response_size: int) -> str:
        """Return the id of a request that has ended, and has an event."""
        self.deployment.clock.advance(seconds=1)
        request_id: str = self.deployment.queue(request_xml=request_xml(request_size))["id"]
        self.deployment.end(request_id, response_xml=response_xml(response_size))
        event = LoggedEvent(EventOutcome.COMPLETED, request_id, CONNECTION_ID, 4)
        append_events(self.deployment.store, self.deployment.app_id, [event], self.deployment.clock())
        return request_id

    def used(self, method: str, path: str, body: Any = None, status: int = 200) -> Units:
        """Return what a call used."""
        self.deployment.clock.advance(seconds=1)
        self._units.reads = self._units.writes = 0
        response = self.deployment.api.call(method, f"/api/v1{path}", body)
        assert response.status == status, response
        return Units(self._units.reads, self._units.writes)


@pytest.fixture
def bench() -> Iterator[Bench]:
    """Yield the functions over an empty store."""
    with emulated_dynamodb():
        client = dynamodb_client()
        store = DynamoDBStore(client, make_tables(client, PREFIX))
        definitions = {PREFIX + table["TableName"]: table for table in Template.load().table_definitions()}
        deployment = make_deployment(store)  # type: ignore[arg-type]
        with using(deployment.services):
            yield Bench(deployment, CountedUnits(client, definitions))


def is_within(units: Units, use: Use, deleted_bytes: int = 0) -> bool:
    """Whether a call used no more than the highest costs assume."""
    return units.reads <= use.read_units and units.writes <= use.write_units + DELETION_UNITS * deleted_bytes / 1024


def test_lists_and_events_of_the_largest_bodies_are_within_a_read(bench: Bench) -> None:
    for _ in range(MAX_PAGE_SIZE):
        request_id = bench.ended(80_000, MAX_INLINE_RESPONSE_BYTES - 500)

    listed = bench.used("GET", f"/connections/{CONNECTION_ID}/queued_requests?page_size={MAX_PAGE_SIZE}")
    others = [
        bench.used("GET", path)
        for path in (
            "/events",
            f"/queued_requests/{request_id}",
            f"/connections/{CONNECTION_ID}/statistics?days=8",
            "/connections?page_size=100",
            "/audit_log?limit=100",
        )
    ]

    assert listed.reads > READ.read_units / 4  # the bound is not far away
    assert all(is_within(units, READ) for units in [listed, *others]), [listed, *others]


def test_calls_about_the_largest_request_are_within_a_read_or_a_change(bench: Bench) -> None:
    request_id = bench.ended(LARGEST_REQUEST, LARGEST_RESPONSE)
    path = f"/queued_requests/{request_id}"

    assert is_within(bench.used("GET", path), READ)
    assert is_within(bench.used("POST", f"{path}/discard", status=400), CHANGE)
    assert is_within(bench.used("POST", f"{path}/redeliver", status=400), CHANGE)
    deleted = bench.used("DELETE", path, status=204)
    assert is_within(deleted, CHANGE, LARGEST_REQUEST + LARGEST_RESPONSE)
    assert deleted.writes > LARGEST_RESPONSE / 1024


def test_the_end_of_a_request_with_all_its_dependants_is_within_a_change(bench: Bench) -> None:
    dependant = {"request_xml": request_xml(45_000), "depends_on": ["c"]}
    first = {"ref": "c", "request_json": {"CustomerQueryRq": {"FullName": "a"}}}
    batch = bench.deployment.api.call(
        "POST", f"{bench.deployment.requests_url}/batch", {"requests": [first, *[dependant] * MAX_DEPENDANTS]}
    )
    path = f"/queued_requests/{batch.json['data'][0]['id']}/discard"

    assert is_within(bench.used("POST", path, status=409), CHANGE)
    assert is_within(bench.used("POST", f"{path}?dependants=true"), CHANGE)


@pytest.mark.parametrize("call", ["discard", "queue_again"])
def test_a_bulk_call_over_requests_of_many_days_is_within_a_change_for_each_part(bench: Bench, call: str) -> None:
    for _ in range(USUAL_BOUNDS.part_size + 20):
        request_id = bench.deployment.queue()["id"]
        if call == "queue_again":
            bench.deployment.api.call("POST", f"/api/v1/queued_requests/{request_id}/discard")
        bench.deployment.clock.advance(days=1)
    body = {"filter": {"to": "2036-01-01T00:00:00Z"}}
    path = f"/connections/{CONNECTION_ID}/queued_requests/{call}"

    units = bench.used("POST", path, body, status=201 if call == "queue_again" else 200)

    assert is_within(units, CHANGE * 2)
    assert units.writes > USUAL_BOUNDS.part_size * 10


def test_changes_of_a_connection_are_within_a_change(bench: Bench) -> None:
    connection = f"/connections/{CONNECTION_ID}"
    used = [
        bench.used(method, path, body, status)
        for method, path, body, status in (
            ("POST", f"{connection}/pause", None, 200),
            ("POST", f"{connection}/resume", None, 200),
            ("POST", f"{connection}/password", None, 200),
            ("POST", f"{connection}/onboarding_url", None, 200),
            ("POST", f"{connection}/reset_company_file", None, 200),
            ("PATCH", connection, {"name": "N" * 200, "company_file": "C:\\" + "f" * 480 + ".qbw"}, 200),
            ("PATCH", "/contact", {"name": "N" * 80, "logo_url": "https://a.example/" + "l" * 2_000}, 200),
            ("POST", "/connections", {"name": "N" * 200}, 201),
            ("DELETE", connection, None, 204),
        )
    ]

    assert all(is_within(units, CHANGE) for units in used), used
