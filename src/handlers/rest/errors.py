"""The HTTP responses to errors, and the table of their statuses."""

import json
from collections.abc import Mapping
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError

from domain import errors
from domain.errors import InvalidRequest, NotFound, Problem, ServiceError
from handlers.common.http import NO_STORE
from handlers.rest.places import Places
from handlers.rest.responses import CONTENT_TYPE
from handlers.rest.wording import worded


class InternalError(ServiceError, code="internal_error"):
    """The service failed; `details.request_id` identifies the log line."""


STATUSES: Mapping[type[ServiceError], int] = {
    errors.InvalidRequest: 400,
    errors.UnsupportedByVersion: 400,
    errors.InvalidState: 400,
    errors.Unauthorized: 401,
    errors.Forbidden: 403,
    errors.BrowserRefused: 403,
    errors.NotFound: 404,
    errors.MayBeExecuted: 409,
    errors.PossiblyExecuted: 409,
    errors.OtherSuccessor: 409,
    errors.HasDependants: 409,
    errors.IdempotencyKeyReused: 409,
    errors.ConnectionActive: 409,
    errors.TooManyKeys: 409,
    errors.TestConnectionsOff: 409,
    errors.Gone: 410,
    errors.CursorExpired: 410,
    errors.RequestTooLarge: 413,
    errors.UnsupportedMediaType: 415,
    errors.TooManyRequests: 429,
    errors.QuotaExceeded: 429,
    InternalError: 500,
    errors.Unavailable: 503,
}
"""The HTTP status of every error."""


def expected(error: Exception, places: Places) -> ServiceError | None:
    """Return the service's own error if the caller caused it, or None for a fault of the service."""
    match error:
        case ServiceError():
            return error
        case RequestValidationError():
            return InvalidRequest(_problem(failure, places) for failure in error.errors())
        case NotFoundError():
            return NotFound("The path or method does not exist.")
        case _:
            return None


def error_response(error: ServiceError) -> Response[str]:
    """Return the response to an error."""
    headers = dict(NO_STORE)
    if error.retry_after_seconds is not None:
        headers["Retry-After"] = str(error.retry_after_seconds)
    members = {"code": error.code, "message": error.message} | ({"details": error.details} if error.details else {})
    body = json.dumps({"error": members}, separators=(",", ":"))
    return Response(STATUSES[type(error)], CONTENT_TYPE, body, headers=headers)


def _problem(error: dict[str, Any], places: Places) -> Problem:
    """Convert pydantic's error to the service's wording. A problem with an item of an array has its index."""
    where, *path = error["loc"]
    if where == "query":
        # A parameter's place begins with the name of the handler's argument for all parameters.
        message, suggestion = worded(error, None)
        return Problem(".".join(map(str, path[1:])) or where, message, suggestion=suggestion)
    index: int | None = None
    shown = path
    match path:
        case [str(name), int(position), *rest]:
            index, shown = position, rest or [name]
    field = ".".join(map(str, shown)) or where
    if error["type"] == "extra_forbidden":
        suggestion = places.instead_of_field(str(path[-1]), path[:-1])
        return Problem(field, "is not a field of this endpoint", suggestion=suggestion, index=index)
    message, suggestion = worded(error, places.example(path) if path else None)
    if path[-1:] == ["request_xml"] and isinstance(error.get("input"), dict | list):
        suggestion = "Send JSON as request_json."
    return Problem(field, message, suggestion=suggestion, index=index)
