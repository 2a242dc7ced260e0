"""Clients that openapi-generator makes of `src/console/openapi-3.0.json` compile and work.

Each program of `examples/generated_clients` begins with the command that generates its client. One run of the generator
does what all these commands say. `make test-openapi-clients` fetches the generator. A language is skipped without its
compiler or without the libraries that its client imports.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
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
from tools.openapi_examples import EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.runs import Run


def has_gem(name: str) -> bool:
    """Return whether Ruby finds a library."""
    return subprocess.run(["ruby", "-e", f"require '{name}'"], capture_output=True, check=False).returncode == 0  # noqa: S603, S607


TOOLS = Path(os.environ.get("OPENAPI_GENERATOR") or ROOT / "none").absolute()
DOCUMENT = ROOT / "src" / "console" / "openapi-3.0.json"
PROGRAMS = ROOT / "examples" / "generated_clients"
NEEDED = {
    "FirstCall.java": "javac",
    "first_call.go": "go",
    "first_call_30.py": "python3",
    "first_call.php": "php",
    "first_call.rb": "ruby",
    "FirstCall.cs": "mcs",
}
"""The program that runs or compiles each example."""

OPTIONS = {
    "-i": "inputSpec",
    "-g": "generatorName",
    "-o": "outputDir",
    "--library": "library",
    "--additional-properties": "additionalProperties",
    "--name-mappings": "nameMappings",
    "--parameter-name-mappings": "parameterNameMappings",
}
"""The names in a configuration of the generator of the options of its command."""

COMPILING_SECONDS = 600
CUSTOMERS = r"CustomerQueryRq (?i:waiting)\n(response_received|ResponseReceived)\n(\w+-\d+ .+\n){2}"
EVENT = r"event: (Java|Go|Python|PHP|Ruby|C#)\n"
PAGE = r"page 1: CustomerQueryRq\n"
ADDED_EVENT = {
    "type": "queued_request.added_later",
    "timestamp": "2026-03-14T12:00:00.000000Z",
    "cursor": "1",
    "connection_id": "0b7e6a5c-5f9c-4a51-9d5e-5d6a4f1b2c3d",
}

ADDED_WEBHOOK = ADDED_EVENT | {"id": ADDED_EVENT["connection_id"]}
READ_WEBHOOKS = """
import json, sys
from queue30 import WebhookEvent
for body in json.loads(sys.argv[1]):
    print(type(WebhookEvent.from_json(json.dumps(body)).actual_instance).__name__)
"""

PHP_LIBRARIES = Path("/usr/share/php/GuzzleHttp/autoload.php")
PHP_LOADER = """<?php
// What Composer writes, with the libraries of Debian.
require '/usr/share/php/GuzzleHttp/autoload.php';
spl_autoload_register(function ($class) {
    $file = __DIR__ . '/../lib/' . str_replace('\\\\', '/', substr($class, strlen('Queue\\\\'))) . '.php';
    if (str_starts_with($class, 'Queue\\\\') && is_file($file)) {
        require $file;
    }
});
"""
MONO = Path("/usr/lib/mono")
NOT_IN_DEBIAN = """// Packages of NuGet that the client names, and needs only if a program sets a policy.
namespace JsonSubTypes { internal class None { } }
namespace Polly
{
    using System;
    using System.Threading.Tasks;
    public enum OutcomeType { Successful, Failure }
    public class PolicyResult<T> { public OutcomeType Outcome; public T Result; public Exception FinalException; }
    public interface ISyncPolicy<T> { PolicyResult<T> ExecuteAndCapture(Func<T> action); }
    public interface IAsyncPolicy<T>
    {
        Task<PolicyResult<T>> ExecuteAndCaptureAsync(Func<Task<T>> action);
    }
}
"""

pytestmark = pytest.mark.skipif(
    not (TOOLS / ".installed").exists(), reason="needs make test-openapi-clients, with Java 17 and Maven"
)


@pytest.fixture(scope="module")
def clients(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generate the clients of all languages that are here, each into a folder with its program."""
    folder = tmp_path_factory.mktemp("clients")
    found = [name for name, program in NEEDED.items() if shutil.which(program)]
    for name in found:
        place = folder / Path(name).suffix
        place.mkdir()
        shutil.copy(PROGRAMS / name, place)
        options = json.dumps(options_of(PROGRAMS / name, place))
        (folder / f"{name}.json").write_text(options, encoding="utf-8")
    configurations = [f"{name}.json" for name in found]
    command_line(["java", "-XX:TieredStopAtLevel=1", "-jar", generator(), "batch", *configurations], folder)
    return folder


def options_of(program: Path, place: Path) -> dict[str, Any]:
    """Return what the command at the top of a program says, as a configuration of the generator."""
    words = _command_of(program)
    options: dict[str, Any] = {"inputSpec": str(DOCUMENT)}
    for name, value in zip(words[::2], words[1::2], strict=True):
        option = OPTIONS[name]
        if "=" in value:
            options[option] = options.get(option, {}) | dict(pair.split("=") for pair in value.split(","))
        elif name == "-o":
            options[option] = str(place / value)
        elif name != "-i":
            options[option] = value
    return options


def _command_of(program: Path) -> list[str]:
    """Return the options and their values, one after the other."""
    lines = program.read_text(encoding="utf-8").partition("openapi-generator-cli generate")[2].splitlines()
    last = next(number for number, line in enumerate(lines) if not line.endswith("\\"))
    plain = (line.strip().removeprefix("//").removeprefix("#").removesuffix("\\") for line in lines[: last + 1])
    words = shlex.split(" ".join(plain))
    return [part for word in words for part in (word.split("=", 1) if word.startswith("--") else [word])]


def test_a_java_client_queues_waits_and_reads_events(run: Run, clients: Path) -> None:
    jars = os.pathsep.join(str(jar) for jar in TOOLS.glob("*.jar") if jar != generator())
    folder = clients / ".java"
    sources = [*(folder / "client" / "src" / "main").rglob("*.java"), folder / "FirstCall.java"]

    command_line(["javac", "-cp", jars, "-d", folder / "classes", *sources], folder)
    # The client logs a warning for each event of a type that it does not know.
    (folder / "quiet.properties").write_text(".level = SEVERE\n", encoding="utf-8")
    quiet = "-Djava.util.logging.config.file=quiet.properties"
    check_program(["java", quiet, "-cp", f"{folder / 'classes'}{os.pathsep}{jars}", "FirstCall"], run, folder, PAGE)


@pytest.mark.skipif(not shutil.which("go"), reason="needs Go")
def test_a_go_client_queues_waits_and_reads_events(run: Run, clients: Path) -> None:
    folder = clients / ".go"
    shutil.rmtree(folder / "queue" / "test")  # imports a library for tests
    (folder / "go.mod").write_text("module first_call\n\ngo 1.19\n", encoding="utf-8")

    command_line(["go", "build", "-o", "program", "."], folder, GOPROXY="off", GOTOOLCHAIN="local")
    check_program([folder / "program"], run, folder, PAGE)


def test_a_python_client_queues_waits_and_reads_events(run: Run, clients: Path) -> None:
    folder = clients / ".py"

    check_program([sys.executable, "first_call_30.py"], run, folder, PAGE, PYTHONPATH="client")


def test_a_python_client_reads_a_webhook_as_the_class_of_its_type(clients: Path) -> None:
    union = json.loads(DOCUMENT.read_bytes())["components"]["schemas"]["WebhookEvent"]
    names = {event_type: path.rpartition("/")[2] for event_type, path in union["discriminator"]["mapping"].items()}
    bodies = [
        with_additions(example) | {"type": event_type}
        for event_type, name in names.items()
        for example in EXAMPLES[name].values()
    ]

    output = command_line(
        [sys.executable, "-c", READ_WEBHOOKS, json.dumps([*bodies, ADDED_WEBHOOK])],
        clients / ".py",
        PYTHONPATH="client",
    )

    assert output.split() == [*(names[body["type"]] for body in bodies), "OtherWebhookEvent"]


@pytest.mark.skipif(not (shutil.which("php") and PHP_LIBRARIES.exists()), reason="needs PHP and Guzzle")
def test_a_php_client_queues_waits_and_reads_events(run: Run, clients: Path) -> None:
    folder = clients / ".php"
    loader = folder / "client" / "vendor" / "autoload.php"
    loader.parent.mkdir()
    loader.write_text(PHP_LOADER, encoding="utf-8")

    check_program(["php", "first_call.php"], run, folder)


@pytest.mark.skipif(not (shutil.which("ruby") and has_gem("typhoeus")), reason="needs Ruby and Typhoeus")
def test_a_ruby_client_queues_waits_and_reads_events(run: Run, clients: Path) -> None:
    check_program(["ruby", "-I", "client/lib", "first_call.rb"], run, clients / ".rb")


@pytest.mark.skipif(
    not (shutil.which("mcs") and any(MONO.glob("gac/Newtonsoft.Json/*"))), reason="needs Mono and Newtonsoft.Json"
)
def test_a_csharp_client_queues_waits_and_reads_events(run: Run, clients: Path) -> None:
    folder = clients / ".cs"
    (json_library,) = MONO.glob("gac/Newtonsoft.Json/*/Newtonsoft.Json.dll")
    shutil.copy(json_library, folder)
    (folder / "NotInDebian.cs").write_text(NOT_IN_DEBIAN, encoding="utf-8")
    sources = [*(folder / "client" / "src" / "Queue").rglob("*.cs"), folder / "FirstCall.cs", folder / "NotInDebian.cs"]
    for source in sources:
        # Newtonsoft.Json 6 has no strategies for names. Each member of the client names itself.
        code = re.sub(r"NamingStrategy = new CamelCaseNamingStrategy\s*{[^}]*}", "", source.read_text("utf-8"))
        source.write_text(code, encoding="utf-8")
    system = ("Net.Http", "ComponentModel.DataAnnotations", "Runtime.Serialization", "Web")
    libraries = [f"-r:System.{name}" for name in system]
    options: list[str | Path] = ["-langversion:latest", "-warn:0", "-out:program.exe", "-r:Newtonsoft.Json.dll"]

    command_line(["mcs", *options, *libraries, *sources], folder)
    output = check_program(["mono", "program.exe"], run, folder)
    assert len(re.findall(r"(?m) \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[-+]\d\d:\d\d$", output)) == 2, (
        "times as QuickBooks writes them"
    )


def generator() -> Path:
    (program,) = TOOLS.glob("openapi-generator-cli-*.jar")
    return program


def command_line(command: list[str | Path], folder: Path, **variables: str) -> str:
    """Run a command and return its output. It must succeed."""
    return guide.output_of([str(part) for part in command], folder, {**os.environ, **variables}, COMPILING_SECONDS)


def check_program(command: list[str | Path], run: Run, folder: Path, page: str = "", **variables: str) -> str:
    """Return the output of a program with a later version of the service, after a run with this one."""
    expected = CUSTOMERS + page + EVENT
    of_run = {"API_KEY": run.credentials["api_key"], "CONNECTION_ID": run.credentials["connection_id"]} | variables

    output = command_line(command, folder, BASE_URL=run.credentials["base_url"], **of_run)
    assert re.fullmatch(expected, output), output

    with later_version(run.credentials["base_url"]) as base_url:
        output = command_line(command, folder, BASE_URL=base_url, **of_run)
    assert re.fullmatch(expected, output), output
    return output


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
                body = json.dumps(of_later_version(self.path, json.load(response))).encode()
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


def of_later_version(path: str, answer: Any) -> Any:
    """Return an answer with additions. A page of events begins with one of a type that does not exist yet."""
    changed = with_additions(answer)
    return changed | {"data": [ADDED_EVENT, *changed["data"]]} if path.startswith("/api/v1/events") else changed


def with_additions(part: Any) -> Any:
    """Return a response with a member more in each object that has members of its own, and with other codes."""
    if isinstance(part, list):
        return [with_additions(member) for member in part]
    if not isinstance(part, dict):
        return part
    free = {"metadata", "counts", "response_json", "result", "request_json"}
    changed = {name: member if name in free else with_additions(member) for name, member in part.items()}
    return changed | ({"code": "added_later"} if "code" in part else {}) | {"added_later": {"any": ["value"]}}
