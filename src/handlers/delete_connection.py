"""DELETE /connections/{connection_id}: delete a connection and, soon after, its requests."""

from typing import Any

from aws_lambda_powertools.event_handler import Response

from handlers.bootstrap import services
from handlers.rest import ConnectionId, Endpoint, no_content

handler = Endpoint(changes=True)


@handler.delete(
    "/api/v1/connections/<connection_id>",
    status_code=204,
    operation_id="delete_connection",
    summary="Delete a connection and its requests",
    response_description="It is gone",
    tags=["Connections"],
)
def delete(connection_id: ConnectionId) -> Response[Any]:
    """Delete the connection, unless a Web Connector session is live."""
    services().connection_removal.delete(handler.app_id, connection_id)
    return no_content()
