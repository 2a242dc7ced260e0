"""Deploy `template.yaml` with SAM into an AWS emulator on this machine, run a command on it, stop everything.

Usage: `python -m local.deploy TOOLS COMMAND…`, where TOOLS has the environments `sam` and
`emulator`. The command finds the stack's credentials in the file that STACK names (`tests/e2e`).
No AWS account and no Docker: functions run as processes of the Python at hand.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import urllib3

from local import bytecode, first_steps, programs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

STACK_NAME = "qbxml-queue"
START_SECONDS = 60
REGION = "us-east-1"


def main(tools: str, *command: str) -> int:
    """Return the command's exit status."""
    programs.end_with_sigterm()
    folder = programs.ROOT / ".local" / "deploy"
    folder.mkdir(parents=True, exist_ok=True)
    with emulator(Path(tools) / "emulator", folder) as endpoint:
        environment = {**programs.without_aws(), **_environment(endpoint)}
        began = time.monotonic()
        _build_and_deploy(Path(tools) / "sam", folder, environment)
        print(f"Built and deployed in {time.monotonic() - began:.0f} s.", flush=True)
        state = _prepare(endpoint, folder)
        return subprocess.run(  # noqa: S603 - what we were told to run
            command, env={**os.environ, "STACK": str(state)}, check=False
        ).returncode


@contextmanager
def emulator(environment: Path, folder: Path) -> Iterator[str]:
    """Run MiniStack on a free port of loopback while the block runs; yields its endpoint."""
    (port,) = programs.free_ports(1)
    endpoint = f"http://127.0.0.1:{port}"
    variables = {
        **programs.without_aws(),
        "BIND_HOST": "127.0.0.1",  # it listens everywhere unless told
        "GATEWAY_PORT": str(port),
        "LOG_LEVEL": "WARNING",
        # Functions are run by the interpreter's name: python3.11.
        "PATH": f"{Path(sys.executable).resolve().parent}{os.pathsep}{os.environ['PATH']}",
    }
    command = [environment / "bin" / "ministack"]
    log = folder / "emulator.log"
    with programs.running(
        "the emulator", command, lambda: _is_up(endpoint), log=log, seconds=START_SECONDS, environment=variables
    ):
        yield endpoint


def _is_up(endpoint: str) -> bool:
    try:
        urllib3.request("GET", f"{endpoint}/_ministack/health", retries=False, timeout=1)
    except urllib3.exceptions.HTTPError:
        return False
    return True


def _build_and_deploy(environment: Path, folder: Path, variables: Mapping[str, str]) -> None:
    """Build and deploy, for the Python and the processor at hand."""
    built = folder / "build"
    parameters = [
        "--parameter-overrides",
        *programs.BUILT_FOR_HERE,
        "AllowLoopbackWebhooks=true",
        "LogLevel=WARNING",
    ]
    build = ["build", "--build-dir", str(built), "--cache-dir", str(folder / "cache"), "--cached"]
    programs.sam(environment, folder, variables, *build, *parameters)
    bytecode.add(built)
    deploy = [
        *("deploy", "--template-file", str(built / "template.yaml"), "--stack-name", STACK_NAME),
        *("--resolve-s3", "--no-confirm-changeset", "--no-progressbar"),
        *("--capabilities", "CAPABILITY_IAM", "--region", REGION),
    ]
    programs.sam(environment, folder, variables, *deploy, *parameters)


def _prepare(endpoint: str, folder: Path) -> Path:
    """Make an app and a connection in the deployed stack; return the file with its credentials."""
    clients = {name: _client(name, endpoint) for name in ("cloudformation", "apigateway")}
    stack = clients["cloudformation"].describe_stacks(StackName=STACK_NAME)["Stacks"][0]
    outputs = {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
    api = next(each["id"] for each in clients["apigateway"].get_rest_apis()["items"] if each["name"] == STACK_NAME)
    base_url = f"{endpoint}/restapis/{api}/live/_user_request_"
    credentials = first_steps.prepare(base_url, outputs["OperateFunctionName"], endpoint, folder)
    state = folder / first_steps.CREDENTIALS_FILE
    facts = {**asdict(credentials), "applies_gateway_responses": False}
    first_steps.write_private(state, json.dumps(facts, indent=2) + "\n")
    return state


def _client(service: str, endpoint: str) -> Any:
    return boto3.client(
        service,
        endpoint_url=endpoint,
        region_name=REGION,
        aws_access_key_id="local",
        aws_secret_access_key="local",  # noqa: S106 - it opens nothing
    )


def _environment(endpoint: str) -> dict[str, str]:
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_SECRET_ACCESS_KEY": "local",
        "AWS_DEFAULT_REGION": REGION,
    }


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
