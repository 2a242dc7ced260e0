"""Checks that responses and events match the OpenAPI document."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from tools.openapi import JSON, document

whole_document = cache(document)


def check_response(method: str, path: str, status: int, content_type: str, text: str) -> None:
    """Fail unless the document describes this response to `method` on the route `path`."""
    validator = _validator(method.lower(), path, str(status), content_type.partition(";")[0])
    if validator:
        validator.validate(json.loads(text))
    else:
        assert content_type.partition(";")[0] != JSON or not text


def check_event(event: dict[str, Any]) -> None:
    """Fail unless the document describes this event of a webhook."""
    document = whole_document()
    body = document["webhooks"][event["type"]]["post"]["requestBody"]["content"][JSON]["schema"]
    Draft202012Validator(body | {"components": document["components"]}).validate(event)


@cache
def _validator(method: str, path: str, status: str, content_type: str) -> Draft202012Validator | None:
    """Return the validator of a JSON response, or None for a response that is not documented as JSON."""
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
    return Draft202012Validator({**content[JSON]["schema"], "components": document["components"]})
