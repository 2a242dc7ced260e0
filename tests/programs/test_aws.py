"""Programs for a deployed stack find region and credentials in the same way, and say what to do when they cannot."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    InvalidRegionError,
    NoCredentialsError,
    ProxyConnectionError,
    ReadTimeoutError,
    SSLError,
    UnauthorizedSSOTokenError,
)
from botocore.session import Session

from local import aws, command
from local.lambda_api import Operator
from local.programs import ROOT, free_ports
from local.template import Template

if TYPE_CHECKING:
    from pathlib import Path

PROGRAMS = {
    "deploy-check": ["local.deploy", "sam", "--check"],
    "deploy": ["local.deploy", "sam", "--yes"],
    "command": ["local.command", "--stack", "queue", "list-apps"],
    "restore": ["local.restore"],
    "smoke": ["local.smoke"],
}

KEYS = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}

CONFIG = "[default]\nregion = us-west-2\n[profile books]\nregion = eu-west-1\n"
CONFIG += "aws_access_key_id = a\naws_secret_access_key = b\n"


def output_of(program: str, home: Path, variables: dict[str, str]) -> str:
    """Run a program with nothing but these variables, and return its error."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "PYTHONPATH": "src",
        "AWS_EC2_METADATA_DISABLED": "true",
        **variables,
    }
    command = [sys.executable, "-m", *PROGRAMS[program]]
    process = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)  # noqa: S603 - ours
    assert process.returncode in {1, 2}, process.stdout
    assert "Traceback" not in process.stderr
    return process.stderr


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        (KEYS, "there is no region. Name one: REGION=eu-central-1"),
        ({"AWS_REGION": "eu-central-1"}, "there are no AWS credentials."),
        ({"AWS_DEFAULT_REGION": "eu-central-1"}, "there are no AWS credentials."),
        ({"AWS_PROFILE": "nobody", **KEYS}, "`aws configure list-profiles` lists yours."),
    ],
)
def test_every_program_names_the_remedy(program: str, variables: dict[str, str], expected: str, tmp_path: Path) -> None:
    error = output_of(program, tmp_path, variables)

    assert error.startswith(f"make {program}: ")
    assert expected in error


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("name", ["AWS_REGION", "AWS_DEFAULT_REGION"])
def test_a_missing_network_is_not_blamed_on_the_credentials(program: str, name: str, tmp_path: Path) -> None:
    [closed] = free_ports(1)
    endpoint = {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{closed}", "AWS_MAX_ATTEMPTS": "1"}

    error = output_of(program, tmp_path, {**KEYS, **endpoint, name: "eu-central-1"})

    assert "AWS cannot be reached" in error
    assert "does not accept" not in error


@pytest.mark.parametrize(
    ("option", "variables", "region"),
    [
        ("ap-south-1", {"AWS_REGION": "eu-central-1", "AWS_DEFAULT_REGION": "eu-north-1"}, "ap-south-1"),
        (None, {"AWS_REGION": "eu-central-1", "AWS_DEFAULT_REGION": "eu-north-1"}, "eu-central-1"),
        (None, {"AWS_DEFAULT_REGION": "eu-north-1"}, "eu-north-1"),
        (None, {"AWS_PROFILE": "books"}, "eu-west-1"),
        (None, {}, "us-west-2"),
    ],
)
def test_the_region_is_that_of_the_option_the_variables_or_the_profile(
    option: str | None, variables: dict[str, str], region: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config"
    config.write_text(CONFIG, encoding="utf-8")
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"AWS_CONFIG_FILE": str(config), **KEYS, **variables}.items():
        monkeypatch.setenv(name, value)

    assert aws.resolved(option, None).region == region


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (EndpointConnectionError(endpoint_url="https://sts.eu-central.amazonaws.com"), "cannot be reached"),
        (ConnectTimeoutError(endpoint_url="https://sts"), "cannot be reached"),
        (ProxyConnectionError(proxy_url="http://proxy"), "HTTPS_PROXY"),
        (SSLError(endpoint_url="https://sts", error="certificate verify failed"), "cannot be reached"),
        (NoCredentialsError(), "`aws configure`"),
        (UnauthorizedSSOTokenError(), "`aws sso login`"),
        (InvalidRegionError(region_name="eu central"), "a name like eu-central-1"),
        (ClientError({"Error": {"Code": "ExpiredToken", "Message": ""}}, "GetCallerIdentity"), "have expired"),
        (ClientError({"Error": {"Code": "InvalidClientTokenId"}}, "GetCallerIdentity"), "does not accept"),
        (ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "DescribeStacks"), "examples/deployer.yaml"),
        (ClientError({"Error": {"Code": "Throttling", "Message": "Slow down"}}, "DescribeStacks"), "Slow down"),
    ],
)
def test_each_error_says_what_to_do(error: Exception, expected: str) -> None:
    assert isinstance(error, BotoCoreError | ClientError)
    assert expected in aws.explanation(error)


class SlowFunction(ThreadingHTTPServer):
    """Lambda's Invoke on loopback. A call ends when the test ends, or at once without an answer."""

    daemon_threads = True

    def __init__(self, *, hangs: bool) -> None:
        self.calls, self.ended, self.hangs = 0, threading.Event(), hangs
        super().__init__(("127.0.0.1", 0), Invocation)

    def client(self, **seconds: float) -> Any:
        """Return a client as that of `make command`, with another patience."""
        return Session().create_client(
            "lambda",
            endpoint_url=f"http://127.0.0.1:{self.server_port}",
            region_name="us-east-1",
            aws_access_key_id="a",
            aws_secret_access_key="b",
            config=aws.INVOCATIONS.merge(Config(**seconds)),
        )


class Invocation(BaseHTTPRequestHandler):
    """A call of the function."""

    server: SlowFunction

    def do_POST(self) -> None:
        """Count the call and do not answer."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.calls += 1
        if self.server.hangs:
            self.server.ended.wait(30)
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.mark.parametrize("hangs", [True, False], ids=["no answer in time", "connection closed"])
def test_a_function_is_not_called_again_while_it_may_run(*, hangs: bool) -> None:
    server = SlowFunction(hangs=hangs)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with pytest.raises((ReadTimeoutError, ConnectionClosedError)) as failure:
            command.invoke(server.client(read_timeout=0.2), "operate", {"operation": "recount_connection"})
    finally:
        server.ended.set()
        server.shutdown()
        server.server_close()

    assert server.calls == 1
    assert "may still run" in aws.explanation(failure.value)


def test_a_client_of_lambda_waits_longer_than_every_function_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    clients = [aws.Aws("us-east-1").client("lambda"), command.local_client(Operator("f", "http://127.0.0.1:1", "s"))]
    longest = max(function.timeout_seconds for function in Template.load().functions())

    assert longest <= aws.MAX_FUNCTION_SECONDS
    assert all(client.meta.config.read_timeout > aws.MAX_FUNCTION_SECONDS for client in clients)
    assert [client.meta.config.retries["total_max_attempts"] for client in clients] == [1, 1]
