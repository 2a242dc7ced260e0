"""The programs of the first sync keep the books correct after failures."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from invoice import add_invoice, find_or_add_customer, invoice_by_number
from payment import receive_payment
from qbxml_queue import Api, Rejected
from receiver import Events, is_valid
from update import save_customer

from tests.e2e.runs import Run, running
from tests.examples import guide

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
"""The example of the Standard Webhooks specification."""

SIGNED = {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
}
BODY = b'{"test": 2432232314}'


def api_of(run: Run) -> Api:
    credentials = run.credentials
    return Api(credentials["base_url"], credentials["api_key"], credentials["connection_id"])


def a_line(api: Api) -> dict[str, Any]:
    [item, *_] = api.execute({"ItemServiceQueryRq": {"MaxReturned": 1}}, str(uuid4()))["ItemServiceRet"]
    return {"ItemRef": {"ListID": item["ListID"]}, "Quantity": 1, "Rate": "10.00"}


def test_a_customer_that_is_saved_is_added_and_then_changed_where_it_differs(run: Run) -> None:
    api = api_of(run)
    added = save_customer(api, "Saved Customer", {"Phone": "555-0100"})

    changed = save_customer(api, "Saved Customer", {"Email": "saved@customer.example"})
    same = save_customer(api, "Saved Customer", {"Phone": "555-0100", "Email": "saved@customer.example"})

    assert changed["ListID"] == added["ListID"]
    assert (changed["Phone"], changed["Email"]) == ("555-0100", "saved@customer.example")
    assert same == changed


def test_a_customer_is_added_once(run: Run) -> None:
    api = api_of(run)

    first = find_or_add_customer(api, "Added Once")
    again = find_or_add_customer(api, "Added Once")

    assert first["ListID"] == again["ListID"]


def test_a_mistake_is_rejected_with_its_problems_and_nothing_is_queued(run: Run) -> None:
    with pytest.raises(Rejected) as caught:
        api_of(run).execute({"CustomerAddRq": {"CustomerAdd": {"Nam": "X"}}}, str(uuid4()))

    assert (caught.value.status, caught.value.code) == (400, "invalid_request")
    assert caught.value.problems[0]["suggestion"] == "Did you mean Name?"


def test_an_invoice_whose_response_cannot_be_read_is_found_at_once_and_when_it_is_queued_again(tmp_path: Path) -> None:
    """QuickBooks adds the invoice and its response is unreadable; nothing is stored that could be asked for."""
    script = tmp_path / "script.json"
    step = {"name": "unreadable", "on": "process", "request": "InvoiceAddRq", "do": "unreadable"}
    script.write_text(json.dumps([step]), encoding="utf-8")
    with running(tmp_path, QUICKBOOKS_SCRIPT=str(script)) as run:
        api = api_of(run)
        customer = find_or_add_customer(api, "Unlucky")
        line = a_line(api)

        invoice, again = (add_invoice(api, "777", customer["ListID"], [line]) for _ in range(2))

        assert invoice == again == invoice_by_number(api, "777")
        invoices = api.execute({"InvoiceQueryRq": {"RefNumber": "777"}}, str(uuid4()))["InvoiceRet"]
        assert len(invoices) == 1


def test_the_receiver_accepts_the_example_of_standard_webhooks_and_no_other_body_secret_or_time() -> None:
    now = 1614265330.0

    assert is_valid(SECRET, SIGNED, BODY, now)
    assert not is_valid(SECRET, SIGNED, BODY + b" ", now)
    assert not is_valid("whsec_" + "A" * 32, SIGNED, BODY, now)
    assert not is_valid(SECRET, SIGNED, BODY, now + 301)
    assert not is_valid(SECRET, {}, BODY, now)
    assert not is_valid(SECRET, {**SIGNED, "webhook-signature": "v1,é"}, BODY, now)


def test_an_event_that_arrives_twice_is_stored_once_and_pages_come_in_order(tmp_path: Path) -> None:
    events = Events(str(tmp_path / "events.db"))
    pages = [{"query_id": "q", "page": page, "last_page": page == 3} for page in (3, 1, 2)]

    for page in [*pages, *pages]:
        events.store(f"webhook-{page['page']}", page)

    assert [event["page"] for event in events.pages_of("q")] == [1, 2, 3]


def test_a_page_that_does_not_arrive_ends_the_wait(tmp_path: Path) -> None:
    events = Events(str(tmp_path / "events.db"))
    started = time.monotonic()

    with pytest.raises(TimeoutError, match="page 1 of q"):
        list(events.pages_of("q", timeout_seconds=0))

    assert time.monotonic() - started < 5


PROGRAMS = [
    ["first_sync/customers.py"],
    ["first_sync/invoice.py", "1042", "Blue Door Bakery"],
    ["first_sync/mistakes.py"],
    ["first_sync/payment.py", "1042"],
    ["first_sync/receiver.py"],
    ["first_sync/update.py", "Blue Door Bakery", "555-0100"],
    ["events/consumer.py", "--once"],
    ["from_conductor/passthrough.py"],
    ["from_web_connector/queue_envelope.py", "document"],
]


def error_of(program: list[str], folder: Path, **variables: str) -> str:
    """Run an example that fails. Return its error, which has no traceback."""
    environment = {"PATH": os.environ["PATH"], **variables}
    command = [sys.executable, str(guide.ROOT / "examples" / program[0]), *program[1:]]
    process = subprocess.run(  # noqa: S603 - our own examples
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert process.returncode in {1, 2}
    assert "Traceback" not in process.stderr
    return process.stderr


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program[0])
def test_a_missing_variable_ends_a_program_with_the_command_that_sets_it(program: list[str], tmp_path: Path) -> None:
    assert "is not set. In the folder of the project, run: set -a; . .local/env; set +a" in error_of(program, tmp_path)


@pytest.mark.parametrize(
    "program", [["first_sync/invoice.py"], ["first_sync/payment.py"], ["from_web_connector/queue_envelope.py"]]
)
def test_a_missing_argument_ends_a_program_with_its_usage(program: list[str], tmp_path: Path) -> None:
    assert "usage: " in error_of(program, tmp_path)


def test_a_receiver_that_is_missing_or_whose_port_is_in_use_is_reported_with_the_remedy(tmp_path: Path) -> None:
    variables = {"BASE_URL": "http://127.0.0.1:9", "API_KEY": "k", "CONNECTION_ID": "c", "WEBHOOK_SECRET": SECRET}
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        in_use = error_of(["first_sync/receiver.py"], tmp_path, RECEIVER_URL=url, **variables)
    missing = error_of(["first_sync/customers.py"], tmp_path, RECEIVER_URL=url, **variables)

    assert "Choose another one, here and for customers.py: export RECEIVER_URL=" in in_use
    assert missing.startswith(f"Nothing receives webhooks at {url}")


@pytest.mark.parametrize(("total", "part"), [("20.00", "5.00"), ("100.10", "100.09")])
def test_a_payment_that_is_repeated_is_written_once_whatever_the_balance_is_then(
    run: Run, total: str, part: str
) -> None:
    """The first call writes a part of the balance, so that a repeated call finds another balance than the first."""
    api, number = api_of(run), f"R{total}"[:11]
    customer = find_or_add_customer(api, "Pays Once")
    line = {**a_line(api), "Rate": total}
    invoice = add_invoice(api, number, customer["ListID"], [line])

    first = receive_payment(api, invoice, part)
    changed = invoice_by_number(api, number)
    assert changed is not None
    again = receive_payment(api, changed, changed["BalanceRemaining"])

    assert changed["BalanceRemaining"] != invoice["BalanceRemaining"]
    assert again["TxnID"] == first["TxnID"]
    query = {"ReceivePaymentQueryRq": {"RefNumber": f"P-{number}"}}
    assert len(api.execute(query, str(uuid4()))["ReceivePaymentRet"]) == 1
