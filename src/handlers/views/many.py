"""The answers to changes of many requests, and to a test of a webhook."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typing_extensions import TypedDict

from handlers.views.schema import Schema

if TYPE_CHECKING:
    from domain.queueing.many import Tally
    from domain.queueing.queue_again import AgainTally
    from domain.webhooks.trial import Trial

Next = Annotated[str | None, Schema("The `cursor` of the call that continues, or null at the end")]
Count = Annotated[int, Schema(minimum=0)]


class DiscardedView(TypedDict):
    """How many requests a call discarded, or would have with `dry_run`."""

    discarded: Count
    in_flight: Annotated[
        int,
        Schema("Requests that match, but that QuickBooks may be executing or may have executed. They stay.", minimum=0),
    ]
    has_dependants: Annotated[int, Schema("Requests that match, but for which others wait. They stay.", minimum=0)]


class DiscardedPart(TypedDict):
    """The requests that a call discarded."""

    data: DiscardedView
    next: Next


class QueuedAgainView(TypedDict):
    """How many requests a call queued again, or would have with `dry_run`."""

    queued: Count
    queued_before: Annotated[int, Schema("Requests that match and were queued again before", minimum=0)]
    left_out: Annotated[
        int,
        Schema("Requests that match, but that QuickBooks may have executed, or that are later pages", minimum=0),
    ]


class QueuedAgainPart(TypedDict):
    """The requests that a call queued again."""

    data: QueuedAgainView
    next: Next


class RedeliveredView(TypedDict):
    """How many webhooks a call sends again, or would with `dry_run`."""

    redelivered: Count


class RedeliveredPart(TypedDict):
    """The webhooks that a call sends again."""

    data: RedeliveredView
    next: Next


class WebhookTestView(TypedDict):
    """The answer of the receiver of a test."""

    delivered: Annotated[bool, Schema("Whether the receiver returned a 2xx status in time")]
    status_code: Annotated[int | None, Schema("Null if there was no response")]
    response: Annotated[str | None, Schema("The first 4 KiB of the response. Null if there was none")]
    duration_ms: Count
    error: Annotated[str | None, Schema("Why the test failed, or null")]


def discarded_part(tally: Tally) -> DiscardedPart:
    """Return the view of a discard."""
    data: DiscardedView = {
        "discarded": tally.changed,
        "in_flight": tally.may_be_executed,
        "has_dependants": tally.has_dependants,
    }
    return {"data": data, "next": tally.next_cursor}


def queued_again_part(tally: AgainTally) -> QueuedAgainPart:
    """Return the view of requests that were queued again."""
    data: QueuedAgainView = {
        "queued": tally.queued,
        "queued_before": tally.queued_before,
        "left_out": tally.left_out,
    }
    return {"data": data, "next": tally.next_cursor}


def redelivered_part(tally: Tally) -> RedeliveredPart:
    """Return the view of a redelivery."""
    return {"data": {"redelivered": tally.changed}, "next": tally.next_cursor}


def webhook_test(trial: Trial) -> WebhookTestView:
    """Return the view of a test."""
    return {
        "delivered": trial.error is None,
        "status_code": trial.status_code,
        "response": trial.response,
        "duration_ms": trial.duration_ms,
        "error": trial.error,
    }
