"""POST /queued_requests/{request_id}/discard, also below its connection: take a request out of the queue."""

from domain.errors import Gone, HasDependants, InvalidState, MayBeExecuted
from domain.records.permissions import Permission
from handlers.rest import ApiCall, Data, endpoint, services
from handlers.rest.models import DiscardParameters
from handlers.views.requests import QueuedRequestView, queued_request


@endpoint(
    "Queued requests",
    "POST /queued_requests/{request_id}/discard",
    needs=(Permission.OPERATE,),
    errors=(Gone, HasDependants, MayBeExecuted, InvalidState),
)
def handler(
    call: ApiCall, request_id: str, parameters: DiscardParameters, connection_id: str | None = None
) -> Data[QueuedRequestView]:
    """Take a request out of the queue."""
    requests = services().requests
    stored = requests.discard(
        call.app_id, request_id, connection_id, actor=call.actor, dependants=parameters.dependants
    )
    return {"data": queued_request(stored)}
