"""Checks that run before routing: caller, scope, ids, parameters, body."""

from __future__ import annotations

from typing import Any

import pytest

from domain.errors import InvalidRequest, TooManyRequests, Unauthorized
from handlers.get_connection import handler
from handlers.rest import errors, request_checks


def event(**fields: Any) -> dict[str, Any]:
    """Return a call of the connections' list."""
    return {
        "httpMethod": "GET",
        "path": "/api/v1/connections",
        "headers": None,
        "pathParameters": None,
        "multiValueQueryStringParameters": None,
        "requestContext": {
            "path": "/api/v1/connections",
            "requestId": "1",
            "authorizer": {"app_id": "a", "scope": "full"},
        },
        "body": None,
        "isBase64Encoded": False,
    } | fields


@pytest.mark.parametrize("authorizer", [None, {}, {"principalId": "a"}])
def test_a_call_without_an_authorizer_is_refused(authorizer: dict[str, str] | None) -> None:
    with pytest.raises(Unauthorized):
        request_checks.call_of(event(requestContext={"authorizer": authorizer}))


def test_another_functions_path_is_not_found() -> None:
    response = handler(event(path="/api/v1/nowhere"), None)

    assert response["statusCode"] == 404
    assert '"code":"not_found"' in response["body"]


def test_contention_has_a_retry_after_header() -> None:
    response = errors.error_response(TooManyRequests("busy", retry_after_seconds=3))

    assert (response.status_code, response.headers["Retry-After"]) == (429, "3")


def test_invalid_base64_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="UTF-8"):
        request_checks.body_text(event(body="***", isBase64Encoded=True))
