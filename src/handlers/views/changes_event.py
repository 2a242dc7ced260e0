"""The changes that subscriptions read: in the feed one by one, in webhooks a page at a time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

from typing_extensions import TypedDict

from domain.records.event import EventOutcome
from domain.records.event_types import feed_type
from domain.webhooks.defaults import MAX_BODY_BYTES
from handlers.views.schema import Moment, Schema, Uuid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from domain.records.subscription import ChangePage
    from domain.webhooks.ports import PlannedChanges


class ChangeView(TypedDict):
    """A change. Its members are those of the event in the feed, without `cursor`, `timestamp` and `connection_id`."""

    type: Literal[
        "record.changed",
        "record.deleted",
        "record.derived",
        "subscription.snapshot_started",
        "subscription.snapshot_completed",
        "subscription.failed",
        "subscription.recovered",
        "subscription.resync_required",
    ]
    object: Annotated[str | None, Schema("The object, or null if all are meant", examples=["Invoice"])]
    sequence: Annotated[int, Schema("Rises with each change of a connection")]
    generation: Annotated[int, Schema("The number of the snapshot that the change belongs to")]
    id: NotRequired[Annotated[str, Schema("The ListID or TxnID of a record", examples=["80000001-1"])]]
    edit_sequence: NotRequired[Annotated[str | None, Schema("The EditSequence of a record")]]
    time_modified: NotRequired[Annotated[str | None, Schema("The time of the change by the clock of the books")]]
    time_deleted: NotRequired[Annotated[str | None, Schema("The time of the deletion by the clock of the books")]]
    record: NotRequired[Annotated[dict[str, Any] | None, Schema("The record. Null with `record_omitted`")]]
    record_omitted: NotRequired[
        Annotated[bool, Schema("True when the record is too large. If the feed omits it too, query it by its id")]
    ]
    as_of: NotRequired[Annotated[Moment, Schema("When QuickBooks was asked for the derived fields")]]
    derived: NotRequired[Annotated[dict[str, Any], Schema("The derived fields of a list entry")]]
    records: NotRequired[Annotated[int, Schema("How many records the snapshot had", minimum=0)]]
    reason: NotRequired[Annotated[str, Schema("What happened, for people")]]


class ChangesWebhookEventView(TypedDict):
    """The body of a webhook with changes that a subscription has read. Members may be added."""

    type: Literal["subscription.changes"]
    id: Annotated[Uuid, Schema("The `webhook-id`, which is the same for every attempt")]
    timestamp: Annotated[Moment, Schema("The time of the webhook attempt")]
    occurred_at: Annotated[Moment, Schema("When the changes were read")]
    subscription_id: Uuid
    connection_id: Uuid
    events: Annotated[list[ChangeView], Schema("Up to 1,000 changes of one type and one object, by `sequence`")]


def change_view(page: ChangePage, content: Mapping[str, Any], index: int) -> dict[str, Any]:
    """Return a change of a page with what all changes have. `index` is its place in the page, from 0 on."""
    return {
        "type": feed_type(EventOutcome(page.kind.value)),
        "object": page.object or None,
        "sequence": page.sequence + index,
        "generation": page.generation,
        **content,
    }


def changes_event_body(page: ChangePage, planned: PlannedChanges, moment: str) -> bytes:
    """Return the body of a webhook as JSON in ASCII. `moment` is the timestamp of the attempt.

    A page with several changes is never over 1 MiB. The record of a larger one is left out.
    """
    contents: list[dict[str, Any]] = json.loads(page.changes)
    changes = [change_view(page, content, index) for index, content in enumerate(contents)]
    body = _encoded(page, planned, moment, changes)
    if len(body) <= MAX_BODY_BYTES:
        return body
    return _encoded(page, planned, moment, [_without_record(change) for change in changes])


def _without_record(change: dict[str, Any]) -> dict[str, Any]:
    return {**change, "record": None, "record_omitted": True} if "record" in change else change


def _encoded(page: ChangePage, planned: PlannedChanges, moment: str, changes: Sequence[dict[str, Any]]) -> bytes:
    event = {
        "type": planned.type,
        "id": planned.id,
        "timestamp": moment,
        "occurred_at": page.at,
        "subscription_id": planned.subscription_id,
        "connection_id": page.connection_id,
        "events": changes,
    }
    return json.dumps(event, separators=(",", ":"), allow_nan=False).encode()
