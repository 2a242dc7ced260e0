"""The options of calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qbxml_queue.batches import Entry


class QueueOptions(TypedDict, total=False):
    """How a request is queued."""

    idempotency_key: str
    """Names the cause of the request, such as `invoice-1042`. A repeated call with the same key within 24 hours
    returns the first request and queues nothing. The default is random, so that only this call's retries are safe."""
    version: str
    """The version of QBXML, such as `14.0`."""
    webhook_url: str | None
    """The receiver. None sends no webhook, even if the connection has a default."""
    label: str
    """At most 50 characters of your own, such as `order 1042`, which lists can be filtered by."""
    metadata: dict[str, str]
    """At most 20 texts of your own, which come back in the record and in events."""
    validate: bool
    """False skips the check against the schema."""
    transliterate: bool
    """True replaces characters that QuickBooks cannot store."""


class ExecuteOptions(QueueOptions, total=False):
    """How a request is queued, and how long to wait for it."""

    timeout: float
    """Seconds to wait until the request has ended; 300 by default. Then StillWaiting is raised."""


class IterateOptions(ExecuteOptions, total=False):
    """How a query is queued, and how large its pages are."""

    page_size: int
    """Objects in a page; 100 by default."""


class AddOptions(TypedDict, total=False):
    """How a request of a batch is queued."""

    version: str
    """The version of QBXML, such as `14.0`."""
    webhook_url: str | None
    """The receiver. None sends no webhook, even if the connection has a default."""
    label: str
    """At most 50 characters of your own, which lists can be filtered by."""
    metadata: dict[str, str]
    """At most 20 texts of your own, which come back in the record and in events."""
    depends_on: Iterable[Entry[Any]]
    """Requests before this one that must succeed first. A value of `Entry.ref` implies it."""
