"""The queued request: its record, its states and the table of transitions between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias
from uuid import UUID, uuid5

from domain.errors import InvalidState, MayBeExecuted, compact, shortened
from domain.records.approval import Approval, ApprovalDecision
from domain.records.batch import new_batch_id
from domain.records.lookup import FieldChange, IfExists, LookupOutcome, LookupStep, ObjectLookup
from domain.records.webhook import AWAITING_APPROVAL, ListedWebhookState, Webhook, WebhookState
from domain.timestamps import timestamp

if TYPE_CHECKING:
    from domain.qbxml import Reference
    from domain.records.audit import Actor


class State(StrEnum):
    """The position of a request in its life."""

    WAITING = "waiting"
    RETRYABLE = "retryable"
    TICKETED = "ticketed"
    SENT = "sent"
    RESPONSE_RECEIVED = "response_received"
    ERROR = "error"
    DISCARDED = "discarded"


QUEUED = frozenset({State.WAITING, State.RETRYABLE})
IN_FLIGHT = frozenset({State.TICKETED, State.SENT})
FAILED_OR_DISCARDED = frozenset({State.ERROR, State.DISCARDED})
ENDED = FAILED_OR_DISCARDED | {State.RESPONSE_RECEIVED}

TRANSITIONS: Mapping[State, frozenset[State]] = {
    # A request ends in an error if another one, for which it waits, does not end with a response, or if its `send_by`
    # passes.
    State.WAITING: frozenset({State.TICKETED, State.DISCARDED, State.ERROR}),
    State.RETRYABLE: frozenset({State.TICKETED, State.DISCARDED, State.ERROR}),
    # A session that ends before it sends the request puts it back into the queue.
    State.TICKETED: frozenset({State.WAITING, State.RETRYABLE, State.SENT, State.ERROR}),
    State.SENT: frozenset({State.RETRYABLE, State.RESPONSE_RECEIVED, State.ERROR}),
    State.RESPONSE_RECEIVED: frozenset(),
    State.ERROR: frozenset(),
    State.DISCARDED: frozenset(),
}
"""All allowed transitions between states."""

Pair: TypeAlias = tuple[State, ListedWebhookState]
"""The values by which records are counted and listed. Filters are sets of pairs."""

LISTED_PAIRS: tuple[Pair, ...] = tuple(
    (state, webhook_state)
    for state in State
    if state not in IN_FLIGHT
    for webhook_state in ListedWebhookState
    if state in QUEUED or webhook_state not in AWAITING_APPROVAL
)
"""The pairs of counts and index entries. A record in flight keeps its pair from before the claim, so that a claim and
the sending change neither."""

FIRST_IN_LINE = 0
"""Queue priority of a write in recovery, because QuickBooks is asked for its response before anything else is sent."""
IN_TURN = 1
"""Queue priority of all other requests: first in, first out."""
LAST_IN_LINE = 2
"""Queue priority of a read whose response was lost in two sessions. It would end the next session before the requests
behind it are sent."""
BEHIND_OTHERS = 3
"""Queue priority of a request for which QuickBooks failed in MAX_FAILED_SESSIONS_IN_TURN sessions. Such requests take
turns: first the one that has waited longest since its last attempt."""
FIRST_LOW_PLACE = BEHIND_OTHERS + 1
"""The low lane is behind all requests of the normal lane, except for its writes in recovery, and has their order."""
MAX_FAILED_SESSIONS_IN_TURN = 2
"""Maximum number of sessions in which QuickBooks may fail for a request before the request goes behind the others."""

MAX_MESSAGE_CHARACTERS = 2_000
MAX_FACT_CHARACTERS = 300
"""Maximum characters of a stored message and of a shorter text from QuickBooks. An item has at most 400 KB."""


class ErrorCode(StrEnum):
    """How a request ended in an error: the `code` of its error. `tools/error_reasons.py` has meanings and remedies."""

    QUICKBOOKS_ERROR = "quickbooks_error"
    QBXML_PARSE_ERROR = "qbxml_parse_error"
    QUICKBOOKS_CONNECTION_ERROR = "quickbooks_connection_error"
    OUTCOME_UNKNOWN = "outcome_unknown"
    ITERATION_INTERRUPTED = "iteration_interrupted"
    ITERATION_STOPPED = "iteration_stopped"
    RESPONSE_TOO_LARGE = "response_too_large"
    DEPENDENCY_FAILED = "dependency_failed"
    REFERENCE_UNRESOLVED = "reference_unresolved"
    REFERENCE_INVALID = "reference_invalid"
    NOT_SENT_IN_TIME = "not_sent_in_time"
    AMBIGUOUS_MATCH = "ambiguous_match"
    NAME_IN_USE = "name_in_use"


NEVER_COMPLETE = frozenset({ErrorCode.DEPENDENCY_FAILED, ErrorCode.REFERENCE_UNRESOLVED, ErrorCode.REFERENCE_INVALID})
"""The error codes of a request that was never sent, because it lacks a value of another response."""

NOT_EXECUTED = NEVER_COMPLETE | {
    ErrorCode.NOT_SENT_IN_TIME,
    ErrorCode.QUICKBOOKS_ERROR,
    ErrorCode.QBXML_PARSE_ERROR,
    ErrorCode.QUICKBOOKS_CONNECTION_ERROR,
}
"""The error codes of a write that QuickBooks has not executed, if its response was never lost."""


_SETTLING = UUID("b2a4a2a9-6cc4-4b52-9f0e-5d9f3a0d6e0b")
"""Makes the ids of queries that settle writes differ from all other ids. It must not change, or a write gets two."""


class WhetherExecuted(StrEnum):
    """Whether QuickBooks has executed a write that has ended."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class RequestError:
    """The error of a request: a stable code, a message for developers, facts and a hint."""

    code: str
    message: str
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Paging:
    """The position of a record in an iterated query. Each page is a record.

    `page` counts from 1. On all later pages, `first_page_id` is the id of page 1. `page_size` is the number of objects
    that page 1 requested last or requests next. All later pages request the same number. `page_size` is None if the
    query does not iterate. `may_begin` is True if the query does not iterate as it is stored, but can and may be sent
    as an iterated query after its response was too large. `continued` is True if a next page was created.
    """

    page: int = 1
    first_page_id: str | None = None
    page_size: int | None = None
    may_begin: bool = False
    continued: bool = False


@dataclass(frozen=True, slots=True)
class Recovery:
    """The recovery of a write that was sent, until its response is stored.

    `begun` means that the write was sent at least once and no response arrived. `active` means that QuickBooks
    may have executed the write, so the service asks for the stored response before it sends the write again. `sessions`
    counts the sessions that asked. `company_file_key` identifies the company file that the write was last sent to, by
    mark and path. QuickBooks must have that file open to tell that it never executed the write. QuickBooks may still be
    executing the write until `running_until`, so "never executed" is not believed before that time. None
    means that QuickBooks has finished. `first_sent_at` is when a write was sent first whose response was then lost.

    A query that settles a write has only `company_file_key`.
    """

    begun: bool = False
    active: bool = False
    sessions: int = 0
    company_file_key: str | None = None
    running_until: str | None = None
    first_sent_at: str | None = None


@dataclass(frozen=True, slots=True)
class Settling:
    """How QuickBooks is asked whether it executed a write whose outcome is unknown.

    `times` counts how often they were asked. `executed` is what the last answer shows, or None before it arrives. It is
    also `unknown` if the service does not ask by itself.
    """

    times: int = 0
    executed: WhetherExecuted | None = None


@dataclass(frozen=True, slots=True)
class Attempts:
    """How often a request was tried: numbers of sessions.

    `sessions` counts those that sent the request, `lost_responses` those that ended without a response to a read, and
    `failed_sessions` those in which QuickBooks failed for the request without saying that it is closed or busy.
    """

    sessions: int = 0
    lost_responses: int = 0
    failed_sessions: int = 0


@dataclass(frozen=True, slots=True)
class Claim:
    """The claim of a record by a session.

    `session_id` is the session that claimed it last. While the request is in flight, `state_before` and
    `updated_before` are its state and `updated_at` before the claim. None means `waiting` and `inserted_at`.
    """

    session_id: str | None = None
    state_before: State | None = None
    updated_before: str | None = None


@dataclass(frozen=True, slots=True)
class MessageSet:
    """The place of a write in a message set of several requests that was sent.

    `id` is the ID under which QuickBooks stores the responses. It is not derived from a request. `position` counts from
    1 to `size`. The requests of a set stay together until they have ended: QuickBooks must recognise the set.
    """

    id: str
    position: int
    size: int


@dataclass(frozen=True, slots=True)
class QueuedRequest:
    """A queued request without its bodies, which are stored and read separately.

    `revision` grows by one with every change. A change names the revision on which it is based. `request_label` is the
    `requestID` that QuickBooks returns, and `label` the caller's own. `sent_at` is when it was sent last, and
    `responded_at` when its response arrived. `response_size` is in bytes of UTF-8; 0 means that there is no response.
    `response_attempt` names the attempt that stored the response in the body item, and `response_chunks` the chunks of
    a response that is too large for it. `message_set` is None unless the request is a write that was sent together with
    others. `dependencies` are the positions, in its batch, of the requests that it still waits for, or waited for when
    it ended: it is not in the queue before they have ended. `dependants` are the positions of the requests that wait,
    or waited, for this one. `queued_at` is when a request that had dependencies entered the queue. None means
    `inserted_at`. `subject` is what the request is about, in at most 80 bytes of UTF-8, from its QBXML. From `send_by`
    on, in Unix seconds, the request is not sent for the first time. None means that it may be sent at any time.
    `is_low` puts it into the low lane, for requests that nobody waits for. `simulated` tells that its connection is a
    test connection. `settles` is the id of the write that a query of the service settles. `approval` is None
    unless the request needs one. `lookup` is None unless the request looks for its object before it adds it.
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
    error: RequestError | None = None
    webhook: Webhook = Webhook()
    paging: Paging = Paging()
    recovery: Recovery = Recovery()
    claim: Claim = Claim()
    attempts: Attempts = Attempts()
    queue_priority: int = IN_TURN
    sent_at: str | None = None
    responded_at: str | None = None
    response_size: int = 0
    response_attempt: str = ""
    response_chunks: str = ""
    message_set: MessageSet | None = None
    dependencies: tuple[int, ...] = ()
    dependants: tuple[int, ...] = ()
    queued_at: str | None = None
    label: str | None = None
    subject: str | None = None
    send_by: int | None = None
    settling: Settling = Settling()
    settles: str | None = None
    is_low: bool = False
    simulated: bool = False
    lookup: ObjectLookup | None = None
    approval: Approval | None = None
    revision: int = 1

    @property
    def webhook_state(self) -> WebhookState:
        """The state of the webhook."""
        return self.webhook.state

    @property
    def pair(self) -> Pair:
        """The values that filters of lists compare."""
        listed = self.webhook.listed_state
        return self.state, listed.awaiting_approval if self.awaits_approval else listed

    @property
    def listed_pair(self) -> Pair:
        """The pair of the record's counts and index entries."""
        if self.state in IN_FLIGHT:
            return self.claim.state_before or State.WAITING, self.webhook.listed_state
        return self.pair

    @property
    def listed_updated_at(self) -> str:
        """The time of the record's counts and index entries by the last change."""
        if self.state in IN_FLIGHT:
            return self.claim.updated_before or self.inserted_at
        return self.updated_at

    @property
    def is_read(self) -> bool:
        """Whether the request can be sent twice without harm, because its name ends in `QueryRq`."""
        return self.request_name.endswith("QueryRq")

    @property
    def looks(self) -> bool:
        """Whether the request, in flight, asks for its object, or has ended before it could have added it."""
        return self.lookup is not None and self.lookup.looks

    @property
    def modifies(self) -> bool:
        """Whether the request sends a Mod in place of its addition, or has ended with one."""
        return self.lookup is not None and self.lookup.step is LookupStep.MOD

    @property
    def updates(self) -> bool:
        """Whether the request changes its object if it exists."""
        return self.lookup is not None and self.lookup.if_exists is IfExists.UPDATE

    def may_write(self, modification_id: str | None) -> bool:
        """Whether an update may send the Mod with this ID, or its addition if it is None.

        If it needs approval, this very write must have been approved. The ID follows from the text of the Mod, which
        names the object and its `EditSequence`.
        """
        if self.approval is None or self.lookup is None or not self.updates:
            return True
        is_approved = self.approval.decision is ApprovalDecision.APPROVED
        return is_approved and self.lookup.modification_id == modification_id

    @property
    def asks(self) -> bool:
        """Whether what is sent now changes nothing: a read, the query of a write for its object, or a status check."""
        return self.is_read or self.looks or self.recovering

    @property
    def message_set_id(self) -> str:
        """The ID under which QuickBooks stores the response of a write.

        It has 20 characters, because Intuit's documents disagree whether 23 or 24 are too many.
        """
        if self.lookup and self.lookup.modification_id:
            return self.lookup.modification_id
        return self.message_set.id if self.message_set else message_set_id(self.id)

    @property
    def modification_label(self) -> str | None:
        """The `requestID` of the Mod that is sent next or was sent last, or None if that write is the request."""
        return f"mod-{self.message_set_id}" if self.lookup and self.lookup.modification_id else None

    @property
    def place_in_queue(self) -> tuple[int, str, str]:
        """The place of a queued request. The request with the lowest place is sent first."""
        queued_at = self.queued_at or self.inserted_at
        since = self.updated_at if self.queue_priority == BEHIND_OTHERS else queued_at
        if not self.is_low:
            return self.queue_priority, since, self.id
        # Nothing of the other lane may pass a write that QuickBooks may still be executing.
        comes_first = self.recovering or self.queue_priority == FIRST_IN_LINE
        return FIRST_IN_LINE if comes_first else FIRST_LOW_PLACE + self.queue_priority - IN_TURN, since, self.id

    @property
    def is_in_queue(self) -> bool:
        """Whether the request waits in the queue. One with dependencies, or without its approval, waits outside."""
        return self.state in QUEUED and not self.dependencies and not self.awaits_approval

    @property
    def awaits_approval(self) -> bool:
        """Whether somebody has to approve the request before it is sent.

        After a restore, a write that QuickBooks may have executed is recovered first. Nothing is sent meanwhile. An
        update asks for its object first, because only then it is known what it writes.
        """
        is_open = self.approval is not None and self.approval.decision is None
        asks_first = self.updates and self.looks
        return is_open and self.state in QUEUED and not self.recovering and not asks_first

    @property
    def was_rejected(self) -> bool:
        """Whether somebody has rejected the request."""
        return self.approval is not None and self.approval.decision is ApprovalDecision.REJECTED

    @property
    def given_send_by(self) -> int | None:
        """The `send_by` that the author gave, in Unix seconds, or None without one."""
        return self.approval.send_by if self.approval else self.send_by

    @property
    def recovering(self) -> bool:
        """Whether QuickBooks is asked for the stored response before the write is sent again."""
        return self.recovery.active

    def may_be_running(self, moment: str) -> bool:
        """Whether QuickBooks may still be executing a write at `moment`, although its session has ended."""
        return self.recovery.running_until is not None and moment < self.recovery.running_until

    @property
    def obeys_send_by(self) -> bool:
        """Whether the request ends if its `send_by` passes now.

        It has not been handed to a Web Connector, or it is a write that QuickBooks has not executed. A message set that
        was sent stays together, and a read that was sent may be sent again.
        """
        may_have_reached = self.recovering or self.message_set is not None or self.state is State.SENT
        was_sent = may_have_reached or (self.is_read and self.sent_at is not None)
        return self.send_by is not None and self.state not in ENDED and not was_sent

    @property
    def send_by_time(self) -> str | None:
        """`send_by` as a timestamp."""
        return None if self.send_by is None else timestamp(datetime.fromtimestamp(self.send_by, UTC))

    def misses_send_by(self, now: datetime) -> bool:
        """Whether the request must not be sent any more."""
        return self.obeys_send_by and self.send_by is not None and self.send_by <= now.timestamp()

    @property
    def may_be_executed(self) -> bool:
        """Whether QuickBooks may be executing the request, or may have executed it without a response.

        Such a request must not be removed. The same applies to each request of a message set that was sent, because
        the set is sent again as a whole.
        """
        is_bound = self.recovering or self.message_set is not None
        return self.state in IN_FLIGHT or (is_bound and self.state in QUEUED)

    @property
    def query_id(self) -> str:
        """The id that all pages of an iterated query share, which is that of page 1. Otherwise the request's id."""
        return self.paging.first_page_id or self.id

    @property
    def last_page(self) -> bool | None:
        """Whether this is the last page, or None if the request has not ended."""
        return not self.paging.continued if self.state in ENDED else None

    @property
    def wrote_nothing(self) -> bool:
        """Whether a request that has ended certainly changed nothing in QuickBooks.

        If a write was sent once without a response, QuickBooks may have executed it, whatever happened afterwards.
        """
        if self.is_read:
            return True
        was_refused = self.error is not None and self.error.code in NOT_EXECUTED
        return not self.recovery.begun and (self.state is State.DISCARDED or was_refused or self.looks)

    @property
    def lacks_values(self) -> bool:
        """Whether the request waits for values of the responses to others, or ended without them."""
        return bool(self.dependencies) or (self.error is not None and self.error.code in NEVER_COMPLETE)

    @property
    def executed(self) -> WhetherExecuted | None:
        """Whether QuickBooks has executed the write. None for a read, and until the request has ended."""
        if self.is_read or self.state not in ENDED:
            return None
        if self.state is State.RESPONSE_RECEIVED and not self.looks:
            return WhetherExecuted.YES
        if self.wrote_nothing:
            return WhetherExecuted.NO
        return self.settling.executed or WhetherExecuted.UNKNOWN

    @property
    def outcome(self) -> LookupOutcome | None:
        """How a request that looks for its object ended, or None if it has not ended with the object."""
        return self.lookup.outcome if self.lookup and self.state is State.RESPONSE_RECEIVED else None

    @property
    def is_unsettled(self) -> bool:
        """Whether the service has to ask QuickBooks whether it executed the write, or to store the answer."""
        is_unknown = self.error is not None and self.error.code == ErrorCode.OUTCOME_UNKNOWN
        return is_unknown and self.executed is WhetherExecuted.UNKNOWN and self.settling.executed is None

    @property
    def cause(self) -> str | None:
        """Why the request failed: the status code of QuickBooks, its HRESULT, or the code of the error.

        None if it has not failed.
        """
        if self.error is None:
            return None
        match self.error.code:
            case ErrorCode.QUICKBOOKS_ERROR:
                fact = self.error.details.get("status_code")
            case ErrorCode.QUICKBOOKS_CONNECTION_ERROR:
                fact = self.error.details.get("hresult")
            case _:
                fact = None
        return self.error.code if fact is None else str(fact)

    @property
    def first_sent_at(self) -> str | None:
        """When a write was sent first, or None if it was not sent, or its response was lost in an older release."""
        return self.recovery.first_sent_at or (None if self.recovery.begun else self.sent_at)

    @property
    def settling_query_id(self) -> str | None:
        """The id of the first query of the last time that QuickBooks was asked, or None if it was not.

        It is the id of the batch of the queries.
        """
        return settling_id(self.id, self.settling.times) if self.settling.times else None

    def changed(self, now: datetime) -> QueuedRequest:
        """Return the record after a change of its fields, with a new `updated_at` and the next `revision`."""
        return replace(self, updated_at=timestamp(now), revision=self.revision + 1)

    def with_webhook(self, now: datetime, webhook: Webhook) -> QueuedRequest:
        """Return the record after a change of its webhook."""
        return replace(self, webhook=webhook).changed(now)

    def moved(self, to: State, now: datetime) -> QueuedRequest:
        """Return the record in state `to`.

        Raises MayBeExecuted or InvalidState if the table has no such transition.
        """
        if to not in TRANSITIONS[self.state] or (to is State.DISCARDED and self.may_be_executed):
            if self.may_be_executed:
                raise MayBeExecuted(
                    f"The request is {self.state}: QuickBooks may be working on it. Wait until it has ended.",
                    {"state": self.state.value},
                )
            raise InvalidState(f"A request that is {self.state} cannot become {to}.", {"state": self.state.value})
        queued_at, recovery, claim = self.queued_at, self.recovery, self.claim
        if to in ENDED:
            # After an error, QuickBooks may still be executing it, and may be asked about it.
            running_until = recovery.running_until if to is State.ERROR else None
            queued_at, recovery = None, replace(recovery, active=False, running_until=running_until)
        if to not in IN_FLIGHT:
            claim = Claim(claim.session_id)
        elif self.state in QUEUED:
            # The usual values are not stored.
            state = None if self.state is State.WAITING else self.state
            updated_at = None if self.updated_at == self.inserted_at else self.updated_at
            claim = Claim(claim.session_id, state, updated_at)
        # One copy in place of several: a record has many fields, and a message set ends in twenty transitions.
        return replace(
            self,
            state=to,
            queued_at=queued_at,
            recovery=recovery,
            claim=claim,
            updated_at=timestamp(now),
            revision=self.revision + 1,
        )

    def as_change_of(self, before: QueuedRequest) -> QueuedRequest:
        """Return the record with the next revision after `before`. Its transitions are then stored as one change."""
        return replace(self, revision=before.revision + 1)

    def without_dependency(self, position: int, now: datetime) -> QueuedRequest:
        """Return the waiting record after a dependency has ended. After the last one, the request enters the queue."""
        left = tuple(other for other in self.dependencies if other != position)
        if left:
            # Nothing that clients see has changed.
            return replace(self, dependencies=left, revision=self.revision + 1)
        return replace(self, dependencies=(), queued_at=timestamp(now)).changed(now)

    def approved(self, by: str | None, now: datetime) -> QueuedRequest:
        """Return the waiting record after its approval. It enters the queue unless it waits for other requests."""
        if self.approval is None:
            raise AssertionError("only a request that needs approval is approved")
        approval = self.approval.granted(by, timestamp(now), self.revision)
        queued_at = None if self.dependencies else timestamp(now)
        return replace(self, approval=approval, send_by=approval.send_by, queued_at=queued_at).changed(now)

    def rejected(self, by: str | None, reason: str, now: datetime) -> QueuedRequest:
        """Return the waiting record after somebody has rejected it. Raises MayBeExecuted and InvalidState."""
        if self.approval is None:
            raise AssertionError("only a request that needs approval is rejected")
        approval = self.approval.refused(by, timestamp(now), reason)
        return replace(self, approval=approval).moved(State.DISCARDED, now)

    def awaiting_approval_again(self, now: datetime) -> QueuedRequest:
        """Return the record without the decision about it, if it needs approval. Its revision stays."""
        if self.approval is None:
            return self
        approval = self.approval.asked_again()
        return replace(self, approval=approval, send_by=approval.deadline(int(now.timestamp())))

    def claimed(self, session_id: str, now: datetime) -> QueuedRequest:
        """Return the queued record after a session claimed it."""
        lookup = self.lookup and self.lookup.claimed(recovering=self.recovering)
        return replace(self, claim=Claim(session_id), lookup=lookup).moved(State.TICKETED, now)

    def sent(
        self,
        now: datetime,
        *,
        company_file_key: str | None = None,
        page_size: int | None = None,
        message_set: MessageSet | None = None,
    ) -> QueuedRequest:
        """Return the claimed record after it was sent. During recovery, the status check was sent instead.

        `company_file_key` identifies the open company file. `page_size` is the number of requested objects.
        `message_set` is the new message set of a write that is sent with others.
        """
        recovery, paging, sent_at = self.recovery, self.paging, timestamp(now)
        lookup = self.lookup and self.lookup.sent(sent_at, recovering=self.recovering)
        if self.looks:
            return replace(self, lookup=lookup, sent_at=sent_at).moved(State.SENT, now)
        if recovery.active:
            recovery = replace(recovery, sessions=recovery.sessions + 1)
            return replace(self, recovery=recovery, lookup=lookup, sent_at=sent_at).moved(State.SENT, now)
        if self.is_read:
            paging = replace(paging, page_size=page_size)
        if not self.is_read or self.settles:
            recovery = replace(recovery, company_file_key=company_file_key)
        after = replace(
            self,
            attempts=replace(self.attempts, sessions=self.attempts.sessions + 1),
            paging=paging,
            recovery=recovery,
            message_set=message_set or self.message_set,
            lookup=lookup,
            sent_at=sent_at,
        )
        return after.moved(State.SENT, now)

    def asked(self, now: datetime) -> QueuedRequest:
        """Return the ended write after QuickBooks is asked once more whether it executed it."""
        return replace(self, settling=Settling(self.settling.times + 1)).changed(now)

    def settled(self, now: datetime, executed: WhetherExecuted) -> QueuedRequest:
        """Return the ended write after the answer of the books."""
        return replace(self, settling=replace(self.settling, executed=executed)).changed(now)

    def divided(self, now: datetime) -> QueuedRequest:
        """Return the sent record after it left its message set: a read, or a write that QuickBooks did not execute.

        It is sent alone and in its turn, because a request that was sent before has no company. The session that sent
        the set may claim it again. A set without a response does not count for a read, which may not be its cause.
        """
        attempts = replace(self.attempts, sessions=self.attempts.sessions - 1) if self.is_read else self.attempts
        alone = replace(
            self, message_set=None, recovery=Recovery(), queue_priority=IN_TURN, claim=Claim(), attempts=attempts
        )
        return alone.moved(State.RETRYABLE, now)

    def requeued(self, now: datetime, *, page_size: int | None = None, counts: bool = True) -> QueuedRequest:
        """Return the record in flight after it was put back into the queue.

        `page_size` replaces the page size of an iterated query. If the attempt does not count, the number of sessions
        is reset to the value before the attempt. During recovery this is the number of status checks.
        """
        attempts, recovery = self.attempts, replace(self.recovery, active=self.recovery.begun)
        if not counts and recovery.active:
            recovery = replace(recovery, sessions=recovery.sessions - 1)
        elif not counts:
            attempts = replace(attempts, sessions=attempts.sessions - 1)
        after = replace(
            self,
            attempts=attempts,
            paging=self.paging if page_size is None else replace(self.paging, page_size=page_size),
            recovery=recovery,
        )
        never_sent = self.state is State.TICKETED and self.sent_at is None
        return after.moved(State.WAITING if never_sent else State.RETRYABLE, now)

    def after_failed_session(self) -> QueuedRequest:
        """Return the record as it is queued after QuickBooks failed for it.

        It goes behind the others if this happened in several sessions. A write that may have been executed keeps its
        place.
        """
        if self.state not in QUEUED or self.recovering:
            return self
        failed_sessions = self.attempts.failed_sessions + 1
        goes_behind = failed_sessions >= MAX_FAILED_SESSIONS_IN_TURN
        priority = BEHIND_OTHERS if goes_behind else self.queue_priority
        return replace(self, attempts=replace(self.attempts, failed_sessions=failed_sessions), queue_priority=priority)

    def queued_for_recovery(
        self, now: datetime, queue_priority: int = FIRST_IN_LINE, *, running_until: str | None
    ) -> QueuedRequest:
        """Return the sent write after it was queued for recovery in a later session.

        `running_until` is the time until which QuickBooks may be executing it, or None if QuickBooks has finished.
        """
        first_sent_at = self.recovery.first_sent_at or self.sent_at
        recovery = replace(
            self.recovery,
            begun=True,
            active=True,
            sessions=0,
            running_until=running_until,
            first_sent_at=first_sent_at,
        )
        return replace(self, recovery=recovery, queue_priority=queue_priority).moved(State.RETRYABLE, now)

    def not_sent_in_time(self, now: datetime) -> QueuedRequest:
        """Return the record after its `send_by` has passed. Only its sender knows if it is still wanted.

        If its response was lost, a Web Connector that hangs may still hand the first copy to QuickBooks. Sent again,
        the write has the same message set ID and is executed once. A new request has another one.
        """
        message = f"It was not sent to QuickBooks by {self.send_by_time}."
        if self.awaits_approval:
            message = f"It was not approved by {self.send_by_time}."
        hint = "Queue it again with a later time, or without one, if it is still wanted."
        if self.recovery.begun:
            message = f"It was sent once, QuickBooks had not executed it, and its time has passed: {self.send_by_time}."
            hint = f"Close QuickBooks and the Web Connector if one of them hangs, and look in the company file. {hint}"
        return self.failed(now, ErrorCode.NOT_SENT_IN_TIME, message, {"send_by": self.send_by_time, "hint": hint})

    def failed(self, now: datetime, code: ErrorCode, message: str, details: Mapping[str, Any]) -> QueuedRequest:
        """Return the record after it ended in an error: in flight, or while it waited for another request.

        Drops None values in `details` and shortens texts. `retryable` is true if the hint says to queue it again.
        """
        text = shortened(message, MAX_MESSAGE_CHARACTERS)
        facts = compact({"retryable": False, **details}, MAX_MESSAGE_CHARACTERS)
        return replace(self, error=RequestError(code, text, facts)).moved(State.ERROR, now)


def settling_id(write_id: str, number: int) -> str:
    """Return the id of the first query that settles a write, the `number`th time that QuickBooks is asked."""
    return new_batch_id(str(uuid5(_SETTLING, f"{write_id} {number}")))


def message_set_id(new_id: str) -> str:
    """Return the ID of a message set from the id of its only request, or from a new id."""
    return new_id.replace("-", "")[:20]


@dataclass(frozen=True, slots=True)
class Tombstone:
    """The marker of a deleted record. GET returns 410 to its owner instead of 404."""

    id: str
    connection_id: str
    app_id: str
    deleted_at: str


@dataclass(frozen=True, slots=True)
class StoredRequest:
    """A record with its bodies and the caller's metadata.

    `response_xml` is None if there is no response or it was not read. `modification_xml` is the Mod that was made last
    in place of the request, or None, and `field_changes` are the fields that it changes. `replaces` is the id of the
    request in whose place it was queued, or None. `queued_by` is None if the service queued it, or before
    this was stored.
    """

    record: QueuedRequest
    request_xml: str
    response_xml: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    references: tuple[Reference, ...] = ()
    modification_xml: str | None = None
    field_changes: tuple[FieldChange, ...] = ()
    replaces: str | None = None
    queued_by: Actor | None = None

    @property
    def written_xml(self) -> str | None:
        """The write that was sent last, or None if it is a Mod that is missing."""
        return self.modification_xml if self.record.modification_label else self.request_xml


@dataclass(frozen=True, slots=True)
class ListedRequest:
    """A record in a list. A body that does not fit into the list is None.

    `modification_xml` and `field_changes` are those of a record that waits for approval. `queued_by` is as in
    `StoredRequest`.
    """

    record: QueuedRequest
    request_xml: str | None
    response_xml: str | None = None
    references: tuple[Reference, ...] = ()
    modification_xml: str | None = None
    field_changes: tuple[FieldChange, ...] = ()
    queued_by: Actor | None = None

    @property
    def lacks_modification(self) -> bool:
        """Whether the record waits for the approval of a Mod that the list does not show."""
        waits_with_mod = self.record.awaits_approval and self.record.modification_label is not None
        return waits_with_mod and self.modification_xml is None
