"""Every method that a path of the REST API does not have: 405 with the methods that it has.

Every path below /api/v1 that does not exist: 404 with the path that is probably meant.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

from handlers.common.bootstrap import end_init
from handlers.common.http import NO_STORE, response, without_body
from handlers.common.paths import PREFIX, is_id, known_beginning, suggested_path

end_init()

_OPENAPI = Path(__file__).resolve().parents[1] / "console" / "openapi.json"

_METHODS = frozenset({"get", "put", "post", "delete", "patch"})
"""A path of OpenAPI has other members too, such as `parameters`."""


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Return 405 with the path's methods in `Allow`, or 404 with the path that is meant."""
    path, method, parameters = event["resource"], event["httpMethod"], event.get("pathParameters") or {}
    if path not in methods() or not all(map(is_id, parameters.values())):
        # A misspelt name, such as that of `…/queued_requests/batch`, has the place of an id.
        called = path.replace("{path+}", "{path}").format(**parameters).removeprefix(PREFIX)
        result = _unknown_path(method, called)
        return without_body(result) if method == "HEAD" else result
    allowed = ", ".join(methods()[path])
    message = f"{path} does not have the method {method}. It has {allowed}."
    body = json.dumps({"error": {"code": "method_not_allowed", "message": message}})
    return response(405, "application/json", body, {**NO_STORE, "Allow": allowed})


def _unknown_path(method: str, path: str) -> dict[str, Any]:
    """Return the response to a path that does not exist. It repeats only ids of what the caller has written."""
    beginning, following = known_beginning(path, methods())
    message = f"The path does not exist. {beginning}/ can be followed by {', '.join(following)}."
    if not following:
        message = f"The path does not exist. {beginning} exists, but nothing can follow it."
    if found := suggested_path(path, methods()):
        template, suggested = found
        allowed = methods()[template]
        others = "" if method in allowed else f" It has {', '.join(allowed)}."
        message = f"The path does not exist. Did you mean {suggested}?{others}"
    body = json.dumps({"error": {"code": "not_found", "message": message}})
    return response(404, "application/json", body)


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
