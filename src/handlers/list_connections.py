"""GET /connections: one page of the app's connections."""

from handlers.rest import Call, Page, endpoint, services
from handlers.rest.models import PageParameters
from handlers.views.connections import ConnectionView, connection


@endpoint("Connections", "GET /connections")
def handler(call: Call, parameters: PageParameters) -> Page[ConnectionView]:
    """List the connections.

    Sorted by age, oldest first. A page past the end is empty.
    """
    items, total_pages = services().connections.page(call.app_id, parameters.page, parameters.page_size)
    now = services().clock()
    return {"data": [connection(item, now) for item in items], "page": parameters.page, "total_pages": total_pages}
