"""GET /connections/{connection_id}/sessions: the newest sessions of a connection."""

from domain.connections.sessions import sessions_of
from handlers.rest import ApiCall, endpoint, services
from handlers.views.sessions import SessionListView, session_view


@endpoint("Connections", "GET /connections/{connection_id}/sessions")
def handler(call: ApiCall, connection_id: str) -> SessionListView:
    """List the sessions of the Web Connector, newest first: at most 100, of the last 30 days.

    The first one may be running. A call of the Web Connector that finds nothing to do opens no session. A session that
    has just ended can be missing for some seconds.
    """
    now = services().clock()
    return {"data": [session_view(one) for one in sessions_of(services().store, call.app_id, connection_id, now)]}
