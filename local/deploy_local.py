"""Deploy `template.yaml` with SAM into an AWS emulator on this machine, run a command on it, stop everything.

Usage: `python -m local.deploy_local TOOLS COMMAND…`, where TOOLS has the environments `sam` and `emulator`. The
command finds the stack's credentials in the file that the variable STACK names (`tests/e2e`), the emulator's address
in EMULATOR and the environments in TOOLS (`tests/deployment`). No AWS account and no
Docker: functions run as processes of this Python. Build and deployment are those of `make build` and `make deploy`.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import urllib3

from local import build, deploy, first_steps, programs
from local.lambda_api import Operator
from local.private_files import write_private
from local.template import Template

if TYPE_CHECKING:
    from collections.abc import Iterator

START_SECONDS = 60
REGION = "us-east-1"
FOLDER = programs.ROOT / ".local" / "deploy"
ARTIFACT = FOLDER / "build" / "artifact"


def main(tools: str, *command: str) -> int:
    """Return the command's exit status."""
    programs.end_with_sigterm()
    folder = FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    with emulator(Path(tools) / "emulator", folder) as endpoint:
        start = time.monotonic()
        artifact = ARTIFACT
        build.build(build.HERE, artifact)
        _write_number(artifact / build.TEMPLATE, "WebhookRetryConcurrency")
        _remove(artifact / build.TEMPLATE, "AWS::Logs::QueryDefinition")
        print(f"Built in {time.monotonic() - start:.0f} s.", flush=True)
        _deploy(Path(tools) / "sam", artifact, folder, endpoint)
        # The emulator does not pass the domain name of the API to functions, so they need both URLs.
        base_url = _base_url(endpoint)
        urls = (f"BaseUrl={base_url}", f"WebConnectorBaseUrl={_web_connector_base_url(endpoint)}")
        _deploy(Path(tools) / "sam", artifact, folder, endpoint, *urls)
        print(f"Built and deployed in {time.monotonic() - start:.0f} s.", flush=True)
        state = _prepare(endpoint, base_url, folder)
        return subprocess.run(  # noqa: S603 - the caller's command
            command, env={**os.environ, "STACK": str(state), "EMULATOR": endpoint, "TOOLS": tools}, check=False
        ).returncode


@contextmanager
def emulator(environment: Path, folder: Path, *, host: str = "127.0.0.1", port: int | None = None) -> Iterator[str]:
    """Run MiniStack while the block runs, by default on a free port of loopback; yields its endpoint."""
    port = port or programs.free_ports(1)[0]
    endpoint = f"http://{host}:{port}"
    variables = {
        **programs.without_aws(),
        "BIND_HOST": host,  # it listens on all interfaces by default
        "GATEWAY_PORT": str(port),
        "LOG_LEVEL": "WARNING",
        # The emulator starts functions by the interpreter's name: python3.11.
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


def _deploy(sam: Path, artifact: Path, folder: Path, endpoint: str, *further: str) -> None:
    """Deploy into the emulator as `make deploy` does. Raises RuntimeError with the output when that fails."""
    parameters = ["AllowLoopbackWebhooks=true", "LogLevel=WARNING", "ProtectTables=false", "TestConnections=on"]
    parameters += further
    command = [sys.executable, "-m", "local.deploy", str(sam), "--artifact", str(artifact), "--yes", *parameters]
    log = folder / "deploy.log"
    print("Deploying …", flush=True)
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.run(  # noqa: S603 - our own arguments
            command,
            cwd=programs.ROOT,
            env={**programs.without_aws(), **environment(endpoint)},
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if process.returncode:
        raise RuntimeError(f"make deploy failed: {log.read_text(encoding='utf-8')[-4000:]}")


def _write_number(template: Path, parameter: str) -> None:
    """Write the default of a parameter where the template refers to it: the emulator does not convert numbers."""
    value = Template.load(template).parameters[parameter]
    text = template.read_text(encoding="utf-8")
    template.write_text(text.replace(f"!Ref {parameter}", str(value)), encoding="utf-8")


def _remove(template: Path, resource_type: str) -> None:
    """Remove the resources of a type that the emulator does not know."""
    text = template.read_text(encoding="utf-8")
    resource = rf"\n  \w+:\n    Type: {re.escape(resource_type)}\n(?:    .*\n|\n(?=    ))*"
    template.write_text(re.sub(resource, "\n", text), encoding="utf-8")


def _base_url(endpoint: str) -> str:
    """Return the URL of the deployed API."""
    apis = client("apigateway", endpoint).get_rest_apis()["items"]
    api = next(api["id"] for api in apis if api["name"] == deploy.STACK_NAME)
    return f"{endpoint}/restapis/{api}/live/_user_request_"


def _web_connector_base_url(endpoint: str) -> str:
    """Return the URL of the deployed HTTP API, with a name that Web Connectors accept with http."""
    apis = client("apigatewayv2", endpoint).get_apis()["Items"]
    api = next(api["ApiId"] for api in apis if api["Name"] == f"{deploy.STACK_NAME}-web-connector")
    return f"{endpoint.replace('127.0.0.1', 'localhost')}/_aws/execute-api/{api}/$default"


def _prepare(endpoint: str, base_url: str, folder: Path) -> Path:
    """Create an app and a connection in the deployed stack; return the file with its credentials."""
    outputs = deploy.outputs(client("cloudformation", endpoint), deploy.STACK_NAME)
    operator = Operator(outputs["OperateFunctionName"], endpoint, environment(endpoint)["AWS_SECRET_ACCESS_KEY"])
    credentials = first_steps.prepare(base_url, operator, folder)
    state = folder / first_steps.CREDENTIALS_FILE
    facts = {**asdict(credentials), "applies_gateway_responses": False}
    write_private(state, json.dumps(facts, indent=2) + "\n")
    return state


def client(service: str, endpoint: str) -> Any:
    """Return a client of a service of the emulator."""
    return boto3.client(
        service,
        endpoint_url=endpoint,
        region_name=REGION,
        aws_access_key_id="local",
        aws_secret_access_key="local",  # noqa: S106 - it opens nothing
    )


def environment(endpoint: str) -> dict[str, str]:
    """Return the variables with which programs use the emulator instead of AWS."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_SECRET_ACCESS_KEY": "local",
        "AWS_DEFAULT_REGION": REGION,
        "SAM_CLI_TELEMETRY": "0",
    }


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
