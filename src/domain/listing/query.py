"""The query of a list: filters, order and page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from domain.listing.filters import Lookup, RequestFilter
from domain.records.search_text import author_mark, normalized_phrase
from domain.storage.counts import INSERTED
from domain.storage.ports import Group

if TYPE_CHECKING:
    from domain.records.request import QueuedRequest
    from domain.timestamps import TimeRange

Sort: TypeAlias = Literal["inserted_at", "updated_at"]


@dataclass(frozen=True, slots=True)
class ListQuery:
    """The parameters of a list. `page` counts from 1. `search_phrase` is a substring.

    `queued_by` is the id of an API key or of a person. `bodies`: whether the items have their request and response XML.
    """

    connection_id: str
    which: RequestFilter = RequestFilter()
    page: int = 1
    page_size: int = 20
    sort: Sort = "inserted_at"
    descending: bool = True
    search_phrase: str | None = None
    queued_by: str | None = None
    bodies: bool = True

    @property
    def within(self) -> TimeRange:
        """The range of the time that the list is sorted by."""
        return self.which.inserted if self.sort == INSERTED else self.which.updated

    @property
    def has_filter(self) -> bool:
        """Whether a listing index is needed to select records: by their pairs, or by the time of the last change."""
        return self.which.has(Lookup.COUNTS) or (self.sort != INSERTED and bool(self.within))

    @property
    def searched(self) -> tuple[str, ...]:
        """What the search texts of the requests contain: the mark of who queued them, and the phrase."""
        mark = (author_mark(self.queued_by),) if self.queued_by else ()
        return (*mark, normalized_phrase(self.search_phrase)) if self.search_phrase else mark

    @property
    def reads_records(self) -> bool:
        """Whether records are selected by something that no index of this order has."""
        other = Lookup.UPDATED if self.sort == INSERTED else Lookup.INSERTED
        return self.which.has(Lookup.RECORDS, Lookup.KEYS, other)

    @property
    def is_search(self) -> bool:
        """Whether records are selected by something that is not in the counts."""
        return bool(self.searched) or self.reads_records or self.which.has(Lookup.GROUP)

    @property
    def group(self) -> Group | None:
        """The requests of a label if the list is exactly these, sorted by insertion."""
        which = self.which
        is_whole = not (self.has_filter or self.searched or which.query_id or self.reads_records)
        return Group("label", which.label) if which.label and is_whole and self.sort == INSERTED else None

    def lists(self, record: QueuedRequest) -> bool:
        """Whether the entry of the record is in the partitions and the range of time of the list."""
        return self.which.includes(record.listed_pair) and self.listed_time_of(record) in self.within

    def time_of(self, record: QueuedRequest) -> str:
        """Return the time that the list is sorted by."""
        return record.inserted_at if self.sort == INSERTED else record.updated_at

    def listed_time_of(self, record: QueuedRequest) -> str:
        """Return the time of the record's index entry."""
        return record.inserted_at if self.sort == INSERTED else record.listed_updated_at
