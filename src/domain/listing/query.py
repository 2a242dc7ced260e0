"""The query of a list: filters, order and page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from domain.records.webhook import ListedWebhookState

if TYPE_CHECKING:
    from domain.records.request import Pair, QueuedRequest, State
    from domain.records.webhook import WebhookState

Sort: TypeAlias = Literal["inserted_at", "updated_at"]


@dataclass(frozen=True, slots=True)
class ListQuery:
    """The parameters of a list. `page` counts from 1. `search_phrase` is a substring.

    `retrying`: only requests whose webhook failed and is tried again. `bodies`: whether the items have their request
    and response XML.
    """

    connection_id: str
    page: int = 1
    page_size: int = 20
    sort: Sort = "inserted_at"
    descending: bool = True
    state: State | None = None
    webhook_state: WebhookState | None = None
    retrying: bool = False
    search_phrase: str | None = None
    bodies: bool = True

    @property
    def has_filter(self) -> bool:
        """Whether the list shows only some of the records."""
        return bool(self.state or self.webhook_state or self.retrying)

    def includes(self, pair: Pair) -> bool:
        """Whether records with this pair match the filters."""
        state, webhook_state = pair
        return (
            self.state in (None, state)
            and self.webhook_state in (None, webhook_state.webhook_state)
            and (not self.retrying or webhook_state is ListedWebhookState.RETRYING)
        )

    def matches(self, record: QueuedRequest) -> bool:
        """Whether the record matches the filters."""
        return self.includes(record.pair)

    def time_of(self, record: QueuedRequest) -> str:
        """Return the time that the list is sorted by."""
        return record.inserted_at if self.sort == "inserted_at" else record.updated_at

    def listed_time_of(self, record: QueuedRequest) -> str:
        """Return the time of the record's index entry."""
        return record.inserted_at if self.sort == "inserted_at" else record.listed_updated_at
