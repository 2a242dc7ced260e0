"""Every built function works under Lambda's runtime, with its sample event and separate tables."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import pytest

from adapters.dynamodb import DynamoDBStore
from domain.connections.passwords import hash_password
from domain.records.app import ApiKey, App, Limits, Scope, api_key_hash
from domain.records.connection import OnboardingLink
from domain.records.request import QueuedRequest, State
from domain.records.webhook import Webhook, WebhookState
from domain.storage.changes import AddRequest, ChangeRequest, Put
from domain.timestamps import timestamp
from local.receiver import receiving
from local.runtime import instance
from local.tables import make_tables
from local.template import Template
from tests.support.builders import (
    APP_ID,
    CONNECTION_ID,
    NOON,
    REQUEST_XML,
    RESPONSE_XML,
    a_connection,
    a_record,
    counting_bytes,
)

if TYPE_CHECKING:
    from local.receiver import Webhook as ReceivedWebhook
    from local.template import Function

BUILT, TOOLS, ENDPOINT = (
    Path(os.environ["RUNTIME_BUILT"]),
    Path(os.environ["RUNTIME_TOOLS"]),
    os.environ["RUNTIME_ENDPOINT"],
)
EVENTS = Path(__file__).resolve().parents[2] / "events"
FUNCTIONS = {
    function.handler.split(".")[1]: function
    for function in Template.load(parameters={"AllowLoopbackWebhooks": "true"}).functions()
}
REQUEST_ID = "b0000000-0000-4000-8000-000000000001"
KEY = "sk_" + "A" * 43
WEBHOOK_SECRET = "whsec_" + "A" * 43 + "="
PASSWORD = "correct horse battery staple"

# The number of webhook attempts in the round of an event's record. Without an entry, the record still waits.
ENDED = {"redeliver_queued_request": 0, "deliver_webhook": 0, "retry_webhook": 1, "forget_expired": 1}

CREDENTIALS = {"region_name": "us-east-1", "aws_access_key_id": "local", "aws_secret_access_key": "local"}


def event_of(function: str) -> Any:
    return json.loads((EVENTS / f"{function}.json").read_text(encoding="utf-8"))


ONBOARDING_TOKEN = f"{CONNECTION_ID}.{'A' * 43}"
"""The token in `events/onboard_customer.json`."""

FAR_FUTURE = "2999-01-01T00:00:00.000000Z"
"""The functions use the real clock."""


def make_resources(prefix: str) -> tuple[dict[str, str], DynamoDBStore]:
    """Create tables and a queue with unique names. Return their variables, and the store on them."""
    dynamodb = boto3.client("dynamodb", endpoint_url=ENDPOINT, **CREDENTIALS)
    sqs = boto3.client("sqs", endpoint_url=ENDPOINT, **CREDENTIALS)
    tables = make_tables(dynamodb, f"{prefix}-")
    variables = {
        "QUEUED_REQUESTS_TABLE": tables.queued_requests,
        "PAYLOADS_TABLE": tables.payloads,
        "COUNTS_TABLE": tables.counts,
        "CONNECTIONS_TABLE": tables.connections,
        "SESSIONS_TABLE": tables.sessions,
        "APPS_TABLE": tables.apps,
        "IDEMPOTENCY_KEYS_TABLE": tables.idempotency_keys,
        "QUEUE_TABLE": tables.queue,
        "USAGES_TABLE": tables.usages,
        "WEBHOOK_RETRY_QUEUE_URL": sqs.create_queue(QueueName=f"{prefix}-retries")["QueueUrl"],
        "AWS_ENDPOINT_URL": ENDPOINT,
    }
    return variables, DynamoDBStore(dynamodb, tables)


def fill(store: DynamoDBStore, function: str, webhook_url: str) -> None:
    """Store the records that the events mention."""
    record = a_record(id=REQUEST_ID, webhook=Webhook.to(webhook_url))
    store.commit(Put(None, App(APP_ID, "Shop", timestamp(NOON), (WEBHOOK_SECRET,))))
    store.commit(Put(None, ApiKey(api_key_hash(KEY), APP_ID, Scope.FULL, KEY[:11], timestamp(NOON))))
    password_hash = hash_password(PASSWORD, counting_bytes(16))
    link = OnboardingLink(sha256(ONBOARDING_TOKEN.encode()).hexdigest(), timestamp(NOON), FAR_FUTURE)
    store.commit(Put(None, a_connection(password_hash=password_hash, onboarding=link)))
    store.commit(AddRequest(record, REQUEST_XML, "ann"))
    if function in ENDED:
        for state in (State.TICKETED, State.SENT):
            store.commit(ChangeRequest(record, record := record.moved(state, NOON)))
        after = record.moved(
            State.RESPONSE_RECEIVED, NOON, webhook=replace(record.webhook, attempts_in_round=ENDED[function])
        )
        store.commit(ChangeRequest(record, after, response_xml=RESPONSE_XML))


@pytest.mark.parametrize(("name", "function"), FUNCTIONS.items(), ids=FUNCTIONS)
def test_a_built_function_does_its_work_under_lambdas_runtime(
    name: str, function: Function, tmp_path: Path, cold_starts: dict[str, tuple[float, float]]
) -> None:
    webhooks: list[ReceivedWebhook] = []
    with receiving(WEBHOOK_SECRET, webhooks.append) as webhook_url:
        variables, store = make_resources(name.replace("_", "-"))
        fill(store, name, webhook_url)
        own = {name: value for name, value in variables.items() if name in {*function.environment, "AWS_ENDPOINT_URL"}}
        with instance(TOOLS, BUILT, function, own, tmp_path / "runtime.log") as function_instance:
            result, first = function_instance.invoke(event_of(name))
            _, second = function_instance.invoke(event_of(name))
    cold_starts[name] = first, second
    log = (tmp_path / "runtime.log").read_text(encoding="utf-8")

    match name:
        case "deliver_webhook" | "retry_webhook":
            assert result == {"batchItemFailures": []}, log
            assert [webhook.verified for webhook in webhooks] == [{"standard", "qube"}], log
            record = store.request(REQUEST_ID)
            assert isinstance(record, QueuedRequest)
            assert record.webhook_state is WebhookState.SUCCEEDED
        case "forget_expired":
            assert result == {"batchItemFailures": []}, log
            assert "retention.forgotten" in log
        case "authorizer":
            assert result["context"] == {"app_id": APP_ID, "scope": "full", **asdict(Limits())}, log
        case "operate":
            assert result["name"] == "Shop", log
        case "sweep":
            assert result is None, log
            assert "sweep.done" in log
        case "pack_search_texts":
            assert result is None, log
            assert "packing.done" in log
        case "web_connector":
            assert result["statusCode"] == 200, log
            assert "authenticateResponse" in result["body"]
            assert "nvu" not in result["body"]
        case _:
            assert result["statusCode"] in {200, 201, 202, 204}, log


def test_an_unknown_key_is_refused_in_api_gateways_own_word(tmp_path: Path) -> None:
    """API Gateway answers 401 only when the function's error message is exactly this."""
    variables, _ = make_resources("refusing-authorizer")
    event = {**event_of("authorizer"), "authorizationToken": "Basic c2tfQg=="}

    with instance(TOOLS, BUILT, FUNCTIONS["authorizer"], variables, tmp_path / "runtime.log") as function_instance:
        result, _ = function_instance.invoke(event)

    assert result["errorMessage"] == "Unauthorized"


def test_a_function_without_its_tables_names_says_which_is_missing(tmp_path: Path) -> None:
    variables, _ = make_resources("nameless")
    function = FUNCTIONS["get_queued_request"]
    lacking = {name: value for name, value in function.environment.items() if name != "PAYLOADS_TABLE"}
    without = replace(function, environment=lacking)
    del variables["PAYLOADS_TABLE"]

    with instance(TOOLS, BUILT, without, variables, tmp_path / "runtime.log") as function_instance:
        result, _ = function_instance.invoke(event_of("get_queued_request"))

    assert "PAYLOADS_TABLE" in (json.dumps(result) + (tmp_path / "runtime.log").read_text(encoding="utf-8"))
