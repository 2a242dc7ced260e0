"""POST /connections/{connection_id}/password: set or make the Web Connector's password."""

from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Body

from handlers.bootstrap import services
from handlers.rest import ConnectionId, Endpoint, resource_answer
from handlers.rest.models import NewPassword

handler = Endpoint(changes=True, body=NewPassword)


@handler.post(
    "/api/v1/connections/<connection_id>/password",
    operation_id="set_connection_password",
    summary="Set the Web Connector's password",
    response_description="The password, shown this once",
    tags=["Connections"],
)
def set_password(connection_id: ConnectionId, body: Annotated[NewPassword | None, Body()] = None) -> Response[Any]:
    """Set the password that the body holds, or make one."""
    wanted = body.password if body else None
    password = services().connections.set_password(handler.app_id, connection_id, wanted)
    return resource_answer({"id": connection_id, "password": password})
