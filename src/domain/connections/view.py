"""The JSON form of a connection (contract §4).

Beside `domain.views`, because who shows connections need not load all that reads QBXML.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from domain.connections.record import Connection
    from domain.requests.waiting_reason import WaitingReason


def connection_view(connection: Connection, waiting: WaitingReason | None) -> dict[str, Any]:
    """Return a connection (contract §4) and what its queue waits for; nothing of its password."""
    link = connection.onboarding
    return {
        "id": connection.id,
        "app_id": connection.app_id,
        "username": connection.username,
        "name": connection.name,
        "company_file": connection.company_file,
        "company_file_pinned": connection.file_pinned,
        "webhook_url": connection.webhook_url,
        "last_connected_at": connection.last_connected_at,
        "status": connection.status,
        "qbxml_version": connection.qbxml_version,
        "quickbooks_product_name": connection.quickbooks_product_name,
        "country": connection.country,
        "last_error": connection.last_error,
        "sync_window": connection.sync_window.as_dict() if connection.sync_window else None,
        "linger_seconds": connection.linger_seconds,
        "paused_at": connection.paused_at,
        "redirect_url": link.redirect_url if link else None,
        "onboarding_expires_at": link.expires_at if link else None,
        "waiting_reason": waiting.as_dict() if waiting else None,
        "links": {
            "self": f"/api/v1/connections/{connection.id}",
            "ui": f"/app/connections/{connection.id}",
            # Only the response that creates the link knows it: the token is stored as a hash.
            "onboarding": None,
        },
        "inserted_at": connection.inserted_at,
        "updated_at": connection.updated_at,
    }
