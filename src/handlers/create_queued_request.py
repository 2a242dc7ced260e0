"""POST /connections/{connection_id}/queued_requests: queue a request."""

from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Body, Query

from domain.requests.service import Idempotency
from handlers.bootstrap import services
from handlers.rest import ConnectionId, Endpoint
from handlers.rest.new_queued_request import NewQueuedRequest, NewRequestParameters
from handlers.rest.queueing import queued_answer
from handlers.rest.request_checks import idempotency_key_of

handler = Endpoint(changes=True, body=NewQueuedRequest, parameters=NewRequestParameters)


@handler.post(
    "/api/v1/connections/<connection_id>/queued_requests",
    status_code=201,
    operation_id="create_queued_request",
    summary="Queue a request",
    description="A repeat with the same `Idempotency-Key` within 24 hours answers the first record, with status 200.",
    response_description="The queued request",
    tags=["Queued requests"],
)
def create(
    connection_id: ConnectionId,
    body: Annotated[NewQueuedRequest, Body()],
    parameters: Annotated[NewRequestParameters, Query()],
) -> Response[Any]:
    """Queue what the body holds."""
    connection = services().requests.connection(handler.app_id, connection_id)
    request = body.request(parameters, connection.country)
    key = idempotency_key_of(handler.event)
    idempotency = Idempotency.of(key, connection_id, [body.model_dump(), parameters.model_dump()]) if key else None
    return queued_answer(handler, connection_id, request, body.webhook_url, status=201, idempotency=idempotency)
