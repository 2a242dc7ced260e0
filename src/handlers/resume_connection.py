"""POST /connections/{connection_id}/resume: send its requests again."""

from domain.records.permissions import Permission
from handlers.rest import ApiCall, endpoint, services
from handlers.rest.connections import ConnectionResponse, connection_response


@endpoint("Connections", "POST /connections/{connection_id}/resume", needs=(Permission.OPERATE,))
def handler(call: ApiCall, connection_id: str) -> ConnectionResponse:
    """Resume a connection that is paused or backs off.

    Its requests are sent from the next session on. Resuming again does nothing.
    """
    connection = services().connections.resume(call.app_id, connection_id, actor=call.actor)
    if connection.simulated:
        services().wake_simulator(connection.id)
    return connection_response(connection)
