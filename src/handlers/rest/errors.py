"""From an error to an answer: the one place that knows both (contract §2)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError

from domain.errors import InvalidRequest, NotFound, Problem, ServiceError, TooManyRequests
from handlers.rest.names import unknown_name

if TYPE_CHECKING:
    from collections.abc import Sequence

CONTENT_TYPE = "application/json"
NO_STORE = {"Cache-Control": "no-store"}
"""Answers hold a company's books: no cache on the way keeps them."""

_WORDS = (("Input should be", "must be"), ("String should", "must"), ("Value error, ", ""))
"""How pydantic begins its messages, and how we do."""


def expected(error: Exception, known_fields: Sequence[str]) -> ServiceError | None:
    """Return the service's own error for one that a caller can cause, None for a fault of ours.

    `known_fields` are those of the endpoint's body: an unknown one is answered with the nearest.
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


def answer(error: ServiceError) -> Response[str]:
    """Return the answer to an error that the caller can understand."""
    headers = dict(NO_STORE)
    if isinstance(error, TooManyRequests):
        headers["Retry-After"] = str(error.retry_after_seconds)
    return _answer(error.status, error.code, error.message, error.details, headers)


def fault(request_id: str) -> Response[str]:
    """Return the answer to a fault of ours: nothing of what went wrong, only where to find it in the log."""
    message = "Something went wrong on our side. Please report the request id."
    return _answer(500, "internal_error", message, {"request_id": request_id}, NO_STORE)


def _answer(
    status: int, code: str, message: str, details: dict[str, Any] | None, headers: dict[str, str]
) -> Response[str]:
    error = {"code": code, "message": message} | ({"details": details} if details else {})
    body = json.dumps({"error": error}, separators=(",", ":"))
    return Response(status, CONTENT_TYPE, body, headers=dict(headers))


def _problem(found: dict[str, Any], known_fields: Sequence[str]) -> Problem:
    """Return what pydantic found, in the service's words."""
    where, *place = (str(part) for part in found["loc"])
    # A parameter's place begins with the name of the handler's argument that holds them all.
    field = ".".join(place[1:] if where == "query" else place) or where
    match found["type"]:
        case "extra_forbidden":
            return unknown_name(field, known_fields, "field")
        case "missing":
            return Problem(field, "is missing")
        case "string_type":
            return Problem(field, "must be a string")
        case _:
            message: str = found["msg"]
            for pydantics, ours in _WORDS:
                message = message.replace(pydantics, ours)
            return Problem(field, message)
