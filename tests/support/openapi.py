"""Checks that responses and events match the OpenAPI documents."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from jsonschema_rs import Draft4Validator, Draft202012Validator

from tools.openapi import JSON, document
from tools.openapi_30 import in_version_30, name_in_30

whole_document = cache(document)


@cache
def whole_document_30() -> dict[str, Any]:
    """Return the document in version 3.0."""
    return in_version_30(whole_document())


def check_response(method: str, path: str, status: int, content_type: str, text: str) -> None:
    """Fail unless both documents describe this response to `method` on the route `path`."""
    schema = _schema(method.lower(), path, str(status), content_type.partition(";")[0])
    if schema:
        body = json.loads(text)
        _validator(schema).validate(body)
        _validator_30(schema).validate(body)
    else:
        assert content_type.partition(";")[0] != JSON or not text


def check_event(event: dict[str, Any]) -> None:
    """Fail unless the document describes this event of a webhook."""
    document = whole_document()
    body = document["webhooks"][event["type"]]["post"]["requestBody"]["content"][JSON]["schema"]
    Draft202012Validator(body | {"components": document["components"]}).validate(event)


def accepts_30(name: str, value: Any) -> bool:
    """Return whether the document in 3.0 allows a value of a schema of the document in 3.1."""
    is_valid: bool = _validator_30(name).is_valid(value)
    return is_valid


@cache
def _schema(method: str, path: str, status: str, content_type: str) -> str | None:
    """Return the name of the schema of a JSON response, or None for a response that is not documented as JSON."""
    document = whole_document()
    responses = document["paths"][path][method]["responses"]
    assert status in responses, f"{method} {path} returned {status}, which its errors in the handler do not declare"
    response = responses[status]
    if "$ref" in response:
        response = document["components"]["responses"][response["$ref"].rpartition("/")[2]]
    content = response.get("content", {})
    if content_type != JSON or not content:
        assert not content_type or content_type in content, f"{method} {path} {status} returned {content_type}"
        return None
    return str(content[JSON]["schema"]["$ref"].rpartition("/")[2])


@cache
def _validator(name: str) -> Draft202012Validator:
    components = whole_document()["components"]
    return Draft202012Validator(
        {"$ref": f"#/components/schemas/{name}", "components": components}, validate_formats=True
    )


@cache
def _validator_30(name: str) -> Draft4Validator:
    schemas = _in_json_schema(whole_document_30()["components"]["schemas"])
    return Draft4Validator({"allOf": [schemas[name_in_30(name)]], "components": {"schemas": schemas}})


def _in_json_schema(part: Any) -> Any:
    """Return schemas of OpenAPI 3.0 in JSON Schema, which has no `nullable`. Generators read it beside `allOf` too."""
    if isinstance(part, list):
        return [_in_json_schema(member) for member in part]
    if not isinstance(part, dict):
        return part
    converted = {name: _in_json_schema(member) for name, member in part.items()}
    return {"anyOf": [converted, {"type": "null"}]} if part.get("nullable") is True else converted
