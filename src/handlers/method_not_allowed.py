"""Every method that a path of the REST API does not have: 405 with the methods that it has."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from handlers.common.bootstrap import end_init
from handlers.common.http import NO_STORE, response

end_init()

_OPENAPI = Path(__file__).resolve().parents[1] / "console" / "openapi.json"

_METHODS = frozenset({"get", "put", "post", "delete", "patch"})
"""A path of OpenAPI has other members too, such as `parameters`."""


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Return 405 with the path's methods in `Allow`."""
    path = event["resource"]
    allowed = ", ".join(methods()[path])
    message = f"{path} does not have the method {event['httpMethod']}. It has {allowed}."
    body = json.dumps({"error": {"code": "method_not_allowed", "message": message}})
    return response(405, "application/json", body, {**NO_STORE, "Allow": allowed})


@cache
def methods() -> dict[str, list[str]]:
    """Return the methods of each path of the REST API, from its OpenAPI document.

    A GET that only reads has a HEAD, which the document does not describe. The others queue a request (202).
    """
    paths = json.loads(_OPENAPI.read_text(encoding="utf-8"))["paths"]
    found = {path: {name.upper() for name in members if name in _METHODS} for path, members in paths.items()}
    for path, members in paths.items():
        if "GET" in found[path] and "202" not in members["get"]["responses"]:
            found[path].add("HEAD")
    return {path: sorted(names) for path, names in found.items()}
