"""Write a collection for Postman and Bruno from the OpenAPI document: `python -m tools.postman`.

Postman sends every optional parameter of an OpenAPI document that it imports. In the collection, they are switched off.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tools.openapi import JSON, ROOT, document

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

TARGET = ROOT / "docs" / "postman_collection.json"
SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"

_METHODS = ("get", "post", "put", "patch", "delete")
_IDS = ("connection_id", "request_id")


def collection(openapi: Mapping[str, Any]) -> dict[str, Any]:
    """Return the collection of a document, with a folder for each tag.

    Its variables are the URL of the service, the API key, and the ids in paths.
    """
    (server, *_) = openapi["servers"]
    variables = {"base_url": server["url"], "api_key": "", **dict.fromkeys(_IDS, "")}
    return {
        "info": {
            "name": openapi["info"]["title"],
            "description": "Set the variables base_url and api_key. Optional parameters are switched off.",
            "schema": SCHEMA,
        },
        "auth": {
            "type": "basic",
            "basic": [
                {"key": "username", "value": "{{api_key}}", "type": "string"},
                {"key": "password", "value": "", "type": "string"},
            ],
        },
        "variable": [{"key": name, "value": value} for name, value in variables.items()],
        "item": [folder for tag in openapi["tags"] if (folder := _folder(openapi, tag["name"]))["item"]],
    }


def _folder(openapi: Mapping[str, Any], tag: str) -> dict[str, Any]:
    return {
        "name": tag,
        "item": [
            _item(openapi, method, path, operation)
            for method, path, operation in operations(openapi)
            if operation["tags"] == [tag]
        ],
    }


def operations(openapi: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the method, the path and the description of each operation of a document."""
    for path, methods in openapi["paths"].items():
        for method in _METHODS:
            if method in methods:
                yield method.upper(), path, methods[method]


def _item(openapi: Mapping[str, Any], method: str, path: str, operation: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request of an operation, with the first example of its body."""
    below = path.replace("{", "{{").replace("}", "}}")
    parameters = operation.get("parameters", ())
    url: dict[str, Any] = {"raw": f"{{{{base_url}}}}{below}", "host": ["{{base_url}}"], "path": below[1:].split("/")}
    if query := [_pair(parameter) for parameter in parameters if parameter["in"] == "query"]:
        url["query"] = query
    request: dict[str, Any] = {
        "method": method,
        "header": [_pair(parameter) for parameter in parameters if parameter["in"] == "header"],
        "url": url,
    }
    if "requestBody" in operation:
        examples = operation["requestBody"]["content"][JSON]["examples"].values()
        name = next(iter(examples))["$ref"].rpartition("/")[2]
        text = json.dumps(openapi["components"]["examples"][name]["value"], indent=2, ensure_ascii=False)
        request["header"].append({"key": "Content-Type", "value": JSON})
        request["body"] = {"mode": "raw", "raw": text, "options": {"raw": {"language": "json"}}}
    of_connection = " of a connection" if operation["operationId"].endswith("_of_connection") else ""
    return {"name": operation["summary"] + of_connection, "request": request}


def _pair(parameter: Mapping[str, Any]) -> dict[str, Any]:
    """Return a query parameter or a header with its example. It is switched off if it is optional."""
    value = parameter["example"]
    text = value[0] if isinstance(value, list) else value
    pair = {
        "key": parameter["name"],
        "value": text if isinstance(text, str) else json.dumps(text),
        "description": parameter.get("description", ""),
    }
    return pair if parameter.get("required") else pair | {"disabled": True}


def rendered() -> str:
    """Return the collection's text."""
    return json.dumps(collection(document()), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    TARGET.write_text(rendered(), encoding="utf-8")
