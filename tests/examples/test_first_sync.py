"""The programs of the first sync keep the books correct after failures."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from invoice import add_invoice, find_or_add_customer, invoice_by_number
from qbxml_queue import Api, Failed, Rejected
from receiver import Events, is_valid
from update import change_customer

from tests.e2e.runs import Run, running

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


def test_a_change_that_meets_a_newer_version_reads_it_and_is_repeated(run: Run) -> None:
    api = api_of(run)
    stale = find_or_add_customer(api, "Stale Customer", str(uuid4()))
    newer = change_customer(api, stale, {"Phone": "555-0101"})

    changed = change_customer(api, stale, {"Email": "stale@customer.example"})

    assert newer["EditSequence"] != stale["EditSequence"]
    assert (changed["Phone"], changed["Email"]) == ("555-0101", "stale@customer.example")


def test_a_customer_is_added_once(run: Run) -> None:
    api = api_of(run)

    first = find_or_add_customer(api, "Added Once", str(uuid4()))
    again = find_or_add_customer(api, "Added Once", str(uuid4()))

    assert first["ListID"] == again["ListID"]


def test_a_mistake_is_rejected_with_its_problems_and_nothing_is_queued(run: Run) -> None:
    with pytest.raises(Rejected) as caught:
        api_of(run).execute({"CustomerAddRq": {"CustomerAdd": {"Nam": "X"}}}, str(uuid4()))

    assert (caught.value.status, caught.value.code) == (400, "invalid_request")
    assert caught.value.problems[0]["suggestion"] == "Did you mean Name?"


def test_an_invoice_with_an_unknown_outcome_is_looked_up_and_not_added_twice(tmp_path: Path) -> None:
    """QuickBooks adds the invoice and its response is unreadable; nothing is stored that could be asked for."""
    script = tmp_path / "script.json"
    step = {"name": "unreadable", "on": "process", "request": "InvoiceAddRq", "do": "unreadable"}
    script.write_text(json.dumps([step]), encoding="utf-8")
    with running(tmp_path, QUICKBOOKS_SCRIPT=str(script)) as run:
        api = api_of(run)
        customer = find_or_add_customer(api, "Unlucky", str(uuid4()))
        line = a_line(api)

        invoice = add_invoice(api, "777", customer["ListID"], [line])
        with pytest.raises(Failed) as caught:
            api.execute(the_same_invoice(customer, line), "invoice-777")

        assert caught.value.code == "outcome_unknown"
        assert invoice == invoice_by_number(api, "777")
        invoices = api.execute({"InvoiceQueryRq": {"RefNumber": "777"}}, str(uuid4()))["InvoiceRet"]
        assert len(invoices) == 1


def the_same_invoice(customer: dict[str, Any], line: dict[str, Any]) -> dict[str, Any]:
    """Return what add_invoice queues: with the same idempotency key it is the same request."""
    add = {"CustomerRef": {"ListID": customer["ListID"]}, "RefNumber": "777", "InvoiceLineAdd": [line]}
    return {"InvoiceAddRq": {"@requestID": "order-777", "InvoiceAdd": add}}


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
