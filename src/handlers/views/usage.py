"""The view of the use of an app."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typing_extensions import TypedDict

from domain.listing.overview import MAX_CONNECTIONS, MAX_SECONDS
from domain.listing.usage import MAX_MONTHS
from domain.storage.statistics import Series
from handlers.views.schema import Schema, Uuid
from handlers.views.statistics import percentiles

if TYPE_CHECKING:
    from domain.listing.usage import ConnectionUse, UsageReport

MonthText = Annotated[str, Schema("A calendar month (UTC): `2026-03`", pattern="^[0-9]{4}-[0-9]{2}$")]


class MonthOfUseView(TypedDict):
    """The use of a connection in a month."""

    month: MonthText
    requests: Annotated[int, Schema("Requests that were queued. Each page of a query is one", minimum=0)]
    writes: Annotated[int, Schema("Those of them that are not queries", minimum=0)]
    failures: Annotated[int, Schema("Requests that ended in an error in this month", minimum=0)]


class PercentilesView(TypedDict):
    """How long the requests of a connection took."""

    number: Annotated[int, Schema("The number of requests that were measured", minimum=0)]
    median_seconds: Annotated[
        float | None, Schema("Half of the requests took at most this long. Exact to a factor of 1.42; null without any")
    ]
    p95_seconds: Annotated[float | None, Schema("Of 20 requests, 19 took at most this long. As exact as the median")]


class ConnectionUseView(TypedDict):
    """The use of a connection."""

    id: Uuid
    name: str | None
    months: Annotated[
        list[MonthOfUseView],
        Schema("Oldest first. A month in which no request was queued or ended is left out", maxItems=MAX_MONTHS),
    ]
    waiting_time: Annotated[
        PercentilesView, Schema("From the queueing to the last sending, of the requests that ended in the period")
    ]
    executing_time: Annotated[PercentilesView, Schema("From the last sending to the response")]


class UnreadConnectionView(TypedDict):
    """A connection that could not be read in time."""

    id: Uuid
    name: str | None


class UsageView(TypedDict):
    """The use of an app in some months."""

    first_month: MonthText
    last_month: MonthText
    connections: Annotated[list[ConnectionUseView], Schema("Oldest first", maxItems=MAX_CONNECTIONS)]
    unread_connections: Annotated[
        list[UnreadConnectionView],
        Schema(f"Connections that could not be read in {MAX_SECONDS} seconds", maxItems=MAX_CONNECTIONS),
    ]
    omitted_connections: Annotated[
        int,
        Schema(f"How many connections the answer leaves out: those after the {MAX_CONNECTIONS:,} oldest", minimum=0),
    ]


def usage(report: UsageReport, first_month: str, last_month: str) -> UsageView:
    """Return the view of a report about these months."""
    return {
        "first_month": first_month,
        "last_month": last_month,
        "connections": [_connection(use) for use in report.connections],
        "unread_connections": [{"id": one.id, "name": one.name} for one in report.unread],
        "omitted_connections": report.omitted,
    }


def _connection(use: ConnectionUse) -> ConnectionUseView:
    return {
        "id": use.connection.id,
        "name": use.connection.name,
        "months": [
            {"month": one.month, "requests": one.requests, "writes": one.writes, "failures": one.failures}
            for one in use.months
        ],
        "waiting_time": _percentiles(use, Series.WAITING_TIME),
        "executing_time": _percentiles(use, Series.EXECUTING_TIME),
    }


def _percentiles(use: ConnectionUse, series: Series) -> PercentilesView:
    durations = use.durations(series)
    median, p95 = percentiles(durations)
    return {"number": durations.total, "median_seconds": median, "p95_seconds": p95}
