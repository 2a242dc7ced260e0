"""`src/console/openapi-3.0.json` describes the same API as `docs/openapi.json`, in OpenAPI 3.0.3."""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft4Validator, Draft202012Validator

from domain.webhooks.trial import TRIAL_TYPE
from tests.support.cases import for_each
from tests.support.openapi import accepts_30, whole_document, whole_document_30
from tools.openapi import TARGET_30, rendered
from tools.openapi_30 import CALLBACKS, CLOSED, is_body, name_in_30, references
from tools.openapi_examples import EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Place = tuple[str, ...]

UNIONS = {
    name: {event_type: path.rpartition("/")[2] for event_type, path in schema["discriminator"]["mapping"].items()}
    for name, schema in whole_document()["components"]["schemas"].items()
    if "discriminator" in schema
}
"""The names of the schemas of events in each union, by the types of the events."""

DELETED = "connection.deleted"
ID = "0b7e6a5c-5f9c-4a51-9d5e-5d6a4f1b2c3d"
SCHEMA_OF_DOCUMENTS = Path(__file__).parents[2] / "support" / "openapi_30_schema.json"
LACKING = {"anyOf", "not", "const", "propertyNames", "patternProperties", "prefixItems", "webhooks"}
"""Keywords that 3.0 does not have, or that generators cannot read."""

ENDS = ("CompletedEvent", "DiscardedEvent", "FailedEvent", "ResolvedEvent")
WITH_RESPONSES = ("QueuedRequest", *ENDS, *(f"QueuedRequest{name}" for name in ENDS))
EVENTS = {name: event_type for event_type, name in UNIONS["FeedEvent"].items()}
"""The types of the events of the feed, by the names of their schemas."""

ANY_VALUE = {
    *((name, "result") for name in WITH_RESPONSES),
    *((name, "response_json", "[]", "{}") for name in WITH_RESPONSES),
    *((name, "last_error") for name in ("Connection", "ConnectionWebhookEvent")),
    *((name, "last_error") for name, of in EVENTS.items() if of.startswith("connection.") and of != DELETED),
    *((name, "request_json") for name in ("BatchRequestInput", "ContinuationInput", "QueuedRequestInput")),
    *((name, "details") for name in ("ErrorObject", "Refusal", "RequestError")),
    ("Changes", "data", "[]", "record"),
    ("RecordChangedEvent", "record"),
    ("RecordDerivedEvent", "derived"),
    ("Change", "derived"),
    # What the simulator of a test connection understands and shows.
    ("Books", "shown"),
    ("FaultsInput", "expect"),
    ("FaultsInput", "steps", "[]"),
    # The records of webhooks with changes.
    ("Change", "record"),
}
"""The objects to which the document in 3.0 gives any members: the schema and, in it, the member."""


def test_the_document_is_up_to_date() -> None:
    assert TARGET_30.read_text(encoding="utf-8") == rendered(whole_document_30()), "run make generate"


def test_the_document_is_one_of_openapi_30() -> None:
    """The schema is that of the OpenAPI Initiative."""
    validator = Draft4Validator(json.loads(SCHEMA_OF_DOCUMENTS.read_bytes()))
    broken = whole_document_30() | {"webhooks": {}}

    assert [error.message for error in validator.iter_errors(whole_document_30())] == []
    assert not validator.is_valid(broken)


def test_the_document_has_only_what_generators_can_read() -> None:
    found = {name for name, _ in _members_of(_without_examples(whole_document_30()))}
    types = [value for name, value in _members_of(_without_examples(whole_document_30())) if name == "type"]

    assert found & LACKING == set()
    assert [kind for kind in types if isinstance(kind, list)] == []


def test_every_reference_leads_to_a_schema_and_to_every_schema() -> None:
    schemas = whole_document_30()["components"]["schemas"]

    assert {*references(whole_document_30()), "WebhookEvent"} == set(schemas)


def test_no_name_is_that_of_a_function_for_another_one() -> None:
    """In Go, a schema `Connection` also becomes `NewConnection` and `NullableConnection`."""
    schemas = whole_document_30()["components"]["schemas"]
    functions = {f"{prefix}{name}" for name in schemas for prefix in ("New", "Nullable", "NewNullable")}

    assert functions & set(schemas) == set()
    assert [name for name in schemas if name.startswith("New")] == []


def test_both_documents_describe_the_same_operations() -> None:
    described = _operations(whole_document(), whole_document()["webhooks"])
    events: dict[str, Any] = {}
    for operation in CALLBACKS.values():
        (found,) = [each for each in _calls(whole_document_30()["paths"]) if each["operationId"] == operation]
        events |= {event: paths["{$request.body#/webhook_url}"] for event, paths in found["callbacks"].items()}

    assert _operations(whole_document_30(), events) == described
    assert len(described) > 50


def test_both_documents_describe_the_same_members() -> None:
    """Where the document in 3.0 allows any value, it has no members below."""
    here, there = _Members(whole_document()), _Members(whole_document_30())
    for document, found in ((whole_document(), here), (whole_document_30(), there)):
        for operation in [*_calls(document["paths"]), *_events(document)]:
            for kind, schema in _schemas_of(operation, document):
                found.walk((operation["operationId"], kind), schema)

    expected = {place for place in here.named if not any(place[:end] in there.any_value for end in range(len(place)))}
    assert there.named == expected
    assert len(expected) > 1_000


def test_only_these_places_allow_any_value() -> None:
    members = _Members(whole_document_30(), follow=False)
    for name, schema in whole_document_30()["components"]["schemas"].items():
        members.walk((name,), schema)

    assert members.any_value == ANY_VALUE


def test_an_object_requires_the_same_members_unless_it_was_a_union() -> None:
    here, there = (document["components"]["schemas"] for document in (whole_document(), whole_document_30()))
    objects = [name for name in here if "properties" in here[name] and name_in_30(name) in there]

    assert len(objects) > 50
    for name in objects:
        assert there[name_in_30(name)].get("required", []) == here[name].get("required", []), name


@for_each("schema", sorted(EXAMPLES))
def test_an_example_is_as_described(schema: str) -> None:
    assert all(accepts_30(schema, value) for value in EXAMPLES[schema].values())


@pytest.mark.parametrize(
    ("body", "is_valid"),
    [
        ({"request_xml": "<QBXML/>"}, True),
        ({"request_xml": "<QBXML/>", "request_json": None, "webhook_url": None}, True),
        ({"request_json": {"version": 13, "CustomerQueryRq": {"FullName": ["Ann", "Bob"]}}}, True),
        ({"request_json": {"request": {"name": "HostQueryRq"}}}, True),
        ({"request_json": "<QBXML/>"}, False),
        ({"request_xml": ""}, False),
        ({"request_xml": "<QBXML/>", "iterate": "always"}, False),
        ({"request_xml": "<QBXML/>", "idempotency_key": "1"}, False),
    ],
)
def test_a_body_is_an_object_with_both_forms_of_the_request(body: dict[str, Any], is_valid: bool) -> None:
    assert accepts_30("NewQueuedRequest", body) is is_valid


def test_a_client_goes_on_after_an_additive_change() -> None:
    """docs/api-changes.md: a response can get members, and codes and types can be added. States cannot."""
    schemas = whole_document_30()["components"]["schemas"]
    bodies = {name_in_30(name) for name in whole_document()["components"]["schemas"] if is_body(name)}
    sent = {name: schema for name, schema in schemas.items() if name not in bodies}

    assert [
        name for name, part in sent.items() if "properties" in part and part["additionalProperties"] is not True
    ] == []
    closed = {name for name, part in sent.items() if "enum" in dict(_members_of(_without_examples(part)))}
    assert closed == CLOSED.union(*(union.values() for union in UNIONS.values()))
    assert [name for name in bodies & set(schemas) if schemas[name]["additionalProperties"] is not False] == []


@for_each("case", [(union, event_type) for union, types in UNIONS.items() for event_type in types])
def test_an_event_has_the_schema_of_its_type_and_no_other(case: tuple[str, str]) -> None:
    """The document in 3.1 knows no other type. That in 3.0 reads it as `OtherEvent`, so that clients can ignore it."""
    union, event_type = case
    names = set(UNIONS[union].values())
    event = _event_of(UNIONS[union][event_type]) | {"type": event_type}
    later = event | {"type": f"{event_type}_later"}

    for accepts in (accepts_30, _accepts):
        assert [name for name in names if accepts(name, event)] == [UNIONS[union][event_type]]
        assert accepts(union, event)
    assert not _accepts(union, later)
    assert accepts_30(union, later)
    assert [name for name in names if accepts_30(name, later)] == []


def test_the_union_of_webhooks_has_what_each_webhook_delivers() -> None:
    webhooks = whole_document()["webhooks"]
    bodies = {name: webhook["post"]["requestBody"]["content"]["application/json"] for name, webhook in webhooks.items()}

    assert UNIONS["WebhookEvent"] == {name: body["schema"]["$ref"].rpartition("/")[2] for name, body in bodies.items()}


def test_a_client_reads_a_test_event_as_one_to_ignore() -> None:
    """It is the least that an event can have (`domain.webhooks.trial`)."""
    event = {"type": TRIAL_TYPE, "timestamp": "2026-03-14T12:00:00.000000Z"} | dict.fromkeys(
        ("id", "connection_id"), ID
    )

    assert accepts_30("WebhookEvent", event)
    assert accepts_30("OtherWebhookEvent", event)


class _Members:
    """The places of members below schemas. A list is `[]`, and every name of an object without fixed ones `{}`."""

    def __init__(self, document: Mapping[str, Any], *, follow: bool = True) -> None:
        self.named: set[Place] = set()
        self.any_value: set[Place] = set()
        self._schemas = document["components"]["schemas"]
        self._follow = follow

    def walk(self, place: Place, schema: Mapping[str, Any], above: tuple[str, ...] = ()) -> None:
        """Add what is below `place`. A schema below itself is left out."""
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            if self._follow and name_in_30(name) not in above:
                self.walk(place, self._schemas[name], (*above, name_in_30(name)))
            return
        alternatives = [part for word in ("anyOf", "oneOf", "allOf") for part in schema.get(word, ())]
        for alternative in alternatives:
            self.walk(place, alternative, above)
        for name, member in schema.get("properties", {}).items():
            self.named.add((*place, name))
            self.walk((*place, name), member, above)
        if "items" in schema:
            self.walk((*place, "[]"), schema["items"], above)
        more = schema.get("additionalProperties")
        if isinstance(more, dict):
            self.walk((*place, "{}"), more, above)
        elif more is True and "properties" not in schema:
            self.any_value.add(place)
        if not alternatives and "type" not in schema:
            self.any_value.add(place)


def _event_of(path: str) -> Any:
    """Return a value that a schema of the document in 3.1 accepts."""
    return _value(whole_document()["components"]["schemas"][path.rpartition("/")[2]])


def _value(schema: Mapping[str, Any]) -> Any:
    if "$ref" in schema:
        return _event_of(schema["$ref"])
    if "anyOf" in schema:
        return _value(schema["anyOf"][-1])  # null, where it is allowed
    if "const" in schema or "enum" in schema:
        return schema.get("const") or schema["enum"][0]
    if "properties" in schema:
        return {name: _value(schema["properties"][name]) for name in schema["required"]}
    examples = {
        "null": None,
        "string": "2026-01-02T03:04:05Z" if schema.get("format") == "date-time" else "text",
        "integer": schema.get("minimum", 1),
        "boolean": True,
        "object": {},
        "array": [],
    }
    return examples[schema["type"]]


def _accepts(name: str, value: Any) -> bool:
    components = whole_document()["components"]
    is_valid: bool = Draft202012Validator(components["schemas"][name] | {"components": components}).is_valid(value)
    return is_valid


def _calls(paths: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [operation for operations in paths.values() for operation in operations.values()]


def _events(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the operations of webhooks: in 3.0 these are callbacks."""
    if "webhooks" in document:
        return _calls(document["webhooks"])
    return list(
        chain.from_iterable(
            _calls(paths)
            for operation in _calls(document["paths"])
            for paths in operation.get("callbacks", {}).values()
        )
    )


def _schemas_of(operation: Mapping[str, Any], document: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the schemas of the body and of the responses of an operation."""
    responses = {
        status: document["components"]["responses"][response["$ref"].rpartition("/")[2]]
        if "$ref" in response
        else response
        for status, response in operation["responses"].items()
    }
    for kind, part in {"body": operation.get("requestBody", {}), **responses}.items():
        for content_type, content in part.get("content", {}).items():
            yield f"{kind} {content_type}", content["schema"]


def _operations(document: Mapping[str, Any], events: Mapping[str, Any]) -> dict[Place, Any]:
    """Return what identifies each operation, its parameters, its body and its responses."""
    return {
        (path, method): (
            operation["operationId"],
            [
                (parameter["name"], parameter["in"], parameter["required"], parameter.get("description"))
                for parameter in operation.get("parameters", ())
            ],
            operation.get("requestBody", {}).get("required"),
            sorted(kind for kind, _ in _schemas_of(operation, document)),
            sorted(operation["responses"]),
            operation.get("security"),
        )
        for paths in (document["paths"], events)
        for path, operations in paths.items()
        for method, operation in operations.items()
    }


def _members_of(part: Any) -> Iterator[tuple[str, Any]]:
    """Yield each name and value of a document. Names of members that its schemas describe are left out."""
    if isinstance(part, list):
        yield from chain.from_iterable(map(_members_of, part))
    elif isinstance(part, dict):
        for name, value in part.items():
            yield name, value
            below = value.values() if name in {"properties", "schemas"} else [value]
            yield from chain.from_iterable(map(_members_of, below))


def _without_examples(part: Any) -> Any:
    if isinstance(part, list):
        return [_without_examples(member) for member in part]
    if isinstance(part, dict):
        return {name: _without_examples(value) for name, value in part.items() if name not in {"example", "examples"}}
    return part
