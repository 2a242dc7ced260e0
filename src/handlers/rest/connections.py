"""Code that the endpoints of connections share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from domain.queueing.waiting_reason import waiting_since
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


def connection_response(stored: Connection, onboarding_url: str | None = None) -> ConnectionResponse:
    """Return the response with a connection. The front of its queue tells since when a request waits."""
    oldest, now = services().store.oldest_queued(stored.id), services().clock()
    waits_since = waiting_since([oldest] if oldest else [], now)
    return {"data": connection(stored, now, onboarding_url, waits_since=waits_since)}
