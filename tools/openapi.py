"""Write `docs/openapi.json` from the functions: `python -m tools.openapi`.

Powertools describes each function; this merges them, puts in what Powertools cannot know (the query
tables' parameters, the answers, the errors) and leaves out what the edge does otherwise (422).
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from domain.queries import QUERIES  # noqa: E402 - the path to it was made just now
from handlers.rest import Endpoint  # noqa: E402 - see above
from local.template import Template  # noqa: E402 - see above
from tools.openapi_schemas import ANSWERS, SCHEMAS, ref  # noqa: E402 - see above

TARGET = ROOT / "docs" / "openapi.json"

DESCRIPTION = (
    "Queue QBXML requests for QuickBooks Desktop. The QuickBooks Web Connector fetches them, QuickBooks executes "
    "them, and the outcome comes by webhook. Credential: HTTP Basic, user name = API key, empty password."
)

ERRORS = {
    "400": "A body or parameter is wrong, or the record's state does not allow this",
    "401": "No, malformed or unknown credential",
    "403": "A read-only key asks for a change",
    "404": "There is no such thing, or it is another app's",
    "409": "In flight, a live session, or an idempotency key used otherwise",
    "410": "The record was deleted",
    "413": "The body is over 1 MiB",
    "415": "The body is not JSON",
    "429": "Too many requests; see Retry-After",
    "500": "Our fault; the details carry the request id",
}


def document() -> dict[str, Any]:
    """Return the OpenAPI document of all functions."""
    merged: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "qbxml-queue", "version": "1", "description": DESCRIPTION},
        "security": [{"api_key": []}],
        "paths": {},
        "components": {
            "securitySchemes": {"api_key": {"type": "http", "scheme": "basic"}},
            "schemas": dict(SCHEMAS),
            "responses": {
                f"Error{status}": {
                    "description": words,
                    "content": {"application/json": {"schema": ref("Error")}},
                }
                for status, words in ERRORS.items()
            },
        },
    }
    for endpoint in endpoints():
        described = json.loads(endpoint.get_openapi_json_schema(title="", version="1"))
        schemas = described["components"]["schemas"]
        for path, operations in described["paths"].items():
            for method, operation in operations.items():
                merged["paths"].setdefault(path, {})[method] = _completed(operation, schemas, changes=endpoint.changes)
        bodies = {name: schema for name, schema in schemas.items() if name.startswith(("New", "Changed"))}
        merged["components"]["schemas"].update(bodies)
    merged["paths"] = dict(sorted(merged["paths"].items()))
    return merged


def endpoints() -> list[Endpoint]:
    """Return the API's functions, in the order of the template."""
    modules = [import_module(function.handler.rpartition(".")[0]) for function in Template.load().functions()]
    return [module.handler for module in modules if isinstance(module.handler, Endpoint)]


def _errors(operation: dict[str, Any], *, changes: bool) -> list[str]:
    """Return the status of every error that an operation can answer with."""
    name: str = operation["operationId"]
    of_one_request = "queued_request" in name and name not in {"create_queued_request", "list_queued_requests"}
    possible = {
        "403": changes,
        "404": bool(operation.get("parameters")) and name != "list_connections",
        "409": name.startswith(("delete_", "discard_", "create_queued_request")),
        "410": of_one_request and not name.startswith("delete_"),
        "413": "requestBody" in operation,
        "415": "requestBody" in operation,
    }
    return [code for code in ERRORS if possible.get(code, True)]


def _completed(operation: dict[str, Any], schemas: dict[str, Any], *, changes: bool) -> dict[str, Any]:
    """Return an operation as the edge makes it."""
    name = operation["operationId"]
    if name.startswith("query_"):
        operation["parameters"] += [
            {
                "name": parameter.name,
                "in": "query",
                "required": False,
                "description": parameter.description,
                "schema": parameter.schema,
            }
            for parameter in QUERIES[name.removeprefix("query_")].parameters
        ]
    # Powertools keeps of a parameter's model only the type of each field; the model says it all.
    known = {
        field: schema
        for model, schema_of_model in schemas.items()
        if model.endswith("Parameters")
        for field, schema in schema_of_model["properties"].items()
    }
    for parameter in operation.get("parameters", []):
        if parameter["name"] in known:
            parameter["schema"] = _without_null(known[parameter["name"]], schemas)
        parameter["schema"].pop("title", None)
        parameter["schema"].pop("description", None)
    (status, success), *_ = [one for one in operation["responses"].items() if one[0] != "422"]
    answers = {"200": success} | {status: success} if name == "create_queued_request" else {status: success}
    for answer in answers.values():
        if name in ANSWERS:
            answer["content"] = {"application/json": {"schema": ANSWERS[name]}}
        else:
            answer.pop("content", None)
    errors = {code: {"$ref": f"#/components/responses/Error{code}"} for code in _errors(operation, changes=changes)}
    return operation | {"responses": answers | errors}


def _without_null(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """Return a parameter's own schema: without null, which a URL cannot hold, and without references."""
    for one in schema.get("anyOf", []):
        if "$ref" in one:
            named: dict[str, Any] = schemas[one["$ref"].rpartition("/")[2]]
            return {"type": named["type"], "enum": named["enum"]}
        if one.get("type") != "null":
            return dict(one)
    return dict(schema)


def rendered() -> str:
    """Return the document's text."""
    return json.dumps(document(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    TARGET.write_text(rendered(), encoding="utf-8")
