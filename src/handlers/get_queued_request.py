"""GET /queued_requests/{request_id}, also below its connection: one record with its bodies."""

from domain.errors import Gone
from handlers.rest import REQUEST, REQUEST_OF_CONNECTION, Data, Endpoint, services
from handlers.views.requests import QueuedRequestView, queued_request

handler = Endpoint("Queued requests")


@handler.route("GET", REQUEST, REQUEST_OF_CONNECTION, errors=(Gone,))
def get_queued_request(request_id: str, connection_id: str | None = None) -> Data[QueuedRequestView]:
    """Get a queued request."""
    stored, waiting = services().requests.detail(handler.app_id, request_id, connection_id)
    return {"data": queued_request(stored, waiting=waiting)}
