"""One function of the API: Powertools' resolver with the service's checks before it and its errors after it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response
from aws_lambda_powertools.event_handler.openapi.params import Path

from domain.errors import ServiceError
from handlers.rest import errors, request_checks
from handlers.rest.models import NoParameters

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aws_lambda_powertools.utilities.typing import LambdaContext
    from pydantic import BaseModel

ConnectionId = Annotated[str, Path(description="The connection's id.", json_schema_extra={"format": "uuid"})]
RequestId = Annotated[str, Path(description="The queued request's id.", json_schema_extra={"format": "uuid"})]

logger = Logger(serialize_stacktrace=False)  # the stack is there as text already


class Endpoint(APIGatewayRestResolver):
    """A Lambda handler with the routes of one endpoint.

    `changes`: a read-only key is refused. `body`: the model of the body that it takes, where it takes
    one. `parameters`: the model of its query parameters; None leaves them to the use case.
    """

    def __init__(
        self,
        *,
        changes: bool = False,
        body: type[BaseModel] | None = None,
        parameters: type[BaseModel] | None = NoParameters,
    ) -> None:
        super().__init__(enable_validation=True, json_body_deserializer=request_checks.json_object)
        self.changes = changes
        self._fields = list(body.model_fields) if body else None
        self._parameters = _names(parameters) if parameters else None
        self.exception_handler(Exception)(self._answer_to)

    @property
    def event(self) -> request_checks.Event:
        """The call that is being answered."""
        event: request_checks.Event = self.current_event.raw_event
        return event

    @property
    def app_id(self) -> str:
        """The app that calls."""
        return request_checks.caller_of(self.event).app_id

    def resolve(self, event: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:
        """Answer one call, and log one line about it."""
        answer = self._answered(event, context)
        asked = event["requestContext"]
        logger.info(
            "api.called",
            request_id=asked["requestId"],
            app_id=(asked.get("authorizer") or {}).get("app_id"),
            method=event["httpMethod"],
            path=event["path"],
            status=answer["statusCode"],
        )
        return answer

    def _answered(self, event: Mapping[str, Any], context: LambdaContext) -> dict[str, Any]:
        try:
            checked = self._checked(dict(event))
        except ServiceError as error:
            refused = errors.answer(error)
            return {
                "statusCode": refused.status_code,
                "body": refused.body,
                "isBase64Encoded": False,
                "multiValueHeaders": {name: [value] for name, value in refused.headers.items()},
            }
        return super().resolve(checked, context)

    def _checked(self, event: request_checks.Event) -> request_checks.Event:
        """Return the call with its body as text. Raises what refuses it before its content matters."""
        request_checks.caller_of(event)
        if self.changes:
            request_checks.require_full_scope(event)
        request_checks.require_ids(event)
        if self._parameters is not None:
            request_checks.require_known_parameters(event, self._parameters)
        body = request_checks.body_of(event) if self._fields is not None else None
        # Powertools minds the case of a media type, and looks at it even when there is no body.
        headers = request_checks.with_header(event, "Content-Type", errors.CONTENT_TYPE)
        return event | {"headers": headers, "body": body, "isBase64Encoded": False}

    def _answer_to(self, error: Exception) -> Response[str]:
        known = errors.expected(error, self._fields or [])
        if known:
            return errors.answer(known)
        request_id = self.event["requestContext"]["requestId"]
        logger.error("fault", exc_info=error, request_id=request_id)
        return errors.fault(request_id)


def _names(parameters: type[BaseModel]) -> list[str]:
    """Return the names that a caller knows."""
    return [field.alias or name for name, field in parameters.model_fields.items()]
