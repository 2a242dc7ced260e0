"""The HTTP responses to errors, and the table of their statuses."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError

from domain import errors
from domain.errors import InvalidRequest, NotFound, Problem, ServiceError
from handlers.common.http import NO_STORE
from handlers.rest.request_checks import unknown_name
from handlers.rest.responses import CONTENT_TYPE


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
    errors.HasDependants: 409,
    errors.IdempotencyKeyReused: 409,
    errors.ConnectionActive: 409,
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

_PHRASES = (("Input should be", "must be"), ("String should", "must"), ("List should", "must"), ("Value error, ", ""))
"""The beginnings of pydantic's messages and of ours."""


def expected(error: Exception, fields: Sequence[str], item_fields: Sequence[str] = ()) -> ServiceError | None:
    """Return the service's own error if the caller caused it, or None for a fault of the service.

    `fields` are the fields of the endpoint's body, and `item_fields` those of an item of its array, for suggestions.
    """
    match error:
        case ServiceError():
            return error
        case RequestValidationError():
            return InvalidRequest(_problem(failure, fields, item_fields) for failure in error.errors())
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


def _problem(error: dict[str, Any], fields: Sequence[str], item_fields: Sequence[str]) -> Problem:
    """Convert pydantic's error to the service's wording. A problem with an item of an array has its index."""
    match error["loc"]:
        case ("body", str(name), int(index), *rest):
            problem = _problem_at(error, ["body", *(rest or [name])], item_fields)
            return replace(problem, index=index)
        case _:
            return _problem_at(error, error["loc"], fields)


def _problem_at(error: dict[str, Any], location: Sequence[str | int], fields: Sequence[str]) -> Problem:
    where, *place = (str(part) for part in location)
    # A parameter's place begins with the name of the handler's argument for all parameters.
    field = ".".join(place[1:] if where == "query" else place) or where
    match error["type"]:
        case "extra_forbidden":
            return unknown_name(field, fields, "field")
        case "missing":
            return Problem(field, "is missing")
        case "string_type":
            return Problem(field, "must be a string")
        case _:
            message: str = error["msg"]
            for pydantics, ours in _PHRASES:
                message = message.replace(pydantics, ours)
            return Problem(field, message)
