"""The names of the tables and of their indexes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TableNames:
    """The deployed tables' names: the template makes them, functions get them by environment."""

    queued_requests: str
    payloads: str
    counts: str
    connections: str
    sessions: str
    apps: str
    idempotency_keys: str
    queue: str


LISTING_INDEXES = {
    ("connection", "inserted_at"): "by_inserted",
    ("connection", "updated_at"): "by_updated",
    ("state", "inserted_at"): "by_state_inserted",
    ("state", "updated_at"): "by_state_updated",
    ("webhook_state", "inserted_at"): "by_webhook_state_inserted",
    ("webhook_state", "updated_at"): "by_webhook_state_updated",
}
SEARCH_INDEX = "search"
DAYS_TO_PACK_INDEX = "to_pack"
CONNECTIONS_BY_APP_INDEX = "by_app"
CONNECTIONS_TO_PURGE_INDEX = "to_purge"
LIVE_SESSIONS_INDEX = "live"
KEYS_OF_APP_INDEX = "keys_of_app"
