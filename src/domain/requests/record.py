"""The queued request: its record, its states and the table of transitions between them.

The source of the states is the service contract, section 8.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from domain.errors import InFlight, InvalidState

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


class State(StrEnum):
    """Where a request is on its way to QuickBooks and back."""

    WAITING = "waiting"
    RETRYABLE = "retryable"
    TICKETED = "ticketed"
    SENT = "sent"
    RESPONSE_RECEIVED = "response_received"
    ERROR = "error"
    DISCARDED = "discarded"


class WebhookState(StrEnum):
    """What became of the webhook; `NOT_APPLICABLE` exactly when there is no URL."""

    NOT_APPLICABLE = "not_applicable"
    PENDING = "pending"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


QUEUED = frozenset({State.WAITING, State.RETRYABLE})
IN_FLIGHT = frozenset({State.TICKETED, State.SENT})
ENDED = frozenset({State.RESPONSE_RECEIVED, State.ERROR, State.DISCARDED})

TRANSITIONS: Mapping[State, frozenset[State]] = {
    State.WAITING: frozenset({State.TICKETED, State.DISCARDED}),
    State.RETRYABLE: frozenset({State.TICKETED, State.DISCARDED}),
    # A session that ends before it handed the request out gives it back as it was.
    State.TICKETED: frozenset({State.WAITING, State.RETRYABLE, State.SENT, State.ERROR}),
    State.SENT: frozenset({State.RETRYABLE, State.RESPONSE_RECEIVED, State.ERROR}),
    State.RESPONSE_RECEIVED: frozenset(),
    State.ERROR: frozenset(),
    State.DISCARDED: frozenset(),
}
"""Every state change that exists; nothing else asks which states follow which."""

FIRST_IN_LINE = 0
"""Queue priority of what continues an open iteration, which lives only as long as the session, and of a write
whose answer was lost: it is asked for before anything else is sent (contract §8)."""
IN_TURN = 1
"""Queue priority of everything else: first in, first out."""


def timestamp(moment: datetime) -> str:
    """Return `moment` (aware, UTC) as the contract writes it: ISO 8601, microseconds, `Z`.

    The texts have one length, so that they sort like the moments.
    """
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def day_of(text: str) -> str:
    """Return the day (`YYYY-MM-DD`, UTC) of a `timestamp`."""
    return text[:10]


@dataclass(frozen=True, slots=True)
class RequestError:
    """Why a request ended in `error`: a stable code, words for a developer, facts and a hint."""

    code: str
    message: str
    details: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the contract's `error` object."""
        return {"message": self.message, "code": self.code, "details": dict(self.details)}


@dataclass(frozen=True, slots=True)
class WebhookAttempt:
    """One delivery attempt: when it began, and the answer's text or the failure in words."""

    attempted_at: str
    response: str


@dataclass(frozen=True, slots=True)
class QueuedRequest:
    """A queued request without its bodies (those are read beside it when they are wanted).

    `revision` grows by one with every change; a change names the revision it was made from.
    `request_label` is the `requestID` that QuickBooks echoes. `first_page_id` and `page` tie the
    pages of an iterated query together. `sessions` counts the Web Connector sessions that
    handed the request out and `last_ticket` names (by hash) the latest one that claimed it.
    `unheard` is a write that went out and whose answer was lost, once at least. While it is also
    `recovering`, QuickBooks may have executed it, and what goes out is the question for the answer
    that it kept; `recoveries` counts the sessions that asked. Unheard and queued, it is recovering.
    `sent_to_file` is the mark (`Session.company_file_mark`) of the company file that a write was last
    handed out to: only that file can say that it was never executed. `page_size` is how many objects
    the first page of an iterated query was last asked for, or is asked for next, and the pages after it.
    `webhook_round` and `webhook_tries` tell one delivery attempt from every other: a redelivery
    by hand begins a new round. `response_size` is in bytes of UTF-8; `response_parts` counts
    the chunks that hold a response too large for the body item.
    """

    id: str
    connection_id: str
    app_id: str
    request_name: str
    request_label: str
    qbxml_version: str
    inserted_at: str
    updated_at: str
    state: State = State.WAITING
    webhook_state: WebhookState = WebhookState.NOT_APPLICABLE
    webhook_url: str | None = None
    webhook_attempts: tuple[WebhookAttempt, ...] = ()
    webhook_error: str | None = None
    webhook_round: int = 0
    webhook_tries: int = 0
    error: RequestError | None = None
    page: int = 1
    first_page_id: str | None = None
    queue_priority: int = IN_TURN
    sessions: int = 0
    unheard: bool = False
    recovering: bool = False
    recoveries: int = 0
    sent_to_file: str | None = None
    page_size: int | None = None
    last_ticket: str | None = None
    response_size: int = 0
    response_parts: int = 0
    revision: int = 1

    @property
    def is_read(self) -> bool:
        """Whether sending it twice does no harm: its name ends in `QueryRq` (contract §8)."""
        return self.request_name.endswith("QueryRq")

    @property
    def message_set_id(self) -> str:
        """The id under which QuickBooks keeps the answer of a write: 24 characters (`qbxml.md` §4)."""
        return self.id.replace("-", "")[:24]

    @property
    def may_be_executed(self) -> bool:
        """Whether QuickBooks may be working on it or have executed it unheard: nobody may take it away."""
        return self.state in IN_FLIGHT or (self.recovering and self.state in QUEUED)

    @property
    def event_id(self) -> str:
        """The `id` in the webhook's body: the first page's for a page of an iteration (§8)."""
        return self.first_page_id or self.id

    def changed(self, now: datetime, **fields: Any) -> QueuedRequest:
        """Return the record with `fields` changed, `updated_at` and `revision` moved on."""
        return replace(self, **fields, updated_at=timestamp(now), revision=self.revision + 1)

    def moved(self, to: State, now: datetime, **fields: Any) -> QueuedRequest:
        """Return the record in state `to`.

        Raises InFlight or InvalidState when the table has no such transition.
        """
        hides = to is State.DISCARDED and self.may_be_executed
        if hides or to not in TRANSITIONS[self.state]:
            if self.may_be_executed:
                raise InFlight(
                    f"The request is {self.state}: QuickBooks may be working on it. Wait until it has ended.",
                    {"state": self.state.value},
                )
            raise InvalidState(f"A request that is {self.state} cannot become {to}.", {"state": self.state.value})
        if to in ENDED:
            fields["recovering"] = False
        return self.changed(now, state=to, **fields)


@dataclass(frozen=True, slots=True)
class Tombstone:
    """What is left of a deleted record, so that its GET can answer 410 to its owner."""

    id: str
    connection_id: str
    app_id: str
    deleted_at: str


@dataclass(frozen=True, slots=True)
class StoredRequest:
    """A record with its bodies. `response_xml` is None when there is none or it was not asked for."""

    record: QueuedRequest
    request_xml: str
    response_xml: str | None = None
