"""Subscriptions of a connection, the state of each object that they read, and the pages of changes that were found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from domain.timestamps import timestamp

START_WITH_ALL = "all"
START_NOW = "now"

MAX_OBJECTS = 60
"""The largest number of objects of a subscription."""

MAX_SUBSCRIPTIONS = 20
"""The largest number of subscriptions of a connection."""

MIN_MINUTES = 5
MAX_MINUTES = 1_440
"""The bounds of `every_minutes`."""

MAX_SEQUENCE = 2**53 - 1
"""The largest number of a change. JavaScript has no larger whole numbers."""

VERIFY_DAYS = 7
MAX_VERIFY_DAYS = 90
"""How many days after a snapshot of an object the next one begins, and the largest such number."""


class DerivedEvery(StrEnum):
    """How often the derived fields of lists are read."""

    HOURLY = "hourly"
    DAILY = "daily"

    @property
    def minutes(self) -> int:
        """The time between two reads."""
        return 60 if self is DerivedEvery.HOURLY else 1_440


FIRST_PAGE_SIZE = 200
"""How many objects a page of an iterator has, unless a page was lost."""


REPEATED_WITHIN = timedelta(minutes=1)
"""A failure like the one before is noted once in this time. A receiver that is down may fail for many pages at once."""


@dataclass(frozen=True, slots=True)
class SubscriptionWebhook:
    """The receiver of the changes of a subscription, and what failed there since its URL was set.

    `error` is why the last attempt failed, or None after one that succeeded. `failed_at` is when an attempt failed
    last, and `gave_up_at` when the service gave up a page last.
    """

    url: str | None = None
    error: str | None = None
    failed_at: str | None = None
    gave_up_at: str | None = None

    def failed(self, reason: str, now: str, *, gave_up: bool) -> SubscriptionWebhook:
        """Return the webhook after an attempt that failed. If the same was noted just before, it is unchanged."""
        since = timestamp(datetime.fromisoformat(now) - REPEATED_WITHIN)
        noted = self.gave_up_at if gave_up else self.failed_at
        if self.error == reason and noted is not None and noted > since:
            return self
        return replace(self, error=reason, failed_at=now, gave_up_at=now if gave_up else self.gave_up_at)


@dataclass(frozen=True, slots=True)
class Subscription:
    """The objects whose changes a program wants.

    `every_minutes` is how often they are read at least, and `verify_days` how often all their records are. `start` is
    START_WITH_ALL, START_NOW or a timestamp.
    `include` names what is read beside an object, by object. `began_at` is when the reading of its objects began last:
    at its creation and at each resync. `runs_at` is when somebody asked for a run, or None. `webhook` gets the changes.
    `derived` is how often the
    derived fields of its lists are read, or None if they are not, and `derived_since` when this began.
    """

    id: str
    connection_id: str
    app_id: str
    inserted_at: str
    updated_at: str
    objects: tuple[str, ...]
    every_minutes: int
    start: str
    began_at: str
    include: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    verify_days: int = VERIFY_DAYS
    name: str | None = None
    paused_at: str | None = None
    runs_at: str | None = None
    webhook: SubscriptionWebhook = SubscriptionWebhook()
    derived: DerivedEvery | None = None
    derived_since: str | None = None
    revision: int = 1

    def changed(self, now: str) -> Subscription:
        """Return the subscription after a change of its fields."""
        return replace(self, updated_at=now, revision=self.revision + 1)

    def wants(self, name: str) -> bool:
        """Return whether the changes of an object belong to it. Without a name, something happened to all of them."""
        return not name or name in self.objects


HOURS_OF_A_DAY = 24


def _hour(now: datetime) -> int:
    return int(now.timestamp()) // 3_600


class CopyPhase(StrEnum):
    """What the next read of an object is for."""

    SNAPSHOT = "snapshot"
    """All its records are read."""
    CHANGES = "changes"
    UNSUPPORTED = "unsupported"
    """QuickBooks cannot read it. It is tried again once a day."""
    RESYNC_REQUIRED = "resync_required"
    """Changes may be missing. Somebody has to call resync."""


@dataclass(frozen=True, slots=True)
class BooksRange:
    """A part of the records of an object, from `first` to `last`, both inclusive. None means no bound.

    They are names of entries of lists, dates of transactions, or times of change.
    """

    first: str | None = None
    last: str | None = None


@dataclass(frozen=True, slots=True)
class NewestChange:
    """The last change or deletion of a record of an object, and when it was, in the time of the books."""

    id: str
    at: str
    is_deletion: bool = False


@dataclass(frozen=True, slots=True)
class EntryCount:
    """How many entries a list must have.

    `created` are those of them that were created within the overlap: for each, its time as in a token, and its id.
    `is_unchecked` is whether a snapshot has given the number and no sweep has compared it yet. `is_last_try` is whether
    that snapshot was made because the number of the one before was wrong as well.
    """

    number: int
    created: tuple[str, ...] = ()
    is_unchecked: bool = False
    is_last_try: bool = False


@dataclass(frozen=True, slots=True)
class ObjectPass:
    """A pass over an object that needs several messages.

    `began_at` is the time of ours before its first message. `ranges` are still to be read. `is_open` is whether an
    iterator was opened for the first of them, which then had `total` records. `watermark` and `newest` are what the
    pages so far show, and `tokens` what they contain. `records` is how many records the ranges had that were read to
    the end, and `records_of_range` how many the pages of the first of `ranges` had. `has_found_newest` is whether the
    newest change of the former pass was found again. `count` is how many entries a list must have after these pages.
    """

    began_at: str
    ranges: tuple[BooksRange, ...] = ()
    is_open: bool = False
    total: int = 0
    watermark: str | None = None
    newest: NewestChange | None = None
    tokens: tuple[str, ...] = ()
    records: int = 0
    has_found_newest: bool = False
    records_of_range: int = 0
    count: EntryCount | None = None

    @property
    def records_so_far(self) -> int:
        """How many records the pages had that count."""
        return self.records + self.records_of_range


@dataclass(frozen=True, slots=True)
class ObjectCopy:
    """How far an object of a connection has been read.

    `generation` is that of its last snapshot. `began_at` is when the reading began: at the creation of a subscription
    or at a resync. `watermark` is a time of the books: everything that changed before it was read. `tokens` tell what
    the last pass found, as far as the overlap reaches. `newest` is the last change, which each pass must find again.
    `reading` is the pass that needs more messages, or None. `page_size` is that of the next page. `problem` says why
    the object cannot be read. `file_id` is the mark of the company file that was read, if it is known. `records` is how
    many records the last complete snapshot had, or None. `found` are the numbers of changes that were found outside of
    snapshots, by the hour since 1970, for a day. `count` is how many entries a list must have, or None if they are not
    counted.

    `opened` is the activity (`BooksCopy.active`) for which the open transactions were read, or None if they never were.
    `again` are the ids of those to read again. `derived_at` is when the derived fields were last read to the end, and
    `derived_of` from when on all of them were emitted. `gap` says, for people, what is not kept up to date.
    """

    connection_id: str
    name: str
    phase: CopyPhase
    began_at: str
    generation: int = 0
    watermark: str | None = None
    newest: NewestChange | None = None
    tokens: tuple[str, ...] = ()
    reading: ObjectPass | None = None
    page_size: int = FIRST_PAGE_SIZE
    problem: str | None = None
    file_id: str | None = None
    records: int | None = None
    found: Mapping[str, int] = field(default_factory=dict)
    opened: int | None = None
    again: tuple[str, ...] = ()
    derived_at: str | None = None
    derived_of: str = ""
    gap: str | None = None
    count: EntryCount | None = None
    revision: int = 1

    @property
    def mark(self) -> str:
        """A text that changes whenever the state changes. An answer counts only for the state that it was asked in."""
        return f"{self.revision}~{self.began_at}"

    def changed(self, number: int, now: datetime) -> ObjectCopy:
        """Return the state after so many changes were found."""
        if not number:
            return self
        hour, kept = str(_hour(now)), self._found_in_a_day(now)
        return replace(self, found={**kept, hour: kept.get(hour, 0) + number})

    def changes_of_a_day(self, now: datetime) -> int:
        """Return how many changes were found in this hour and the 23 hours before it."""
        return sum(self._found_in_a_day(now).values())

    def _found_in_a_day(self, now: datetime) -> dict[str, int]:
        return {hour: number for hour, number in self.found.items() if int(hour) > _hour(now) - HOURS_OF_A_DAY}


@dataclass(frozen=True, slots=True)
class RememberedPart:
    """What the feed has said of records of an object, by id: a part of it, which has the ids from `first` on.

    The text of an invoice stands for its paid state, and that of a list entry for its derived fields.
    """

    connection_id: str
    name: str
    first: str
    entries: Mapping[str, str] = field(default_factory=dict)
    revision: int = 1

    @property
    def place(self) -> str:
        """The place among the parts of a connection."""
        return f"{self.name}~{self.first}"


@dataclass(frozen=True, slots=True)
class Activity:
    """Which transactions have changed lately. `at` is a time of the books: everything before it was seen.

    `digest` is that of the changes and deletions behind `at`, as far as the overlap reaches. It is '' if there are too
    many of them to tell them apart.
    """

    at: str | None = None
    digest: str = ""


@dataclass(frozen=True, slots=True)
class BooksCopy:
    """What the subscriptions of a connection have read, apart from the objects.

    `sequence` is that of the last change. `read` is when each object was last read to the end. `failures` counts the
    runs that failed in a row, and `error` is the last failure. `is_alone` means that each object is asked for alone,
    because a message with several failed. `activity` tells whether a transaction has changed, and `active` is a number
    that rises whenever one has.
    """

    connection_id: str
    app_id: str
    sequence: int = 0
    read: Mapping[str, str] = field(default_factory=dict)
    last_run_at: str | None = None
    failures: int = 0
    error: str | None = None
    is_alone: bool = False
    activity: Activity | None = None
    active: int = 0
    revision: int = 1


@dataclass(frozen=True, slots=True)
class CopyState:
    """Everything that is stored about the subscriptions of a connection. `copy` is None before the first run.

    `remembered` are the parts of what the feed has said, of those objects for which they were read.
    """

    copy: BooksCopy | None = None
    objects: tuple[ObjectCopy, ...] = ()
    subscriptions: tuple[Subscription, ...] = ()
    remembered: tuple[RememberedPart, ...] = ()


class RunMessageKind(StrEnum):
    """What a message of a run asks for."""

    SWEEP = "sweep"
    """The changes of several objects, and deletions."""
    PAGE = "page"
    """A page of one object."""
    OPEN = "open"
    """The paid state of the transactions of one object that are not paid."""
    AGAIN = "again"
    """Transactions of one object by id."""
    DERIVED = "derived"
    """A page of the derived fields of a list."""


@dataclass(frozen=True, slots=True)
class RunMessage:
    """The message of a run that a session has sent, or the last one that was answered if `is_sent` is false.

    `number` counts the messages of the session, and the labels of the queries begin with it. `names` are the objects
    that it asks for, and `marks` the states in which they were asked for (`ObjectCopy.mark`). `kind` is what it asks
    for: a sweep is about all of them, another message about one. `limit` is how
    many records each query returns at most. `iterator_id` is that of the page before, or None. `asked_at` is when it
    was sent first, and `tries` how often it was. `began_at` is when the session sent its first message, and
    `received_bytes` the size of the answers since then.
    """

    number: int = 0
    is_sent: bool = False
    names: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    kind: RunMessageKind = RunMessageKind.PAGE
    limit: int = FIRST_PAGE_SIZE
    iterator_id: str | None = None
    tries: int = 0
    asked_at: str | None = None
    began_at: str | None = None
    received_bytes: int = 0

    @property
    def is_sweep(self) -> bool:
        """Whether it asks for the changes of several objects."""
        return self.kind is RunMessageKind.SWEEP


class PageKind(StrEnum):
    """What the changes of a page are. Each is one letter, as in the log of events."""

    CHANGED = "g"
    DELETED = "x"
    DERIVED = "v"
    SNAPSHOT_STARTED = "b"
    SNAPSHOT_COMPLETED = "z"
    FAILED = "F"
    RECOVERED = "V"
    RESYNC_REQUIRED = "y"


class FoundIn(StrEnum):
    """What found the changes of a page: a query for changes, or a snapshot, which reads all records of an object."""

    CHANGES = "changes"
    FIRST_SNAPSHOT = "first_snapshot"
    LATER_SNAPSHOT = "later_snapshot"


RECORD_KINDS = frozenset({PageKind.CHANGED, PageKind.DELETED})
"""The kinds of pages whose changes are records."""

KEPT = timedelta(days=7, hours=1)
"""How long a page is kept: as long as the events that name it."""


@dataclass(frozen=True, slots=True)
class ChangePage:
    """Changes of one object that were found together. The first one has the number `sequence`, the others follow.

    `changes` is JSON: an array with an object for each change. `webhooks` are the ids of the subscriptions whose
    webhook gets the page. `found_in` tells records that have changed from those that a snapshot has read.
    """

    connection_id: str
    app_id: str
    sequence: int
    kind: PageKind
    object: str
    generation: int
    at: str
    number: int
    changes: str
    webhooks: tuple[str, ...] = ()
    found_in: FoundIn = FoundIn.CHANGES
    revision: int = 1

    @property
    def expires_at(self) -> int:
        """When the database may remove the page, in Unix seconds."""
        return int((datetime.fromisoformat(self.at) + KEPT).timestamp())


def next_number(last: int, now: datetime) -> int:
    """Return a number above `last`, and above all that were given to the connection before a restore of the service."""
    return max(last + 1, int(now.timestamp() * 1_000))


def read_after(last: str, minutes: int) -> str:
    """Return when an object that was read at `last` is read again."""
    return timestamp(datetime.fromisoformat(last) + timedelta(minutes=minutes))
