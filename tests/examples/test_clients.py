"""The typed clients work, clients that generators make of the OpenAPI document, and QuBe Sync's own client.

`make test-clients` installs the generators. Without them these tests are skipped.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest

from tests.examples import guide
from tests.examples.guide import ROOT

if TYPE_CHECKING:
    from tests.e2e.runs import Run

TOOLS = ROOT / ".tools" / "clients"
PYTHON = TOOLS / "bin" / "python"
NODE_TOOLS = TOOLS / "node_modules" / ".bin"
EXAMPLES = ROOT / "examples"
DOCUMENT = ROOT / "docs" / "openapi.json"
CUSTOMERS = r"CustomerQueryRq waiting\nresponse_received\n(\w+-\d+ .+\n){2}"

needs_python_tools = pytest.mark.skipif(not PYTHON.exists(), reason="needs make test-clients")
needs_typescript = pytest.mark.skipif(
    not NODE_TOOLS.exists() or not shutil.which("node"), reason="needs make test-clients, with Node and npm"
)


def output_of(command: list[str | Path], folder: Path, **variables: str) -> str:
    """Run a command with more variables and return its output. It must succeed."""
    return guide.output_of([str(part) for part in command], folder, {**os.environ, **variables})


def check_that_a_missing_variable_is_named(program: Path) -> None:
    """Run a program without one of its variables: it ends with a sentence, not with a stack trace."""
    variables = {"PATH": os.environ["PATH"], "BASE_URL": "http://127.0.0.1:1", "API_KEY": "none"}
    ended = subprocess.run(  # noqa: S603 - our own example
        ["node", program.name],  # noqa: S607 - the reader's Node
        cwd=program.parent,
        env=variables,
        capture_output=True,
        text=True,
        timeout=guide.SCRIPT_SECONDS,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == "CONNECTION_ID is not set. In the folder of the project, run: set -a; . .local/env; set +a\n"


def variables_of(run: Run) -> dict[str, str]:
    names = {"BASE_URL": "base_url", "API_KEY": "api_key", "CONNECTION_ID": "connection_id"}
    return {name: run.credentials[field] for name, field in names.items()}


def answer_to(command: str, variables: dict[str, str]) -> Any:
    """Run a command of curl and return the data in its answer. curl shows its progress in the other stream."""
    ended = subprocess.run(  # noqa: S603
        ["sh", "-ec", command],  # noqa: S607 - a command of the README
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=guide.SCRIPT_SECONDS,
        check=True,
    )
    return json.loads(ended.stdout)["data"]


def install_typescript_client(folder: Path) -> None:
    """Install the typed TypeScript client into a project in this folder."""
    (folder / "package.json").write_text('{"private": true, "type": "module"}', encoding="utf-8")
    options = ["--silent", "--offline", "--no-audit", "--no-fund", "--no-package-lock"]
    output_of(["npm", "install", *options, ROOT / "clients" / "typescript"], folder)


@needs_python_tools
def test_a_generated_python_client_is_complete_and_makes_the_first_call(run: Run, tmp_path: Path) -> None:
    # The generator formats what it writes with ruff.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    generate: list[str | Path] = [
        "generate",
        "--path",
        DOCUMENT,
        "--meta",
        "none",
        "--output-path",
        tmp_path / "qbxml_queue_client",
    ]

    generated = output_of([TOOLS / "bin" / "openapi-python-client", *generate], tmp_path, PATH=path)
    output_of([PYTHON, "-m", "compileall", "-q", tmp_path], tmp_path)
    example = EXAMPLES / "generated_clients" / "first_call.py"
    output = output_of([PYTHON, example], tmp_path, PYTHONPATH=str(tmp_path), **variables_of(run))

    # It warns of every endpoint, parameter and schema that it drops.
    assert "arning" not in generated, generated
    assert re.fullmatch(CUSTOMERS, output), output


@needs_typescript
def test_generated_typescript_types_compile_and_make_the_first_call(run: Run, tmp_path: Path) -> None:
    (tmp_path / "node_modules").symlink_to(TOOLS / "node_modules")
    shutil.copy(EXAMPLES / "generated_clients" / "first_call.mts", tmp_path)

    output_of([NODE_TOOLS / "openapi-typescript", DOCUMENT, "--output", tmp_path / "api.d.ts"], tmp_path)
    compiler = ["--strict", "--module", "nodenext", "--target", "es2022", "first_call.mts"]
    output_of([NODE_TOOLS / "tsc", *compiler], tmp_path)
    output = output_of(["node", "first_call.mjs"], tmp_path, **variables_of(run))

    types = (tmp_path / "api.d.ts").read_text(encoding="utf-8")
    check_that_a_missing_variable_is_named(tmp_path / "first_call.mjs")
    assert "Record<string, never>" not in types.partition("export type $defs")[0]
    assert re.fullmatch(CUSTOMERS, output), output


@needs_python_tools
def test_the_typed_python_client_writes_and_reads_every_page(run: Run, typed_client: Path, tmp_path: Path) -> None:
    variables = {**variables_of(run), "PYTHONPATH": str(typed_client)}
    example = EXAMPLES / "typed_clients" / "first_call.py"

    first = output_of([PYTHON, example], tmp_path, **variables)
    second = output_of([PYTHON, example], tmp_path, **variables)

    assert re.fullmatch(r"Blue Door Bakery since 20\d\d, balance 0\.00\n\d\d+ customers owe [\d.]+\n", first), first
    assert re.fullmatch(r"3100 name_in_use\n\d\d+ customers owe [\d.]+\n", second), second
    output_of([PYTHON, "-m", "mypy", "--strict", example], tmp_path, MYPYPATH=str(typed_client))


@needs_typescript
def test_the_typed_typescript_client_writes_and_reads_every_page(run: Run, tmp_path: Path) -> None:
    install_typescript_client(tmp_path)
    shutil.copy(EXAMPLES / "typed_clients" / "first_call.mts", tmp_path)
    compiler = ["--strict", "--module", "nodenext", "--target", "es2022", "first_call.mts"]
    output_of([NODE_TOOLS / "tsc", *compiler], tmp_path)

    first = output_of(["node", "first_call.mjs"], tmp_path, **variables_of(run))
    second = output_of(["node", "first_call.mjs"], tmp_path, **variables_of(run))

    assert re.fullmatch(r"Blue Note Records since 20\d\d, balance 0\.00\n\d\d+ customers\n", first), first
    assert re.fullmatch(r"3100 name_in_use\n\d\d+ customers\n", second), second
    check_that_a_missing_variable_is_named(tmp_path / "first_call.mjs")


WEBHOOK = {
    "type": "queued_request.completed",
    "request_json": {"request": {"name": "InvoiceAddRq"}},
    "result": {"InvoiceRet": {}},
}
TXN_ID = r"[0-9A-F]+-\d+"


def signed_webhook() -> tuple[str, dict[str, str], str]:
    """Return a webhook secret, and the headers and the body of an event that was signed with it just now."""
    key, body, now = bytes(32), json.dumps(WEBHOOK), str(int(time.time()))
    signature = base64.b64encode(hmac.digest(key, f"msg.{now}.{body}".encode(), hashlib.sha256)).decode()
    headers = {"webhook-id": "msg", "webhook-timestamp": now, "webhook-signature": f"v1,{signature}"}
    return f"whsec_{base64.b64encode(key).decode()}", headers, body


def blocks_in(readme: Path, language: str, count: int) -> str:
    """Return all blocks of a README in one language, as one program: first calls, a batch, events and a webhook."""
    blocks = [block.text for block in guide.blocks_of(readme) if block.language == language]
    assert len(blocks) == count
    return "\n".join(blocks)


@needs_python_tools
def test_the_readme_of_the_python_client_runs_as_printed(run: Run, typed_client: Path, tmp_path: Path) -> None:
    secret, headers, body = signed_webhook()
    given = f"secret, headers, body = {secret!r}, {headers!r}, {body.encode()!r}\n"
    program = tmp_path / "readme.py"
    program.write_text(given + blocks_in(ROOT / "clients" / "python" / "README.md", "python", 11), encoding="utf-8")

    variables = variables_of(run) | {"WEBHOOK_SECRET": secret, "PYTHONPATH": str(typed_client)}
    output = output_of([PYTHON, program], tmp_path, **variables)

    invoice = re.match(rf"created ({TXN_ID}) \d+\.\d\d\n(?:.+\n)+?{TXN_ID}\n(?:.+\n)+?{TXN_ID}\n", output)
    assert invoice, output[:500]
    assert invoice[1] in output[invoice.end() :]  # the event of the invoice
    assert output.endswith("{'InvoiceRet': {}}\n")
    output_of([PYTHON, "-m", "mypy", "--strict", program], tmp_path, MYPYPATH=str(typed_client))


@needs_typescript
def test_the_readme_of_the_typescript_client_runs_as_printed(run: Run, tmp_path: Path) -> None:
    secret, headers, body = signed_webhook()
    install_typescript_client(tmp_path)
    given = "\n".join(
        f"const {name} = {json.dumps(value)};"
        for name, value in {"secret": secret, "headers": headers, "body": body}.items()
    )
    program = given + "\n" + blocks_in(ROOT / "clients" / "typescript" / "README.md", "typescript", 9)
    (tmp_path / "readme.mts").write_text(program, encoding="utf-8")
    # In place of the types of Node, which a project of the reader has.
    (tmp_path / "node.d.ts").write_text(
        'declare module "node:fs" {\n'
        "  export function existsSync(path: string): boolean;\n"
        "  export function readFileSync(path: string, encoding: string): string;\n"
        "  export function renameSync(path: string, other: string): void;\n"
        "  export function writeFileSync(path: string, text: string): void;\n"
        "}\n",
        encoding="utf-8",
    )
    compiler = ["--strict", "--module", "nodenext", "--target", "es2022", "readme.mts", "node.d.ts"]
    output_of([NODE_TOOLS / "tsc", *compiler], tmp_path)

    output = output_of(["node", "readme.mjs"], tmp_path, **variables_of(run))

    invoice = re.match(rf"created ({TXN_ID}) \d+\.\d\d\n(?:.+\n)+?{TXN_ID}\n(?:.+\n)+?{TXN_ID}\n", output)
    assert invoice, output[:500]
    assert "\nProfit & Loss Net Income " in output
    assert invoice[1] in output[invoice.end() :]  # the event of the invoice
    assert output.endswith("{ InvoiceRet: {} }\n")


@needs_typescript
def test_the_express_example_receives_a_signed_webhook(tmp_path: Path) -> None:
    secret, headers, body = signed_webhook()
    install_typescript_client(tmp_path)
    for module in (TOOLS / "node_modules").glob("[!.]*"):
        (tmp_path / "node_modules" / module.name).symlink_to(module)
    shutil.copy(EXAMPLES / "webhook_handlers" / "express_app.mjs", tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    variables = {**os.environ, "WEBHOOK_SECRET": secret, "PORT": str(port)}
    command = ["node", "express_app.mjs"]
    with subprocess.Popen(command, cwd=tmp_path, env=variables, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        assert process.stdout
        try:
            request = Request(f"http://127.0.0.1:{port}/webhooks/quickbooks", body.encode(), headers)
            assert answer_when_it_listens(request) == HTTPStatus.NO_CONTENT
            assert process.stdout.readline() == "msg queued_request.completed\n"
        finally:
            process.kill()


def answer_when_it_listens(request: Request) -> int:
    """Return the status of the answer to a call of a program that has just been started."""
    ends = time.monotonic() + guide.START_SECONDS
    while True:
        try:
            with urlopen(request) as response:  # noqa: S310 - our own program
                return int(response.status)
        except URLError:
            if time.monotonic() > ends:
                raise
            time.sleep(0.05)


def test_the_readme_of_the_project_runs_as_printed(run: Run) -> None:
    commands = [
        block.replace(". .local/env\n", "")
        for block in re.findall(r"(?ms)^```sh\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"))
        if "$BASE_URL" in block
    ]
    variables = variables_of(run) | {"WEBHOOK_URL": run.credentials["webhook_url"]}

    queued, listed, query = (answer_to(command, variables) for command in commands)

    assert queued["request_json"]["request"]["name"] == query["request_json"]["request"]["name"] == "CustomerQueryRq"
    assert len(listed) == 1


@needs_python_tools
def test_the_python_client_of_qube_sync_works_unmodified(run: Run, tmp_path: Path) -> None:
    variables = {
        "QUBE_URL": f"{run.credentials['base_url']}/api/v1",
        "QUBE_API_KEY": run.credentials["api_key"],
        "QUBE_WEBHOOK_SECRET": run.credentials["webhook_secret"],
        "CONNECTION_ID": run.credentials["connection_id"],
    }

    output = output_of([PYTHON, EXAMPLES / "from_qube_sync" / "check_client.py"], tmp_path, **variables)

    assert output == "connections: ok\nrequest, webhook, signature: ok\nqueries, lists, deletion: ok\n"
