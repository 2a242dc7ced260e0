"""POST /connections/{connection_id}/queued_requests/approve, and …/batches/{batch_id}/approve: approve many writes."""

from domain.errors import InvalidState
from domain.queueing.approvals import Approvals
from domain.queueing.many_approvals import ManyApprovals
from domain.records.permissions import Permission
from handlers.rest import ApiCall, Data, endpoint, services
from handlers.rest.models import NewApprovals
from handlers.views.decisions import DecisionsView, decisions


@endpoint(
    "Queued requests",
    "POST /connections/{connection_id}/queued_requests/approve",
    "POST /connections/{connection_id}/batches/{batch_id}/approve",
    needs=(Permission.DECIDE,),
    errors=(InvalidState,),
)
def handler(call: ApiCall, connection_id: str, body: NewApprovals, batch_id: str | None = None) -> Data[DecisionsView]:
    """Approve writes that wait for approval. What cannot be approved is left, with the reason.

    A batch is approved as a whole: if one of its requests cannot be approved, none is. A repeated call approves what
    was left.
    """
    approvals = Approvals(services().requests, services().clock)
    decided = ManyApprovals(services().requests, approvals, services().clock).approve(
        call.app_id,
        connection_id,
        {seen.id: seen.revision for seen in body.requests},
        actor=call.actor,
        author=call.author,
        accept_values=body.accept_values,
        batch_id=batch_id,
    )
    return {"data": decisions(decided)}
