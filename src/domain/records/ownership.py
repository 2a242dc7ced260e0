"""An app can access only its own resources. Missing, deleted and foreign resources cause the same 404 error."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from domain.errors import NotFound

if TYPE_CHECKING:
    from domain.records.connection import Connection
    from domain.records.request import QueuedRequest, Tombstone


Resource = TypeVar("Resource", "Connection", "QueuedRequest", "Tombstone")


def not_found(kind: str) -> NotFound:
    """Return the error for a resource that does not exist for the caller."""
    return NotFound(f"The {kind} does not exist.")


def owned(resource: Resource | None, app_id: str, kind: str) -> Resource:
    """Return a resource that belongs to the app. Raises NotFound otherwise."""
    if resource is None or resource.app_id != app_id:
        raise not_found(kind)
    return resource


def owned_connection(connection: Connection | None, app_id: str) -> Connection:
    """Return a connection that belongs to the app and was not deleted. Raises NotFound otherwise."""
    return owned(None if connection and connection.deleted_at else connection, app_id, "connection")
