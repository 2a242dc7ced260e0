"""Every built function works under Lambda's runtime, with its sample event and separate tables."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import pytest

from adapters.dynamodb import DynamoDBStore
from domain.records.app import AppLimits
from domain.records.request import QueuedRequest
from domain.records.webhook import WebhookState
from local.build import SIGN_IN
from local.receiver import receiving
from local.runtime import instance
from local.sam_local import samples
from local.tables import make_tables
from local.template import Template
from tests.support.builders import (
    APP_ID,
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
TABLE_VARIABLES = sorted(
    {name for function in FUNCTIONS.values() for name in function.environment if name.endswith("_TABLE")}
)
CREDENTIALS = {"region_name": "us-east-1", "aws_access_key_id": "local", "aws_secret_access_key": "local"}


def event_of(function: str) -> Any:
    return json.loads((EVENTS / f"{function}.json").read_text(encoding="utf-8"))


def make_resources(prefix: str) -> tuple[dict[str, str], DynamoDBStore]:
    """Create tables and a queue with unique names. Return their variables, and the store on them."""
    dynamodb = boto3.client("dynamodb", endpoint_url=ENDPOINT, **CREDENTIALS)
    sqs = boto3.client("sqs", endpoint_url=ENDPOINT, **CREDENTIALS)
    tables = make_tables(dynamodb, f"{prefix}-")
    variables = {
        **{variable: tables.name_of(variable.removesuffix("_TABLE").lower()) for variable in TABLE_VARIABLES},
        "WEBHOOK_RETRY_QUEUE_URL": sqs.create_queue(QueueName=f"{prefix}-retries")["QueueUrl"],
        "AWS_ENDPOINT_URL": ENDPOINT,
    }
    return variables, DynamoDBStore(dynamodb, tables)


@pytest.mark.parametrize(("name", "function"), FUNCTIONS.items(), ids=FUNCTIONS)
def test_a_built_function_does_its_work_under_lambdas_runtime(  # noqa: C901 - one case for each kind
    name: str, function: Function, tmp_path: Path, cold_starts: dict[str, tuple[float, float]]
) -> None:
    webhooks: list[ReceivedWebhook] = []
    with receiving(samples.WEBHOOK_SECRET, webhooks.append) as webhook_url:
        variables, store = make_resources(name.replace("_", "-"))
        samples.write(store, name, webhook_url=webhook_url)
        own = {name: value for name, value in variables.items() if name in {*function.environment, "AWS_ENDPOINT_URL"}}
        artifact = BUILT.with_name(SIGN_IN) if name == "sign_in" else BUILT
        with instance(TOOLS, artifact, function, own, tmp_path / "runtime.log") as function_instance:
            result, first = function_instance.invoke(event_of(name))
            _, second = function_instance.invoke(event_of(name))
    cold_starts[name] = first, second
    log = (tmp_path / "runtime.log").read_text(encoding="utf-8")

    match name:
        case "deliver_webhook" | "retry_webhook":
            assert result == {"batchItemFailures": []}, log
            assert [webhook.verified for webhook in webhooks] == [{"standard", "qube"}], log
            record = store.request(samples.REQUEST_ID)
            assert isinstance(record, QueuedRequest)
            assert record.webhook_state is WebhookState.SUCCEEDED
        case "log_and_forget":
            assert result == {"batchItemFailures": []}, log
            assert "retention.forgotten" in log
        case "authorizer":
            assert result["context"] == {
                "app_id": APP_ID,
                "scope": "full",
                "key_id": samples.API_KEY_ID,
                "key_family": samples.API_KEY_ID,
                "environment": "production",
                **asdict(AppLimits()),
            }, log
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
        case "method_not_allowed":
            assert result["statusCode"] == 405, log
        case "sign_in" | "session_token":  # the template's default: there is no identity provider
            assert result["statusCode"] == 404, log
        case name if "simulator" in name:  # the template's default: there are no test connections
            assert result["statusCode"] == 409, log
        case _:
            assert result["statusCode"] in {200, 201, 202, 204}, log


def test_a_web_connector_logs_in_through_the_http_api(tmp_path: Path) -> None:
    variables, store = make_resources("http-api")
    samples.write(store, "web_connector")

    with instance(TOOLS, BUILT, FUNCTIONS["web_connector"], variables, tmp_path / "runtime.log") as function_instance:
        result, _ = function_instance.invoke(event_of("web_connector_http_api"))

    assert result["statusCode"] == 200
    assert "authenticateResponse" in result["body"]
    assert "nvu" not in result["body"]


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
