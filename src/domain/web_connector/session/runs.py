"""Runs of subscriptions inside a session: reads that are sent while no request of the normal lane waits.

A run is not a queued request: no record, no count and no place in the queue belongs to it. While its message is in
QuickBooks, the session has no request in flight, so no write can be mistaken for it. Its messages have no message set
ID, so QuickBooks keeps what it stored for writes, and they consist of queries (`domain.subscriptions.messages`).

What is to be read follows from what is stored (`domain.subscriptions.run`), so a run goes on in the next session,
wherever this one ended.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from domain import qbxml
from domain.qbxml.response.reader import UnreadableResponse
from domain.records.session import LastResponse
from domain.records.subscription import ObjectCopy, RunMessage
from domain.storage.changes import Put
from domain.subscriptions.asking import remembered_names
from domain.subscriptions.progress import copied_at, wanted
from domain.subscriptions.run import RunState, Unanswered
from domain.timestamps import timestamp
from domain.web_connector.outcomes.error_reasons import connection_error, error_message
from domain.web_connector.outcomes.processor_exception import is_exception, is_parse_error
from domain.web_connector.protocol.methods import Reply
from domain.web_connector.session import lingering
from domain.web_connector.session.decision import Decision
from domain.web_connector.session.end import end_in_wrong_file, freed, session_end
from domain.web_connector.session.polling import reason_to_hold
from domain.web_connector.session.sending import MAX_PAGE_DELAY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.records.connection import Connection
    from domain.records.session import Session
    from domain.records.subscription import CopyState
    from domain.storage.changes import Change
    from domain.storage.ports import SubscriptionReads
    from domain.web_connector.protocol.soap import Call
    from domain.web_connector.session.company_file_check import CompanyFileCheck

PROGRESS = 99
FINISHED = 100
SESSION_OVER = -1

MAX_SECONDS = 10 * 60
"""How long a run may keep one session. The next one goes on, so that the company file is not open all day."""

MAX_RECEIVED_BYTES = 100_000_000
"""After so many bytes of answers, the session ends as well."""

MAX_TRIES = 3
"""How often a session sends one message of a run whose answer does not arrive."""

AGAIN_AFTER_FAILURE = timedelta(minutes=5)
"""How long after a failed run the next one begins."""

BUSY_SECONDS = 2 * 60
"""How long a session whose message is in QuickBooks is not taken over, as with any read."""

NOT_ANSWERED = (
    "QuickBooks did not answer. The service asks again, for less at a time. If this goes on, look for a dialog box in "
    "QuickBooks, and read the log of the Web Connector."
)
"""The reason of a run that failed because the answer to its message did not arrive."""

TOO_LARGE = (
    "The answer to a query for {} is too large, although it asks for as little as possible. Remove this object, or "
    "what the subscription includes of it."
)
"""The reason of a run that failed because no smaller answer can be asked for."""

GOES_ON = "This session has read as much for subscriptions as one may. The next update reads the rest."
"""The reason of a session that ended in the middle of a run because of MAX_SECONDS or MAX_RECEIVED_BYTES."""

RUN_FAILED = "run_failed"
"""The value of `problem` in the log line of a run that failed."""


def is_due(run_due_at: str | None, now: datetime) -> bool:
    """Whether a run is due."""
    return run_due_at is not None and run_due_at <= timestamp(now)


def begun(session: Session, now: datetime) -> Session:
    """Return the session, which begins a run if one is due."""
    if session.run is not None or not is_due(session.limits.run_due_at, now):
        return session
    return replace(session, run=RunMessage())


def is_asking(session: Session, now: datetime) -> bool:
    """Whether QuickBooks is probably working on a message of a run, so that the session must not be taken over."""
    run = session.run
    if run is None or not run.is_sent or session.is_revoked or session.in_flight is not None:
        return False
    return session.last_call_at > timestamp(now - timedelta(seconds=BUSY_SECONDS))


def compared(run: RunMessage) -> Sequence[str]:
    """Return the objects of a message with whose answer is compared what the feed has said of them."""
    return remembered_names(run)


@dataclass(frozen=True, slots=True)
class Turn:
    """What a call of a session needs for a run: the session, its connection, and what is stored about the copy."""

    session: Session
    connection: Connection
    stored: CopyState
    now: datetime

    def state(self, check: CompanyFileCheck | None = None) -> RunState:
        """Return the state to decide on, with what the company file check of this call has learned."""
        connection = check.learned() if check else self.connection
        return RunState(
            self.stored,
            connection.id,
            connection.app_id,
            version=qbxml.default_version(connection.qbxml_version),
            now=self.now,
            file_id=connection.file_id_seen,
        )

    # --- sendRequestXML

    @property
    def is_new_page(self) -> bool:
        """Whether the next message asks for a page behind another message. Such a page counts as a new request."""
        run = self.session.run
        if run is None or run.is_sent or run.asked_at is None:
            return False
        message = self.state().next_message(run)
        return message is not None and not message.is_sweep

    def sent(self, check: CompanyFileCheck | None, *, page_is_allowed: bool = True) -> Decision:
        """Return the decision to send the next message, or to end the session if there is nothing to read.

        `check` is the company file check of this call, or None if an earlier call made it. `page_is_allowed` is
        whether the quotas of the app allow a new page.
        """
        session, run = self.session, self.session.run or RunMessage()
        if check and check.is_other_company_file:
            changes = end_in_wrong_file(session, (), check, self.now)
            return Decision(Reply("", session.connection_id, problem=check.problem), changes)
        if not run.is_sent and (reason := reason_to_hold(session, self.now)):
            held = replace(session.without_run(), last_error=reason).called(self.now)
            return Decision(Reply("", session.connection_id), [Put(session, held)])
        if not page_is_allowed and (run.asked_at or "") > timestamp(self.now - MAX_PAGE_DELAY):
            return Decision(Reply(lingering.NO_OP, session.connection_id))
        state = self.state(check)
        if run.is_sent and run.tries >= MAX_TRIES:
            state.lost(run)
            return self._failed(state, NOT_ANSWERED, "")
        # QuickBooks may have sent the page of an iterator already. If it is asked again, it sends the one after it.
        # What was asked for an object that has changed since counts no more.
        again = run.is_sent and run.iterator_id is None and state.is_current(run)
        message = run if again else state.next_message(replace(run, iterator_id=None) if run.is_sent else run)
        if message is None:
            return self._over(state, Reply("", session.connection_id))
        asked = replace(message if again else state.sent(message), tries=run.tries + 1 if run.is_sent else 1)
        text = self.state(check).text(asked)
        after = self._checked(check).after_run_message()
        changes = check.changes(session, self.now) if check else []
        return Decision(
            Reply(text, session.connection_id), [Put(session, replace(after, run=asked).called(self.now)), *changes]
        )

    def _checked(self, check: CompanyFileCheck | None) -> Session:
        """Return the session after the company file check."""
        session = self.session
        if check is None:
            return session
        to_forget = None if check.has_other_mark else session.message_set_to_forget
        company_file = check.opened(session)
        # The reason why the open file was tried is over, because that file is the right one.
        checked = replace(session, connection=None, company_file=company_file, last_error=None)
        return replace(checked, message_set_to_forget=to_forget)

    # --- receiveResponseXML

    def received(self, call: Call) -> Decision:
        """Return the decision after an answer. A duplicate call gets the same reply, and changes nothing."""
        session, run, state = self.session, self.session.run, self.state()
        if run is None or not run.is_sent:
            return Decision(Reply(PROGRESS, session.connection_id))
        if call.is_beginning:
            return self._after_oversized(state, run)
        if is_exception(call["hresult"]):
            return self._after_exception(state, run, call)
        names = qbxml.named_responses(call["response"])
        if names and not any((name.request_label or "").startswith(f"{run.number}.") for name in names):
            return Decision(Reply(PROGRESS, session.connection_id))  # the response to an earlier message
        try:
            after = state.answered(run, call["response"])
        except (Unanswered, UnreadableResponse) as problem:
            return self._failed(self.state(), str(problem), SESSION_OVER)
        received_bytes = run.received_bytes + len(call["response"].encode(errors="surrogatepass"))
        after = replace(after, received_bytes=received_bytes)
        return self._failed(state, state.unanswered, SESSION_OVER) if state.unanswered else self._goes_on(state, after)

    def _after_oversized(self, state: RunState, run: RunMessage) -> Decision:
        """Return the decision after an answer of which only the beginning arrived: to ask for less."""
        if state.lost(run):
            return self._goes_on(state, replace(run, is_sent=False, iterator_id=None))
        return self._failed(state, TOO_LARGE.format(run.names[0]), SESSION_OVER)

    def _after_exception(self, state: RunState, run: RunMessage, call: Call) -> Decision:
        """Return the decision after an HRESULT. If QuickBooks cannot parse a message, one query is the cause.

        The session ends, so a copy of this call cannot be taken for the answer to a write. A parse error that may be
        such a copy itself says nothing about the message.
        """
        problem = error_message(connection_error(call["hresult"], call["message"], self.now))
        if not is_parse_error(call["hresult"]) or self.session.exception_reported:
            return self._failed(state, problem, SESSION_OVER)
        if len(run.names) > 1:
            state.lost(run)
        else:
            state.not_parsed(run, problem)
        return self._end(state, Reply(FINISHED, self.session.connection_id), timestamp(self.now), problem)

    def _goes_on(self, state: RunState, run: RunMessage) -> Decision:
        """Return the decision to continue with the next message, or to end the run or the session."""
        session = self.session
        if state.next_message(run) is None:
            return self._over(state, Reply(FINISHED, session.connection_id))
        seconds = self.now - datetime.fromisoformat(run.began_at or timestamp(self.now))
        is_long = seconds > timedelta(seconds=MAX_SECONDS) or run.received_bytes > MAX_RECEIVED_BYTES
        reason = reason_to_hold(session, self.now) or (GOES_ON if is_long and run.iterator_id is None else None)
        if reason:
            return self._end(state, Reply(FINISHED, session.connection_id), timestamp(self.now), reason)
        after = replace(session, run=run).called(self.now)
        return Decision(Reply(PROGRESS, session.connection_id), [Put(session, after), *state.changes()])

    # --- The end of a run

    def _over(self, state: RunState, reply: Reply) -> Decision:
        """Return the decision to end the run and its session, which does not linger: runs would keep it open."""
        state.ended()
        return self._end(state, reply, state.next_due_at)

    def _known(self, connection: Connection, state: RunState, due_at: str | None) -> Connection:
        """Return a connection with the time of its next run and of its copy."""
        names = wanted(self.stored.subscriptions)
        return replace(connection, run_due_at=due_at, copied_at=copied_at(names, state.copy, state.objects))

    def _end(self, state: RunState, reply: Reply, due_at: str | None, reason: str | None = None) -> Decision:
        """Return the decision to end the session, and to make the next run at a time.

        `reason` tells why something is left to read, or is None if nothing is.
        """
        session, connection = self.session, self.connection
        result = reply.result if isinstance(reply.result, int) else FINISHED
        last = replace(session.last_response or LastResponse(number=0), progress=result)
        ended = session_end(replace(session, last_response=last, last_error=None), self.now, reason)
        changes: list[Change] = [replace(ended, before=session), *state.changes()]
        free = freed(connection, session, self.now) if connection.session_id == session.id else connection
        changes.append(Put(connection, self._known(free, state, due_at).changed(timestamp(self.now))))
        return Decision(reply, changes)

    def _failed(self, state: RunState, problem: str, result: str | int) -> Decision:
        """Return the decision to end the session because the run failed. The next one begins a while later."""
        state.failed(problem)
        due_at = timestamp(self.now + AGAIN_AFTER_FAILURE)
        return self._end(state, Reply(result, self.session.connection_id, problem=RUN_FAILED), due_at, problem)


def after_loss(
    store: SubscriptionReads,
    session: Session,
    connection: Connection | None,
    now: datetime,
    unreachable: str | None = None,
) -> list[Change]:
    """Return what the end of a session changes in the copy if a run failed with it: the next one asks for less.

    A run fails if the Web Connector has not returned the answer to its message, or if QuickBooks could not be reached;
    `unreachable` is the reason then. Nothing is read unless a run failed.
    """
    run = session.run
    if run is None or connection is None or not (run.is_sent or unreachable):
        return []
    stored = store.copy_state(session.connection_id)
    state = Turn(session, connection, stored, now).state()
    if run.is_sent:
        state.lost(run)
    state.failed(unreachable or NOT_ANSWERED)
    return [one for one in state.changes() if not isinstance(one.after, ObjectCopy) or one.after.name in run.names]


def without_connection(session: Session, now: datetime) -> Decision:
    """Return the decision to end the run of a connection that was deleted. The sweep ends the session."""
    after = replace(session.without_run(), last_error="The connection was deleted.").called(now)
    return Decision(Reply("", session.connection_id), [Put(session, after)])
