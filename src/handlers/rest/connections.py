"""What the functions of connections share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from domain.connections.view import connection_view
from domain.requests import waiting_reason
from domain.webhooks.addresses import check_url
from handlers.bootstrap import services
from handlers.rest.responses import resource_answer

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler import Response

    from domain.connections.record import Connection
    from handlers.rest.models import NewConnection


def checked_settings(body: NewConnection) -> dict[str, Any]:
    """Return the settings that a body gives, as members of a connection. Raises InvalidRequest."""
    if body.webhook_url is not None:
        check_url(body.webhook_url, services().url_rules)
    return body.settings()


def connection_answer(connection: Connection, status: int = 200) -> Response[Any]:
    """Return `{"data": connection}`."""
    return resource_answer(shown(connection), status)


def shown(connection: Connection) -> dict[str, Any]:
    """Return a connection as it is answered."""
    return connection_view(connection, waiting_reason.of_connection(connection, services().clock()))
