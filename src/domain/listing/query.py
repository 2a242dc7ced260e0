"""The query of a list: filters, order and page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from domain.records.webhook import FAILING, ListedWebhookState
from domain.storage.ports import Group
from domain.timestamps import ANY_TIME, TimeRange

if TYPE_CHECKING:
    from domain.records.request import Pair, QueuedRequest, State
    from domain.records.webhook import WebhookState

Sort: TypeAlias = Literal["inserted_at", "updated_at"]


@dataclass(frozen=True, slots=True)
class ListQuery:
    """The parameters of a list. `page` counts from 1. `search_phrase` is a substring; `label` and `query_id` are exact.

    `within` is a range of the time that the list is sorted by, and `sent` one of `sent_at`. `webhook_retrying`: only
    requests whose webhook failed and is tried again, or only the others. `webhook_failing`: only requests whose webhook
    failed, whether or not it is tried again, or only the others. `bodies`: whether the items have their request and
    response XML.
    """

    connection_id: str
    page: int = 1
    page_size: int = 20
    sort: Sort = "inserted_at"
    descending: bool = True
    state: State | None = None
    webhook_state: WebhookState | None = None
    webhook_retrying: bool | None = None
    webhook_failing: bool | None = None
    search_phrase: str | None = None
    label: str | None = None
    query_id: str | None = None
    within: TimeRange = ANY_TIME
    sent: TimeRange = ANY_TIME
    bodies: bool = True

    @property
    def has_filter(self) -> bool:
        """Whether a listing index is needed to select records: by their pairs, or by the time of the last change."""
        conditions = (self.state, self.webhook_state, self.webhook_retrying, self.webhook_failing)
        has_pairs = any(condition is not None for condition in conditions)
        return has_pairs or bool(self.within and not self.inserted_within)

    @property
    def inserted_within(self) -> TimeRange:
        """The range of time in which the records of the list were inserted."""
        return self.within if self.sort == "inserted_at" else ANY_TIME

    @property
    def is_search(self) -> bool:
        """Whether records are selected by something that is not in the counts."""
        return bool(self.search_phrase or self.label or self.query_id or self.sent)

    @property
    def group(self) -> Group | None:
        """The requests of a label if the list is exactly these, sorted by insertion."""
        is_whole = (
            not (self.has_filter or self.search_phrase or self.query_id or self.sent) and self.sort == "inserted_at"
        )
        return Group("label", self.label) if self.label and is_whole else None

    def includes(self, pair: Pair) -> bool:
        """Whether records with this pair match the filters."""
        state, webhook_state = pair
        return (
            self.state in (None, state)
            and self.webhook_state in (None, webhook_state.webhook_state)
            and self.webhook_retrying in (None, webhook_state is ListedWebhookState.RETRYING)
            and self.webhook_failing in (None, webhook_state in FAILING)
        )

    def matches(self, record: QueuedRequest) -> bool:
        """Whether the record matches the filters."""
        return (
            self.includes(record.pair)
            and self.label in (None, record.label)
            and self.query_id in (None, record.query_id)
            and self.time_of(record) in self.within
            and record.sent_at in self.sent
        )

    def lists(self, record: QueuedRequest) -> bool:
        """Whether the entry of the record is in the partitions and the range of time of the list."""
        return self.includes(record.listed_pair) and self.listed_time_of(record) in self.within

    def time_of(self, record: QueuedRequest) -> str:
        """Return the time that the list is sorted by."""
        return record.inserted_at if self.sort == "inserted_at" else record.updated_at

    def listed_time_of(self, record: QueuedRequest) -> str:
        """Return the time of the record's index entry."""
        return record.inserted_at if self.sort == "inserted_at" else record.listed_updated_at
