"""The first thing to run after a deployment: what only the real stack can show, one line for each check.

Usage: `make smoke STACK=qbxml-queue [REGION=…] [PROFILE=…]`. It takes one to five minutes. It uses an app of its own
(`make smoke`), with a key and a connection, and deletes all three. A run that was interrupted leaves them, and the next
run uses and deletes its app.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import urllib3
from botocore.exceptions import BotoCoreError, ClientError

from local import aws, command, deploy, deploy_check, event_sources
from local.first_steps import Api
from local.programs import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

APP_NAME = "make smoke"
TOO_LARGE = 7 * 1024 * 1024
"""Bytes: more than Lambda takes (6 MB), and less than API Gateway does (10 MB)."""

OTHER_READS = 5
"""A session begins with one request, so these are enough for message sets of several."""

WEBHOOK_SECONDS = 90
LOG_SECONDS = 30
"""How long a webhook attempt may take, and after how much time CloudWatch Logs returns a line."""

NEW_STACK = timedelta(hours=3)
"""`PackMissing` looks at two whole hours."""

INDEX_SECONDS = 10
"""How long the index of an app's connections may show a connection that was deleted."""

DATA_TABLES = (
    "QueuedRequestsTable",
    "QueueTable",
    "PayloadsTable",
    "CountsTable",
    "ConnectionsTable",
    "AppsTable",
    "AuditLogTable",
    "PeopleTable",
    "SubscriptionsTable",
)

RFC_3339 = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})")

TEST_CONNECTION = {"name": APP_NAME, "simulated": {"company": "empty"}}
JSON_BODY = {"Content-Type": "application/json"}

ENVELOPE = (
    '<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>'
    '<clientVersion xmlns="http://developer.intuit.com/"><strVersion>{}</strVersion></clientVersion>'
    "</soap:Body></soap:Envelope>"
)


class SmokeError(Exception):
    """A check failed; the message says what was found."""


class NotCheckedError(Exception):
    """A check could not be made here; the message says why."""


@dataclass
class Smoke:
    """The stack under test. `web_connector_url` is the AppURL that its `.qwc` files should name.

    `is_emulator` skips what only AWS does. `clients` returns a client of an AWS service.
    """

    clients: Callable[[str], Any]
    stack: str
    base_url: str
    operate_function: str
    log_group: str
    is_emulator: bool
    web_connector_url: str = ""
    started: float = field(default_factory=time.time)
    sleep: Callable[[float], None] = time.sleep
    app_id: str = ""
    key_hash: str = ""
    api_key: str = ""
    connection_id: str = ""
    password: str = ""

    def operate(self, operation: str, **arguments: str) -> dict[str, Any]:
        """Call the operator's function."""
        return command.invoke(self.clients("lambda"), self.operate_function, {"operation": operation, **arguments})

    def prepare(self) -> None:
        """Create a key, a connection and its password, for the app that earlier runs have used."""
        apps = [app for app in self.operate("list_apps")["apps"] if app["name"] == APP_NAME]
        self.app_id = (apps[0] if apps else self.operate("create_app", name=APP_NAME))["app_id"]
        key = self.operate("create_key", app_id=self.app_id)
        self.key_hash, self.api_key = key["key_hash"], key["api_key"]
        self.connection_id = self.api.call("POST", "/api/v1/connections", {"name": APP_NAME})["data"]["id"]
        self.password = self.api.call("POST", f"{self.connection}/password")["data"]["password"]

    def remove(self) -> None:
        """Delete the app with its connections and its key. Raises SmokeError if that fails."""
        if not self.app_id:
            return
        if self.api_key:
            for connection in self.api.call("GET", "/api/v1/connections")["data"]:
                self.api.request("DELETE", f"/api/v1/connections/{connection['id']}")
        for _ in range(INDEX_SECONDS):
            result = self.operate("delete_app", app_id=self.app_id)
            if "error" not in result:
                return
            self.sleep(1)
        if self.key_hash:
            self.operate("revoke_key", key_hash=self.key_hash)
        raise SmokeError(f"the app {self.app_id} was not deleted: {result['error']['message']}")

    @property
    def api(self) -> Api:
        """The REST API with the key."""
        return Api(self.base_url, self.api_key)

    @property
    def connection(self) -> str:
        """The path of the connection."""
        return f"/api/v1/connections/{self.connection_id}"

    def anonymous(self, method: str, path: str, **options: Any) -> urllib3.BaseHTTPResponse:
        """Make a call without the key."""
        return urllib3.request(method, self.base_url + path, retries=False, timeout=60, **options)

    def require_aws(self, reason: str = "the emulator does not apply gateway responses") -> None:
        """Raise NotCheckedError in an emulator."""
        if self.is_emulator:
            raise NotCheckedError(reason)


def cold_and_warm(smoke: Smoke) -> str:
    """Measure the first call and the next ones."""
    seconds = []
    for _ in range(5):
        start = time.monotonic()
        smoke.api.call("GET", smoke.connection)
        seconds.append(time.monotonic() - start)
    return f"{seconds[0] * 1000:.0f} ms, then {min(seconds[1:]) * 1000:.0f} ms"


def without_a_key(smoke: Smoke) -> str:
    """Check that API Gateway returns 401 and says which scheme it wants."""
    smoke.require_aws()
    response = smoke.anonymous("GET", "/api/v1/connections")
    _expect(response, 401, "unauthorized")
    if not response.headers.get("WWW-Authenticate", "").startswith("Basic"):
        raise SmokeError(f"no WWW-Authenticate header: {dict(response.headers)}")
    return "401 with WWW-Authenticate"


def with_a_malformed_key(smoke: Smoke) -> str:
    """Check that the authorizer refuses credentials that are not a key."""
    smoke.require_aws()
    for text in ("Basic nonsense", "Bearer x", f"Basic {base64.b64encode(b'sk_wrong:').decode()}"):
        _expect(smoke.anonymous("GET", "/api/v1/connections", headers={"Authorization": text}), 401, "unauthorized")
    return "401"


def unknown_paths(smoke: Smoke) -> str:
    """Check the response to paths and methods that do not exist, with and without a key.

    Below /api/v1 it names the path that is meant, at any depth.
    """
    smoke.require_aws()
    _expect(smoke.anonymous("GET", "/nothing"), 404, "not_found")
    _expect(smoke.api.request("GET", "/nothing"), 404, "not_found")
    _expect(smoke.anonymous("GET", "/api/v1/nothing"), 401, "unauthorized")
    for path, meant in (("/api/v1/conections", "/api/v1/connections"), (f"{smoke.connection}/customer", "/customers")):
        response = smoke.api.request("GET", path)
        _expect(response, 404, "not_found")
        if f"{meant}?" not in response.data.decode():
            raise SmokeError(f"GET {path} does not suggest {meant}: {response.data.decode()}")
    response = smoke.api.request("PUT", "/api/v1/connections", b"{}")
    _expect(response, 405, "method_not_allowed")
    if response.headers.get("Allow") != "GET, HEAD, POST":
        raise SmokeError(f"no Allow header with the methods: {dict(response.headers)}")
    return "404 and 405 in the service's error shape"


def a_link_in_a_browser(smoke: Smoke) -> str:
    """Check that `Sec-Fetch-Site` reaches the functions, so that no link makes a browser queue a request."""
    response = smoke.api.request("GET", f"{smoke.connection}/customers", headers={"Sec-Fetch-Site": "cross-site"})
    _expect(response, 403, "browser_refused")
    return "403 for a GET that queues"


def a_large_rest_call(smoke: Smoke) -> str:
    """Check the response to a call that Lambda does not take."""
    smoke.require_aws()
    body = json.dumps({"request_xml": "x" * TOO_LARGE}).encode()
    _expect(smoke.api.request("POST", f"{smoke.connection}/queued_requests", body), 413, "request_too_large")
    return f"413 for {TOO_LARGE / 1e6:.0f} MB"


def a_large_soap_call(smoke: Smoke) -> str:
    """Check the response to a Web Connector call that Lambda does not take."""
    smoke.require_aws()
    headers = {"Content-Type": "text/xml; charset=utf-8"}
    body = ENVELOPE.format("x" * TOO_LARGE).encode()
    _expect(smoke.anonymous("POST", "/qbwc", body=body, headers=headers), 413, "request_too_large")
    response = urllib3.request("POST", smoke.web_connector_url, body=body, headers=headers, retries=False, timeout=60)
    if response.status != 413:  # noqa: PLR2004 - HTTP: the responses of an HTTP API cannot be configured
        raise SmokeError(f"{smoke.web_connector_url}: {response.status} {response.data[:100]!r}, not 413")
    return f"413 for {TOO_LARGE / 1e6:.0f} MB"


def both_addresses_of_web_connectors(smoke: Smoke) -> str:
    """Check that the URL of new `.qwc` files and that of the REST API work, and the support page beside the first."""
    headers = {"Content-Type": "text/xml; charset=utf-8"}
    for url in (smoke.web_connector_url, f"{smoke.base_url}/qbwc"):
        response = urllib3.request("POST", url, body=ENVELOPE.format("2.3").encode(), headers=headers, timeout=60)
        if response.status != 200 or b"clientVersionResult" not in response.data:  # noqa: PLR2004 - HTTP: OK
            raise SmokeError(f"{url}: {response.status} {response.data[:200]!r}")
    support = smoke.web_connector_url.removesuffix("/qbwc") + "/support"
    page = urllib3.request("GET", support, headers={"Accept-Encoding": "gzip"}, timeout=60, decode_content=False)
    if page.status != 200 or page.headers.get("Content-Encoding") != "gzip":  # noqa: PLR2004 - HTTP: OK
        raise SmokeError(f"{support}: {page.status} {dict(page.headers)}")
    files = re.findall(r'src="(app/assets/[^"]+)"', gzip.decompress(page.data).decode())
    for file in files:
        if urllib3.request("GET", support.removesuffix("support") + file, timeout=60).status != 200:  # noqa: PLR2004 - HTTP: OK
            raise SmokeError(f"{support} names {file}, which does not exist there")
    return f"both respond, and the support page has its {len(files)} files"


def a_compressed_response(smoke: Smoke) -> str:
    """Check that a caller that accepts gzip gets it."""
    response = smoke.anonymous(
        "GET", "/openapi.json", headers={"Accept": "application/json", "Accept-Encoding": "gzip"}, decode_content=False
    )
    if response.headers.get("Content-Encoding") != "gzip":
        smoke.require_aws()
        raise SmokeError(f"it is not compressed: {dict(response.headers)}")
    content = gzip.decompress(response.data)
    if "openapi" not in json.loads(content):
        raise SmokeError("it is not the document")
    return f"{len(content) / 1000:.0f} KB in {len(response.data) / 1000:.0f} KB"


def a_compressed_request(smoke: Smoke) -> str:
    """Check that API Gateway unpacks a body."""
    smoke.require_aws()
    body = gzip.compress(json.dumps({"name": f"{APP_NAME} \N{SNOWMAN}"}).encode())
    headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
    response = smoke.api.request("PATCH", smoke.connection, body, headers)
    if response.status != 200 or json.loads(response.data)["data"]["name"] != f"{APP_NAME} \N{SNOWMAN}":  # noqa: PLR2004 - HTTP: OK
        raise SmokeError(f"{response.status} {response.data[:200]!r}")
    return "API Gateway unpacks it"


def files_arrive_unchanged(smoke: Smoke) -> str:
    """Check that files arrive unchanged whatever a caller accepts."""
    page = smoke.anonymous("GET", "/app").data.decode()
    paths = sorted(set(re.findall(r'(?:src|href)="(?:/[^"]*?)?(app/assets/[^"]+)"', page)))
    if not paths:
        raise SmokeError("the console names no files")
    for path in paths:
        first, second = (
            smoke.anonymous("GET", f"/{path}", headers=headers).data for headers in ({}, {"Accept": "*/*"})
        )
        if first != second or not first:
            raise SmokeError(f"{path} differs with another Accept header")
    return f"{len(paths)} files"


def repeated_parameters(smoke: Smoke) -> str:
    """Check that both values of a repeated parameter arrive."""
    response = smoke.api.request("GET", f"{smoke.connection}/customers?include[]=FullName&include%5B%5D=ListID")
    if response.data.count(b"<IncludeRetElement>") != 2:  # noqa: PLR2004 - as many as in the call
        raise SmokeError(f"{response.status} {response.data[:300]!r}")
    request_id = json.loads(response.data)["data"]["id"]
    smoke.api.call("POST", f"/api/v1/queued_requests/{request_id}/discard")
    return "both arrive"


def encoded_paths(smoke: Smoke) -> str:
    """Check that a path is decoded once."""
    first, rest = smoke.connection_id[0], smoke.connection_id[1:]
    response = smoke.api.request("GET", f"/api/v1/connections/%{ord(first):02x}{rest}")
    if response.status != 200:  # noqa: PLR2004 - HTTP: OK
        raise SmokeError(f"an escaped letter: {response.status}")
    _expect(smoke.api.request("GET", "/api/v1/connections/a%20b"), 404, "not_found")
    return "decoded once"


def qwc_file(smoke: Smoke) -> str:
    """Check that the file names this service, and that the page that it names exists."""
    found = re.search(r"<AppURL>(.*?)</AppURL>", _qwc(smoke))
    if found is None or found[1] != smoke.web_connector_url:
        raise SmokeError(f"AppURL is {found and found[1]}, not {smoke.web_connector_url}")
    if urllib3.request("GET", found[1], retries=False, timeout=60).status != 200:  # noqa: PLR2004 - HTTP: OK
        raise SmokeError("GET on AppURL does not return 200")
    return found[1]


def request_to_webhook(smoke: Smoke) -> str:
    """Queue requests, run the simulated Web Connector, and wait for the webhook attempt of the last one.

    Reads travel in message sets, whose responses are stored in a batch. The webhook goes to the service itself, which
    refuses it: the attempt and its recording are what counts.
    """
    for _ in range(OTHER_READS):
        read = {"request_json": {"CustomerQueryRq": {"MaxReturned": 1}}}
        smoke.api.call("POST", f"{smoke.connection}/queued_requests", read)
    body = {"request_json": {"CustomerQueryRq": {"MaxReturned": 2}}, "webhook_url": f"{smoke.base_url}/support"}
    request_id = smoke.api.call("POST", f"{smoke.connection}/queued_requests", body)["data"]["id"]
    output = _session(smoke)
    deadline = time.monotonic() + WEBHOOK_SECONDS
    while True:
        record = smoke.api.call("GET", f"/api/v1/queued_requests/{request_id}")["data"]
        if record["state"] != "response_received":
            raise SmokeError(f"it is {record['state']}: {output}")
        if record["webhook_attempts"]:
            attempt = record["webhook_attempts"][0]
            return f"executed; the receiver of the webhook responded {attempt['status_code']}"
        if time.monotonic() > deadline:
            raise SmokeError(f"no webhook attempt within {WEBHOOK_SECONDS} seconds")
        time.sleep(2)


def a_subscription(smoke: Smoke) -> str:
    """Let a session read a list for a subscription, and wait for its changes in the feed and an attempt to send them.

    The webhook goes to the service itself, as in `request_to_webhook`.
    """
    settings = {"objects": ["Customer"], "webhook_url": f"{smoke.base_url}/support"}
    one = f"{smoke.connection}/subscriptions/"
    one += smoke.api.call("POST", f"{smoke.connection}/subscriptions", settings)["data"]["id"]
    feed = f"/api/v1/events?connection_id={smoke.connection_id}&types=subscription.snapshot_completed"
    try:
        output = _session(smoke)
        deadline = time.monotonic() + WEBHOOK_SECONDS
        while True:
            completed = smoke.api.call("GET", feed)["data"]
            found = smoke.api.call("GET", one)["data"]
            if completed and found["webhook_failed_at"]:
                return f"{completed[0]['records']} records were read; the webhook: {found['webhook_error']}"
            if time.monotonic() > deadline:
                missing = "webhook attempt" if completed else "snapshot in the feed"
                raise SmokeError(f"no {missing} within {WEBHOOK_SECONDS} seconds: {found['error'] or output}")
            smoke.sleep(2)
    finally:
        smoke.api.request("DELETE", one)


def a_test_connection(smoke: Smoke) -> str:
    """Send a write to the simulated QuickBooks of a test connection: request, session, response, webhook, event, books.

    The webhook goes to the service itself, as in `request_to_webhook`.
    """
    response = smoke.api.request("POST", "/api/v1/connections", json.dumps(TEST_CONNECTION).encode(), JSON_BODY)
    if response.status == 409:  # noqa: PLR2004 - HTTP: test_connections_off
        raise NotCheckedError("the stack was deployed with TestConnections=off")
    if response.status != 201:  # noqa: PLR2004 - HTTP: created
        raise SmokeError(f"{response.status} {response.data[:300]!r}")
    connection = f"/api/v1/connections/{json.loads(response.data)['data']['id']}"
    write = {"request_json": {"CustomerAddRq": {"CustomerAdd": {"Name": APP_NAME}}}}
    body = {**write, "webhook_url": f"{smoke.base_url}/support"}
    request_id = smoke.api.call("POST", f"{connection}/queued_requests", body)["data"]["id"]
    started, deadline = time.monotonic(), time.monotonic() + WEBHOOK_SECONDS
    while True:
        record = smoke.api.call("GET", f"/api/v1/queued_requests/{request_id}")["data"]
        events = smoke.api.call("GET", f"/api/v1/events?connection_id={connection.rpartition('/')[2]}")["data"]
        if record["webhook_attempts"] and request_id in [event.get("id") for event in events]:
            break
        if record["state"] in {"error", "discarded"} or time.monotonic() > deadline:
            raise SmokeError(f"it is {record['state']}, with {len(record['webhook_attempts'])} webhook attempts")
        smoke.sleep(1)
    seconds = time.monotonic() - started
    books = smoke.api.call("GET", f"{connection}/simulator/books?path=lists/Customer&search=make+smoke")["data"]
    if books["shown"]["total"] != 1:
        raise SmokeError(f"the customer is {books['shown']['total']} times in the books")
    return f"executed once, with webhook and event, in {seconds:.0f} s"


def log_lines(smoke: Smoke) -> str:
    """Check that each log line of this run is JSON with a timestamp that Lambda reads."""
    smoke.require_aws("the emulator has a log group for each function")
    logs = smoke.clients("logs")
    deadline = time.monotonic() + LOG_SECONDS
    lines: list[str] = []
    while not any("web_connector.called" in line for line in lines):
        if time.monotonic() > deadline:
            raise NotCheckedError("the log group has no line of this run yet; run make smoke again")
        pages = logs.get_paginator("filter_log_events").paginate(
            logGroupName=smoke.log_group, startTime=int(smoke.started * 1000)
        )
        lines = [event["message"] for page in pages for event in page["events"]]
        time.sleep(2)
    levels: dict[str, int] = {}
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            raise SmokeError(f"a line is not JSON: {line[:200]}") from None
        if str(entry.get("type", "")).startswith("platform."):
            continue
        if not RFC_3339.fullmatch(str(entry.get("timestamp"))):
            raise SmokeError(f"a timestamp does not follow RFC 3339: {line[:200]}")
        if entry.get("message") == "database.statement_refused":
            raise SmokeError(
                f"DynamoDB refuses to store the responses of a message set in a batch: {entry.get('code')}"
            )
        levels[entry["level"]] = levels.get(entry["level"], 0) + 1
    return ", ".join(f"{number} {level}" for level, number in sorted(levels.items()))


def alarms(smoke: Smoke) -> str:
    """Check that no alarm fires. Those on jobs that did not run fire in a new stack, until the jobs have run."""
    pages = smoke.clients("cloudwatch").get_paginator("describe_alarms").paginate(AlarmNamePrefix=f"{smoke.stack}-")
    states = {alarm["AlarmName"]: alarm["StateValue"] for page in pages for alarm in page["MetricAlarms"]}
    firing = sorted(name for name, state in states.items() if state == "ALARM")
    early = [name for name in firing if "MissingAlarm" in name] if _is_new(smoke) else []
    if len(firing) > len(early):
        raise SmokeError(f"these alarms fire: {', '.join(name for name in firing if name not in early)}")
    if not states:
        raise SmokeError("there are no alarms")
    if early:
        return f"{len(states)} alarms; {', '.join(early)} will end when the jobs have run for some hours"
    return f"{len(states)} alarms, none fires"


def _is_new(smoke: Smoke) -> bool:
    """Return whether the stack was created so recently that the hourly periods of an alarm are not full."""
    created = deploy_check.stack_description(smoke.clients("cloudformation"), smoke.stack).get("CreationTime")
    return created is not None and datetime.now(UTC) - created < NEW_STACK


def protection(smoke: Smoke) -> str:
    """Check that tables with data and the stack are protected, and can be restored."""
    cloudformation, dynamodb = smoke.clients("cloudformation"), smoke.clients("dynamodb")
    description = deploy_check.stack_description(cloudformation, smoke.stack)
    values = {parameter["ParameterKey"]: parameter["ParameterValue"] for parameter in description["Parameters"]}
    if values["ProtectTables"] != "true":
        raise NotCheckedError("the stack was deployed with ProtectTables=false")
    if not description.get("EnableTerminationProtection"):
        raise SmokeError("the stack is not protected from being deleted. Run make deploy again")
    names = _names(smoke)
    for table in DATA_TABLES:
        if not dynamodb.describe_table(TableName=names[table])["Table"].get("DeletionProtectionEnabled"):
            raise SmokeError(f"{table} is not protected from being deleted. Run make deploy again")
        if smoke.is_emulator:
            continue  # it does not turn on recovery
        backups = dynamodb.describe_continuous_backups(TableName=names[table])["ContinuousBackupsDescription"]
        if backups["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] != "ENABLED":
            raise SmokeError(f"{table} cannot be restored")
    return f"{len(DATA_TABLES)} tables"


def event_sources_are_enabled(smoke: Smoke) -> str:
    """Check that each event source is enabled and reads the present stream of its table."""
    if found := list(event_sources.problems(smoke.clients, _names(smoke))):
        raise SmokeError("; ".join(found))
    return "each is enabled, and reads the present stream of its table"


def long_waits(smoke: Smoke) -> str:
    """Check that Lambda lets the retry queue call its function as often as a webhook waits."""
    smoke.require_aws("the emulator does not count chains of functions")
    client = smoke.clients("lambda")
    found = client.get_function_recursion_config(FunctionName=_names(smoke)["RetryWebhookFunction"])["RecursiveLoop"]
    if found != "Allow":
        raise SmokeError(f"RecursiveLoop of RetryWebhookFunction is {found}: webhooks end after four hours of waiting")
    return "Lambda does not end them"


CHECKS: Mapping[str, Callable[[Smoke], str]] = {
    "time of a call, cold and warm": cold_and_warm,
    "a call without a key": without_a_key,
    "malformed and unknown keys": with_a_malformed_key,
    "unknown paths and methods": unknown_paths,
    "a link in a browser": a_link_in_a_browser,
    "a REST call over 6 MB": a_large_rest_call,
    "a SOAP call over 6 MB": a_large_soap_call,
    "a compressed response": a_compressed_response,
    "a compressed request": a_compressed_request,
    "files of the console": files_arrive_unchanged,
    "include[] twice, raw and encoded": repeated_parameters,
    "escaped characters in a path": encoded_paths,
    "the .qwc file": qwc_file,
    "both addresses of Web Connectors": both_addresses_of_web_connectors,
    "a request, up to its webhook attempt": request_to_webhook,
    "a subscription, up to its webhook attempt": a_subscription,
    "a test connection": a_test_connection,
    "webhooks that wait for hours": long_waits,
    "event sources of streams and of the retry queue": event_sources_are_enabled,
    "format and level of log lines": log_lines,
    "state of the alarms": alarms,
    "protection and recovery of the tables": protection,
}

NEVER_CHECKED = (
    "Windows, the real Web Connector and QuickBooks",
    "whether the mail of AlarmEmail was confirmed: AWS sends a link to it that has to be opened once",
    "limits under load",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run every check and return the exit status: 1 if one failed."""
    options = _parser().parse_args(arguments)
    try:
        smoke = _smoke(options)
        return run(smoke)
    except (aws.AwsError, deploy.DeployError, command.CommandError, RuntimeError) as error:
        print(f"make smoke: {error}", file=sys.stderr)
        return 2
    except (BotoCoreError, ClientError) as error:
        print(f"make smoke: {aws.explanation(error)}", file=sys.stderr)
        return 2


def run(smoke: Smoke, checks: Mapping[str, Callable[[Smoke], str]] = CHECKS) -> int:
    """Prepare, run the checks and clean up. Return 1 if a check failed."""
    print(f"Checking {smoke.stack} at {smoke.base_url}", flush=True)
    failures = 0
    unchecked = []
    try:
        smoke.prepare()
        for name, check in checks.items():
            start = time.monotonic()
            try:
                mark, text = "ok", check(smoke)
            except NotCheckedError as error:
                mark, text = "--", f"not checked: {error}"
                unchecked.append(f"{name}: {error}")
            except Exception as error:  # noqa: BLE001 - a failed check must not hide the others
                mark, text = "FAIL", f"{error}" if isinstance(error, SmokeError) else f"{type(error).__name__}: {error}"
                failures += 1
            print(f"  {mark:4} {name} · {text} · {time.monotonic() - start:.1f} s", flush=True)
    finally:
        smoke.remove()
    print("Not checked:", *unchecked, *NEVER_CHECKED, sep="\n  ")
    print(f"{failures} of {len(checks)} checks failed." if failures else "No check failed.", flush=True)
    return 1 if failures else 0


def _expect(response: urllib3.BaseHTTPResponse, status: int, code: str) -> None:
    try:
        found = json.loads(response.data)["error"]["code"]
    except (ValueError, KeyError, TypeError):
        found = response.data[:100]
    if (response.status, found) != (status, code):
        raise SmokeError(f"{response.status} {found}, not {status} {code}")


def _names(smoke: Smoke) -> dict[str, str]:
    """Return the names in AWS of the stack's resources, by logical ID."""
    return event_sources.names_of(smoke.clients("cloudformation"), smoke.stack)


def _session(smoke: Smoke) -> str:
    """Let the simulated Web Connector call once. Return the end of what it printed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "smoke.qwc"
        # Web Connectors accept http with this name only, not with an address. AWS has https.
        path.write_text(_qwc(smoke).replace("http://127.0.0.1:", "http://localhost:"), encoding="utf-8")
        line = [sys.executable, "-m", "simulator", "--qwc", str(path), "--once"]
        environment = {**os.environ, "QBWC_PASSWORD": smoke.password}
        process = subprocess.run(line, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)  # noqa: S603 - our own arguments
    return (process.stdout + process.stderr)[-400:]


def _qwc(smoke: Smoke) -> str:
    return str(smoke.api.call("GET", f"{smoke.connection}/qwc")["qwc"])


def _smoke(options: argparse.Namespace) -> Smoke:
    clients = aws.resolved(options.region, options.profile).client
    outputs = deploy.outputs(clients("cloudformation"), options.stack)
    description = deploy_check.stack_description(clients("cloudformation"), options.stack)
    values = {parameter["ParameterKey"]: parameter["ParameterValue"] for parameter in description.get("Parameters", [])}
    return Smoke(
        clients=clients,
        stack=options.stack,
        base_url=values.get("BaseUrl", "").rstrip("/") or outputs["ApiUrl"],
        operate_function=outputs["OperateFunctionName"],
        log_group=outputs["LogGroupName"],
        is_emulator=options.emulator,
        web_connector_url=outputs["WebConnectorUrl"],
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m local.smoke", description=__doc__)
    parser.add_argument("--stack", default=deploy.STACK_NAME, help="default: %(default)s")
    aws.add_options(parser)
    parser.add_argument(
        "--emulator",
        action="store_true",
        default="AWS_ENDPOINT_URL" in os.environ,
        help="the stack runs in an emulator without gateway responses; the default if AWS_ENDPOINT_URL is set",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
