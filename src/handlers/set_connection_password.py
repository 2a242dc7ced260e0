"""POST /connections/{connection_id}/password: set or generate the Web Connector's password."""

from domain.errors import InvalidState
from domain.records.permissions import Permission
from handlers.rest import ApiCall, Data, endpoint, services
from handlers.rest.models import NewPassword
from handlers.views.connections import PasswordView


@endpoint(
    "Connections", "POST /connections/{connection_id}/password", needs=(Permission.ADMINISTER,), errors=(InvalidState,)
)
def handler(call: ApiCall, connection_id: str, body: NewPassword | None = None) -> Data[PasswordView]:
    """Set the Web Connector's password.

    Without a password in the body, one is generated. A test connection refuses both: only its simulator has the
    password.
    """
    chosen = body.password if body else None
    password = services().connections.set_password(call.app_id, connection_id, chosen, actor=call.actor)
    return {"data": {"id": connection_id, "password": password}}
