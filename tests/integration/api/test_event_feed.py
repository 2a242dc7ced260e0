"""GET /events through the functions: what has ended, from the stream to the answer."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from adapters.dynamodb.connections import CONNECTIONS, event_mark
from adapters.dynamodb.records import record_item
from domain.maintenance.stopped_connections import StoppedConnections
from domain.maintenance.sweep import sweep
from domain.records.event import EventOutcome, LoggedEvent
from domain.records.request import Paging, QueuedRequest, State
from domain.storage.changes import ChangeRequest, Put
from domain.timestamps import timestamp
from handlers import log_and_forget
from handlers.common.settings import Settings
from tests.support.builders import CONNECTION_ID, NOON, REQUEST_XML, RESPONSE_XML, a_connection
from tests.support.services import ENVIRONMENT
from tests.support.webhooks import stream_image

if TYPE_CHECKING:
    from collections.abc import Callable

    from domain.records.connection import Connection
    from tests.integration.api.conftest import Deployment

EVENTS = "/api/v1/events"


def stream(*changes: tuple[QueuedRequest | None, QueuedRequest]) -> list[dict[str, Any]]:
    """Return the stream records of these changes."""
    return [
        {
            "eventName": "MODIFY" if before else "INSERT",
            "dynamodb": {
                "SequenceNumber": str(number),
                "NewImage": stream_image(record_item(after)),
                **({"OldImage": stream_image(record_item(before))} if before else {}),
            },
        }
        for number, (before, after) in enumerate(changes)
    ]


def log(*changes: tuple[QueuedRequest | None, QueuedRequest]) -> Any:
    """Report changes to the consumer of the stream, and return its answer."""
    return log_and_forget.handler({"Records": stream(*changes)}, None)


def end(deployment: Deployment, state: State = State.RESPONSE_RECEIVED, **fields: Any) -> dict[str, Any]:
    """Queue a request, end it, report its end, and return the request as it was queued."""
    request = deployment.queue()
    response = fields.pop("response_xml", RESPONSE_XML)
    deployment.end(request["id"], state, response, **fields)
    after = deployment.stored_record(request["id"])
    log((replace(after, state=State.SENT), after))
    return request


def feed(deployment: Deployment, query: str = "") -> dict[str, Any]:
    """Return the answer of the feed."""
    response = deployment.api.call("GET", EVENTS + query)
    assert response.status == 200, response.text
    answer: dict[str, Any] = response.json
    return answer


def test_an_ended_request_is_in_the_feed_with_the_envelope_of_its_webhook(deployment: Deployment) -> None:
    request = end(deployment)

    answer = feed(deployment)

    (event,) = answer["data"]
    assert event["type"] == "queued_request.completed"
    assert event["page_request_id"] == request["id"]
    assert event["response_xml"] == RESPONSE_XML
    assert event["result"] == {"CustomerRet": [{"ListID": "80000001-1", "Name": "Ann"}]}
    assert (event["page"], event["last_page"]) == (1, True)
    assert (answer["next"], answer["has_more"]) == (event["cursor"], False)
    assert feed(deployment, f"?after={answer['next']}") == {"data": [], "next": answer["next"], "has_more": False}


@pytest.mark.parametrize(
    ("state", "event_type"),
    [
        (State.RESPONSE_RECEIVED, "queued_request.completed"),
        (State.ERROR, "queued_request.failed"),
    ],
)
def test_the_type_of_an_event_tells_how_the_request_ended(
    deployment: Deployment, state: State, event_type: str
) -> None:
    end(deployment, state)

    assert [event["type"] for event in feed(deployment)["data"]] == [event_type]


def test_a_discarded_request_has_an_event(deployment: Deployment) -> None:
    request = deployment.queue()
    before = deployment.stored_record(request["id"])
    deployment.api.call("POST", f"/api/v1/queued_requests/{request['id']}/discard")
    log((before, deployment.stored_record(request["id"])))

    assert [event["type"] for event in feed(deployment)["data"]] == ["queued_request.discarded"]


def test_changes_that_end_no_request_have_no_event(deployment: Deployment) -> None:
    """A claim, a webhook attempt, a deletion."""
    request = deployment.queue()
    before = deployment.stored_record(request["id"])
    deployment.end(request["id"])
    ended = deployment.stored_record(request["id"])
    tombstone = {"SequenceNumber": "9", "NewImage": {"id": {"S": ended.id}, "deleted_at": {"S": "now"}}}

    log((None, before), (before, before.moved(State.TICKETED, deployment.clock())), (ended, ended))
    log_and_forget.handler({"Records": [{"eventName": "MODIFY", "dynamodb": tombstone}]}, None)

    assert feed(deployment)["data"] == []


def test_a_request_that_is_stored_as_ended_has_an_event(deployment: Deployment) -> None:
    request = deployment.queue()
    deployment.end(request["id"])

    log((None, deployment.stored_record(request["id"])))

    assert len(feed(deployment)["data"]) == 1


def test_an_iterated_query_has_an_event_for_each_page_and_one_with_counts(deployment: Deployment) -> None:
    first = end(deployment, paging=Paging(page=1, page_size=100, continued=True))
    last = end(deployment, paging=Paging(page=2, page_size=100, first_page_id=first["id"]))

    data = feed(deployment)["data"]

    assert [event["type"] for event in data] == [
        "queued_request.completed",
        "queued_request.completed",
        "query.completed",
    ]
    assert {event["query_id"] for event in data} == {first["id"]}
    assert [event["last_page"] for event in data[:2]] == [False, True]
    query = data[2]
    assert (query["pages"], query["completed_pages"], query["page_request_id"]) == (2, 2, last["id"])
    assert feed(deployment, f"?after={data[1]['cursor']}")["data"] == [query]


def test_an_iterated_query_that_fails_counts_the_pages_that_it_delivered(deployment: Deployment) -> None:
    first = end(deployment, paging=Paging(page=1, page_size=100, continued=True))
    end(deployment, State.ERROR, paging=Paging(page=2, page_size=100, first_page_id=first["id"]))

    query = feed(deployment)["data"][-1]

    assert (query["type"], query["pages"], query["completed_pages"]) == ("query.failed", 2, 1)


def test_the_event_of_a_deleted_request_says_so_and_nothing_else(deployment: Deployment) -> None:
    request = end(deployment, paging=Paging(page=1, page_size=5))
    deployment.api.call("DELETE", f"/api/v1/queued_requests/{request['id']}")

    data = feed(deployment)["data"]

    assert [(event["type"], event["state"]) for event in data] == [
        ("queued_request.deleted", "deleted"),
        ("query.deleted", "deleted"),
    ]
    for event in data:
        assert set(event) == {"type", "timestamp", "cursor", "page_request_id", "connection_id", "state"}


def test_the_events_of_a_deleted_connection_say_so_at_once_and_are_removed_with_it(deployment: Deployment) -> None:
    end(deployment)
    deployment.api.call("DELETE", f"/api/v1/connections/{CONNECTION_ID}")

    assert [event["state"] for event in feed(deployment)["data"]] == ["deleted"]

    for _ in range(2):
        sweep(deployment.store, deployment.clock, deployment.clock.advance(minutes=20) + timedelta(minutes=1))
    assert feed(deployment)["data"] == []


def test_a_request_that_was_put_back_into_the_queue_is_left_out(deployment: Deployment) -> None:
    """Its next end has an event."""
    request = end(deployment)
    ended = deployment.stored_record(request["id"])
    deployment.store.commit(ChangeRequest(ended, replace(ended, state=State.RETRYABLE).changed(deployment.clock())))

    assert feed(deployment)["data"] == []


def test_apps_see_their_own_events_only(deployment: Deployment) -> None:
    end(deployment)

    assert deployment.stranger.call("GET", EVENTS).json["data"] == []
    assert deployment.stranger.call("GET", f"{EVENTS}?connection_id={CONNECTION_ID}").status == 404
    assert len(feed(deployment, f"?connection_id={CONNECTION_ID}")["data"]) == 1


def test_a_read_only_key_can_read_the_feed(deployment: Deployment) -> None:
    end(deployment)

    assert len(deployment.readonly.call("GET", EVENTS).json["data"]) == 1


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("?after=yesterday", "after"),
        ("?after=", "after"),
        ("?limit=0", "limit"),
        ("?limit=101", "limit"),
        ("?limit=1_0", "limit"),
        ("?cursor=1", "cursor"),
    ],
)
def test_a_wrong_parameter_is_named(deployment: Deployment, query: str, field: str) -> None:
    response = deployment.api.call("GET", EVENTS + query)

    assert response.status == 400
    assert response.json["error"]["details"]["problems"][0]["field"] == field


@pytest.mark.parametrize("ahead", [1, 1_000_000, 10**14])
def test_a_cursor_ahead_of_the_newest_event_is_refused(deployment: Deployment, ahead: int) -> None:
    """It is the cursor of another app, or a time. Nothing behind it has expired."""
    end(deployment)
    newest = int(feed(deployment)["next"])

    response = deployment.api.call("GET", f"{EVENTS}?after={newest + ahead}")

    assert (response.status, response.problem["field"]) == (400, "after")
    assert "is ahead of the newest event" in response.problem["message"]


def test_an_expired_cursor_gets_410_and_the_oldest_one(deployment: Deployment) -> None:
    end(deployment)
    end(deployment)
    first = feed(deployment, "?limit=1")["next"]
    deployment.clock.advance(days=8)
    end(deployment)

    response = deployment.api.call("GET", f"{EVENTS}?after={first}")

    assert (response.status, response.json["error"]["code"]) == (410, "cursor_expired")
    oldest = response.json["error"]["details"]["oldest"]
    assert len(feed(deployment, f"?after={oldest}")["data"]) == 1


LARGE = RESPONSE_XML.replace("Ann", "é" * 40_000)


def test_an_answer_has_at_most_4_mib_and_at_least_one_event(deployment: Deployment) -> None:
    """Each event has three forms of its response, with six bytes for each letter, and a backslash more for Lambda."""
    ended = [end(deployment, response_xml=LARGE)["id"] for _ in range(9)]
    listed, after, has_more, answers = [], "0", True, 0

    while has_more:
        response = deployment.api.call("GET", f"{EVENTS}?after={after}")
        assert len(json.dumps(response.text)) <= 4 * 1024 * 1024
        answer = response.json
        assert answer["data"]
        listed += [event["page_request_id"] for event in answer["data"]]
        after, has_more, answers = answer["next"], answer["has_more"], answers + 1

    assert listed == ended
    assert answers > 1


def test_a_response_that_is_too_large_for_an_event_is_left_out(deployment: Deployment) -> None:
    end(deployment, response_xml="<QBXML>" + "x" * 1_100_000 + "</QBXML>")

    (event,) = feed(deployment)["data"]

    assert (event["response_xml"], event["response_omitted"]) == (None, True)


def test_a_request_that_is_too_large_for_an_answer_has_an_event_with_its_ids(deployment: Deployment) -> None:
    """QuickBooks' characters take up to two bytes in a request, and six in each form of an event."""
    wide = REQUEST_XML.replace("<MaxReturned>10</MaxReturned>", f"<FullName>{'é' * 200}</FullName>" * 2_400)
    body = json.dumps({"request_xml": wide}, ensure_ascii=False)
    request = deployment.api.call("POST", deployment.requests_url, text=body).json["data"]
    deployment.end(request["id"])
    log((replace(deployment.stored_record(request["id"]), state=State.SENT), deployment.stored_record(request["id"])))

    (event,) = feed(deployment)["data"]

    assert (event["type"], event["state"], event["page_request_id"]) == (
        "queued_request.completed",
        "completed",
        request["id"],
    )


class TestConnections:
    """Events of connections."""

    @pytest.mark.parametrize(
        ("before", "after", "event_type"),
        [
            ({}, {"last_connected_at": timestamp(NOON)}, "connected"),
            ({}, {"stalled_at": timestamp(NOON)}, "stalled"),
            ({"stalled_at": timestamp(NOON)}, {"stalled_at": None}, "calling_again"),
            ({}, {"last_error": {"code": "company_file_mismatch"}}, "company_file_mismatch"),
            (
                {"last_error": {"code": "company_file_mismatch"}},
                {"last_error": {"code": "company_file_moved"}},
                "company_file_path_changed",
            ),
            ({}, {"password_changed_at": timestamp(NOON)}, "password_changed"),
        ],
    )
    def test_a_change_of_a_connection_reports_its_event_once(
        self, deployment: Deployment, before: dict[str, Any], after: dict[str, Any], event_type: str
    ) -> None:
        connection = deployment.store.connections[CONNECTION_ID]
        first = replace(connection, **before).changed(timestamp(NOON))
        second = replace(first, **after).changed(timestamp(NOON))
        third = replace(second, name="Bakery").changed(timestamp(NOON))
        deployment.store.connections[CONNECTION_ID] = third

        report(Put(first, second), Put(second, third))
        report(Put(first, second))

        (event,) = feed(deployment)["data"]
        assert (event["type"], event["connection_id"]) == (f"connection.{event_type}", CONNECTION_ID)
        assert (event["name"], event["last_error"]) == ("Bakery", third.last_error)

    def test_a_change_without_an_event_is_not_marked(self) -> None:
        connection = a_connection(last_connected_at=timestamp(NOON), last_error={"code": "company_file_mismatch"})
        again = replace(connection, last_connected_at=timestamp(NOON + timedelta(hours=1)), name="x").changed(
            timestamp(NOON)
        )

        assert event_mark(Put(connection, again)) == {}
        assert event_mark(Put(None, a_connection())) == {}
        assert event_mark(Put(connection, connection.removed(timestamp(NOON)))) == {}

    def test_the_event_of_a_deleted_connection_says_so(self, deployment: Deployment) -> None:
        connection = deployment.store.connections[CONNECTION_ID]
        report(Put(connection, replace(connection, password_changed_at=timestamp(NOON)).changed(timestamp(NOON))))
        deployment.api.call("DELETE", f"/api/v1/connections/{CONNECTION_ID}")

        (event,) = feed(deployment)["data"]

        assert set(event) == {"type", "timestamp", "cursor", "connection_id", "state"}
        assert event["state"] == "deleted"

    def test_a_new_password_of_the_api_is_reported(self, deployment: Deployment) -> None:
        before = deployment.store.connections[CONNECTION_ID]
        deployment.api.call("POST", f"/api/v1/connections/{CONNECTION_ID}/password")
        report(Put(before, deployment.store.connections[CONNECTION_ID]))

        assert [event["type"] for event in feed(deployment)["data"]] == ["connection.password_changed"]

    def test_the_sweep_reports_a_web_connector_that_has_stalled_once(self, deployment: Deployment) -> None:
        deployment.queue()
        connection = deployment.store.connections[CONNECTION_ID]
        connected = replace(connection, last_connected_at=timestamp(NOON)).changed(timestamp(NOON))
        deployment.store.commit(Put(connection, connected))
        days = deployment.store.day_counts(CONNECTION_ID)
        deployment.clock.advance(days=2)
        for _ in range(2):
            StoppedConnections(deployment.store, deployment.clock).look_at(CONNECTION_ID, days)

        stalled = deployment.store.connections[CONNECTION_ID]
        assert stalled.stalled_at == timestamp(deployment.clock())
        assert stalled.revision == connected.revision + 1


def report(*changes: Put[Connection]) -> None:
    """Report those changes of a connection that the filter of its stream passes."""
    records = [
        {"dynamodb": {"SequenceNumber": str(number), "NewImage": CONNECTIONS.item(change.after) | event_mark(change)}}
        for number, change in enumerate(changes)
    ]
    marked = [record for record in records if "event" in record["dynamodb"]["NewImage"]]
    assert log_and_forget.handler({"Records": marked}, None) == {"batchItemFailures": []}


class TestStream:
    """The consumer of the stream."""

    def test_a_repeated_batch_appends_nothing(self, deployment: Deployment) -> None:
        request = end(deployment)
        after = deployment.stored_record(request["id"])

        assert log((replace(after, state=State.SENT), after)) == {"batchItemFailures": []}

        assert len(feed(deployment)["data"]) == 1

    def test_an_event_that_cannot_be_made_says_so(self, deployment: Deployment) -> None:
        request = deployment.queue()
        (change,) = stream((None, deployment.stored_record(request["id"])))
        image = change["dynamodb"]["NewImage"]
        image["state"] = {"S": "response_received"}
        image["fields"] = {"B": "bm90aGluZw=="}

        assert log_and_forget.handler({"Records": [change]}, None) == {"batchItemFailures": []}

        (event,) = feed(deployment)["data"]
        assert (event["type"], event["page_request_id"]) == ("queued_request.unreadable", request["id"])

    def test_an_app_whose_events_cannot_be_appended_does_not_hold_up_the_others(self, deployment: Deployment) -> None:
        requests = [deployment.queue()["id"] for _ in range(3)]
        changes = []
        for number, request_id in enumerate(requests):
            deployment.end(request_id)
            after = deployment.stored_record(request_id)
            changes.append((None, replace(after, app_id=deployment.app_id if number else "broken")))
        append = deployment.store.newest_event_groups

        def fail(app_id: str, limit: int) -> Any:
            if app_id == "broken":
                raise OSError("the database is away")
            return append(app_id, limit)

        deployment.store.newest_event_groups = fail  # type: ignore[method-assign]

        assert log(*changes) == {"batchItemFailures": [{"itemIdentifier": "0"}]}

        assert [event["page_request_id"] for event in feed(deployment)["data"]] == requests[1:]

    def test_the_log_has_ids_and_outcomes_only(self, deployment: Deployment) -> None:
        request = end(deployment)

        (group,) = deployment.store.events.values()

        assert group.events == (LoggedEvent(EventOutcome.COMPLETED, request["id"], CONNECTION_ID, 4),)


class TestWaiting:
    """A call without events can be held until there are some."""

    def call(self, deployment: Deployment, query: str, pause: Callable[[float], None]) -> tuple[dict[str, Any], float]:
        """Return the answer of a call, and how long it took."""
        began = deployment.clock()

        def pausing(seconds: float) -> None:
            deployment.clock.advance(seconds=seconds)
            pause(seconds)

        deployment.services.pause = pausing
        answer = feed(deployment, query)
        return answer, (deployment.clock() - began).total_seconds()

    def test_it_is_answered_when_an_event_arrives(self, deployment: Deployment) -> None:
        pauses: list[float] = []

        def end_after_three(seconds: float) -> None:
            pauses.append(seconds)
            if len(pauses) == 3:
                end(deployment)

        answer, seconds = self.call(deployment, "?wait=20", end_after_three)

        assert len(answer["data"]) == 1
        assert seconds == pytest.approx(20 * 3 / 8)
        assert not [usage for usage in deployment.store.usages if "waiting_calls" in str(usage)]

    def test_without_an_event_it_is_answered_at_its_end(self, deployment: Deployment) -> None:
        reads = 0
        groups = deployment.store.event_groups_from

        def count(app_id: str, position: int, page_size: int) -> Any:
            nonlocal reads
            reads += 1
            return groups(app_id, position, page_size)

        deployment.store.event_groups_from = count  # type: ignore[method-assign]

        answer, seconds = self.call(deployment, "?wait=7", lambda _: None)

        assert (answer["data"], answer["has_more"]) == ([], False)
        assert seconds == pytest.approx(7)
        assert reads <= 12

    def test_a_call_with_events_does_not_wait(self, deployment: Deployment) -> None:
        end(deployment)

        assert self.call(deployment, "?wait=20", lambda _: None)[1] == 0

    def test_above_the_limit_of_waiting_calls_it_is_answered_at_once(self, deployment: Deployment) -> None:
        deployment.services.settings = Settings(ENVIRONMENT | {"MAX_WAITING_CALLS": "0"})

        assert self.call(deployment, "?wait=20", lambda _: None)[1] == 0

    @pytest.mark.parametrize("wait", ["0", "21", "x", "1.5", ""])
    def test_a_wrong_time_is_refused(self, deployment: Deployment, wait: str) -> None:
        response = deployment.api.call("GET", f"{EVENTS}?wait={wait}")

        assert (response.status, response.json["error"]["details"]["problems"][0]["field"]) == (400, "wait")

    def test_the_filter_of_a_waiting_call_holds(self, deployment: Deployment) -> None:
        other = "c0000000-0000-4000-8000-000000000009"
        deployment.store.commit(Put(None, a_connection(id=other, app_id=deployment.app_id)))

        def end_another(_: float) -> None:
            end(deployment)

        answer, seconds = self.call(deployment, f"?wait=10&connection_id={other}", end_another)

        assert (answer["data"], round(seconds)) == ([], 10)
        assert feed(deployment, f"?after={answer['next']}")["data"] == []
