"""The options of calls."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping


IfExists: TypeAlias = Literal["fail", "return", "update"]
"""`return` asks QuickBooks for the object first. If it exists, the request ends with it, and nothing is added."""

Priority: TypeAlias = Literal["normal", "low"]
"""`low` is for a backfill that nobody waits for. It is sent behind all others, and not in pages."""


Required: TypeAlias = Literal["required"]
"""A write waits until it is approved with another API key."""


class SendOptions(TypedDict, total=False):
    """What belongs to a request beside its elements, and how the service reads it."""

    version: str
    """The version of QBXML, such as `14.0`."""
    webhook_url: str | None
    """The receiver. None sends no webhook, even if the connection has a default."""
    label: str
    """At most 50 characters of your own, such as `order 1042`, which lists can be filtered by."""
    metadata: dict[str, str]
    """At most 20 texts of your own, which come back in the record and in events."""
    send_by: str
    """A time with a zone, such as `2026-03-14T18:00:00Z`, at least a minute ahead. The request fails as
    `not_sent_in_time` if it is not sent before it."""
    send_within: int
    """The same in seconds from the call on."""
    validate: bool
    """False skips the check against the schema."""
    transliterate: bool
    """True replaces characters that QuickBooks cannot store."""


class ContentOptions(SendOptions, total=False):
    """What belongs to a request beside its elements, how the service reads it, and whether it looks first."""

    if_exists: IfExists
    """What an addition does if its object exists. `fail` is the default."""


class CommonOptions(ContentOptions, total=False):
    """How a request is queued."""

    idempotency_key: str
    """Names the cause of the request, such as `invoice-1042`. A repeated call with the same key within 24 hours
    returns the first request and queues nothing. The default is random, so that only this call's retries are safe."""


class QueueOptions(CommonOptions, total=False):
    """How a request is queued, whether it may be sent in pages, and what it replaces."""

    replaces: str
    """The id of a request that has ended, in place of which this one is queued. It is replaced once: if it was queued
    again before, that request is returned."""
    priority: Priority
    approval: Required
    force: bool
    """True also replaces a request that QuickBooks has executed, or may have executed. Look in QuickBooks first."""
    iterate: Literal["auto", "never"]
    """`auto` lets the service send a query in pages if its response is too large. Each page after the first is a
    request of its own. `execute` returns the objects of all pages, so it sets `auto` for every query that allows it:
    one that can iterate, names no objects and has no MaxReturned."""


class ContinueOptions(ContentOptions, total=False):
    """Which request of a batch is queued again, and what belongs to its correction."""

    request_id: str
    """The request that failed. It is needed if several failed."""
    approval: Required
    force: bool
    """True also queues a request again that QuickBooks may have executed. Look in QuickBooks first."""
    iterate: Literal["auto", "never"]
    """As for `queue`."""


class ExecuteOptions(QueueOptions, total=False):
    """How a request is queued, and how long to wait for it."""

    timeout: float
    """Seconds to wait until the request has ended; 300 by default. Then StillWaiting is raised."""


class IterateOptions(CommonOptions, total=False):
    """How a query is queued, and how large its pages are."""

    timeout: float
    """Seconds to wait for one page; 300 by default. Then StillWaiting is raised."""
    page_size: int
    """Objects in a page; 100 by default."""


class ReadOptions(SendOptions, total=False):
    """How a read of a resource is queued, and how long to wait for it."""

    priority: Priority
    timeout: float
    """Seconds to wait until it has ended; 300 by default. Then StillQueued is raised, and the same call resumes it."""


class ObjectOptions(ReadOptions, total=False):
    """How an object with custom fields is read."""

    custom_fields: bool
    """True also reads the custom fields, as `custom_fields` of the object."""


class ListOptions(ReadOptions, total=False):
    """How the query of a resource is queued, and how large its pages are."""

    page_size: int
    """Objects in a page; 100 by default."""


class CallOptions(ReadOptions, total=False):
    """How a write of a resource is queued, and how long to wait for it."""

    idempotency_key: str
    """Names the cause of the write, such as `invoice-1042`, so that it is queued once, also by a program that was
    restarted. The default is random."""
    approval: Required


class CreateOptions(CallOptions, total=False):
    """How an addition is queued."""

    if_exists: IfExists


class UpdateOptions(CallOptions, total=False):
    """How a change is queued."""


def check_options(method: str, kind: type, options: Mapping[str, Any]) -> None:
    """Raise TypeError for an option that a method does not have. `kind` is the TypedDict of its options."""
    known = kind.__annotations__
    for name in options:
        if name not in known:
            likely = get_close_matches(re.sub(r"([A-Z])", r"_\1", name).lower(), known, 1)
            mend = f"Did you mean {likely[0]!r}?" if likely else f"It has {', '.join(known)}."
            raise TypeError(f"{method}() does not have an option {name!r}. {mend}")
