"""POST /queued_requests/{request_id}/discard, also below its connection: take a request out of the queue."""

from domain.errors import Gone, InFlight, InvalidState
from handlers.bootstrap import services
from handlers.rest import REQUEST, REQUEST_OF_CONNECTION, ConnectionId, Data, Endpoint, RequestId
from handlers.views.requests import QueuedRequestView, queued_request

handler = Endpoint("Queued requests", changes=True)
ERRORS = (Gone, InFlight, InvalidState)


@handler.route("POST", f"{REQUEST}/discard", errors=ERRORS)
@handler.route("POST", f"{REQUEST_OF_CONNECTION}/discard", errors=ERRORS)
def discard_queued_request(request_id: RequestId, connection_id: ConnectionId | None = None) -> Data[QueuedRequestView]:
    """Take a request out of the queue."""
    return {"data": queued_request(services().requests.discard(handler.app_id, request_id, connection_id))}
