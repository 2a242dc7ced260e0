"""The JSON forms of a queued request (contract §3): what answers and webhooks are made of.

A view shows all of a record. Whether all of it fits an answer is for the edge to decide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from domain import qbxml

if TYPE_CHECKING:
    from domain.requests.record import QueuedRequest, StoredRequest
    from domain.requests.waiting_reason import WaitingReason


def self_link(record: QueuedRequest) -> str:
    """Return the path that a record has everywhere but in the answers of create and query."""
    return f"/api/v1/queued_requests/{record.id}"


def self_link_in_connection(record: QueuedRequest) -> str:
    """Return the path that a record has in the answers of create and query (contract §3)."""
    return f"/api/v1/connections/{record.connection_id}/queued_requests/{record.id}"


def links(record: QueuedRequest, *, own: str | None = None) -> dict[str, str]:
    """Return where a record is found: by the API (`own`, else `self_link`) and in the console."""
    return {
        "self": own or self_link(record),
        "ui": f"/app/queued_requests/{record.id}",
        "connection_ui": f"/app/connections/{record.connection_id}",
    }


def record_view(
    stored: StoredRequest, *, own_link: str | None = None, waiting: WaitingReason | None = None
) -> dict[str, Any]:
    """Return a record with both forms of its request and response (contract §3), and why it waits."""
    record = stored.record
    return {
        "id": record.id,
        "connection_id": record.connection_id,
        "request_name": record.request_name,
        "page": record.paging.page,
        "state": record.state.value,
        "webhook_state": record.webhook_state.value,
        "waiting_reason": waiting.as_dict() if waiting else None,
        "request_xml": stored.request_xml,
        "request_json": request_json(stored),
        "response_xml": stored.response_xml,
        "response_json": response_json(stored),
        **_outcome(record),
        "links": links(record, own=own_link),
        "inserted_at": record.inserted_at,
        "updated_at": record.updated_at,
    }


def list_item_view(stored: StoredRequest, *, waiting: WaitingReason | None = None) -> dict[str, Any]:
    """Return a record as a list shows it: without the JSON forms (contract §3), and with why it waits.

    A response that was too large to be read is null, with `response_omitted`.
    """
    record = stored.record
    view = {
        "id": record.id,
        "connection_id": record.connection_id,
        "request_name": record.request_name,
        "page": record.paging.page,
        "state": record.state.value,
        "webhook_state": record.webhook_state.value,
        "waiting_reason": waiting.as_dict() if waiting else None,
        "request_xml": stored.request_xml,
        "response_xml": stored.response_xml,
        **_outcome(record),
        "links": links(record),
        "inserted_at": record.inserted_at,
        "updated_at": record.updated_at,
    }
    if stored.response_xml is None and record.response_size:
        view["response_omitted"] = True
    return view


def request_json(stored: StoredRequest) -> dict[str, Any]:
    """Return the request as a tree (contract §5)."""
    return qbxml.stored_request(stored.request_xml, stored.record.qbxml_version).to_json()


def response_json(stored: StoredRequest) -> list[dict[str, Any]] | None:
    """Return the response as JSON (contract §6); None when there is none or it is no QBXML."""
    if stored.response_xml is None:
        return None
    try:
        return qbxml.response_to_json(stored.response_xml)
    except qbxml.UnreadableResponse:
        return None


def _outcome(record: QueuedRequest) -> dict[str, Any]:
    return {
        "error": record.error.as_dict() if record.error else None,
        "webhook_url": record.webhook.url,
        "webhook_attempts": [
            {"attempted_at": attempt.attempted_at, "response": attempt.response} for attempt in record.webhook.attempts
        ],
        "webhook_error": record.webhook.error,
    }
