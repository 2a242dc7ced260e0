from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from qbxml_queue import (
    ApiError,
    AsyncClient,
    Client,
    DependencyFailed,
    Discarded,
    OutcomeUnknown,
    QbxmlQueueError,
    QuickBooksError,
    ReadOnlyKey,
    RequestFailed,
    ResultUnavailable,
    StaleEditSequence,
    StillWaiting,
)
from qbxml_queue.protocol import MAX_ATTEMPTS
from qbxml_queue.schema.version import VERSION
from service import API_KEY, BASE_URL, CONNECTION

if TYPE_CHECKING:
    from conftest import Time
    from service import Service

ADD = {"CustomerAddRq": {"CustomerAdd": {"Name": "Ada"}}}
QUERY = {"CustomerQueryRq": {"MaxReturned": 5}}
QUEUE = "POST queued_requests"


def ends_with(**ended: Any) -> Any:
    return lambda _record: ended


def error(code: str, **details: Any) -> dict[str, Any]:
    return {"state": "error", "error": {"code": code, "message": "No.", "details": details}}


def test_every_call_names_the_client_and_its_version(client: Any, service: Service) -> None:
    client.execute(QUERY)

    assert {call.headers["User-Agent"] for call in service.calls} == {f"qbxml-queue-python/{VERSION}"}
    assert re.fullmatch(r"\d+\.\d+\.\d+", VERSION)


def test_execute_queues_polls_and_returns_the_result_with_pythons_types(client: Any, service: Service) -> None:
    customer = {
        "ListID": "80000001-1",
        "TimeModified": "2026-03-14T08:00:00-05:00",
        "Balance": "97.50",
        "Sublevel": "0",
        "IsActive": True,
        "JobStartDate": "2026-01-31",
        "Phone": "12",
    }
    service.polls = 3
    service.outcome = ends_with(result={"CustomerRet": [customer]})

    result = client.execute(QUERY)

    assert result["CustomerRet"] == [
        {
            "ListID": "80000001-1",
            "TimeModified": datetime(2026, 3, 14, 8, tzinfo=timezone(timedelta(hours=-5))),
            "Balance": Decimal("97.50"),
            "Sublevel": 0,
            "IsActive": True,
            "JobStartDate": date(2026, 1, 31),
            "Phone": "12",
        }
    ]
    assert str(result["CustomerRet"][0]["Balance"]) == "97.50"
    assert service.paths[:2] == ["GET api_key", QUEUE]
    assert len(service.paths) == 5


def test_a_result_without_objects_has_an_empty_list(client: Any) -> None:
    assert client.execute(QUERY) == {"CustomerRet": []}
    assert client.execute({"ItemQueryRq": {}})["ItemServiceRet"] == []


def test_a_value_without_the_form_of_its_type_stays_a_text(client: Any, service: Service) -> None:
    service.outcome = ends_with(result={"CustomerRet": [{"Balance": "", "JobStartDate": "soon", "New": "1.5"}]})

    assert client.execute(QUERY)["CustomerRet"] == [{"Balance": "", "JobStartDate": "soon", "New": "1.5"}]


def test_values_are_written_as_qbxml_expects_them(client: Any, service: Service) -> None:
    values = {
        "Amount": Decimal("1E+2"),
        "Quantity": 2,
        "TxnDate": date(2026, 1, 31),
        "TimeModified": datetime(2026, 1, 31, 13, 30, 5, 999, tzinfo=UTC),
        "Duration": timedelta(hours=8, minutes=30),
        "IsPaid": True,
        "Lines": [{"Rate": "4.50"}],
    }

    client.queue({"InvoiceAddRq": values})

    [record] = service.records.values()
    assert record["request_json"]["InvoiceAddRq"] == {
        "Amount": "100",
        "Quantity": 2,
        "TxnDate": "2026-01-31",
        "TimeModified": "2026-01-31T13:30:05+00:00",
        "Duration": "PT8H30M0S",
        "IsPaid": True,
        "Lines": [{"Rate": "4.50"}],
    }


def test_an_amount_that_is_a_float_is_refused_before_the_call(client: Any, service: Service) -> None:
    with pytest.raises(TypeError, match=r"1\.1 is a float"):
        client.execute({"InvoiceAddRq": {"InvoiceAdd": {"InvoiceLineAdd": [{"Amount": 1.1}]}}})

    assert QUEUE not in service.paths


def test_every_create_has_an_idempotency_key(client: Any, service: Service) -> None:
    client.execute(ADD)
    client.execute(ADD)
    client.execute(ADD, idempotency_key="customer-1")
    client.execute(ADD, idempotency_key="customer-1")

    assert list(service.keys) == ["key-1", "key-2", "customer-1"]


def test_options_reach_the_service(client: Any, service: Service) -> None:
    client.queue(
        ADD, version="14.0", webhook_url=None, label="Ada", metadata={"order": "7"}, validate=False, transliterate=True
    )

    call = service.calls[-1]
    assert dict(call.url.params) == {"validate": "false", "transliterate": "true"}
    assert json.loads(call.content) == {
        "request_json": {"version": "14.0", **ADD},
        "webhook_url": None,
        "label": "Ada",
        "metadata": {"order": "7"},
    }


@pytest.mark.parametrize("fault", [429, 500, 503, httpx.ConnectError("refused"), httpx.ReadError("lost")])
def test_a_write_is_repeated_with_the_same_key_and_queued_once(
    client: Any, service: Service, time: Time, fault: int | Exception
) -> None:
    service.faults = [None, fault, fault]

    client.execute(ADD)

    assert service.paths.count(QUEUE) == 3
    assert list(service.keys) == ["key-1"]
    assert len(service.records) == 1
    assert time.pauses[:2] == [0.5, 1.0]


def test_retry_after_makes_a_pause_longer(client: Any, service: Service, time: Time) -> None:
    service.faults = [429]
    service.retry_after = "7"

    client.execute(QUERY)

    assert time.pauses[0] == 7


def test_a_call_that_may_have_been_executed_is_not_repeated_without_a_key(client: Any, service: Service) -> None:
    service.faults = [503]

    with pytest.raises(ApiError, match="503 unavailable"):
        client.call("POST", f"/api/v1/connections/{'1' * 8}/pause")

    assert len(service.calls) == 1


def test_a_call_that_was_not_executed_is_repeated_without_a_key(client: Any, service: Service) -> None:
    service.faults = [429, httpx.ConnectError("refused"), 503]

    with pytest.raises(ApiError, match="503 unavailable"):
        client.call("POST", f"/api/v1/connections/{'1' * 8}/pause")

    assert len(service.calls) == 3


def test_retries_end(client: Any, service: Service) -> None:
    service.faults = [503] * 100

    with pytest.raises(ApiError, match="503 unavailable"):
        client.execute(QUERY)

    assert len(service.calls) == MAX_ATTEMPTS


def test_a_lost_connection_is_raised_after_the_last_attempt(client: Any, service: Service) -> None:
    service.faults = [httpx.ReadError("lost") for _ in range(100)]

    with pytest.raises(httpx.ReadError):
        client.execute(QUERY)

    assert len(service.calls) == MAX_ATTEMPTS


def test_a_refused_call_is_not_repeated_and_says_what_is_wrong(client: Any, service: Service) -> None:
    service.faults = [400]

    with pytest.raises(ApiError) as caught:
        client.execute(QUERY)

    assert (caught.value.status, len(service.calls)) == (400, 1)


def test_a_read_only_key_fails_before_anything_is_queued(client: Any, service: Service) -> None:
    service.scope = "read_only"

    for _ in range(2):
        with pytest.raises(ReadOnlyKey):
            client.execute(ADD)

    assert service.paths == ["GET api_key"]


def test_the_scope_of_the_key_is_asked_once(client: Any, service: Service) -> None:
    client.execute(ADD)
    client.execute(QUERY)

    assert service.paths.count("GET api_key") == 1


@pytest.mark.parametrize(
    ("ended", "kind"),
    [
        (error("quickbooks_error", status_code=3100, reason="name_in_use"), QuickBooksError),
        (error("quickbooks_error", status_code=3200), StaleEditSequence),
        (error("outcome_unknown"), OutcomeUnknown),
        (error("dependency_failed"), DependencyFailed),
        (error("quickbooks_connection_error", hint="Open it."), RequestFailed),
        ({"state": "discarded"}, Discarded),
        ({"result": None}, ResultUnavailable),
    ],
)
def test_a_request_that_failed_raises_the_error_of_its_code(
    client: Any, service: Service, ended: dict[str, Any], kind: type[RequestFailed]
) -> None:
    service.outcome = ends_with(**ended)

    with pytest.raises(RequestFailed) as caught:
        client.execute(ADD)

    details = (ended.get("error") or {}).get("details", {})
    assert type(caught.value) is kind
    assert (caught.value.status_code, caught.value.reason) == (details.get("status_code"), details.get("reason"))
    assert caught.value.record["request_name"] == "CustomerAddRq"


def test_a_request_that_still_waits_is_not_lost(client: Any, service: Service, time: Time) -> None:
    service.polls = 1000
    with pytest.raises(StillWaiting, match=r"is still waiting\. Waits for the next session\.") as caught:
        client.execute(ADD, timeout=60)
    service.left[caught.value.record["id"]] = 1

    record = client.wait(caught.value.record["id"])

    assert 60 <= time.now < 61
    assert record["state"] == "response_received"
    assert len(service.records) == 1
    assert max(time.pauses) <= 10


def numbered(record: dict[str, Any]) -> dict[str, Any]:
    return {"result": {"CustomerRet": [{"ListID": str(record["page"])}]}}


@pytest.mark.parametrize("pages", [1, 2, 99, 100, 101, 250])
def test_iterate_yields_every_page_once_and_in_order(client: Any, service: Service, pages: int) -> None:
    service.pages = pages
    service.outcome = numbered

    results = list(client.iterate({"CustomerQueryRq": {"ActiveStatus": "All"}}, page_size=7))

    assert [result["CustomerRet"][0]["ListID"] for result in results] == [str(page + 1) for page in range(pages)]
    assert json.loads(next(call for call in service.calls if call.method == "POST").content)["request_json"] == {
        "CustomerQueryRq": {"@iterator": "Start", "MaxReturned": 7, "ActiveStatus": "All"}
    }


def test_nothing_is_queued_before_the_first_page_is_wanted(client: Any, service: Service) -> None:
    client.iterate(QUERY)

    assert service.calls == []


def test_a_page_that_fails_raises_its_error_after_the_pages_before_it(client: Any, service: Service) -> None:
    service.pages = 3
    service.outcome = lambda record: numbered(record) if record["page"] < 3 else error("iteration_interrupted")
    pages = client.iterate(QUERY)
    before = [next(pages)["CustomerRet"][0]["ListID"] for _ in range(2)]

    with pytest.raises(RequestFailed, match="iteration_interrupted"):
        next(pages)

    assert before == ["1", "2"]


def test_a_page_that_is_not_created_in_time_ends_the_wait(client: Any, service: Service, time: Time) -> None:
    service.pages = 2
    pages = client.iterate(QUERY, timeout=30)
    next(pages)
    service.records = {name: record for name, record in service.records.items() if record["page"] == 1}

    with pytest.raises(StillWaiting):
        next(pages)

    assert 30 <= time.now < 32


def test_calls_that_the_service_holds_are_made_without_pauses(client: Any, service: Service, time: Time) -> None:
    def hold(seconds: float) -> None:
        time.now += seconds

    service.hold = hold
    service.polls = 4

    client.execute(ADD)

    waits = [call.url.params.get("wait") for call in service.calls if call.method == "GET"]
    assert waits == [None, "2", "20", "20", "20"]
    assert {call.url.params["wait_for"] for call in service.calls if "wait" in call.url.params} == {"page"}
    assert time.pauses == []


@pytest.mark.parametrize("timeout", [0.5, 1, 19.9, 20, 20.5, 47])
def test_a_call_is_not_held_for_longer_than_the_timeout(
    client: Any, service: Service, time: Time, timeout: float
) -> None:
    def hold(seconds: float) -> None:
        time.now += seconds

    service.hold = hold
    service.polls = 1000

    with pytest.raises(StillWaiting):
        client.execute(ADD, timeout=timeout)

    assert time.now == pytest.approx(timeout)


@pytest.mark.parametrize("value", [None, ""])
@pytest.mark.parametrize("missing", ["BASE_URL", "API_KEY", "CONNECTION_ID"])
@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_a_missing_variable_is_named(
    kind: type[Client | AsyncClient], missing: str, value: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("BASE_URL", "API_KEY", "CONNECTION_ID"):
        monkeypatch.setenv(name, "https://queue.example")
    if value is None:
        monkeypatch.delenv(missing)
    else:
        monkeypatch.setenv(missing, value)

    with pytest.raises(QbxmlQueueError, match=f"^{missing} is not set"):
        kind.from_environment()


HOSTILE = (
    *(
        "",
        ".",
        "..",
        "../events",
        "a/b",
        "/",
        "a?b=1",
        "a#b",
        "a\\b",
        "%2e%2e",
        "a%2fb",
        "a b",
        "a\n",
        "é",
        "@evil.example",
    ),
    *("//evil.example", "https://evil.example/", "connections\x00", "\ud800", "a:b"),
)


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_leaves_its_part_of_a_path(client: Any, service: Service, text: str) -> None:
    for make in (Client, AsyncClient):
        with pytest.raises(ValueError, match="is not an id"):
            make(BASE_URL, API_KEY, text)
    for read in (client.record, client.wait):
        with pytest.raises(ValueError, match="is not an id"):
            read(text)
    for path in (text, f"/api/v1/queued_requests/../{text}", f"/api/v1/contact?{text}", f"@evil.example/{text}"):
        with pytest.raises(ValueError, match="is not a path"):
            client.call("GET", path)
    assert service.calls == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_an_error_and_is_not_followed(status: int) -> None:
    calls: list[str] = []

    def redirect(request: httpx.Request) -> httpx.Response:
        calls.append(str(request.url))
        return httpx.Response(status, headers={"Location": "https://evil.example/"})

    with (
        Client(BASE_URL, API_KEY, CONNECTION, transport=httpx.MockTransport(redirect)) as client,
        pytest.raises(ApiError),
    ):
        client.call("POST", "/api/v1/contact", body={"name": "secret"}, idempotency_key="1")

    assert [httpx.URL(call).host for call in calls] == [httpx.URL(BASE_URL).host]


@pytest.mark.parametrize("method", ["execute", "iterate", "queue", "add"])
@pytest.mark.parametrize(
    ("option", "mend"),
    [
        ("idempotencyKey", "'idempotency_key'|It has"),
        ("idempotency_keys", "'idempotency_key'|It has"),
        ("labels", "'label'"),
        ("webhookUrl", "'webhook_url'"),
        ("colour", "It has .*webhook_url"),
    ],
)
def test_an_unknown_option_is_refused_with_the_nearest_name_and_nothing_is_queued(
    client: Any, service: Service, method: str, option: str, mend: str
) -> None:
    target = client.batch() if method == "add" else client

    with pytest.raises(TypeError, match=f"{method}.. does not have an option {option!r}.*({mend})"):
        getattr(target, method)(ADD if method != "iterate" else {"CustomerQueryRq": {}}, **{option: "order-7"})

    assert service.calls == []


@pytest.mark.parametrize(("method", "option"), [("queue", "timeout"), ("execute", "page_size"), ("iterate", "iterate")])
def test_an_option_of_another_method_is_refused(client: Any, service: Service, method: str, option: str) -> None:
    with pytest.raises(TypeError, match=f"does not have an option '{option}'"):
        getattr(client, method)({"CustomerQueryRq": {}}, **{option: 1})

    assert service.calls == []


@pytest.mark.parametrize(("value", "sent"), [(True, "true"), (False, "false"), ("no", "no"), (0, "0")])
def test_a_value_that_is_not_a_boolean_reaches_the_service_which_refuses_it(
    client: Any, service: Service, value: Any, sent: str
) -> None:
    client.queue(ADD, validate=value)

    assert service.calls[-1].url.params["validate"] == sent


def test_a_page_size_beside_max_returned_is_refused(client: Any, service: Service) -> None:
    with pytest.raises(TypeError, match="Give one of them"):
        list(client.iterate(QUERY, page_size=7))

    assert service.calls == []


@pytest.mark.parametrize("pages", [1, 2, 101])
def test_execute_returns_the_objects_of_all_pages(client: Any, service: Service, pages: int) -> None:
    service.pages = pages
    service.outcome = numbered

    result = client.execute({"CustomerQueryRq": {"ActiveStatus": "All"}})

    assert [found["ListID"] for found in result["CustomerRet"]] == [str(page + 1) for page in range(pages)]


@pytest.mark.parametrize(
    ("query", "options", "sent"),
    [
        ({"CustomerQueryRq": {"ActiveStatus": "All"}}, {}, "auto"),
        ({"CustomerQueryRq": {}}, {"version": "5.0"}, "auto"),
        ({"CustomerQueryRq": {}}, {"version": "16.0"}, "auto"),
        ({"CustomerQueryRq": {}}, {"version": "4.1"}, None),
        ({"CustomerQueryRq": {}}, {"iterate": "never"}, "never"),
        ({"CustomerQueryRq": {"MaxReturned": 5}}, {}, None),
        ({"CustomerQueryRq": {"FullName": ["Ada"]}}, {}, None),
        ({"CustomerQueryRq": {"MaxReturned": 5}}, {"iterate": "auto"}, "auto"),
        ({"InvoiceQueryRq": {"TxnID": ["1"]}}, {}, None),
        ({"CustomerQueryRq": {"@iterator": "Start", "MaxReturned": 5}}, {}, None),
        ({"TermsQueryRq": {}}, {}, None),
        (ADD, {}, None),
    ],
)
def test_execute_lets_a_query_be_sent_in_pages_if_it_can_be(
    client: Any, service: Service, query: dict[str, Any], options: dict[str, Any], sent: str | None
) -> None:
    client.execute(query, **options)

    [call] = [call for call in service.calls if call.method == "POST"]
    assert json.loads(call.content).get("iterate") == sent


def test_queue_does_not_follow_pages_so_it_asks_for_them_only_when_told(client: Any, service: Service) -> None:
    client.queue({"CustomerQueryRq": {}})
    client.queue({"CustomerQueryRq": {}}, iterate="auto")

    assert [json.loads(call.content).get("iterate") for call in service.calls[1:]] == [None, "auto"]


CODES = (
    "quickbooks_error",
    "qbxml_parse_error",
    "quickbooks_connection_error",
    "outcome_unknown",
    "iteration_interrupted",
    "iteration_stopped",
    "response_too_large",
    "dependency_failed",
    "reference_unresolved",
    "reference_invalid",
)


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("retryable", [True, False])
def test_is_retryable_is_what_the_service_says_for_every_code(
    client: Any, service: Service, code: str, *, retryable: bool
) -> None:
    service.outcome = lambda _record: error(code, retryable=retryable, hint="Do this.")

    with pytest.raises(RequestFailed, match=r"Do this\.") as caught:
        client.execute(ADD)

    assert caught.value.is_retryable is retryable
