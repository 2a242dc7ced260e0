"""Queueing requests in tests: without quotas, and with any webhook URL that a local stack allows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from domain import qbxml
from domain.queueing.new_request import NewRequest, Queueing, QueueRequest, WebhookUrl
from domain.webhooks.addresses import UrlRules

if TYPE_CHECKING:
    from domain.ports import Clock, IdSource
    from domain.queueing.new_request import Idempotency
    from domain.storage.ports import Database


def queueing_without_quotas(store: Database, clock: Clock, new_id: IdSource) -> Queueing:
    """Return the use case that queues requests."""
    return Queueing(store, clock, new_id, quotas=None, url_rules=UrlRules(allow_http=True, allow_loopback=True))


def new_request(
    tree: Any, ref: str | None = None, *depends_on: str, validate: bool = True, **fields: Any
) -> NewRequest:
    """Return a request of a batch, from JSON with references."""
    plain, references = qbxml.without_references(tree)
    request = qbxml.parse_request_json(plain, validate=validate)
    placed = qbxml.placed(request, references)
    return NewRequest(request, ref=ref, depends_on=depends_on, references=placed, **fields)


def command(
    app_id: str,
    connection_id: str,
    request: qbxml.Request,
    webhook_url: str | WebhookUrl = WebhookUrl.DEFAULT,
    idempotency: Idempotency | None = None,
    **fields: Any,
) -> QueueRequest:
    """Return the command that queues `request` for every connection alike."""
    return QueueRequest(app_id, connection_id, lambda _: NewRequest(request, webhook_url, **fields), idempotency)
