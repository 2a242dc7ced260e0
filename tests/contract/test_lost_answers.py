"""A commit is made once and recognised, whatever happens to the calls that make it."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from itertools import chain, count, repeat
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.dynamodb import DynamoDBStore
from adapters.dynamodb.transactions import CONTENTION, MAX_REPEATING_SECONDS, CallOutcome, new_commit_id, outcome_of
from domain import qbxml
from domain.connections.service import ConnectionService
from domain.errors import Conflict, TooManyRequests, Unavailable
from domain.queueing.new_request import Idempotency
from domain.queueing.service import RequestService
from domain.records.request import QueuedRequest, State
from domain.records.webhook import ListedWebhookState, Webhook, WebhookState
from domain.storage.changes import AddRequest, ChangeRequest, Put
from domain.storage.counts import INSERTED, CountKey
from domain.timestamps import day_of, timestamp
from local.emulated_dynamodb import emulated_dynamodb
from local.tables import drop_tables, make_tables
from tests.contract.conftest import ENDPOINT, dynamodb_client
from tests.contract.stores import counts_of, recount
from tests.support.builders import (
    AN_ACTOR,
    APP_ID,
    CONNECTION_ID,
    NOON,
    REQUEST_XML,
    FixedClock,
    SequentialIds,
    a_connection,
    a_record,
    counting_bytes,
)
from tests.support.queueing import command, queueing_without_quotas
from tests.support.unreliable_dynamodb import (
    ANSWER_LOST,
    CONFLICT,
    IN_PROGRESS,
    LATE,
    LATER,
    SERVER_ERROR,
    TRANSACTION_FAULTS,
    UnreliableDynamoDB,
    client_error,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

URL = "https://example.com/hook"
OTHER_CONNECTION_ID = "c0000000-0000-4000-8000-000000000002"
COMMITS = {"transact_write_items", "put_if"}
_numbers = count()
REQUEST = qbxml.parse_request_xml(REQUEST_XML)


class Bench:
    """The use cases over an unreliable client."""

    def __init__(self, client: Any, prefix: str = "") -> None:
        self.client = UnreliableDynamoDB(client)
        self.pauses: list[float] = []
        self.now = 0.0
        tables = make_tables(client, prefix)
        self.store = DynamoDBStore(
            self.client,
            tables,
            sleep=self._sleep,
            random=random.Random(4).random,
            monotonic=lambda: self.now,
        )
        self.clock, self.new_id = FixedClock(), SequentialIds()
        self.requests = RequestService(self.store, self.clock)
        self.queueing = queueing_without_quotas(self.store, self.clock, self.new_id)
        self.connections = ConnectionService(self.store, clock=self.clock, new_id=self.new_id, secrets=counting_bytes)
        self.store.commit(Put(None, a_connection(webhook_url=URL)))
        self.ids: list[str] = []

    def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds

    def fail(self, *faults: str | None) -> None:
        """Let the next commits fail in these ways, and all further ones succeed."""
        coming = chain(faults, repeat(None))
        self.client.fault = lambda operation: next(coming) if operation in COMMITS else None

    def queue(self, key: str | None = None) -> QueuedRequest:
        """Queue a request."""
        self.clock.advance(seconds=1)
        idempotency = Idempotency(key, "h") if key else None
        queued = self.queueing.queue(command(APP_ID, CONNECTION_ID, REQUEST, idempotency=idempotency))
        assert not queued.repeated
        self.ids.append(queued.stored.record.id)
        return queued.stored.record

    def check(self) -> None:
        """Check that exactly the records that callers know exist, and that the counts are exact."""
        self.client.deliver_late_calls()
        self.client.fault = lambda _: None
        assert counts_of(self.store) == recount(self.store, self.ids)
        waiting = [record.id for record in self.store.queue_front(CONNECTION_ID, 100)]
        stored = [self.store.request(request_id) for request_id in self.ids]
        assert waiting == [
            record.id for record in stored if isinstance(record, QueuedRequest) and record.state is State.WAITING
        ]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Yield a client of DynamoDB emulated in the process. Making one takes longer than a test."""
    with emulated_dynamodb():
        yield dynamodb_client()


@pytest.fixture
def bench(client: Any) -> Bench:
    """Return the use cases over empty tables."""
    return Bench(client, f"lost{next(_numbers)}-")


ONCE = [(fault,) for fault in TRANSACTION_FAULTS]
TWICE = [
    (ANSWER_LOST, CONFLICT),
    (LATER, ANSWER_LOST),
    (LATE, IN_PROGRESS),
    (SERVER_ERROR, IN_PROGRESS),
    (CONFLICT, ANSWER_LOST, CONFLICT),
    (IN_PROGRESS, IN_PROGRESS, IN_PROGRESS),
]


@pytest.mark.parametrize("faults", [*ONCE, *TWICE], ids=", ".join)
@pytest.mark.parametrize("key", [None, "key"])
def test_a_request_is_queued_once_and_its_caller_gets_it(bench: Bench, faults: Sequence[str], key: str | None) -> None:
    bench.fail(*faults)

    record = bench.queue(key)

    assert bench.store.request(record.id) == record
    bench.check()


def test_a_request_that_a_session_claimed_before_the_repetition_is_recognised(bench: Bench) -> None:
    """The repetition gets a new token because of a conflict, and meets the claimed record."""
    bench.fail(LATER)
    deliver = bench.client.deliver_late_calls

    def claim_too() -> None:
        deliver()
        for record in bench.store.queue_front(CONNECTION_ID, 1):
            bench.client.deliver_late_calls = deliver  # type: ignore[method-assign]
            bench.store.commit(ChangeRequest(record, record.claimed("ab" * 32, NOON)))

    bench.client.deliver_late_calls = claim_too  # type: ignore[method-assign]
    record = bench.queue()

    stored = bench.store.request(record.id)
    assert isinstance(stored, QueuedRequest)
    assert stored.state is State.TICKETED
    bench.check()


def test_a_request_is_queued_once_when_the_connection_changes_between_the_calls(bench: Bench) -> None:
    """The repetition fails on the connection. The late call stores the request under the same id."""
    bench.queue()
    before = bench.store.connection(CONNECTION_ID)
    assert before
    bench.store.commit(Put(before, after := replace(before, webhook_url=None).changed(timestamp(NOON))))
    bench.fail(None, LATE)

    record = bench.queue()
    bench.store.commit(Put(after, replace(after, webhook_url=URL).changed(timestamp(NOON))))

    assert record.webhook.url is None
    bench.check()


@pytest.mark.parametrize("faults", [*ONCE, *TWICE], ids=", ".join)
def test_a_discard_that_was_made_succeeds(bench: Bench, faults: Sequence[str]) -> None:
    record = bench.queue()
    bench.fail(*faults)

    assert bench.requests.discard(APP_ID, record.id, actor=AN_ACTOR).record.state is State.DISCARDED
    bench.check()


@pytest.mark.parametrize("faults", [*ONCE, *TWICE], ids=", ".join)
def test_a_redelivery_starts_one_round(bench: Bench, faults: Sequence[str]) -> None:
    record = a_record(state=State.ERROR, webhook=Webhook(WebhookState.FAILED, URL))
    bench.store.commit(AddRequest(record, REQUEST_XML, ""))
    bench.ids.append(record.id)
    bench.fail(*faults)

    assert bench.requests.redeliver(APP_ID, record.id, actor=AN_ACTOR).record.webhook.round == 1
    bench.check()


@pytest.mark.parametrize("how", ["discard", "redeliver"])
def test_a_change_that_another_caller_changed_further_is_recognised(bench: Bench, how: str) -> None:
    """The lost call is done after a conflict, and the webhook is attempted before the repetition."""
    state = State.ERROR if how == "redeliver" else State.WAITING
    record = a_record(state=state, webhook=Webhook(WebhookState.PENDING, URL))
    bench.store.commit(AddRequest(record, REQUEST_XML, ""))
    bench.ids.append(record.id)
    bench.fail(LATER)
    deliver = bench.client.deliver_late_calls

    def attempt_too() -> None:
        deliver()
        current = bench.store.request(record.id)
        if isinstance(current, QueuedRequest) and current.revision > record.revision:
            bench.client.deliver_late_calls = deliver  # type: ignore[method-assign]
            bench.store.commit(
                ChangeRequest(
                    current, current.with_webhook(NOON, replace(current.webhook, state=WebhookState.SUCCEEDED))
                )
            )

    bench.client.deliver_late_calls = attempt_too  # type: ignore[method-assign]
    changed = getattr(bench.requests, how)(APP_ID, record.id, actor=AN_ACTOR).record

    # The entry in the audit log has the id of the commit, so the call returns the record as its own commit made it.
    stored = bench.store.request(record.id)
    assert isinstance(stored, QueuedRequest)
    assert stored.webhook_state is WebhookState.SUCCEEDED
    assert changed.webhook.round == stored.webhook.round == (how == "redeliver")
    bench.check()


PUT_FAULTS = [faults for faults in (*ONCE, *TWICE) if IN_PROGRESS not in faults]


@pytest.mark.parametrize("faults", PUT_FAULTS, ids=", ".join)
def test_a_change_of_one_item_is_made_once_with_plain_puts(bench: Bench, faults: Sequence[str]) -> None:
    transactions = _Recorder(bench.client.transact_write_items, [])
    bench.client.transact_write_items = transactions  # type: ignore[method-assign]
    before = bench.store.connection(CONNECTION_ID)
    assert before
    bench.fail(*faults)

    bench.store.commit(Put(before, after := replace(before, name="Acme").changed(timestamp(NOON))))

    bench.client.deliver_late_calls()
    assert bench.store.connection(CONNECTION_ID) == after
    assert transactions.sent == []


def test_a_plain_put_does_not_take_an_equal_change_by_another_caller_for_its_own(bench: Bench) -> None:
    before = bench.store.connection(CONNECTION_ID)
    assert before
    after = replace(before, name="Acme").changed(timestamp(NOON))
    bench.store.commit(Put(before, after))
    bench.fail(ANSWER_LOST)

    with pytest.raises(Conflict) as conflict:
        bench.store.commit(Put(before, after))

    assert conflict.value.current == after


def test_a_late_plain_put_does_not_undo_a_later_change(bench: Bench) -> None:
    before = bench.store.connection(CONNECTION_ID)
    assert before
    bench.client.holds_late_calls = True
    bench.fail(LATE)
    bench.store.commit(Put(before, after := replace(before, name="Acme").changed(timestamp(NOON))))
    bench.store.commit(Put(after, latest := replace(after, name="Bolt").changed(timestamp(NOON))))

    bench.client.deliver_late_calls()

    assert bench.store.connection(CONNECTION_ID) == latest


def test_a_plain_put_that_always_conflicts_is_refused(bench: Bench) -> None:
    before = bench.store.connection(CONNECTION_ID)
    assert before
    bench.client.fault = lambda _: CONFLICT

    with pytest.raises(TooManyRequests):
        bench.store.commit(Put(before, replace(before, name="Acme").changed(timestamp(NOON))))

    assert bench.store.connection(CONNECTION_ID) == before
    assert len(bench.pauses) == CONTENTION.retries


@pytest.mark.parametrize("faults", [*ONCE, *TWICE], ids=", ".join)
def test_a_connection_is_created_once(bench: Bench, faults: Sequence[str]) -> None:
    bench.fail(*faults)

    connection = bench.connections.create(APP_ID, name="Acme", actor=AN_ACTOR)

    bench.client.deliver_late_calls()
    assert bench.store.connection(connection.id) == connection
    assert bench.store.connections_of(APP_ID, 0, 10)[1] == 2


def test_a_new_connection_that_another_caller_changed_before_the_repetition_is_recognised(bench: Bench) -> None:
    new = a_connection(id=OTHER_CONNECTION_ID)
    bench.fail(LATER)
    deliver = bench.client.deliver_late_calls

    def change_too() -> None:
        deliver()
        if current := bench.store.connection(new.id):
            bench.client.deliver_late_calls = deliver  # type: ignore[method-assign]
            bench.store.commit(Put(current, replace(current, name="Acme").changed(timestamp(NOON))))

    bench.client.deliver_late_calls = change_too  # type: ignore[method-assign]
    bench.store.commit(Put(None, new))

    stored = bench.store.connection(new.id)
    assert stored is not None
    assert stored.name == "Acme"


@pytest.mark.parametrize("faults", [*ONCE, *TWICE], ids=", ".join)
def test_counts_are_added_once(bench: Bench, faults: Sequence[str]) -> None:
    days = ("2026-03-13", "2026-03-14")
    keys = [CountKey(CONNECTION_ID, day, INSERTED, State.ERROR, ListedWebhookState.FAILED) for day in days]
    bench.fail(*faults)

    bench.store.add_to_counts(dict.fromkeys(keys, 3))
    bench.client.deliver_late_calls()

    assert list(counts_of(bench.store).values()) == [3, 3]


def test_a_change_of_the_same_revision_by_another_caller_is_not_taken_for_our_own(bench: Bench) -> None:
    """Two equal calls at the same moment make equal changes. Only one of them was made."""
    record = bench.queue()
    claimed = record.claimed("ab" * 32, NOON)
    bench.store.commit(ChangeRequest(record, claimed))
    bench.fail(SERVER_ERROR)

    with pytest.raises(Exception, match="did not apply"):
        bench.store.commit(ChangeRequest(record, claimed))


@pytest.mark.parametrize("fault", [ANSWER_LOST, IN_PROGRESS, SERVER_ERROR])
def test_a_change_whose_outcome_stays_unknown_is_reported_as_such(bench: Bench, fault: str) -> None:
    bench.client.fault = lambda _: fault

    with pytest.raises(Unavailable) as error:
        bench.queue()

    assert error.value.code == "unavailable"
    assert len(bench.pauses) == CONTENTION.retries


def test_a_throttled_change_is_repeated_and_refused_in_the_end(bench: Bench) -> None:
    calls = []

    def throttled(**request: Any) -> Any:
        calls.append(request["ClientRequestToken"])
        raise client_error("ThrottlingException")

    bench.client.transact_write_items = throttled  # type: ignore[method-assign]
    with pytest.raises(TooManyRequests):
        bench.queue()

    assert len(calls) == 1 + CONTENTION.retries
    assert len(set(calls)) == 1


def test_no_call_begins_after_the_time_for_repetitions(bench: Bench) -> None:
    calls = []

    def slow(**_: Any) -> Any:
        calls.append(bench.now)
        bench.now += 3
        raise client_error("InternalServerError", 500)

    bench.client.transact_write_items = slow  # type: ignore[method-assign]
    with pytest.raises(Unavailable):
        bench.queue()

    assert max(calls) <= MAX_REPEATING_SECONDS
    assert len(calls) == 4


@pytest.mark.parametrize(
    ("code", "status", "outcome"),
    [
        ("InternalServerError", 500, CallOutcome.UNKNOWN),
        ("ServiceUnavailable", 503, CallOutcome.UNKNOWN),
        ("AnyOther", 599, CallOutcome.UNKNOWN),
        ("TransactionInProgressException", 400, CallOutcome.UNKNOWN),
        ("RequestTimeout", 408, CallOutcome.UNKNOWN),
        ("RequestTimeoutException", 408, CallOutcome.UNKNOWN),
        ("ThrottlingException", 400, CallOutcome.REFUSED),
        ("ProvisionedThroughputExceededException", 400, CallOutcome.REFUSED),
        ("RequestLimitExceeded", 400, CallOutcome.REFUSED),
        ("TransactionCanceledException", 400, CallOutcome.CANCELLED),
        ("ConditionalCheckFailedException", 400, CallOutcome.CANCELLED),
        ("TransactionConflictException", 400, CallOutcome.CANCELLED),
    ],
)
def test_an_error_tells_how_the_call_ended(code: str, status: int, outcome: CallOutcome) -> None:
    assert outcome_of(client_error(code, status)) is outcome


def test_the_id_of_a_commit_has_the_12_characters_that_the_sizes_of_items_allow_for() -> None:
    assert {len(new_commit_id()) for _ in range(100)} == {12}


def test_an_error_of_the_caller_is_not_repeated(bench: Bench) -> None:
    def wrong(**_: Any) -> Any:
        raise client_error("ValidationException")

    bench.client.transact_write_items = wrong  # type: ignore[method-assign]
    with pytest.raises(Exception, match="ValidationException"):
        bench.queue()
    assert bench.pauses == []


@pytest.mark.parametrize(
    "reason", ["TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded", "RequestLimitExceeded"]
)
def test_a_transaction_that_another_one_or_the_rate_cancelled_is_repeated(bench: Bench, reason: str) -> None:
    done = bench.client.transact_write_items
    cancelled = client_error("TransactionCanceledException", CancellationReasons=[{"Code": "None"}, {"Code": reason}])
    calls = iter([cancelled])

    def first_cancelled(**request: Any) -> Any:
        for error in calls:
            raise error
        return done(**request)

    bench.client.transact_write_items = first_cancelled  # type: ignore[method-assign]
    bench.queue()

    assert len(bench.pauses) == 1


@dataclass
class _Recorder:
    """Passes transactions on and keeps them."""

    client: Any
    sent: list[dict[str, Any]]

    def __call__(self, **request: Any) -> Any:
        self.sent.append(request)
        return self.client(**request)


def test_a_repetition_has_the_same_token_and_entries_and_a_cancelled_transaction_gets_a_new_token(
    bench: Bench,
) -> None:
    recorder = _Recorder(bench.client.transact_write_items, [])
    bench.client.transact_write_items = recorder  # type: ignore[method-assign]
    bench.fail(SERVER_ERROR, IN_PROGRESS, CONFLICT, SERVER_ERROR)

    bench.queue()

    tokens = [request["ClientRequestToken"] for request in recorder.sent]
    entries = [request["TransactItems"] for request in recorder.sent]
    assert tokens[0] == tokens[1] == tokens[2] != tokens[3] == tokens[4]
    assert entries[0] == entries[1] == entries[2]
    assert entries[3] == entries[4]


@settings(max_examples=60, deadline=None)
@given(
    faults=st.lists(st.sampled_from([None, None, *TRANSACTION_FAULTS]), max_size=12),
    steps=st.lists(st.sampled_from(["queue", "queue with a key", "discard", "count"]), min_size=1, max_size=6),
)
def test_any_faults_in_any_steps_lose_and_double_nothing(
    client: Any, faults: list[str | None], steps: list[str]
) -> None:
    bench = Bench(client, f"lost{next(_numbers)}-")
    bench.fail(*faults)
    for number, step in enumerate(steps):
        waiting = bench.store.queue_front(CONNECTION_ID, 1)
        match step:
            case "queue":
                bench.queue()
            case "queue with a key":
                bench.queue(f"key {number}")
            case "discard" if waiting:
                bench.requests.discard(APP_ID, waiting[0].id, actor=AN_ACTOR)
            case "count":
                key = CountKey(CONNECTION_ID, day_of(timestamp(NOON)), INSERTED, State.ERROR, ListedWebhookState.FAILED)
                bench.store.add_to_counts({key: 1})
                bench.store.add_to_counts({key: -1})
    bench.client.deliver_late_calls()
    actual = {key: number for key, number in counts_of(bench.store).items() if number}
    assert actual == recount(bench.store, bench.ids)


@pytest.mark.dynamodb_local
@pytest.mark.skipif(not ENDPOINT, reason="needs DYNAMODB_ENDPOINT")
@pytest.mark.parametrize("faults", [*ONCE, *TWICE], ids=", ".join)
def test_a_request_is_queued_once_in_dynamodb_local(faults: Sequence[str]) -> None:
    client = dynamodb_client(ENDPOINT)
    prefix = f"lost{random.Random().randrange(10**9)}-"
    bench = Bench(client, prefix)
    try:
        bench.fail(*faults)
        bench.queue()
        bench.check()
    finally:
        drop_tables(client, prefix)
