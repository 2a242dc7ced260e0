"""POST /queued_requests/{request_id}/discard, also below its connection: take a request out of the queue."""

from domain.errors import Gone, InvalidState, MayBeExecuted
from handlers.rest import Call, Data, endpoint, services
from handlers.views.requests import QueuedRequestView, queued_request


@endpoint(
    "Queued requests",
    "POST /queued_requests/{request_id}/discard",
    changes=True,
    errors=(Gone, MayBeExecuted, InvalidState),
)
def handler(call: Call, request_id: str, connection_id: str | None = None) -> Data[QueuedRequestView]:
    """Take a request out of the queue."""
    return {"data": queued_request(services().requests.discard(call.app_id, request_id, connection_id))}
