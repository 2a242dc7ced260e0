"""POST /connections/{connection_id}/password: set or generate the Web Connector's password."""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body

from handlers.bootstrap import services
from handlers.rest import ConnectionId, Data, Endpoint
from handlers.rest.models import NewPassword
from handlers.views.connections import PasswordView

handler = Endpoint("Connections", changes=True)


@handler.route("POST", "/api/v1/connections/<connection_id>/password")
def set_connection_password(
    connection_id: ConnectionId, body: Annotated[NewPassword | None, Body()] = None
) -> Data[PasswordView]:
    """Set the Web Connector's password.

    Without a password in the body, one is generated.
    """
    chosen = body.password if body else None
    password = services().connections.set_password(handler.app_id, connection_id, chosen)
    return {"data": {"id": connection_id, "password": password}}
