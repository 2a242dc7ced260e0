"""What webhook delivery needs from outside: a sender and a queue of planned attempts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """What a webhook receiver answered; `retry_after` is the header's text, `body` is cut to 4 KiB."""

    status: int
    body: str
    retry_after: str | None = None


class WebhookSender(Protocol):
    """Dials a webhook URL, checks the resolved address and posts."""

    def post(self, url: str, headers: Mapping[str, str], body: bytes, timeout_seconds: float) -> HttpResponse:
        """Return the receiver's answer, whatever its status.

        Raises DeliveryFailed with the reason in words when there is none.
        """


class DeliveryFailed(Exception):
    """No answer came: refused address, no route, time-out, broken TLS. Its text is for the app's owner.

    `permanent` is True when trying again cannot help (the address is not allowed).
    """

    def __init__(self, reason: str, *, permanent: bool = False) -> None:
        super().__init__(reason)
        self.permanent = permanent


@dataclass(frozen=True, slots=True)
class PlannedAttempt:
    """One planned delivery attempt. The record decides whether it is still wanted."""

    request_id: str
    app_id: str
    webhook_round: int
    webhook_tries: int
    response_parts: int
    not_before: datetime


class RetryQueue(Protocol):
    """Plans delivery attempts for later."""

    def plan(self, ticket: PlannedAttempt) -> None:
        """Have `retry_webhook` called with this ticket at `not_before` or a little after."""
