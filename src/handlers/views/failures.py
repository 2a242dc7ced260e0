"""The view of what failed in an app."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from typing_extensions import TypedDict

from domain.listing.causes import MAX_GROUPS, MAX_RECORDS
from domain.listing.overview import MAX_CONNECTIONS, MAX_SECONDS
from domain.qbxml.codes.statuses import describe_status
from domain.timestamps import timestamp
from domain.webhooks.defaults import MAX_ATTEMPTS_KEPT
from handlers.views.schema import Moment, Schema, Uuid

if TYPE_CHECKING:
    from datetime import datetime

    from domain.listing.causes import FailureGroup, FailureReport
    from domain.timestamps import TimeRange


MAX_TEXT = 200
"""The characters of a text in the answer, which has up to MAX_GROUPS of each kind. The request has the whole text."""


class FailureGroupView(TypedDict):
    """Requests of a connection that belong together."""

    connection_id: Uuid
    connection_name: str | None
    requests: Annotated[int, Schema("How many requests failed so", minimum=1)]
    first_at: Annotated[
        Moment,
        Schema(
            "Of a cause, when the first request failed: its `responded_at`, or its `updated_at` if it has no response. "
            "Of a receiver, when the first failed webhook attempt began that a request keeps: each keeps its last "
            f"{MAX_ATTEMPTS_KEPT}"
        ),
    ]
    last_at: Annotated[
        Moment,
        Schema("Of a cause, when the last request failed. Of a receiver, when the last attempt began"),
    ]
    newest_request_id: Annotated[Uuid, Schema("The request with the time `last_at`")]


class CauseView(FailureGroupView):
    """Requests of a connection that failed for the same cause."""

    cause: Annotated[
        str,
        Schema(
            "The status code of QuickBooks (`3170`), its HRESULT (`0x80040408`), or the code of the error: the value "
            "of the filter `cause`"
        ),
    ]
    code: Annotated[str, Schema("The code of the error of `newest_request_id`")]
    message: Annotated[str, Schema(f"The message of this error, up to {MAX_TEXT} characters")]
    messages: Annotated[
        int, Schema("How many different messages the errors of the requests have. 1: all have `message`", minimum=1)
    ]
    meaning: Annotated[
        str | None, Schema("What the status code of QuickBooks means, whatever the message. Null if that is not known")
    ]
    hint: Annotated[str | None, Schema(f"What to do about it, up to {MAX_TEXT} characters")]
    queued_again: Annotated[
        int,
        Schema(
            "How many of the requests were queued again since, and are replaced by another request. If the "
            "copy fails too, it is counted as another failure",
            minimum=0,
        ),
    ]
    failed_again: Annotated[
        int,
        Schema(
            "How many of the requests were queued in place of one that failed in the range, and were not queued again "
            "themselves",
            minimum=0,
        ),
    ]
    repeatable: Annotated[
        int,
        Schema(
            "How many of the requests a bulk action would queue again now. 0: each was queued again, may have been "
            "executed, or cannot be sent on its own",
            minimum=0,
        ),
    ]
    unknown: Annotated[
        int,
        Schema("How many of the requests QuickBooks may have executed: their `executed` is `unknown`", minimum=0),
    ]


class ReceiverView(FailureGroupView):
    """Requests of a connection whose webhook failed last at the same receiver, whether or not it is tried again."""

    receiver: Annotated[str, Schema("Scheme, host and port of the webhook URL: the value of the filter `receiver`")]
    last_status_code: Annotated[int | None, Schema("Null: there was no response")]
    last_response: Annotated[str | None, Schema(f"The response, or what failed, up to {MAX_TEXT} characters")]


class IncompleteConnectionView(TypedDict):
    """A connection that was not read to the beginning of the range."""

    id: Uuid
    name: str | None
    complete_after: Annotated[
        Moment | None,
        Schema("The answer has all failures whose last change was after this time. Null: it has none of them"),
    ]


class FailuresView(TypedDict):
    """What failed in the requests that changed last in a range of time. The largest groups come first."""

    since: Annotated[Moment, Schema("The beginning of the range")]
    until: Annotated[Moment, Schema("The end of the range, which is not in it")]
    causes: Annotated[list[CauseView], Schema(maxItems=MAX_GROUPS)]
    receivers: Annotated[list[ReceiverView], Schema(maxItems=MAX_GROUPS)]
    omitted_groups: Annotated[
        int, Schema(f"How many smaller groups the answer leaves out: {MAX_GROUPS:,} of each kind fit", minimum=0)
    ]
    incomplete_connections: Annotated[
        list[IncompleteConnectionView],
        Schema(
            f"Connections with more than {MAX_RECORDS:,} failures, and those that could not be read in {MAX_SECONDS} "
            "seconds",
            maxItems=MAX_CONNECTIONS,
        ),
    ]
    omitted_connections: Annotated[
        int,
        Schema(f"How many connections the answer leaves out: those after the {MAX_CONNECTIONS:,} oldest", minimum=0),
    ]


def failures(report: FailureReport, within: TimeRange, now: datetime) -> FailuresView:
    """Return the view of a report about a range of time."""
    return {
        "since": within.first,
        "until": within.end or timestamp(now),
        "causes": [_cause(group) for group in report.causes],
        "receivers": [_receiver(group) for group in report.receivers],
        "omitted_groups": report.omitted_groups,
        "incomplete_connections": [
            {"id": one.connection.id, "name": one.connection.name, "complete_after": one.complete_after}
            for one in report.incomplete
        ],
        "omitted_connections": report.omitted,
    }


def _cause(group: FailureGroup) -> CauseView:
    error = group.newest.error
    return {
        **_group(group),
        "cause": group.name,
        "code": error.code if error else group.name,
        "message": (short(error.message) or "") if error else "",
        "messages": group.messages,
        "meaning": _meaning(group),
        "hint": short(error.details.get("hint")) if error else None,
        "queued_again": group.queued_again,
        "failed_again": group.failed_again,
        "repeatable": group.repeatable,
        "unknown": group.unknown,
    }


def _meaning(group: FailureGroup) -> str | None:
    if not group.name.isdecimal():
        return None
    error = group.newest.error
    return describe_status(int(group.name), error.message if error else None).message


def _receiver(group: FailureGroup) -> ReceiverView:
    attempts = group.newest.webhook.attempts
    return {
        **_group(group),
        "receiver": group.name,
        "last_status_code": attempts[-1].status_code if attempts else None,
        "last_response": short(attempts[-1].response) if attempts else None,
    }


def short(text: str | None) -> str | None:
    """Return a text, cut to MAX_TEXT characters."""
    return text if text is None or len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"


def _group(group: FailureGroup) -> FailureGroupView:
    return {
        "connection_id": group.connection.id,
        "connection_name": group.connection.name,
        "requests": group.requests,
        "first_at": group.first_at,
        "last_at": group.last_at,
        "newest_request_id": group.newest.id,
    }
