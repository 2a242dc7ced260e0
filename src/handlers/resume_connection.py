"""POST /connections/{connection_id}/resume: send its requests again."""

from handlers.bootstrap import services
from handlers.rest import ConnectionId, Data, Endpoint
from handlers.rest.connections import connection_data
from handlers.views.connections import ConnectionView

handler = Endpoint("Connections", changes=True)


@handler.route("POST", "/api/v1/connections/<connection_id>/resume")
def resume_connection(connection_id: ConnectionId) -> Data[ConnectionView]:
    """Resume a connection that is paused or backs off.

    Its requests are sent from the next session on. Resuming again does nothing.
    """
    return connection_data(services().connections.resume(handler.app_id, connection_id))
