"""GET /connections/{connection_id}/queued_requests: one page of a connection's requests."""

from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query

from domain.requests import waiting_reason
from domain.requests.listing import ListQuery
from domain.requests.views import list_item_view
from handlers.bootstrap import services
from handlers.rest import ConnectionId, Endpoint, list_answer
from handlers.rest.models import ListParameters

handler = Endpoint(parameters=ListParameters)


@handler.get(
    "/api/v1/connections/<connection_id>/queued_requests",
    operation_id="list_queued_requests",
    summary="List a connection's requests",
    response_description="One page",
    tags=["Queued requests"],
)
def list_page(connection_id: ConnectionId, parameters: Annotated[ListParameters, Query()]) -> Response[Any]:
    """Answer with one page; one past the end is empty."""
    fields = parameters.model_dump(exclude={"sort_direction"})
    query = ListQuery(connection_id, **fields, descending=parameters.sort_direction == "desc")
    # Beside the page, not after it: what its connection waits for is what its items wait for.
    with ThreadPoolExecutor(1) as beside:
        read = beside.submit(services().store.connection, connection_id)
        page = services().lists.page(handler.app_id, query)
    now, connection = services().clock(), read.result()
    views = [
        list_item_view(item, waiting=waiting_reason.of_request(item.record, connection, now)) for item in page.items
    ]
    return list_answer(handler.event, views, page.page, page.total_pages)
