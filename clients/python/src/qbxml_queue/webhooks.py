"""Verifies webhooks (https://www.standardwebhooks.com)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import time
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from qbxml_queue.errors import InvalidSignature
from qbxml_queue.results import read_result

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qbxml_queue.schema.records import WebhookEvent

    Event: TypeAlias = WebhookEvent
else:
    Event = dict[str, Any]  # The TypedDicts take long to create, and only type checkers read them.

MAX_AGE_SECONDS = 300

# At least 24 bytes, as Standard Webhooks demands.
_secret = re.compile(r"whsec_((?:[A-Za-z0-9+/]{4}){8,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)").fullmatch
_timestamp = re.compile(r"[0-9]{1,12}").fullmatch


def verify(secret: str, headers: Mapping[str, str], body: bytes, *, now: float | None = None) -> Event:
    """Return the event of a webhook that the service signed. Raises InvalidSignature for everything else.

    `secret` is the webhook secret of the app (`whsec_…`), `body` the raw bytes of the call. The names of the headers
    may have any case. An event can arrive twice: the header `webhook-id` is the same. `result` has the types of
    `execute`. `type` tells which members the event has. Ignore a type that you do not know, such as `webhook.test`.
    """
    key = key_of(secret)
    fields = {name.lower(): value for name, value in headers.items()}
    webhook_id, timestamp = fields.get("webhook-id") or "", fields.get("webhook-timestamp") or ""
    current = time.time() if now is None else now
    if not _timestamp(timestamp) or abs(current - int(timestamp)) > MAX_AGE_SECONDS:
        raise InvalidSignature("The webhook has no time, or one that differs by over five minutes from the clock.")
    # A header can have any character, also half of a surrogate pair, which UTF-8 does not have.
    content = f"{webhook_id}.{timestamp}.".encode("utf-8", "surrogatepass") + body
    expected = b"v1," + base64.b64encode(hmac.digest(key, content, hashlib.sha256))
    signatures = (fields.get("webhook-signature") or "").encode("utf-8", "surrogatepass").split(b" ")
    if not webhook_id or not any(hmac.compare_digest(expected, signature) for signature in signatures):
        raise InvalidSignature("The webhook is not signed with this secret.")
    return _event(body)


def key_of(secret: str) -> bytes:
    """Return the key of a webhook secret. Raises InvalidSignature if it is not one."""
    key = _secret(secret or "")
    if not key:
        raise InvalidSignature("The webhook secret is not whsec_ and base64 of at least 24 bytes.")
    return base64.b64decode(key[1])


def _event(body: bytes) -> Event:
    """Return the event in a signed body. Raises InvalidSignature if it is not an event of this service."""
    try:
        event = json.loads(body)
        read_result(event)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise InvalidSignature("The webhook is signed, and its body is not an event.") from None
    return cast("Event", event)
