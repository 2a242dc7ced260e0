"""POST /queued_requests/{request_id}/approve, also below its connection: approve a write, which enters the queue."""

from domain.errors import Gone, InvalidState
from domain.queueing.approvals import Approvals
from domain.records.permissions import Permission
from handlers.rest import ApiCall, Data, endpoint, services
from handlers.rest.models import NewApproval
from handlers.views.requests import QueuedRequestView, queued_request


@endpoint(
    "Queued requests",
    "POST /queued_requests/{request_id}/approve",
    needs=(Permission.DECIDE,),
    errors=(Gone, InvalidState),
)
def handler(
    call: ApiCall, request_id: str, body: NewApproval, connection_id: str | None = None
) -> Data[QueuedRequestView]:
    """Approve a write that waits for approval. It enters the queue.

    The API key that queued it cannot approve it. A repeated call returns the record.
    """
    stored = Approvals(services().requests, services().clock).approve(
        call.app_id,
        request_id,
        connection_id,
        actor=call.actor,
        author=call.author,
        revision=body.revision,
        accept_values=body.accept_values,
    )
    return {"data": queued_request(stored)}
