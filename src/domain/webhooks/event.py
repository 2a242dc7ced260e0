"""The event that a webhook posts (docs/reference/service-contract.md, Webhook events)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from domain.requests import views
from domain.requests.record import State
from domain.webhooks.defaults import MAX_BODY_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.requests.record import StoredRequest

EVENT_STATES: Mapping[State, str] = {
    State.RESPONSE_RECEIVED: "completed",
    State.ERROR: "failed",
    State.DISCARDED: "discarded",
}
"""The names of the final states in events."""


def event_body(stored: StoredRequest, moment: str) -> bytes:
    """Return the event as JSON in ASCII. The same record and `moment` give the same bytes.

    `moment` is the timestamp of the attempt. If the event is over 1 MiB, or the response was too large to be read
    (`response_xml` is None although it has a size), both forms of the response are null and `response_omitted` is true.
    Raises KeyError when the record has not ended.
    """
    event = _event(stored, moment)
    if stored.response_xml is None and stored.record.response_size == 0:
        return _encoded(event)
    if stored.response_xml is not None:
        body = _encoded(event)
        if len(body) <= MAX_BODY_BYTES:
            return body
    return _encoded(event | {"response_xml": None, "response_json": None, "response_omitted": True})


def _event(stored: StoredRequest, moment: str) -> dict[str, Any]:
    record = stored.record
    state = EVENT_STATES[record.state]
    return {
        "type": f"queued_request.{state}",
        "timestamp": moment,
        "id": record.event_id,
        "page_request_id": record.id,
        "page": record.paging.page,
        "state": state,
        "connection_id": record.connection_id,
        "request_xml": stored.request_xml,
        "request_json": views.request_json(stored),
        "response_xml": stored.response_xml,
        "response_json": views.response_json(stored),
        "error": record.error.as_dict() if record.error else None,
        "links": views.links(record),
    }


def _encoded(event: Mapping[str, Any]) -> bytes:
    return json.dumps(event, separators=(",", ":"), allow_nan=False).encode()
