"""Makes the methods of `books.api`: one for each route of the API, from `docs/openapi.json`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

METHODS = ("get", "post", "put", "patch", "delete")
KEY = "Idempotency-Key"
RENAMED = {"from": "from_"}
"""The parameters whose names are words of Python."""


@dataclass(frozen=True)
class Route:
    """A route. The members but `types` and `summary` are those of `qbxml_queue.api.Route`."""

    method: str
    path: str
    ids: tuple[str, ...]
    parameters: dict[str, str]
    joined: tuple[str, ...]
    has_body: bool
    needs_body: bool
    has_key: bool
    returns_data: bool
    types: tuple[str, ...]
    """The types of the body, of the parameters, and of the result."""
    summary: str


def routes(document: Mapping[str, Any], type_of: Callable[[Mapping[str, Any]], str]) -> dict[str, Route]:
    """Return the routes by their operation ids. `type_of` returns the type of a JSON schema."""
    found = {
        operation["operationId"]: _route(method, path, operation, document["components"]["schemas"], type_of)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if method in METHODS
    }
    return dict(sorted(found.items()))


def _route(
    method: str,
    path: str,
    operation: Mapping[str, Any],
    schemas: Mapping[str, Any],
    type_of: Callable[[Mapping[str, Any]], str],
) -> Route:
    given = operation.get("parameters", ())
    query = [one for one in given if one["in"] == "query"]
    body = _schema(operation.get("requestBody", {}))
    success = next(answer for status, answer in sorted(operation["responses"].items()) if status.startswith("2"))
    answer = _schema(success)
    properties = schemas[answer["$ref"].rpartition("/")[2]]["properties"] if answer and "$ref" in answer else {}
    returns_data = set(properties) == {"data"}
    result = type_of(properties["data"]) if returns_data else type_of(answer) if answer else "None"
    kinds = [type_of(one["schema"]).replace("list[", "Sequence[") for one in query]
    return Route(
        method=method.upper(),
        path=path,
        ids=tuple(one["name"] for one in given if one["in"] == "path" and one["name"] != "connection_id"),
        parameters={_python_name(one["name"]): one["name"] for one in query},
        joined=tuple(_python_name(one["name"]) for one in query if one.get("explode") is False),
        has_body=body is not None,
        needs_body=operation.get("requestBody", {}).get("required", False),
        has_key=any(one["name"] == KEY for one in given),
        returns_data=returns_data,
        types=(type_of(body) if body else "", *kinds, result),
        summary=operation.get("summary", "").rstrip("."),
    )


def _schema(content: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the schema of the JSON in a body, or None if it has none."""
    schema: Mapping[str, Any] | None = content.get("content", {}).get("application/json", {}).get("schema")
    return schema


def _python_name(name: str) -> str:
    return RENAMED.get(name, name.removesuffix("[]"))


def table_module(found: Mapping[str, Route]) -> str:
    """Return the module with what the client knows of each route at run time."""
    return "\n".join(
        [
            '"""What the client knows of the routes of the API at run time."""',
            "",
            "from qbxml_queue.api import Route",
            "",
            "ROUTES: dict[str, Route] = {",
            *(f'    "{name}": {_constructor(route)},' for name, route in found.items()),
            "}",
            '"""The routes by their operation ids."""',
            "",
        ]
    )


def _constructor(route: Route) -> str:
    values = [f"{name}={value!r}" for name, value in vars(route).items() if name not in {"types", "summary"}]
    return f"Route({', '.join(values)})"


def types_module(found: Mapping[str, Route], records: Iterable[str]) -> str:
    """Return the module with the types of `books.api`, for the synchronous and the asyncio client."""
    words = {word for route in found.values() for kind in route.types for word in re.findall(r"\w+", kind)}
    lines = [
        '"""The types of the routes of the API. Only type checkers and editors read them."""',
        "",
        "from __future__ import annotations",
        "",
        "from collections.abc import Sequence",
        "from typing import Any, Literal, Protocol",
        "",
        f"from qbxml_queue.schema.records import {', '.join(sorted(words.intersection(records)))}",
    ]
    for title, definition in (("Api", "def"), ("ApiAsync", "async def")):
        lines += ["", f"class {title}(Protocol):", '    """The routes of the API."""']
        for name, route in found.items():
            lines += _method(name, route, definition)
    return "\n".join(lines) + "\n"


def _method(name: str, route: Route, definition: str) -> Iterator[str]:
    body, *kinds, result = route.types
    first = [f"{one}: str" for one in route.ids]
    if route.has_body:
        first.append(f"body: {body}" if route.needs_body else f"body: {body} | None = None")
    options = [f"{one}: {kind} | None = None" for one, kind in zip(route.parameters, kinds, strict=True)]
    options += ["connection_id: str | None = None"] if "{connection_id}" in route.path else []
    options += ["idempotency_key: str | None = None"] if route.has_key else []
    arguments = ["self", *first, *(["/"] if first else []), *(["*", *options] if options else [])]
    yield f"    {definition} {name}({', '.join(arguments)}) -> {result}:"
    yield f'        """{route.method} {route.path}: {route.summary}."""'
