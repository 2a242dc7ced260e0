"""Webhook handlers for web frameworks: the decorator `webhook` of the modules `fastapi`, `flask` and `django`.

The framework is not installed with the client. All handlers answer alike:

* 204 when your function has returned. An error of your function is answered with 500, so the event comes again.
* 401 if the call is not an event that was signed with your secret. The reason is in the log `qbxml_queue` alone.
* 413 if the body is too large.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from qbxml_queue.errors import InvalidSignature
from qbxml_queue.webhooks import Event, key_of, verify

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping

MAX_BODY_BYTES = 8 * 1024 * 1024
"""No event is larger: beyond 1 MiB the service leaves out the response, and the request has at most 1 MiB."""

REFUSED = "The signature of the webhook is not valid."
TOO_LARGE = "The body of the webhook is too large."

_log = logging.getLogger("qbxml_queue")


def check_secret(secret: str) -> None:
    """Raise ValueError unless this is a webhook secret, so that a program without one does not start."""
    try:
        key_of(secret)
    except InvalidSignature as error:
        raise ValueError(str(error)) from None


def event_of(secret: str, headers: Mapping[str, str], body: bytes) -> tuple[Event, str] | None:
    """Return the event and its `webhook-id`, or None if the call is refused.

    A header can occur twice. The id is the one that was signed, so nobody can repeat an event under another id.
    """
    fields = {name.lower(): value for name, value in headers.items()}
    try:
        return verify(secret, fields, body), fields["webhook-id"]
    except InvalidSignature as error:
        _log.warning("A webhook was refused: %s", error)
        return None


async def ended(result: Awaitable[object]) -> None:
    """Wait until an asynchronous function has ended."""
    await result
