"""`if_exists`: how far a request has come that asks QuickBooks for its object before it adds it.

A request asks (LOOK), and adds what it has not found (ADD). If QuickBooks then refuses the name because it is in use,
the request asks once more (LOOK_AGAIN), and in all lists that share the name (LOOK_ELSEWHERE). If QuickBooks cannot
tell whether it has executed the addition, the request asks for its object (LAST_LOOK) and never adds it again.
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


class LookupStep(StrEnum):
    """What a request sends next, or has sent last."""

    LOOK = "look"
    ADD = "add"
    LOOK_AGAIN = "again"
    LOOK_ELSEWHERE = "elsewhere"
    LAST_LOOK = "last"


class LookupOutcome(StrEnum):
    """How a request with `if_exists` ended with its object."""

    CREATED = "created"
    FOUND = "found"


class MessageKind(StrEnum):
    """What a message asked QuickBooks for."""

    QUERY = "query"
    ADD = "add"
    STATUS_CHECK = "status_check"


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A message that was handed to a Web Connector."""

    kind: MessageKind
    sent_at: str


@dataclass(frozen=True, slots=True)
class ObjectLookup:
    """The steps of a request with `if_exists`.

    `number` grows with each step, so that each query has a label of its own. `sessions` counts the sessions that have
    sent the query of this step. `messages` are those that were sent, the latest last.
    """

    if_exists: IfExists
    step: LookupStep = LookupStep.LOOK
    number: int = 0
    sessions: int = 0
    messages: tuple[SentMessage, ...] = ()

    @property
    def looks(self) -> bool:
        """Whether the step is a query."""
        return self.step is not LookupStep.ADD

    def at(self, step: LookupStep) -> ObjectLookup:
        """Return the lookup at its next step."""
        return replace(self, step=step, number=self.number + 1, sessions=0)

    def claimed(self, *, recovering: bool) -> ObjectLookup:
        """Return the lookup after a session has claimed the request.

        Meanwhile somebody may have changed the object, so a session begins with the query. What may have been executed
        is recovered first.
        """
        recovered = self.step if self.step is LookupStep.LAST_LOOK else LookupStep.ADD
        step = recovered if recovering else LookupStep.LOOK
        sessions = self.sessions if step is self.step or self.looks else 0
        return replace(self, step=step, number=self.number + 1, sessions=sessions)

    def sent(self, at: str, *, recovering: bool) -> ObjectLookup:
        """Return the lookup after its step was sent, or the status check of an addition."""
        kind = MessageKind.QUERY if self.looks else MessageKind.STATUS_CHECK if recovering else MessageKind.ADD
        messages = (*self.messages, SentMessage(kind, at))[-MAX_MESSAGES:]
        return replace(self, sessions=self.sessions + self.looks, messages=messages)
