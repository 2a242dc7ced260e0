"""POST /connections/{connection_id}/queued_requests: queue a request."""

from domain.errors import IdempotencyKeyReused, QuotaExceeded, UnsupportedByVersion
from domain.queueing.service import Idempotency
from domain.records.webhook import Webhook
from handlers.rest import Call, Data, endpoint, services
from handlers.rest.new_queued_request import NewQueuedRequest, NewRequestParameters
from handlers.rest.queueing import queue, webhook_to
from handlers.rest.request_checks import idempotency_key
from handlers.views.requests import QueuedRequestView


@endpoint(
    "Queued requests",
    "POST /connections/{connection_id}/queued_requests",
    changes=True,
    status=201,
    repeated_status=200,
    errors=(IdempotencyKeyReused, QuotaExceeded, UnsupportedByVersion),
)
def handler(
    call: Call, connection_id: str, body: NewQueuedRequest, parameters: NewRequestParameters
) -> tuple[Data[QueuedRequestView], bool]:
    """Queue a request.

    A call that is repeated with the same `Idempotency-Key` within 24 hours returns the first record with status 200.
    """
    connection = services().requests.connection(call.app_id, connection_id)
    request = body.request(parameters, connection.country, connection.qbxml_version)
    webhook = Webhook() if body.opts_out_of_webhook else webhook_to(body.webhook_url)
    key = idempotency_key(call.event)
    inputs = [body.model_dump(), parameters.model_dump(), *(["no webhook"] if body.opts_out_of_webhook else [])]
    idempotency = Idempotency.of(key, connection_id, inputs) if key else None
    may_iterate = body.iterate == "auto"
    return queue(call, connection_id, request, webhook, idempotency, may_iterate=may_iterate)
