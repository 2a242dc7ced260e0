"""POST /connections/{connection_id}/batches/{batch_id}/continue: continue a batch in which a request failed."""

from domain.errors import Gone, InvalidState, OtherSuccessor, PossiblyExecuted, UnsupportedByVersion
from domain.queueing.continuation import ContinueBatch, Continuing
from domain.records.permissions import Permission
from handlers.rest import ApiCall, endpoint, services
from handlers.rest.new_queued_request import CreateParameters, NewContinuation
from handlers.rest.request_checks import require_proposal
from handlers.views.requests import QueuedRequestBatchView, new_queued_request


@endpoint(
    "Queued requests",
    "POST /connections/{connection_id}/batches/{batch_id}/continue",
    needs=(Permission.PROPOSE,),
    queues=True,
    status=201,
    repeated_status=200,
    errors=(Gone, InvalidState, OtherSuccessor, PossiblyExecuted, UnsupportedByVersion),
)
def handler(
    call: ApiCall,
    connection_id: str,
    batch_id: str,
    parameters: CreateParameters,
    body: NewContinuation | None = None,
) -> tuple[QueuedRequestBatchView, bool]:
    """Queue a failed request of a batch again, corrected or not, and what ended with `dependency_failed` because of it.

    References get the values of requests of the batch that have ended with a response, or of the new request. Each
    request is queued again at most once: a repeated call returns the new requests with status 200. If QuickBooks has
    executed the failed request after all, only the others are queued, with the values of its object.
    """
    require_proposal(call, webhook_url=body and body.gives_webhook, force=parameters.force)
    command = ContinueBatch(
        call.app_id,
        connection_id,
        batch_id,
        call.actor,
        call.author,
        step=body.request_id if body else None,
        correction=body.correction(parameters) if body and body.corrects else None,
        force=parameters.force,
        limits=call.limits,
    )
    queued = Continuing(services().store, services().queueing).continue_batch(command)
    return {"data": [new_queued_request(request) for request in queued.requests]}, queued.repeated
