"""Run built functions as AWS runs them: Lambda's Python runtime client under AWS's runtime interface emulator.

Usage: `python -m local.runtime TOOLS COMMAND…`, where TOOLS has the environments `sam`, `emulator`
and `runtime`. It builds the artifact, starts a DynamoDB and SQS on loopback, and runs the command, which
finds both in the variables RUNTIME_BUILT, RUNTIME_TOOLS and RUNTIME_ENDPOINT (`tests/runtime`). No AWS
account and no Docker: the interface emulator comes with the SAM CLI.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import urllib3

from local import build, programs
from local.deploy_local import emulator
from local.template import PSEUDO_PARAMETERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from local.template import Function

START_SECONDS = 30
INVOKE_PATH = "/2015-03-31/functions/function/invocations"
"""Where the interface emulator takes events; the function's name in it is always `function`."""


def main(tools: str, *command: str) -> int:
    """Return the command's exit status. Raises RuntimeError when the build fails."""
    folder = programs.ROOT / ".local" / "runtime"
    folder.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    build.build(build.HERE, folder / "build" / "artifact")
    print(f"Built in {time.monotonic() - start:.0f} s.", flush=True)
    with emulator(Path(tools) / "emulator", folder) as endpoint:
        variables = {
            "RUNTIME_BUILT": str(folder / "build" / "artifact" / build.CODE),
            "RUNTIME_TOOLS": str(Path(tools).resolve()),
            "RUNTIME_ENDPOINT": endpoint,
        }
        status = subprocess.run(command, env={**os.environ, **variables}, check=False).returncode  # noqa: S603 - as told
    print(f"{time.monotonic() - start:.0f} s in all.")
    return status


@dataclass(frozen=True, slots=True)
class Instance:
    """One instance of a function. It starts at its first call, as in Lambda."""

    address: str
    log: Path

    def invoke(self, event: Any) -> tuple[Any, float]:
        """Call the function; return its result (with `errorType` if it raised) and the duration in seconds."""
        pool = urllib3.PoolManager(retries=urllib3.Retry(False), timeout=60)
        start = time.monotonic()
        response = pool.request("POST", f"http://{self.address}{INVOKE_PATH}", body=json.dumps(event).encode())
        seconds = time.monotonic() - start
        try:
            return json.loads(response.data), seconds
        except ValueError as error:
            log = self.log.read_text(encoding="utf-8")
            raise RuntimeError(f"{response.status} {response.data.decode(errors='replace')}\n{log}") from error


@contextmanager
def instance(
    tools: Path, artifact: Path, function: Function, variables: Mapping[str, str], log: Path
) -> Iterator[Instance]:
    """Run a function of a built folder while the block runs.

    `variables` are added to the environment from the template. Raises RuntimeError when it does not start.
    """
    address, runtime_api = (f"127.0.0.1:{port}" for port in programs.free_ports(2))
    (interface,) = (tools / "sam").glob(
        f"lib/python*/site-packages/samcli/local/rapid/aws-lambda-rie-{build.HERE.architecture}"
    )
    command: list[str | Path] = [
        *(interface, "--runtime-interface-emulator-address", address, "--runtime-api-address", runtime_api),
        *((tools / "runtime" / "bin" / "python").absolute(), "-m", "awslambdaric", function.handler),
    ]
    environment = {"PATH": os.environ["PATH"], **_lambda_variables(function, artifact), **variables}
    # It also ends the process of the function, which is in another process group.
    with programs.running(
        "the interface emulator",
        command,
        lambda: _is_up(address),
        log=log,
        seconds=START_SECONDS,
        environment=environment,
        folder=artifact,
    ):
        yield Instance(address, log)


def _lambda_variables(function: Function, artifact: Path) -> dict[str, str]:
    """Return the environment of a function: Lambda's own variables and those of the template.

    Source: "Working with Lambda environment variables" in the Lambda developer guide. No bytecode is
    written, because the code folder is read-only in Lambda.
    """
    logging = function.properties.get("LoggingConfig", {})
    return {
        "LANG": "en_US.UTF-8",
        "TZ": ":UTC",
        "LAMBDA_TASK_ROOT": str(artifact),
        "PYTHONPATH": str(artifact),
        "PYTHONDONTWRITEBYTECODE": "1",
        "AWS_REGION": _REGION,
        "AWS_DEFAULT_REGION": _REGION,
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_SECRET_ACCESS_KEY": "local",
        "AWS_SESSION_TOKEN": "local",
        "AWS_EXECUTION_ENV": f"AWS_Lambda_python{sys.version_info.major}.{sys.version_info.minor}",
        "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
        "AWS_LAMBDA_FUNCTION_NAME": function.logical_id,
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.properties["MemorySize"]),
        "AWS_LAMBDA_FUNCTION_TIMEOUT": str(function.timeout_seconds),  # read by the interface emulator
        "AWS_LAMBDA_LOG_FORMAT": logging.get("LogFormat", "Text"),
        "AWS_LAMBDA_LOG_LEVEL": logging.get("ApplicationLogLevel", ""),
        "_HANDLER": function.handler,
        **function.environment,
    }


def _is_up(address: str) -> bool:
    host, _, port = address.partition(":")
    try:
        socket.create_connection((host, int(port)), timeout=1).close()
    except OSError:
        return False
    return True


_REGION = PSEUDO_PARAMETERS["AWS::Region"]

if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
