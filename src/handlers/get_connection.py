"""GET /connections/{connection_id}: one connection."""

from typing import Any

from aws_lambda_powertools.event_handler import Response

from handlers.bootstrap import services
from handlers.rest import ConnectionId, Endpoint
from handlers.rest.connections import connection_answer

handler = Endpoint()


@handler.get(
    "/api/v1/connections/<connection_id>",
    operation_id="get_connection",
    summary="Get a connection",
    response_description="The connection",
    tags=["Connections"],
)
def get(connection_id: ConnectionId) -> Response[Any]:
    """Answer with the connection."""
    return connection_answer(services().connections.get(handler.app_id, connection_id))
