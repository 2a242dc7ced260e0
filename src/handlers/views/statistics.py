"""The views of statistics: of one connection, and of all connections of an app."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typing_extensions import TypedDict

from domain.connections.second_machine import warnings
from domain.listing.overview import MAX_CONNECTIONS, MAX_SECONDS, RECORDS_OF_FAILURES
from domain.queueing.waiting_reason import of_connection, silent_since, waiting_since
from domain.records.webhook import ListedWebhookState
from domain.storage.statistics import Series
from handlers.views.schema import (
    ConnectionWarningView,
    Moment,
    QuickBooksStatus,
    Schema,
    Uuid,
    WaitingReasonView,
    waiting_reason,
    warning,
)

if TYPE_CHECKING:
    from datetime import datetime

    from domain.listing.overview import ConnectionOverview, FailingReceiver, Overview
    from domain.records.request import QueuedRequest
    from domain.storage.statistics import Durations

Number = Annotated[int, Schema(minimum=0)]


class HourView(TypedDict):
    """The activity of an hour."""

    hour: Annotated[Moment, Schema("The beginning of the hour")]
    queued: Annotated[int, Schema("Requests that were queued in this hour", minimum=0)]
    response_received: Annotated[int, Schema("Requests that ended with a response in this hour", minimum=0)]
    error: Annotated[int, Schema("Requests that ended in an error in this hour", minimum=0)]


class BucketView(TypedDict):
    """A range of durations and the number of requests in it."""

    from_seconds: Annotated[float, Schema("The lower bound, which is included", minimum=0)]
    to_seconds: Annotated[float | None, Schema("The upper bound; null: there is none")]
    number: Annotated[int, Schema(minimum=1)]


class DurationsView(TypedDict):
    """A distribution of durations, and two of its percentiles."""

    number: Annotated[int, Schema("The number of requests that were measured", minimum=0)]
    median_seconds: Annotated[
        float | None, Schema("Half of the requests took at most this long. Exact to a factor of 1.42; null without any")
    ]
    p95_seconds: Annotated[float | None, Schema("Of 20 requests, 19 took at most this long. As exact as the median")]
    buckets: Annotated[list[BucketView], Schema("The ranges that are not empty. The bounds are always the same")]


class WebhooksView(TypedDict):
    """The webhooks of requests that ended, by their state. Each is counted in the period of its last change."""

    pending: Number
    retrying: Annotated[int, Schema("Not delivered yet; at least one attempt failed", minimum=0)]
    succeeded: Number
    failed: Number


class OldestRequestView(TypedDict):
    """The request that has been in the queue for the longest time."""

    id: Uuid
    connection_id: Uuid
    request_name: str
    inserted_at: Moment


class FailingReceiverView(TypedDict):
    """A receiver of webhooks that failed."""

    origin: Annotated[str, Schema("Scheme, host and port of the webhook URL")]
    requests: Annotated[
        int,
        Schema(
            f"How many of the newest requests with a failed webhook it has. {RECORDS_OF_FAILURES} requests of each "
            "connection are looked at",
            minimum=1,
        ),
    ]
    last_attempt_at: Moment | None
    last_status_code: Annotated[int | None, Schema("Null: there was no response")]
    last_response: Annotated[str | None, Schema("The response, or what failed")]


class StatisticsView(TypedDict):
    """Statistics of whole days (UTC), of which the last one is today."""

    since: Annotated[Moment, Schema("The beginning of the first day")]
    until: Annotated[Moment, Schema("The time of the call")]
    hours: Annotated[list[HourView], Schema("Every hour of the period, oldest first")]
    waiting_time: Annotated[
        DurationsView, Schema("From the queueing to the last sending, of the requests that ended in the period")
    ]
    executing_time: Annotated[
        DurationsView,
        Schema("From the last sending to the response. Requests that were sent together all have the same time"),
    ]
    webhooks: WebhooksView
    oldest_waiting_request: Annotated[OldestRequestView | None, Schema("Null if the queue is empty")]
    failing_receivers: list[FailingReceiverView]


class ConnectionHealthView(TypedDict):
    """A connection in the statistics of an app."""

    id: Uuid
    name: str | None
    status: Annotated[str, Schema(enum=["never_connected", "connected", "error"])]
    quickbooks_status: QuickBooksStatus
    paused_at: Moment | None
    last_connected_at: Moment | None
    stopped_calling: Annotated[
        bool, Schema("Whether the Web Connector called before, but not in the last 24 hours, and is not paused")
    ]
    silent_since: Annotated[
        Moment | None,
        Schema(
            "When the Web Connector last called, if it has missed three calls since; null if it has not, if it never "
            "called, while a session is running and while the connection is paused"
        ),
    ]
    copied_at: Annotated[
        Moment | None, Schema("When all objects of its subscriptions had been read to the end, as in the connection")
    ]
    waiting_reason: Annotated[WaitingReasonView | None, Schema("Null if nothing blocks the queue")]
    warnings: Annotated[list[ConnectionWarningView], Schema("What needs a person, although nothing waits for it")]
    oldest_waiting_at: Annotated[Moment | None, Schema("When its oldest waiting request was queued")]
    queued: Number
    response_received: Number
    error: Number
    webhooks_retrying: Number
    webhooks_failed: Number


class AppStatisticsView(StatisticsView):
    """Statistics of all connections, and the health of each."""

    connections: Annotated[list[ConnectionHealthView], Schema("Oldest first", maxItems=MAX_CONNECTIONS)]
    omitted_connections: Annotated[
        int,
        Schema(
            f"How many connections the answer leaves out: those after the {MAX_CONNECTIONS:,} oldest, and those that "
            f"could not be read in {MAX_SECONDS} seconds",
            minimum=0,
        ),
    ]


def statistics(overview: Overview) -> StatisticsView:
    """Return the view of an overview."""
    webhooks = overview.webhooks
    return {
        "since": f"{overview.first_day}T00:00:00.000000Z",
        "until": overview.now,
        "hours": [
            {
                "hour": hour.begin,
                "queued": hour.queued,
                "response_received": hour.response_received,
                "error": hour.error,
            }
            for hour in overview.hours
        ],
        "waiting_time": _durations(overview.durations(Series.WAITING_TIME)),
        "executing_time": _durations(overview.durations(Series.EXECUTING_TIME)),
        "webhooks": {
            "pending": webhooks.get(ListedWebhookState.PENDING, 0),
            "retrying": webhooks.get(ListedWebhookState.RETRYING, 0),
            "succeeded": webhooks.get(ListedWebhookState.SUCCEEDED, 0),
            "failed": webhooks.get(ListedWebhookState.FAILED, 0),
        },
        "oldest_waiting_request": _oldest(overview.oldest_queued),
        "failing_receivers": [_receiver(receiver) for receiver in overview.failing_receivers],
    }


def app_statistics(overview: Overview, now: datetime) -> AppStatisticsView:
    """Return the view of the overview of an app, with the waiting reasons at `now`."""
    return {
        **statistics(overview),
        "connections": [_health(connection, now) for connection in overview.connections],
        "omitted_connections": overview.omitted,
    }


def percentiles(durations: Durations) -> tuple[float | None, float | None]:
    """Return the median and the 95th percentile in seconds, or None without durations."""
    return _rounded(durations.percentile(0.5)), _rounded(durations.percentile(0.95))


def _durations(durations: Durations) -> DurationsView:
    median, p95 = percentiles(durations)
    return {
        "number": durations.total,
        "median_seconds": median,
        "p95_seconds": p95,
        "buckets": [
            {"from_seconds": bucket.from_seconds, "to_seconds": bucket.to_seconds, "number": bucket.number}
            for bucket in durations.buckets
        ],
    }


def _rounded(seconds: float | None) -> float | None:
    """Return seconds with the digits that a percentile can have."""
    return None if seconds is None else round(seconds, 3 if seconds < 1 else 1)


def _oldest(record: QueuedRequest | None) -> OldestRequestView | None:
    if record is None:
        return None
    return {
        "id": record.id,
        "connection_id": record.connection_id,
        "request_name": record.request_name,
        "inserted_at": record.inserted_at,
    }


def _receiver(receiver: FailingReceiver) -> FailingReceiverView:
    attempt = receiver.last_attempt
    return {
        "origin": receiver.origin,
        "requests": receiver.records,
        "last_attempt_at": attempt.attempted_at if attempt else None,
        "last_status_code": attempt.status_code if attempt else None,
        "last_response": attempt.response if attempt else None,
    }


def _health(overview: ConnectionOverview, now: datetime) -> ConnectionHealthView:
    connection, webhooks = overview.connection, overview.webhooks
    oldest = overview.oldest_queued
    waits_since = waiting_since([oldest] if oldest else [], now)
    return {
        "id": connection.id,
        "name": connection.name,
        "status": connection.status,
        "quickbooks_status": connection.quickbooks_status,
        "paused_at": connection.paused_at,
        "last_connected_at": connection.last_connected_at,
        "stopped_calling": overview.has_stopped_calling,
        "silent_since": silent_since(connection, now, waits_since),
        "copied_at": connection.copied_at,
        "waiting_reason": waiting_reason(of_connection(connection, now, waits_since)),
        "warnings": [warning(one) for one in warnings(connection, now, waits_since)],
        "oldest_waiting_at": oldest.inserted_at if oldest else None,
        "queued": overview.total(Series.QUEUED),
        "response_received": overview.total(Series.RESPONSE_RECEIVED),
        "error": overview.total(Series.ERROR),
        "webhooks_retrying": webhooks.get(ListedWebhookState.RETRYING, 0),
        "webhooks_failed": webhooks.get(ListedWebhookState.FAILED, 0),
    }
