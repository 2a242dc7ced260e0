"""Functions of every kind work in a container, and `sam local start-api` serves a session of a Web Connector.

`tests/runtime` runs all functions of the same artifact, without containers.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import boto3
import pytest
import urllib3
from botocore.config import Config

from domain.records.app import AppLimits
from local import deploy_local
from local.first_steps import Api
from local.programs import ROOT
from local.sam_environment import QUEUE
from local.sam_local import samples
from local.sam_local.__main__ import CREDENTIALS, seed
from local.template import Template

if TYPE_CHECKING:
    from pathlib import Path

API, FUNCTIONS_ENDPOINT, ENDPOINT = (os.environ[f"SAM_LOCAL_{name}"] for name in ("API", "FUNCTIONS", "ENDPOINT"))
EVENTS = ROOT / "events"
FUNCTIONS = {definition.handler.split(".")[1]: definition.logical_id for definition in Template.load().functions()}
CONNECTION = f"/api/v1/connections/{samples.CONNECTION_ID}"


def one_of_each_kind() -> list[str]:
    """Return every function that is not an endpoint, and one endpoint with the same methods: each takes 3 seconds."""
    kinds: dict[object, str] = {}
    for function in Template.load().functions():
        methods = frozenset(event.properties["Method"] for event in function.events if event.type == "Api")
        kinds.setdefault(methods or function.logical_id, function.handler.split(".")[1])
    return sorted(kinds.values())


@pytest.fixture(scope="module")
def functions() -> Any:
    """Return a client of `sam local start-lambda`."""
    return boto3.client(
        "lambda",
        endpoint_url=FUNCTIONS_ENDPOINT,
        region_name=deploy_local.REGION,
        aws_access_key_id="local",
        aws_secret_access_key="local",
        config=Config(read_timeout=120, retries={"total_max_attempts": 1}),
    )


@pytest.fixture
def api() -> Api:
    """Return the API of `start-api` over fresh sample records."""
    seed(ENDPOINT)
    return Api(API, samples.API_KEY)


def planned_attempts() -> int:
    """Return the number of planned webhook attempts in the queue."""
    sqs = deploy_local.client("sqs", ENDPOINT)
    url = sqs.get_queue_url(QueueName=QUEUE)["QueueUrl"]
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesDelayed"]
    return sum(map(int, sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"].values()))


@pytest.mark.parametrize("name", one_of_each_kind())
def test_a_function_does_its_work_with_its_event(functions: Any, name: str) -> None:
    seed(ENDPOINT, name)

    response = functions.invoke(FunctionName=FUNCTIONS[name], Payload=(EVENTS / f"{name}.json").read_bytes())

    result = json.loads(response["Payload"].read() or b"null")
    assert "FunctionError" not in response, result
    match name:
        case "sweep" | "pack_search_texts":
            assert result in (None, {}, "")
        case "authorizer":
            assert result["context"] == {
                "app_id": samples.APP_ID,
                "scope": "full",
                "key_id": samples.API_KEY_ID,
                "key_family": samples.API_KEY_ID,
                "environment": "production",
                **asdict(AppLimits()),
            }
        case "operate":
            assert result["name"] == "Shop"
        case "deliver_webhook" | "retry_webhook" | "log_and_forget":
            assert result == {"batchItemFailures": []}
        case "method_not_allowed":
            assert result["statusCode"] == 405, result
        case "sign_in" | "session_token":  # the template's default: there is no identity provider
            assert result["statusCode"] == 404, result
        case _:
            assert result["statusCode"] in {200, 201, 202, 204}, result


def test_the_documented_command_reads_the_database() -> None:
    seed(ENDPOINT)
    command = [*json.loads(os.environ["SAM_LOCAL_COMMAND"]), "GetConnectionFunction", "--skip-pull-image"]
    command += ["--event", str(EVENTS / "get_connection.json")]

    process = subprocess.run(command, env={**os.environ, **CREDENTIALS}, capture_output=True, text=True, check=False)  # noqa: S603 - our own arguments

    assert process.returncode == 0, process.stderr
    assert json.loads(json.loads(process.stdout)["body"])["data"]["name"] == "Sample company"


def test_a_session_of_the_web_connector_reaches_the_service_that_its_qwc_file_names(api: Api, tmp_path: Path) -> None:
    qwc = api.call("GET", f"{CONNECTION}/qwc")["qwc"]
    assert re.findall(r"<AppURL>(.*?)</AppURL>", qwc) == [f"{API}/qbwc"]
    onboarding = api.call("POST", f"{CONNECTION}/onboarding_url")["data"]["links"]["onboarding"]
    assert onboarding.startswith(f"{API}/onboarding")
    path = tmp_path / "sample.qwc"
    path.write_text(qwc, encoding="utf-8")

    environment = {**os.environ, "QBWC_PASSWORD": samples.PASSWORD}
    command = [sys.executable, "-m", "simulator", "--qwc", str(path), "--once"]
    process = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)  # noqa: S603 - our own arguments

    record = api.call("GET", f"/api/v1/queued_requests/{samples.REQUEST_ID}")["data"]
    assert record["state"] == "response_received", process.stdout + process.stderr


def test_a_failed_webhook_attempt_is_recorded_and_the_next_one_planned(functions: Any) -> None:
    seed(ENDPOINT, "deliver_webhook")
    before = planned_attempts()

    response = functions.invoke(
        FunctionName=FUNCTIONS["deliver_webhook"], Payload=(EVENTS / "deliver_webhook.json").read_bytes()
    )

    assert json.loads(response["Payload"].read()) == {"batchItemFailures": []}
    record = Api(API, samples.API_KEY).call("GET", f"/api/v1/queued_requests/{samples.REQUEST_ID}")["data"]
    assert len(record["webhook_attempts"]) == 1
    assert planned_attempts() == before + 1


@pytest.mark.parametrize("path", ["/app", "/docs", "/support", "/qbwc?wsdl", "/onboarding"])
def test_pages_need_no_key(path: str) -> None:
    assert urllib3.request("GET", API + path, timeout=60).status == 200
