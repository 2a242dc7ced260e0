"""Code that the endpoints of connections share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from domain.webhooks.addresses import check_url
from handlers.common.bootstrap import services
from handlers.views.connections import ConnectionView, connection
from handlers.views.schema import Data

if TYPE_CHECKING:
    from domain.records.connection import Connection
    from handlers.rest.models import ConnectionSettings

ConnectionResponse = Data[ConnectionView]


def checked_settings(body: ConnectionSettings) -> dict[str, Any]:
    """Return the settings in a body as members of a connection. Raises InvalidRequest."""
    if body.webhook_url is not None:
        check_url(body.webhook_url, services().url_rules)
    return body.settings()


def connection_response(stored: Connection) -> ConnectionResponse:
    """Return the response with a connection."""
    return {"data": connection(stored, services().clock())}
