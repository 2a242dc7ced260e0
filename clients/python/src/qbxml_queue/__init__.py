"""A client for qbxml-queue, the REST API for QuickBooks Desktop."""

from qbxml_queue.async_client import AsyncClient
from qbxml_queue.client import Client
from qbxml_queue.errors import (
    ApiError,
    DependencyFailed,
    Discarded,
    InvalidSignature,
    OutcomeUnknown,
    QbxmlQueueError,
    QuickBooksError,
    ReadOnlyKey,
    RequestFailed,
    ResultUnavailable,
    StaleEditSequence,
    StillWaiting,
)
from qbxml_queue.webhooks import Event, verify

__all__ = [
    "ApiError",
    "AsyncClient",
    "Client",
    "DependencyFailed",
    "Discarded",
    "Event",
    "InvalidSignature",
    "OutcomeUnknown",
    "QbxmlQueueError",
    "QuickBooksError",
    "ReadOnlyKey",
    "RequestFailed",
    "ResultUnavailable",
    "StaleEditSequence",
    "StillWaiting",
    "verify",
]
