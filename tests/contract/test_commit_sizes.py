"""No use case makes a commit that DynamoDB refuses, however many days its requests were queued and changed on.

Each function of the domain that commits is in `BOUNDED` or in `FIXED`. Random histories drive the first ones over a
store in memory, which refuses what could be too large, and the worst cases over tables, where entries are counted.
"""

from __future__ import annotations

import random
import string
from dataclasses import replace
from datetime import timedelta
from itertools import cycle
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.dynamodb import DynamoDBStore
from adapters.dynamodb.sessions import session_key
from domain.listing.filters import RequestFilter
from domain.maintenance.connection_removal import remove_connection
from domain.maintenance.late_requests import end_late_requests
from domain.maintenance.retention import forget_record
from domain.maintenance.sweep import sweep
from domain.people.members import Members
from domain.people.provider import IdentityClaims
from domain.people.sign_ins import MAX_REDEEMED, SignIns
from domain.qbxml.request.limits import MAX_BATCH_BYTES
from domain.queueing.many import ManyRequests, Tally
from domain.queueing.new_request import Idempotency, QueueBatch
from domain.queueing.queue_again import QueueAgain
from domain.queueing.service import RequestService
from domain.records.batch import MAX_DEPENDANTS, MAX_REQUESTS
from domain.records.connection import MAX_BATCH_SIZE
from domain.records.lookup import IfExists, ObjectLookup
from domain.records.permissions import Role
from domain.records.request import FIRST_IN_LINE, Attempts, Claim, ErrorCode, QueuedRequest, Recovery, State, Tombstone
from domain.records.session import SILENCE_SECONDS, Session, session_id
from domain.records.subscription import MAX_OBJECTS, CopyPhase, ObjectCopy
from domain.records.webhook import Webhook, WebhookState
from domain.send_by import SendBy
from domain.storage.changes import AddRequest, ChangeRequest, Put
from domain.storage.commit_size import MAX_ENTRIES, CommitTooLarge, check_size, max_entries
from domain.subscriptions.objects import books_objects
from domain.subscriptions.service import SubscriptionService
from domain.timestamps import TimeRange, timestamp
from domain.web_connector.endpoint import WebConnector
from domain.web_connector.session.login import BUSY_SECONDS_OF_A_WRITE
from tests.support.builders import AN_ACTOR, APP_ID, CONNECTION_ID, NOON, FixedClock, a_connection, a_record
from tests.support.commit_sizes import MeasuredStore, commit_sites
from tests.support.fake_store import FakeStore
from tests.support.queueing import new_request, queueing_without_quotas
from tests.support.web_connector.connector import PASSWORD, PASSWORD_HASH, CountingSecrets, result_of, soap_call
from tests.support.web_connector.interruptions import RandomIds
from tests.support.web_connector.quickbooks import hcp, labels_in, nothing_stored, response_to, set_response

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from domain.queueing.new_request import NewRequest
    from tests.contract.stores import AnyStore

SESSIONS = "domain.web_connector.session"
LOGINS = f"{SESSIONS}.claims.Claims._commit_and_claim"
CLOSE = f"{SESSIONS}.service.SessionService.close_connection.<locals>.step"
SWEEP = "domain.maintenance.sweep._release"
LATE_END = "domain.maintenance.late_requests._end_one"
REMOVAL = "domain.maintenance.connection_removal.remove_connection.<locals>.attempt"
BULK = "domain.queueing.many.ManyRequests._commit"
CREATE = "domain.queueing.new_request.Queueing._commit.<locals>.attempt"
DELETE = "domain.queueing.service.RequestService.delete.<locals>.attempt"
DISCARD = "domain.queueing.service.RequestService.change.<locals>.attempt"
SIGN_IN = "domain.people.sign_ins.SignIns.sign_in.<locals>.attempt"
FORGET = "domain.maintenance.retention.forget_record"
UNSUBSCRIBE = "domain.subscriptions.service.SubscriptionService.delete.<locals>.attempt"

BOUNDED = {
    LOGINS,
    f"{SESSIONS}.claims.Claims._commit",
    CLOSE,
    SWEEP,
    LATE_END,
    REMOVAL,
    BULK,
    CREATE,
    DELETE,
    DISCARD,
    FORGET,
    SIGN_IN,
    UNSUBSCRIBE,
}
"""The functions whose commits have a variable number of entries. The tests here find the largest ones."""

FIXED = {
    "domain.apps.administration.Administration._change.<locals>.attempt",
    "domain.apps.administration.Administration._change_key.<locals>.attempt",
    "domain.apps.administration.Administration.create_app",
    "domain.apps.administration.Administration.create_key.<locals>.attempt",
    "domain.apps.administration.Administration.delete_app",
    "domain.connections.service.ConnectionService._change.<locals>.attempt",
    "domain.connections.service.ConnectionService.create",
    "domain.events.log.append_events",
    "domain.maintenance.overdue_webhooks.plan_attempt",
    "domain.maintenance.stopped_connections.StoppedConnections.look_at",
    "domain.people.members.Members._remove_entity.<locals>.attempt",
    "domain.people.members.Members.change_role.<locals>.attempt",
    "domain.people.members.Members.invite.<locals>.attempt",
    "domain.people.members.Members.remove.<locals>.attempt",
    "domain.people.members.Members.withdraw.<locals>.attempt",
    "domain.people.sign_ins.SignIns._note_use",
    "domain.people.sign_ins.SignIns._remove.<locals>.attempt",
    "domain.queueing.audited_call.AuditedCall.begin",
    "domain.queueing.audited_call.AuditedCall.complete",
    "domain.queueing.low_lane.begin_low_lane.<locals>.attempt",
    "domain.queueing.queue_again.QueueAgain._add",
    "domain.settling.service.SettlingService._ask",
    "domain.settling.service.SettlingService._store_answer",
    "domain.settling.service.SettlingService.proceed.<locals>.attempt",
    f"{SESSIONS}.login.Login._record_failure",
    "domain.subscriptions.service.SubscriptionService._commit.<locals>.attempt",
    "domain.subscriptions.service.SubscriptionService.delete",
    "domain.webhooks.delivery.Deliverer._record",
    "domain.webhooks.unrecorded_events.EventDeliverer._note",
}
"""The functions that commit one change of an entity or of a request, at most with its connection, its session, an
audit entry and the three queries that settle it."""

RPC_FAILED, BUSY, PARSE_ERROR = "0x800706BE", "0x80040424", "0x80040400"
READ = "<MaxReturned>1</MaxReturned>"
LATE = timedelta(days=400)

Days = tuple[int, int]
"""How many days ago a request was queued, and how many of these later it was changed last."""


def test_each_function_that_commits_is_listed_here() -> None:
    """One that commits a variable number of changes needs a bound, and a worst case in this file."""
    assert commit_sites() == BOUNDED | FIXED


# --- A connection over any store, with requests that are spread over months


class Bench:
    """The use cases of one connection. The store counts the entries of their commits."""

    def __init__(self, store: AnyStore) -> None:
        self.store = MeasuredStore(store)
        self.clock = FixedClock(NOON + LATE)
        self.ids = RandomIds()
        self.endpoint = WebConnector(self.store, self.clock, self.ids, CountingSecrets())
        self.requests = RequestService(self.store, self.clock)
        self.many = ManyRequests(self.store, self.clock, lambda: None)
        self.ticket, self.added = "", 0
        moment = timestamp(self.clock())
        settings = {"batch_size": MAX_BATCH_SIZE, "last_connected_at": moment, "password_hash": PASSWORD_HASH}
        self.store.commit(Put(None, a_connection(**settings)))

    def largest(self, *sites: str) -> int:
        """Return the entries of the largest commit: those that DynamoDB got, or could get."""
        numbers = self.store.sent if isinstance(self.store.store, DynamoDBStore) else self.store.estimated
        return max(numbers[site] for site in sites or numbers)

    def add(self, days: Days, *, read: bool = True, **fields: Any) -> QueuedRequest:
        """Add a request that was queued and changed on such days."""
        ago, later = days
        self.added += 1
        inserted = self.clock() - timedelta(days=ago, seconds=-self.added / 1000)
        name = "CustomerQueryRq" if read else "CustomerAddRq"
        times = {
            "inserted_at": timestamp(inserted),
            "updated_at": timestamp(inserted + timedelta(days=min(later, ago))),
        }
        record = a_record(**({"id": self.ids(), "request_name": name} | times | fields))
        content = READ if read else f"<CustomerAdd><Name>Ann {self.added}</Name></CustomerAdd>"
        xml = f'<{name} requestID="{record.id}">{content}</{name}>'
        xml = f'<QBXML><QBXMLMsgsRq onError="stopOnError">{xml}</QBXMLMsgsRq></QBXML>'
        self.store.commit(AddRequest(record, xml, "text"))
        return record

    def call(self, method: str, *texts: str) -> Any:
        """Make a call of the Web Connector."""
        self.clock.advance(seconds=1)
        reply = self.endpoint.reply(soap_call(method, *texts))
        assert reply.status == 200, reply.body
        return result_of(method, reply.body)

    def log_in(self) -> str:
        """Log in. A session that begins sends as many requests together as it can."""
        ticket, status, *_ = self.call("authenticate", CONNECTION_ID, PASSWORD)
        if status == "":
            self.ticket = ticket
            session = self.session
            in_flight = session.in_flight and replace(session.in_flight, may_be_joined=True)
            after = replace(
                session.called(self.clock()),
                in_flight=in_flight,
                read_set_size=MAX_BATCH_SIZE,
                write_set_size=MAX_BATCH_SIZE,
            )
            self.store.commit(Put(session, after))
        return str(status)

    def send(self, facts: str = "") -> str:
        """Fetch a message set."""
        return str(self.call("sendRequestXML", self.ticket, facts or hcp(), "", "US", "16", "0"))

    def receive(self, *texts: str) -> int:
        """Deliver a response or an exception."""
        return int(self.call("receiveResponseXML", self.ticket, *texts))

    @property
    def session(self) -> Session:
        """The session of the last ticket."""
        session = self.store.session(session_id(self.ticket))
        assert isinstance(session, Session)
        return session

    def lose_session(self) -> None:
        """Remove the session, as if its table were lost."""
        if isinstance(self.store.store, FakeStore):
            self.store.lose_sessions()
        else:
            key = session_key(session_id(self.ticket))
            self.store.client.delete_item(TableName=self.store.tables.sessions, Key=key)


# --- What can happen to a set that was sent


def close(bench: Bench, _: str) -> None:
    """Close the session."""
    bench.call("closeConnection", bench.ticket)


def fail_to_connect(bench: Bench, _: str) -> None:
    """Report that the Web Connector cannot reach QuickBooks."""
    bench.call("connectionError", bench.ticket, "0x80040408", "Could not start QuickBooks.")


def take_over(bench: Bench, _: str) -> None:
    """Log in again. The login ends the session and claims a request in front of the queue."""
    bench.add((300, 0), queue_priority=FIRST_IN_LINE)
    bench.clock.advance(seconds=BUSY_SECONDS_OF_A_WRITE)
    bench.log_in()


def lose(bench: Bench, sent: str) -> None:
    """Lose the table of sessions. The next login finds the requests."""
    bench.lose_session()
    take_over(bench, sent)


def fall_silent(bench: Bench, _: str) -> None:
    """Switch the machine off."""
    bench.clock.advance(seconds=SILENCE_SECONDS + 1)
    assert sweep(bench.store, bench.clock, bench.clock() + timedelta(minutes=5)).sessions_released == 1


def remove(bench: Bench, _: str) -> None:
    """Switch the machine off, and delete the connection."""
    bench.clock.advance(seconds=SILENCE_SECONDS + 1)
    remove_connection(bench.store, bench.clock, APP_ID, CONNECTION_ID, actor=AN_ACTOR)


def answer(bench: Bench, sent: str) -> None:
    """Answer all requests."""
    bench.receive(set_response(sent) if labels_in(sent) else nothing_stored(sent), "", "")


def find_nothing(bench: Bench, sent: str) -> None:
    """Answer queries: no object exists."""
    bench.receive(set_response(sent, codes=dict.fromkeys(labels_in(sent), 500)), "", "")


def answer_in_part(bench: Bench, sent: str) -> None:
    """Answer the first request only."""
    bench.receive(set_response(sent, only=labels_in(sent)[:1]) if labels_in(sent) else nothing_stored(sent), "", "")


def refuse(bench: Bench, sent: str) -> None:
    """Refuse all requests."""
    codes = dict.fromkeys(labels_in(sent), 3100)
    bench.receive(set_response(sent, codes=codes) if labels_in(sent) else nothing_stored(sent), "", "")


def answer_unreadably(bench: Bench, sent: str) -> None:
    """Return a response that cannot be read."""
    bench.receive(f"<{sent[40:400]}", "", "")


def fail_with(hresult: str) -> Callable[[Bench, str], None]:
    """Return an event: QuickBooks reports an exception."""

    def fail(bench: Bench, _: str) -> None:
        bench.receive("", hresult, "It failed.")

    fail.__name__ = f"fail_with_{hresult}"
    return fail


ENDS = [close, fail_to_connect, take_over, lose, fall_silent, remove]
EVENTS = [
    *ENDS,
    answer,
    answer_in_part,
    refuse,
    answer_unreadably,
    *map(fail_with, (RPC_FAILED, BUSY, PARSE_ERROR)),
]


def name_of(function: Any) -> str:
    """Return the name of a test's example."""
    return str(function.__name__)


def play(bench: Bench, events: Iterable[Callable[[Bench, str], None]]) -> None:
    """Let sessions send what is queued, with these events."""
    for event in events:
        sent = bench.send() if bench.ticket and not bench.session.ended else ""
        if not sent:
            if bench.ticket and not bench.session.ended:
                close(bench, "")
            bench.clock.advance(hours=1)
            if bench.log_in() != "":
                return
            sent = bench.send()
        if sent:
            event(bench, sent)
        if bench.store.connection(CONNECTION_ID).deleted_at:
            return


days = st.tuples(st.integers(0, 60), st.integers(0, 60))
"""Two days are equal now and then, and most are not."""


@settings(max_examples=150, deadline=None)
@given(
    queued=st.lists(st.tuples(days, st.booleans()), max_size=30),
    read=st.none() | st.booleans(),
    events=st.lists(st.sampled_from(EVENTS), min_size=1, max_size=6),
    hours=st.integers(0, 30),
)
def test_no_call_of_a_web_connector_makes_a_commit_that_is_too_large(
    queued: list[tuple[Days, bool]], read: bool | None, events: list[Callable[[Bench, str], None]], hours: int
) -> None:
    """The store refuses such a commit."""
    bench = Bench(FakeStore())
    for when, is_read in queued:
        bench.add(when, read=is_read if read is None else read)
    bench.clock.advance(hours=hours)

    play(bench, events)

    assert bench.largest() <= MAX_ENTRIES


SPREAD = [(2 * number + 2, 1) for number in range(14)] + [(40 + number, 0) for number in range(6)]
"""Twenty requests on 34 days: no set that can be released in one commit has more entries."""

MONTHS = [(2 * number + 2, 1) for number in range(25)]
"""Requests that were queued and changed on different days, such as those that waited for others of their batches."""


@pytest.mark.parametrize("read", [True, False], ids=["reads", "writes"])
@pytest.mark.parametrize("event", EVENTS, ids=name_of)
@pytest.mark.parametrize("history", [SPREAD, MONTHS], ids=["spread", "months"])
def test_a_set_of_requests_of_many_days_can_always_be_released(
    history: Sequence[Days], event: Callable[[Bench, str], None], *, read: bool
) -> None:
    check_release(FakeStore(), history, event, read=read)


@pytest.mark.parametrize("event", [*ENDS, answer_in_part], ids=name_of)
def test_dynamodb_releases_a_set_of_requests_of_many_days(
    emulated: DynamoDBStore, event: Callable[[Bench, str], None]
) -> None:
    check_release(emulated, SPREAD, event, read=True)


def check_release(store: AnyStore, history: Sequence[Days], event: Callable[[Bench, str], None], *, read: bool) -> None:
    """Let the event happen to a set, and again in a later session."""
    bench = Bench(store)
    for when in history:
        bench.add(when, read=read)

    play(bench, [event, answer, event])

    assert 50 < bench.largest() <= MAX_ENTRIES


@pytest.mark.parametrize("event", EVENTS, ids=name_of)
@pytest.mark.parametrize("history", [SPREAD, MONTHS], ids=["spread", "months"])
def test_requests_whose_queries_were_in_one_set_can_always_be_released(
    history: Sequence[Days], event: Callable[[Bench, str], None]
) -> None:
    bench = Bench(FakeStore())
    for when in history:
        bench.add(when, read=False, lookup=ObjectLookup(IfExists.RETURN))

    play(bench, [find_nothing, event, answer, find_nothing, event])

    assert (50 if event in ENDS else 20) < bench.largest() <= MAX_ENTRIES


def test_the_bound_of_a_set_is_exact_and_only_many_days_make_it_smaller() -> None:
    largest = Bench(FakeStore())
    for when in SPREAD:
        largest.add(when)
    play(largest, [take_over])
    months = Bench(FakeStore())
    for when in MONTHS:
        months.add(when)
    weeks = Bench(FakeStore())
    for number in range(25):
        weeks.add((number + 1, 0))

    assert largest.store.estimated[LOGINS] == MAX_ENTRIES
    assert [months.log_in(), len(labels_in(months.send()))] == ["", 18]
    assert [weeks.log_in(), len(labels_in(weeks.send()))] == ["", MAX_BATCH_SIZE]


@pytest.mark.parametrize("event", [close, fall_silent, take_over], ids=name_of)
def test_a_session_that_returned_a_set_of_writes_ends_with_another_set_in_flight(
    store: AnyStore, event: Callable[[Bench, str], None]
) -> None:
    """QuickBooks was closed, so the first set went back to its place, and requests were queued before it."""
    bench = Bench(store)
    for when in SPREAD:
        bench.add(when, read=False)
    assert bench.log_in() == ""
    sent = bench.send()
    until = timestamp(bench.clock() + timedelta(minutes=30))
    recovery = Recovery(begun=True, active=True, running_until=until)
    fields = {"state": State.RETRYABLE, "claim": Claim(bench.session.id), "recovery": recovery}
    fields |= {"attempts": Attempts(1)}
    returned = [bench.add((90 + number, 2), read=False, **fields) for number in range(MAX_BATCH_SIZE)]
    before = bench.session
    after = replace(before.called(bench.clock()), returned_writes=tuple(record.id for record in returned))
    bench.store.commit(Put(before, after))

    event(bench, sent)

    stored = [bench.store.request(record.id) for record in returned]
    assert {record.recovery.running_until for record in stored} == ({None} if event is close else {until})
    assert bench.store.connection(CONNECTION_ID).session_id != before.id


# --- Subscriptions


def test_a_subscription_to_all_objects_can_be_deleted(store: AnyStore) -> None:
    """What was read of an object that no other subscription wants is deleted with it."""
    bench = Bench(store)
    names = tuple(known.name for known in books_objects())[:MAX_OBJECTS]
    assert len(names) == MAX_OBJECTS
    use = SubscriptionService(bench.store, bench.clock, bench.ids)
    settings: dict[str, Any] = {"objects": names, "every_minutes": 5, "start": "all"}
    _, one = use.create(APP_ID, CONNECTION_ID, actor=AN_ACTOR, **settings)
    moment = timestamp(bench.clock())
    bench.store.commit(*(Put(None, ObjectCopy(CONNECTION_ID, name, CopyPhase.CHANGES, moment)) for name in names))

    use.delete(APP_ID, CONNECTION_ID, one.id, actor=AN_ACTOR)

    assert bench.store.copy_state(CONNECTION_ID).objects == ()
    assert MAX_OBJECTS < bench.largest(UNSUBSCRIBE) <= MAX_ENTRIES


# --- Dependants


def customer(ref: str, source: str | None = None, *, notes: int = 0) -> NewRequest:
    """Return a write of a batch, with a value of the response to another one, and with notes that hardly compress."""
    parent = {"ParentRef": {"ListID": {"$from": source, "path": "CustomerRet/ListID"}}} if source else {}
    text = "".join(random.Random(ref).choices(string.ascii_letters + string.digits + "-_", k=notes))
    tree = {"CustomerAddRq": {"CustomerAdd": {"Name": ref} | parent | {"Notes": text}}}
    return new_request(tree, ref, validate=False)


def queue_batch(bench: Bench, batch: Sequence[NewRequest]) -> Sequence[str]:
    """Queue a batch at midnight, and return its ids."""
    bench.clock.now = bench.clock.now.replace(hour=23, minute=59, second=59, microsecond=999_990)
    queueing = queueing_without_quotas(bench.store, bench.clock, bench.ids)
    command = QueueBatch(APP_ID, CONNECTION_ID, lambda _: batch, Idempotency("key", "hash"))
    return [queued.stored.record.id for queued in queueing.queue_batch(command).requests]


def family(links: Sequence[int]) -> list[NewRequest]:
    """Return a batch whose requests depend on these earlier ones, but none has too many dependants."""
    members = [customer("r0")]
    used: dict[int, int] = {}
    for number, link in enumerate(links, 1):
        source = next(other for other in (link % number, *range(number)) if used.get(other, 0) < MAX_DEPENDANTS)
        used[source] = used.get(source, 0) + 1
        members.append(customer(f"r{number}", f"r{source}"))
    return members


def answered(content: str) -> Callable[[Bench, str], None]:
    """Return an event: QuickBooks answers with this object."""

    def answer(bench: Bench, sent: str) -> None:
        bench.receive(response_to(sent, content=content) if labels_in(sent) else nothing_stored(sent), "", "")

    answer.__name__ = "answered" if content else "answered_without_values"
    return answer


def delete(bench: Bench, root: str) -> None:
    """Delete the request."""
    bench.requests.delete(APP_ID, root, force=True, dependants=True, actor=AN_ACTOR)


def discard(bench: Bench, root: str) -> None:
    """Discard the request."""
    bench.requests.discard(APP_ID, root, dependants=True, actor=AN_ACTOR)


FAMILY_EVENTS = [*EVENTS, answered("<CustomerRet><ListID>8-1</ListID></CustomerRet>"), answered("")]
WIDE = [0] * MAX_DEPENDANTS + [1] * (MAX_REQUESTS - 1 - MAX_DEPENDANTS)
"""As many dependants of one request as are allowed, and the rest depend on the first of them."""


@settings(max_examples=100, deadline=None)
@given(
    links=st.lists(st.integers(0, 24), max_size=MAX_REQUESTS - 1),
    events=st.lists(st.sampled_from(FAMILY_EVENTS), min_size=1, max_size=8),
    hours=st.integers(0, 100),
    removal=st.none() | st.sampled_from([delete, discard]),
)
def test_the_end_of_a_request_with_dependants_is_one_commit(
    links: list[int],
    events: list[Callable[[Bench, str], None]],
    hours: int,
    removal: Callable[[Bench, str], None] | None,
) -> None:
    bench = Bench(FakeStore())
    ids = queue_batch(bench, family(links))
    for when in SPREAD:
        bench.add(when)
    bench.clock.advance(hours=hours)
    if removal:
        removal(bench, ids[len(ids) // 3])

    play(bench, events)

    assert bench.largest() <= MAX_ENTRIES


@pytest.mark.parametrize("event", [*FAMILY_EVENTS, delete, discard], ids=name_of)
@pytest.mark.parametrize("links", [WIDE, [0] * 4 + [1] * 20, list(range(24))], ids=["wide", "second", "chain"])
def test_the_largest_batch_ends_in_one_commit(links: Sequence[int], event: Callable[[Bench, str], None]) -> None:
    check_family(FakeStore(), links, event)


@pytest.mark.parametrize("is_held", [False, True])
@pytest.mark.parametrize("links", [WIDE, list(range(24))], ids=["wide", "chain"])
def test_the_sweep_ends_the_largest_batch_that_was_not_sent_in_time_in_one_commit(
    store: AnyStore, links: Sequence[int], *, is_held: bool
) -> None:
    bench = Bench(store)
    first, *others = family(links)
    ids = queue_batch(bench, [replace(first, send_by=SendBy(within=60)), *others])
    if is_held:
        bench.log_in()
    bench.clock.advance(seconds=60)

    end_late_requests(bench.store, bench.clock, bench.clock() + timedelta(minutes=5))

    assert all(bench.store.request(request_id).state is State.ERROR for request_id in ids)
    assert 50 < bench.largest(LATE_END) <= MAX_ENTRIES


@pytest.mark.parametrize("event", [*FAMILY_EVENTS[-2:], refuse, take_over, delete], ids=name_of)
def test_dynamodb_ends_the_largest_batch_in_one_commit(
    emulated: DynamoDBStore, event: Callable[[Bench, str], None]
) -> None:
    check_family(emulated, WIDE, event)


def check_family(store: AnyStore, links: Sequence[int], event: Callable[[Bench, str], None]) -> None:
    """Let the first request of a batch end by an event, after some repetitions of it."""
    bench = Bench(store)
    ids = queue_batch(bench, family(links))
    bench.clock.advance(days=3)

    if event in {delete, discard}:
        event(bench, ids[0])
        assert isinstance(bench.store.request(ids[0]), Tombstone) or event is discard
    else:
        play(bench, [event] * 4)

    assert 50 < bench.largest() <= MAX_ENTRIES


def test_the_largest_batch_is_queued_in_one_commit(store: AnyStore) -> None:
    """As many of its requests as possible are stored in chunks."""
    bench = Bench(store)
    number, size = 13, 88_500
    assert number * size > MAX_BATCH_BYTES - size
    batch = [customer(f"r{place}", notes=size if place < number else 0) for place in range(MAX_REQUESTS)]

    queue_batch(bench, batch)

    assert bench.largest(CREATE) == 3 * MAX_REQUESTS + number + 2 + 2


# --- Many requests

EVERYTHING = RequestFilter(to=timestamp(NOON + 2 * LATE))


def everything(call: Callable[..., Any]) -> int:
    """Call until the end, and return the number of changes."""
    changed: int = 0
    cursor: str | None = None
    while True:
        tally = call(cursor=cursor, actor=AN_ACTOR)
        changed += tally.changed
        cursor = tally.next_cursor
        if cursor is None:
            return changed


@settings(max_examples=100, deadline=None)
@given(queued=st.lists(st.tuples(days, st.sampled_from([State.WAITING, State.RETRYABLE, State.ERROR])), max_size=60))
def test_bulk_actions_change_the_requests_of_any_days(queued: list[tuple[Days, State]]) -> None:
    bench = Bench(FakeStore())
    check_bulk_actions(bench, queued)


@pytest.mark.parametrize("number", [25, 60])
def test_bulk_actions_change_old_requests(store: AnyStore, number: int) -> None:
    states = cycle([State.WAITING, State.RETRYABLE, State.WAITING, State.RETRYABLE, State.ERROR])
    queued = [((2 * place + 2, 1), next(states)) for place in range(number)]
    bench = Bench(store)

    check_bulk_actions(bench, queued)

    assert 75 < bench.largest(BULK) <= MAX_ENTRIES


def check_bulk_actions(bench: Bench, queued: Sequence[tuple[Days, State]]) -> None:
    """Discard requests, send their webhooks again, and queue them again."""
    for when, state in queued:
        has_failed = WebhookState.FAILED if state is State.ERROR else WebhookState.PENDING
        bench.add(when, state=state, webhook=Webhook(has_failed, "https://shop.example/hook"))
    bench.clock.advance(minutes=2)
    of_connection = (APP_ID, CONNECTION_ID)
    waiting = sum(state is not State.ERROR for _, state in queued)

    assert everything(lambda **call: bench.many.discard(*of_connection, EVERYTHING, **call)) == waiting
    bench.clock.advance(minutes=2)
    failed = TimeRange(timestamp(NOON))

    def redeliver(**call: Any) -> Tally:
        return bench.many.redeliver(*of_connection, failed, lambda: None, include_pending=True, **call)

    assert everything(redeliver) == len(queued)
    bench.clock.advance(minutes=2)
    use_case = QueueAgain(bench.store, bench.clock, lambda: None)
    tally = use_case.queue_again(*of_connection, EVERYTHING, lambda _: None, actor=AN_ACTOR)
    assert tally.queued + tally.queued_before == len(queued)


# --- Single requests


def test_the_bodies_of_an_expired_request_are_removed_in_one_commit(emulated: DynamoDBStore) -> None:
    bench = Bench(emulated)
    record = bench.add((90, 0))
    for number in range(60):
        item = {"request_id": {"S": record.id}, "part": {"S": f"response#a#{number}"}, "data": {"B": b"x"}}
        emulated.client.put_item(TableName=emulated.tables.payloads, Item=item)
    emulated.client.delete_item(TableName=emulated.tables.queued_requests, Key={"id": {"S": record.id}})

    assert forget_record(bench.store, record, bench.clock())

    assert bench.store.sent[FORGET] > 30


def test_a_sign_in_that_redeems_invitations_of_many_apps_fits(store: AnyStore) -> None:
    measured, clock = MeasuredStore(store), FixedClock(NOON)
    members = Members(measured, clock, RandomIds())
    for number in range(MAX_REDEEMED + 5):
        members.invite(f"app-{number:02}", "maria@example.com", Role.VIEWER)
    claims = IdentityClaims("https://id.example.com", "maria", "maria@example.com", email_verified=True)

    SignIns(measured, clock, RandomIds(), CountingSecrets()).sign_in(claims)

    numbers = measured.sent if isinstance(store, DynamoDBStore) else measured.estimated
    assert numbers[SIGN_IN] == 3 * MAX_REDEEMED + 3 <= MAX_ENTRIES


def test_a_commit_that_is_too_large_names_its_use_case_and_its_changes(store: AnyStore) -> None:
    records = [a_record(inserted_at=timestamp(NOON - timedelta(days=number))) for number in range(30)]
    changes = [AddRequest(record, "", "") for record in records]
    assert max_entries(changes) > MAX_ENTRIES

    with pytest.raises(CommitTooLarge, match=r"120 entries.*Use case: unknown.*30 AddRequest"):
        store.commit(*changes)

    assert not store.records_by_id([record.id for record in records])
    failed = [record.claimed("ab" * 32, NOON).failed(NOON, ErrorCode.QUICKBOOKS_ERROR, "", {}) for record in records]
    ended = [ChangeRequest(*pair) for pair in zip(records, failed, strict=True)]
    with pytest.raises(CommitTooLarge, match=r"101 .*30 ChangeRequest\(waiting to error\)"):
        check_size(ended, 101)
