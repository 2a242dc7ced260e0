from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from qbxml_queue import OutcomeUnknown, QuickBooksError, ReadOnlyKey, Reference, RequestFailed, StillWaiting
from service import CONNECTION

if TYPE_CHECKING:
    from service import Service


def customer(name: str) -> dict[str, Any]:
    return {"CustomerAddRq": {"CustomerAdd": {"Name": name}}}


def named(record: dict[str, Any]) -> dict[str, Any]:
    return {"result": {"CustomerRet": {"Name": record["request_json"]["CustomerAddRq"]["CustomerAdd"]["Name"]}}}


def test_a_batch_is_queued_in_one_call_and_each_entry_has_its_result(client: Any, service: Service) -> None:
    service.outcome = named
    batch = client.batch("order-7")
    ada = batch.add(customer("Ada"), label="first", version="14.0")
    bob = batch.add(customer("Bob"), webhook_url=None)

    batch.execute()

    assert [ada.result, bob.result] == [{"CustomerRet": {"Name": "Ada"}}, {"CustomerRet": {"Name": "Bob"}}]
    [call] = [call for call in service.calls if call.method == "POST"]
    assert call.headers["Idempotency-Key"] == "order-7"
    assert json.loads(call.content) == {
        "requests": [
            {"request_json": {"version": "14.0", **customer("Ada")}, "label": "first"},
            {"request_json": customer("Bob"), "webhook_url": None},
        ]
    }


def test_references_and_dependencies_name_the_requests_that_they_need(client: Any, service: Service) -> None:
    batch = client.batch()
    ada = batch.add(customer("Ada"))
    bob = batch.add(customer("Bob"))
    invoice = {
        "CustomerRef": {"ListID": ada.ref("CustomerRet/ListID")},
        "ARAccountRef": {"ListID": Reference("id", "x")},
    }
    batch.add({"InvoiceAddRq": {"InvoiceAdd": invoice}}, depends_on=[bob])

    batch.queue()

    requests = json.loads(service.calls[-1].content)["requests"]
    assert [request.get("ref") for request in requests] == ["request-1:key-1", "request-2:key-1", None]
    assert requests[2] == {
        "request_json": {
            "InvoiceAddRq": {
                "InvoiceAdd": {
                    "CustomerRef": {"ListID": {"$from": "request-1:key-1", "path": "CustomerRet/ListID"}},
                    "ARAccountRef": {"ListID": {"$from": "id", "path": "x"}},
                }
            }
        },
        "depends_on": ["request-2:key-1"],
    }


def sources(service: Service) -> list[Any]:
    """Return the names in the last batch, then what its invoice for a customer refers to and depends on."""
    requests = json.loads(service.calls[-1].content)["requests"]
    invoice = requests[-1]["request_json"]["InvoiceAddRq"]["InvoiceAdd"]
    names = [request["ref"] for request in requests if "ref" in request]
    return [names, invoice["CustomerRef"]["ListID"]["$from"], requests[-1]["depends_on"]]


def add_invoice(batch: Any, entry: Any) -> Any:
    ref = {"ListID": entry.ref("CustomerRet/ListID")}
    return batch.add({"InvoiceAddRq": {"InvoiceAdd": {"CustomerRef": ref}}}, depends_on=[entry])


def test_a_reference_to_an_entry_of_a_queued_batch_is_to_its_id(client: Any, service: Service) -> None:
    first, second = client.batch(), client.batch()
    alice = first.add(customer("Alice"))
    first.queue()
    second.add(customer("Bob"))
    add_invoice(second, alice)

    second.queue()

    assert sources(service) == [[], alice.record["id"], [alice.record["id"]]]


@pytest.mark.parametrize("key", [None, "the same key"])
def test_an_entry_of_a_batch_that_is_not_queued_is_refused_in_another(
    client: Any, service: Service, key: str | None
) -> None:
    first, second = client.batch(key), client.batch(key)
    alice = first.add(customer("Alice"))
    second.add(customer("Bob"))

    with pytest.raises(ValueError, match="another batch, which is not queued"):
        add_invoice(second, alice)
    with pytest.raises(ValueError, match="another batch, which is not queued"):
        second.add(customer("Cy"), depends_on=[alice])
    with pytest.raises(ValueError, match="another batch, which is not queued"):
        client.queue({"InvoiceAddRq": {"InvoiceAdd": {"CustomerRef": {"ListID": alice.ref("CustomerRet/ListID")}}}})

    second.queue()
    assert len(service.records) == 1


@pytest.mark.parametrize("key", ["o", "order-1042", "k" * 255])
def test_names_have_the_key_so_that_a_repeated_batch_is_the_same_and_others_differ(
    client: Any, service: Service, key: str
) -> None:
    found = []
    for batch_key in (key, f"{key}-2", key):
        batch = client.batch(batch_key)
        for number in range(24):
            last = batch.add(customer(f"{number}"))
        add_invoice(batch, last)
        batch.queue()
        found.append(sources(service))

    assert found[0] == found[2]
    assert found[0][1] != found[1][1]
    assert all(len(name) <= 50 for names, *_ in found for name in names)


def test_a_queued_batch_takes_no_more_requests(client: Any) -> None:
    batch = client.batch()
    batch.add(customer("Ada"))
    batch.queue()

    with pytest.raises(RuntimeError, match="Add the request to another batch"):
        batch.add(customer("Bob"))


@pytest.mark.parametrize("fault", [429, 503, httpx.ReadError("lost")])
def test_a_batch_is_repeated_with_the_same_key_and_queued_once(
    client: Any, service: Service, fault: int | Exception
) -> None:
    service.faults = [None, fault]
    batch = client.batch()
    batch.add(customer("Ada"))

    batch.execute()

    assert list(service.batches) == ["key-1"]
    assert len(service.records) == 1


def test_the_first_failure_is_raised_and_the_other_results_are_kept(client: Any, service: Service) -> None:
    errors = {"Bob": "quickbooks_error", "Cy": "outcome_unknown"}

    def outcome(record: dict[str, Any]) -> dict[str, Any]:
        found = named(record)
        code = errors.get(found["result"]["CustomerRet"]["Name"])
        return {"state": "error", "error": {"code": code, "message": "No.", "details": {}}} if code else found

    service.outcome = outcome
    batch = client.batch()
    ada, bob, cy = [batch.add(customer(name)) for name in ("Ada", "Bob", "Cy")]

    with pytest.raises(QuickBooksError):
        batch.execute()

    assert ada.result["CustomerRet"]["Name"] == "Ada"
    for entry, kind in ((bob, QuickBooksError), (cy, OutcomeUnknown)):
        with pytest.raises(kind):
            _ = entry.result


def test_the_timeout_is_that_of_the_whole_batch(client: Any, service: Service, time: Any) -> None:
    service.polls = 1000
    batch = client.batch()
    for name in ("Ada", "Bob"):
        batch.add(customer(name))

    with pytest.raises(StillWaiting):
        batch.execute(timeout=20)

    assert 20 <= time.now < 21


def test_an_entry_has_no_result_before_its_batch_is_executed(client: Any) -> None:
    entry = client.batch().add(customer("Ada"))

    with pytest.raises(RuntimeError, match="has not been queued"):
        _ = entry.result


def test_a_read_only_key_queues_no_batch(client: Any, service: Service) -> None:
    service.scope = "read_only"

    with pytest.raises(ReadOnlyKey):
        client.batch().execute()

    assert service.paths == ["GET api_key"]


def test_a_queued_batch_that_has_not_ended_has_records_and_no_results(client: Any) -> None:
    batch = client.batch()
    entry = batch.add(customer("Ada"))

    batch.queue()

    assert entry.record["state"] == "waiting"
    with pytest.raises(RequestFailed):
        _ = entry.result


def test_a_batch_is_continued_with_a_correction_and_the_call_is_repeated(client: Any, service: Service) -> None:
    service.faults = [None, 503]

    [record] = client.continue_batch(
        "b-1", customer("Ada"), request_id="a-1", force=True, version="14.0", label="again"
    )

    first, call = [call for call in service.calls if call.method == "POST"]
    assert first.content == call.content
    assert call.url.path.endswith("/batches/b-1/continue")
    assert dict(call.url.params) == {"force": "true"}
    assert json.loads(call.content) == {
        "request_json": {"version": "14.0", **customer("Ada")},
        "request_id": "a-1",
        "label": "again",
    }
    assert record["state"] == "waiting"


def test_a_batch_is_continued_without_a_correction(client: Any, service: Service) -> None:
    client.continue_batch("b-1")

    assert json.loads(service.calls[-1].content) == {}


def test_an_addition_can_look_for_its_object_first(client: Any, service: Service) -> None:
    client.queue(customer("Ada"), if_exists="return")
    alone = json.loads(service.calls[-1].content)
    batch = client.batch()
    batch.add(customer("Ada"), if_exists="return")
    batch.queue()

    assert alone == {"request_json": customer("Ada"), "if_exists": "return"}
    assert json.loads(service.calls[-1].content) == {"requests": [alone]}


def test_a_backfill_is_queued_with_low_priority_and_never_in_pages(client: Any, service: Service) -> None:
    client.execute({"CustomerQueryRq": {}}, priority="low")
    alone = json.loads(next(call for call in service.calls if call.method == "POST").content)
    batch = client.batch(priority="low")
    batch.add(customer("Ada"))
    batch.queue()

    assert alone == {"request_json": {"CustomerQueryRq": {}}, "priority": "low"}
    assert json.loads(service.calls[-1].content) == {"requests": [{"request_json": customer("Ada")}], "priority": "low"}


def test_a_request_replaces_another_one(client: Any, service: Service) -> None:
    client.queue(customer("Ada"), replaces="a-1", force=True)

    call = service.calls[-1]
    assert dict(call.url.params) == {"force": "true"}
    assert json.loads(call.content) == {"request_json": customer("Ada"), "replaces": "a-1"}


def test_a_write_is_settled_by_its_id_and_the_call_is_repeated_after_a_lost_answer(
    client: Any, service: Service
) -> None:
    record = client.queue(customer("Ada"))
    service.faults = [503]

    assert client.settle(record["id"]) == record

    assert service.paths[-2:] == ["POST settle", "POST settle"]
    assert service.calls[-1].url.path == f"/api/v1/queued_requests/{record['id']}/settle"


def test_writes_ask_for_approval_alone_in_a_batch_and_as_a_batch(client: Any, service: Service) -> None:
    client.queue(customer("Ada"), approval="required")
    some, whole = client.batch(), client.batch(approval="required")
    some.add(customer("Ada"), approval="required")
    whole.add(customer("Ada"))
    some.queue()
    whole.queue()
    client.continue_batch("b-1", approval="required")

    asking = {"request_json": customer("Ada"), "approval": "required"}
    assert [json.loads(call.content) for call in service.calls if call.method == "POST"] == [
        asking,
        {"requests": [asking]},
        {"requests": [{"request_json": customer("Ada")}], "approval": "required"},
        {"approval": "required"},
    ]


@pytest.mark.parametrize(
    ("method", "arguments", "options", "path", "body"),
    [
        ("approve", ["{id}", 3], {}, "/queued_requests/{id}/approve", {"revision": 3}),
        (
            "approve",
            ["{id}", 3],
            {"accept_values": True},
            "/queued_requests/{id}/approve",
            {"revision": 3, "accept_values": True},
        ),
        ("reject", ["{id}", "No."], {}, "/queued_requests/{id}/reject", {"reason": "No."}),
        (
            "approve_all",
            [{"a-1": 1, "a-2": 2}],
            {},
            "{connection}/queued_requests/approve",
            {"requests": [{"id": "a-1", "revision": 1}, {"id": "a-2", "revision": 2}]},
        ),
        ("reject_all", [["a-1"], "No."], {}, "{connection}/queued_requests/reject", {"reason": "No.", "ids": ["a-1"]}),
        (
            "approve_batch",
            ["b-1", {"a-1": 1}],
            {},
            "{connection}/batches/b-1/approve",
            {"requests": [{"id": "a-1", "revision": 1}]},
        ),
        ("reject_batch", ["b-1", "No."], {}, "{connection}/batches/b-1/reject", {"reason": "No."}),
    ],
)
def test_a_decision_is_one_call_and_is_repeated_after_a_lost_answer(
    client: Any, service: Service, *, method: str, arguments: list[Any], options: Any, path: str, body: Any
) -> None:
    record = client.queue(customer("Ada"))
    service.faults = [503]

    answer = getattr(client, method)(*(record["id"] if one == "{id}" else one for one in arguments), **options)

    first, call = service.calls[-2:]
    connection = f"/connections/{CONNECTION}"
    assert call.url.path == "/api/v1" + path.format(id=record["id"], connection=connection)
    assert first.content == call.content
    assert json.loads(call.content) == body
    assert answer == record if "id" in answer else answer["decided"] == len(body.get("ids", body.get("requests", ())))


@pytest.mark.parametrize("method", ["reject", "reject_all", "reject_batch"])
def test_a_rejection_ends_what_waits_for_the_write_only_when_told(client: Any, service: Service, method: str) -> None:
    record = client.queue(customer("Ada"))
    which = [record["id"]] if method == "reject_all" else record["id"]
    reject = getattr(client, method)
    reject(which, "No.")
    reject(which, "No.", dependants=True)

    assert [dict(call.url.params) for call in service.calls[-2:]] == [{}, {"dependants": "true"}]


@pytest.mark.parametrize("method", ["approve", "reject"])
def test_a_read_only_key_decides_about_nothing(client: Any, service: Service, method: str) -> None:
    service.scope = "read_only"

    with pytest.raises(ReadOnlyKey):
        getattr(client, method)("a-1", 1 if method == "approve" else "No.")

    assert service.paths == ["GET api_key"]
