"""POST /queued_requests/{request_id}/redeliver, also below its connection: send its webhook again."""

from domain.errors import Gone, InvalidState
from domain.records.permissions import Permission
from handlers.rest import ApiCall, Data, endpoint, services
from handlers.views.requests import QueuedRequestView, queued_request


@endpoint(
    "Queued requests",
    "POST /queued_requests/{request_id}/redeliver",
    needs=(Permission.OPERATE,),
    status=202,
    errors=(Gone, InvalidState),
)
def handler(call: ApiCall, request_id: str, connection_id: str | None = None) -> Data[QueuedRequestView]:
    """Send the webhook of an ended request again."""
    services().quotas.check_redelivery(call.app_id, call.limits)
    stored = services().requests.redeliver(call.app_id, request_id, connection_id, actor=call.actor)
    return {"data": queued_request(stored)}
