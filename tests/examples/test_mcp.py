"""An assistant reads the books through the MCP server, and a write of it waits for a person."""

from __future__ import annotations

import json
import subprocess
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from local.command import invoke, local_client, operator_of
from tests.examples.test_clients import PYTHON, needs_python_tools, output_of

if TYPE_CHECKING:
    from tests.e2e.runs import Run

ASSISTANT = Path(__file__).with_name("assistant.py")
CALLS = 60

pytestmark = needs_python_tools


@pytest.fixture(scope="module")
def variables(run: Run, typed_client: Path) -> dict[str, str]:
    """Return the environment of a server with a key that proposes."""
    return {"BASE_URL": run.credentials["base_url"], "API_KEY": key_of(run, "propose"), "PYTHONPATH": str(typed_client)}


def key_of(run: Run, scope: str) -> str:
    operator = operator_of(run.credentials)
    event = {"operation": "create_key", "app_id": run.credentials["app_id"], "scope": scope}
    return str(invoke(local_client(operator), operator.function, event)["api_key"])


def assistant(folder: Path, variables: dict[str, str], *arguments: str) -> Any:
    return json.loads(output_of([PYTHON, ASSISTANT, *arguments], folder, **variables).splitlines()[-1])


def result_of(run: Run, request: dict[str, Any]) -> Any:
    """Return the result of a request of a full key."""
    request_id = run.queue({"request_json": request})
    record = run.api().call("GET", f"/api/v1/queued_requests/{request_id}?wait=20&include[]=result")["data"]
    assert record["state"] == "response_received", record
    return record["result"]


def test_an_assistant_says_who_owes_most_and_since_when(run: Run, variables: dict[str, str], tmp_path: Path) -> None:
    answer = assistant(tmp_path, variables, "owes", run.credentials["connection_id"])

    invoices = result_of(run, {"InvoiceQueryRq": {"PaidStatus": "NotPaidOnly"}})["InvoiceRet"]
    of_customer = [invoice for invoice in invoices if invoice["CustomerRef"]["FullName"] == answer["name"]]
    owed: dict[str, Decimal] = {}
    for invoice in invoices:
        name = invoice["CustomerRef"]["FullName"]
        owed[name] = owed.get(name, Decimal()) + Decimal(invoice["BalanceRemaining"])
    assert Decimal(answer["owes"]) == owed[answer["name"]] == max(owed.values())
    assert answer["since"] == min(invoice["TxnDate"] for invoice in of_customer)


def test_an_invoice_that_an_assistant_proposes_waits_until_a_person_approves_it(
    run: Run, variables: dict[str, str], tmp_path: Path
) -> None:
    [customer] = result_of(run, {"CustomerQueryRq": {"MaxReturned": 1}})["CustomerRet"]

    proposed = assistant(tmp_path, variables, "propose", run.credentials["connection_id"], customer["FullName"])

    request = proposed["request"]
    assert (request["state"], request["waiting_reason"]["code"]) == ("waiting", "approval")
    assert proposed["approve_at"].endswith(request["id"])
    query = {"InvoiceQueryRq": {"RefNumber": "A-1"}}
    assert not result_of(run, query).get("InvoiceRet")

    revision = run.record(request["id"])["approval"]["revision"]
    run.api().call("POST", f"/api/v1/queued_requests/{request['id']}/approve", {"revision": revision})

    seen = assistant(tmp_path, variables, "look", request["id"])
    assert seen["request"]["state"] == "response_received", seen["request"]["error"]
    assert seen["result"]["InvoiceRet"]["RefNumber"] == "A-1"
    assert result_of(run, query)["InvoiceRet"]


@pytest.mark.parametrize("seed", ["1", pytest.param("2", marks=pytest.mark.nightly)])
def test_no_calls_of_an_assistant_change_the_books(
    run: Run, variables: dict[str, str], tmp_path: Path, seed: str
) -> None:
    connection = run.credentials["connection_id"]
    add = {"CustomerAddRq": {"CustomerAdd": {"Name": f"Proposed {seed}"}}}
    proposed = run.queue({"request_json": add, "approval": "required"})
    before = books(run)

    customer = "/".join(before[0][1:])
    counts = assistant(tmp_path, variables, "random", connection, proposed, customer, seed, str(CALLS))

    assert books(run) == before
    assert run.record(proposed)["waiting_reason"]["code"] == "approval"
    assert min(counts.values()) > CALLS // 10


def books(run: Run) -> list[tuple[str, str, str]]:
    """Return the name, ListID and EditSequence of all objects with a name, after everything in the queue was sent.

    The first one is a customer.
    """
    found: list[tuple[str, str, str]] = []
    for kind in ("Customer", "Vendor", "OtherName"):
        objects = result_of(run, {f"{kind}QueryRq": {"ActiveStatus": "All"}}).get(f"{kind}Ret", [])
        found += sorted((one.get("FullName") or one["Name"], one["ListID"], one["EditSequence"]) for one in objects)
    return found


@pytest.mark.parametrize("scope", ["full", "approve"])
def test_a_key_that_can_do_more_is_refused(run: Run, variables: dict[str, str], scope: str) -> None:
    ended = subprocess.run(  # noqa: S603 - our own program
        [PYTHON, "-m", "qbxml_queue.mcp.command"],
        env={**variables, "API_KEY": key_of(run, scope)},
        input="",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (ended.returncode, ended.stdout) == (2, "")
    assert f"The key has the scope {scope}. Make one with the scope propose" in ended.stderr
