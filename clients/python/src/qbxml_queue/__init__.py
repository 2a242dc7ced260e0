"""A client for qbxml-queue, the REST API for QuickBooks Desktop."""

from qbxml_queue.async_client import AsyncBatch, AsyncClient
from qbxml_queue.batches import Entry
from qbxml_queue.changes import (
    Changed,
    Deleted,
    Derived,
    ReadingFailed,
    ReadingRecovered,
    ResyncRequired,
    SnapshotCompleted,
    SnapshotStarted,
    change_of,
)
from qbxml_queue.client import Batch, Client
from qbxml_queue.cursors import Cursor, FileCursor
from qbxml_queue.errors import (
    Ambiguous,
    AnswerLost,
    ApiError,
    Change,
    Conflict,
    CustomFieldsNotWritten,
    DependencyFailed,
    Discarded,
    InvalidSignature,
    NotFound,
    OutcomeUnknown,
    QbxmlQueueError,
    QuickBooksError,
    ReadOnlyKey,
    RequestFailed,
    ResultUnavailable,
    StaleEditSequence,
    StillQueued,
    StillWaiting,
)
from qbxml_queue.lines import line
from qbxml_queue.values import Reference
from qbxml_queue.webhooks import Event, verify

__all__ = [
    "Ambiguous",
    "AnswerLost",
    "ApiError",
    "AsyncBatch",
    "AsyncClient",
    "Batch",
    "Change",
    "Changed",
    "Client",
    "Conflict",
    "Cursor",
    "CustomFieldsNotWritten",
    "Deleted",
    "DependencyFailed",
    "Derived",
    "Discarded",
    "Entry",
    "Event",
    "FileCursor",
    "InvalidSignature",
    "NotFound",
    "OutcomeUnknown",
    "QbxmlQueueError",
    "QuickBooksError",
    "ReadOnlyKey",
    "ReadingFailed",
    "ReadingRecovered",
    "Reference",
    "RequestFailed",
    "ResultUnavailable",
    "ResyncRequired",
    "SnapshotCompleted",
    "SnapshotStarted",
    "StaleEditSequence",
    "StillQueued",
    "StillWaiting",
    "change_of",
    "line",
    "verify",
]
