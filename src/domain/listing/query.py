"""The query of a list: filters, order and page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from domain.records.request import QueuedRequest, State
    from domain.records.webhook import WebhookState

Sort: TypeAlias = Literal["inserted_at", "updated_at"]


@dataclass(frozen=True, slots=True)
class ListQuery:
    """The parameters of a list. `page` counts from 1. `search_phrase` is a substring.

    `bodies`: whether the items have their request and response XML.
    """

    connection_id: str
    page: int = 1
    page_size: int = 20
    sort: Sort = "inserted_at"
    descending: bool = True
    state: State | None = None
    webhook_state: WebhookState | None = None
    search_phrase: str | None = None
    bodies: bool = True

    def matches(self, record: QueuedRequest) -> bool:
        """Whether the record matches the filters."""
        return self.state in (None, record.state) and self.webhook_state in (None, record.webhook_state)

    def time_of(self, record: QueuedRequest) -> str:
        """Return the time that the list is sorted by."""
        return record.inserted_at if self.sort == "inserted_at" else record.updated_at
