"""The JSON of subscriptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typing_extensions import TypedDict

from domain.records.subscription import CopyPhase
from handlers.views.schema import Moment, Schema, Uuid

if TYPE_CHECKING:
    from domain.records.subscription import CopyState, Subscription


class ObjectView(TypedDict):
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
    problem: Annotated[str | None, Schema("Why it cannot be read, or what is missing")]


class SubscriptionView(TypedDict):
    """The objects whose changes are read, and how far."""

    id: Uuid
    connection_id: Uuid
    name: Annotated[str | None, Schema("A name for people")]
    objects: Annotated[list[ObjectView], Schema("The objects, in the order of the subscription")]
    every_minutes: Annotated[int, Schema("How often they are read at least", minimum=5, maximum=1440)]
    verify_days: Annotated[int, Schema("How often all their records are read", minimum=1, maximum=90)]
    start: Annotated[str, Schema("`all`, `now` or a time")]
    include: Annotated[dict[str, list[str]], Schema("What is read beside the objects, by object")]
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
    failures: Annotated[int, Schema("How many runs of the connection have failed in a row", minimum=0)]
    error: Annotated[str | None, Schema("The last failure, for people")]
    inserted_at: Moment
    updated_at: Moment


class SubscriptionListView(TypedDict):
    """All subscriptions of a connection, oldest first."""

    data: list[SubscriptionView]


def subscription_view(state: CopyState, one: Subscription) -> SubscriptionView:
    """Return the JSON of a subscription. `state` has what was read."""
    objects = {known.name: known for known in state.objects}
    read = state.copy.read if state.copy else {}

    def view(name: str) -> ObjectView:
        known = objects.get(name)
        return {
            "object": name,
            "state": known.phase if known else None,
            "generation": known.generation if known else 0,
            "read_at": read.get(name),
            "problem": known.problem if known else None,
        }

    return {
        "id": one.id,
        "connection_id": one.connection_id,
        "name": one.name,
        "objects": [view(name) for name in one.objects],
        "every_minutes": one.every_minutes,
        "verify_days": one.verify_days,
        "start": one.start,
        "include": {name: list(parts) for name, parts in one.include.items()},
        "paused_at": one.paused_at,
        "webhook_url": one.webhook.url,
        "webhook_error": one.webhook.error,
        "webhook_failed_at": one.webhook.failed_at,
        "webhook_gave_up_at": one.webhook.gave_up_at,
        "failures": state.copy.failures if state.copy else 0,
        "error": state.copy.error if state.copy else None,
        "inserted_at": one.inserted_at,
        "updated_at": one.updated_at,
    }
