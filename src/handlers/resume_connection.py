"""POST /connections/{connection_id}/resume: send its requests again."""

from handlers.rest import Endpoint, services
from handlers.rest.connections import ConnectionResponse, connection_response

handler = Endpoint("Connections", changes=True)


@handler.route("POST", "/api/v1/connections/<connection_id>/resume")
def resume_connection(connection_id: str) -> ConnectionResponse:
    """Resume a connection that is paused or backs off.

    Its requests are sent from the next session on. Resuming again does nothing.
    """
    return connection_response(services().connections.resume(handler.app_id, connection_id))
