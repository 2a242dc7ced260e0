"""PATCH /connections/{connection_id}: change a connection's settings."""

from domain.records.permissions import Permission
from handlers.rest import ApiCall, endpoint, services
from handlers.rest.connections import ConnectionResponse, checked_settings, connection_response
from handlers.rest.models import ChangedConnection


@endpoint("Connections", "PATCH /connections/{connection_id}", needs=(Permission.ADMINISTER,))
def handler(call: ApiCall, connection_id: str, body: ChangedConnection) -> ConnectionResponse:
    """Change a connection's settings.

    A setting that is not given stays as it is; null clears it. A running session keeps the settings that it has.
    """
    settings = checked_settings(body)
    return connection_response(services().connections.update(call.app_id, connection_id, actor=call.actor, **settings))
