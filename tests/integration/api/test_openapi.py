"""`docs/openapi.json` describes the functions as they are."""

from __future__ import annotations

import json
from itertools import chain
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

import pytest
from jsonschema import Draft202012Validator

from domain.errors import ServiceError
from domain.queries import QUERIES
from handlers.rest.errors import STATUSES
from handlers.views.changes_event import ChangesWebhookEventView
from handlers.views.connection_event import ConnectionWebhookEventView
from handlers.views.webhook_event import WebhookEventView
from tests.support.api_client import routes
from tests.support.cases import for_each
from tests.support.openapi import whole_document
from tools.openapi import TARGET, endpoints, rendered
from tools.openapi_examples import EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Iterator


def test_the_document_is_up_to_date() -> None:
    assert TARGET.read_text(encoding="utf-8") == rendered(whole_document()), "run make generate"


@for_each(("schema", "name"), [(schema, name) for schema in EXAMPLES for name in EXAMPLES[schema]])
def test_an_example_is_as_described(schema: str, name: str) -> None:
    assert _accepts(schema, EXAMPLES[schema][name])


def test_every_body_of_a_call_a_response_and_an_event_has_an_example() -> None:
    document = whole_document()
    operations = [
        operation for group in ("paths", "webhooks") for path in document[group].values() for operation in path.values()
    ]
    bodies = [operation.get("requestBody", {}) for operation in operations]
    responses = [response for operation in operations for response in operation["responses"].values()]
    errors = document["components"]["responses"].values()
    contents = [content for part in (*bodies, *responses, *errors) for content in part.get("content", {}).values()]

    assert len(contents) >= 40
    assert [content for content in contents if not content.get("examples") and "example" not in content] == []


@pytest.mark.parametrize("status", sorted({*STATUSES.values(), 500}))
def test_the_example_of_an_error_is_as_described(status: int) -> None:
    examples = whole_document()["components"]["responses"][f"Error{status}"]["content"]["application/json"]["examples"]

    assert all(_accepts("Error", example["value"]) for example in examples.values())


@pytest.mark.parametrize(
    ("body", "is_valid"),
    [
        ({"request_xml": "<QBXML/>"}, True),
        ({"request_xml": "<QBXML/>", "request_json": None, "webhook_url": None}, True),
        ({"request_json": {"request": {"name": "HostQueryRq"}}}, True),
        ({"request_json": {"request": [{"name": "QBXML", "children": [{"name": "QBXMLMsgsRq"}]}]}}, True),
        ({"request_json": {"version": 13, "CustomerQueryRq": {"FullName": ["Ann", "Bob"]}}}, True),
        ({"request_xml": "<QBXML/>", "request_json": {"request": {"name": "HostQueryRq"}}}, False),
        ({"request_xml": None, "request_json": None}, False),
        ({"request_json": {"request": {"name": "HostQueryRq", "children": ["text"]}}}, False),
        ({"request_json": {"request": {"text": "no name"}}}, False),
        ({"request_json": [{"name": "HostQueryRq"}]}, False),
        ({"webhook_url": "https://example.com"}, False),
        ({}, False),
    ],
)
def test_a_body_has_exactly_one_form_of_the_request(body: dict[str, Any], is_valid: bool) -> None:
    assert _accepts("NewQueuedRequest", body) is is_valid


def test_the_calls_that_queue_a_request_and_the_creation_of_a_connection_take_an_idempotency_key() -> None:
    taking = {
        operation["operationId"]
        for operations in whole_document()["paths"].values()
        for operation in operations.values()
        if any(parameter["name"] == "Idempotency-Key" for parameter in operation.get("parameters", ()))
    }

    queries = {f"{prefix}query_{name}" for name in QUERIES for prefix in ("", "post_")}
    assert taking == {"create_batch", "create_connection", "create_queued_request", *queries}


def test_every_event_is_described() -> None:
    types = {
        event_type
        for view in (WebhookEventView, ConnectionWebhookEventView, ChangesWebhookEventView)
        for event_type in get_args(get_type_hints(view)["type"])
    }
    assert set(whole_document()["webhooks"]) == types


def test_every_route_of_the_api_is_described_and_no_other() -> None:
    endpoints = {
        (method.upper(), path) for path, operations in whole_document()["paths"].items() for method in operations
    }

    assert endpoints == {(route.method, route.path) for route in routes() if route.is_described}


def test_every_operation_has_its_own_id() -> None:
    ids = [
        operation["operationId"]
        for operations in whole_document()["paths"].values()
        for operation in operations.values()
    ]

    assert len(ids) == len(set(ids))


def test_every_operation_has_a_summary() -> None:
    operations = [operation for endpoint in endpoints() for operation in endpoint.operations]

    assert [operation.id for operation in operations if not operation.function.__doc__] == []


def test_every_convenience_query_has_an_endpoint() -> None:
    missing = set(QUERIES) - {endpoint.query.name for endpoint in endpoints() if endpoint.query}
    assert not missing, f"add src/handlers/query_<name>.py and its function in template.yaml: {sorted(missing)}"


def test_every_reference_leads_somewhere() -> None:
    document = whole_document()
    text = rendered(document)
    for kind in ("schemas", "responses", "examples"):
        names = {part.partition('"')[0] for part in text.split(f"#/components/{kind}/")[1:]}
        # A receiver reads the body of any webhook with this union. Each webhook refers to its own part of it.
        unions = {"WebhookEvent"} if kind == "schemas" else set()
        assert names | unions == set(document["components"][kind])
        assert names & unions == set()


def test_every_schema_has_keywords_of_json_schema_only() -> None:
    keywords = set(Draft202012Validator.VALIDATORS) | {"default", "description", "example", "examples", "title"}
    keywords |= {"deprecated", "discriminator", "writeOnly", "contentEncoding", "contentMediaType"}

    def keywords_of(schema: Any) -> Iterator[str]:
        if isinstance(schema, dict):
            yield from schema
            below = (schema.get(name, ()) for name in ("items", "additionalProperties", "not"))
            several = [part for name in ("oneOf", "anyOf", "allOf", "prefixItems") for part in schema.get(name, ())]
            for part in (*below, *several, *schema.get("properties", {}).values()):
                yield from keywords_of(part)

    document = whole_document()
    schemas = [*document["components"]["schemas"].values()]
    for operations in document["paths"].values():
        for operation in operations.values():
            schemas += [parameter["schema"] for parameter in operation.get("parameters", ()) if "schema" in parameter]

    assert set(chain.from_iterable(map(keywords_of, schemas))) - keywords == set()


def test_no_reference_leads_to_itself_without_an_object_between() -> None:
    """Generators of clients do not support it."""
    schemas = whole_document()["components"]["schemas"]

    assert [
        name for name, schema in schemas.items() if "type" not in schema and f'/{name}"' in json.dumps(schema)
    ] == []


def test_every_error_has_a_status() -> None:
    missing = sorted(error.__name__ for error in set(ServiceError.__subclasses__()) - set(STATUSES))
    assert not missing, f"add the HTTP status to STATUSES in src/handlers/rest/errors.py: {missing}"


def _accepts(schema: str, value: Any) -> bool:
    components = whole_document()["components"]
    is_valid: bool = Draft202012Validator(components["schemas"][schema] | {"components": components}).is_valid(value)
    return is_valid
