"""GET /onboarding/connection and /onboarding/qwc, POST /onboarding/password: the API of the onboarding page.

The credential is the link's token: `Authorization: Bearer <token>`.
"""

import json
from dataclasses import asdict
from typing import Any

from domain.connections.onboarding import has_called, setup_state
from domain.errors import NotFound, ServiceError
from domain.web_connector.protocol import qwc
from handlers.common.bootstrap import end_init, services
from handlers.common.http import header, response, web_connector_url
from handlers.rest.errors import STATUSES

end_init(lambda services: services.onboarding)

PROBLEM_FIELDS = ("code", "reason", "message", "at", "hresult", "path", "company_name")
"""The members of `last_error` for the page. It has texts of its own, because the hint names calls of the API."""


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Respond to one call of the page."""
    try:
        scheme, _, token = (header(event, "Authorization") or "").partition(" ")
        if scheme.lower() != "bearer":
            raise NotFound("This link is incomplete.")
        status, body = 200, {"data": _data(event, token.strip())}
    except ServiceError as error:
        details = {"details": error.details} if error.details else {}
        status = STATUSES[type(error)]
        body = {"error": {"code": error.code, "message": error.message, **details}}
    return response(status, "application/json", json.dumps(body))


def _data(event: dict[str, Any], token: str) -> dict[str, Any]:
    match event["resource"]:
        case "/onboarding/password":
            return {"password": services().onboarding.new_password(token)}
        case "/onboarding/qwc":
            connection = services().onboarding.connection_for(token)
            return {"qwc": qwc.render(connection, base_url=web_connector_url(event))}
        case _:
            return _progress(token)


def _progress(token: str) -> dict[str, Any]:
    """Return the progress of the setup, and the contact of the app. It contains nothing about requests and webhooks."""
    connection = services().onboarding.connection_for(token)
    link, error = connection.onboarding, connection.last_error or {}
    contact = services().onboarding.contact(connection)
    return {
        "name": connection.name,
        "application": qwc.app_name(connection),
        "username": connection.username,
        "company_file": connection.company_file,
        "company_file_paths": connection.company_file_paths,
        "state": setup_state(connection, services().clock()),
        "has_called": has_called(connection),
        "called_at": connection.last_connected_at,
        "company_name": connection.company_name,
        "quickbooks_product_name": connection.quickbooks_product_name,
        "problem": {name: error.get(name) for name in PROBLEM_FIELDS} if error else None,
        "contact": asdict(contact),
        "login_failed_at": connection.login_failed_at,
        "redirect_url": link.redirect_url if link else None,
        "expires_at": link.expires_at if link else None,
    }
