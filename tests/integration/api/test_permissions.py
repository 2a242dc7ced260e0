"""Each function has the permissions and the settings that it uses: its recorded calls against the template."""

from __future__ import annotations

import json
import secrets
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

import pytest

from adapters.dynamodb import DynamoDBStore, TableNames
from domain.connections.service import ConnectionService
from domain.maintenance.search_packing import pack_days
from domain.records.app import ApiKey, App, Scope, api_key_hash
from domain.records.approval import Approval
from domain.records.batch import ids_of_batch, new_batch_id
from domain.records.request import Attempts, QueuedRequest, RequestError, State
from domain.records.session import InFlight
from domain.records.subscription import ChangePage, PageKind
from domain.records.webhook import Webhook, WebhookState
from domain.storage.changes import (
    AddRequest,
    ChangeRequest,
    Put,
    RemoveRequest,
)
from domain.timestamps import timestamp
from domain.web_connector.outcomes.lost_response import MAX_SESSIONS
from handlers.common.settings import Settings
from local.emulated_dynamodb import emulated_dynamodb
from local.permissions import as_list, permissions_for, permissions_of
from local.sam_local import samples
from local.tables import make_tables
from local.template import Function, Template
from tests.contract.conftest import dynamodb_client
from tests.integration.api.test_events import (
    ENDED,
    EVENTS,
    FUNCTIONS,
    HOOK,
    KEY,
    LINK,
    MOVED,
    REQUEST_ID,
    LambdaContext,
    NoRetries,
    Receiver,
)
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
    a_record,
    a_session,
    counting_bytes,
)
from tests.support.cases import for_each
from tests.support.services import OneProvider, services_with, using
from tests.support.simulators import NotedSimulators
from tests.support.unknown_writes import add_unknown_write
from tests.support.webhooks import PlannedAttempts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from domain.records.connection import Connection
    from handlers.common.bootstrap import Services
    from local.permissions import Permission


def template_with_ids() -> Template:
    """Return the template with the logical id of everything in place of its ARN."""
    template = Template.load()
    return template.with_references({f"{name}.Arn": name for name in template.document["Resources"]})


@cache
def _template() -> Template:
    return Template.load(parameters={"OidcIssuer": "https://id.example.com", "OidcClientId": "qbxml-queue"})


@cache
def _definitions() -> Mapping[str, Function]:
    return {definition.handler: definition for definition in _template().functions()}


def environment_of(function: str) -> Mapping[str, str]:
    """Return the environment variables of a function."""
    return _definitions()[f"handlers.{function}.handler"].environment


@cache
def grants(function: str) -> frozenset[Permission]:
    """Return (action, table or table/index/name) that a function's role allows."""
    return permissions_of(_template(), _definitions()[f"handlers.{function}.handler"])


class LongRun(LambdaContext):
    """The context of a function with 15 minutes, enough for background work to begin."""

    def get_remaining_time_in_millis(self) -> int:
        """Return the remaining time."""
        return 900_000


class Recorder:
    """Records the calls of a client as IAM sees them. `store` may use every table."""

    def __init__(self, client: Any, store: DynamoDBStore) -> None:
        self.client = client
        self.new_id = SequentialIds()
        self.store = store
        self.calls: set[tuple[str, str]] = set()
        client.meta.events.register("provide-client-params.dynamodb", self._note)

    def _note(self, params: dict[str, Any], model: Any, **_: Any) -> None:
        self.calls |= permissions_for("dynamodb", model.name, params)


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    """Yield the recorder of a database with the template's tables."""
    with emulated_dynamodb():
        client = dynamodb_client()
        yield Recorder(client, DynamoDBStore(client, make_tables(client, "")))


@contextmanager
def deployed_as(recorder: Recorder, function: str) -> Iterator[Services]:
    """Give the functions the settings of `function`. Reading any other setting raises a KeyError with its name."""
    settings = Settings(environment_of(function))
    tables = TableNames(settings.table)
    store = DynamoDBStore(recorder.client, tables, retention_days=lambda: settings.retention_days)
    clock = FixedClock(NOON.replace(hour=15))
    services = services_with(store, clock)
    services.pause = lambda seconds: setattr(clock, "now", clock() + timedelta(seconds=seconds))
    services.settings, services.new_id, services.secrets = settings, recorder.new_id, counting_bytes
    services.webhook_sender, services.simulators = Receiver(), NotedSimulators()
    services.identity_provider = OneProvider()
    services.retry_queue = PlannedAttempts([]) if function in {"sweep", "operate"} else NoRetries()
    with using(services):
        yield services


def end_what_is_queued_again(store: DynamoDBStore, record: QueuedRequest, function: str) -> None:
    """Store the ended requests that a function queues again."""
    if function in {"queue_request_again", "queue_requests_again"}:
        store.commit(ChangeRequest(record, record.moved(State.DISCARDED, NOON)))
    if function == "continue_batch":
        first, second = ids_of_batch(new_batch_id(REQUEST_ID), 2)
        failed = a_record(id=first, request_name="CustomerAddRq", state=State.DISCARDED, dependants=(1,))
        error = RequestError("dependency_failed", "…")
        store.commit(AddRequest(failed, REQUEST_XML, "ann"))
        store.commit(
            AddRequest(a_record(id=second, state=State.ERROR, error=error, dependencies=(0,)), REQUEST_XML, "ann")
        )


def subscribe(store: DynamoDBStore, function: str, connection: Connection) -> None:
    """Store a subscription for a function of subscriptions. A run is due, unless it is paused."""
    if function == "list_changes":
        page = ChangePage(CONNECTION_ID, APP_ID, 5, PageKind.CHANGED, "Bill", 1, timestamp(NOON), 1, '[{"id": "1"}]')
        store.commit(Put(None, page))
    if "subscription" in function:
        due_at = None if "resume" in function else timestamp(NOON)
        due = replace(connection, run_due_at=due_at).changed(timestamp(NOON))
        store.commit(*samples.subscriptions(function), Put(connection, due))


def begin_sessions(store: DynamoDBStore, function: str, connection: Connection) -> None:
    """Store a running session and ended ones, of this connection and of the one that the sweep removes."""
    if function == "list_sessions":
        silent = a_session()
        running = replace(connection, session_id=silent.id).changed(timestamp(NOON))
        store.commit(Put(None, silent), Put(connection, running))
    for owner in (CONNECTION_ID, "c0000000-0000-4000-8000-000000000002"):
        if function in {"list_sessions", "sweep"}:
            store.commit(Put(None, a_session(id=owner, connection_id=owner, ended=True, began_at=timestamp(NOON))))


def fill(store: DynamoDBStore, function: str) -> None:
    """Store the records that the events mention, a silent session and a deleted connection."""
    approval = Approval("key_0000000000000001") if "approve" in function or "reject" in function else None
    record = a_record(id=REQUEST_ID, webhook=Webhook.to(HOOK), approval=approval)
    connection, silent = a_connection(onboarding=LINK, last_error=MOVED, simulated="simulator" in function), a_session()
    store.commit(Put(None, App(APP_ID, "Shop", timestamp(NOON), ("whsec_" + "A" * 43 + "=",))))
    store.commit(Put(None, ApiKey(api_key_hash(KEY), APP_ID, Scope.FULL, KEY[:11], timestamp(NOON))))
    store.commit(Put(None, connection))
    store.commit(*samples.people())
    subscribe(store, function, connection)
    begin_sessions(store, function, connection)
    if function == "settle_queued_request":
        add_unknown_write(store, id=REQUEST_ID)
    else:
        store.commit(AddRequest(record, REQUEST_XML, "ann"))
    if function in ENDED:
        for state in (State.TICKETED, State.SENT):
            store.commit(ChangeRequest(record, record := record.moved(state, NOON)))
        after = replace(record, webhook=replace(record.webhook, attempts_in_round=ENDED[function])).moved(
            State.RESPONSE_RECEIVED, NOON
        )
        store.commit(ChangeRequest(record, after, response_xml=RESPONSE_XML))
        if function in {"redeliver_queued_request", "redeliver_webhooks"}:
            store.commit(
                ChangeRequest(after, after.with_webhook(NOON, replace(after.webhook, state=WebhookState.FAILED)))
            )
    end_what_is_queued_again(store, record, function)
    if function == "pack_search_texts":
        # A day to copy, a day to remove from the index, and a day without remaining records.
        later, earlier, old = (
            a_record(inserted_at=timestamp(moment), updated_at=timestamp(moment))
            for moment in (NOON - timedelta(days=days) for days in (2, 3, 4))
        )
        store.commit(AddRequest(earlier, REQUEST_XML, "bob"), AddRequest(old, REQUEST_XML, "carl"))
        store.commit(RemoveRequest(old, timestamp(NOON)))
        pack_days(store, FixedClock(), NOON + timedelta(hours=1))
        store.commit(AddRequest(later, REQUEST_XML, "dora"))
        pack_days(store, FixedClock(), NOON + timedelta(hours=1))
    if function == "sweep":
        ticketed_record = record.claimed(silent.id, NOON)
        connection_in_session = replace(connection, session_id=silent.id).changed(timestamp(NOON))
        store.commit(
            ChangeRequest(record, ticketed_record),
            Put(None, a_session(in_flight=InFlight((record.id,)))),
            Put(connection, connection_in_session),
        )
        overdue = a_record(state=State.ERROR, webhook=Webhook.to(HOOK))
        store.commit(AddRequest(overdue, REQUEST_XML, "ann"))
        other = a_connection(id="c0000000-0000-4000-8000-000000000002")
        store.commit(Put(None, other))
        store.commit(AddRequest(a_record(connection_id=other.id), REQUEST_XML, "bob"))
        store.commit(Put(other, other.removed(timestamp(NOON))))
    if function == "delete_connection":
        sent_record = replace(record.claimed(silent.id, NOON), attempts=Attempts(MAX_SESSIONS)).moved(State.SENT, NOON)
        store.commit(
            ChangeRequest(record, sent_record),
            Put(None, a_session(in_flight=InFlight((record.id,)))),
            Put(connection, replace(connection, session_id=silent.id).changed(timestamp(NOON))),
        )
    if function in {"pause_connection", "resume_connection", "set_connection_password", "onboard_customer"}:
        paused_at = timestamp(NOON) if function == "resume_connection" else None
        connection_in_session = replace(connection, session_id=silent.id, paused_at=paused_at).changed(timestamp(NOON))
        live = replace(silent, in_flight=InFlight((record.id,)))
        ticketed_record = record.claimed(live.id, NOON)
        store.commit(ChangeRequest(record, ticketed_record), Put(None, live), Put(connection, connection_in_session))
    if function == "web_connector":
        connections = ConnectionService(store, clock=FixedClock(), new_id=SequentialIds(), secrets=counting_bytes)
        connections.set_password(APP_ID, CONNECTION_ID, "correct horse battery staple", actor=AN_ACTOR)


@pytest.mark.parametrize("function", FUNCTIONS.values())
def test_a_function_is_allowed_the_calls_of_its_event(recorder: Recorder, function: str) -> None:
    fill(recorder.store, function)
    recorder.calls.clear()
    event = json.loads((EVENTS / f"{function}.json").read_text(encoding="utf-8"))

    with deployed_as(recorder, function):
        result = load(f"handlers.{function}.handler")(event, LongRun())

    assert not result or result.get("statusCode", 200) < 300 or function in {"method_not_allowed", "sign_in"}
    assert recorder.calls <= grants(function)
    assert recorder.calls or function in {"serve_console", "get_api_key", "method_not_allowed"}


@for_each("function", FUNCTIONS.values())
def test_a_function_has_the_names_of_exactly_the_tables_that_its_role_allows(function: str) -> None:
    variables = {value for name, value in environment_of(function).items() if name.endswith("_TABLE")}
    resources = {resource for _, resource in grants(function) if not resource.endswith("/stream/*")}
    tables = {resource.partition("/")[0] for resource in resources}

    missing = {table for table in tables if table.endswith("Table")} ^ variables
    assert not missing, f"{function}: the environment in template.yaml and the role differ in {sorted(missing)}"


def test_no_policy_has_a_wildcard() -> None:
    """But for the streams of a table: one that was restored under its former name has another stream."""
    template = template_with_ids()
    policies = [
        policy["PolicyDocument"]
        for role in template.resources("AWS::IAM::Role").values()
        for policy in role.get("Policies", [])
    ] + [policy["PolicyDocument"] for policy in template.resources("AWS::IAM::ManagedPolicy").values()]

    for statement in (statement for policy in policies for statement in policy["Statement"]):
        assert not any("*" in action for action in as_list(statement["Action"]))
        resources = [resource.removesuffix("/stream/*") for resource in as_list(statement["Resource"])]
        assert not any("*" in resource for resource in resources)


def soap(method: str, **arguments: str) -> dict[str, Any]:
    """Return the event of a Web Connector's call."""
    fields = "".join(f"<{name}>{escape(value)}</{name}>" for name, value in arguments.items())
    body = (
        '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>'
        f'<{method} xmlns="http://developer.intuit.com/">{fields}</{method}></soap:Body></soap:Envelope>'
    )
    return api_event("POST", "/qbwc", body=body, headers={"Content-Type": "text/xml; charset=utf-8"})


def test_a_whole_session_is_allowed_its_calls(recorder: Recorder) -> None:
    fill(recorder.store, "web_connector")

    first, half, second, whole = call_a_whole_session(recorder)

    assert "iterator=&quot;Start" in first or 'iterator="Start' in first
    assert "Continue" in second
    assert ("100" in half, "100" in whole) == (False, True)
    assert recorder.calls <= grants("web_connector")


def call_a_whole_session(recorder: Recorder) -> tuple[str, str, str, str]:
    """Return the replies of a session with two pages of an iterated query; then the connection is lost.

    One page has a response that is stored in chunks.
    """
    customers = f"/api/v1/connections/{CONNECTION_ID}/customers?iterate=true"
    with deployed_as(recorder, "query_customers"):
        load("handlers.query_customers.handler")(
            api_event("GET", customers, authorizer={"app_id": APP_ID, "scope": "full"}), LongRun()
        )
    with deployed_as(recorder, "discard_queued_request"):
        load("handlers.discard_queued_request.handler")(
            json.loads((EVENTS / "discard_queued_request.json").read_text(encoding="utf-8")), LongRun()
        )
    recorder.calls.clear()

    def call(method: str, **arguments: str) -> str:
        text: str = load("handlers.web_connector.handler")(soap(method, **arguments), LongRun())["body"]
        return text

    def receive(ticket: str, remaining: int, filling: str) -> str:
        response = (
            '<?xml version="1.0" ?><QBXML><QBXMLMsgsRs><CustomerQueryRs statusCode="0" statusSeverity="Info" '
            f'statusMessage="Status OK" iteratorRemainingCount="{remaining}" iteratorID="{{1}}">'
            f"<CustomerRet><Name>{filling}</Name></CustomerRet></CustomerQueryRs></QBXMLMsgsRs></QBXML>"
        )
        return call("receiveResponseXML", ticket=ticket, response=response, hresult="", message="")

    with deployed_as(recorder, "web_connector"):
        login = call("authenticate", strUserName=CONNECTION_ID, strPassword="correct horse battery staple")
        ticket = login.partition("<string>")[2].partition("</string>")[0]
        first = call("sendRequestXML", ticket=ticket, strHCPResponse="", strCompanyFileName="C:\\a.qbw")
        half = receive(ticket, 7, secrets.token_hex(500_000))
        second = call("sendRequestXML", ticket=ticket, strHCPResponse="", strCompanyFileName="C:\\a.qbw")
        whole = receive(ticket, 0, "Ann")
        call("connectionError", ticket=ticket, hresult="0x80040408", message="Could not start QuickBooks.")
        call("getLastError", ticket=ticket)
        call("closeConnection", ticket=ticket)

    return first, half, second, whole


@pytest.mark.parametrize("function", FUNCTIONS.values())
def test_a_function_may_make_the_calls_of_a_repeated_event(recorder: Recorder, function: str) -> None:
    """A client repeats a call with its idempotency key; Lambda and the streams repeat events."""
    fill(recorder.store, function)
    recorder.calls.clear()
    event = json.loads((EVENTS / f"{function}.json").read_text(encoding="utf-8"))
    if "httpMethod" in event:
        event["headers"]["Idempotency-Key"] = "order-17"
        event["multiValueHeaders"]["Idempotency-Key"] = ["order-17"]

    with deployed_as(recorder, function):
        statuses = [
            (load(f"handlers.{function}.handler")(event, LongRun()) or {}).get("statusCode", 200) for _ in range(2)
        ]

    assert max(statuses) < 500
    assert recorder.calls <= grants(function)
