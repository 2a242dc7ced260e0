"""POST /session and /session/end: a session token for the cookie of a browser, and the end of the sign-in.

The cookie is sent to these paths only, by pages of the service only (`SameSite=Strict`), and counts only with the
`Origin` of the service. So no other site can make a browser use it.
"""

import json
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from domain.errors import BrowserRefused, InvalidRequest, NotFound, ServiceError, Unauthorized
from domain.people.tokens import TOKEN_SECONDS, Cookie
from domain.records.app import App
from domain.records.person import Membership
from handlers.common.bootstrap import end_init, services
from handlers.common.cookies import SESSION_COOKIE, cookie, set_cookie
from handlers.common.http import NO_STORE, header, public_url
from handlers.rest.errors import STATUSES
from handlers.rest.request_checks import body_text, json_object

end_init(lambda services: services.sign_ins)


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Respond to one call of the console."""
    try:
        _require_own_origin(event)
        if event["resource"] == "/session/end":
            return _ended(event)
        return _response(200, {"data": _opened(event)})
    except ServiceError as error:
        return _response(STATUSES[type(error)], {"error": {"code": error.code, "message": error.message}})


def _opened(event: dict[str, Any]) -> dict[str, Any]:
    body = json_object(body_text(event) or "{}")
    app_id = body.get("app_id")
    if not isinstance(app_id, str | None):
        raise InvalidRequest.of("app_id", "must be the id of an app")
    opened = services().sign_ins.open(_cookie(event), app_id)
    person = opened.person
    return {
        "token": opened.token,
        "expires_in": TOKEN_SECONDS,
        "person": {"id": person.id, "name": person.name, "email": person.email},
        "app": _app(*opened.chosen) if opened.chosen else None,
        "apps": [_app(*one) for one in opened.memberships],
    }


def _ended(event: dict[str, Any]) -> dict[str, Any]:
    """End the sign-in. The browser forgets its cookie also if the sign-in has ended already."""
    everywhere = json_object(body_text(event) or "{}").get("everywhere") is True
    with suppress(Unauthorized):
        services().sign_ins.end(_cookie(event), everywhere=everywhere)
    return _response(204, None, set_cookie(event, SESSION_COOKIE, "", 0, same_site="Strict"))


def _app(membership: Membership, app: App) -> dict[str, Any]:
    return {"id": app.id, "name": app.name, "environment": app.environment, "role": membership.role}


def _cookie(event: dict[str, Any]) -> Cookie | None:
    return Cookie.of(cookie(event, SESSION_COOKIE) or "")


def _require_own_origin(event: dict[str, Any]) -> None:
    """Raise BrowserRefused unless a page of the service makes the call. Browsers send `Origin` with every POST."""
    if not services().settings.oidc_issuer:
        raise NotFound("This service has no sign-in for people. Use an API key.")
    public = urlsplit(public_url(event))
    # A page cannot choose the host that its browser calls for the origin of another one.
    hosts = {public.netloc, header(event, "Host")}
    origin = urlsplit(header(event, "Origin") or "")
    if origin.scheme != public.scheme or origin.netloc not in hosts:
        raise BrowserRefused(f"Only a page of this service can use a sign-in. Open the console at {public.netloc}.")


def _response(status: int, body: dict[str, Any] | None, *cookies: str) -> dict[str, Any]:
    headers = {name: [value] for name, value in {**NO_STORE, "Content-Type": "application/json"}.items()}
    return {
        "statusCode": status,
        "multiValueHeaders": headers | ({"Set-Cookie": list(cookies)} if cookies else {}),
        "body": "" if body is None else json.dumps(body),
        "isBase64Encoded": False,
    }
