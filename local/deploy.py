"""Deploy `template.yaml` with SAM into an AWS emulator on this machine, run a command on it, stop everything.

Usage: `python -m local.deploy TOOLS COMMAND…`, where TOOLS has the environments `sam` and
`emulator`. The command finds the stack's credentials in the file that STACK names (`tests/e2e`).
No AWS account and no Docker: functions run as processes of the Python at hand.
"""

from __future__ import annotations

import json
import os
import platform
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import urllib3

from local import bytecode, first_steps
from local.stack import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

STACK_NAME = "qbxml-queue"
START_SECONDS = 60
REGION = "us-east-1"


def main(tools: str, *command: str) -> int:
    """Return the command's exit status."""
    folder = ROOT / ".local" / "deploy"
    folder.mkdir(parents=True, exist_ok=True)
    with emulator(Path(tools) / "emulator", folder) as endpoint:
        environment = {**_without_aws(os.environ), **_environment(endpoint)}
        began = time.monotonic()
        _sam(Path(tools) / "sam", folder, environment)
        print(f"Built and deployed in {time.monotonic() - began:.0f} s.", flush=True)
        state = _prepare(endpoint, folder)
        return subprocess.run(  # noqa: S603 - what we were told to run
            command, env={**os.environ, "STACK": str(state)}, check=False
        ).returncode


@contextmanager
def emulator(environment: Path, folder: Path) -> Iterator[str]:
    """Run MiniStack on a free port of loopback while the block runs; yields its endpoint."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    endpoint = f"http://127.0.0.1:{port}"
    variables = {
        **_without_aws(os.environ),
        "BIND_HOST": "127.0.0.1",  # it listens everywhere unless told
        "GATEWAY_PORT": str(port),
        "LOG_LEVEL": "WARNING",
        # Functions are run by the interpreter's name: python3.11.
        "PATH": f"{Path(sys.executable).resolve().parent}{os.pathsep}{os.environ['PATH']}",
    }
    with (folder / "emulator.log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(  # noqa: S603 - our own arguments
            [environment / "bin" / "ministack"], env=variables, stdout=log, stderr=log, start_new_session=True
        )
    try:
        _wait_until_up(process, endpoint, folder / "emulator.log")
        yield endpoint
    finally:
        process.terminate()
        try:
            process.wait(START_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_up(process: subprocess.Popen[bytes], endpoint: str, log: Path) -> None:
    pool = urllib3.PoolManager(retries=urllib3.Retry(False), timeout=1)
    pause = threading.Event()
    for _ in range(START_SECONDS * 10):
        try:
            pool.request("GET", f"{endpoint}/_ministack/health")
        except urllib3.exceptions.HTTPError:
            if process.poll() is not None:
                break
            pause.wait(0.1)
        else:
            return
    raise RuntimeError(f"the emulator did not start: {log.read_text(encoding='utf-8')}")


def _sam(environment: Path, folder: Path, variables: Mapping[str, str]) -> None:
    """Build and deploy, for the Python and the processor at hand."""
    sam = [environment / "bin" / "sam"]
    parameters = [
        f"PythonRuntime=python{sys.version_info.major}.{sys.version_info.minor}",
        f"Architecture={'arm64' if platform.machine() in {'arm64', 'aarch64'} else 'x86_64'}",
        "AllowLoopbackWebhooks=true",
        "LogLevel=WARNING",
    ]
    built = folder / "build"
    overrides = ["--parameter-overrides", *parameters]
    for arguments in (
        ["build", "--build-dir", str(built), "--cache-dir", str(folder / "cache"), "--cached", *overrides],
        [
            *("deploy", "--template-file", str(built / "template.yaml"), "--stack-name", STACK_NAME),
            *("--resolve-s3", "--no-confirm-changeset", "--no-progressbar"),
            *("--capabilities", "CAPABILITY_IAM", "--region", REGION, *overrides),
        ],
    ):
        with (folder / f"sam-{arguments[0]}.log").open("w", encoding="utf-8") as log:
            print(f"sam {arguments[0]} …", flush=True)
            done = subprocess.run(  # noqa: S603 - our own arguments
                [*sam, *arguments], cwd=ROOT, env=variables, stdout=log, stderr=subprocess.STDOUT, check=False
            )
        if done.returncode:
            raise RuntimeError(f"sam {arguments[0]} failed: {Path(log.name).read_text(encoding='utf-8')[-4000:]}")
        if arguments[0] == "build":
            bytecode.add(built)


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
        "SAM_CLI_TELEMETRY": "0",
    }


def _without_aws(environment: Mapping[str, str]) -> dict[str, str]:
    """Leave out whatever could lead to a real account."""
    return {name: value for name, value in environment.items() if not name.startswith("AWS_")}


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
