"""POST /queued_requests/{request_id}/reject, also below its connection: discard a write that needs approval."""

from domain.errors import Gone, HasDependants, InvalidState, MayBeExecuted
from domain.queueing.approvals import Approvals
from domain.records.permissions import Permission
from handlers.rest import ApiCall, Data, endpoint, services
from handlers.rest.models import DiscardParameters, NewRejection
from handlers.views.requests import QueuedRequestView, queued_request


@endpoint(
    "Queued requests",
    "POST /queued_requests/{request_id}/reject",
    needs=(Permission.DECIDE,),
    errors=(Gone, HasDependants, MayBeExecuted, InvalidState),
)
def handler(
    call: ApiCall,
    request_id: str,
    body: NewRejection,
    parameters: DiscardParameters,
    connection_id: str | None = None,
) -> Data[QueuedRequestView]:
    """Reject a write that waits for approval. It ends as `discarded`, and is never copied.

    The API key that queued it cannot reject it. A repeated call returns the record.
    """
    stored = Approvals(services().requests, services().clock).reject(
        call.app_id,
        request_id,
        connection_id,
        actor=call.actor,
        author=call.author,
        reason=body.reason,
        dependants=parameters.dependants,
    )
    return {"data": queued_request(stored)}
