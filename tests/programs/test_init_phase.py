"""Lambda's init phase: each function builds its clients in it, calls nothing, and collects garbage afterwards.

One process imports the libraries and forks for each function, because importing the libraries anew takes long.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from local.programs import ROOT
from local.template import Template
from tests.support.cases import for_each

FUNCTIONS = {function.handler.split(".")[1]: function for function in Template.load().functions()}

PROGRAM = """
import gc, importlib, json, os, sys
import aws_lambda_powertools.event_handler.openapi.params, botocore.session, pydantic

for function in json.load(sys.stdin):
    if os.fork() == 0:
        os.environ.update(function["environment"])
        importlib.import_module(function["module"])
        from handlers.common.bootstrap import Services
        facts = {"module": function["module"], "built": sorted(vars(Services.current))}
        facts |= {"collects": gc.isenabled(), "frozen": gc.get_freeze_count()}
        os.write(1, (json.dumps(facts) + "\\n").encode())
        os._exit(0)
    os.wait()
"""


def imported(listener: socket.socket, **variables: str) -> dict[str, dict[str, Any]]:
    """Import every function in a separate process. Return its facts by name. AWS is at the address of `listener`."""
    host, port = listener.getsockname()
    environment = {
        "AWS_REGION": "eu-central-1",
        "AWS_DEFAULT_REGION": "eu-central-1",
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_SECRET_ACCESS_KEY": "local",
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_EC2_METADATA_SERVICE_ENDPOINT": f"http://{host}:{port}",
        **variables,
    }
    functions = [
        {"module": function.handler.rpartition(".")[0], "environment": {**environment, **function.environment}}
        for function in FUNCTIONS.values()
    ]
    process = subprocess.run(  # noqa: S603 - this Python, with our own program
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(functions),
        cwd=ROOT / "src",
        env={"PYTHONPATH": str(ROOT / "src"), "HOME": str(Path("/nonexistent"))},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [json.loads(line) for line in process.stdout.splitlines()]
    assert not process.stderr
    return {line["module"].rpartition(".")[2]: line for line in lines}


@pytest.fixture(scope="module")
def listener() -> Any:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        yield listener


@pytest.fixture(scope="module")
def in_lambda(listener: socket.socket) -> dict[str, dict[str, Any]]:
    return imported(listener, AWS_LAMBDA_INITIALIZATION_TYPE="on-demand")


@for_each("name", FUNCTIONS)
def test_a_function_with_tables_builds_its_database_client_in_the_init_phase(
    name: str, in_lambda: dict[str, dict[str, Any]]
) -> None:
    has_tables = any(variable.endswith("_TABLE") for variable in FUNCTIONS[name].environment)

    assert ("store" in in_lambda[name]["built"]) == has_tables


@for_each("name", FUNCTIONS)
def test_a_function_collects_garbage_after_the_init_phase(name: str, in_lambda: dict[str, dict[str, Any]]) -> None:
    assert in_lambda[name]["collects"]
    assert in_lambda[name]["frozen"] > 0


@pytest.mark.usefixtures("in_lambda")
def test_the_init_phase_makes_no_call(listener: socket.socket) -> None:
    with pytest.raises(BlockingIOError):
        listener.accept()


def test_outside_lambda_an_import_builds_nothing_and_leaves_garbage_collection_alone(listener: socket.socket) -> None:
    for facts in imported(listener).values():
        assert facts["collects"]
        assert not facts["frozen"]
        assert not {"store", "retry_queue"} & set(facts["built"])
