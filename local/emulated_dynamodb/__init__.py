"""DynamoDB in this process, for `make run` and the tests (docs/decisions/0003-embedded-database.md).

botocore calls it in place of the network, so the service's clients need no change. It has the operations and the
expressions that the service uses, and refuses others.
"""

from __future__ import annotations

import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botocore import handlers

from local.emulated_dynamodb.operations import EmulatedDynamoDB
from local.emulated_dynamodb.tables import REMOVED_BY_TIME_TO_LIVE
from local.emulated_dynamodb.values import DynamoDBError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["REMOVED_BY_TIME_TO_LIVE", "EmulatedDynamoDB", "emulated_dynamodb"]

PARAMETERS = "emulated_dynamodb_parameters"

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


def _keep_parameters(params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
    """Keep the parameters of a call, because botocore passes `_respond` only their JSON."""
    if _active:
        context[PARAMETERS] = params


def _respond(
    model: Any, params: Mapping[str, Any], context: dict[str, Any], **_: Any
) -> tuple[_HttpResponse, dict[str, Any]] | None:
    """Return the response of the emulation, so that botocore makes no HTTP call."""
    parameters = context.pop(PARAMETERS, None)
    if not _active or parameters is None or ".amazonaws.com" not in params["url"]:
        return None
    status = 200
    try:
        response = _active[-1].call(model.name, parameters)
    except DynamoDBError as error:
        status = 400
        response = {"Error": {"Code": error.code, "Message": str(error)}, "message": str(error), **error.members}
    response["ResponseMetadata"] = {
        "RequestId": str(uuid.uuid4()),
        "HTTPStatusCode": status,
        "HTTPHeaders": {},
        "RetryAttempts": 0,
    }
    return _HttpResponse(status), response


# botocore registers these with every session that is created from now on, as moto does. The last one to be called
# responds, so that a test's own handlers see each call first.
for _service in ("dynamodb", "dynamodb-streams"):
    handlers.BUILTIN_HANDLERS += [
        (f"before-parameter-build.{_service}", _keep_parameters),
        (f"before-call.{_service}", _respond, handlers.REGISTER_LAST),
    ]
