"""`docs/openapi.json` is what the functions are."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from tests.support.api_client import routes
from tests.support.builders import REQUEST_XML
from tools.openapi import TARGET, document, rendered

if TYPE_CHECKING:
    from tests.integration.api.conftest import World


def schema_of(method: str, path: str, status: int) -> dict[str, Any]:
    """Return the schema of an answer's body, with what it refers to."""
    whole = document()
    for template, operations in whole["paths"].items():
        pattern = re.sub(r"\{\w+\}", "[^/]+", template)
        if method.lower() in operations and re.fullmatch(pattern, path):
            answer = operations[method.lower()]["responses"][str(status)]
            if "$ref" in answer:
                answer = whole["components"]["responses"][answer["$ref"].rpartition("/")[2]]
            schema: dict[str, Any] = answer["content"]["application/json"]["schema"]
            return schema | {"components": whole["components"]}
    raise AssertionError(f"{method} {path} is not described")


def test_the_document_is_up_to_date() -> None:
    assert TARGET.read_text(encoding="utf-8") == rendered(), "run `python -m tools.openapi`"


def test_every_route_of_the_api_is_described_and_no_other() -> None:
    described = {(method.upper(), path) for path, operations in document()["paths"].items() for method in operations}

    assert described == {(route.method, route.path) for route in routes() if route.path.startswith("/api/")}


def test_every_operation_has_a_name_of_its_own() -> None:
    names = [one["operationId"] for operations in document()["paths"].values() for one in operations.values()]

    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "{requests}", {"request_xml": REQUEST_XML, "webhook_url": "https://shop.example/"}, 201),
        ("POST", "{requests}", {}, 400),
        ("GET", "{requests}", None, 200),
        ("GET", "/api/v1/queued_requests/{id}", None, 200),
        ("GET", "{requests}/{id}", None, 200),
        ("POST", "{requests}/{id}/discard", None, 200),
        ("POST", "{requests}/{id}/redeliver", None, 400),
        ("GET", "{connection}/customers", None, 202),
        ("GET", "/api/v1/connections", None, 200),
        ("POST", "/api/v1/connections", None, 201),
        ("GET", "{connection}", None, 200),
        ("POST", "{connection}/password", None, 200),
        ("GET", "{connection}/qwc", None, 200),
        ("GET", "{connection}0", None, 404),
    ],
)
def test_a_real_answer_is_as_described(world: World, method: str, path: str, body: Any, status: int) -> None:
    made = world.api.call("POST", world.requests_url, {"request_xml": REQUEST_XML}).json["data"]
    url = path.format(requests=world.requests_url, id=made["id"], connection=world.requests_url.rpartition("/")[0])

    answer = world.api.call(method, url, body)

    assert answer.status == status
    Draft202012Validator(schema_of(method, url, status)).validate(answer.json)
