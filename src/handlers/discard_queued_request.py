"""POST /queued_requests/{request_id}/discard, also below its connection: take a request out of the queue."""

from domain.errors import Gone, InFlight, InvalidState
from handlers.rest import REQUEST, REQUEST_OF_CONNECTION, Data, Endpoint, services
from handlers.views.requests import QueuedRequestView, queued_request

handler = Endpoint("Queued requests", changes=True)


@handler.route("POST", f"{REQUEST}/discard", f"{REQUEST_OF_CONNECTION}/discard", errors=(Gone, InFlight, InvalidState))
def discard_queued_request(request_id: str, connection_id: str | None = None) -> Data[QueuedRequestView]:
    """Take a request out of the queue."""
    return {"data": queued_request(services().requests.discard(handler.app_id, request_id, connection_id))}
