"""GET and HEAD of /, /app, /docs, /openapi.json, /openapi-3.0.json, /support and /onboarding: static files.

An asset's path contains a hash of all assets. Browsers can therefore cache it permanently, and a new deployment
replaces all assets together. Pages and the schema's facts are revalidated. API Gateway compresses the responses.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from handlers.common.bootstrap import end_init, services
from handlers.common.http import SECURITY_HEADERS, for_both_apis, header, public_url, response, without_body

end_init()

LOCAL_URL = "http://127.0.0.1:3000"
"""The server in the OpenAPI document of the repository: `make run`."""

_SOURCE = Path(__file__).resolve().parents[1]
_CONSOLE = _SOURCE / "console"
_SCHEMA = _SOURCE / "domain" / "qbxml" / "schema" / "data"

_PAGES: Mapping[str, str] = {
    "app": "index.html",
    "docs": "index.html",
    "support": "support.html",
    "onboarding": "onboarding.html",
}
"""The first segment of a path and its page. /docs and every path below /app is a view of the console."""

_DOCUMENTS = frozenset({"openapi.json", "openapi-3.0.json"})

_TYPES: Mapping[str, str] = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}

_KEEP = "public, max-age=31536000, immutable"
_REVALIDATE = "no-cache"

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_TRUSTED_TYPES = "; require-trusted-types-for 'script'; trusted-types read-xml"
"""Text is never converted to HTML. The only policy reads XML (`console/lib/xml.js`)."""

_POLICY_OF_DOCS = _POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")
"""Swagger UI writes style attributes and converts text to HTML."""

_POLICY_OF_ONBOARDING = _POLICY.replace("img-src 'self' data:", "img-src 'self' data: https:") + _TRUSTED_TYPES
"""The page shows the logo of the app, which is on any host. It sends no referrer, and its token is not in the URL."""

_UNUSED_FEATURES = (
    "accelerometer", "autoplay", "camera", "clipboard-read", "display-capture", "encrypted-media", "fullscreen",
    "geolocation", "gyroscope", "hid", "idle-detection", "magnetometer", "microphone", "midi", "payment",
    "picture-in-picture", "publickey-credentials-get", "screen-wake-lock", "serial", "usb", "xr-spatial-tracking",
)  # fmt: skip
"""Features of browsers that no page uses. The pages write to the clipboard, which is allowed to them."""

_HEADERS: Mapping[str, str] = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": ", ".join(f"{feature}=()" for feature in _UNUSED_FEATURES) + ", clipboard-write=(self)",
    "Referrer-Policy": "no-referrer",
    **SECURITY_HEADERS,
}


@for_both_apis
def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Return the file that belongs to the path, 304 if the browser has it, or 404. HEAD gets no body."""
    result = _answer(event)
    return without_body(result) if event["httpMethod"] == "HEAD" else result


def _answer(event: dict[str, Any]) -> dict[str, Any]:
    # Behind a custom domain the path may begin with the domain's base path; the resource never does.
    path = event["resource"].replace("{path+}", (event.get("pathParameters") or {}).get("path", ""))
    name, _, below = path.removeprefix("/").partition("/")
    if not name:
        # To the console, relative to the path that the browser called: `/`, or with a stage `/live/` or `/live`.
        location = event["requestContext"]["path"].rpartition("/")[2]
        location += "/app" if location else "app"
        return response(302, "text/plain; charset=utf-8", "", {**_HEADERS, "Location": location})
    if name in _DOCUMENTS:
        # Importers call the first server of the document, so it is the deployment that serves it.
        text = (_CONSOLE / name).read_text(encoding="utf-8")
        return _file_response(event, text.replace(LOCAL_URL, public_url(event), 1), ".json", _REVALIDATE)
    if name == "app" and (computed := _computed(below)) is not None:
        return _file_response(event, computed, ".json", _REVALIDATE)
    if name == "app" and below.startswith("schema/"):
        return _file(event, _inside(_SCHEMA, below.removeprefix("schema/")), _REVALIDATE)
    if name == "app" and below.startswith("assets/"):
        _, version, path = [*below.split("/", 2), ""][:3]
        return _file(event, _asset(path) if version == assets_version() else None, _KEEP)
    return _page(event, name, below.rstrip("/"))


@cache
def assets_version() -> str:
    """Return a hash of all assets."""
    digest = hashlib.sha256()
    for path in sorted(path for path in _CONSOLE.rglob("*") if path.suffix in _TYPES):
        data = path.read_bytes()
        digest.update(f"{path.relative_to(_CONSOLE)} {len(data)}\n".encode() + data)
    return digest.hexdigest()[:16]


def _page(event: dict[str, Any], name: str, below: str) -> dict[str, Any]:
    """Return a page. Its asset paths are relative, so it works behind any stage or base path."""
    depth = (1 + below.count("/") if below else 0) + event["path"].endswith("/")
    html = (_CONSOLE / _PAGES[name]).read_text(encoding="utf-8")
    text = html.replace("{{assets}}", f"{'../' * depth}app/assets/{assets_version()}")
    text = text.replace("{{sign_in}}", "on" if services().settings.oidc_issuer else "off")
    policy = {"docs": _POLICY_OF_DOCS, "onboarding": _POLICY_OF_ONBOARDING}.get(name, _POLICY + _TRUSTED_TYPES)
    return _file_response(event, text, ".html", _REVALIDATE, {"Content-Security-Policy": policy})


def _asset(path: str) -> Path | None:
    """Return an asset's file. Swagger UI comes with Powertools."""
    if path in {"vendor/swagger-ui-bundle.min.js", "vendor/swagger-ui.min.css"}:
        return _swagger_ui() / Path(path).name
    return _inside(_CONSOLE, path)


@cache
def _swagger_ui() -> Path:
    powertools = find_spec("aws_lambda_powertools")
    if powertools is None or powertools.origin is None:
        raise FileNotFoundError("aws_lambda_powertools")
    return Path(powertools.origin).parent / "event_handler" / "openapi" / "swagger_ui"


def _inside(folder: Path, path: str) -> Path | None:
    """Return the file at `path` below `folder`, or None if there is none. No other path reaches the file system."""
    return _files(folder).get(path)


@cache
def _files(folder: Path) -> Mapping[str, Path]:
    """Return the files that may be served, by their path below the folder."""
    return {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.suffix in _TYPES}


@cache
def _fields() -> str:
    """Return an index of the schema as JSON: for each element, the positions of its requests and of its responses.

    A position counts the names in `index.json`.
    """
    index: dict[str, tuple[list[int], list[int]]] = {}
    for position, name in enumerate(json.loads((_SCHEMA / "index.json").read_text())):
        request = json.loads((_SCHEMA / "requests" / f"{name}.json").read_text())
        response = json.loads((_SCHEMA / "responses" / f"{name.removesuffix('Rq')}Rs.json").read_text())
        groups = [request["content"], *request["types"]]
        for side, elements in enumerate(({e for group in groups for e in _elements(group)}, _keys(response))):
            for element in elements:
                index.setdefault(element, ([], []))[side].append(position)
    return json.dumps(index, separators=(",", ":"))


def _computed(below: str) -> str | None:
    """Return the JSON at a path below /app that is computed from the schema, or None if the path is another one."""
    if below == "schema/fields.json":
        return _fields()
    folder, _, file = below.rpartition("/")
    is_known = folder == "schema/answers" and _inside(_SCHEMA, f"requests/{file}") is not None
    return _answers(file.removesuffix(".json")) if is_known else None


def _answers(request_name: str) -> str:
    """Return the statuses that a request can be answered with, as JSON."""
    # Only the reference needs this. Importing the code that reads QBXML would double the time of a cold start.
    from domain.qbxml.codes.answers import possible_answers  # noqa: PLC0415

    answers = [
        {"code": status.code, "message": status.message, "hint": status.hint, "retryable": status.retryable}
        for status in possible_answers(request_name)
    ]
    return json.dumps(answers, separators=(",", ":"))


def _elements(group: Any) -> Iterator[str]:
    """Yield the names of the elements of a group: `["Name", …]`, or a group in it."""
    for part in (group.get("sequence") or group.get("choice") or ()) if isinstance(group, dict) else ():
        if isinstance(part, list):
            yield part[0]
        else:
            yield from _elements(part)


def _keys(value: Any) -> set[str]:
    """Return the names of all members of a JSON value."""
    if isinstance(value, dict):
        return set(value).union(*map(_keys, value.values()))
    return set().union(*map(_keys, value)) if isinstance(value, list) else set()


def _file(event: dict[str, Any], file: Path | None, caching: str) -> dict[str, Any]:
    if file is None:
        # Not cached, because a new page may call an old function during a deployment.
        headers = {**_HEADERS, "Cache-Control": "no-store"}
        return response(404, "text/plain; charset=utf-8", "The file does not exist.\n", headers)
    return _file_response(event, file.read_text(encoding="utf-8"), file.suffix, caching)


def _file_response(
    event: dict[str, Any], text: str, suffix: str, caching: str, extra: Mapping[str, str] | None = None
) -> dict[str, Any]:
    # The tag is weak, because API Gateway may compress the same text.
    tag = f'W/"{hashlib.sha256(text.encode()).hexdigest()[:16]}"'
    headers = {**_HEADERS, **(extra or {}), "Cache-Control": caching, "ETag": tag}
    is_cached = tag in (header(event, "If-None-Match") or "")
    return response(304 if is_cached else 200, _TYPES[suffix], "" if is_cached else text, headers)
