"""Programs for a deployed stack find region and credentials in the same way, and say what to do when they cannot."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    InvalidRegionError,
    NoCredentialsError,
    ProxyConnectionError,
    SSLError,
    UnauthorizedSSOTokenError,
)

from local import aws
from local.programs import ROOT, free_ports

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
