"""POST /queued_requests/{request_id}/queue_again, also below its connection: queue an ended request again."""

from domain.errors import Gone, InvalidState, PossiblyExecuted, UnsupportedByVersion
from domain.queueing.new_request import QueueRequest, copy_of
from domain.queueing.successor import Replaces
from domain.records.permissions import Permission
from handlers.rest import ApiCall, Data, endpoint, services
from handlers.rest.models import QueueAgainParameters
from handlers.rest.request_checks import require_proposal
from handlers.views.requests import QueuedRequestView, new_queued_request


@endpoint(
    "Queued requests",
    "POST /queued_requests/{request_id}/queue_again",
    needs=(Permission.OPERATE, Permission.PROPOSE),
    queues=True,
    status=201,
    repeated_status=200,
    errors=(Gone, InvalidState, PossiblyExecuted, UnsupportedByVersion),
)
def handler(
    call: ApiCall, request_id: str, parameters: QueueAgainParameters, connection_id: str | None = None
) -> tuple[Data[QueuedRequestView], bool]:
    """Queue an ended request again, as a new request with the same content at the end of the queue.

    A request is queued again at most once: a repeated call returns the new request with status 200. The new request
    can be queued again in turn.
    """
    require_proposal(call, force=parameters.force)
    stored = services().requests.copied(call.app_id, request_id, connection_id)
    copy = copy_of(stored)
    command = QueueRequest(
        call.app_id,
        stored.record.connection_id,
        lambda _: copy,
        limits=call.limits,
        replaces=Replaces(request_id, parameters.force, call.actor),
        author=call.author,
    )
    queued = services().queueing.queue(command)
    return {"data": new_queued_request(queued)}, queued.repeated
