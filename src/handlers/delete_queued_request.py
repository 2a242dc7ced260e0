"""DELETE /queued_requests/{request_id}, and the same below its connection: remove a record and its bodies."""

from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query

from handlers.bootstrap import services
from handlers.rest import ConnectionId, Endpoint, RequestId, no_content
from handlers.rest.models import DeleteParameters

handler = Endpoint(changes=True, parameters=DeleteParameters)
Parameters = Annotated[DeleteParameters, Query()]
ABOUT: dict[str, Any] = {
    "status_code": 204,
    "summary": "Delete a queued request that has ended",
    "response_description": "It is gone",
    "tags": ["Queued requests"],
}


@handler.delete("/api/v1/queued_requests/<request_id>", operation_id="delete_queued_request", **ABOUT)
def delete(request_id: RequestId, parameters: Parameters) -> Response[Any]:
    """Delete the record; a second time does nothing."""
    services().requests.delete(handler.app_id, request_id, force=parameters.force)
    return no_content()


@handler.delete(
    "/api/v1/connections/<connection_id>/queued_requests/<request_id>",
    operation_id="delete_queued_request_of_connection",
    **ABOUT,
)
def delete_of_connection(connection_id: ConnectionId, request_id: RequestId, parameters: Parameters) -> Response[Any]:
    """Delete the record, if it is this connection's."""
    services().requests.delete(handler.app_id, request_id, connection_id, force=parameters.force)
    return no_content()
