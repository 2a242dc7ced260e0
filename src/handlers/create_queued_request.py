"""POST /connections/{connection_id}/queued_requests: queue a request."""

from domain.errors import Gone, IdempotencyKeyReused, InvalidState, PossiblyExecuted, UnsupportedByVersion
from domain.queueing.new_request import Idempotency, QueueRequest
from domain.queueing.successor import Replaces
from domain.records.permissions import Permission
from handlers.rest import ApiCall, Data, endpoint
from handlers.rest.new_queued_request import CreateParameters, NewQueuedRequest
from handlers.rest.request_checks import idempotency_key, require_proposal
from handlers.rest.waiting import queue_and_wait
from handlers.views.requests import QueuedRequestView, new_queued_request


@endpoint(
    "Queued requests",
    "POST /connections/{connection_id}/queued_requests",
    needs=(Permission.PROPOSE,),
    queues=True,
    status=201,
    repeated_status=200,
    errors=(Gone, IdempotencyKeyReused, InvalidState, PossiblyExecuted, UnsupportedByVersion),
)
def handler(
    call: ApiCall, connection_id: str, body: NewQueuedRequest, parameters: CreateParameters
) -> tuple[Data[QueuedRequestView], bool]:
    """Queue a request.

    A call that is repeated with the same `Idempotency-Key` within 24 hours returns the first record with status 200. A
    request that has ended is replaced at most once: a call with `replaces` returns the record that replaces it already,
    also with status 200.
    """
    require_proposal(call, webhook_url=body.gives_webhook, force=parameters.force)
    key = idempotency_key(call.event)
    idempotency = Idempotency.of(key, connection_id, body.inputs(parameters)) if key else None
    replaces = Replaces(body.replaces, parameters.force, call.actor) if body.replaces else None
    read = body.reader(parameters)
    command = QueueRequest(call.app_id, connection_id, read, idempotency, call.limits, replaces, call.author)
    queued = queue_and_wait(call, command)
    return {"data": new_queued_request(queued)}, queued.repeated
