"""PATCH /connections/{connection_id}: change a connection's settings."""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body

from handlers.bootstrap import services
from handlers.rest import ConnectionId, Data, Endpoint
from handlers.rest.connections import checked_settings, connection_data
from handlers.rest.models import ChangedConnection
from handlers.views.connections import ConnectionView

handler = Endpoint("Connections", changes=True)


@handler.route("PATCH", "/api/v1/connections/<connection_id>")
def update_connection(connection_id: ConnectionId, body: Annotated[ChangedConnection, Body()]) -> Data[ConnectionView]:
    """Change a connection's settings.

    A setting that is not given stays as it is; null clears it. A running session keeps the settings that it has.
    """
    return connection_data(services().connections.update(handler.app_id, connection_id, **checked_settings(body)))
