"""PATCH /connections/{connection_id}: change a connection's settings."""

from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Body

from handlers.bootstrap import services
from handlers.rest import ConnectionId, Endpoint
from handlers.rest.connections import checked_settings, connection_answer
from handlers.rest.models import ChangedConnection

handler = Endpoint(changes=True, body=ChangedConnection)


@handler.patch(
    "/api/v1/connections/<connection_id>",
    operation_id="update_connection",
    summary="Change a connection's settings",
    description="What is not given stays as it is; null clears. A session that is running keeps the settings it has.",
    response_description="The connection",
    tags=["Connections"],
)
def update(connection_id: ConnectionId, body: Annotated[ChangedConnection, Body()]) -> Response[Any]:
    """Change what the body gives."""
    settings = checked_settings(body)
    return connection_answer(services().connections.update(handler.app_id, connection_id, **settings))
