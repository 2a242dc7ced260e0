"""GET /connections: one page of the app's connections."""

from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query

from handlers.bootstrap import services
from handlers.rest import Endpoint, list_answer
from handlers.rest.connections import shown
from handlers.rest.models import PageParameters

handler = Endpoint(parameters=PageParameters)


@handler.get(
    "/api/v1/connections",
    operation_id="list_connections",
    summary="List the connections",
    response_description="One page",
    tags=["Connections"],
)
def list_page(parameters: Annotated[PageParameters, Query()]) -> Response[Any]:
    """Answer with one page, oldest first; one past the end is empty."""
    page = services().connections.page(handler.app_id, parameters.page, parameters.page_size)
    return list_answer(handler.event, [shown(item) for item in page.items], page.page, page.total_pages)
