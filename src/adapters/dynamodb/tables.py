"""The names of the tables and of their indexes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class _TableName:
    """An attribute that looks the name of its table up."""

    def __set_name__(self, _owner: type[TableNames], name: str) -> None:
        self._table = name

    def __get__(self, names: TableNames, _owner: type[TableNames]) -> str:
        return names.name_of(self._table)


class TableNames:
    """The names of the deployed tables.

    A name is looked up when it is used, because a function is told only the names of the tables that it uses.
    """

    def __init__(self, name_of: Callable[[str], str]) -> None:
        self.name_of = name_of

    queued_requests = _TableName()
    payloads = _TableName()
    counts = _TableName()
    connections = _TableName()
    sessions = _TableName()
    apps = _TableName()
    idempotency_keys = _TableName()
    queue = _TableName()


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
