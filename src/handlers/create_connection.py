"""POST /connections: create a connection."""

from handlers.rest import ApiCall, endpoint, services
from handlers.rest.connections import ConnectionResponse, checked_settings, connection_response
from handlers.rest.models import NewConnection


@endpoint("Connections", "POST /connections", changes=True, status=201)
def handler(call: ApiCall, body: NewConnection | None = None) -> ConnectionResponse:
    """Create a connection.

    Set a password before a Web Connector uses it.
    """
    settings = checked_settings(body or NewConnection())
    services().quotas.check_connection(call.app_id, call.limits)
    return connection_response(services().connections.create(call.app_id, actor=call.actor, **settings))
