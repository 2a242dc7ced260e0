"""The filters of requests. A list and a bulk action with the same filters mean the same requests.

`RequestFilter` is the one table of them. Each field is a filter: its name in the API, the form of its values, what is
read for it in a list, the condition, and its description in OpenAPI. A bulk action walks over an index and reads every
record, so it can have any of them. A search is not a filter, because it reads every text of a connection
(`domain/queueing/many.py`).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from enum import Enum, auto
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from domain.records.batch import MAX_REQUESTS, batch_id, ids_of_batch
from domain.records.webhook import AWAITING_APPROVAL, FAILING, ListedWebhookState
from domain.timestamps import TimeRange

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from domain.records.request import Pair, QueuedRequest, State
    from domain.records.webhook import WebhookState

MAX_IDS = 100
"""The ids in a filter. They are read in one batch."""


Form: TypeAlias = Literal[
    "state", "webhook state", "truth", "request name", "label", "cause", "receiver", "id", "ids", "time"
]
"""What a value may be. The handlers read and check it."""


class Lookup(Enum):
    """What a list reads to find the requests. RECORDS makes it a search."""

    COUNTS = auto()
    """Counts and listing indexes of the pair of state and webhook state. The condition is on this pair."""
    INSERTED = auto()
    """Counts and the listing index by `inserted_at`. With the other order, the records."""
    UPDATED = auto()
    """Counts and the listing index by `updated_at`. With the other order, the records."""
    GROUP = auto()
    """An index of its own."""
    KEYS = auto()
    """The records with these ids."""
    RECORDS = auto()
    """Every record that may match, because no index has the value."""


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter. `meets` gets its value, which is not None, and a record (or a pair, for COUNTS)."""

    form: Form
    reading: Lookup
    meets: Callable[[Any, Any], bool]
    description: str


def _filter(form: Form, reading: Lookup, meets: Callable[[Any, Any], bool], description: str) -> Any:
    return field(default=None, metadata={"filter": Filter(form, reading, meets, description)})


def _since(name: str, reading: Lookup, words: str) -> Any:
    def meets(moment: str, record: QueuedRequest) -> bool:
        return getattr(record, name) in TimeRange(moment)

    return _filter("time", reading, meets, f"Requests that {words} at this time or later.")


def _before(name: str, reading: Lookup, words: str) -> Any:
    def meets(moment: str, record: QueuedRequest) -> bool:
        return getattr(record, name) in TimeRange(end=moment)

    return _filter("time", reading, meets, f"Requests that {words} before this time.")


@dataclass(frozen=True)
class RequestFilter:
    """Conditions on requests. A request is meant if it meets all that are given, that is, not None.

    `label_prefix` is not empty. Times are timestamps. `from_` is called `from` in the API.
    """

    state: State | None = _filter("state", Lookup.COUNTS, lambda state, pair: pair[0] is state, "")
    webhook_state: WebhookState | None = _filter(
        "webhook state", Lookup.COUNTS, lambda state, pair: pair[1].webhook_state is state, ""
    )
    webhook_retrying: bool | None = _filter(
        "truth",
        Lookup.COUNTS,
        lambda truth, pair: truth is (pair[1] is ListedWebhookState.RETRYING),
        "True: requests whose webhook failed and is tried again. False: all others.",
    )
    webhook_failing: bool | None = _filter(
        "truth",
        Lookup.COUNTS,
        lambda truth, pair: truth is (pair[1] in FAILING),
        "True: requests whose webhook failed, whether or not it is tried again. False: all others.",
    )
    awaiting_approval: bool | None = _filter(
        "truth",
        Lookup.COUNTS,
        lambda truth, pair: truth is (pair[1] in AWAITING_APPROVAL),
        "True: requests that wait for approval. False: all others.",
    )
    request_name: str | None = _filter(
        "request name", Lookup.RECORDS, lambda name, record: record.request_name == name, "The request element."
    )
    cause: str | None = _filter(
        "cause",
        Lookup.RECORDS,
        lambda cause, record: record.cause == cause,
        "Requests that failed for this cause: a status code of QuickBooks, an HRESULT, or the code of the error.",
    )
    receiver: str | None = _filter(
        "receiver",
        Lookup.RECORDS,
        lambda receiver, record: record.webhook.receiver == receiver,
        "Requests whose webhook URL has this scheme, host and port.",
    )
    label: str | None = _filter(
        "label", Lookup.GROUP, lambda label, record: record.label == label, "Requests with exactly this label."
    )
    label_prefix: str | None = _filter(
        "label",
        Lookup.RECORDS,
        lambda prefix, record: (record.label or "").startswith(prefix),
        "Requests whose label begins with this text.",
    )
    query_id: str | None = _filter(
        "id",
        Lookup.GROUP,
        lambda query_id, record: record.query_id == query_id,
        "The pages of the query with this `query_id`.",
    )
    ids: tuple[str, ...] | None = _filter(
        "ids",
        Lookup.KEYS,
        lambda ids, record: record.id in ids,
        f"Requests of this connection with these ids, {MAX_IDS} at most.",
    )
    batch_id: str | None = _filter(
        "id",
        Lookup.KEYS,
        lambda batch, record: batch_id(record.id) == batch,
        "The requests of the batch with this `batch_id`.",
    )
    from_: str | None = _since("inserted_at", Lookup.INSERTED, "were queued (`inserted_at`)")
    to: str | None = _before("inserted_at", Lookup.INSERTED, "were queued")
    updated_since: str | None = _since("updated_at", Lookup.UPDATED, "changed last (`updated_at`)")
    updated_before: str | None = _before("updated_at", Lookup.UPDATED, "changed last")
    sent_since: str | None = _since("sent_at", Lookup.RECORDS, "were sent to QuickBooks (`sent_at`)")
    sent_before: str | None = _before("sent_at", Lookup.RECORDS, "were sent")

    @cached_property
    def given(self) -> Mapping[str, Any]:
        """The conditions that are given, by the names of their filters."""
        return {name: value for name, value in _named(asdict(self)).items() if value is not None}

    @property
    def is_empty(self) -> bool:
        """Whether there is no condition."""
        return not self.given

    def has(self, *readings: Lookup) -> bool:
        """Whether there is a condition for which a list reads one of these."""
        return any(FILTERS[name].reading in readings for name in self.given)

    def includes(self, pair: Pair) -> bool:
        """Whether requests with this pair can be meant."""
        return all(
            FILTERS[name].meets(value, pair)
            for name, value in self.given.items()
            if FILTERS[name].reading is Lookup.COUNTS
        )

    def matches(self, record: QueuedRequest) -> bool:
        """Whether the record meets all conditions."""
        return self.includes(record.pair) and all(
            FILTERS[name].meets(value, record)
            for name, value in self.given.items()
            if FILTERS[name].reading is not Lookup.COUNTS
        )

    @property
    def keys(self) -> tuple[str, ...] | None:
        """The ids that requests must have: those that are given, and those of the batch. None means any."""
        if self.batch_id is None:
            return self.ids
        members = ids_of_batch(self.batch_id, MAX_REQUESTS)
        return tuple(members if self.ids is None else (one for one in self.ids if one in members))

    @property
    def inserted(self) -> TimeRange:
        """The range of `inserted_at`."""
        return TimeRange(self.from_, self.to)

    @property
    def updated(self) -> TimeRange:
        """The range of `updated_at`."""
        return TimeRange(self.updated_since, self.updated_before)

    @property
    def sent(self) -> TimeRange:
        """The range of `sent_at`."""
        return TimeRange(self.sent_since, self.sent_before)

    @property
    def insertions(self) -> TimeRange:
        """Every request that is meant was inserted in this range. Others can be in it, too."""
        # A request changes and is sent after it was inserted.
        before = filter(None, (self.to, self.updated_before, self.sent_before))
        return TimeRange(self.from_, min(before, default=None))

    @property
    def changes(self) -> TimeRange:
        """Every request that is meant changed last in this range. Others can be in it, too."""
        since = filter(None, (self.from_, self.updated_since, self.sent_since))
        return TimeRange(max(since, default=None), self.updated_before)


def _named(members: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return members by their names in the API. `from` is a keyword of Python."""
    return {name.rstrip("_"): value for name, value in members.items()}


FILTERS: Mapping[str, Filter] = _named({own.name: own.metadata["filter"] for own in fields(RequestFilter)})
"""Each filter by its name in the API."""

RANGES = (("from", "to"), ("updated_since", "updated_before"), ("sent_since", "sent_before"))
"""The filters that are the beginning and the end of a range of time."""
