"""POST /queued_requests/{request_id}/redeliver, also below its connection: send its webhook again."""

from domain.errors import Gone, InvalidState, QuotaExceeded
from handlers.rest import REQUEST, REQUEST_OF_CONNECTION, Data, Endpoint, services
from handlers.views.requests import QueuedRequestView, queued_request

handler = Endpoint("Queued requests", changes=True)


@handler.route(
    "POST",
    f"{REQUEST}/redeliver",
    f"{REQUEST_OF_CONNECTION}/redeliver",
    status=202,
    errors=(Gone, InvalidState, QuotaExceeded),
)
def redeliver_queued_request(request_id: str, connection_id: str | None = None) -> Data[QueuedRequestView]:
    """Send the webhook of an ended request again."""
    services().quotas.check_redelivery(handler.app_id, handler.caller.limits)
    return {"data": queued_request(services().requests.redeliver(handler.app_id, request_id, connection_id))}
