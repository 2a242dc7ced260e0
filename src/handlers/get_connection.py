"""GET /connections/{connection_id}: one connection."""

from domain.queueing.waiting_reason import waiting_since
from handlers.rest import ApiCall, endpoint, services
from handlers.rest.connections import ConnectionResponse
from handlers.views.connections import connection


@endpoint("Connections", "GET /connections/{connection_id}")
def handler(call: ApiCall, connection_id: str) -> ConnectionResponse:
    """Get a connection."""
    stored = services().connections.get(call.app_id, connection_id)
    oldest, now = services().store.oldest_queued(connection_id), services().clock()
    return {"data": connection(stored, now, waits_since=waiting_since([oldest] if oldest else [], now))}
