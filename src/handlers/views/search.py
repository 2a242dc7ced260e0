"""The view of a search in all connections of an app."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typing_extensions import TypedDict

from domain.listing.overview import MAX_CONNECTIONS, MAX_SECONDS
from domain.listing.value_search import MAX_HITS, Unsearched
from domain.records.request import State, WhetherExecuted
from domain.whole_values import MatchedAs
from handlers.views.failures import short
from handlers.views.schema import Moment, Schema, Uuid

if TYPE_CHECKING:
    from domain.listing.value_search import Hit, ValueReport


class HitView(TypedDict):
    """A request that has the value."""

    id: Uuid
    connection_id: Uuid
    connection_name: str | None
    matched: Annotated[
        list[MatchedAs],
        Schema(
            "What the value is in the request: its `label`, a `number` (`RefNumber` or `TxnID`), the `name` of a "
            "customer or vendor, or its `error` (code, status code or message)"
        ),
    ]
    request_name: Annotated[str, Schema(examples=["InvoiceAddRq"])]
    subject: Annotated[
        str | None, Schema("What the request is about, for people", examples=["Kristy Abercrombie · 1042 · 248.50"])
    ]
    label: str | None
    state: State
    awaits_approval: Annotated[bool, Schema("Whether somebody has to approve it before it is sent")]
    executed: Annotated[
        WhetherExecuted | None,
        Schema("Whether QuickBooks has executed the write. Null for a read, and until it has ended"),
    ]
    cause: Annotated[
        str | None, Schema("Why it failed, as the filter `cause`: a status code, an HRESULT, or the code of the error")
    ]
    message: Annotated[str | None, Schema("The beginning of the message of its error")]
    inserted_at: Moment


class UnsearchedConnectionView(TypedDict):
    """A connection that was not searched to its beginning."""

    id: Uuid
    name: str | None
    complete_after: Annotated[
        Moment | None,
        Schema("Only requests that were queued after this time were searched. Null: not even those"),
    ]
    reason: Annotated[
        Unsearched,
        Schema(
            f"`time`: the {MAX_SECONDS} seconds were over. `older_release`: the requests were queued with a release "
            "that did not store their values. `search_phrase` finds these"
        ),
    ]


class SearchView(TypedDict):
    """The newest requests with a value. Nothing was found only if nothing is missing from the search either."""

    hits: Annotated[list[HitView], Schema("Newest first, by `inserted_at`", maxItems=MAX_HITS)]
    next: Annotated[str | None, Schema("The `cursor` of the call that continues, or null at the end")]
    unsearched_connections: Annotated[
        list[UnsearchedConnectionView],
        Schema("The connections in which more requests may have the value", maxItems=MAX_CONNECTIONS),
    ]
    omitted_connections: Annotated[
        int,
        Schema(f"How many connections were not searched at all: those after the {MAX_CONNECTIONS:,} oldest", minimum=0),
    ]


def search(report: ValueReport) -> SearchView:
    """Return the view of a report."""
    return {
        "hits": list(map(_hit, report.hits)),
        "next": "~".join(report.following) if report.following else None,
        "unsearched_connections": [
            {
                "id": one.connection.id,
                "name": one.connection.name,
                "complete_after": one.complete_after,
                "reason": one.reason,
            }
            for one in report.unsearched
        ],
        "omitted_connections": report.omitted,
    }


def _hit(hit: Hit) -> HitView:
    record = hit.record
    return {
        "id": record.id,
        "connection_id": hit.connection.id,
        "connection_name": hit.connection.name,
        "matched": list(hit.kinds),
        "request_name": record.request_name,
        "subject": record.subject,
        "label": record.label,
        "state": record.state,
        "awaits_approval": record.awaits_approval,
        "executed": record.executed,
        "cause": record.cause,
        "message": short(record.error.message) if record.error else None,
        "inserted_at": record.inserted_at,
    }
