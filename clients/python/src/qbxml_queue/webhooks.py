"""Verifies webhooks (https://www.standardwebhooks.com)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from typing import TYPE_CHECKING, TypeAlias, cast

from qbxml_queue.errors import InvalidSignature
from qbxml_queue.protocol import read_result
from qbxml_queue.schema.records import CompletedEvent, ConnectionWebhookEvent, DiscardedEvent, FailedEvent

if TYPE_CHECKING:
    from collections.abc import Mapping

Event: TypeAlias = CompletedEvent | FailedEvent | DiscardedEvent | ConnectionWebhookEvent

MAX_AGE_SECONDS = 300


def verify(secret: str, headers: Mapping[str, str], body: bytes, *, now: float | None = None) -> Event:
    """Return the event of a webhook that the service signed. Raises InvalidSignature.

    `secret` is the webhook secret of the app (`whsec_…`), `body` the raw bytes of the call. The names of the headers
    may have any case. An event can arrive twice: the header `webhook-id` is the same. `result` has the types of
    `execute`. `type` tells the events of requests from those of connections.
    """
    fields = {name.lower(): value for name, value in headers.items()}
    timestamp = fields.get("webhook-timestamp", "")
    current = time.time() if now is None else now
    if not (timestamp.isascii() and timestamp.isdecimal()) or abs(current - int(timestamp)) > MAX_AGE_SECONDS:
        raise InvalidSignature("The webhook has no time, or one that differs by over five minutes from the clock.")
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("The webhook secret is not whsec_ and base64.") from None
    content = f"{fields.get('webhook-id', '')}.{timestamp}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.digest(key, content, hashlib.sha256))
    signatures = fields.get("webhook-signature", "").encode().split()
    if not any(hmac.compare_digest(expected, signature) for signature in signatures):
        raise InvalidSignature("The webhook is not signed with this secret.")
    event = cast("Event", json.loads(body))
    read_result(event)
    return event
