"""One endpoint of the REST API: Powertools' resolver between the service's checks and its responses."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, TypeVar, Unpack, get_args

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response
from aws_lambda_powertools.event_handler.openapi import params
from pydantic import BaseModel, ConfigDict

from domain.errors import (
    BrowserRefused,
    Forbidden,
    IdempotencyKeyReused,
    InvalidRequest,
    NotFound,
    QuotaExceeded,
    RequestTooLarge,
    ServiceError,
    TooManyRequests,
    Unauthorized,
    Unavailable,
    UnsupportedMediaType,
)
from domain.records.audit import KEY_ID
from domain.records.permissions import Permission
from handlers.common.bootstrap import end_init, services
from handlers.common.http import without_body
from handlers.common.logs import ServiceLogger
from handlers.common.paths import PREFIX
from handlers.rest import request_checks
from handlers.rest.errors import InternalError, error_response, expected
from handlers.rest.places import QUEUEING_HEADERS, Places
from handlers.rest.responses import CONTENT_TYPE, render, without_webhook_paths

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from domain.queries import Query as ConvenienceQuery

CONNECTION = "/connections/{connection_id}"

_PATH_PARAMETERS = {
    "connection_id": params.Path(description="The connection's id.", json_schema_extra={"format": "uuid"}),
    "key_id": params.Path(description="The key's id.", json_schema_extra={"pattern": f"^{KEY_ID}$"}),
    "batch_id": params.Path(description="The batch's id.", json_schema_extra={"format": "uuid"}),
    "invitation_id": params.Path(description="The invitation's id.", json_schema_extra={"format": "uuid"}),
    "subscription_id": params.Path(description="The subscription's id.", json_schema_extra={"format": "uuid"}),
    "person_id": params.Path(description="The person's id.", json_schema_extra={"format": "uuid"}),
    "request_id": params.Path(description="The request's id.", json_schema_extra={"format": "uuid"}),
}

logger = ServiceLogger()


class Body(BaseModel):
    """A body without unknown fields and without conversion between types."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Parameters(BaseModel):
    """The query parameters of an endpoint."""


Model = TypeVar("Model", Body, Parameters)


@dataclass(frozen=True, slots=True)
class ApiOperation:
    """A method, a path and the function that handles them. `statuses` are the status codes of success."""

    id: str
    method: str
    path: str
    function: Callable[..., Any]
    statuses: tuple[int, ...]
    errors: frozenset[type[ServiceError]]


class Options(TypedDict, total=False):
    """The options of `endpoint`. `Endpoint` explains them."""

    needs: tuple[Permission, ...]
    queues: bool
    is_read: bool
    status: int
    repeated_status: int | None
    errors: tuple[type[ServiceError], ...]


class Endpoint:
    """A Lambda handler: a function between the service's checks and its responses.

    The function takes an `ApiCall`, the parameters of its path by name and, if it has them, a `Body` and `Parameters`.
    It returns the body of the response, None for an empty one, or a finished `Response`. If its `connection_id` is
    optional, its routes also exist below `/connections/{connection_id}`. In OpenAPI, its docstring is the description,
    its return type is the schema, and the name of its module is the id of the operation.
    """

    def __init__(
        self,
        tag: str,
        routes: Sequence[str],
        function: Callable[..., Any],
        *,
        needs: tuple[Permission, ...] = (),
        queues: bool = False,
        is_read: bool = True,
        query: ConvenienceQuery | None = None,
        status: int = 200,
        repeated_status: int | None = None,
        errors: tuple[type[ServiceError], ...] = (),
    ) -> None:
        """Refuse callers who have none of the permissions that the endpoint `needs`. Without them, everybody may call.

        `query` checks the query parameters itself.

        A call counts towards the reads of the app, unless the endpoint `queues` requests, which count as creates, or
        does not read the database (`is_read`).

        `errors` are those that cannot be derived from the path, the body and the scope. With a `repeated_status` the
        function returns the body and whether the call repeated an earlier one.
        """
        self.tag = tag
        self.query = query
        self.operations: list[ApiOperation] = []
        self.resolver = APIGatewayRestResolver(
            enable_validation=True, json_body_deserializer=request_checks.json_object
        )
        self.resolver.exception_handler(Exception)(self._error_response)
        self._function = function
        self.needs = frozenset(needs)
        self.queues = queues
        self._is_limited = is_read
        self._is_read = is_read and not queues
        self._statuses = (status,) if repeated_status is None else (status, repeated_status)
        self._places = Places(headers=QUEUEING_HEADERS if queues and IdempotencyKeyReused in errors else {})
        signature = inspect.signature(function)
        own_routes = set(routes)
        batch = "batch_id" in signature.parameters and signature.parameters["batch_id"].default is None
        for parameter in signature.parameters.values():
            if parameter.name == "connection_id" and parameter.default is None:
                routes = [*routes, *(route.replace(" ", f" {CONNECTION}") for route in routes)]
            if body := _model(parameter, Body):
                self._places = replace(self._places, body=body)
            if model := _model(parameter, Parameters):
                names = [field.alias or name for name, field in model.model_fields.items()]
                self._places = replace(self._places, parameters=names)
        name = f"query_{query.name}" if query else function.__module__.rpartition(".")[2]
        for route in routes:
            method, path = route.split()
            operation = ApiOperation(
                _operation_id(name, method, is_own=route in own_routes, is_of_batch=batch and "{batch_id}" in path),
                method,
                PREFIX + path,
                function,
                self._statuses,
                frozenset([*self._errors(method, path), *errors]),
            )
            self.operations.append(operation)
            powertools_path = operation.path.replace("{", "<").replace("}", ">")
            responder = self._responder(_parameters(signature, path))
            self.resolver.route(powertools_path, method, operation_id=operation.id, status_code=status)(responder)
        # An endpoint that does not read the database has no table.
        end_init(lambda services: services.quotas if is_read else None)

    def _responder(self, parameters: Sequence[inspect.Parameter]) -> Callable[..., Response[Any]]:
        """Return a function for Powertools that has these parameters and renders the result of our function."""

        def respond(**arguments: Any) -> Response[Any]:
            call = request_checks.call_of(self.resolver.current_event.raw_event)
            if self._is_read:
                services().quotas.check_read(call.app_id, call.limits)
            result = self._function(call, **arguments)
            if isinstance(result, Response):
                return result
            body, repeated = result if len(self._statuses) > 1 else (result, False)
            if Permission.ADMINISTER not in call.permissions:
                body = without_webhook_paths(body)
            return render(call.event, body, self._statuses[repeated], call.response_headers)

        # Powertools would validate and copy a body of a declared type, up to 4 MB, without need.
        respond.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            parameters, return_annotation=Response[Any]
        )
        return respond

    def _changes(self, method: str) -> bool:
        """Whether a call with this method changes something.

        A convenience query with GET queues a request. Every caller may make a `POST` that only reads.
        """
        return bool(self.needs) and (method != "GET" or self.queues)

    def _errors(self, method: str, path: str) -> Iterator[type[ServiceError]]:
        yield from (InvalidRequest, Unauthorized, TooManyRequests, Unavailable)
        if self.needs:
            yield Forbidden
        if self._changes(method):
            yield BrowserRefused
        if self._is_limited:
            yield QuotaExceeded
        if "{" in path:
            yield NotFound
        if self._places.body:
            yield from (RequestTooLarge, UnsupportedMediaType)

    def __call__(self, event: Mapping[str, Any], context: Any) -> dict[str, Any]:
        """Handle one call, and log one line about it. HEAD is GET without the body of the response."""
        if event["httpMethod"] == "HEAD":
            response = without_body(self._respond({**event, "httpMethod": "GET"}, context))
        else:
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
            event = self._check(dict(event))
        except ServiceError as error:
            refusal = error_response(error)
            return {
                "statusCode": refusal.status_code,
                "body": refusal.body,
                "isBase64Encoded": False,
                "multiValueHeaders": {name: [value] for name, value in refusal.headers.items()},
            }
        return self.resolver.resolve(event, context)

    def _check(self, event: request_checks.Event) -> request_checks.Event:
        """Return the call with its body as text. Raises the error of the first check that fails."""
        call = request_checks.call_of(event)
        if self._changes(event["httpMethod"]):
            request_checks.require_no_forgery(event)
        request_checks.require_permission(call, self.needs)
        if Permission.MANAGE in self.needs:
            services().members.require_admin(call.app_id, call.actor)
        request_checks.require_ids(event)
        if self.query is None:
            request_checks.require_known_parameters(event, self._places)
        elif event["httpMethod"] == "POST":
            request_checks.require_no_body(event)
        body = request_checks.body_text(event) if self._places.body else None
        # Powertools compares media types case-sensitively, and it reads the header even if there is no body.
        headers = request_checks.with_header(event, "Content-Type", CONTENT_TYPE)
        return event | {"headers": headers, "body": body, "isBase64Encoded": False}

    def _error_response(self, error: Exception) -> Response[str]:
        failure = expected(error, self._places)
        if failure is None:
            request_id = self.resolver.current_event.raw_event["requestContext"]["requestId"]
            logger.error("fault", exc_info=error, request_id=request_id)
            message = "Something went wrong on our side. Please report details.request_id."
            failure = InternalError(message, {"request_id": request_id})
        return error_response(failure)


def endpoint(tag: str, *routes: str, **options: Unpack[Options]) -> Callable[[Callable[..., Any]], Endpoint]:
    """Return a decorator that makes a function the handler of `routes` below `/api/v1`. See `Endpoint`."""
    return lambda function: Endpoint(tag, routes, function, **options)


def _operation_id(name: str, method: str, *, is_own: bool, is_of_batch: bool) -> str:
    """Return the id of an operation. The operations of an endpoint differ in their path or in their method.

    A path that is not the endpoint's own is the same below a connection.
    """
    if is_of_batch:
        return name.replace("queued_requests", "batch")
    if not is_own:
        return f"{name}_of_connection"
    if method == "GET":
        return name
    return f"post_{name}" if name.startswith("query_") else name.replace("get_", f"{method.lower()}_")


def _parameters(signature: inspect.Signature, path: str) -> list[inspect.Parameter]:
    """Return the parameters of the function at `path`, in the form that Powertools needs."""
    parameters = []
    for parameter in signature.parameters.values():
        keyword = parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        if parameter.annotation is request_checks.ApiCall:
            continue
        if parameter.name not in _PATH_PARAMETERS:
            source = params.Body() if _model(parameter, Body) else params.Query()
            parameters.append(keyword.replace(annotation=Annotated[parameter.annotation, source]))
        elif f"{{{parameter.name}}}" in path:
            annotation = Annotated[str, _PATH_PARAMETERS[parameter.name]]
            parameters.append(keyword.replace(annotation=annotation, default=inspect.Parameter.empty))
    return parameters


def _model(parameter: inspect.Parameter, kind: type[Model]) -> type[Model] | None:
    """Return the model of a parameter, such as NewConnection for `body: NewConnection | None`, if it is a `kind`."""
    for annotation in (parameter.annotation, *get_args(parameter.annotation)):
        if isinstance(annotation, type) and issubclass(annotation, kind):
            return annotation
    return None
