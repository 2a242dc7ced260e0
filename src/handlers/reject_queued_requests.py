"""POST /connections/{connection_id}/queued_requests/reject, and …/batches/{batch_id}/reject: reject many writes."""

from domain.errors import HasDependants, InvalidRequest, InvalidState
from domain.queueing.approvals import Approvals
from domain.queueing.many_approvals import ManyApprovals
from domain.records.permissions import Permission
from handlers.rest import ApiCall, Data, endpoint, services
from handlers.rest.models import DiscardParameters, NewRejections
from handlers.views.decisions import DecisionsView, decisions


@endpoint(
    "Queued requests",
    "POST /connections/{connection_id}/queued_requests/reject",
    "POST /connections/{connection_id}/batches/{batch_id}/reject",
    needs=(Permission.DECIDE,),
    errors=(HasDependants, InvalidState),
)
def handler(
    call: ApiCall,
    connection_id: str,
    body: NewRejections,
    parameters: DiscardParameters,
    batch_id: str | None = None,
) -> Data[DecisionsView]:
    """Reject writes that wait for approval. What cannot be rejected is left, with the reason.

    A batch is rejected as a whole: if one of its requests cannot be rejected, none is. A repeated call rejects what was
    left.
    """
    if (body.ids is None) is (batch_id is None):
        raise InvalidRequest.of("ids", "must be given. Only for a batch, of which all requests are meant, leave it out")
    approvals = Approvals(services().requests, services().clock)
    decided = ManyApprovals(services().requests, approvals, services().clock).reject(
        call.app_id,
        connection_id,
        list(dict.fromkeys(body.ids or ())),
        actor=call.actor,
        author=call.author,
        reason=body.reason,
        dependants=parameters.dependants,
        batch_id=batch_id,
    )
    return {"data": decisions(decided)}
