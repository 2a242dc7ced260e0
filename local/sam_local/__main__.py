"""Run a database and a queue for `sam local` until Ctrl-C, write sample records, or test everything.

Usage:
  python -m local.sam_local TOOLS serve             `make sam-local`
  python -m local.sam_local TOOLS seed [EVENT]      `make sam-local-seed EVENT=retry_webhook`
  python -m local.sam_local TOOLS test COMMAND…     `make test-sam-local`

TOOLS has the environments `sam` and `emulator`. HOST and PORT choose the address of database and queue; containers must
reach it. With Docker Desktop, HOST is host.docker.internal.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import urllib3
from botocore.exceptions import BotoCoreError, ClientError

from adapters.dynamodb import DynamoDBStore
from local import build, deploy_local, programs, sam_environment
from local.debian import ImageError, has_engine
from local.sam_local import image, samples
from local.tables import drop_tables, make_tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FOLDER = programs.ROOT / ".local" / "sam-local"
LOOPBACK = "127.0.0.1"
DOCKER_DESKTOP = "host.docker.internal"
"""Docker Desktop: containers reach the loopback of this machine under this name."""

START_SECONDS = 120

CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "local",
    "AWS_SECRET_ACCESS_KEY": "local",
    "AWS_DEFAULT_REGION": deploy_local.REGION,
    "SAM_CLI_TELEMETRY": "0",
}
"""`sam local` passes the credentials of the caller to the functions. These open nothing."""

READY = """\
Database and queue for sam local run at {endpoint}, with the sample records of events/. Ctrl-C stops them.

In another terminal:

  make build RUNTIME={runtime} ARCHITECTURE={architecture}
  make sam DO="local invoke GetConnectionFunction --event events/get_connection.json {options}"
  make sam DO="local start-api --port 3001 --warm-containers LAZY {options}"
  curl -u {api_key}: http://localhost:3001/api/v1/connections

Before events of a function that changes the records: make sam-local-seed EVENT={event}
"""


def main(tools: str, action: str, *arguments: str) -> int:
    """Return the exit status."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    try:
        match action:
            case "serve":
                return serve(Path(tools))
            case "seed":
                seed(_endpoint(), *arguments)
                print("The sample records are there again.")
                return 0
            case _:
                programs.end_with_sigterm()
                return test(Path(tools), arguments)
    except (ImageError, build.BuildError, RuntimeError) as error:
        print(f"make sam-local: {error}", file=sys.stderr)
        return 1
    except (BotoCoreError, ClientError) as error:
        print(f"make sam-local-seed: {error}. Start make sam-local first.", file=sys.stderr)
        return 1


def serve(tools: Path) -> int:
    """Run database and queue with the sample records until Ctrl-C."""
    wait_for_signal = programs.until_stopped()
    with services(tools) as endpoint:
        environment = _environment_file(endpoint)
        options = f"--env-vars {environment.relative_to(programs.ROOT)} --skip-pull-image"
        print(
            READY.format(
                endpoint=endpoint,
                runtime=build.HERE.runtime,
                architecture=build.HERE.architecture,
                options=options,
                api_key=samples.API_KEY,
                event="retry_webhook",
            ),
            flush=True,
        )
        wait_for_signal()
    return 0


def test(tools: Path, command: Sequence[str]) -> int:
    """Provide the image, build, run everything that `sam local` needs, and run the command."""
    if not has_engine():
        print("Skipped: no Docker engine answers. Install docker.io or Docker Desktop and start it.")
        return 0
    start = time.monotonic()
    print(f"{image.provide(build.HERE)} is there after {time.monotonic() - start:.0f} s.", flush=True)
    artifact = FOLDER / "build" / "artifact"
    build.build(build.HERE, artifact)
    with services(tools) as endpoint:
        api, functions = (f"http://localhost:{port}" for port in programs.free_ports(2))
        environment = _environment_file(endpoint, base_url=api)
        options = ["--template-file", str(artifact / build.SAM_LOCAL_TEMPLATE), "--env-vars", str(environment)]
        with _sam(tools, "start-api", api, options), _sam(tools, "start-lambda", functions, options):
            print(f"sam local runs after {time.monotonic() - start:.0f} s.", flush=True)
            variables = {
                "SAM_LOCAL_API": api,
                "SAM_LOCAL_FUNCTIONS": functions,
                "SAM_LOCAL_ENDPOINT": endpoint,
                "SAM_LOCAL_COMMAND": json.dumps([str(tools / "sam" / "bin" / "sam"), "local", "invoke", *options]),
            }
            status = subprocess.run(command, env={**os.environ, **variables}, check=False).returncode  # noqa: S603 - as told
    print(f"{time.monotonic() - start:.0f} s in all.")
    return status


@contextmanager
def services(tools: Path) -> Iterator[str]:
    """Run a database and a queue with the sample records; yields their address as containers see it."""
    address, seen = _address()
    port = int(os.environ.get("PORT", sam_environment.PORT))
    with deploy_local.emulator(tools / "emulator", FOLDER, host=address, port=port):
        endpoint = f"http://{seen}:{port}"
        deploy_local.client("sqs", f"http://{address}:{port}").create_queue(QueueName=sam_environment.QUEUE)
        seed(f"http://{address}:{port}")
        yield endpoint


def seed(endpoint: str, event: str = "") -> None:
    """Empty the tables and write the records that an event needs, by default a request that waits."""
    client = deploy_local.client("dynamodb", endpoint)
    if client.list_tables()["TableNames"]:
        drop_tables(client, "")
    samples.write(DynamoDBStore(client, make_tables(client, ""), retention_days=lambda: 0), event)


def _address() -> tuple[str, str]:
    """Return the address on which database and queue listen, and the name under which containers reach it."""
    host = os.environ.get("HOST") or (image.bridge_address() if has_engine() else sam_environment.BRIDGE)
    return (LOOPBACK if host == DOCKER_DESKTOP else host), host


def _endpoint() -> str:
    return f"http://{_address()[0]}:{os.environ.get('PORT', sam_environment.PORT)}"


def _environment_file(endpoint: str, base_url: str = sam_environment.BASE_URL) -> Path:
    """Return the environment file for an address: the committed one, if it has this address."""
    variables = sam_environment.sam_environment(endpoint, base_url)
    if variables == sam_environment.sam_environment():
        return sam_environment.FILE
    path = FOLDER / "sam-env.json"
    path.write_text(json.dumps(variables, indent=2), encoding="utf-8")
    return path


@contextmanager
def _sam(tools: Path, command: str, url: str, options: Sequence[str]) -> Iterator[None]:
    """Run `sam local start-api` or `start-lambda` while the block runs."""
    port = url.rpartition(":")[2]
    line = [str(tools / "sam" / "bin" / "sam"), "local", command, "--port", port, "--skip-pull-image", *options]
    if command == "start-api":
        line += ["--warm-containers", "LAZY"]
    with programs.running(
        f"sam local {command}",
        line,
        lambda: _answers(url),
        log=FOLDER / f"{command}.log",
        seconds=START_SECONDS,
        environment={**programs.without_aws(), **CREDENTIALS},
        folder=programs.ROOT,
    ):
        yield


def _answers(url: str) -> bool:
    try:
        urllib3.request("GET", url, retries=False, timeout=2)
    except urllib3.exceptions.HTTPError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
