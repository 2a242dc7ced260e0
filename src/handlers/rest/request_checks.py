"""Checks that run before routing: caller, scope, ids, parameters, body."""

import base64
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NoReturn

from domain.errors import (
    BrowserRefused,
    Forbidden,
    InvalidRequest,
    NotFound,
    Problem,
    RequestTooLarge,
    Unauthorized,
    UnsupportedMediaType,
    shortened,
)
from domain.queueing.waiting_calls import MAX_WAIT_SECONDS
from domain.records.app import AppLimits, Environment, Scope
from domain.records.approval import UNKNOWN_AUTHOR, Author
from domain.records.audit import KEY_ID, Actor, ActorType
from domain.records.permissions import PERMISSIONS, Access, Permission, Role
from handlers.common.http import header
from handlers.rest.places import Places
from handlers.rest.wording import kind_of

MAX_BODY_BYTES = 1024 * 1024
"""Maximum size of a REST body, in bytes. Web Connector calls have their own limits (`protocol/soap.py`)."""

_MAX_QUOTED = 50
"""The maximum characters of a name that a message repeats."""

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_KEY_ID = re.compile(KEY_ID)
_SECONDS = re.compile(r"[0-9]{1,2}")
MAX_IDEMPOTENCY_KEY_CHARACTERS = 255
_IDEMPOTENCY_KEY = re.compile(f"[!-~]{{1,{MAX_IDEMPOTENCY_KEY_CHARACTERS}}}")

_OWN_SITES = frozenset({"same-origin", "none"})
"""The values of `Sec-Fetch-Site` for pages of the service, and for what a person does without a page."""

Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ApiCall:
    """A call: its event, the app and its limits, the access of the caller, and the caller as an actor.

    `author` is the caller as one who queues and decides: an API key together with its rotations, or a person. `name` is
    that of the key or the person.
    `response_headers` are those that the function adds to its response.
    """

    event: Event
    app_id: str
    access: Access
    limits: AppLimits
    actor: Actor
    author: Author = UNKNOWN_AUTHOR
    environment: Environment = Environment.PRODUCTION
    name: str | None = None
    response_headers: dict[str, str] = field(default_factory=dict)

    @property
    def permissions(self) -> frozenset[Permission]:
        """The permissions of the caller."""
        return PERMISSIONS[self.access]


def call_of(event: Event) -> ApiCall:
    """Return the call with the app that the authorizer identified. Raises Unauthorized if no authorizer ran."""
    authorized = event["requestContext"].get("authorizer") or {}
    if "app_id" not in authorized:
        raise Unauthorized("Send your API key as the Basic user name with an empty password.")
    limits = {field.name: int(authorized[field.name]) for field in fields(AppLimits) if field.name in authorized}
    access, actor, author_id = _caller(authorized)
    proposes = Permission.PROPOSE in PERMISSIONS[access] and Permission.QUEUE not in PERMISSIONS[access]
    author = Author(author_id, proposes=proposes, actor=actor)
    environment = Environment(authorized.get("environment", Environment.PRODUCTION))
    name = authorized.get("person_name", actor.name)
    return ApiCall(event, authorized["app_id"], access, AppLimits(**limits), actor, author, environment, name)


def _caller(authorized: Mapping[str, Any]) -> tuple[Access, Actor, str | None]:
    """Return the access, the actor and the id of the author from the context of the authorizer."""
    if "role" in authorized:
        person_id = authorized["person_id"]
        return Role(authorized["role"]), Actor(ActorType.PERSON, person_id), person_id
    # During an upgrade, API Gateway may pass the cached answer of an authorizer that did not know ids of keys.
    key_id = authorized.get("key_id")
    actor = Actor(ActorType.API_KEY, key_id, authorized.get("key_name"))
    return Scope(authorized["scope"]), actor, authorized.get("key_family", key_id)


_REFUSALS: Mapping[Access, str] = {
    Scope.FULL: "API keys cannot manage API keys and people. An admin of the app does this in the console.",
    Scope.READ_ONLY: "This API key is read-only. It can get requests and connections, but cannot queue, change or "
    "delete them.",
    Scope.PROPOSE: "This API key can only read and queue requests. Its writes are sent after somebody has approved "
    "them.",
    Scope.APPROVE: "This API key can only read, and approve and reject requests that wait for approval.",
    **{role: f"Your role in this app is {role}, which does not allow this. Ask an admin of the app." for role in Role},
}


def require_permission(call: ApiCall, needs: frozenset[Permission]) -> None:
    """Raise Forbidden unless the caller has one of the permissions, or none is needed."""
    if needs and not call.permissions & needs:
        raise Forbidden(_REFUSALS[call.access])


def require_proposal(call: ApiCall, **given: object) -> None:
    """Raise Forbidden if a caller who may not queue writes gives something that he may not decide."""
    names = [name for name, value in given.items() if value]
    if Permission.QUEUE not in call.permissions and names:
        raise Forbidden(f"{_REFUSALS[call.access]} Leave out {names[0]}.", {"field": names[0]})


def require_no_forgery(event: Event) -> None:
    """Raise BrowserRefused if a link, or a page of another site, may have made a browser send a change.

    A browser that has stored an API key sends it by itself. It names the origin of each call in `Sec-Fetch-Site` (W3C
    Fetch Metadata), which no page can set. Programs do not send this header. The `GET` that queues, with its
    `webhook_url`, stays for existing clients. A token would be needed by programs too, browsers leave `Origin` out of a
    `GET`, and HTTP requires the `WWW-Authenticate` with which a browser stores a key.
    """
    site = header(event, "Sec-Fetch-Site")
    if site is None:
        return
    if event["httpMethod"] == "GET":
        raise BrowserRefused(
            "A browser cannot queue a request with GET, because a link could do it. "
            f"Use POST {event['path']} with the same parameters."
        )
    if site.strip().lower() not in _OWN_SITES:
        raise BrowserRefused(
            "A browser can queue or change something only from a page of this service. Make the call from a program."
        )


def require_ids(event: Event) -> None:
    """Raise NotFound if an id in the path has not the form of its kind."""
    for name, value in (event.get("pathParameters") or {}).items():
        if name == "key_id" and not _KEY_ID.fullmatch(value):
            raise NotFound("No API key has this id. Ids of keys are key_ and 16 hexadecimal digits.")
        if name != "key_id" and not _UUID.fullmatch(value):
            raise NotFound("No object has this id. Ids are lower-case UUIDs.")


def with_header(event: Event, name: str, value: str) -> dict[str, str]:
    """Return the headers with one replaced or added."""
    headers = event.get("headers") or {}
    return {key: text for key, text in headers.items() if key.lower() != name.lower()} | {name: value}


def query_parameters(event: Event) -> Mapping[str, Sequence[str]]:
    """Return the query parameters, each with all its values."""
    return event.get("multiValueQueryStringParameters") or {}


def require_known_parameters(event: Event, places: Places) -> None:
    """Raise InvalidRequest for a parameter that is not one of the endpoint's or that occurs twice."""
    parameters, names = query_parameters(event), places.parameters
    message = "is not a parameter of this endpoint"
    problems = [
        Problem(name, message, suggestion=places.instead_of_parameter(name)) for name in parameters if name not in names
    ]
    problems += [
        Problem(name, "occurs more than once", suggestion="Send it once.")
        for name, values in parameters.items()
        if name in names and len(values) > 1
    ]
    if problems:
        raise InvalidRequest(problems)


def require_no_body(event: Event) -> None:
    """Raise InvalidRequest if the call has a body."""
    if event.get("body"):
        raise InvalidRequest.of("body", "must be empty. Write the parameters in the URL")


def body_text(event: Event) -> str | None:
    """Return the body's text, or None if there is none.

    Raises RequestTooLarge, UnsupportedMediaType if its type is not JSON, and InvalidRequest if it is not UTF-8.
    """
    body = event.get("body")
    if not body:
        return None
    # The size is checked before decoding. Base64 has 4 characters for 3 bytes, and a character has at least one byte.
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
    """Return the JSON object in `text`. Raises InvalidRequest, with line and column if they are known."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        found = f", not {_beginning(text[error.pos :])}" if error.msg.startswith("Expecting ") else ""
        problem = Problem("body", f"is not JSON: {error.msg}{found}", line=error.lineno, column=error.colno)
        raise InvalidRequest([problem]) from None
    except RecursionError:
        raise InvalidRequest.of("body", "is nested too deeply") from None
    except ValueError:
        # Python refuses to parse integers of more than 4,300 digits.
        raise InvalidRequest.of("body", "has a number with too many digits") from None
    if not isinstance(value, dict):
        raise InvalidRequest(
            [Problem("body", f"must be a JSON object, not {kind_of(value)}", suggestion=_whole(value))]
        )
    if "\\u" in text and _has_lone_surrogate(value):
        raise InvalidRequest.of("body", "has half of a surrogate pair (\\ud800 to \\udfff), which is not a character")
    return value


def _beginning(text: str) -> str:
    """Return the first characters of a text as a message quotes them."""
    return repr(shortened(text, _MAX_QUOTED)) if text else "the end of the body"


def _whole(value: object) -> str | None:
    """Return how to send requests that are in an array, or None if `value` is something else."""
    if isinstance(value, list) and any("request_json" in item or "request_xml" in item for item in _objects(value)):
        return 'Write {"requests": [ … ]} and send it to POST …/queued_requests/batch.'
    return None


def _objects(values: list[Any]) -> Iterator[dict[str, Any]]:
    return (value for value in values if isinstance(value, dict))


def _object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object. A member that occurs twice is refused, because a parser would drop the first one silently."""
    value = dict(members)
    if len(value) < len(members):
        name = Counter(name for name, _ in members).most_common(1)[0][0]
        suggestion = f'An element that repeats is an array: {{"{name}": [ … ]}}.' if name[:1].isupper() else None
        message = f"has an object with the member {shortened(name, _MAX_QUOTED)!r} twice"
        raise InvalidRequest([Problem("body", message, suggestion=suggestion)])
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise InvalidRequest.of("body", f"is not JSON: {name} is not a number in JSON")


def _has_lone_surrogate(value: object) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def _too_large() -> RequestTooLarge:
    return RequestTooLarge("The body is larger than 1 MiB.", {"limit_bytes": MAX_BODY_BYTES})


def idempotency_key(event: Event) -> str | None:
    """Return the `Idempotency-Key` header. Raises InvalidRequest if it is empty, too long or not plain ASCII."""
    key = header(event, "Idempotency-Key")
    if key is not None and not _IDEMPOTENCY_KEY.fullmatch(key):
        raise InvalidRequest.of(
            "Idempotency-Key", f"must be 1 to {MAX_IDEMPOTENCY_KEY_CHARACTERS} visible ASCII characters"
        )
    return key


def preferred_wait(event: Event) -> int | None:
    """Return the seconds of the preference `wait` (RFC 7240), or None without one. Other preferences are ignored.

    Raises InvalidRequest if it is not a number of seconds for which a call can wait.
    """
    headers = event.get("multiValueHeaders") or {}
    lines = [line for name, values in headers.items() if name.lower() == "prefer" for line in values]
    for preference in ",".join(lines).split(","):
        name, _, value = (part.strip() for part in preference.partition(";")[0].partition("="))
        if name.lower() == "wait":
            seconds = value.strip('"')
            if not _SECONDS.fullmatch(seconds) or not 1 <= int(seconds) <= MAX_WAIT_SECONDS:
                allowed = f"wait=1 to wait={MAX_WAIT_SECONDS}, in whole seconds"
                raise InvalidRequest.of("Prefer", f"must be {allowed}, not {_beginning(preference.strip())}")
            return int(seconds)
    return None
