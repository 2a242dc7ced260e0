"""DynamoDB in this process, for `make run` and the tests (docs/decisions/0003-embedded-database.md).

The calls of botocore's clients come here instead of to the network, so the service's clients need no change. It has the
operations and the expressions that the service uses, and refuses others.
"""

from __future__ import annotations

import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from botocore.client import BaseClient
from botocore.exceptions import ParamValidationError
from botocore.validate import ParamValidator

from local.emulated_dynamodb.operations import EmulatedDynamoDB
from local.emulated_dynamodb.tables import REMOVED_BY_TIME_TO_LIVE
from local.emulated_dynamodb.values import DynamoDBError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["REMOVED_BY_TIME_TO_LIVE", "EmulatedDynamoDB", "emulated_dynamodb"]

SERVICES = ("dynamodb", "dynamodbstreams")
"""What botocore calls DynamoDB and its streams."""

_active: list[EmulatedDynamoDB] = []


@contextmanager
def emulated_dynamodb() -> Iterator[EmulatedDynamoDB]:
    """Yield a new database that every client of DynamoDB uses while the block runs.

    A client with an endpoint URL outside AWS keeps using that endpoint.
    """
    database = EmulatedDynamoDB()
    _active.append(database)
    try:
        yield database
    finally:
        _active.remove(database)


@dataclass(frozen=True, slots=True)
class _HttpResponse:
    """The part of an HTTP response that botocore's client reads."""

    status_code: int


_send = BaseClient._make_api_call  # noqa: SLF001 - see _call
_validator = ParamValidator()


def _call(client: BaseClient, operation_name: str, api_params: dict[str, Any]) -> Any:
    """Make a call of a client, as botocore does without its HTTP request.

    The request takes four fifths of a call's processor time: its endpoint, headers and JSON. Parameters are checked,
    handlers of the client's events are called, and errors are raised as botocore does.
    """
    meta = client.meta
    if not _active or meta.service_model.service_name not in SERVICES or ".amazonaws.com" not in meta.endpoint_url:
        return _send(client, operation_name, api_params)
    model = meta.service_model.operation_model(operation_name)
    event = f"{meta.service_model.service_id.hyphenize()}.{operation_name}"
    context: dict[str, Any] = {"client_region": meta.region_name, "client_config": meta.config}
    params = client._emit_api_params(api_params, model, context)  # noqa: SLF001
    if meta.config.parameter_validation:
        report = _validator.validate(params, model.input_shape)
        if report.has_errors():
            raise ParamValidationError(report=report.generate_report())
    handled = meta.events.emit_until_response(f"before-call.{event}", model=model, params={}, context=context)[1]
    http, parsed = handled or _respond(operation_name, params)
    meta.events.emit(f"after-call.{event}", http_response=http, parsed=parsed, model=model, context=context)
    if http.status_code == HTTPStatus.OK:
        return parsed
    raise client.exceptions.from_code(parsed["Error"]["Code"])(parsed, operation_name)


def _respond(operation_name: str, params: Mapping[str, Any]) -> tuple[_HttpResponse, dict[str, Any]]:
    """Return the response of the emulation."""
    status = HTTPStatus.OK
    try:
        response = _active[-1].call(operation_name, params)
    except DynamoDBError as error:
        status = HTTPStatus.BAD_REQUEST
        response = {"Error": {"Code": error.code, "Message": str(error)}, "message": str(error), **error.members}
    response["ResponseMetadata"] = {
        "RequestId": str(uuid.uuid4()),
        "HTTPStatusCode": status,
        "HTTPHeaders": {},
        "RetryAttempts": 0,
    }
    return _HttpResponse(status), response


# botocore has no public hook before it makes the HTTP request. This is the method that moto's documentation names.
BaseClient._make_api_call = _call  # noqa: SLF001
