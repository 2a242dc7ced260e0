"""GET /connections: one page of the app's connections."""

from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Query

from handlers.bootstrap import services
from handlers.rest import Endpoint, Page
from handlers.rest.models import PageParameters
from handlers.views.connections import ConnectionView, connection

handler = Endpoint("Connections")


@handler.route("GET", "/api/v1/connections")
def list_connections(parameters: Annotated[PageParameters, Query()]) -> Page[ConnectionView]:
    """List the connections.

    The oldest is first. A page past the end is empty.
    """
    page, now = services().connections.page(handler.app_id, parameters.page, parameters.page_size), services().clock()
    return {"data": [connection(one, now) for one in page.items], "page": page.page, "total_pages": page.total_pages}
