"""What can be known of a call before its function looks at it: who calls, and whether it may be read at all."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from domain.apps.record import Scope
from domain.errors import (
    Forbidden,
    InvalidRequest,
    NotFound,
    Problem,
    RequestTooLarge,
    Unauthorized,
    UnsupportedMediaType,
)
from handlers.rest.names import unknown_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAX_BODY_BYTES = 1024 * 1024
"""Contract §4."""

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_IDEMPOTENCY_KEY = re.compile(r"[!-~]{1,255}")

Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls: an app, by a key with this scope."""

    app_id: str
    scope: Scope


def caller_of(event: Event) -> Caller:
    """Return what the authorizer said. Raises Unauthorized when no authorizer was asked."""
    known = event["requestContext"].get("authorizer") or {}
    if "app_id" not in known:
        raise Unauthorized("Send your API key as the Basic user name with an empty password.")
    return Caller(known["app_id"], Scope(known["scope"]))


def require_full_scope(event: Event) -> None:
    """Raise Forbidden for a read-only key."""
    if caller_of(event).scope is not Scope.FULL:
        raise Forbidden("This API key is read-only: it can get what is stored, not queue, change or delete.")


def require_ids(event: Event) -> None:
    """Raise NotFound when an id in the path is no lower-case UUID: nothing has such an id."""
    for value in (event.get("pathParameters") or {}).values():
        if not _UUID.fullmatch(value):
            raise NotFound("There is nothing with this id: ids are lower-case UUIDs.")


def header(event: Event, name: str) -> str | None:
    """Return a header's value, whatever the case of its name."""
    for one, value in (event.get("headers") or {}).items():
        if one.lower() == name.lower():
            text: str = value
            return text
    return None


def with_header(event: Event, name: str, value: str) -> dict[str, str]:
    """Return the headers with one set anew, whatever the case of its name."""
    headers = event.get("headers") or {}
    return {one: text for one, text in headers.items() if one.lower() != name.lower()} | {name: value}


def query_of(event: Event) -> Mapping[str, Sequence[str]]:
    """Return the query parameters, each with all its values."""
    return event.get("multiValueQueryStringParameters") or {}


def require_known_parameters(event: Event, known: Sequence[str]) -> None:
    """Raise InvalidRequest for a parameter that the endpoint does not have, or that is given twice."""
    problems = [unknown_name(name, known, "parameter") for name in query_of(event) if name not in known]
    problems += [
        Problem(name, "is given more than once")
        for name, values in query_of(event).items()
        if name in known and len(values) > 1
    ]
    if problems:
        raise InvalidRequest(problems)


def body_of(event: Event) -> str | None:
    """Return the body's text, None when there is none.

    Raises RequestTooLarge, UnsupportedMediaType when it is not said to be JSON, InvalidRequest
    when it is not UTF-8.
    """
    body = event.get("body")
    if not body:
        return None
    # Before anything is decoded: base64 is longer than what it stands for, and so are bytes than characters.
    if len(body) > MAX_BODY_BYTES * 4 // 3 + 4:
        raise _too_large()
    try:
        data = base64.b64decode(body, validate=True) if event.get("isBase64Encoded") else body.encode()
        if len(data) > MAX_BODY_BYTES:
            raise _too_large()
        text = data.decode()
    except ValueError:
        raise InvalidRequest.of("body", "must be UTF-8") from None
    media_type = (header(event, "Content-Type") or "application/json").split(";")[0].strip().lower()
    if media_type != "application/json":
        raise UnsupportedMediaType(f"Send JSON with Content-Type: application/json, not {media_type}.")
    return text


def json_object(text: str) -> dict[str, Any]:
    """Return the JSON object in `text`. Raises InvalidRequest, with line and column where they are known."""
    try:
        value = json.loads(text, parse_constant=_no_json_number)
    except json.JSONDecodeError as error:
        problem = Problem("body", f"is not JSON: {error.msg}", line=error.lineno, column=error.colno)
        raise InvalidRequest([problem]) from None
    except RecursionError:
        raise InvalidRequest.of("body", "is nested too deeply") from None
    except ValueError:
        # Python reads integers of up to 4,300 digits.
        raise InvalidRequest.of("body", "holds a number that cannot be read") from None
    if not isinstance(value, dict):
        raise InvalidRequest.of("body", "must be a JSON object")
    if "\\u" in text and _has_lone_surrogate(value):
        raise InvalidRequest.of("body", "holds half of a surrogate pair (\\ud800 to \\udfff), which is no character")
    return value


def _no_json_number(name: str) -> NoReturn:
    raise InvalidRequest.of("body", f"is not JSON: {name} is no JSON number")


def _has_lone_surrogate(value: object) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def _too_large() -> RequestTooLarge:
    return RequestTooLarge("The body is over 1 MiB.", {"limit_bytes": MAX_BODY_BYTES})


def base_url_of(event: Event) -> str:
    """Return the URL that the caller used, up to where the path of the API begins."""
    context = event["requestContext"]
    # The header, because only it has a port; without one, the gateway's own name.
    host = header(event, "Host") or context["domainName"]
    # With a stage in its URL the gateway's path has it in front of the API's own.
    stage = context.get("path", event["path"]).removesuffix(event["path"])
    return f"{header(event, 'X-Forwarded-Proto') or 'https'}://{host}{stage}"


def idempotency_key_of(event: Event) -> str | None:
    """Return the `Idempotency-Key` header. Raises InvalidRequest when it is empty, too long or not plain ASCII."""
    key = header(event, "Idempotency-Key")
    if key is not None and not _IDEMPOTENCY_KEY.fullmatch(key):
        raise InvalidRequest.of("Idempotency-Key", "must be 1 to 255 visible ASCII characters")
    return key
