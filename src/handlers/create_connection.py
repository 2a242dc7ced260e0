"""POST /connections: create a connection."""

from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Body

from handlers.bootstrap import services
from handlers.rest import Endpoint
from handlers.rest.connections import checked_settings, connection_answer
from handlers.rest.models import NewConnection

handler = Endpoint(changes=True, body=NewConnection)


@handler.post(
    "/api/v1/connections",
    status_code=201,
    operation_id="create_connection",
    summary="Create a connection",
    response_description="The connection",
    tags=["Connections"],
)
def create(body: Annotated[NewConnection | None, Body()] = None) -> Response[Any]:
    """Create a connection; it needs a password before a Web Connector can use it."""
    settings = checked_settings(body or NewConnection())
    return connection_answer(services().connections.create(handler.app_id, **settings), 201)
