"""One endpoint of the REST API: Powertools' resolver between the service's checks and its responses."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args

from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response
from aws_lambda_powertools.event_handler.openapi import params
from pydantic import BaseModel, ConfigDict

from domain.apps.record import Scope
from domain.errors import (
    Forbidden,
    InvalidRequest,
    NotFound,
    RequestTooLarge,
    ServiceError,
    TooManyRequests,
    Unauthorized,
    UnsupportedMediaType,
)
from handlers.rest import request_checks
from handlers.rest.errors import InternalError, error_response, expected
from handlers.rest.responses import CONTENT_TYPE, for_read_only_key, render

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from domain.queries import Query as ConvenienceQuery

REQUEST = "/api/v1/queued_requests/<request_id>"
REQUEST_OF_CONNECTION = "/api/v1/connections/<connection_id>/queued_requests/<request_id>"
"""The two paths of a request."""

_PATH_PARAMETERS = {
    "connection_id": params.Path(description="The connection's id.", json_schema_extra={"format": "uuid"}),
    "request_id": params.Path(description="The request's id.", json_schema_extra={"format": "uuid"}),
}

logger = Logger(serialize_stacktrace=False)  # the log line already contains the stack trace as text


class Body(BaseModel):
    """A body without unknown fields and without conversion between types."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Parameters(BaseModel):
    """The query parameters of an endpoint."""


Model = TypeVar("Model", Body, Parameters)


@dataclass(frozen=True, slots=True)
class Operation:
    """A method, a path and the function that handles them. `statuses` are the status codes of success."""

    id: str
    method: str
    path: str
    function: Callable[..., Any]
    statuses: tuple[int, ...]
    errors: frozenset[type[ServiceError]]


class Endpoint:
    """A Lambda handler with the operations of one endpoint.

    A handler function takes the parameters of its path by name, a `Body` and `Parameters`. It returns the response's
    body, None for an empty one, or a finished `Response`. Its docstring is the description in OpenAPI, and its return
    type is the schema.
    """

    def __init__(self, tag: str, *, changes: bool = False, query: ConvenienceQuery | None = None) -> None:
        """Refuse read-only keys if the endpoint `changes` something. `query` checks the query parameters itself."""
        self.tag = tag
        self.query = query
        self.operations: list[Operation] = []
        self.resolver = APIGatewayRestResolver(
            enable_validation=True, json_body_deserializer=request_checks.json_object
        )
        self.resolver.exception_handler(Exception)(self._error_response)
        self._changes = changes
        self._parameters: list[str] = []
        self._fields: list[str] | None = None

    def route(
        self,
        method: str,
        *paths: str,
        status: int = 200,
        repeated_status: int | None = None,
        errors: tuple[type[ServiceError], ...] = (),
        operation_id: str | None = None,
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Register a function. `errors` are those that cannot be derived from the path, the body and the scope.

        With a `repeated_status` the function returns the body and whether the call repeated an earlier one.
        """

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            signature = inspect.signature(function)
            for parameter in signature.parameters.values():
                if body := _model(parameter, Body):
                    self._fields = list(body.model_fields)
                if query := _model(parameter, Parameters):
                    self._parameters = [field.alias or name for name, field in query.model_fields.items()]
            for path in paths:
                respond = self._responder(function, status, repeated_status)
                # Powertools would validate and copy a body of a declared type, up to 4 MB, without need.
                respond.__signature__ = signature.replace(  # type: ignore[attr-defined]
                    parameters=_parameters(signature, path), return_annotation=Response[Any]
                )
                below = "_of_connection" if "<connection_id>" in path and "<request_id>" in path else ""
                operation = Operation(
                    operation_id or f"{function.__name__}{below}",
                    method,
                    path.replace("<", "{").replace(">", "}"),
                    function,
                    (status,) if repeated_status is None else (status, repeated_status),
                    frozenset([*self._errors(path), *errors]),
                )
                self.operations.append(operation)
                self.resolver.route(path, method, operation_id=operation.id, status_code=status)(respond)
            return function

        return register

    def _responder(
        self, function: Callable[..., Any], status: int, repeated_status: int | None
    ) -> Callable[..., Response[Any]]:
        """Return a function that renders the result of `function`."""

        @wraps(function)
        def respond(**arguments: Any) -> Response[Any]:
            result = function(**arguments)
            if isinstance(result, Response):
                return result
            body, repeated = result if repeated_status else (result, False)
            if self.caller.scope is Scope.READ_ONLY:
                body = for_read_only_key(body)
            return render(self.event, body, repeated_status if repeated and repeated_status else status)

        return respond

    def _errors(self, path: str) -> Iterator[type[ServiceError]]:
        yield from (InvalidRequest, Unauthorized, TooManyRequests)
        if self._changes:
            yield Forbidden
        if "<" in path:
            yield NotFound
        if self._fields is not None:
            yield from (RequestTooLarge, UnsupportedMediaType)

    @property
    def event(self) -> request_checks.Event:
        """The call that is being handled."""
        event: request_checks.Event = self.resolver.current_event.raw_event
        return event

    @property
    def caller(self) -> request_checks.Caller:
        """The caller, as the authorizer identified it."""
        return request_checks.caller(self.event)

    @property
    def app_id(self) -> str:
        """The app that calls."""
        return self.caller.app_id

    def __call__(self, event: Mapping[str, Any], context: Any) -> dict[str, Any]:
        """Handle one call, and log one line about it."""
        response = self._respond(event, context)
        call = event["requestContext"]
        logger.info(
            "api.called",
            request_id=call["requestId"],
            app_id=(call.get("authorizer") or {}).get("app_id"),
            method=event["httpMethod"],
            path=event["path"],
            status=response["statusCode"],
        )
        return response

    def _respond(self, event: Mapping[str, Any], context: Any) -> dict[str, Any]:
        try:
            checked = self._checked(dict(event))
        except ServiceError as error:
            refusal = error_response(error)
            return {
                "statusCode": refusal.status_code,
                "body": refusal.body,
                "isBase64Encoded": False,
                "multiValueHeaders": {name: [value] for name, value in refusal.headers.items()},
            }
        return self.resolver.resolve(checked, context)

    def _checked(self, event: request_checks.Event) -> request_checks.Event:
        """Return the call with its body as text. Raises the error of the first check that fails."""
        request_checks.caller(event)
        if self._changes:
            request_checks.require_full_scope(event)
        request_checks.require_ids(event)
        if self.query is None:
            request_checks.require_known_parameters(event, self._parameters)
        body = request_checks.body_text(event) if self._fields is not None else None
        # Powertools compares media types case-sensitively, and it reads the header even if there is no body.
        headers = request_checks.with_header(event, "Content-Type", CONTENT_TYPE)
        return event | {"headers": headers, "body": body, "isBase64Encoded": False}

    def _error_response(self, error: Exception) -> Response[str]:
        ours = expected(error, self._fields or [])
        if ours is None:
            request_id = self.event["requestContext"]["requestId"]
            logger.error("fault", exc_info=error, request_id=request_id)
            message = "Something went wrong on our side. Please report details.request_id."
            ours = InternalError(message, {"request_id": request_id})
        return error_response(ours)


def _parameters(signature: inspect.Signature, path: str) -> list[inspect.Parameter]:
    """Return the parameters of the function at `path`, in the form that Powertools needs."""
    converted = []
    for parameter in signature.parameters.values():
        keyword = parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        if parameter.name not in _PATH_PARAMETERS:
            source = params.Body() if _model(parameter, Body) else params.Query()
            converted.append(keyword.replace(annotation=Annotated[parameter.annotation, source]))
        elif f"<{parameter.name}>" in path:
            annotation = Annotated[str, _PATH_PARAMETERS[parameter.name]]
            converted.append(keyword.replace(annotation=annotation, default=inspect.Parameter.empty))
    return converted


def _model(parameter: inspect.Parameter, kind: type[Model]) -> type[Model] | None:
    """Return the model of a parameter, such as NewConnection for `body: NewConnection | None`, if it is of a kind."""
    for one in (parameter.annotation, *get_args(parameter.annotation)):
        if isinstance(one, type) and issubclass(one, kind):
            return one
    return None
