"""The webhook of a queued request: its state and its attempts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit


class WebhookState(StrEnum):
    """The progress of a request's webhook. It is `not_applicable` if and only if there is no URL."""

    NOT_APPLICABLE = "not_applicable"
    PENDING = "pending"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


class ListedWebhookState(StrEnum):
    """The webhook states that lists distinguish. `RETRYING` is the part of `pending` with a failed attempt.

    The `APPROVAL` ones are those of requests that wait for approval, which are so counted and listed without a read of
    their own. Only after a restore can such a request have a webhook that was sent.
    """

    NOT_APPLICABLE = "not_applicable"
    PENDING = "pending"
    RETRYING = "retrying"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    APPROVAL_NOT_APPLICABLE = "approval_not_applicable"
    APPROVAL_PENDING = "approval_pending"
    APPROVAL_SUCCEEDED = "approval_succeeded"
    APPROVAL_FAILED = "approval_failed"

    @property
    def webhook_state(self) -> WebhookState:
        """The state of the webhook."""
        return (
            WebhookState.PENDING if self is ListedWebhookState.RETRYING else WebhookState(self.removeprefix(_APPROVAL))
        )

    @property
    def awaiting_approval(self) -> ListedWebhookState:
        """The state in lists while the request waits for approval."""
        return ListedWebhookState(_APPROVAL + self.webhook_state)


_APPROVAL = "approval_"

AWAITING_APPROVAL = frozenset(state for state in ListedWebhookState if state.startswith(_APPROVAL))
"""The states of the webhooks of requests that wait for approval."""

FAILING = frozenset({ListedWebhookState.RETRYING, ListedWebhookState.FAILED, ListedWebhookState.APPROVAL_FAILED})
"""The states of a webhook whose last attempt failed, whether or not it is tried again."""

SUCCESS = range(200, 300)
"""The status codes of a receiver that accepted the event."""


@dataclass(frozen=True, slots=True)
class WebhookAttempt:
    """One webhook attempt: when it began, and the receiver's response or a description of the failure.

    `status_code` is None if there was no response. `next_attempt_at` is None if no further attempt was planned.
    """

    attempted_at: str
    response: str
    status_code: int | None = None
    duration_ms: int | None = None
    next_attempt_at: str | None = None

    @property
    def succeeded(self) -> bool:
        """Whether the receiver accepted the event."""
        return self.status_code in SUCCESS


@dataclass(frozen=True, slots=True)
class Webhook:
    """The webhook of a request.

    `attempts` lists the latest attempts of all rounds. A redelivery through the API begins a new round, in which
    `attempts_in_round` counts from zero. The two numbers identify a webhook attempt. `error` describes the last
    failure.
    """

    state: WebhookState = WebhookState.NOT_APPLICABLE
    url: str | None = None
    attempts: tuple[WebhookAttempt, ...] = ()
    error: str | None = None
    round: int = 0
    attempts_in_round: int = 0

    @property
    def receiver(self) -> str | None:
        """The origin of the URL: scheme, host and port. None without a webhook."""
        if self.url is None:
            return None
        url = urlsplit(self.url)
        return f"{url.scheme}://{url.netloc.rpartition('@')[2]}"

    @property
    def is_retrying(self) -> bool:
        """Whether an attempt of this round failed and the webhook is tried again."""
        return self.state is WebhookState.PENDING and self.attempts_in_round > 0

    @property
    def listed_state(self) -> ListedWebhookState:
        """The state in lists."""
        if self.is_retrying:
            return ListedWebhookState.RETRYING
        return ListedWebhookState(self.state.value)

    @classmethod
    def to(cls, url: str | None) -> Webhook:
        """Return the webhook of a new request. Without a URL, no webhook is sent."""
        return cls(WebhookState.PENDING, url) if url else cls()
