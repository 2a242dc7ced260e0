"""Code that the endpoints that queue a request share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.records.webhook import Webhook
from domain.webhooks.addresses import check_url
from handlers.common.bootstrap import services
from handlers.views import requests

if TYPE_CHECKING:
    from domain import qbxml
    from domain.queueing.service import Idempotency
    from handlers.rest.request_checks import Call
    from handlers.views.requests import QueuedRequestView
    from handlers.views.schema import Data


def webhook_to(url: str | None) -> Webhook | None:
    """Return the webhook of a new request, or None without a URL. Raises InvalidRequest if the URL is not allowed."""
    if url is None:
        return None
    check_url(url, services().url_rules)
    return Webhook.to(url)


def queue(
    call: Call,
    connection_id: str,
    request: qbxml.Request,
    webhook: Webhook | None,
    idempotency: Idempotency | None = None,
    *,
    may_iterate: bool = False,
) -> tuple[Data[QueuedRequestView], bool]:
    """Queue a request (see `RequestService.queue`).

    Return its record and whether an earlier call with the same idempotency key queued it. Raises QuotaExceeded.
    """
    services().quotas.check_create(call.app_id, call.limits)
    service = services().requests
    queued = service.queue(call.app_id, connection_id, request, webhook, idempotency, may_iterate=may_iterate)
    waiting = service.cached_waiting_reason(queued.stored.record)
    view = requests.queued_request(queued.stored, waiting=waiting, below_connection=True)
    return {"data": view}, queued.repeated
