"""The HTTP responses to errors, and the table of their statuses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError

from domain import errors
from domain.errors import InvalidRequest, NotFound, Problem, ServiceError
from handlers.http import NO_STORE
from handlers.rest.names import unknown_name
from handlers.rest.responses import CONTENT_TYPE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

STATUSES: Mapping[type[ServiceError], int] = {
    errors.InvalidRequest: 400,
    errors.UnsupportedByVersion: 400,
    errors.InvalidState: 400,
    errors.Unauthorized: 401,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    errors.InFlight: 409,
    errors.IdempotencyKeyReused: 409,
    errors.ConnectionActive: 409,
    errors.Gone: 410,
    errors.RequestTooLarge: 413,
    errors.UnsupportedMediaType: 415,
    errors.TooManyRequests: 429,
    errors.QuotaExceeded: 429,
}
"""The HTTP status of every error."""

INTERNAL_ERROR = "internal_error"

_PHRASES = (("Input should be", "must be"), ("String should", "must"), ("Value error, ", ""))
"""The beginnings of pydantic's messages and of ours."""


def expected(error: Exception, known_fields: Sequence[str]) -> ServiceError | None:
    """Return the service's own error if the caller caused it, or None for a fault of the service.

    `known_fields` are the fields of the endpoint's body, for suggestions.
    """
    match error:
        case ServiceError():
            return error
        case RequestValidationError():
            return InvalidRequest(_problem(one, known_fields) for one in error.errors())
        case NotFoundError():
            return NotFound("There is no such path or method.")
        case _:
            return None


def error_response(error: ServiceError) -> Response[str]:
    """Return the response to an error that the caller caused."""
    headers = dict(NO_STORE)
    if error.retry_after_seconds is not None:
        headers["Retry-After"] = str(error.retry_after_seconds)
    return _response(STATUSES[type(error)], error.code, error.message, error.details, headers)


def fault_response(request_id: str) -> Response[str]:
    """Return the response to a fault of the service. It contains only the id with which the log has the details."""
    message = "Something went wrong on our side. Please report details.request_id."
    return _response(500, INTERNAL_ERROR, message, {"request_id": request_id}, NO_STORE)


def _response(
    status: int, code: str, message: str, details: dict[str, Any] | None, headers: Mapping[str, str]
) -> Response[str]:
    error = {"code": code, "message": message} | ({"details": details} if details else {})
    body = json.dumps({"error": error}, separators=(",", ":"))
    return Response(status, CONTENT_TYPE, body, headers=dict(headers))


def _problem(error: dict[str, Any], known_fields: Sequence[str]) -> Problem:
    """Convert pydantic's error to the service's wording."""
    where, *place = (str(part) for part in error["loc"])
    # A parameter's place begins with the name of the handler's argument for all parameters.
    field = ".".join(place[1:] if where == "query" else place) or where
    match error["type"]:
        case "extra_forbidden":
            return unknown_name(field, known_fields, "field")
        case "missing":
            return Problem(field, "is missing")
        case "string_type":
            return Problem(field, "must be a string")
        case _:
            message: str = error["msg"]
            for pydantics, ours in _PHRASES:
                message = message.replace(pydantics, ours)
            return Problem(field, message)
