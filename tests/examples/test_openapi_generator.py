"""Clients for Java, Go and Python that openapi-generator makes of `src/console/openapi-3.0.json` compile and work.

`make test-openapi-clients` fetches the generator. A language is skipped without its compiler.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import urllib.error
import urllib.request
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from tests.examples import guide
from tests.examples.guide import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.runs import Run

TOOLS = Path(os.environ.get("OPENAPI_GENERATOR") or ROOT / "none").absolute()
DOCUMENT = ROOT / "src" / "console" / "openapi-3.0.json"
PROGRAMS = ROOT / "examples" / "generated_clients"
COMPILING_SECONDS = 600
CUSTOMERS = r"CustomerQueryRq waiting\nresponse_received\n(\w+-\d+ .+\n){2}page 1: CustomerQueryRq\n"

pytestmark = pytest.mark.skipif(
    not (TOOLS / ".installed").exists(), reason="needs make test-openapi-clients, with Java 17 and Maven"
)


def test_a_java_client_queues_waits_and_reads_a_page(run: Run, tmp_path: Path) -> None:
    packages = "invokerPackage=queue,apiPackage=queue.api,modelPackage=queue.model"
    options = ["--library", "native", "--parameter-name-mappings", "wait=waitSeconds"]
    more = f"{packages},useJakartaEe=true,useSingleRequestParameter=true"
    generate("java", tmp_path, *options, "--additional-properties", more)
    jars = os.pathsep.join(str(jar) for jar in TOOLS.glob("*.jar") if jar != generator())
    sources = [*(tmp_path / "src" / "main").rglob("*.java"), PROGRAMS / "FirstCall.java"]

    command_line(["javac", "-cp", jars, "-d", tmp_path / "classes", *sources], tmp_path)
    check_program(["java", "-cp", f"{tmp_path / 'classes'}{os.pathsep}{jars}", "FirstCall"], run, tmp_path)


@pytest.mark.skipif(not shutil.which("go"), reason="needs Go")
def test_a_go_client_queues_waits_and_reads_a_page(run: Run, tmp_path: Path) -> None:
    generate("go", tmp_path / "queue", "--additional-properties", "packageName=queue,withGoMod=false")
    shutil.rmtree(tmp_path / "queue" / "test")  # imports a library for tests
    shutil.copy(PROGRAMS / "first_call.go", tmp_path)
    (tmp_path / "go.mod").write_text("module first_call\n\ngo 1.19\n", encoding="utf-8")

    command_line(["go", "build", "-o", "program", "."], tmp_path, GOPROXY="off", GOTOOLCHAIN="local")
    check_program([tmp_path / "program"], run, tmp_path)


def test_a_python_client_queues_waits_and_reads_a_page(run: Run, tmp_path: Path) -> None:
    generate("python", tmp_path, "--additional-properties", "packageName=queue30")

    check_program([sys.executable, PROGRAMS / "first_call_30.py"], run, tmp_path, PYTHONPATH=str(tmp_path))


def generator() -> Path:
    (program,) = TOOLS.glob("openapi-generator-cli-*.jar")
    return program


def generate(language: str, folder: Path, *options: str) -> None:
    """Let the generator validate the document and write a client."""
    program: list[str | Path] = ["java", "-jar", generator()]
    command_line([*program, "generate", "-i", DOCUMENT, "-g", language, "-o", folder, *options], ROOT)


def command_line(command: list[str | Path], folder: Path, **variables: str) -> str:
    """Run a command and return its output. It must succeed."""
    return guide.output_of([str(part) for part in command], folder, {**os.environ, **variables}, COMPILING_SECONDS)


def check_program(command: list[str | Path], run: Run, folder: Path, **variables: str) -> None:
    """Run a program with the service, and with a later version of it."""
    of_run = {"API_KEY": run.credentials["api_key"], "CONNECTION_ID": run.credentials["connection_id"]} | variables

    output = command_line(command, folder, BASE_URL=run.credentials["base_url"], **of_run)
    assert re.fullmatch(CUSTOMERS, output), output

    with later_version(run.credentials["base_url"]) as base_url:
        output = command_line(command, folder, BASE_URL=base_url, **of_run)
    assert re.fullmatch(CUSTOMERS, output), output


@contextmanager
def later_version(base_url: str) -> Iterator[str]:
    """Yield the URL of a service whose responses have more members and codes (docs/api-changes.md)."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.forward()

        def do_POST(self) -> None:
            self.forward()

        def forward(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            headers = {name: self.headers[name] for name in ("Authorization", "Content-Type") if name in self.headers}
            call = urllib.request.Request(  # noqa: S310 - our own service
                base_url + self.path, self.rfile.read(length) or None, headers, method=self.command
            )
            with urllib.request.urlopen(call, timeout=30) as response:  # noqa: S310
                body = json.dumps(with_additions(json.load(response))).encode()
                self.send_response(response.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def with_additions(part: Any) -> Any:
    """Return a response with a member more in each object that has members of its own, and with other codes."""
    if isinstance(part, list):
        return [with_additions(member) for member in part]
    if not isinstance(part, dict):
        return part
    free = {"metadata", "counts", "response_json", "result", "request_json"}
    changed = {name: member if name in free else with_additions(member) for name, member in part.items()}
    return changed | ({"code": "added_later"} if "code" in part else {}) | {"added_later": {"any": ["value"]}}
