"""Run built functions as AWS runs them: Lambda's Python runtime client under AWS's runtime interface emulator.

Usage: `python -m local.runtime TOOLS COMMAND…`, where TOOLS has the environments `sam`, `emulator`
and `runtime`. It builds with SAM, starts a DynamoDB and SQS on loopback, and runs the command, which
finds them by the variables RUNTIME_BUILT, RUNTIME_TOOLS and RUNTIME_ENDPOINT (`tests/runtime`). No AWS
account and no Docker: the interface emulator is the one that the SAM CLI would put into its containers.
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
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import urllib3

from local import bytecode
from local.deploy import emulator
from local.stack import ROOT
from local.template import PSEUDO_PARAMETERS, Template

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from local.template import Function

ARM = platform.machine() in {"arm64", "aarch64"}
START_SECONDS = 30
INVOKE_PATH = "/2015-03-31/functions/function/invocations"
"""Where the interface emulator takes events; the function's name in it is always `function`."""


def main(tools: str, *command: str) -> int:
    """Return the command's exit status. Raises RuntimeError when the build fails."""
    folder = ROOT / ".local" / "runtime"
    folder.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    built = _built(Path(tools) / "sam", folder)
    print(f"Built in {time.monotonic() - began:.0f} s.", flush=True)
    with emulator(Path(tools) / "emulator", folder) as endpoint:
        found = {
            "RUNTIME_BUILT": str(built),
            "RUNTIME_TOOLS": str(Path(tools).resolve()),
            "RUNTIME_ENDPOINT": endpoint,
        }
        status = subprocess.run(command, env={**os.environ, **found}, check=False).returncode  # noqa: S603 - as told
    print(f"{time.monotonic() - began:.0f} s in all.")
    return status


def _built(environment: Path, folder: Path) -> Path:
    """Build anew what `make build` makes for every function, and return its folder.

    All functions have the same code, so SAM makes one artifact and copies it for each: one function's
    is every function's.
    """
    functions = Template.load(ROOT / "template.yaml").functions()
    if len({(each.code_uri, str(each.properties.get("Metadata"))) for each in functions}) != 1:
        raise RuntimeError("the functions' code differs: build each of them")
    name = functions[0].logical_id
    runtime = f"python{sys.version_info.major}.{sys.version_info.minor}"
    arguments = [
        *("build", name, "--build-dir", str(folder / "build"), "--cache-dir", str(folder / "cache"), "--cached"),
        "--parameter-overrides",
        f"PythonRuntime={runtime}",
        f"Architecture={'arm64' if ARM else 'x86_64'}",
    ]
    variables = {**_without_aws(os.environ), "SAM_CLI_TELEMETRY": "0", "AWS_DEFAULT_REGION": _REGION}
    print("sam build …", flush=True)
    with (folder / "sam-build.log").open("w", encoding="utf-8") as log:
        done = subprocess.run(  # noqa: S603 - our own arguments
            [environment / "bin" / "sam", *arguments],
            cwd=ROOT,
            env=variables,
            stdout=log,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if done.returncode:
        raise RuntimeError(f"sam build failed: {Path(log.name).read_text(encoding='utf-8')[-4000:]}")
    built = folder / "build" / name
    bytecode.compile_code(built, runtime)
    return built


@dataclass(frozen=True, slots=True)
class Instance:
    """One instance of a function. It starts with its first call, as in Lambda."""

    address: str
    log: Path

    def invoke(self, event: Any) -> tuple[Any, float]:
        """Call the function; return its answer (an object with `errorType` when it raised) and the seconds it took."""
        pool = urllib3.PoolManager(retries=urllib3.Retry(False), timeout=60)
        began = time.monotonic()
        answer = pool.request("POST", f"http://{self.address}{INVOKE_PATH}", body=json.dumps(event).encode())
        seconds = time.monotonic() - began
        try:
            return json.loads(answer.data), seconds
        except ValueError as error:
            log = self.log.read_text(encoding="utf-8")
            raise RuntimeError(f"{answer.status} {answer.data.decode(errors='replace')}\n{log}") from error


@contextmanager
def instance(
    tools: Path, built: Path, function: Function, variables: Mapping[str, str], log: Path
) -> Iterator[Instance]:
    """Run a function of a built folder while the block runs.

    `variables` come on top of what the template gives the function. Raises RuntimeError when it does not start.
    """
    address, runtime_api = (f"127.0.0.1:{port}" for port in _free_ports())
    (interface,) = (tools / "sam").glob(
        f"lib/python*/site-packages/samcli/local/rapid/aws-lambda-rie-{'arm64' if ARM else 'x86_64'}"
    )
    command: list[str | Path] = [
        *(interface, "--runtime-interface-emulator-address", address, "--runtime-api-address", runtime_api),
        *((tools / "runtime" / "bin" / "python").absolute(), "-m", "awslambdaric", function.handler),
    ]
    environment = {"PATH": os.environ["PATH"], **_lambda_variables(function, built), **variables}
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(  # noqa: S603 - our own arguments
            command, cwd=built, env=environment, stdout=output, stderr=output
        )
    try:
        _wait_until_up(process, address, log)
        yield Instance(address, log)
    finally:
        # It ends the function's process too, which has a process group of its own.
        process.terminate()
        try:
            process.wait(START_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _lambda_variables(function: Function, built: Path) -> dict[str, str]:
    """Return what Lambda puts into a function's environment, and the template's variables.

    Source: "Working with Lambda environment variables" in the Lambda developer guide. Like there, no bytecode
    is written: the code's folder is read-only.
    """
    logging = function.properties.get("LoggingConfig", {})
    return {
        "LANG": "en_US.UTF-8",
        "TZ": ":UTC",
        "LAMBDA_TASK_ROOT": str(built),
        "PYTHONPATH": str(built),
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
        "AWS_LAMBDA_FUNCTION_TIMEOUT": str(function.timeout_seconds),  # the interface emulator's own
        "AWS_LAMBDA_LOG_FORMAT": logging.get("LogFormat", "Text"),
        "AWS_LAMBDA_LOG_LEVEL": logging.get("ApplicationLogLevel", ""),
        "_HANDLER": function.handler,
        **function.environment,
    }


def _wait_until_up(process: subprocess.Popen[bytes], address: str, log: Path) -> None:
    host, _, port = address.partition(":")
    pause = threading.Event()
    for _ in range(START_SECONDS * 50):
        try:
            socket.create_connection((host, int(port)), timeout=1).close()
        except OSError:
            if process.poll() is not None:
                break
            pause.wait(0.02)
        else:
            return
    raise RuntimeError(f"the interface emulator did not start: {log.read_text(encoding='utf-8')}")


def _free_ports() -> tuple[int, int]:
    with socket.socket() as first, socket.socket() as second:
        first.bind(("127.0.0.1", 0))
        second.bind(("127.0.0.1", 0))
        return first.getsockname()[1], second.getsockname()[1]


def _without_aws(environment: Mapping[str, str]) -> dict[str, str]:
    """Leave out whatever could lead to a real account."""
    return {name: value for name, value in environment.items() if not name.startswith("AWS_")}


_REGION = PSEUDO_PARAMETERS["AWS::Region"]

if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
