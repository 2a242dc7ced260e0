"""The results of records and events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qbxml_queue.errors import failure_of
from qbxml_queue.values import from_json

if TYPE_CHECKING:
    from qbxml_queue.schema.records import QueuedRequest


def read_result(event: Any) -> None:
    """Give the result of an event, or its record, Python's types."""
    if isinstance(event.get("result"), dict):
        event["result"] = from_json(event["request_json"]["request"]["name"], event["result"])
    if isinstance(event.get("record"), dict):
        event["record"] = from_json("", event["record"])


def result_of(record: QueuedRequest) -> dict[str, Any]:
    """Return the result of a request that has ended, with Python's types. Raises RequestFailed."""
    result = record.get("result")
    if record["state"] != "response_received" or result is None:
        raise failure_of(record)
    return from_json(record["request_name"], result)
