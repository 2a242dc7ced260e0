"""`authenticate`: checks the password, opens a session if it is needed, and returns when to call again.

There is a session if requests are queued, if an onboarding check is due (`onboarding_check.py`), or if a run of
subscriptions is due (`runs.py`).

The reply is described in docs/reference/web-connector-protocol.md, Method authenticate.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from domain.connections import passwords
from domain.connections.calls import RECORDED_EVERY
from domain.connections.second_machine import after_failed_login, remembered
from domain.connections.turns import MAX_POSTPONEMENT_SECONDS
from domain.errors import Conflict, TooManyRequests
from domain.records.request import IN_FLIGHT, QueuedRequest, State
from domain.records.session import (
    LIVE_SHARDS,
    MAX_EXECUTION_SECONDS,
    NO_SESSION,
    CallingWebConnector,
    Limits,
    OnboardingCheck,
    RequestInFlight,
    Session,
    low_is_due,
    session_id,
)
from domain.records.subscription import RunMessage
from domain.storage.changes import CountBeginning, Put
from domain.storage.retry import commit_with_retry
from domain.timestamps import timestamp
from domain.web_connector.outcomes.lost_response import Ending
from domain.web_connector.protocol.methods import Reply
from domain.web_connector.session import onboarding_check, polling, reservations, runs, sets
from domain.web_connector.session.admission import COUNTED_FOR
from domain.web_connector.session.claims import Claims
from domain.web_connector.session.company_file_check import company_file
from domain.web_connector.session.decision import Claiming, Decision
from domain.web_connector.session.end import (
    freed,
    released,
    session_end,
)
from domain.web_connector.session.said_versions import SaidVersions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.ports import Clock, SecretSource
    from domain.records.connection import Connection
    from domain.storage.changes import Change, ChangeRequest
    from domain.storage.ports import LoginStore, SubscriptionReads
    from domain.web_connector.protocol.soap import Call
    from domain.web_connector.session.admission import Admission, Reading

TICKET_BYTES = 16
"""128 random bits, because the ticket is the only credential of all later calls."""

INVALID_USER = "nvu"
NOTHING_TO_DO = "none"
BUSY = "busy"
MIN_INTERVAL = str(polling.MIN_INTERVAL_SECONDS)
"""Values that accompany the ticket."""

FAILURE_INTERVAL = timedelta(minutes=1)
"""Minimum time between two recorded failures of one user, so that calls with a wrong password cause few writes."""

TURNED_AWAY = "sessions_full"
NOT_COUNTED = "sessions_not_counted"
"""Values of `problem` in the log line of a login."""

BUSY_SECONDS_OF_A_WRITE = 5 * 60
BUSY_SECONDS_OF_A_READ = 2 * 60
"""How long a session with a request in QuickBooks is not taken over, after the request was sent. A status check counts
as a read. Another machine may be working. If the Web Connector was ended instead, its user waits for this time. A write
is safe afterwards, because it is held (docs/decisions/0035). A read that takes longer is sent again."""

_CONNECTION_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Missing:
    """The connection names a session that is not stored: the table of the sessions was lost or restored."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The last session of the connection has ended, or there was none."""


@dataclass(frozen=True, slots=True)
class Live:
    """A session of the connection is live. `requests` are in flight."""

    session: Session
    requests: Sequence[RequestInFlight]


@dataclass(frozen=True, slots=True)
class Opening:
    """A login with the correct password, which can open a session.

    `former` is the live session of the connection, which then ends. `limits` and `shard` are those of the new session.
    `reading` has the live sessions of this shard, or is None if any number may run. A login that `is_exempt` needs a
    place in the share of its app only. `lost` are the changes of a run whose message was not answered in the former
    session. `web_connector` is the one that logs in.
    """

    connection: Connection
    former: Live | None
    ticket: str
    now: datetime
    limits: Limits
    dormant_seconds: int
    shard: int
    reading: Reading | None
    is_exempt: bool
    web_connector: CallingWebConnector
    lost: Sequence[Change] = ()

    @property
    def session_id(self) -> str:
        """The id of the new session."""
        return session_id(self.ticket)

    @property
    def is_held(self) -> bool:
        """Whether nothing may be sent to the connection now."""
        return polling.postponement_while_held(self._free, self.now) > 0

    def is_full(self, conflict: Conflict | None) -> bool:
        """Whether too many sessions are running. `conflict` is that of the former attempt to begin this one."""
        if self.reading is None or self.has_reservation or self._replaces_one:
            return False
        if self.is_exempt:
            return self.reading.share_is_full(self.connection.app_id)
        has_conflict = conflict is not None and isinstance(conflict.change, CountBeginning)
        return has_conflict or self.reading.is_full(self.connection.app_id)

    @property
    def has_reservation(self) -> bool:
        """Whether the time that the connection has reserved has come."""
        return reservations.is_due(self.connection, self.now)

    @property
    def _free(self) -> Connection:
        """The connection after the end of its former session."""
        former = self.former
        return freed(self.connection, former.session, self.now, former.requests) if former else self.connection

    @property
    def low_is_due(self) -> bool:
        """Whether the first message set of the session is taken from the low lane if a request waits there."""
        return low_is_due(self.limits, self._free.sends)

    @property
    def is_to_be_checked(self) -> bool:
        """Whether an onboarding check is due."""
        return onboarding_check.is_due(self._free, self.now)

    @property
    def _replaces_one(self) -> bool:
        """Whether the session takes the place of the former one, which is still counted."""
        return self.former is not None and self.former.session.last_call_at > timestamp(self.now - COUNTED_FOR)

    @property
    def is_run_due(self) -> bool:
        """Whether a run of subscriptions is due and may begin."""
        return runs.is_due(self.connection.run_due_at, self.now) and not self.is_held

    def turned_away(self, reserved_at: str, releases: Sequence[ChangeRequest]) -> Decision:
        """Return the decision to open no session because too many are running, although a request waits.

        `releases` end the work of the former session, which ends in any case.
        """
        connection, free, moment = self.connection, self._free, timestamp(self.now)
        seconds = polling.postponement_if_turned_away(connection, datetime.fromisoformat(reserved_at), self.now)
        after = replace(
            free,
            last_connected_at=moment,
            login_failed_at=None,
            failed_beside=remembered(free.failed_beside, self.now),
            stalled_at=None,
            session_id=None,
            postponed_seconds=seconds,
            turned_away=connection.turned_away + 1,
            reserved_at=reserved_at,
        ).changed(moment)
        reply = Reply((NO_SESSION, NOTHING_TO_DO, str(seconds), MIN_INTERVAL), connection.id, problem=TURNED_AWAY)
        return Decision(reply, [Put(connection, after), *self._end_of_former(), *releases])

    def _end_of_former(self) -> list[Change]:
        if self.former is None:
            return []
        return [session_end(self.former.session, self.now, "Another session of this user has begun."), *self.lost]

    def without_request(self, releases: Sequence[ChangeRequest]) -> Decision:
        """Return the decision while nothing may be sent. `releases` end the former session's work.

        The call is recorded, and a session is opened only for an onboarding check.
        """
        decision = self.decide(None, ())
        return replace(decision, changes=[*decision.changes, *releases])

    def decide(self, first: QueuedRequest | None, behind: Sequence[QueuedRequest]) -> Decision:
        """Return the decision to open a session with its first request, or for an onboarding check that is due.

        Without either, only record the call.
        """
        connection, free, moment = self.connection, self._free, timestamp(self.now)
        opens = first is not None or self.is_to_be_checked or self.is_run_due
        postponed_seconds = 0 if opens else polling.postponement(free, self.now, self.dormant_seconds)
        after = replace(
            free,
            last_connected_at=moment,
            last_worked_at=moment if first else free.last_worked_at,
            login_failed_at=None,
            failed_beside=remembered(free.failed_beside, self.now),
            stalled_at=None,
            session_id=self.session_id if opens else None,
            message_set_to_forget=None if opens else self._to_forget,
            postponed_seconds=postponed_seconds,
            turned_away=0,
            reserved_at=free.reserved_at if free.reserved_at and free.reserved_at > moment else None,
        ).changed(moment)
        changes: list[Change] = [] if self._is_recorded(after) else [Put(connection, after)]
        changes += self._end_of_former()
        if not opens:
            postponement = str(postponed_seconds or "")
            return Decision(Reply((NO_SESSION, NOTHING_TO_DO, postponement, MIN_INTERVAL), connection.id), changes)
        reading = self.reading
        is_counted = reading is not None and not (self.is_exempt or self.has_reservation)
        counted = reading.beginning(connection.app_id, self.now) if reading and is_counted else []
        problem = NOT_COUNTED if is_counted and not counted else None
        result = self.ticket, company_file(connection), "", MIN_INTERVAL
        reply = Reply(result, connection.id, first.id if first else None, problem)
        return Decision(reply, [*changes, Put(None, self._session(first, behind, after)), *counted])

    @property
    def _to_forget(self) -> str | None:
        """The message set whose response is stored. The session, or a later one, tells QuickBooks to forget it."""
        return self._free.message_set_to_forget or self.connection.message_set_to_forget

    def _session(self, first: QueuedRequest | None, behind: Sequence[QueuedRequest], connection: Connection) -> Session:
        """Return the session with its first request, or without one for an onboarding check."""
        session = Session(
            id=self.session_id,
            connection_id=connection.id,
            last_call_at=timestamp(self.now),
            onboarding_check=OnboardingCheck.DUE if self.is_to_be_checked and not first else None,
            run=RunMessage() if self.is_run_due and not (first or self.is_to_be_checked) else None,
            connection=replace(connection, password_hash=None),
            message_set_to_forget=self._to_forget,
            backoff=self._free.backoff,
            limits=self.limits,
            read_set_size=self._free.read_set_size,
            shard=self.shard,
            app_id=connection.app_id,
            began_at=timestamp(self.now),
            web_connector=self.web_connector,
            sends=self._free.sends,
        )
        return replace(session, in_flight=sets.claimed(session, first, behind)) if first else session

    def _is_recorded(self, after: Connection) -> bool:
        """Whether the last change of the connection was a call not long ago, and this call changes nothing else."""
        before = self.connection
        recorded = before.last_connected_at
        if recorded is None or recorded != before.updated_at or recorded <= timestamp(self.now - RECORDED_EVERY):
            return False
        return before == replace(after, last_connected_at=recorded, updated_at=recorded, revision=before.revision)


class Login:
    """Opens sessions.

    `execution_seconds` is how long QuickBooks may execute one request, at most MAX_EXECUTION_SECONDS.
    `dormant_seconds` is the longest time between two calls after a day without work, at most MAX_POSTPONEMENT_SECONDS.
    `admission` decides how many sessions run at once; None means any number.
    """

    def __init__(
        self,
        store: LoginStore,
        copies: SubscriptionReads,
        clock: Clock,
        secrets: SecretSource,
        execution_seconds: int = MAX_EXECUTION_SECONDS,
        *,
        dormant_seconds: int = MAX_POSTPONEMENT_SECONDS,
        admission: Admission | None = None,
    ) -> None:
        self._store = store
        self._copies = copies
        self._clock = clock
        self._secrets = secrets
        self._passwords = passwords.Checks(secrets)
        self._execution_seconds = execution_seconds
        self._dormant_seconds = dormant_seconds
        self._admission = admission
        self._versions = SaidVersions()

    def client_version(self, call: Call) -> Reply:
        """Accept every version, and remember it for the login that follows. Makes no call to the store.

        A newer version is never needed, and a warning would stop unattended runs.
        """
        self._versions.note(call.address, call["strVersion"], self._clock())
        return Reply("")

    def authenticate(self, call: Call) -> Reply:
        """Open a session if the password is correct, there is work, and not too many sessions are running.

        Without work, open one for an onboarding check if it is due.

        Makes three calls to the store, one after the other, and counts the live sessions beside them once a second.
        The first login that is turned away takes one or two more, for its reservation.
        Without work it makes two, and a third that records the time of the call if the last one is not recent.
        Nothing is sent while the connection is paused or outside its sync window. The connection's former session
        ends, unless QuickBooks is probably working on its request: then the reply is `busy`. The check of an unknown
        user takes as long as that of a wrong password. A recorded failure takes one more call. Its duration can confirm
        a user name, but a user name has 122 random bits.
        """
        username, password = call["strUserName"], call["strPassword"]
        if not _CONNECTION_ID.fullmatch(username):
            return Reply((NO_SESSION, INVALID_USER))
        try:
            return commit_with_retry(lambda conflict: self._log_in(username, password, call.address, conflict), "")
        except TooManyRequests:
            return Reply((NO_SESSION, BUSY), username)

    def _log_in(self, username: str, password: str, address: str | None, conflict: Conflict | None) -> Reply:
        reading = self._admission.for_login() if self._admission else None
        stored = self._store.connection(username)
        connection = stored if stored and not stored.deleted_at else None
        matches = self._passwords.matches(password, connection.password_hash if connection else None)
        if connection is None:
            return Reply((NO_SESSION, INVALID_USER))
        if not matches:
            self._record_failure(connection, address)
            return Reply((NO_SESSION, INVALID_USER), connection.id)
        caller = CallingWebConnector(address, self._versions.said_at(address, self._clock()))
        return self._open(connection, caller, reading, conflict)

    def _open(
        self, connection: Connection, caller: CallingWebConnector, reading: Reading | None, conflict: Conflict | None
    ) -> Reply:
        """Return the reply of a login with the correct password, after the end of the former session."""
        now, live, releases, lost = self._clock(), None, [], []
        limits = limits_of(connection, now, self._execution_seconds)
        former = self._former(connection)
        match former:
            case Live(session, requests):
                if any(is_working(session, request.record, now, self._execution_seconds) for request in requests):
                    return Reply((NO_SESSION, BUSY), connection.id)
                if runs.is_asking(session, now):
                    return Reply((NO_SESSION, BUSY), connection.id)
                live, releases = former, released(requests, now, Ending.TAKEN_OVER, session.limits)
                lost = runs.after_loss(self._copies, session, connection, now)
            case Missing():
                releases = releases_without_session(self._store, connection, now, limits)
            case Ended():
                pass
        # A new ticket for each attempt: if we conflicted with our own earlier commit, that session is superseded.
        ticket = self._secrets(TICKET_BYTES).hex()
        opening = Opening(
            connection,
            live,
            ticket,
            now,
            limits,
            self._dormant_seconds,
            shard=reading.shard if reading else int(session_id(ticket), 16) % LIVE_SHARDS,
            reading=reading,
            is_exempt=not isinstance(former, Ended) or is_being_set_up(connection, now),
            lost=lost,
            web_connector=caller,
        )
        return self._opened(opening, releases, conflict)

    def _former(self, connection: Connection) -> Missing | Ended | Live:
        if not connection.session_id:
            return Ended()
        session = self._store.session(connection.session_id)
        if session is None:
            return Missing()
        if session.ended:
            return Ended()
        return Live(session, self._store.requests_in_flight(session)[0] if session.in_flight else ())

    def _opened(self, opening: Opening, releases: Sequence[ChangeRequest], conflict: Conflict | None) -> Reply:
        """Return the reply of a login that is not refused. `releases` end the work of the former session."""
        connection, reading = opening.connection, opening.reading
        claims = Claims(self._store, connection.id, opening.session_id, opening.now)
        sends = not opening.is_held
        if reading and (sends or opening.is_to_be_checked) and opening.is_full(conflict):
            has_request = opening.is_run_due or (sends and claims.front(releases))
            if has_request or opening.is_to_be_checked:
                reserved_at = reservations.reserved(self._store, reading, connection, opening.now)
                return claims.commit(opening.turned_away(reserved_at, releases))
        if not sends:
            return claims.commit(opening.without_request(releases))
        claiming = Claiming(
            opening.decide,
            releases,
            low_first=opening.low_is_due,
            normal_only=opening.is_run_due and not opening.low_is_due,
        )
        reply = claims.commit(claiming)
        if reading and (reply.request_id or opening.is_run_due):
            reading.begun[connection.app_id] += 1
        return reply

    def _record_failure(self, connection: Connection, address: str | None) -> None:
        """Record when the login failed, so that the owner of the connection can see it."""
        now = self._clock()
        last = connection.login_failed_at
        if last and last > timestamp(now - FAILURE_INTERVAL):
            return
        # After a conflict, the next failure is recorded instead.
        with suppress(Conflict):
            self._store.commit(Put(connection, after_failed_login(connection, now, address).changed(timestamp(now))))


def limits_of(connection: Connection, now: datetime, execution_seconds: int) -> Limits:
    """Return the limits of a new session."""
    return Limits(
        work_until=polling.work_until(connection, now),
        linger_seconds=connection.linger_seconds,
        batch_size=connection.batch_size,
        read_batch_size=connection.read_batch_size,
        execution_seconds=None if execution_seconds == MAX_EXECUTION_SECONDS else execution_seconds,
        has_low_lane=connection.has_low_lane,
        run_due_at=connection.run_due_at,
    )


def is_being_set_up(connection: Connection, now: datetime) -> bool:
    """Whether a customer is probably waiting for the first call of the Web Connector."""
    link = connection.onboarding
    return connection.last_connected_at is None or (link is not None and link.expires_at > timestamp(now))


def is_working(former: Session, record: QueuedRequest, now: datetime, execution_seconds: int) -> bool:
    """Whether QuickBooks is probably working on a request of the live former session, which must not be taken over."""
    if former.is_revoked or record.state is not State.SENT:
        return False
    seconds = BUSY_SECONDS_OF_A_READ if record.asks else BUSY_SECONDS_OF_A_WRITE
    return record.updated_at > timestamp(now - timedelta(seconds=min(seconds, execution_seconds)))


def releases_without_session(
    store: LoginStore, connection: Connection, now: datetime, limits: Limits
) -> list[ChangeRequest]:
    """Return the releases of the requests that are in flight in the missing session of the connection.

    A session is missing if the table of the sessions was lost or restored. Its requests are found by an index. A write
    that was sent is recovered, because a missing session does not show whether QuickBooks has executed it. `limits` are
    those of a new session, because the ones of the missing session are unknown.
    """
    records = map(store.request, store.in_flight_ids(connection.id))
    requests = [
        RequestInFlight(record)
        for record in records
        # The index lags, so the request may have ended.
        if isinstance(record, QueuedRequest)
        and record.state in IN_FLIGHT
        and record.claim.session_id == connection.session_id
    ]
    return released(requests, now, Ending.OTHER, limits)
