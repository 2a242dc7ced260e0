"""A batch whose requests refer to each other's responses, from the call to the webhooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.e2e.support import eventually

if TYPE_CHECKING:
    from tests.e2e.support import Connection, Service

CUSTOMER = {"CustomerRef": {"ListID": {"$from": "c", "path": "CustomerRet/ListID"}}}
DUE = {"$from": "i", "path": "InvoiceRet/BalanceRemaining"}


def queue(service: Service, connection: Connection, *requests: dict[str, Any]) -> list[dict[str, Any]]:
    """Queue a batch with webhooks, and return its records."""
    batch = [request | {"webhook_url": service.webhook_url} for request in requests]
    response = service.call("POST", f"{connection.path}/queued_requests/batch", {"requests": batch})
    assert response.status == 201, response.text
    records: list[dict[str, Any]] = response.json["data"]
    return records


def sale(connection: Connection, name: str) -> list[dict[str, Any]]:
    """Return a customer, its invoice and the payment."""
    item, *_ = connection.company.books["ItemInventory"]
    line = {"ItemRef": {"FullName": item.fields["Name"]}, "Quantity": 2, "Rate": "12.50"}
    applied = {"TxnID": {"$from": "i", "path": "InvoiceRet/TxnID"}, "PaymentAmount": DUE}
    invoice = {**CUSTOMER, "RefNumber": "W7", "InvoiceLineAdd": line}
    payment = {**CUSTOMER, "TotalAmount": DUE, "AppliedToTxnAdd": applied}
    return [
        {"ref": "c", "request_json": {"CustomerAddRq": {"CustomerAdd": {"Name": name}}}},
        {"ref": "i", "request_json": {"InvoiceAddRq": {"InvoiceAdd": invoice}}},
        {"request_json": {"ReceivePaymentAddRq": {"ReceivePaymentAdd": payment}}},
    ]


def test_customer_invoice_and_payment_run_in_one_session(service: Service) -> None:
    connection = service.connection()
    records = queue(service, connection, *sale(connection, "Ada"))
    assert [record["waiting_reason"]["code"] == "dependency" for record in records] == [False, True, True]

    result = connection.run_session()

    assert (result.error, result.requests) == (None, 3)
    last = eventually(lambda: connection.record(records[2]["id"]), lambda record: record["state"] != "waiting")
    assert last["state"] == "response_received"
    amount = {reference["value"] for reference in last["references"] if reference["path"].endswith("Remaining")}
    assert last["response_json"][0]["QBXMLMsgsRs"]["ReceivePaymentAddRs"]["ReceivePaymentRet"]["TotalAmount"] in amount


def test_if_quickbooks_refuses_the_customer_each_dependant_has_its_webhook(service: Service) -> None:
    connection = service.connection()
    existing, *_ = connection.company.books["Customer"]
    records = queue(service, connection, *sale(connection, existing.fields["Name"]))

    result = connection.run_session()

    assert result.requests == 1
    ended = [ended_record(connection, record["id"]) for record in records]
    assert [record["error"]["code"] for record in ended] == ["quickbooks_error", *["dependency_failed"] * 2]


def ended_record(connection: Connection, request_id: str) -> dict[str, Any]:
    """Return a record after its webhook was delivered."""
    record: dict[str, Any] = eventually(
        lambda: connection.record(request_id), lambda record: bool(record["webhook_state"] == "succeeded")
    )
    return record
