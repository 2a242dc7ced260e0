"""POST /queued_requests/{request_id}/settle, also below its connection: ask QuickBooks whether a write was executed."""

from domain.errors import Gone, InvalidState
from domain.records.permissions import Permission
from handlers.rest import ApiCall, Data, endpoint, services
from handlers.views.requests import QueuedRequestView, queued_request


@endpoint(
    "Queued requests",
    "POST /queued_requests/{request_id}/settle",
    needs=(Permission.OPERATE,),
    errors=(Gone, InvalidState),
)
def handler(call: ApiCall, request_id: str, connection_id: str | None = None) -> Data[QueuedRequestView]:
    """Ask QuickBooks whether it executed a write whose `executed` is `unknown`.

    Queues up to three queries behind the other requests (`settling`). Their answers change `executed` of the write,
    whose state stays `error`. A repeated call queues nothing until they are answered and have settled nothing.
    """
    return {"data": queued_request(services().settling.settle(call.app_id, request_id, connection_id))}
