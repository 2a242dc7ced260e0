"""GET /connections: one page of the app's connections."""

from handlers.rest import Endpoint, Page, services
from handlers.rest.models import PageParameters
from handlers.views.connections import ConnectionView, connection

handler = Endpoint("Connections")


@handler.route("GET", "/api/v1/connections")
def list_connections(parameters: PageParameters) -> Page[ConnectionView]:
    """List the connections.

    The oldest is first. A page past the end is empty.
    """
    items, total_pages = services().connections.page(handler.app_id, parameters.page, parameters.page_size)
    now = services().clock()
    return {"data": [connection(one, now) for one in items], "page": parameters.page, "total_pages": total_pages}
