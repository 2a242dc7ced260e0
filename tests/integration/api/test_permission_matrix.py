"""Each function may make exactly the table calls that it makes: none is missing, none is superfluous."""

from __future__ import annotations

import base64
import contextlib
import json
import secrets
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pytest

from adapters.dynamodb import DynamoDBStore, keys
from adapters.dynamodb.records import RECORDS, record_item
from adapters.sqs import message_of
from domain.errors import Conflict, Unauthorized
from domain.events.log import append_events
from domain.maintenance.search_packing import pack_days
from domain.people.sign_ins import MAX_SIGN_INS
from domain.people.tokens import SessionToken
from domain.queries import QUERIES
from domain.records.app import ApiKey, App, AppLimits, Scope, api_key_hash
from domain.records.approval import Approval
from domain.records.audit import Action, Actor, ActorType, Subject, audit_entry
from domain.records.batch import ids_of_batch, new_batch_id
from domain.records.event import EventOutcome, LoggedEvent
from domain.records.event_types import ALL_EVENTS
from domain.records.permissions import Role
from domain.records.person import Membership, SignIn
from domain.records.request import Attempts, Paging, QueuedRequest, State, WhetherExecuted, settling_id
from domain.records.session import InFlight
from domain.records.subscription import ChangePage, CopyPhase, PageKind, Subscription, SubscriptionWebhook
from domain.records.webhook import ListedWebhookState, Webhook, WebhookState
from domain.settling.service import SettlingService
from domain.storage.changes import AddRequest, ChangeRequest, Put, RemoveRequest
from domain.storage.counts import INSERTED, CountKey
from domain.storage.ports import Usage
from domain.timestamps import day_of, timestamp
from domain.web_connector.outcomes.lost_response import MAX_SESSIONS
from domain.webhooks.ports import PlannedChanges
from domain.webhooks.unrecorded_events import first_attempts
from domain.whole_values import HAS_MARKS, MatchedAs, marked
from handlers.common.bootstrap import services
from local.emulated_dynamodb import emulated_dynamodb
from local.sam_local import samples
from local.tables import make_tables
from tests.contract.conftest import dynamodb_client
from tests.integration.api.test_events import EVENTS, FUNCTIONS, HOOK, KEY, REQUEST_ID
from tests.integration.api.test_permissions import (
    LongRun,
    Recorder,
    call_a_whole_session,
    deployed_as,
    end_what_is_queued_again,
    fill,
    grants,
    soap,
)
from tests.support.api_client import api_event, load
from tests.support.books import Books
from tests.support.builders import (
    APP_ID,
    CONNECTION_ID,
    NOON,
    OTHER_APP_ID,
    REQUEST_XML,
    RESPONSE_XML,
    FixedClock,
    a_connection,
    a_record,
    a_session,
)
from tests.support.services import OneProvider
from tests.support.unknown_writes import ADDITION, add_executed, add_unknown_write, end_query
from tests.support.web_connector.connector import result_of
from tests.support.webhooks import stream_image

if TYPE_CHECKING:
    from collections.abc import Callable

LARGE = """<QBXML><QBXMLMsgsRq onError="stopOnError"><CustomerQueryRq requestID="1"><FullName>{}</FullName>
</CustomerQueryRq></QBXMLMsgsRq></QBXML>"""


def committed_event(function: str) -> dict[str, Any]:
    """Return the event of a function, with an idempotency key if it is a REST call."""
    event: dict[str, Any] = json.loads((EVENTS / f"{function}.json").read_text(encoding="utf-8"))
    if "httpMethod" in event:
        event["headers"]["Idempotency-Key"] = "order-17"
        event["multiValueHeaders"]["Idempotency-Key"] = ["order-17"]
    return event


def invoke(recorder: Recorder, function: str, *events: dict[str, Any]) -> None:
    """Invoke a function with each event."""
    with deployed_as(recorder, function):
        for event in events:
            load(f"handlers.{function}.handler")(event, LongRun())


def lists(recorder: Recorder) -> None:
    """List by every index. Search packed and unpacked texts."""
    path = f"/api/v1/connections/{CONNECTION_ID}/queued_requests"
    queries = [
        f"sort={sort}{filters}"
        for sort in ("inserted_at", "updated_at")
        for filters in ("", "&state=waiting", "&webhook_state=pending")
    ]
    caller = {"app_id": APP_ID, "scope": "full"}
    for query in (*queries, "search_phrase=ann", "label=nightly", f"query_id={REQUEST_ID}"):
        invoke(recorder, "list_queued_requests", api_event("GET", f"{path}?{query}", authorizer=caller))


def deletes_a_connection_in_use(recorder: Recorder) -> None:
    """Delete a connection with a request in flight that becomes retryable, and with one that ends as an error."""
    for sessions in (1, MAX_SESSIONS):
        silent_session_with_request(recorder, sessions)
        invoke(recorder, "delete_connection", committed_event("delete_connection"))


def silent_session_with_request(recorder: Recorder, sessions: int) -> None:
    """Store a session that fell silent with a read in flight."""
    store = recorder.store
    connection = store.connection(CONNECTION_ID)
    assert connection
    ticket = secrets.token_hex(32)
    record = replace(a_record().claimed(ticket, NOON), attempts=Attempts(sessions)).moved(State.SENT, NOON)
    session = a_session(id=ticket, in_flight=InFlight((record.id,)))
    restored = replace(connection, deleted_at=None, session_id=session.id).changed(timestamp(NOON))
    store.commit(AddRequest(record, REQUEST_XML, "ann"), Put(None, session), Put(connection, restored))


def sweeps_a_request_that_ends(recorder: Recorder) -> None:
    """Release a silent session whose request ends with an error."""
    silent_session_with_request(recorder, MAX_SESSIONS)
    invoke(recorder, "sweep", {})


def sweeps_late_requests(recorder: Recorder) -> None:
    """End a request that waits and one that a session holds, after their `send_by`."""
    connection, ticket = recorder.store.connection(CONNECTION_ID), secrets.token_hex(32)
    assert connection
    waiting, claimed = a_record(send_by=1), a_record(send_by=1).claimed(ticket, NOON)
    session = a_session(id=ticket, in_flight=InFlight((claimed.id,)))
    held = replace(connection, session_id=ticket).changed(timestamp(NOON))
    changes = [AddRequest(record, REQUEST_XML, "ann") for record in (waiting, claimed)]
    recorder.store.commit(*changes, Put(None, session), Put(connection, held))
    invoke(recorder, "sweep", {})


def repeats_a_call_after_its_time(function: str) -> Callable[[Recorder], None]:
    """Return the case of a call whose `send_by` has passed, with a key that may have been used before."""
    late = {"send_by": "2020-03-14T18:00:00Z"}
    request = late | {"request_xml": REQUEST_XML}
    path, body = {
        "create_queued_request": ("queued_requests", request),
        "create_batch": ("queued_requests/batch", {"requests": [request]}),
    }.get(function, (f"{function.removeprefix('query_')}?{urlencode(late)}", None))
    event = api_event(
        "POST",
        f"/api/v1/connections/{CONNECTION_ID}/{path}",
        body=json.dumps(body) if body else None,
        headers={"Content-Type": "application/json", "Idempotency-Key": "late"},
        authorizer={"app_id": APP_ID, "scope": "full"},
    )
    return lambda recorder: invoke(recorder, function, event)


def a_session_with_a_large_request(recorder: Recorder) -> None:
    """Run a session that sends a request in chunks."""
    large = a_record(inserted_at=timestamp(NOON.replace(hour=1)))
    recorder.store.commit(AddRequest(large, LARGE.format(secrets.token_hex(100_000)), "ann"))
    call_a_whole_session(recorder)


def logs_in_after_a_session_was_removed(recorder: Recorder) -> None:
    """Release the request of a session that the connection names and that no longer exists."""
    silent_session_with_request(recorder, 1)
    connection = recorder.store.connection(CONNECTION_ID)
    assert connection
    recorder.store.commit(
        Put(connection, replace(connection, session_id=secrets.token_hex(32)).changed(timestamp(NOON)))
    )
    call_a_whole_session(recorder)


def discards_beside_a_session(recorder: Recorder) -> None:
    """Discard new requests while a session holds one."""
    silent_session_with_request(recorder, 1)
    invoke(recorder, "discard_queued_requests", committed_event("discard_queued_requests"))


def logs_in_while_the_app_has_its_share(recorder: Recorder) -> None:
    """Turn a login away, for which a session is reserved."""
    with deployed_as(recorder, "web_connector"):
        budget, now = services().budget_of_sessions, timestamp(services().clock())
    for number in range(budget.shards * budget.share):
        session = a_session(id=f"{number:064x}", app_id=APP_ID, shard=number % budget.shards, last_call_at=now)
        recorder.store.commit(Put(None, session))
    call_a_whole_session(recorder)
    connection = recorder.store.connection(CONNECTION_ID)
    assert connection
    assert connection.reserved_at


def log_an_event(recorder: Recorder, request_id: str, connection_id: str = CONNECTION_ID, app_id: str = APP_ID) -> None:
    """Append the event of a request to the log of its app."""
    append_events(recorder.store, app_id, [LoggedEvent(EventOutcome.COMPLETED, request_id, connection_id)], NOON)


def lists_events(recorder: Recorder) -> None:
    """List an event with a response in chunks, of one connection."""
    log_an_event(recorder, an_ended_request_with_chunks(recorder))
    caller = {"app_id": APP_ID, "scope": "full"}
    path = f"/api/v1/events?connection_id={CONNECTION_ID}"
    invoke(recorder, "list_events", api_event("GET", path, authorizer=caller))


def waits_for_events(recorder: Recorder) -> None:
    """Wait for an event."""
    caller = {"app_id": APP_ID, "scope": "full"}
    invoke(recorder, "list_events", api_event("GET", "/api/v1/events?wait=1", authorizer=caller))


def logs_events(recorder: Recorder) -> None:
    """Log events of two requests one after the other, and one that cannot be read."""
    image = stream_image(record_item(a_record(state=State.ERROR)))
    others = stream_image(record_item(a_record(state=State.ERROR)))
    unreadable = {name: value for name, value in image.items() if name != "fields"} | {"id": {"S": "x"}}
    for number, new in enumerate((image, others, unreadable)):
        change = {"dynamodb": {"SequenceNumber": str(number), "NewImage": new}}
        invoke(recorder, "log_and_forget", {"Records": [change]})


def settles(function: str) -> Callable[[Recorder], None]:
    """Return the case in which a function stores what the books show about an addition, with all that it looks at."""

    def case(recorder: Recorder) -> None:
        store, later = recorder.store, NOON + timedelta(hours=1)
        write = add_unknown_write(store, ADDITION)
        add_executed(store, NOON - timedelta(hours=3), "2026-03-14T09:00:00Z")
        add_executed(store, NOON + timedelta(minutes=1), "2026-03-14T12:01:00Z", request_name="CustomerAddRq")
        store.commit(AddRequest(a_record(request_name="CustomerAddRq").claimed("", NOON), REQUEST_XML, "ann"))
        SettlingService(store, FixedClock(later)).settle(APP_ID, write.id)
        ids = ids_of_batch(settling_id(write.id, 1), 3)
        ended = [end_query(store, query_id, later) for query_id in ids]
        if function == "settle_queued_request":
            path = f"/api/v1/queued_requests/{write.id}/settle"
            invoke(recorder, function, api_event("POST", path, authorizer={"app_id": APP_ID, "scope": "full"}))
        else:
            change = {"SequenceNumber": "1", "NewImage": stream_image(record_item(ended[-1]))}
            invoke(recorder, function, {"Records": [{"dynamodb": change}]})
        settled = store.request(write.id)
        assert isinstance(settled, QueuedRequest)
        assert settled.executed is WhetherExecuted.NO

    return case


def asks_by_itself(function: str) -> Callable[[Recorder], None]:
    """Return the case in which a function asks QuickBooks about a write that ended as unknown."""

    def case(recorder: Recorder) -> None:
        store = recorder.store
        write = add_unknown_write(store)
        if function == "sweep":
            invoke(recorder, function, {})
        else:
            change = {"SequenceNumber": "1", "NewImage": stream_image(record_item(write))}
            invoke(recorder, function, {"Records": [{"dynamodb": change}]})
        asked = store.request(write.id)
        assert isinstance(asked, QueuedRequest)
        assert asked.settling_query_id

    return case


def a_subscription(recorder: Recorder, connection_id: str = CONNECTION_ID, **fields: Any) -> None:
    """Store a subscription of a connection, and a page of changes."""
    now = timestamp(NOON)
    page = ChangePage(connection_id, APP_ID, 5, PageKind.CHANGED, "Customer", 1, now, 1, '[{"id": "1"}]')
    one = Subscription(samples.SUBSCRIPTION_ID, connection_id, APP_ID, now, now, ("Customer",), 15, "all", now)
    recorder.store.commit(Put(None, replace(one, **fields)), Put(None, page))


def lists_changes(recorder: Recorder) -> None:
    """List the changes of a subscription."""
    a_subscription(recorder)
    [page] = recorder.store.change_pages([(CONNECTION_ID, 5)])
    append_events(recorder.store, APP_ID, [LoggedEvent.of_page(page)], NOON)
    path = f"/api/v1/events?connection_id={CONNECTION_ID}&subscription_id={samples.SUBSCRIPTION_ID}"
    caller = {"app_id": APP_ID, "scope": "full"}
    invoke(recorder, "list_events", api_event("GET", path, authorizer=caller))


def makes_a_run(recorder: Recorder) -> None:
    """Read the records of a subscription in a session."""
    a_subscription(recorder)
    connection = recorder.store.connection(CONNECTION_ID)
    assert connection
    recorder.store.commit(Put(connection, replace(connection, run_due_at=timestamp(NOON)).changed(timestamp(NOON))))
    books = Books()
    books.add("Customer", "Ann")

    def call(method: str, **arguments: str) -> Any:
        return result_of(method, load("handlers.web_connector.handler")(soap(method, **arguments), LongRun())["body"])

    with deployed_as(recorder, "web_connector"):
        ticket, *_ = call("authenticate", strUserName=CONNECTION_ID, strPassword="correct horse battery staple")
        send = {"ticket": ticket, "strHCPResponse": "", "strCompanyFileName": "C:\\a.qbw"}
        while message := call("sendRequestXML", **send):
            call("receiveResponseXML", ticket=ticket, response=books.answer(message), hresult="", message="")
        call("closeConnection", ticket=ticket)
    assert [one.phase for one in recorder.store.copy_state(CONNECTION_ID).objects] == [CopyPhase.CHANGES]


def purges_a_copy(recorder: Recorder) -> None:
    """Remove a deleted connection with a subscription."""
    connection = a_connection(id="c0000000-0000-4000-8000-000000000078")
    recorder.store.commit(Put(None, connection))
    a_subscription(recorder, connection.id)
    recorder.store.commit(Put(connection, connection.removed(timestamp(NOON))))
    invoke(recorder, "sweep", {})
    assert recorder.store.copy_state(connection.id).subscriptions == ()


def gets_a_canary(function: str) -> Callable[[Recorder], None]:
    """Return a case in which a consumer of a stream gets a canary."""
    image = {"id": {"S": "canary"}, keys.CANARY: {"S": "connections"}}
    return lambda recorder: invoke(recorder, function, {"Records": [{"dynamodb": {"NewImage": image}}]})


def sends_an_event_of_a_connection(recorder: Recorder) -> None:
    """Send an event of a connection to its webhook."""
    connection = recorder.store.connection(CONNECTION_ID)
    assert connection
    asking = replace(connection, webhook_url=HOOK, webhook_events=(ALL_EVENTS,)).changed(timestamp(NOON))
    recorder.store.commit(Put(connection, asking))
    (planned_event,) = first_attempts(asking, [EventOutcome.STALLED], NOON)
    message = {"messageId": "1", "body": message_of(planned_event)}
    invoke(recorder, "retry_webhook", {"Records": [message]})


def sends_changes(recorder: Recorder) -> None:
    """Send a page of changes to the webhook of a subscription, which failed before."""
    a_subscription(recorder, webhook=SubscriptionWebhook(HOOK, "The receiver returned HTTP 500."))
    message = message_of(PlannedChanges(CONNECTION_ID, APP_ID, samples.SUBSCRIPTION_ID, 5, 0, NOON))
    invoke(recorder, "retry_webhook", {"Records": [{"messageId": "1", "body": message}]})


def operates(recorder: Recorder) -> None:
    """Run every command of the operator; one count is wrong, and one webhook is overdue."""
    overdue = a_record(state=State.ERROR, webhook=Webhook.to(HOOK))
    recorder.store.commit(AddRequest(overdue, REQUEST_XML, "ann"))
    day = day_of(timestamp(NOON))
    recorder.store.add_to_counts({CountKey(CONNECTION_ID, day, INSERTED, State.WAITING, ListedWebhookState.PENDING): 1})
    recorder.store.commit(Put(None, App(OTHER_APP_ID, "Old shop", timestamp(NOON), ("secret",))))
    log_an_event(recorder, REQUEST_ID, app_id=OTHER_APP_ID)
    recorder.store.add_usage(OTHER_APP_ID, "waiting", 1)
    recorder.store.commit(Put(None, ApiKey("ab" * 32, OTHER_APP_ID, Scope.FULL, "sk_abcd", timestamp(NOON))))
    recorder.store.commit(Put(None, Membership(samples.MEMBER_ID, OTHER_APP_ID, Role.VIEWER, timestamp(NOON))))
    invoke(
        recorder,
        "operate",
        {"operation": "list_apps"},
        {"operation": "show_app", "app_id": APP_ID},
        {"operation": "delete_app", "app_id": OTHER_APP_ID},
        {"operation": "list_connections", "app_id": APP_ID},
        {"operation": "set_limits", "app_id": APP_ID, "waiting": "10"},
        {"operation": "set_contact", "app_id": APP_ID, "name": "Bluewater Books"},
        {"operation": "create_key", "app_id": APP_ID},
        {"operation": "list_keys", "app_id": APP_ID},
        {"operation": "audit_log", "app_id": APP_ID},
        {"operation": "invite", "app": "Shop", "email": "kim@example.com", "role": "viewer"},
        {"operation": "list_people", "app": APP_ID},
        {"operation": "forget_person", "person_id": samples.MEMBER_ID},
        {"operation": "revoke_key", "key_hash": api_key_hash(KEY)},
        {"operation": "rotate_webhook_secret", "app_id": APP_ID},
        {"operation": "retire_old_webhook_secrets", "app_id": APP_ID},
        {"operation": "recount_connection", "connection_id": CONNECTION_ID, "mend": "yes"},
        {"operation": "overdue_webhooks", "send": "yes"},
    )


def forgets_chunks(recorder: Recorder) -> None:
    """Forget a record with a response in chunks."""
    record = recorder.store.request(REQUEST_ID)
    if record is not None:
        response = secrets.token_hex(200_000)
        recorder.store.commit(ChangeRequest(record, record.changed(NOON), response_xml=response))  # type: ignore[arg-type,union-attr]
        dynamodb_client().delete_item(TableName="QueuedRequestsTable", Key={"id": {"S": REQUEST_ID}})
    invoke(recorder, "log_and_forget", committed_event("log_and_forget"))


def an_ended_request_with_chunks(recorder: Recorder, connection_id: str = CONNECTION_ID) -> str:
    """Store a request that has ended with a large response; return its id."""
    record = a_record(connection_id=connection_id, state=State.SENT)
    ended = record.moved(State.RESPONSE_RECEIVED, NOON)
    recorder.store.commit(AddRequest(record, REQUEST_XML, "ann"))
    recorder.store.commit(ChangeRequest(record, ended, response_xml=secrets.token_hex(200_000)))
    return record.id


def deletes_chunks(recorder: Recorder) -> None:
    """Delete a request with a response in chunks."""
    path = f"/api/v1/queued_requests/{an_ended_request_with_chunks(recorder)}"
    caller = {"app_id": APP_ID, "scope": "full"}
    invoke(recorder, "delete_queued_request", api_event("DELETE", path, authorizer=caller))


def ends_a_request_with_dependants(function: str, method: str, path: str) -> Callable[[Recorder], object]:
    """Return the case that takes a request away that another one waits for: refused, then with its dependants."""

    def case(recorder: Recorder) -> None:
        first, second = ids_of_batch("00000000-0000-4000-8000-000000000777", 2)
        recorder.store.commit(
            AddRequest(a_record(id=first, dependants=(1,)), REQUEST_XML, "ann"),
            AddRequest(a_record(id=second, dependencies=(0,)), REQUEST_XML, "ann"),
        )
        caller = {"app_id": APP_ID, "scope": "full"}
        force = "force=true&" if method == "DELETE" else ""
        for dependants in ("false", "true"):
            url = f"{path.format(id=first)}?{force}dependants={dependants}"
            invoke(recorder, function, api_event(method, url, authorizer=caller))

    return case


AWAITING_ID, DEPENDENT_ID = ids_of_batch(new_batch_id("00000000-0000-4000-8000-000000000777"), 2)


def decides(
    function: str, path: str, body: dict[str, object], of: str = "queued_requests/{batch}"
) -> Callable[[Recorder], object]:
    """Return the case that decides about a request that others wait for: refused, then with its dependants."""

    def case(recorder: Recorder) -> None:
        first, second = AWAITING_ID, DEPENDENT_ID
        yesterday = timestamp(NOON - timedelta(days=1))
        awaiting = a_record(
            id=first,
            dependants=(1,),
            request_name="CustomerAddRq",
            approval=Approval("key_1"),
            inserted_at=yesterday,
            updated_at=yesterday,
        )
        recorder.store.commit(
            AddRequest(awaiting, REQUEST_XML, "ann"),
            AddRequest(a_record(id=second, dependencies=(0,)), REQUEST_XML, "ann"),
        )
        caller = {"app_id": APP_ID, "scope": "approve", "key_id": "key_2"}
        for parameters in ("", "?dependants=true") if path == "reject" else ("",):
            url = f"/api/v1/connections/{CONNECTION_ID}/{of.format(batch=first)}/{path}{parameters}"
            invoke(recorder, function, api_event("POST", url, body=json.dumps(body), authorizer=caller))

    return case


def purges_chunks(recorder: Recorder) -> None:
    """Remove a deleted connection with a response in chunks."""
    connection = a_connection(id="c0000000-0000-4000-8000-000000000077")
    recorder.store.commit(Put(None, connection))
    log_an_event(recorder, an_ended_request_with_chunks(recorder, connection.id), connection.id)
    recorder.store.commit(Put(connection, connection.removed(timestamp(NOON))))
    invoke(recorder, "sweep", {})


def loses_a_large_response(recorder: Recorder) -> None:
    """Store a large response after another session has changed the request."""
    record = a_record(state=State.SENT)
    recorder.store.commit(AddRequest(record, REQUEST_XML, "ann"))
    recorder.store.commit(ChangeRequest(record, record.moved(State.ERROR, NOON)))
    late = record.moved(State.RESPONSE_RECEIVED, NOON)
    with deployed_as(recorder, "web_connector"), pytest.raises(Conflict):
        services().store.commit(ChangeRequest(record, late, response_xml=secrets.token_hex(200_000)))


def receives_a_set(recorder: Recorder) -> None:
    """Store the responses of two requests of a message set."""
    records = [a_record(state=State.SENT) for _ in range(2)]
    for record in records:
        recorder.store.commit(AddRequest(record, REQUEST_XML, "ann"))
    with deployed_as(recorder, "web_connector"):
        services().store.commit(
            *(
                ChangeRequest(record, record.moved(State.RESPONSE_RECEIVED, NOON), response_xml=RESPONSE_XML)
                for record in records
            )
        )


def packs_a_removed_text(recorder: Recorder) -> None:
    """Delete a packed text from the search blocks after its record was removed."""
    earlier = timestamp(NOON.replace(day=1))
    record = a_record(inserted_at=earlier, updated_at=earlier)
    recorder.store.commit(AddRequest(record, REQUEST_XML, "ann"))
    for _ in range(4):
        pack_days(recorder.store, FixedClock(), NOON.replace(hour=13))
    recorder.store.move_statistics(record.connection_id, day_of(earlier))
    recorder.store.commit(RemoveRequest(record, timestamp(NOON)))
    invoke(recorder, "pack_search_texts", *[committed_event("pack_search_texts")] * 4)


def searches_packed_and_sent_requests(recorder: Recorder) -> None:
    """Search for the number of a request that is packed, and of one that is sent."""
    earlier = timestamp(NOON.replace(day=1))
    number = f"{HAS_MARKS}\n{marked(MatchedAs.NUMBER, '1042')}"
    packed, sent = a_record(inserted_at=earlier, updated_at=earlier), a_record(state=State.SENT)
    recorder.store.commit(AddRequest(packed, REQUEST_XML, number))
    for _ in range(4):
        pack_days(recorder.store, FixedClock(), NOON.replace(hour=13))
    recorder.store.commit(AddRequest(sent, REQUEST_XML, number))
    invoke(recorder, "search_queued_requests", committed_event("search_queued_requests"))


def an_iterated_query_with_a_page(recorder: Recorder) -> str:
    """Store a query whose first page has ended and whose second page is in flight; return its id."""
    first = a_record(state=State.RESPONSE_RECEIVED, paging=Paging(continued=True))
    page = a_record(paging=Paging(2, first.id)).claimed("", NOON)
    for record in (first, page):
        recorder.store.commit(AddRequest(record, REQUEST_XML, "ann"))
    return first.id


def lists_the_audit_log_of_a_connection(recorder: Recorder) -> None:
    """List the entries of one connection."""
    path = f"/api/v1/connections/{CONNECTION_ID}/audit_log"
    caller = {"app_id": APP_ID, "scope": "full"}
    invoke(recorder, "list_audit_log", api_event("GET", path, authorizer=caller))


def waits_for_a_page(recorder: Recorder) -> None:
    """Wait for an iterated query."""
    path = f"/api/v1/queued_requests/{an_iterated_query_with_a_page(recorder)}?wait=1"
    caller = {"app_id": APP_ID, "scope": "full"}
    invoke(recorder, "get_queued_request", api_event("GET", path, authorizer=caller))


def waits_after_queueing(function: str) -> Callable[[Recorder], object]:
    """Queue a request and wait for it. Repeat the call after the request has begun to iterate."""

    def queue(recorder: Recorder) -> None:
        event = committed_event(function)
        event["multiValueHeaders"]["Prefer"] = ["wait=1"]
        invoke(recorder, function, event)
        record = newest(recorder)
        page = a_record(connection_id=record.connection_id, paging=Paging(2, record.id)).claimed("", NOON)
        ended = record.claimed("", NOON).moved(State.SENT, NOON)
        ended = replace(ended, paging=Paging(continued=True)).moved(State.RESPONSE_RECEIVED, NOON).as_change_of(record)
        recorder.store.commit(ChangeRequest(record, ended), AddRequest(page, REQUEST_XML, "ann"))
        invoke(recorder, function, event)

    return queue


def newest(recorder: Recorder) -> QueuedRequest:
    """Return the record that a call has just queued."""
    (record,) = [
        record
        for record in map(RECORDS.entity, recorder.store.client.scan(TableName="QueuedRequestsTable")["Items"])
        if record.id != REQUEST_ID and record.state is State.WAITING
    ]
    return record


def queues_at_the_limit(function: str) -> Callable[[Recorder], object]:
    """Queue when the counter of waiting requests has reached the limit, so that they are counted."""

    def queue(recorder: Recorder) -> None:
        recorder.store.set_usage(APP_ID, "waiting", Usage(AppLimits().waiting))
        invoke(recorder, function, committed_event(function))

    return queue


def begins_the_low_lane(function: str) -> Callable[[Recorder], object]:
    """Queue the first request of the low lane while a session is live, so that both are marked."""

    def queue(recorder: Recorder) -> None:
        connection = recorder.store.connection(CONNECTION_ID)
        assert connection
        if not connection.session_id:
            session = a_session(id="5" * 64)
            after = replace(connection, session_id=session.id).changed(timestamp(NOON))
            recorder.store.commit(Put(None, session), Put(connection, after))
        event = committed_event(function)
        low: dict[str, Any] = {"multiValueQueryStringParameters": {"priority": ["low"]}}
        if not function.startswith("query_"):
            low = {"body": json.dumps(json.loads(event["body"]) | {"priority": "low"})}
        invoke(recorder, function, event | low)

    return queue


def replaces_another(recorder: Recorder) -> None:
    """Queue a request in place of one that has ended."""
    end_what_is_queued_again(recorder.store, recorder.store.request(REQUEST_ID), "queue_request_again")  # type: ignore[arg-type]
    event = committed_event("create_queued_request")
    body = json.loads(event["body"]) | {"replaces": REQUEST_ID}
    invoke(recorder, "create_queued_request", event | {"body": json.dumps(body)})


def sets_a_password(recorder: Recorder) -> None:
    """Set the password of a connection with a session through its onboarding link."""
    path = "/onboarding/password"
    event = committed_event("onboard_customer")
    invoke(recorder, "onboard_customer", event | {"httpMethod": "POST", "resource": path, "path": path})


def changes_the_webhook_url(recorder: Recorder) -> None:
    """Change the default webhook URL of a connection, which creates require to be as they have read it."""
    body = json.dumps({"webhook_url": "https://shop.example/other"})
    invoke(recorder, "update_connection", committed_event("update_connection") | {"body": body})


def counts_a_record_in_flight(recorder: Recorder) -> None:
    """List the connections with their counts while a request is in flight."""
    recorder.store.commit(AddRequest(a_record().claimed("", NOON), REQUEST_XML, "ann"))
    invoke(recorder, "list_connections", committed_event("list_connections"))


def reads_failed_webhooks(function: str) -> Callable[[Recorder], object]:
    """Return the case that gets statistics of a day with a failed webhook."""

    def case(recorder: Recorder) -> None:
        webhook = Webhook(WebhookState.FAILED, HOOK, attempts_in_round=1)
        record = a_record(state=State.RESPONSE_RECEIVED, webhook=webhook)
        recorder.store.commit(AddRequest(record, REQUEST_XML, "ann"))
        invoke(recorder, function, committed_event(function))

    return case


def of_another_admin(function: str) -> Callable[[Recorder], object]:
    """Return the case in which an admin, who is not the only one, changes or removes the own membership."""

    def case(recorder: Recorder) -> None:
        [before] = recorder.store.memberships_of(samples.MEMBER_ID)
        recorder.store.commit(Put(before, replace(before, role=Role.ADMIN, revision=2)))
        event = committed_event(function)
        own = {"path": event["path"].replace(samples.MEMBER_ID, samples.ADMIN_ID)}
        invoke(recorder, function, event | own | {"pathParameters": {"person_id": samples.ADMIN_ID}})

    return case


def signs_out_everywhere(recorder: Recorder) -> None:
    """End all sign-ins of a person."""
    event = committed_event("session_token")
    path = "/session/end"
    invoke(recorder, "session_token", event | {"resource": path, "path": path, "body": '{"everywhere": true}'})


def is_a_person(recorder: Recorder) -> None:
    """Identify the app of a session token."""
    [sign_in] = recorder.store.sign_ins_of(samples.ADMIN_ID)
    token = SessionToken.made(sign_in, APP_ID, int(NOON.timestamp()) + 100_000)
    credential = base64.b64encode(f"{token.text}:".encode()).decode()
    event = committed_event("authorizer") | {"authorizationToken": f"Basic {credential}"}
    with contextlib.suppress(Unauthorized):
        invoke(recorder, "authorizer", event)


def names_a_person(function: str, path: str) -> Callable[[Recorder], object]:
    """Return the case in which a function names the person who did something."""

    def case(recorder: Recorder) -> None:
        by = Actor(ActorType.PERSON, samples.ADMIN_ID)
        record = a_record(id=AWAITING_ID)
        entry = audit_entry(Action.APP_CREATED, by, Subject(APP_ID, "x", 1), timestamp(NOON))
        recorder.store.commit(AddRequest(record, REQUEST_XML, "ann", queued_by=by), Put(None, entry))
        caller = {"app_id": APP_ID, "scope": "full"}
        invoke(recorder, function, api_event("GET", path.format(id=record.id), authorizer=caller))

    return case


def signs_in_with_too_many_browsers(recorder: Recorder) -> None:
    """Sign a person in, which ends the oldest of many sign-ins."""
    for number in range(MAX_SIGN_INS):
        one = SignIn(samples.ADMIN_ID, f"{number}", "", "", timestamp(NOON), timestamp(NOON), samples.FAR_FUTURE)
        recorder.store.commit(Put(None, one))
    provider = OneProvider()
    provider.subject = "ada"
    with deployed_as(recorder, "sign_in") as services:
        services.identity_provider = provider
        load("handlers.sign_in.handler")(committed_event("sign_in"), LongRun())


FURTHER: dict[str, tuple[Callable[[Recorder], object], ...]] = {
    "list_connections": (counts_a_record_in_flight,),
    "list_queued_requests": (lists,),
    "get_queued_request": (
        waits_for_a_page,
        names_a_person("get_queued_request", "/api/v1/queued_requests/{id}"),
    ),
    "delete_connection": (deletes_a_connection_in_use,),
    "onboard_customer": (sets_a_password,),
    "update_connection": (changes_the_webhook_url,),
    "delete_queued_request": (
        deletes_chunks,
        ends_a_request_with_dependants("delete_queued_request", "DELETE", "/api/v1/queued_requests/{id}"),
    ),
    "discard_queued_request": (
        ends_a_request_with_dependants("discard_queued_request", "POST", "/api/v1/queued_requests/{id}/discard"),
    ),
    "approve_queued_request": (decides("approve_queued_request", "approve", {"revision": 1}),),
    "reject_queued_request": (decides("reject_queued_request", "reject", {"reason": "No."}),),
    "approve_queued_requests": (
        decides(
            "approve_queued_requests",
            "approve",
            {"requests": [{"id": AWAITING_ID, "revision": 1}]},
            of="batches/{batch}",
        ),
    ),
    "reject_queued_requests": (decides("reject_queued_requests", "reject", {"reason": "No."}, of="batches/{batch}"),),
    "discard_queued_requests": (discards_beside_a_session,),
    "sweep": (
        sweeps_a_request_that_ends,
        sweeps_late_requests,
        purges_chunks,
        purges_a_copy,
        asks_by_itself("sweep"),
    ),
    "web_connector": (
        call_a_whole_session,
        a_session_with_a_large_request,
        logs_in_after_a_session_was_removed,
        logs_in_while_the_app_has_its_share,
        loses_a_large_response,
        receives_a_set,
        makes_a_run,
    ),
    "change_member": (of_another_admin("change_member"),),
    "remove_member": (of_another_admin("remove_member"),),
    "session_token": (signs_out_everywhere,),
    "authorizer": (is_a_person,),
    "sign_in": (signs_in_with_too_many_browsers,),
    "operate": (operates,),
    "deliver_webhook": (gets_a_canary("deliver_webhook"),),
    "log_and_forget": (
        forgets_chunks,
        logs_events,
        gets_a_canary("log_and_forget"),
        settles("log_and_forget"),
        asks_by_itself("log_and_forget"),
    ),
    "settle_queued_request": (settles("settle_queued_request"),),
    "retry_webhook": (sends_an_event_of_a_connection, sends_changes),
    "list_audit_log": (
        lists_the_audit_log_of_a_connection,
        names_a_person("list_audit_log", "/api/v1/audit_log"),
    ),
    "list_events": (lists_events, lists_changes, waits_for_events),
    **{
        name: (reads_failed_webhooks(name),) for name in ("get_connection_statistics", "get_failures", "get_statistics")
    },
    "pack_search_texts": (packs_a_removed_text,),
    "search_queued_requests": (searches_packed_and_sent_requests,),
    **{
        function: (
            queues_at_the_limit(function),
            waits_after_queueing(function),
            repeats_a_call_after_its_time(function),
            begins_the_low_lane(function),
            *([replaces_another] if function == "create_queued_request" else []),
        )
        for function in ("create_queued_request", *(f"query_{name}" for name in QUERIES))
    },
    "create_batch": (
        queues_at_the_limit("create_batch"),
        repeats_a_call_after_its_time("create_batch"),
        begins_the_low_lane("create_batch"),
    ),
    **{
        function: (queues_at_the_limit(function),)
        for function in ("continue_batch", "queue_request_again", "queue_requests_again")
    },
}
"""Cases that make a function do more than its event does."""


def calls_of(function: str) -> set[tuple[str, str]]:
    """Return the calls of a function for its event, for a repeated event and in every further case."""

    def event_twice(recorder: Recorder) -> None:
        invoke(recorder, function, *[committed_event(function)] * 2)

    calls: set[tuple[str, str]] = set()
    for case in (event_twice, *FURTHER.get(function, ())):
        with emulated_dynamodb():
            # A case prepares the database with a client that is not recorded.
            client = dynamodb_client()
            recorder = Recorder(dynamodb_client(), DynamoDBStore(client, make_tables(client, "")))
            fill(recorder.store, function)
            case(recorder)
            calls |= recorder.calls
    return calls


@pytest.mark.parametrize("function", FUNCTIONS.values())
def test_a_function_uses_exactly_its_grants_on_tables(function: str) -> None:
    on_tables = {
        (action, resource)
        for action, resource in grants(function)
        if action.startswith("dynamodb:") and not resource.endswith("/stream/*")
    }
    assert calls_of(function) == on_tables
