"""The JSON of subscriptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

from typing_extensions import TypedDict

from domain.records.subscription import CopyPhase, DerivedEvery, FoundIn, PageKind
from handlers.views.schema import Moment, Schema, Uuid

if TYPE_CHECKING:
    from domain.records.subscription import Subscription
    from domain.subscriptions.history import History, RecordChange
    from domain.subscriptions.progress import Progress


class SubscribedObjectView(TypedDict):
    """How far an object of a subscription has been read. Subscriptions of a connection share its reads."""

    object: Annotated[str, Schema("The name of the object", examples=["Invoice"])]
    state: Annotated[
        CopyPhase | None,
        Schema(
            "`snapshot`: all records are read; `changes`: the changes are read; `unsupported`: this QuickBooks cannot "
            "read it; `resync_required`: changes may be missing. Null before the first run"
        ),
    ]
    generation: Annotated[int, Schema("The number of the last snapshot, or 0")]
    read_at: Annotated[Moment | None, Schema("When it was last read to the end")]
    next_read_at: Annotated[
        Moment | None,
        Schema("When it is read next. Now or earlier: in the next session. Null: it is paused, or needs a resync"),
    ]
    records: Annotated[
        int | None, Schema("How many records the last complete snapshot had. Null: there was none", minimum=0)
    ]
    records_so_far: Annotated[
        int | None,
        Schema("How many records were read, while reading it takes several messages. Null: none has begun", minimum=0),
    ]
    changes: Annotated[
        int,
        Schema(
            "How many changes and deletions were found in this hour and the 23 hours before, without the records of "
            "snapshots",
            minimum=0,
        ),
    ]
    derived_at: Annotated[Moment | None, Schema("When its derived fields were last read to the end")]
    problem: Annotated[str | None, Schema("Why it cannot be read, or what is missing")]


class SubscriptionView(TypedDict):
    """The objects whose changes are read, and how far."""

    id: Uuid
    connection_id: Uuid
    name: Annotated[str | None, Schema("A name for people")]
    objects: Annotated[list[SubscribedObjectView], Schema("The objects, in the order of the subscription")]
    every_minutes: Annotated[int, Schema("How often they are read at least", minimum=5, maximum=1440)]
    verify_days: Annotated[int, Schema("How often all their records are read", minimum=1, maximum=90)]
    start: Annotated[str, Schema("`all`, `now` or a time")]
    include: Annotated[dict[str, list[str]], Schema("What is read beside the objects, by object")]
    derived: Annotated[DerivedEvery | None, Schema("How often the derived fields of its lists are read")]
    paused_at: Annotated[Moment | None, Schema("When it was paused")]
    webhook_url: Annotated[str | None, Schema("Gets the changes a page at a time, beside the feed")]
    webhook_error: Annotated[
        str | None, Schema("Why the last attempt to send changes failed. Null after one that succeeded")
    ]
    webhook_failed_at: Annotated[Moment | None, Schema("When an attempt failed last, since the URL was set")]
    webhook_gave_up_at: Annotated[
        Moment | None,
        Schema("When the service gave up a page of changes last, since the URL was set. It is only in the feed"),
    ]
    copied_at: Annotated[
        Moment | None,
        Schema(
            "When all objects had been read to the end: the earliest `read_at` of those that QuickBooks can read. Null "
            "while one was never read or needs a resync"
        ),
    ]
    last_run_at: Annotated[Moment | None, Schema("When a run of the connection last ended with nothing left to read")]
    next_run_at: Annotated[
        Moment | None,
        Schema("When the first of the objects is read next. Now or earlier: in the next session. Null: none is read"),
    ]
    failures: Annotated[int, Schema("How many runs of the connection have failed in a row", minimum=0)]
    error: Annotated[str | None, Schema("The last failure, for people")]
    inserted_at: Moment
    updated_at: Moment


class SubscriptionListView(TypedDict):
    """All subscriptions of a connection, oldest first."""

    data: list[SubscriptionView]


FoundAt = Annotated[Moment, Schema("When a run found it")]
ObjectName = Annotated[str, Schema("The object of QuickBooks", examples=["Invoice"])]
RecordId = Annotated[str, Schema("The ListID or TxnID", examples=["80000001-1"])]
Sequence = Annotated[int, Schema("Rises with each change of a connection")]
Generation = Annotated[int, Schema("The snapshot that the change belongs to. Later ones have a higher number")]


class RecordChangedView(TypedDict):
    """A record has changed, or a snapshot has read it."""

    type: Literal["record.changed"]
    at: FoundAt
    found_in: Annotated[
        FoundIn,
        Schema(
            "`changes`: it has changed. `first_snapshot`: it was read when all records were read for the first time. "
            "`later_snapshot`: it was read when all were read again, whether or not it has changed"
        ),
    ]
    object: ObjectName
    id: RecordId
    sequence: Sequence
    generation: Generation
    edit_sequence: Annotated[str | None, Schema("The EditSequence of the record")]
    time_modified: Annotated[str | None, Schema("The time of the change by the clock of the books")]
    record: Annotated[
        dict[str, Any] | None, Schema("The record, as in the JSON of a response. Null with `record_omitted`")
    ]
    record_omitted: NotRequired[
        Annotated[bool, Schema("True when the record is too large for an event: query it by its id")]
    ]


class RecordDeletedView(TypedDict):
    """A record was deleted."""

    type: Literal["record.deleted"]
    at: FoundAt
    object: ObjectName
    id: RecordId
    sequence: Sequence
    generation: Generation
    time_deleted: Annotated[str | None, Schema("The time of the deletion by the clock of the books")]


class ChangesView(TypedDict):
    """Changes of records, newest first."""

    data: list[RecordChangedView | RecordDeletedView]
    next: Annotated[int | None, Schema("`before` of the call that continues, or null if nothing older is kept")]
    read_from: Annotated[Moment, Schema("All changes that were found since then, and are meant, are in the answers")]


def changes_view(found: History) -> ChangesView:
    """Return the JSON of changes."""
    return {
        "data": [_change_view(change) for change in found.changes],
        "next": found.before,
        "read_from": found.read_from,
    }


def _change_view(change: RecordChange) -> RecordChangedView | RecordDeletedView:
    page = change.page
    is_deletion = page.kind is PageKind.DELETED
    view: Any = {
        "type": "record.deleted" if is_deletion else "record.changed",
        "at": page.at,
        **({} if is_deletion else {"found_in": page.found_in}),
        "object": page.object,
        "sequence": change.sequence,
        "generation": page.generation,
        **change.content,
    }
    return view  # type: ignore[no-any-return]  # the content of a change is JSON from the table


def subscription_view(progress: Progress, one: Subscription) -> SubscriptionView:
    """Return the JSON of a subscription."""
    copy = progress.copy
    return {
        "id": one.id,
        "connection_id": one.connection_id,
        "name": one.name,
        "objects": [_object_view(progress, name) for name in one.objects],
        "every_minutes": one.every_minutes,
        "verify_days": one.verify_days,
        "start": one.start,
        "include": {name: list(parts) for name, parts in one.include.items()},
        "derived": one.derived,
        "paused_at": one.paused_at,
        "webhook_url": one.webhook.url,
        "webhook_error": one.webhook.error,
        "webhook_failed_at": one.webhook.failed_at,
        "webhook_gave_up_at": one.webhook.gave_up_at,
        "copied_at": progress.copied_at(one),
        "last_run_at": copy.last_run_at,
        "next_run_at": progress.next_run_at(one),
        "failures": copy.failures,
        "error": copy.error,
        "inserted_at": one.inserted_at,
        "updated_at": one.updated_at,
    }


def _object_view(progress: Progress, name: str) -> SubscribedObjectView:
    known = progress.objects.get(name)
    return {
        "object": name,
        "state": known.phase if known else None,
        "generation": known.generation if known else 0,
        "read_at": progress.copy.read.get(name),
        "next_read_at": progress.next_read_at(name),
        "records": known.records if known else None,
        "records_so_far": known.reading.records_so_far if known and known.reading else None,
        "changes": known.changes_of_a_day(progress.now) if known else 0,
        "derived_at": known.derived_at if known else None,
        "problem": (known.problem or known.gap) if known else None,
    }
