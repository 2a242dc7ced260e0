"""The whole service in this process: tables, queues, functions, gateway, pumps."""

from __future__ import annotations

import gc
import json
import os
import re
import secrets
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import boto3
from moto import mock_aws

from local.database import create_tables
from local.emulated_dynamodb import emulated_dynamodb
from local.emulated_queues import emulated_queues
from local.functions import Functions
from local.gateway import Gateway, Request, Response
from local.http_gateway import HttpGateway
from local.kept_state import DEFINITION, KeptState
from local.lambda_api import Operator, lambda_api
from local.permissions import FIFO
from local.programs import ROOT
from local.provider import CLIENT_ID
from local.pumps import pumps_of
from local.server import SECURITY_HEADERS, Server
from local.template import PSEUDO_PARAMETERS, Template
from local.time_to_live import TimeToLivePump
from simulator.hosted.objects import FOLDER_PREFIX

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Collection, Iterator, Mapping

STOP_SECONDS = 15
"""How long a pump may take to finish its current call. A webhook attempt takes up to ten seconds."""

GC_THRESHOLDS = (50_000, 20, 1_000)
"""Makes full garbage collections rare. With Python's defaults, every search causes one, which visits all stored
items."""

OPERATE_FUNCTION = "OperateFunction"

CONNECTOR_PATH = "/connector"
"""Below this path is the HTTP API of Web Connectors, as behind a domain name of the template."""

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost"})

QUEUE_ATTRIBUTES = ("DelaySeconds", "FifoQueue", "MessageRetentionPeriod", "VisibilityTimeout")


@dataclass(frozen=True, slots=True)
class Stack:
    """A running stack. `named_url` has a host name in place of the address; references in `template` are resolved.

    `operator` calls every function of the stack, at a port that serves nothing else.
    """

    base_url: str
    named_url: str
    operator: Operator
    template: Template
    clients: Mapping[str, Any]


WEBHOOK_CONCURRENCY = "10"
"""As docs/operations.md recommends. The template's default is for new AWS accounts, with ten functions at a time."""

EXECUTION_SECONDS = 5
"""How long the simulated QuickBooks may execute one request. A real one needs the default of the template."""


@contextmanager
def running(
    *,
    port: int = 0,
    dynamodb_endpoint: str | None = None,
    public_url: str | None = None,
    allow_loopback_webhooks: bool = True,
    execution_seconds: int = EXECUTION_SECONDS,
    log_level: str = "WARNING",
    ready: threading.Event | None = None,
    on_call: Callable[[Request, Response, float], None] | None = None,
    template_path: Path = ROOT / "template.yaml",
    parameters: Mapping[str, str] | None = None,
    companies: Path | None = None,
    oidc_issuer: str | None = None,
) -> Iterator[Stack]:
    """Run the stack on loopback while the block runs; port 0 selects a free one.

    With `dynamodb_endpoint`, tables and queued messages live in that database and outlast the run; missing tables
    are created. Without it, everything is in this process. `public_url` is the URL in links and `.qwc` files.
    The environment of the process becomes that of the functions. If `ready` is given, `GET /qbwc`, the readiness
    check, returns 503 until it is set. `parameters` are further ones of the template. `on_call` is called after each
    HTTP call, with its duration in seconds. `companies` is the folder for those of test connections; without one, it
    ends with the run. People sign in at `oidc_issuer` (`local.provider`). Raises OSError when the port is in use, and
    DatabaseUnusable.
    """
    with ExitStack() as stack:
        stack.callback(gc.set_threshold, *gc.get_threshold())
        gc.set_threshold(*GC_THRESHOLDS)
        stack.enter_context(_environment(dynamodb_endpoint))
        stack.enter_context(mock_aws())
        stack.enter_context(emulated_queues())
        database = None if dynamodb_endpoint else stack.enter_context(emulated_dynamodb())
        clients = {service: boto3.client(service) for service in ("dynamodb", "dynamodbstreams", "sqs")}
        server = Server(port)
        stack.callback(server.stop)
        operator_server = Server(0)
        stack.callback(operator_server.stop)
        base_url = public_url or server.named_url
        template = Template.load(
            template_path,
            {
                "BaseUrl": base_url,
                "WebConnectorBaseUrl": base_url.rstrip("/") + CONNECTOR_PATH,
                "AllowLoopbackWebhooks": str(allow_loopback_webhooks).lower(),
                "ExecutionSeconds": str(execution_seconds),
                "WebhookConcurrency": WEBHOOK_CONCURRENCY,
                "LogLevel": log_level,
                "TestConnections": "on",
                **(_sign_in(oidc_issuer) if oidc_issuer else {}),
                **(parameters or {}),
            },
        )
        state = KeptState(clients["dynamodb"]) if dynamodb_endpoint else None
        create_tables(template, clients["dynamodb"], [DEFINITION] if state else [])
        references = _create_queues(template, clients["sqs"])
        if companies is None:
            companies = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="companies-")))
        references["TestConnectionBucket"] = f"{FOLDER_PREFIX}{companies}"
        if state:
            stack.enter_context(state.keeping_messages())
            state.restore_messages(clients["sqs"], references)
        template = template.with_references(references)
        functions = Functions(template, ROOT)
        stack.callback(functions.close)
        stack.enter_context(functions.separated())
        pumps = pumps_of(template, functions, clients, references, state)
        if database:
            pumps.append(TimeToLivePump(database))
        for pump in pumps:
            pump.start()
            stack.callback(pump.join, STOP_SECONDS)
        for pump in pumps:
            stack.callback(pump.stop)  # runs before the joins: all pumps stop at the same time
        operator = Operator(OPERATE_FUNCTION, operator_server.base_url, secrets.token_urlsafe(32))
        invoke = lambda_api(functions, operator.secret, lambda: datetime.now(UTC))
        operator_server.start(for_hosts(LOOPBACK_HOSTS, invoke))
        hosts = {*LOOPBACK_HOSTS, urlsplit(public_url or server.named_url).hostname or ""}
        handle = for_hosts(hosts, _apis(template, functions))
        handle = held_until(ready, handle) if ready else handle
        server.start(_observed(handle, on_call) if on_call else handle)
        yield Stack(server.base_url, server.named_url, operator, template, clients)


def _apis(template: Template, functions: Functions) -> Callable[[Request], Response]:
    """Return the application of both APIs."""
    lock = functions.one_at_a_time
    rest, http = Gateway(template, functions, lock), HttpGateway(template, functions, CONNECTOR_PATH, lock)
    return lambda request: (http if http.serves(request) else rest).handle(request)


def for_hosts(hosts: Collection[str], handle: Callable[[Request], Response]) -> Callable[[Request], Response]:
    """Return `handle`, except that a request for another host gets 421.

    Otherwise a web page whose name resolves to this machine could call the service from the user's browser.
    """

    def checked(request: Request) -> Response:
        host = (request.header("Host") or "").lower()
        if host in hosts or re.sub(r":[0-9]+$", "", host) in hosts:
            return handle(request)
        headers = [*SECURITY_HEADERS.items(), ("Content-Type", "text/plain")]
        return Response(421, headers, b"This host name is not served here.\n")

    return checked


def held_until(ready: threading.Event, handle: Callable[[Request], Response]) -> Callable[[Request], Response]:
    """Return `handle`, changed so that `GET …/qbwc` returns 503 until the event is set."""

    def held(request: Request) -> Response:
        if request.method == "GET" and request.path in {"/qbwc", f"{CONNECTOR_PATH}/qbwc"} and not ready.is_set():
            headers = [*SECURITY_HEADERS.items(), ("Content-Type", "text/plain"), ("Retry-After", "1")]
            return Response(503, headers, b"Starting.\n")
        return handle(request)

    return held


def _observed(
    handle: Callable[[Request], Response], on_call: Callable[[Request, Response, float], None]
) -> Callable[[Request], Response]:
    def observed(request: Request) -> Response:
        start = time.monotonic()
        response = handle(request)
        on_call(request, response, time.monotonic() - start)
        return response

    return observed


def _sign_in(issuer: str) -> dict[str, str]:
    """Return the template's parameters for an identity provider. Moto keeps the client secret."""
    secret = boto3.client("secretsmanager").create_secret(Name="oidc", SecretString=secrets.token_urlsafe(32))
    return {"OidcIssuer": issuer, "OidcClientId": CLIENT_ID, "OidcClientSecretArn": secret["ARN"]}


def _create_queues(template: Template, sqs: Any) -> dict[str, str]:
    """Create the template's queues and return their URLs by logical id."""
    queues = template.resources("AWS::SQS::Queue")
    urls = {}
    for name, properties in queues.items():
        attributes = {key: str(properties[key]).lower() for key in QUEUE_ATTRIBUTES if key in properties}
        full_name = name + FIFO if properties.get("FifoQueue") else name
        urls[name] = sqs.create_queue(QueueName=full_name, Attributes=attributes)["QueueUrl"]
    for name, properties in queues.items():
        if "RedrivePolicy" in properties:
            policy = properties["RedrivePolicy"]
            dead_letters = policy["deadLetterTargetArn"].removesuffix(".Arn")
            arn = sqs.get_queue_attributes(QueueUrl=urls[dead_letters], AttributeNames=["QueueArn"])
            redrive = {
                "deadLetterTargetArn": arn["Attributes"]["QueueArn"],
                "maxReceiveCount": policy["maxReceiveCount"],
            }
            sqs.set_queue_attributes(QueueUrl=urls[name], Attributes={"RedrivePolicy": json.dumps(redrive)})
    return urls


@contextmanager
def _environment(dynamodb_endpoint: str | None) -> Iterator[None]:
    """Set the AWS environment so that no call can reach a real account, and restore it afterwards."""
    before = dict(os.environ)
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        del os.environ[name]
    os.environ.update(
        AWS_ACCESS_KEY_ID="local",
        AWS_SECRET_ACCESS_KEY="local",  # noqa: S106 - it opens nothing
        AWS_DEFAULT_REGION=PSEUDO_PARAMETERS["AWS::Region"],
        AWS_REGION=PSEUDO_PARAMETERS["AWS::Region"],
        AWS_ACCOUNT_ID_ENDPOINT_MODE="disabled",  # moto knows the older host names only
        AWS_EC2_METADATA_DISABLED="true",
        POWERTOOLS_METRICS_DISABLED="true",
    )
    if dynamodb_endpoint:
        os.environ["AWS_ENDPOINT_URL_DYNAMODB"] = dynamodb_endpoint
        os.environ["AWS_ENDPOINT_URL_DYNAMODB_STREAMS"] = dynamodb_endpoint
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
