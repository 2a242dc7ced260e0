"""What was deleted is gone: from every table of the template, from messages, webhooks and the feed of events.

Everything that a caller, a customer's machine or a receiver sends contains a word of its own. After random histories
and a deletion, the tests look for these words in all tables, which they find in the template, in compressed form too.
docs/security.md (Deleting data) says what is kept, and for how long.

What outlives its owner holds ids, times and numbers only, so a deletion does not have to find it. Ended sessions hold
more, and are found by the index of the history. The last message to the user of the Web Connector stays in an ended
session after its request was deleted.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pytest

from adapters.dynamodb.records import TOMBSTONE_DAYS
from domain.records.audit import KEPT
from domain.storage.ports import RequestDetail
from local.emulated_dynamodb import emulated_dynamodb
from local.tables import drop_tables, make_tables
from tests.contract.conftest import CREDENTIALS, ENDPOINT, dynamodb_client
from tests.support import clients
from tests.support.random_history import WORD, RandomHistory
from tests.support.services import using
from tests.support.stored_texts import UNREADABLE, stored_texts
from tests.support.whole_service import WholeService

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

STEPS = 45

SERVICES: list[Any] = [("emulated", 1), ("emulated", 2)]
"""Databases and seeds."""

ALSO_ENDPOINT = [*SERVICES, pytest.param(("endpoint", 1), marks=pytest.mark.dynamodb_local)] if ENDPOINT else SERVICES
"""An endpoint takes half a minute for each test, so only the test with the most deletions uses it."""


@pytest.fixture(params=SERVICES, ids=str)
def service(request: pytest.FixtureRequest) -> Iterator[WholeService]:
    """Yield an empty service on the embedded database, or on the endpoint that the environment names."""
    database, seed = request.param
    if database == "endpoint":
        client, prefix = dynamodb_client(ENDPOINT), f"t{uuid.uuid4().hex[:8]}-"
        streams = clients.client("dynamodbstreams", endpoint_url=ENDPOINT, **CREDENTIALS)
        service = WholeService(client, streams, make_tables(client, prefix), prefix, seed)
        with using(service.services):
            yield service
        drop_tables(client, prefix)
        return
    with emulated_dynamodb():
        client = dynamodb_client()
        streams = clients.client("dynamodbstreams", **CREDENTIALS)
        service = WholeService(client, streams, make_tables(client, ""), seed=seed)
        with using(service.services):
            yield service


CONTENT = {"AppsTable", "ConnectionsTable", "PayloadsTable", "QueueTable", "QueuedRequestsTable", "SessionsTable"}
"""The tables that hold content. All others hold ids, numbers and times, but for FOR_A_YEAR."""

FOR_A_YEAR = "AuditLogTable.name"
"""The entry of its deletion keeps the name of a connection."""

BRIEFLY = {"PayloadsTable.data", "SessionsTable.fields"}
"""Search blocks keep a text for up to two days after its request was deleted. A live session keeps the `requestID` of
its last request until it ends."""


def places(service: WholeService) -> dict[str, set[str]]:
    """Return the attributes in which each word is stored."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for stored in stored_texts(service):
        assert stored.text != UNREADABLE, stored
        for word in WORD.findall(stored.text):
            found[word].add(f"{stored.table.rpartition('-')[2]}.{stored.attribute}")
    return dict(found)


def words_of_stored_requests(service: WholeService, *connection_ids: str) -> set[str]:
    """Return the words of the requests of these connections that a caller can still get."""
    words: set[str] = set()
    for item in service.items(service.store.tables.queued_requests):
        detail = service.store.request_detail(item["id"]["S"])
        if isinstance(detail, RequestDetail) and detail.stored.record.connection_id in connection_ids:
            words.update(WORD.findall(detail.stored.request_xml or ""))
    return {word for word in words if word.startswith("zqr")}


def a_history(service: WholeService, steps: int = STEPS) -> RandomHistory:
    """Return a history after some time. The words of everything that exists are found."""
    history = RandomHistory(service, service.seed)
    for _ in range(steps):
        history.step()
    service.read_streams()
    found = places(service)
    words = {history.app_word, *history.connections.values(), *words_of_stored_requests(service, *history.connections)}
    assert words <= found.keys()
    assert tables_in(found) <= CONTENT
    return history


def tables_in(found: Mapping[str, set[str]]) -> set[str]:
    """Return the tables in which words were found."""
    return {place.partition(".")[0] for places_of_word in found.values() for place in places_of_word}


def delete_requests(history: RandomHistory, share: float) -> set[str]:
    """Delete about this share of the requests. Return the words of all requests that were deleted, also earlier."""
    history.service.live(0.25)  # ends all sessions
    for item in list(history.service.items(history.service.store.tables.queued_requests)):
        if history.chance.random() < share:
            history.api.call("DELETE", f"/api/v1/queued_requests/{item['id']['S']}?force=true&dependants=true")
    deleted_words = history.request_words - words_of_stored_requests(history.service, *history.connections)
    assert len(deleted_words) > 5
    return deleted_words


def delete_connection(history: RandomHistory, connection_id: str) -> None:
    """Delete a connection, when its Web Connector is silent."""
    history.service.live(0.25)
    assert history.api.call("DELETE", f"/api/v1/connections/{connection_id}").status == 204


def test_only_six_tables_hold_content_and_no_message_does(service: WholeService) -> None:
    history = RandomHistory(service, service.seed)
    tables: set[str] = set()
    messages: list[str] = []
    for number in range(STEPS):
        history.step()
        messages += service.messages.texts
        if number % 10 == 9:
            tables |= tables_in(places(service))

    assert tables == CONTENT
    assert messages
    assert not any(map(WORD.search, messages))


def test_a_deleted_request_is_gone(service: WholeService) -> None:
    history = a_history(service)

    deleted_words = delete_requests(history, 0.5)

    found = places(service)
    assert set().union(*(found.get(word, set()) for word in deleted_words)) <= BRIEFLY
    service.receiver.bodies.clear()
    service.deliver_messages()
    service.live(3)
    service.deliver_messages()
    assert not deleted_words & places(service).keys()
    assert not deleted_words & set(WORD.findall(str(service.receiver.bodies)))
    for connection_id in history.connections:
        for path in (f"/connections/{connection_id}/queued_requests?page_size=100", "/events", "/audit_log?limit=100"):
            response = history.api.call("GET", f"/api/v1{path}")
            assert response.status == 200
            assert not deleted_words & set(WORD.findall(response.text))
    assert words_of_stored_requests(service, *history.connections) <= places(service).keys()


def test_a_deleted_connection_is_gone_with_its_requests_and_nothing_else(service: WholeService) -> None:
    history = a_history(service)
    (gone, gone_word), (kept, kept_word) = history.connections.items()
    gone_words = {gone_word, *words_of_stored_requests(service, gone)}

    delete_connection(history, gone)
    service.live(0.25)

    found = places(service)
    left = {word: found[word] for word in gone_words & found.keys()}
    assert left in ({gone_word: {FOR_A_YEAR}}, {gone_word: {FOR_A_YEAR, "SessionsTable.fields"}})
    service.receiver.bodies.clear()
    service.deliver_messages()
    service.live(1.5)
    service.deliver_messages()
    found = places(service)
    assert {word: found[word] for word in gone_words & found.keys()} == {gone_word: {FOR_A_YEAR}}
    assert not gone_words & set(WORD.findall(str(service.receiver.bodies)))
    assert {kept_word, history.app_word, *words_of_stored_requests(service, kept)} <= found.keys()
    events = history.api.call("GET", "/api/v1/events").text
    assert gone not in events
    assert kept in events


@pytest.mark.parametrize("service", ALSO_ENDPOINT, indirect=True, ids=str)
def test_a_deleted_app_is_gone_and_after_the_last_expiry_every_table_is_empty(service: WholeService) -> None:
    history = a_history(service, STEPS // 2 if ENDPOINT else STEPS)
    for connection_id in history.connections:
        delete_connection(history, connection_id)

    service.operate("delete_app", app_id=history.app_id)

    names = set(history.connections.values())
    assert history.app_word not in places(service)
    service.live(0.25)
    assert tables_in(places(service)) <= {"AuditLogTable", "SessionsTable"}
    service.live(1)
    assert places(service) == {name: {FOR_A_YEAR} for name in names}
    for days in (TOMBSTONE_DAYS, KEPT.days - TOMBSTONE_DAYS, 10):
        service.clock.advance(days=days)
        service.live(1)
    assert {table: list(service.items(table)) for table in service.table_names if any(service.items(table))} == {}
