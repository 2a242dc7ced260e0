"""GET /queued_requests/{request_id}, and the same below its connection: one record, whole."""

from typing import Any

from aws_lambda_powertools.event_handler import Response

from domain.requests.views import record_view
from handlers.bootstrap import services
from handlers.rest import ConnectionId, Endpoint, RequestId, record_answer

handler = Endpoint()
ABOUT: dict[str, Any] = {
    "summary": "Get a queued request",
    "response_description": "The queued request",
    "tags": ["Queued requests"],
}


@handler.get("/api/v1/queued_requests/<request_id>", operation_id="get_queued_request", **ABOUT)
def get(request_id: RequestId) -> Response[Any]:
    """Answer with the record."""
    return _answer(request_id)


@handler.get(
    "/api/v1/connections/<connection_id>/queued_requests/<request_id>",
    operation_id="get_queued_request_of_connection",
    **ABOUT,
)
def get_of_connection(connection_id: ConnectionId, request_id: RequestId) -> Response[Any]:
    """Answer with the record, if it is this connection's."""
    return _answer(request_id, connection_id)


def _answer(request_id: str, connection_id: str | None = None) -> Response[Any]:
    stored, waiting = services().requests.detail(handler.app_id, request_id, connection_id)
    return record_answer(handler.event, record_view(stored, waiting=waiting))
