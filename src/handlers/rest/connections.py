"""Code that the endpoints of connections share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from domain.webhooks.addresses import check_url
from handlers.bootstrap import services
from handlers.views import connections

if TYPE_CHECKING:
    from domain.connections.record import Connection
    from handlers.rest.models import NewConnection
    from handlers.views.connections import ConnectionView
    from handlers.views.schema import Data


def checked_settings(body: NewConnection) -> dict[str, Any]:
    """Return the settings in a body as members of a connection. Raises InvalidRequest."""
    if body.webhook_url is not None:
        check_url(body.webhook_url, services().url_rules)
    return body.settings()


def connection_data(connection: Connection) -> Data[ConnectionView]:
    """Return the response with a connection."""
    return {"data": connections.connection(connection, services().clock())}
