"""`docs/openapi.json` describes the functions as they are."""

from __future__ import annotations

import pytest
from jsonschema import Draft202012Validator

from domain.queries import QUERIES
from handlers.rest.errors import STATUSES
from tests.support.api_client import routes
from tests.support.openapi import whole_document
from tools.openapi import TARGET, endpoints, rendered
from tools.openapi_examples import EXAMPLES


def test_the_document_is_up_to_date() -> None:
    assert TARGET.read_text(encoding="utf-8") == rendered(), "run `make openapi`"


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_as_described(name: str) -> None:
    components = whole_document()["components"]

    Draft202012Validator(components["schemas"][name] | {"components": components}).validate(EXAMPLES[name])


def test_every_body_of_a_request_has_an_example() -> None:
    bodies = {name for name in whole_document()["components"]["schemas"] if name.startswith(("New", "Changed"))}

    assert bodies - {"NewSyncWindow"} <= set(EXAMPLES)


def test_every_route_of_the_api_is_described_and_no_other() -> None:
    described = {
        (method.upper(), path) for path, operations in whole_document()["paths"].items() for method in operations
    }

    assert described == {(route.method, route.path) for route in routes() if route.path.startswith("/api/")}


def test_every_operation_has_its_own_id() -> None:
    ids = [one["operationId"] for operations in whole_document()["paths"].values() for one in operations.values()]

    assert len(ids) == len(set(ids))


def test_every_operation_has_a_summary() -> None:
    operations = [operation for endpoint in endpoints() for operation in endpoint.operations]

    assert [one.id for one in operations if not one.function.__doc__] == []


def test_every_convenience_query_has_an_endpoint() -> None:
    assert {endpoint.query.name for endpoint in endpoints() if endpoint.query} == set(QUERIES)


def test_every_reference_leads_somewhere() -> None:
    document = whole_document()
    text = rendered()
    for kind in ("schemas", "responses"):
        used = {part.partition('"')[0] for part in text.split(f"#/components/{kind}/")[1:]}
        assert used == set(document["components"][kind])


def test_every_error_has_a_status() -> None:
    from domain.errors import ServiceError  # noqa: PLC0415

    assert set(ServiceError.__subclasses__()) == set(STATUSES)
