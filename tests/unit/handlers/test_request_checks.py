"""What is known of a call before its function looks at it."""

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
        request_checks.caller(event(requestContext={"authorizer": authorizer}))


def test_another_functions_path_is_not_found() -> None:
    answer = handler(event(path="/api/v1/nowhere"), None)

    assert answer["statusCode"] == 404
    assert '"code":"not_found"' in answer["body"]


def test_contention_has_a_retry_after_header() -> None:
    answer = errors.error_response(TooManyRequests("busy", retry_after_seconds=3))

    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "3")


@pytest.mark.parametrize(
    ("context", "headers", "base_url"),
    [
        ({"domainName": "api.example", "path": "/live/api/v1/connections"}, {}, "https://api.example/live"),
        ({"domainName": "queue.example", "path": "/api/v1/connections"}, {}, "https://queue.example"),
        (
            {"domainName": "127.0.0.1"},
            {"host": "127.0.0.1:3000", "x-forwarded-proto": "http"},
            "http://127.0.0.1:3000",
        ),
    ],
)
def test_the_base_url_is_that_of_the_call(context: dict[str, str], headers: dict[str, str], base_url: str) -> None:
    assert request_checks.base_url(event(requestContext=context, headers=headers)) == base_url


def test_invalid_base64_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="UTF-8"):
        request_checks.body_text(event(body="***", isBase64Encoded=True))
