"""`if_exists`: how far a request has come that asks QuickBooks for its object before it adds it.

A request asks (LOOK), and adds what it has not found (ADD). If QuickBooks then refuses the name because it is in use,
the request asks once more (LOOK_AGAIN), and in all lists that share the name (LOOK_ELSEWHERE). With UPDATE, it changes
what it has found and what differs (MOD). If QuickBooks cannot tell whether it has executed the write, the request asks
for its object (LAST_LOOK) and never adds it again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

MAX_MESSAGES = 20
"""Maximum number of messages that a record lists. It lists the latest ones."""


class IfExists(StrEnum):
    """What an addition does if its object exists."""

    FAIL = "fail"
    RETURN = "return"
    UPDATE = "update"


class LookupStep(StrEnum):
    """What a request sends next, or has sent last."""

    LOOK = "look"
    ADD = "add"
    MOD = "mod"
    LOOK_AGAIN = "again"
    LOOK_ELSEWHERE = "elsewhere"
    LAST_LOOK = "last"


class LookupOutcome(StrEnum):
    """How a request with `if_exists` ended with its object."""

    CREATED = "created"
    FOUND = "found"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


class MessageKind(StrEnum):
    """What a message asked QuickBooks for."""

    QUERY = "query"
    ADD = "add"
    MOD = "mod"
    STATUS_CHECK = "status_check"


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A message that was handed to a Web Connector."""

    kind: MessageKind
    sent_at: str


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field that a Mod changes, by its path, such as `BillAddress/City`. `old` is None if QuickBooks has no value."""

    field: str
    old: str | None
    new: str


@dataclass(frozen=True, slots=True)
class ObjectLookup:
    """The steps of a request with `if_exists`.

    `number` grows with each step, so that each query has a label of its own. `sessions` counts the sessions that have
    sent the query of this step. `messages` are those that were sent, the latest last. `modification_id` is the ID of
    the message set of the Mod that is sent next or was sent last, or None if that write is the addition. It follows
    from the text of the Mod, so another text has another ID. An approval is for the write that it names. `was_sent`
    tells that this write was handed to a Web Connector.
    """

    if_exists: IfExists
    step: LookupStep = LookupStep.LOOK
    number: int = 0
    sessions: int = 0
    messages: tuple[SentMessage, ...] = ()
    modification_id: str | None = None
    was_sent: bool = False

    @property
    def looks(self) -> bool:
        """Whether the step is a query."""
        return self.step not in {LookupStep.ADD, LookupStep.MOD}

    @property
    def outcome(self) -> LookupOutcome:
        """How the request ends if this step shows the object."""
        if not self.looks:
            return LookupOutcome.CREATED if self.step is LookupStep.ADD else LookupOutcome.UPDATED
        if self.if_exists is IfExists.RETURN:
            return LookupOutcome.FOUND
        was_lost = self.step is LookupStep.LAST_LOOK and self.modification_id
        return LookupOutcome.UPDATED if was_lost else LookupOutcome.UNCHANGED

    def at(self, step: LookupStep) -> ObjectLookup:
        """Return the lookup at its next step, which is not a Mod."""
        return self._at(step, None if step is LookupStep.ADD else self.modification_id)

    def modifying(self, modification_id: str) -> ObjectLookup:
        """Return the lookup before it sends the Mod with this ID."""
        return self._at(LookupStep.MOD, modification_id)

    def _at(self, step: LookupStep, modification_id: str | None) -> ObjectLookup:
        was_sent = self.was_sent and modification_id == self.modification_id
        after = replace(self, step=step, number=self.number + 1, sessions=0)
        return replace(after, modification_id=modification_id, was_sent=was_sent)

    def claimed(self, *, recovering: bool) -> ObjectLookup:
        """Return the lookup after a session has claimed the request.

        Meanwhile somebody may have changed the object, so a session begins with the query. What may have been executed
        is recovered first.
        """
        written = LookupStep.MOD if self.modification_id else LookupStep.ADD
        recovered = self.step if self.step is LookupStep.LAST_LOOK else written
        step = recovered if recovering else LookupStep.LOOK
        sessions = self.sessions if step is self.step or self.looks else 0
        return replace(self, step=step, number=self.number + 1, sessions=sessions)

    def sent(self, at: str, *, recovering: bool) -> ObjectLookup:
        """Return the lookup after its step was sent, or the status check of a write."""
        written = MessageKind.MOD if self.step is LookupStep.MOD else MessageKind.ADD
        kind = MessageKind.QUERY if self.looks else MessageKind.STATUS_CHECK if recovering else written
        messages = (*self.messages, SentMessage(kind, at))[-MAX_MESSAGES:]
        was_sent = self.was_sent or kind in {MessageKind.ADD, MessageKind.MOD}
        return replace(self, sessions=self.sessions + self.looks, messages=messages, was_sent=was_sent)
