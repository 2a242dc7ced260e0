"""Write the OpenAPI documents from the functions: `python -m tools.openapi`.

Powertools describes parameters and bodies. Operations, responses and errors come from the endpoints' declarations
(`handlers/rest/endpoint.py`), and the schemas of responses come from the handlers' return types. What no type expresses
is in `openapi_schemas.py`, and the examples are in `openapi_examples.py`. `openapi_30.py` converts the document to
version 3.0.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from importlib import import_module
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, Union, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter
from typing_extensions import TypedDict

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from aws_lambda_powertools.event_handler import Response  # noqa: E402 - after the path that was set above

from domain.errors import IdempotencyKeyReused, TooManyRequests  # noqa: E402
from domain.records.event_types import CHANGES, EVENT_TYPES  # noqa: E402
from domain.records.request import State  # noqa: E402
from domain.web_connector.protocol import qwc  # noqa: E402
from handlers.rest import Endpoint  # noqa: E402
from handlers.rest.errors import STATUSES  # noqa: E402
from handlers.serve_console import LOCAL_URL  # noqa: E402
from handlers.views.changes_event import ChangesWebhookEventView  # noqa: E402
from handlers.views.connection_event import ConnectionWebhookEventView  # noqa: E402
from handlers.views.feed_event import BriefEventView, RequestEventView  # noqa: E402
from handlers.views.schema import Schema  # noqa: E402
from handlers.views.webhook_event import EVENT_STATES, WebhookEventView  # noqa: E402
from local.template import Template  # noqa: E402
from tools.openapi_30 import in_version_30  # noqa: E402
from tools.openapi_examples import ERROR_EXAMPLES, EXAMPLES, PARAMETER_EXAMPLES, PATH_EXAMPLES  # noqa: E402
from tools.openapi_schemas import (  # noqa: E402
    CONNECTION_KEY,
    EVENT_HEADERS,
    IDEMPOTENCY_KEY,
    PREFER_WAIT,
    PREFERENCE_APPLIED,
    REQUEST_JSON,
    RETRY_AFTER,
    json_or_xml,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from domain.errors import ServiceError
    from handlers.rest.endpoint import ApiOperation

TARGET = ROOT / "docs" / "openapi.json"
TARGET_30 = ROOT / "src" / "console" / "openapi-3.0.json"
JSON = "application/json"
REFERENCE = "#/components/schemas/{model}"
TOO_MANY = STATUSES[TooManyRequests]

DESCRIPTION = (
    "Queue QBXML requests for QuickBooks Desktop. The QuickBooks Web Connector fetches them, QuickBooks executes them, "
    "and a webhook delivers the response. Authenticate with HTTP Basic: the user name is the API key, the password is "
    "empty."
)


SERVERS = [{"url": LOCAL_URL, "description": "The deployment that serves this document, or else `make run`"}]

TAGS = {
    "API keys": "The caller and what the caller may do; the keys of the app, for people who are admins.",
    "Audit log": "Who did what, and when.",
    "Contact": "What customers see of the app on the onboarding page.",
    "People": "The people who sign in to the app. Only one who is an admin may make these calls, not an API key.",
    "Connections": "Company files, and the Web Connectors that reach them.",
    "Events": "What has ended, in one order, to be read by polling.",
    "Queries": "Queries that are built from URL parameters and queued.",
    "Queued requests": "QBXML requests, their responses and their webhooks.",
    "Statistics": "Activity by hour, waiting and executing times, and the health of connections.",
    "Subscriptions": "The lists and transactions whose changes are read.",
    "Test connections": "Connections behind which a simulated QuickBooks works, for your tests.",
    "Webhooks": "Events that the service posts to your `webhook_url`.",
}

EVENTS_OF_REQUESTS = {
    "completed": "QuickBooks executed a request",
    "failed": "A request failed",
    "discarded": "A request was taken out of the queue",
    "resolved": "QuickBooks was asked, and a write whose outcome was unknown was executed or was not",
}
EVENTS_OF_CONNECTIONS = dict(
    zip(
        EVENT_TYPES,
        (
            "The Web Connector has logged in for the first time",
            "Requests wait, and the Web Connector has not called for a day",
            "A Web Connector that had stalled has called again",
            "Another company file is open",
            "The company file is open at a path that nobody has accepted",
            "The password of the Web Connector was set",
        ),
        strict=True,
    )
)
"""The summaries of the webhooks: by the last part of the type, and by the type."""

_FURTHER_WEBHOOKS = (ConnectionWebhookEventView, ChangesWebhookEventView)
"""The bodies of webhooks that are not about requests."""


class ErrorObject(TypedDict):
    """What went wrong."""

    code: Annotated[str, Schema("Stable name")]
    message: Annotated[str, Schema("For people; may change")]
    details: NotRequired[dict[str, Any]]


class Error(TypedDict):
    """The body of every error."""

    error: ErrorObject


def document(
    more_endpoints: Sequence[Endpoint] = (), examples: Mapping[str, Mapping[str, Any]] = EXAMPLES
) -> dict[str, Any]:
    """Return the OpenAPI document of the endpoints of the template and of `more_endpoints`.

    Raises MissingStep.
    """
    descriptions = [(endpoint, _described(endpoint)) for endpoint in (*endpoints(), *more_endpoints)]
    bodies = {
        name: _without_defaults(_exact(schema))
        for _, powertools in descriptions
        for name, schema in powertools["components"]["schemas"].items()
        if name.startswith(("New", "Changed")) and not name.endswith("Parameters")
    }
    schemas = _Schemas(
        [
            *(_return_type(operation) for endpoint, _ in descriptions for operation in endpoint.operations),
            WebhookEventView,
            *_FURTHER_WEBHOOKS,
        ]
    )
    paths: dict[str, Any] = {}
    for endpoint, powertools in descriptions:
        for operation in endpoint.operations:
            path = paths.setdefault(operation.path, {})
            path[operation.method.lower()] = _operation(endpoint, operation, powertools, schemas)
    components = schemas.components | bodies | REQUEST_JSON
    for name in ("NewQueuedRequest", "NewBatchRequest"):
        components |= json_or_xml(bodies[name], name)
    components |= _events(components.pop(WebhookEventView.__name__))
    for view in _FURTHER_WEBHOOKS:
        components[view.__name__]["additionalProperties"] = True
    # An event that is too large for an answer is brief.
    components[RequestEventView.__name__]["required"] = components[BriefEventView.__name__]["required"]
    components = _tagged_unions(components)
    components["WebhookEvent"] = _any_webhook(components)
    whole = {
        "openapi": "3.1.0",
        "info": {
            "title": "qbxml-queue",
            "version": "1",
            "description": DESCRIPTION,
            "license": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
        },
        "servers": SERVERS,
        "tags": [{"name": name, "description": words} for name, words in TAGS.items()],
        "security": [{"api_key": []}],
        "paths": dict(sorted(paths.items())),
        "webhooks": {
            f"queued_request.{name}": {"post": _webhook(name, summary, f"{name.title()}Event")}
            for name, summary in EVENTS_OF_REQUESTS.items()
        }
        | {
            event_type: {"post": _webhook(event_type.replace(".", "_"), summary, "ConnectionWebhookEvent")}
            for event_type, summary in EVENTS_OF_CONNECTIONS.items()
        }
        | {
            CHANGES: {
                "post": _webhook(
                    "subscription_changes", "Records of a subscription have changed", "ChangesWebhookEvent"
                )
            }
        },
        "components": {
            "securitySchemes": {"api_key": {"type": "http", "scheme": "basic"}},
            "schemas": dict(sorted(components.items())),
            "responses": {f"Error{status}": _error_response(status) for status in sorted({*STATUSES.values()})},
        },
    }
    return _with_examples(_with_plain_names(whole), examples)


class MissingStep(Exception):
    """A step of a recipe in CONTRIBUTING.md is missing. The message says what to add, and where."""


def _events(event: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of each event. An event can have members that its schema does not name."""
    schemas = {}
    states = {state: state for state in EVENT_STATES.values()} | {"resolved": EVENT_STATES[State.ERROR]}
    for name, state in states.items():
        members: dict[str, Any] = {"type": {"const": f"queued_request.{name}"}, "state": {"const": state}}
        properties = {
            member: {"type": "string", **members[member]} if member in members else schema
            for member, schema in event["properties"].items()
        }
        schemas[f"{name.title()}Event"] = event | {"properties": properties, "additionalProperties": True}
    return schemas


def _tagged_unions(schemas: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the schemas with one for each `type` of an event, in unions that name it.

    A generator then writes a class for each event, and reads each event as its class.
    """
    unions = {name: shapes for name, schema in schemas.items() if (shapes := _shapes(schema, schemas))}
    replaced = {shape for union in unions.values() for shape in union}
    result = {name: schema for name, schema in schemas.items() if name not in replaced}
    for name, union in unions.items():
        by_type = {event_type: shape for shape in union for event_type in _types_of(schemas[shape])}
        result |= {_class_of(event_type): _of_type(schemas[shape], event_type) for event_type, shape in by_type.items()}
        result[name] = _tagged(schemas[name]["description"], {one: _class_of(one) for one in by_type})
    return result


def _tagged(description: str, names: Mapping[str, str]) -> dict[str, Any]:
    """Return the union of schemas, whose names are given by the `type` of their objects."""
    references = {event_type: REFERENCE.format(model=name) for event_type, name in names.items()}
    return {
        "description": description,
        "oneOf": [{"$ref": reference} for reference in dict.fromkeys(references.values())],
        "discriminator": {"propertyName": "type", "mapping": references},
    }


def _any_webhook(schemas: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the union of the bodies of all webhooks, for a receiver, which gets any of them."""
    further = [view.__name__ for view in _FURTHER_WEBHOOKS]
    bodies = [*(f"{name.title()}Event" for name in EVENTS_OF_REQUESTS), *further]
    names = {event_type: name for name in bodies for event_type in _types_of(schemas[name])}
    return _tagged("The body of a webhook. Its `type` tells which members it has", names)


def _shapes(schema: Mapping[str, Any], schemas: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the objects of a union that their `type` tells apart. There are none in another schema."""
    names = [part["$ref"].rpartition("/")[2] for part in schema.get("anyOf", ()) if "$ref" in part]
    return [name for name in names if _types_of(schemas[name])]


def _types_of(shape: Mapping[str, Any]) -> list[str]:
    """Return the values that the `type` of an object can have, if they are known."""
    schema = shape.get("properties", {}).get("type", {})
    types: list[str] = schema["enum"] if "enum" in schema else [schema["const"]] if "const" in schema else []
    return types


def _of_type(shape: dict[str, Any], event_type: str) -> dict[str, Any]:
    """Return the schema of the events of one type."""
    return shape | {"properties": shape["properties"] | {"type": {"type": "string", "const": event_type}}}


def _class_of(event_type: str) -> str:
    """Return `QueuedRequestCompletedEvent` for `queued_request.completed`."""
    return "".join(word.title() for word in re.split("[._]", event_type)) + "Event"


def _webhook(name: str, summary: str, schema: str) -> dict[str, Any]:
    """Return the description of the call that delivers an event."""
    return {
        "tags": ["Webhooks"],
        "operationId": f"receive_{name}_event",
        "summary": summary,
        "description": "docs/webhooks.md shows how to verify the signature. Process each `webhook-id` once.",
        "security": [],
        "parameters": EVENT_HEADERS,
        "requestBody": _body(schema, required=True),
        "responses": {
            "2XX": {"description": "The receiver has the event"},
            "410": {"description": "The receiver does not want the event. It is not sent again"},
            "default": {"description": "A failed attempt. The event is sent again later"},
        },
    }


def _body(schema: str, *, required: bool) -> dict[str, Any]:
    return {"required": required, "content": {JSON: {"schema": {"$ref": REFERENCE.format(model=schema)}}}}


def _with_examples(whole: dict[str, Any], examples: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the document with examples of the JSON bodies of all calls, responses and events."""
    operations = [
        operation for group in ("paths", "webhooks") for path in whole[group].values() for operation in path.values()
    ]
    for operation in operations:
        for body in (operation.get("requestBody", {}), *operation["responses"].values()):
            if content := body.get("content", {}).get(JSON):
                schema = content["schema"]["$ref"].rpartition("/")[2]
                if schema not in examples:
                    raise MissingStep(f"Add an example of {schema} to EXAMPLES in tools/openapi_examples.py.")
                content["examples"] = {
                    name: {"$ref": f"#/components/examples/{schema}.{name}"} for name in examples[schema]
                }
    whole["components"]["examples"] = {
        f"{schema}.{name}": {"value": value} for schema, by_name in examples.items() for name, value in by_name.items()
    }
    return whole


def _with_plain_names(whole: dict[str, Any]) -> dict[str, Any]:
    """Return the document with names for clients: `Connection`, `ConnectionResponse` and `ConnectionPage`.

    The response with a connection or null, `Data[ConnectionView | None]`, is `OptionalConnectionResponse`.
    """
    text = json.dumps(whole)
    for pattern, name in (
        (r'(?<=["/])Data_Union_(\w+)View__NoneType__(?=")', r"Optional\1Response"),
        (r'(?<=["/])Data_(\w+)View_(?=")', r"\1Response"),
        (r'(?<=["/])Page_(\w+)View_(?=")', r"\1Page"),
        (r'(?<=["/])(\w+)View(?=")', r"\1"),
    ):
        text = re.sub(pattern, name, text)
    result: dict[str, Any] = json.loads(text)
    for name in result["components"]["schemas"]:
        if not name.isalnum():
            raise MissingStep(
                f"A response has the type {name}. Declare what is inside `Data` or `Page` as a TypedDict in "
                "src/handlers/views whose name ends in View."
            )
    return result


def endpoints() -> list[Endpoint]:
    """Return the endpoints of the REST API, in the order of the template."""
    modules = [import_module(function.handler.rpartition(".")[0]) for function in Template.load().functions()]
    return [module.handler for module in modules if isinstance(module.handler, Endpoint)]


def _without_defaults(schema: dict[str, Any]) -> dict[str, Any]:
    """Move the defaults of a body's members into their descriptions.

    Generators for TypeScript make a member with a `default` required.
    """
    properties = dict(schema.get("properties", {}))
    for name, member in properties.items():
        if "default" in member:
            others = {key: value for key, value in member.items() if key != "default"}
            properties[name] = others | {
                "description": f"{member['description']} The default is `{member['default']}`."
            }
    return schema | {"properties": properties} if properties else schema


class _Schemas:
    """The schemas of all responses, and the components to which they refer."""

    def __init__(self, types: Iterable[Any]) -> None:
        models = [model for kind in types for model in _models(kind)] + [Error]
        by_name = {repr(model): model for model in models}
        schemas, self.components = TypeAdapter.json_schemas(
            [(name, "serialization", TypeAdapter(model)) for name, model in by_name.items()],
            ref_template=REFERENCE,
        )
        self.components = _exact(self.components.get("$defs", {}))
        self._schemas = {name: _exact(schema) for (name, _), schema in schemas.items()}

    def of(self, model: Any) -> Any:
        """Return the schema of a type."""
        return self._schemas[repr(model)]


def _operation(
    endpoint: Endpoint, operation: ApiOperation, powertools: dict[str, Any], schemas: _Schemas
) -> dict[str, Any]:
    """Return the description of an operation."""
    from_powertools = powertools["paths"][operation.path][operation.method.lower()]
    summary, _, description = inspect.cleandoc(operation.function.__doc__ or "").partition("\n\n")
    success = {
        str(status): {"description": _success(status)} | _content(operation, schemas) for status in operation.statuses
    }
    errors = {
        str(status): {"$ref": f"#/components/responses/Error{status}"}
        for status in sorted({500, *(_status(error) for error in operation.errors)})
    }
    parameters = _parameters(endpoint, operation.path, from_powertools, powertools["components"]["schemas"])
    if IdempotencyKeyReused in operation.errors:
        parameters += [IDEMPOTENCY_KEY, PREFER_WAIT] if endpoint.queues else [CONNECTION_KEY]
    if PREFER_WAIT in parameters:
        for response in success.values():
            response["headers"] = PREFERENCE_APPLIED
    return {
        "tags": [endpoint.tag],
        "operationId": operation.id,
        "summary": summary.removesuffix("."),
        **({"description": " ".join(description.split())} if description else {}),
        **({"parameters": parameters} if parameters else {}),
        **_request_body(from_powertools),
        "responses": dict(sorted(success.items())) | errors,
    }


def _request_body(from_powertools: dict[str, Any]) -> dict[str, Any]:
    """Return the body's description. A body that Powertools calls nullable may be absent, but not null."""
    if "requestBody" not in from_powertools:
        return {}
    schema = from_powertools["requestBody"]["content"][JSON]["schema"]
    reference = schema.get("anyOf", [schema])[0]["$ref"]
    return {"requestBody": _body(reference.rpartition("/")[2], required="anyOf" not in schema)}


def _described(endpoint: Endpoint) -> dict[str, Any]:
    description: dict[str, Any] = json.loads(endpoint.resolver.get_openapi_json_schema(title="", version="1"))
    return description


def _return_type(operation: ApiOperation) -> Any:
    """Return the type of an operation's body. With `repeated_status` the function returns a pair."""
    declared = get_type_hints(operation.function, include_extras=True)["return"]
    return get_args(declared)[0] if get_origin(declared) is tuple else declared


def _models(kind: Any) -> list[Any]:
    """Return the JSON bodies in a return type. None has no body.

    `Response[str]` is a file. Any other `Response` has the JSON body that is declared beside it.
    """
    members = get_args(kind) if get_origin(kind) in {Union, UnionType} else (kind,)
    return [member for member in members if member is not type(None) and get_origin(member) is not Response]


def _content(operation: ApiOperation, schemas: _Schemas) -> dict[str, Any]:
    kind = _return_type(operation)
    content: dict[str, Any] = {}
    for model in _models(kind):
        content[JSON] = {"schema": schemas.of(model)}
    if Response[str] in get_args(kind):
        content[qwc.CONTENT_TYPE] = {
            "schema": {"type": "string"},
            "example": "<?xml version='1.0'?><QBWCXML>…</QBWCXML>",
        }
    return {"content": content} if content else {}


def _success(status: int) -> str:
    return {200: "Success", 201: "Created", 202: "Accepted", 204: "Done"}[status]


def _status(error: type[ServiceError]) -> int:
    """Return the HTTP status of an error."""
    if error not in STATUSES:
        raise MissingStep(f"Add {error.__name__} to STATUSES in src/handlers/rest/errors.py.")
    return STATUSES[error]


def _error_response(status: int) -> dict[str, Any]:
    """Return the response for all errors of a status, described by the docstrings of their classes."""
    classes: list[type[ServiceError]] = [error for error, error_status in STATUSES.items() if error_status == status]
    errors = [(error.code, inspect.cleandoc(error.__doc__ or "")) for error in classes]
    examples = {code: {"value": ERROR_EXAMPLES.get(code) or _error(code, message)} for code, message in errors}
    return {
        "description": " ".join(f"`{code}`: {message}" for code, message in errors),
        **({"headers": {"Retry-After": RETRY_AFTER}} if status == TOO_MANY else {}),
        "content": {JSON: {"schema": {"$ref": REFERENCE.format(model="Error")}, "examples": examples}},
    }


def _error(code: str, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message.partition("; ")[0].rstrip(".") + "."}}


def _parameters(
    endpoint: Endpoint, path: str, operation: dict[str, Any], schemas: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return the parameters with the schemas of their models, because Powertools keeps only the types."""
    fields = {
        name: schema
        for model, of_model in schemas.items()
        if model.endswith("Parameters")
        for name, schema in of_model["properties"].items()
    }
    parameters: list[dict[str, Any]] = operation.get("parameters", [])
    for parameter in parameters:
        if parameter["name"] in fields:
            parameter["schema"] = _without_null(fields[parameter["name"]], schemas)
            if parameter["schema"]["type"] == "array":
                parameter["explode"] = False  # its values are separated by commas
        elif parameter["in"] == "path":
            parameter["required"] = True
            parameter["schema"] = {"type": "string", "format": "uuid"}
        for member in ("title", "description"):
            parameter["schema"].pop(member, None)
    query_parameters = endpoint.query.parameters if endpoint.query else ()
    parameters.sort(key=lambda parameter: (parameter["in"] != "path", path.find(parameter["name"])))
    parameters += [
        {
            "name": parameter.name,
            "in": "query",
            "required": False,
            "description": parameter.description,
            "schema": parameter.schema,
        }
        for parameter in query_parameters
    ]
    return [
        parameter | {"example": _example(parameter, fields.get(parameter["name"], {}).get("examples", ()))}
        for parameter in parameters
    ]


def _example(parameter: dict[str, Any], of_field: Sequence[Any]) -> Any:
    """Return an example of a parameter: that of its field, or a value that its schema allows.

    Raises MissingStep for a text without an example.
    """
    name, schema = parameter["name"], parameter["schema"]
    if parameter["in"] == "path":
        return PATH_EXAMPLES[name]
    if schema["type"] == "array" and of_field:
        return of_field[0]
    if schema["type"] == "array":
        return [_example(parameter | {"schema": schema["items"]}, of_field)]
    key = "list_id" if name.endswith("_list_id") else name
    examples = [*of_field, *PARAMETER_EXAMPLES.get(key, ()), *schema.get("enum", ())]
    if not examples and schema["type"] == "boolean":
        examples = [not schema.get("default", False)]
    if not examples and schema["type"] == "integer":
        examples = [schema.get("default", schema.get("minimum", 1))]
    if not examples:
        raise MissingStep(f"Add an example of the parameter {name} to PARAMETER_EXAMPLES in tools/openapi_examples.py.")
    return examples[0]


def _without_null(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """Return a parameter's schema without null, which a URL cannot contain, and without references."""
    for alternative in schema.get("anyOf", []):
        if "$ref" in alternative:
            reference: dict[str, Any] = schemas[alternative["$ref"].rpartition("/")[2]]
            return {"type": reference["type"], "enum": reference["enum"]}
        if alternative.get("type") != "null":
            return dict(alternative)
    return dict(schema)


def _exact(schema: Any) -> Any:
    """Return a schema without pydantic's titles. Its objects allow only the members that it names."""
    if isinstance(schema, list):
        return [_exact(member) for member in schema]
    if not isinstance(schema, dict):
        return schema
    exact = {name: _exact(member) for name, member in schema.items() if name != "title" or not isinstance(member, str)}
    # Powertools converts the limits of integers to floats.
    exact |= {name: int(limit) for name, limit in exact.items() if isinstance(limit, float) and limit.is_integer()}
    return exact | ({"additionalProperties": False} if isinstance(exact.get("properties"), dict) else {})


def rendered(whole: Mapping[str, Any]) -> str:
    """Return the text of a document."""
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    TARGET.write_text(rendered(document()), encoding="utf-8")
    TARGET_30.write_text(rendered(in_version_30(document())), encoding="utf-8")
