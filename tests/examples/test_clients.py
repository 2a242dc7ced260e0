"""The typed clients work, clients that generators make of the OpenAPI document, and QuBe Sync's own client.

`make test-clients` installs the generators. Without them these tests are skipped.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

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
    (tmp_path / "package.json").write_text('{"private": true, "type": "module"}', encoding="utf-8")
    options = ["--silent", "--offline", "--no-audit", "--no-fund", "--no-package-lock"]
    output_of(["npm", "install", *options, ROOT / "clients" / "typescript"], tmp_path)
    shutil.copy(EXAMPLES / "typed_clients" / "first_call.mts", tmp_path)
    compiler = ["--strict", "--module", "nodenext", "--target", "es2022", "first_call.mts"]
    output_of([NODE_TOOLS / "tsc", *compiler], tmp_path)

    first = output_of(["node", "first_call.mjs"], tmp_path, **variables_of(run))
    second = output_of(["node", "first_call.mjs"], tmp_path, **variables_of(run))

    assert re.fullmatch(r"Blue Note Records since 20\d\d, balance 0\.00\n\d\d+ customers\n", first), first
    assert re.fullmatch(r"3100 name_in_use\n\d\d+ customers\n", second), second
    check_that_a_missing_variable_is_named(tmp_path / "first_call.mjs")


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
