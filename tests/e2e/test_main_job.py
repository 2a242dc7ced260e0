"""The main job: a consumer queues a request, QuickBooks executes it, and a webhook delivers the response."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.e2e.support import QUERY, eventually

if TYPE_CHECKING:
    from tests.e2e.support import Service

BOTH = frozenset({"standard", "qube"})


def test_a_request_reaches_quickbooks_and_a_webhook_returns_the_response(service: Service) -> None:
    connection = service.connection()
    request = connection.queue({"request_json": QUERY, "webhook_url": service.webhook_url})

    result = connection.run_session()
    webhook = service.webhook_about(request["id"])

    assert (result.error, result.requests) == (None, 1)
    assert webhook.verified == BOTH
    assert webhook.body["type"] == "queued_request.completed"
    assert webhook.body["state"] == "completed"
    assert webhook.body["id"] == request["id"]
    customers = webhook.body["response_json"][0]["QBXMLMsgsRs"]["CustomerQueryRs"]
    assert customers["@statusCode"] == 0
    assert len(customers["CustomerRet"]) == 2
    record = eventually(lambda: connection.record(request["id"]), lambda record: record["webhook_state"] == "succeeded")
    assert record["state"] == "response_received"
    assert record["response_json"] == webhook.body["response_json"]
    assert len(record["webhook_attempts"]) == 1


def test_a_request_that_quickbooks_refuses_ends_as_an_error_with_its_status(service: Service) -> None:
    connection = service.connection()
    line = {"name": "SalesOrderLineAdd", "children": [{"name": "Quantity", "text": "1"}]}
    order = {"name": "SalesOrderAdd", "children": [no_such_customer(), line]}
    request = {"name": "SalesOrderAddRq", "children": [order]}
    queued_request = connection.queue({"request_json": {"request": request}, "webhook_url": service.webhook_url})

    connection.run_session()
    webhook = service.webhook_about(queued_request["id"])

    assert webhook.verified == BOTH
    assert (webhook.body["type"], webhook.body["state"]) == ("queued_request.failed", "failed")
    assert webhook.body["error"]["code"] == "quickbooks_error"
    assert webhook.body["error"]["details"]["status_code"] == 3140


def no_such_customer() -> dict[str, Any]:
    return {"name": "CustomerRef", "children": [{"name": "FullName", "text": "Nobody of this name"}]}


def test_a_webhook_reports_a_discarded_request(service: Service) -> None:
    connection = service.connection()
    request = connection.queue({"request_json": QUERY, "webhook_url": service.webhook_url})

    response = service.call("POST", f"/api/v1/queued_requests/{request['id']}/discard")
    webhook = service.webhook_about(request["id"])

    assert (response.status, response.json["data"]["state"]) == (200, "discarded")
    assert webhook.body["type"] == "queued_request.discarded"


def test_a_webhook_can_be_sent_again_by_hand(service: Service) -> None:
    connection = service.connection()
    request = connection.queue({"request_json": QUERY, "webhook_url": service.webhook_url})
    connection.run_session()
    first = service.webhook_about(request["id"])
    eventually(lambda: connection.record(request["id"]), lambda record: record["webhook_state"] == "succeeded")

    response = service.call("POST", f"/api/v1/queued_requests/{request['id']}/redeliver")
    again = service.webhook_about(request["id"])

    assert response.status == 202
    assert again.id == first.id
    assert again.body["response_json"] == first.body["response_json"]


def test_an_iterated_query_gets_every_page_in_one_session(service: Service) -> None:
    connection = service.connection()
    path = f"{connection.path}/customers?iterate=true&max_returned=120&active=All&include[]=ListID"
    request = service.call("GET", path).json["data"]

    result = connection.run_session()

    pages = service.call("GET", f"{connection.path}/queued_requests?sort_direction=asc").json["data"]
    assert result.requests == len(pages) > 2
    assert [page["page"] for page in pages] == list(range(1, len(pages) + 1))
    assert pages[0]["id"] == request["id"]
    assert {page["state"] for page in pages} == {"response_received"}


def test_requests_are_executed_in_the_order_in_which_they_were_queued(service: Service) -> None:
    connection = service.connection()
    request_ids = [connection.queue({"request_json": QUERY})["id"] for _ in range(5)]

    connection.run_session()

    records = service.call("GET", f"{connection.path}/queued_requests?sort=updated_at&sort_direction=asc").json["data"]
    assert [record["id"] for record in records] == request_ids


def test_every_link_to_itself_leads_to_the_same_record(service: Service) -> None:
    connection = service.connection()
    by_post = connection.queue({"request_json": QUERY})
    by_query = service.call("GET", f"{connection.path}/customers?name=a").json["data"]
    connection.run_session()
    records = service.call("GET", f"{connection.path}/queued_requests").json["data"]

    by_id = {record["id"]: record for record in records}
    assert set(by_id) == {by_post["id"], by_query["id"]}
    for record in (by_post, by_query, *records):
        response = service.call("GET", record["links"]["self"])
        assert response.status == 200
        data = response.json["data"]
        assert data["id"] == record["id"]
        names = set(by_id[record["id"]]) & set(data) - {"links"}
        assert {name: data[name] for name in names} == {name: by_id[record["id"]][name] for name in names}
