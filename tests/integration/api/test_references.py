"""Requests of a batch depend on each other, and refer to values of each other's responses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.integration.api.test_batches import problems
from tests.support.builders import CONNECTION_ID, RESPONSE_XML
from tests.support.cases import for_each

if TYPE_CHECKING:
    from tests.integration.api.conftest import Deployment

CUSTOMER = {"ref": "c", "request_json": {"CustomerAddRq": {"CustomerAdd": {"Name": "Ada"}}}}
LIST_ID = {"$from": "c", "path": "CustomerRet/ListID"}


def invoice(customer: Any, **fields: Any) -> dict[str, Any]:
    """Return a request that adds an invoice for a customer with this ListID."""
    return {
        "request_json": {"InvoiceAddRq": {"InvoiceAdd": {"CustomerRef": {"ListID": customer}, "RefNumber": "W7"}}}
    } | fields


@pytest.fixture
def url(deployment: Deployment) -> str:
    """Return the URL of batches."""
    return f"{deployment.requests_url}/batch"


def test_the_example_of_the_contract_waits_for_the_customer(deployment: Deployment, url: str) -> None:
    response = deployment.api.call("POST", url, {"requests": [CUSTOMER, invoice(LIST_ID, ref="i")]})

    assert response.status == 201, response
    customer, waiting = response.json["data"]
    assert waiting["waiting_reason"]["code"] == "dependency"
    assert waiting["depends_on"] == [customer["id"]]
    assert customer["depends_on"] == []
    assert waiting["references"] == [
        {
            "place": "InvoiceAddRq/InvoiceAdd/CustomerRef/ListID",
            "request_id": customer["id"],
            "path": "CustomerRet/ListID",
            "value": None,
        }
    ]
    assert [record.id for record in deployment.store.queue_front(CONNECTION_ID, 10)] == [customer["id"]]
    found = deployment.api.call("GET", f"/api/v1/queued_requests/{waiting['id']}").json["data"]
    assert {**found, "links": None} == {**waiting, "links": None}


@pytest.mark.parametrize("form", ["short", "tree"])
def test_a_value_of_an_ended_request_is_resolved_when_the_batch_is_queued(
    deployment: Deployment, url: str, form: str
) -> None:
    ended = deployment.queue()["id"]
    deployment.end(ended)
    reference = {"$from": ended, "path": "CustomerRet[1]/ListID"}
    request = invoice(reference)
    if form == "tree":
        list_id = {"name": "ListID", "text": reference}
        children = [{"name": "CustomerRef", "children": [list_id]}]
        node = {"name": "InvoiceAddRq", "children": [{"name": "InvoiceAdd", "children": children}]}
        request = {"request_json": {"request": node}}

    response = deployment.api.call("POST", url, {"requests": [request]})

    assert response.status == 201, response
    (record,) = response.json["data"]
    assert "<ListID>80000001-1</ListID>" in record["request_xml"]
    assert record["references"][0]["value"] == "80000001-1"
    assert (record["depends_on"], record["waiting_reason"]["code"]) == ([], "never_connected")
    assert [entry.id for entry in deployment.store.queue_front(CONNECTION_ID, 10)] == [record["id"]]


def ended_query(deployment: Deployment, response_xml: str = RESPONSE_XML) -> str:
    """Return the id of a customer query that has ended."""
    request_id: str = deployment.queue()["id"]
    deployment.end(request_id, response_xml=response_xml)
    return request_id


WRITE_IT = 'Write {"$from": "c", "path": "CustomerRet/ListID"}.'
GIVE_A_REF = 'Give that request a ref, such as "ref": "customer", and write {"$from": "customer", …}.'
MANY = [{"request_json": {"CustomerQueryRq": {"FullName": "Ann"}}, "depends_on": ["c"]}] * 21


@for_each(
    ("batch", "index", "message"),
    [
        ([invoice(LIST_ID), CUSTOMER], 0, "comes later"),
        ([invoice({"$from": "i", "path": "InvoiceRet/TxnID"}, ref="i")], 0, "itself"),
        ([CUSTOMER, CUSTOMER], 1, "is used by request 0 too"),
        ([CUSTOMER, invoice({"$from": "x", "path": "CustomerRet/ListID"})], 1, "No request before it has the ref 'x'"),
        ([CUSTOMER, invoice({"$from": "c", "path": "CustomerRet/ListId"})], 1, "CustomerRet has no element ListId"),
        ([CUSTOMER, invoice({"$from": "c", "path": "CustomerRet[2]/ListID"})], 1, "occurs only once"),
        ([CUSTOMER, invoice({"$from": "c", "path": "CustomerRet"})], 1, "has no text"),
        ([CUSTOMER, invoice({"$from": "c", "path": "CustomerRet/ListID/X"})], 1, "has no elements"),
        ([CUSTOMER, invoice({"$from": "c", "path": "CustomerRet//ListID"})], 1, "is not a path"),
        ([CUSTOMER, invoice({"$from": "c"})], 1, "path of the reference is missing"),
        ([CUSTOMER, invoice({"$from": 5, "path": "x"})], 1, "must be the ref"),
        ([CUSTOMER, invoice({**LIST_ID, "x": 1})], 1, "no member 'x'"),
        (
            [
                CUSTOMER,
                {
                    "request_json": {
                        "InvoiceAddRq": {"@requestID": LIST_ID, "InvoiceAdd": {"CustomerRef": {"FullName": "A"}}}
                    }
                },
            ],
            1,
            "in place of a text",
        ),
        (
            [CUSTOMER, {"request_json": {"InvoiceAddRq": {"InvoiceAdd": {"CustomerRef": LIST_ID}}}}],
            1,
            "must contain elements",
        ),
        (
            [
                {"ref": "c", "request_json": {"CustomerQueryRq": {"@iterator": "Start", "MaxReturned": 5}}},
                invoice({"$from": "c", "path": "CustomerRet[1]/ListID"}),
            ],
            1,
            "iterated query",
        ),
        (
            [
                {"ref": "c", "request_json": {"CustomerQueryRq": {}}, "iterate": "auto"},
                {"request_json": {"HostQueryRq": {}}, "depends_on": ["c"]},
            ],
            1,
            "iterated query",
        ),
        (
            [{"ref": "c", "request_json": {"CustomerQueryRq": {}}}, invoice(LIST_ID)],
            1,
            "CustomerRet can repeat",
        ),
        ([CUSTOMER, *MANY], 0, "at most 20 may"),
        ([{**CUSTOMER, "ref": CONNECTION_ID}], 0, "must not have the form of an id"),
        ([invoice({"$from": CONNECTION_ID, "path": "CustomerRet/ListID"})], 0, "This connection has no request"),
    ],
)
def test_a_wrong_reference_is_refused_with_its_index(
    deployment: Deployment, url: str, batch: list[Any], index: int, message: str
) -> None:
    response = deployment.api.call("POST", url, {"requests": batch})

    assert {found for found, _ in problems(response)} == {index}
    assert message in response.json["error"]["message"], response
    assert deployment.store.queue_front(CONNECTION_ID, 10) == []


@for_each(
    ("reference", "suggestion"),
    [
        ({"$from": "c", "path": "CustomerRet.ListID"}, "Write CustomerRet/ListID."),
        ({"$from": "c", "path": "$.CustomerRet.ListID"}, WRITE_IT),
        ({"$from": "c", "path": "/CustomerRet/ListID"}, WRITE_IT),
        ({"$from": "c", "path": "CustomerRet\\ListID"}, WRITE_IT),
        ({"$from": "c", "path": ["CustomerRet", "ListID"]}, WRITE_IT),
        ({"$from": "c", "path": "ListID"}, "Write CustomerRet/ListID."),
        ({"$from": "c", "path": "CustomerAddRs/CustomerRet/ListID"}, "Write CustomerRet/ListID."),
        ({"$from": "c", "path": "customer_ret/list_id"}, "Write CustomerRet/ListID."),
        ({"$from": "c", "path": "CustomerRet[0]/ListID"}, WRITE_IT.replace("Ret/", "Ret[1]/")),
        ({"$from": "c", "path": "CustomerRet/0/ListID"}, WRITE_IT.replace("Ret/", "Ret[1]/")),
        ({"from": "c", "path": "CustomerRet/ListID"}, WRITE_IT),
        ({"$ref": "c", "path": "CustomerRet/ListID"}, WRITE_IT),
        ({"$From": "c", "path": "CustomerRet/ListID"}, WRITE_IT),
        ({"$from": "c.CustomerRet.ListID"}, WRITE_IT),
        ({"$from": "c"}, WRITE_IT.replace("}.", "}, for example.")),
        ({"$from": "c", "path": 5}, WRITE_IT.replace("}.", "}, for example.")),
        ({"$from": "c", "path": "x" * 10_000}, WRITE_IT.replace("}.", "}, for example.")),
        ({"path": "CustomerRet/ListID"}, GIVE_A_REF),
        ({"$from": 0, "path": "CustomerRet/ListID"}, GIVE_A_REF),
        ({"$from": "C", "path": "CustomerRet/ListID"}, "Did you mean c?"),
        ({"$from": "0", "path": "CustomerRet/ListID"}, "It can name c."),
        (
            {"$from": "c", "path": "CustomerRet/TxnID"},
            "It has ListID, TimeCreated, TimeModified, EditSequence, Name, FullName, ….",
        ),
    ],
)
def test_a_reference_in_another_form_is_corrected(
    deployment: Deployment, url: str, reference: Any, suggestion: str
) -> None:
    response = deployment.api.call("POST", url, {"requests": [CUSTOMER, invoice(reference)]})

    assert response.status == 400
    assert response.problem["suggestion"] == suggestion


def test_a_dependency_is_named_by_its_ref(deployment: Deployment, url: str) -> None:
    unnamed: dict[str, Any] = {"request_json": {"CustomerQueryRq": {}}}

    by_position = deployment.api.call("POST", url, {"requests": [unnamed, {**unnamed, "depends_on": ["0"]}]})
    by_name = deployment.api.call("POST", url, {"requests": [unnamed, {**unnamed, "depends_on": ["first"]}]})

    named = "Requests are named by their refs, not by their positions: give request 0 a ref."
    assert by_position.problem["suggestion"] == named
    assert by_name.problem["suggestion"] == 'Give the other request a ref: "ref": "first".'


def test_a_request_outside_the_batch_must_have_ended_with_a_response_of_this_app(
    deployment: Deployment, url: str
) -> None:
    waiting = deployment.queue()["id"]
    body = {"requests": [{"request_json": {"HostQueryRq": {}}, "depends_on": [waiting]}]}

    response = deployment.api.call("POST", url, body)

    assert problems(response) == [(0, "depends_on")]
    assert "is waiting" in response.json["error"]["message"]


def test_a_value_of_an_ended_request_that_is_missing_or_does_not_fit_is_refused(
    deployment: Deployment, url: str
) -> None:
    ended = ended_query(deployment, RESPONSE_XML.replace("80000001-1", "8" * 40))
    for path, message in (("CustomerRet[2]/ListID", "has no value at"), ("CustomerRet[1]/ListID", "does not fit")):
        response = deployment.api.call("POST", url, {"requests": [invoice({"$from": ended, "path": path})]})

        assert problems(response) == [(0, "request_json")]
        assert message in response.json["error"]["message"]


class TestHasDependants:
    """Requests that others wait for."""

    @pytest.fixture
    def ids(self, deployment: Deployment, url: str) -> list[str]:
        """Queue a customer, an invoice that waits for it, and a query that waits for the invoice."""
        last = {"request_json": {"HostQueryRq": {}}, "depends_on": ["i"]}
        response = deployment.api.call("POST", url, {"requests": [CUSTOMER, invoice(LIST_ID, ref="i"), last]})
        assert response.status == 201, response
        return [record["id"] for record in response.json["data"]]

    @pytest.mark.parametrize(("method", "suffix"), [("POST", "/discard?"), ("DELETE", "?force=true&")])
    def test_it_cannot_be_discarded_or_deleted_without_them(
        self, deployment: Deployment, ids: list[str], method: str, suffix: str
    ) -> None:
        path = f"/api/v1/queued_requests/{ids[0]}{suffix}"

        refused = deployment.api.call(method, path)

        assert (refused.status, refused.json["error"]["code"]) == (409, "has_dependants")
        assert refused.json["error"]["details"] == {"dependants": [ids[1]]}

        assert deployment.api.call(method, f"{path}dependants=true").status in {200, 204}
        ends = [deployment.stored_record(request_id) for request_id in ids[1:]]
        code = "deleted" if method == "DELETE" else "discarded"
        assert [end.error and end.error.code for end in ends] == ["dependency_failed"] * 2
        details = [
            (end.error.details["dependency_id"], end.error.details["dependency_code"]) for end in ends if end.error
        ]
        assert details == [(ids[0], code), (ids[1], "dependency_failed")]
        assert deployment.store.queue_front(CONNECTION_ID, 10) == []

    def test_a_discard_of_many_leaves_it_and_its_dependants_cannot_be_queued_again(
        self, deployment: Deployment, ids: list[str]
    ) -> None:
        which = {"filter": {"to": "2030-01-01T00:00:00Z"}}
        deployment.clock.advance(minutes=5)
        response = deployment.api.call("POST", f"{deployment.requests_url}/discard", which)
        assert response.status == 200, response

        states = [deployment.stored_record(request_id).state.value for request_id in ids]
        assert states == ["waiting", "waiting", "discarded"]
        deployment.api.call("POST", f"/api/v1/queued_requests/{ids[0]}/discard?dependants=true")
        again = deployment.api.call("POST", f"{deployment.requests_url}/queue_again", which)
        assert again.json["data"]["queued"] == 1, again

    def test_a_dependant_can_be_discarded(self, deployment: Deployment, ids: list[str]) -> None:
        deployment.api.call("POST", f"/api/v1/queued_requests/{ids[2]}/discard")
        deployment.api.call("POST", f"/api/v1/queued_requests/{ids[1]}/discard")

        assert deployment.api.call("POST", f"/api/v1/queued_requests/{ids[0]}/discard").status == 200
