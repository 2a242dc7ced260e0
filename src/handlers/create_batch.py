"""POST /connections/{connection_id}/queued_requests/batch: queue several requests."""

from domain.errors import Gone, IdempotencyKeyReused, UnsupportedByVersion
from domain.queueing.new_request import Idempotency, QueueBatch
from domain.records.permissions import Permission
from handlers.rest import ApiCall, endpoint, services
from handlers.rest.new_queued_request import NewBatch, NewRequestParameters
from handlers.rest.request_checks import idempotency_key, require_proposal
from handlers.views.requests import QueuedRequestBatchView, new_queued_request


@endpoint(
    "Queued requests",
    "POST /connections/{connection_id}/queued_requests/batch",
    needs=(Permission.PROPOSE,),
    queues=True,
    status=201,
    repeated_status=200,
    errors=(Gone, IdempotencyKeyReused, UnsupportedByVersion),
)
def handler(
    call: ApiCall, connection_id: str, body: NewBatch, parameters: NewRequestParameters
) -> tuple[QueuedRequestBatchView, bool]:
    """Queue 1 to 25 requests in their order: all of them, or none.

    A problem with a request has its `index`, counted from 0. A call that is repeated with the same `Idempotency-Key`
    within 24 hours returns the first records with status 200.
    """
    require_proposal(call, webhook_url=any(request.gives_webhook for request in body.requests))
    key = idempotency_key(call.event)
    idempotency = Idempotency.of(key, connection_id, body.inputs(parameters)) if key else None
    command = QueueBatch(
        call.app_id, connection_id, body.reader(parameters), idempotency, call.limits, author=call.author
    )
    queued = services().queueing.queue_batch(command)
    return {"data": [new_queued_request(request) for request in queued.requests]}, queued.repeated
