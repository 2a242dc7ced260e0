"""POST /queued_requests/{request_id}/discard, also below its connection: take a request out of the queue."""

from domain.errors import Gone, InFlight, InvalidState
from handlers.bootstrap import services
from handlers.rest import ConnectionId, Data, Endpoint, RequestId
from handlers.views.requests import QueuedRequestView, queued_request

handler = Endpoint("Queued requests", changes=True)
ERRORS = (Gone, InFlight, InvalidState)


@handler.post("/api/v1/queued_requests/<request_id>/discard", errors=ERRORS)
@handler.post("/api/v1/connections/<connection_id>/queued_requests/<request_id>/discard", errors=ERRORS)
def discard_queued_request(request_id: RequestId, connection_id: ConnectionId | None = None) -> Data[QueuedRequestView]:
    """Take a request out of the queue."""
    return {"data": queued_request(services().requests.discard(handler.app_id, request_id, connection_id))}
