"""How every endpoint that queues a request does it: check the webhook, queue, show the record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from domain.requests.views import record_view, self_link_in_connection
from domain.webhooks.addresses import check_url
from handlers.bootstrap import services
from handlers.rest.responses import record_answer

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler import Response

    from domain import qbxml
    from domain.requests.service import Idempotency
    from handlers.rest.endpoint import Endpoint


def queued_answer(
    endpoint: Endpoint,
    connection_id: str,
    request: qbxml.Request,
    webhook_url: str | None,
    *,
    status: int,
    idempotency: Idempotency | None = None,
) -> Response[Any]:
    """Queue a request and answer with its record: `status`, or 200 when an idempotency key found it."""
    if webhook_url is not None:
        check_url(webhook_url, services().url_rules)
    queueing = services().requests
    queued = queueing.queue(endpoint.app_id, connection_id, request, webhook_url, idempotency)
    record = queued.stored.record
    own_link, waiting = self_link_in_connection(record), queueing.cached_waiting_reason(record)
    view = record_view(queued.stored, own_link=own_link, waiting=waiting)
    return record_answer(endpoint.event, view, 200 if queued.repeated else status)
