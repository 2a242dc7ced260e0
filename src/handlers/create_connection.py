"""POST /connections: create a connection."""

from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Body

from domain.connection_view import connection_view
from domain.webhooks.addresses import check_url
from handlers import bootstrap
from handlers.api import Endpoint, resource_answer
from handlers.api.models import NewConnection

handler = Endpoint(changes=True, body=NewConnection)


@handler.post(
    "/api/v1/connections",
    status_code=201,
    operation_id="create_connection",
    summary="Create a connection",
    response_description="The connection",
    tags=["Connections"],
)
def create(body: Annotated[NewConnection | None, Body()] = None) -> Response[Any]:
    """Create a connection; it needs a password before a Web Connector can use it."""
    wanted = body or NewConnection()
    if wanted.webhook_url is not None:
        check_url(wanted.webhook_url, bootstrap.url_rules())
    connection = bootstrap.connections().create(handler.app_id, **wanted.model_dump())
    return resource_answer(connection_view(connection), 201)
