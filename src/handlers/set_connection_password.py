"""POST /connections/{connection_id}/password: set or generate the Web Connector's password."""

from handlers.rest import Data, Endpoint, services
from handlers.rest.models import NewPassword
from handlers.views.connections import PasswordView

handler = Endpoint("Connections", changes=True)


@handler.route("POST", "/api/v1/connections/<connection_id>/password")
def set_connection_password(connection_id: str, body: NewPassword | None = None) -> Data[PasswordView]:
    """Set the Web Connector's password.

    Without a password in the body, one is generated.
    """
    password = services().connections.set_password(handler.app_id, connection_id, body.password if body else None)
    return {"data": {"id": connection_id, "password": password}}
