"""Each route of the API has a method of `books.api`."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import qbxml_queue
from conftest import clients
from qbxml_queue.schema.routes import ROUTES
from service import CONNECTION, OPENAPI, operation_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Time

OPERATIONS = {
    operation["operationId"]: (method.upper(), path, operation)
    for path, operations in OPENAPI["paths"].items()
    for method, operation in operations.items()
}
OTHER = "22222222-2222-4222-8222-222222222222"


@pytest.fixture
def calls() -> list[httpx.Request]:
    return []


@pytest.fixture(params=["Client", "AsyncClient"])
def api(request: pytest.FixtureRequest, calls: list[httpx.Request], time: Time) -> Iterator[Any]:
    """Yield the API of a client. Each call is recorded, and answered with its number."""

    def answer(call: httpx.Request) -> httpx.Response:
        calls.append(call)
        is_empty = call.method == "DELETE" and "/api_keys/" not in call.url.path  # a key that is revoked is returned
        return httpx.Response(204) if is_empty else httpx.Response(200, json={"data": len(calls)})

    for client in clients(request.param, httpx.MockTransport(answer), time):
        yield client.api


def value_of(schema: dict[str, Any]) -> Any:
    """Return a value of a schema."""
    if "enum" in schema or "const" in schema:
        return schema["enum"][0] if "enum" in schema else schema["const"]
    values: dict[str, Any] = {"integer": 3, "boolean": True, "string": "text"}
    return [value_of(schema["items"])] * 2 if schema["type"] == "array" else values[schema["type"]]


def has_only_data(operation: dict[str, Any]) -> bool:
    """Return whether a response has nothing but `data`, which a method then returns."""
    answer = next(one for status, one in operation["responses"].items() if status in {"200", "201", "202"})
    name = answer["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    return set(OPENAPI["components"]["schemas"][name]["properties"]) == {"data"}


def test_every_route_of_the_document_has_a_method_and_its_types() -> None:
    tree = ast.parse(Path(qbxml_queue.__file__).with_name("schema").joinpath("api.py").read_text(encoding="utf-8"))
    typed = {one.name: one for one in tree.body if isinstance(one, ast.ClassDef)}

    assert set(ROUTES) == set(OPERATIONS)
    for name in ("Api", "ApiAsync"):
        methods = [one for one in typed[name].body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
        assert {one.name for one in methods} == set(OPERATIONS)
        assert all(one.returns is not None for one in methods)


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_method_makes_the_call_of_its_route(api: Any, calls: list[httpx.Request], name: str) -> None:
    method, path, operation = OPERATIONS[name]
    given = operation.get("parameters", [])
    options = {one["name"]: value_of(one["schema"]) for one in given if one["in"] == "query"}
    named = {{"from": "from_", "include[]": "include"}.get(one, one): value for one, value in options.items()}
    ids = [one["name"] for one in given if one["in"] == "path" and one["name"] != "connection_id"]
    body = [{"a": 1}] if "requestBody" in operation else []

    answer = getattr(api, name)(*(f"id-{number}" for number, _ in enumerate(ids)), *body, **named)

    [call] = calls
    assert (call.method, operation_of(call)) == (method, name)
    expected = path.replace("{connection_id}", CONNECTION)
    for number, one in enumerate(ids):
        expected = expected.replace(f"{{{one}}}", f"id-{number}")
    assert call.url.path == expected
    assert set(call.url.params) == set(options)
    assert (json.loads(call.content) if call.content else None) == (body[0] if body else None)
    assert ("Idempotency-Key" in call.headers) == any(one["name"] == "Idempotency-Key" for one in given)
    assert answer == (None if "204" in operation["responses"] else 1 if has_only_data(operation) else {"data": 1})
    if "{connection_id}" in path:
        getattr(api, name)(*(f"id-{number}" for number, _ in enumerate(ids)), *body, connection_id=OTHER)
        assert OTHER in calls[1].url.path


def test_parameters_have_the_form_of_the_api(api: Any, calls: list[httpx.Request]) -> None:
    api.list_queued_requests(ids=["a", "b"], bodies=False, page=2, state=None)
    api.query_customers(include=["Name", "Email"], idempotency_key="key")

    assert dict(calls[0].url.params) == {"ids": "a,b", "bodies": "false", "page": "2"}
    assert calls[1].url.params.get_list("include[]") == ["Name", "Email"]
    assert calls[1].headers["Idempotency-Key"] == "key"


def test_a_body_that_the_api_does_not_need_can_be_left_out(api: Any, calls: list[httpx.Request]) -> None:
    api.advance_simulator()

    assert calls[0].content == b""


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (lambda api: api.discard_queued_reques("x"), AttributeError, "Did you mean 'discard_queued_request'"),
        (lambda api: api.discard_queued_request(), TypeError, r"discard_queued_request\(\) takes request_id"),
        (lambda api: api.get_contact("x"), TypeError, "takes no positional arguments"),
        (lambda api: api.discard_queued_request("x", forc=True), TypeError, "no parameter 'forc'. It has dependants"),
        (lambda api: api.discard_queued_request("x/../y"), ValueError, "is not an id"),
        (lambda api: api.get_contact(connection_id="x"), TypeError, "no parameter 'connection_id'. It has none"),
    ],
)
def test_what_the_api_does_not_have_is_named(
    api: Any, calls: list[httpx.Request], use: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        use(api)
    assert calls == []
