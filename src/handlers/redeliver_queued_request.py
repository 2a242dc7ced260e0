"""POST /queued_requests/{request_id}/redeliver, and the same below its connection: send its webhook again."""

from typing import Any

from aws_lambda_powertools.event_handler import Response

from domain.requests.views import record_view
from handlers.bootstrap import services
from handlers.rest import ConnectionId, Endpoint, RequestId, record_answer

handler = Endpoint(changes=True)
ABOUT: dict[str, Any] = {
    "status_code": 202,
    "summary": "Send the webhook of an ended request again",
    "response_description": "The queued request",
    "tags": ["Queued requests"],
}


@handler.post("/api/v1/queued_requests/<request_id>/redeliver", operation_id="redeliver_queued_request", **ABOUT)
def redeliver(request_id: RequestId) -> Response[Any]:
    """Answer with the record as it is now."""
    return _answer(request_id)


@handler.post(
    "/api/v1/connections/<connection_id>/queued_requests/<request_id>/redeliver",
    operation_id="redeliver_queued_request_of_connection",
    **ABOUT,
)
def redeliver_of_connection(connection_id: ConnectionId, request_id: RequestId) -> Response[Any]:
    """Answer with the record as it is now, if it is this connection's."""
    return _answer(request_id, connection_id)


def _answer(request_id: str, connection_id: str | None = None) -> Response[Any]:
    stored = services().requests.redeliver(handler.app_id, request_id, connection_id)
    return record_answer(handler.event, record_view(stored), 202)
