"""POST /connections: create a connection."""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body

from handlers.bootstrap import services
from handlers.rest import Data, Endpoint
from handlers.rest.connections import checked_settings, connection_data
from handlers.rest.models import NewConnection
from handlers.views.connections import ConnectionView

handler = Endpoint("Connections", changes=True)


@handler.route("POST", "/api/v1/connections", status=201)
def create_connection(body: Annotated[NewConnection | None, Body()] = None) -> Data[ConnectionView]:
    """Create a connection.

    Set a password before a Web Connector uses it.
    """
    settings = checked_settings(body or NewConnection())
    return connection_data(services().connections.create(handler.app_id, **settings))
