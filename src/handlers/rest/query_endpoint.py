"""The five query endpoints: they differ in the query's table alone (`domain.queries`)."""

from typing import Any

from aws_lambda_powertools.event_handler import Response

from domain.queries import QUERIES
from handlers.rest import request_checks
from handlers.rest.endpoint import ConnectionId, Endpoint
from handlers.rest.queueing import queued_answer


def query_endpoint(name: str, words: str) -> Endpoint:
    """Return the handler of `GET /connections/{connection_id}/<name>`; `words` say in a summary what it asks for."""
    endpoint = Endpoint(changes=True, parameters=None)

    @endpoint.get(
        f"/api/v1/connections/<connection_id>/{name}",
        status_code=202,
        operation_id=f"query_{name}",
        summary=f"Queue a query for {words}",
        description="The answer is a queued request; QuickBooks' answer comes with its webhook.",
        response_description="The queued request",
        tags=["Queries"],
    )
    def query(connection_id: ConnectionId) -> Response[Any]:
        request, webhook_url = QUERIES[name].build(request_checks.query_of(endpoint.event))
        return queued_answer(endpoint, connection_id, request, webhook_url, status=202)

    return endpoint
